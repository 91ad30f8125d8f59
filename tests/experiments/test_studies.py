"""What the studies measure, against slower ways to the same numbers."""

import json

import numpy as np
import pytest

import cyclearn as cl
from cyclearn import DirectedGraph, InputError, equivalence_class
from cyclearn.experiments import (
    ConsistencyStudy,
    FeedbackStudy,
    HippocampusStudy,
    ResultsFile,
    SimulatedStudy,
    Task,
    run_study,
)
from cyclearn.experiments.fmri import ANATOMICAL
from cyclearn.experiments.result_tables import result_table
from cyclearn.experiments.simulated import drawn_problem
from cyclearn.experiments.study import task_generator
from cyclearn.graphs import structural_hamming_distance


def test_an_instance_of_the_paper_by_listing_and_projecting():
    study = SimulatedStudy("paper", (4,), (400,), 3, ("tabu", "l1"), seed=7)
    (task,) = study.tasks(1)
    outputs = study.run(task)
    true, models = drawn_problem(4, 3, task_generator(7, "paper", 4, 0))
    members = list(equivalence_class(true))
    assert [(output.number, output.method) for output in outputs] == [
        (number, method) for number in range(3) for method in ("tabu", "l1")
    ]
    for output in outputs:
        ends = [tuple(map(int, edge.split(">"))) for edge in output.measures["edges"].split()]
        learned = DirectedGraph.from_edges(ends, n_nodes=4)
        kl = [cl.project(learned, model).kl_divergence for model in models]
        assert output.measures["success"] == np.mean(np.array(kl) < 4e-3)
        distances = [structural_hamming_distance(learned, member) for member in members]
        assert output.measures["class_distance"] == min(distances)
        assert output.measures["equivalent"] == (learned.reduced() in members)
        assert ("reached" in output.measures) == (output.method == "tabu")
        json.dumps(output.measures)


def test_graphs_and_distributions_are_shared_by_sample_sizes():
    study = SimulatedStudy("sample-size", (4,), (50, 100_000), 2, ("tabu",), seed=1)
    small, large = (study.run(task) for task in study.tasks(1))
    assert [o.measures["n_true_edges"] for o in small] == [
        o.measures["n_true_edges"] for o in large
    ]
    assert [task.setting for task in study.tasks(1)] == ["p=4, n=50", "p=4, n=100000"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": ()}, "nodes are none"),
        ({"nodes": (5, 5)}, "different numbers"),
        ({"samples": (3,)}, "at least 10"),
        ({"methods": ("magic",)}, "'magic' is unknown"),
        ({"methods": ("tabu", "tabu")}, "one or more, each once"),
        ({"n_domains": 0}, "domains are 0"),
    ],
)
def test_options_that_make_no_study_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        SimulatedStudy("paper", **options)


def test_exact_optima_of_large_samples_are_equivalent_to_the_truth():
    study = ConsistencyStudy(3, (100_000,), seed=2)
    outputs = [study.run(task)[0].measures for task in study.tasks(2)]
    assert all(measures["quasi_equivalent"] for measures in outputs)
    for measures in outputs:
        assert measures["equivalent"] == (measures["class_distance"] == 0)
        assert measures["quasi_equivalent"] or not measures["equivalent"]
    with pytest.raises(InputError, match="2 to 5"):
        ConsistencyStudy(9)


def test_hippocampus_on_data_of_the_anatomical_graph(tmp_path):
    model = cl.simulate.random_model(ANATOMICAL, random_state=3)
    (tmp_path / "hippocampus").mkdir()
    data = model.sample(20_000, random_state=1)
    data.to_csv(tmp_path / "hippocampus" / "subject1_left.csv", index=False)
    study = HippocampusStudy(tmp_path)
    (task,) = study.tasks(None)
    learned, *members = study.run(task)
    assert learned.measures["class_distance"] == 0
    assert learned.measures["class_size"] == len(members) == 8
    for member in members:
        # The class of the truth is the best there is, so no move leads further up.
        assert member.measures["gap"] == pytest.approx(0, abs=1e-4)
        assert member.measures["is_optimum"]
        assert member.measures["is_optimum_of_single_edges"]
        assert member.measures["is_stable_optimum"] == member.measures["is_stable"]
    assert any(member.measures["is_stable"] for member in members)
    results = ResultsFile(tmp_path / "r.jsonl")
    results.open(study.configuration)
    results.add(task, [learned, *members], 0.0)
    table = result_table([results])
    assert "| subject1_left | 20000 |" in table
    assert "8 of 8 pairs of a structure and a subject are local optima" in table
    n_stable = sum(member.measures["is_stable"] for member in members)
    assert table.count("| optimum |") == n_stable
    assert table.count("| (optimum) |") == 8 - n_stable
    assert "| score above the best found | 0.0 |" in table
    before = study.configuration["data"]
    data[:-1].to_csv(tmp_path / "hippocampus" / "subject1_left.csv", index=False)
    assert study.configuration["data"] != before


def test_feedback_on_a_network_of_our_own(tmp_path):
    true = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b"), ("d", "c")])
    network = tmp_path / "feedback" / "own"
    network.mkdir(parents=True)
    cl.write_graph(true, network / "truth.graph.txt")
    model = cl.LinearGaussianModel(
        [[0, 0.8, 0, 0], [0, 0, 0.7, 0], [0, -0.6, 0, 0], [0, 0, 0.8, 0]], [1, 1, 1, 1], true.names
    )
    for number in (1, 2):
        rows = model.sample(5_000, random_state=number)
        rows.to_csv(network / f"sim-0{number}.txt", sep="\t", index=False)
    results = run_study(FeedbackStudy(tmp_path, ("tabu",)), tmp_path / "r.jsonl")
    table = results.table()
    assert list(table["instance"]) == [0, 1]
    assert (table["class_distance"] == 0).all()
    assert (table["class_adjacency_precision"] == 1).all()
    assert (table["class_cycle_recall"].dropna() == 1).all()
    head, _, row, total = result_table([results]).splitlines()[2:]
    assert head.startswith("| network | nodes | edges | method | data sets | distance |")
    assert row.startswith("| own | 4 | 4 | tabu | 2 | 0.0 | 4.0 | 1.00, 1.00 |")
    assert total.startswith("| all |  |  | tabu | 2 | 0.0 |")
    rows.rename(columns={"d": "e"}).to_csv(network / "sim-01.txt", sep="\t", index=False)
    with pytest.raises(InputError, match=r"sim-01\.txt has no column 'd'"):
        run_study(FeedbackStudy(tmp_path, ("tabu",)), tmp_path / "other.jsonl")
    for path in network.glob("sim-*"):
        path.unlink()
    with pytest.raises(InputError, match="contains no data sets"):
        FeedbackStudy(tmp_path).tasks(None)


def test_missing_data_say_where_to_get_them(tmp_path, monkeypatch):
    monkeypatch.delenv("CYCLEARN_DATA", raising=False)
    for study, source in ((HippocampusStudy, "MTLnet"), (FeedbackStudy, "example-causal-datasets")):
        with pytest.raises(InputError, match=source):
            study().tasks(None)
        with pytest.raises(InputError, match=f"(?s)no folder.*{source}"):
            study(tmp_path).tasks(None)
    (tmp_path / "hippocampus").mkdir()
    monkeypatch.setenv("CYCLEARN_DATA", str(tmp_path))
    with pytest.raises(InputError, match="no files"):
        HippocampusStudy().tasks(None)


def test_tasks_are_small_graphs_first():
    study = SimulatedStudy("paper")
    assert study.tasks(1) == [Task(f"p={p}, n=10000", 0) for p in (5, 20, 50)]
    assert len(study.tasks(None)) == 300

"""Tables and figures of results whose numbers are known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from cyclearn import InputError
from cyclearn.experiments import Output, ResultsFile, Task
from cyclearn.experiments.figures import _curves, _row_label, write_figures
from cyclearn.experiments.result_tables import pooled, result_table, share

SUCCESS = {"auto": [1.0, 1.0, 0.5, 1.0], "l1": [0.0, 0.25, 0.3, 1.0]}
DISTANCE = {"auto": [0, 0, 2, 1], "l1": [5, 3, 3, 0]}


@pytest.fixture
def results(tmp_path):
    file = ResultsFile(tmp_path / "paper.jsonl")
    file.open({"study": "paper", "nodes": [5]})
    for instance in range(4):
        outputs = []
        for method in SUCCESS:
            measures = {
                "success": SUCCESS[method][instance],
                "class_distance": DISTANCE[method][instance],
                "distance_is_exact": True,
                "equivalent": DISTANCE[method][instance] == 0,
                **dict.fromkeys(
                    f"{name}_{kind}"
                    for name in ("adjacency", "arrowhead", "cycle")
                    for kind in ("precision", "recall")
                ),
            }
            measures["adjacency_precision"] = 0.5
            if method == "auto":
                measures["reached"] = instance < 3
            outputs.append(Output(0, method, measures, 0.5 + instance))
        file.add(Task("p=5, n=100", instance), outputs, 1.0)
    return file


def test_shares_and_means_are_those_of_the_rows(results):
    lines = result_table([results]).splitlines()
    cells = {line.split(" | ")[1]: line.strip("| ").split(" | ") for line in lines[2:4]}
    assert cells["auto"][2:4] == ["4", "4"]
    assert cells["auto"][4].startswith("100% [51%, 100%]")
    assert cells["auto"][5].startswith("75% [30%, 95%]")
    assert cells["auto"][6:7] == ["0.88"]
    assert cells["auto"][8:10] == ["0.8", "0.5"]
    assert cells["auto"][10].startswith("75%")
    # Above a quarter means more than a quarter.
    assert cells["l1"][4].startswith("50%")
    assert cells["l1"][10] == "–"
    assert "| p=5, n=100 | l1 | 0.50, – | –, – | –, – |" in result_table([results])
    seconds = pooled([results], timings=True).query("method == 'auto'")["seconds"]
    assert (seconds.median(), seconds.max()) == (2.0, 3.5)


def test_curves_pass_through_the_shares(results):
    left, right = _curves(results.table()).axes
    lines = {line.get_label(): line.get_data() for line in left.lines}
    x, y = lines["l1-regularised likelihood"]
    for rate, above in ((0, 75), (20, 75), (25, 50), (29, 50), (31, 25), (100, 25)):
        assert y[np.searchsorted(x, rate, side="right") - 1] == above
    x, y = {line.get_label(): line.get_data() for line in right.lines}["cyclearn (auto, BIC)"]
    assert list(y[:3]) == [50, 75, 100]


def test_figures_are_the_same_every_time(results, tmp_path):
    first = write_figures([results], tmp_path / "one", outputs=True)
    second = write_figures([results], tmp_path / "two", outputs=True)
    assert [path.name for path in first] == ["paper.md", "paper.csv", "paper.svg", "paper.png"]
    for a, b in zip(first, second, strict=True):
        assert a.read_bytes() == b.read_bytes()
    assert "<dc:date>" not in first[2].read_text()
    assert len(pd.read_csv(first[1])) == 8
    with pytest.raises(InputError, match="name at least one"):
        write_figures([], tmp_path)
    with pytest.raises(InputError, match="cannot write into"):
        write_figures([results], results.path)


def test_an_empty_run_has_an_empty_table(tmp_path):
    file = ResultsFile(tmp_path / "r.jsonl")
    file.open({"study": "consistency"})
    write_figures([file], tmp_path)
    assert (tmp_path / "consistency.md").read_text() == "No instance is finished.\n"


def test_files_that_do_not_belong_together_are_refused(results, tmp_path):
    with pytest.raises(InputError, match="both contain 'p=5, n=100'"):
        result_table([results, results])
    other = ResultsFile(tmp_path / "other.jsonl")
    other.open({"study": "paper", "nodes": [20], "seed": 1})
    with pytest.raises(InputError, match="differ in seed"):
        write_figures([results, other], tmp_path)


def test_files_that_are_no_results_of_a_study_are_refused(tmp_path):
    own = ResultsFile(tmp_path / "own.jsonl")
    own.open({"study": "own"})
    own.add(Task("one", 0), [Output(0, "mine", {"value": 1}, 0.0)], 0.0)
    with pytest.raises(InputError, match="no table for the study 'own'"):
        write_figures([own], tmp_path)
    nameless = ResultsFile(tmp_path / "nameless.jsonl")
    nameless.open({})
    with pytest.raises(InputError, match="names no study"):
        write_figures([nameless], tmp_path)


def test_rows_of_figures_are_named_by_what_differs():
    assert _row_label("p=5, n=100", ["p=5, n=100"]) == "p = 5"
    assert _row_label("p=5, n=100", ["p=5, n=100", "p=20, n=100"]) == "p = 5"
    assert _row_label("p=5, n=1000", ["p=5, n=100", "p=5, n=1000"]) == "n = 1,000"
    assert _row_label("p=5, n=100", ["p=5, n=100", "p=7, n=2000"]) == "p = 5, n = 100"


def test_settings_stand_in_the_order_of_their_numbers(tmp_path):
    files = []
    for p in (20, 5):
        file = ResultsFile(tmp_path / f"{p}.jsonl")
        file.open({"study": "consistency", "nodes": p})
        measures = {
            "equivalent": True,
            "quasi_equivalent": True,
            "better_than_truth": False,
            "class_distance": 0,
            "n_edges": 3,
            "n_true_edges": 3,
        }
        file.add(Task(f"p={p}, n=100", 0), [Output(0, "exact", measures, 0.0)], 0.0)
        files.append(file)
    lines = result_table(files).splitlines()
    assert [line.split(",")[0] for line in lines[2:]] == ["| p=5", "| p=20"]
    assert [path.suffix for path in write_figures(files, tmp_path)] == [".md", ".svg", ".png"]


@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (40, 100)])
def test_intervals_of_independent_outputs_are_wilsons(k, n):
    found = share([True] * k + [False] * (n - k), range(n))
    expected = binomtest(k, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_intervals_of_alike_outputs_are_those_of_the_graphs():
    # Ten graphs, all ten outputs of each alike: no more is known than from ten outputs.
    successes = [graph < 3 for graph in range(10) for _ in range(10)]
    found = share(successes, [graph for graph in range(10) for _ in range(10)])
    expected = binomtest(3, 10).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_intervals_cover():
    # Graphs of different difficulty, five outputs each: at least 90% of the intervals hold 0.6.
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        difficulty = rng.beta(3, 2, size=40)
        successes = rng.random((40, 5)) < difficulty[:, None]
        found = share(successes.ravel().tolist(), np.repeat(np.arange(40), 5).tolist())
        held += found.low <= 0.6 <= found.high
    assert held >= 270

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config

from cyclearn import (
    InputError,
    Knowledge,
    LearnResult,
    LimitError,
    LinearGaussianModel,
    Moments,
    bootstrap,
    equivalence_class,
    learn,
)
from cyclearn.data.reading import Reading
from cyclearn.data.resampling import Resampler
from cyclearn.foundation import deadlines
from cyclearn.learning.checkpoint import Checkpoint
from cyclearn.results import BootstrapResult
from cyclearn.results.bootstrap_result import Resample

MODEL = LinearGaussianModel(
    [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]],
    [1, 1, 1, 1],
    names=["costs", "income", "price", "quantity"],
)
DATA = MODEL.sample(300, random_state=0)
QUICK = {"method": "hill-climbing"}
ROOM = sys.modules["cyclearn.learning.bootstrap"]


@pytest.fixture(scope="module")
def found():
    return bootstrap(DATA, 12, **QUICK)


def resampler(data, resampling, seed):
    return Resampler.of(Reading().tables(data), Reading(), resampling, seed)


def test_tables_count_the_learned_graphs(found):
    assert found.n_resamples == len(found.graphs) == 12
    for row in found.edges.itertuples():
        n = sum(graph.has_edge(row.source, row.target) for graph in found.graphs)
        assert row.frequency == pytest.approx(n / 12)
    for row in found.adjacencies.itertuples():
        n = sum(g.has_edge(row.a, row.b) or g.has_edge(row.b, row.a) for g in found.graphs)
        assert row.frequency == pytest.approx(n / 12)
        loops = sum(
            any({row.a, row.b} <= set(nodes) for nodes in g.components) for g in found.graphs
        )
        assert row.feedback == pytest.approx(loops / 12)
    for row in found.cycles.itertuples():
        arrows = list(zip(row.cycle, (*row.cycle[1:], row.cycle[0]), strict=True))
        n = sum(all(graph.has_edge(*arrow) for arrow in arrows) for graph in found.graphs)
        assert row.frequency == pytest.approx(n / 12)
    assert found.cycles.attrs["n_cut"] == 0
    assert ("price", "quantity") in set(found.cycles["cycle"])


def test_class_level_statements_are_those_of_all_members(found):
    for row in found.edges.itertuples():
        every = some = 0
        for graph in found.graphs:
            has = [m.has_edge(row.source, row.target) for m in equivalence_class(graph)]
            every += all(has)
            some += any(has)
        assert (row.compelled, row.possible) == pytest.approx((every / 12, some / 12))
    for row in found.adjacencies.itertuples():
        every = some = 0
        for graph in found.graphs:
            has = [
                m.has_edge(row.a, row.b) or m.has_edge(row.b, row.a)
                for m in equivalence_class(graph)
            ]
            every += all(has)
            some += any(has)
        assert (row.compelled, row.possible) == pytest.approx((every / 12, some / 12))


def test_the_answer_does_not_depend_on_the_number_of_processes(found):
    assert bootstrap(DATA, 12, n_jobs=2, **QUICK) == found
    with parallel_config(backend="threading"):
        assert bootstrap(DATA, 12, n_jobs=2, **QUICK) == found
    assert bootstrap(DATA, 5, **QUICK).resamples == found.resamples[:5]
    assert bootstrap(DATA, 12, random_state=1, **QUICK).resamples != found.resamples


def test_a_resample_learns_from_rows_drawn_with_replacement():
    source = resampler(DATA, None, 3)
    moments = source.draw(7)[0].only.moments
    assert moments.n_samples == len(DATA)
    assert moments.names == tuple(DATA.columns)
    draws = np.array([source.draw(r)[0].only.moments.mean for r in range(400)])
    error = DATA.std(ddof=0).to_numpy() / np.sqrt(len(DATA))
    assert np.allclose(draws.mean(axis=0), DATA.mean(), atol=4 * error.max() / 20)
    assert np.allclose(draws.std(axis=0), error, rtol=0.2)


def test_half_of_the_rows_are_drawn_once_each():
    marks = np.column_stack([2.0 ** np.arange(20), np.random.default_rng(0).normal(size=20)])
    moments = resampler(marks, "half", 0).draw(0)[0].only.moments
    assert moments.n_samples == 10
    # Ten different powers of two have a sum with ten binary digits.
    assert round(float(moments.mean[0]) * 10).bit_count() == 10


def test_parametric_draws_have_the_moments_of_a_sample_covariance():
    S, n = MODEL.covariance, 50
    source = resampler(Moments(S, n), None, 0)
    draws = np.array([source.draw(r)[0].only.moments.covariance for r in range(1_500)])
    assert np.allclose(draws.mean(axis=0), S * (n - 1) / n, atol=0.12)
    variance = (np.outer(S.diagonal(), S.diagonal()) + S**2) * (n - 1) / n**2
    assert np.allclose(draws.var(axis=0), variance, rtol=0.25)
    assert bootstrap(Moments(S, n), 2, **QUICK).resampling == "parametric"


def test_parametric_draws_work_with_fewer_samples_than_variables():
    wide = np.random.default_rng(0).normal(size=(8, 12))
    S = np.cov(wide.T, bias=True)
    drawn = resampler(Moments(S, 8), None, 0).draw(0)[0].only.moments
    assert np.linalg.matrix_rank(drawn.covariance) == 7


def test_a_draw_with_a_constant_column_is_made_again():
    rows = np.random.default_rng(0).normal(size=(12, 2))
    rows[:, 1] = 0
    rows[3, 1] = 1
    found = bootstrap(rows, 10, **QUICK)
    # The one row that differs is missed with probability (11/12)^12, about a third.
    assert found.n_failed == 0
    assert 0 < found.n_redraws < 40
    assert "were redrawn" in str(found)


def test_knowledge_holds_in_every_resample_and_in_class_statements():
    knowledge = Knowledge(forbidden=[("costs", "quantity")], required=[("income", "quantity")])
    found = bootstrap(DATA, 6, knowledge=knowledge, **QUICK)
    table = found.edges.set_index(["source", "target"])
    assert ("costs", "quantity") not in table.index
    assert table.loc[("income", "quantity"), "compelled"] == 1
    assert BootstrapResult.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_a_run_goes_on_from_its_checkpoint(tmp_path, found):
    path = tmp_path / "resamples.jsonl"
    bootstrap(DATA, 5, checkpoint=path, **QUICK)
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 1 + 5
    # Killed while writing: half a line at the end.
    path.write_text("".join(lines[:4]) + lines[4][:7])
    calls = []
    again = bootstrap(
        DATA,
        12,
        checkpoint=path,
        on_progress=calls.append,
        **QUICK,
    )
    assert again == found
    assert [(each.done, each.wanted) for each in calls] == [(n, 12) for n in range(4, 13)]
    before = path.read_text()
    assert bootstrap(DATA, 12, checkpoint=path, n_jobs=2, **QUICK) == found
    assert path.read_text() == before


def test_a_killed_run_loses_nothing_that_was_done(tmp_path, found):
    path, data = tmp_path / "resamples.jsonl", tmp_path / "data.csv"
    DATA.to_csv(data, index=False)
    code = (
        "import sys, time, cyclearn as cl\n"
        "def wait(progress):\n"
        "    if progress.done == 3: time.sleep(60)\n"
        f"cl.bootstrap({str(data)!r}, 12, checkpoint={str(path)!r}, method='hill-climbing',"
        " on_progress=wait)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and len(path.read_text().splitlines()) == 4:
            break
        time.sleep(0.05)
    process.kill()
    process.wait()
    calls = []
    again = bootstrap(
        str(data),
        12,
        checkpoint=path,
        on_progress=calls.append,
        **QUICK,
    )
    assert len(calls) == 9
    assert again.graphs == found.graphs


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"penalty": "2 bic"}, "penalty"),
        ({"random_state": 5}, "seed"),
        ({"resampling": "half"}, "resampling"),
        ({"data": DATA + 1}, "data"),
        ({"knowledge": Knowledge(forbidden=[("costs", "price")])}, "knowledge"),
        ({"exogenous": ["costs"]}, "exogenous"),
    ],
)
def test_a_checkpoint_made_with_other_settings_is_refused(tmp_path, change, named):
    path = tmp_path / "resamples.jsonl"
    bootstrap(DATA, 1, checkpoint=path, **QUICK)
    with pytest.raises(InputError, match=rf"other settings \({named}\)"):
        bootstrap(**{"data": DATA, "n_resamples": 1, "checkpoint": path, **QUICK, **change})


def test_a_checkpoint_of_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "resamples.jsonl"
    bootstrap(DATA, 1, checkpoint=path, max_parents=np.int64(2), **QUICK)
    monkeypatch.setattr("cyclearn.learning.checkpoint.__version__", "0.0.0")
    with pytest.raises(InputError, match=r"other settings \(version\)"):
        bootstrap(DATA, 1, checkpoint=path, max_parents=2, **QUICK)


def test_other_files_are_no_checkpoints(tmp_path):
    path = tmp_path / "data.csv"
    for text in ("a,b\n1,2\n", '{"schema": "other"}\n', "[]\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="not a checkpoint"):
            bootstrap(DATA, 1, checkpoint=path, **QUICK)
        assert path.read_text() == text
    with pytest.raises(InputError, match="cannot"):
        bootstrap(DATA, 1, checkpoint=tmp_path / "no" / "folder", **QUICK)


@pytest.mark.parametrize("content", [b"precious", b"{", b"PAR1\x00\n\x00PAR1", b'{"schema": 1}'])
def test_a_file_that_is_no_checkpoint_is_never_changed(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a checkpoint"):
        bootstrap(DATA, 1, checkpoint=path, **QUICK)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "line",
    [
        "5", "[]", '{"number": -1, "edges": []}', '{"number": 0, "edges": [[0, 99]]}',
        '{"number": 0, "edges": [[1, 1]]}', '{"number": 0, "edges": 3}', '{"number": 1e999}',
        '{"number": 0, "edges": [[-1, 0]]}', '{"number": null, "edges": []}',
    ],
)  # fmt: skip
def test_damaged_checkpoints_are_refused_and_left(tmp_path, line):
    path = tmp_path / "resamples.jsonl"
    bootstrap(DATA, 1, checkpoint=path, **QUICK)
    with path.open("a") as file:
        file.write(line + "\n")
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"line 3 of the checkpoint .* is damaged"):
        bootstrap(DATA, 2, checkpoint=path, **QUICK)
    assert path.read_bytes() == before


def test_bootstraps_that_begin_one_checkpoint_together_write_one_header(tmp_path):
    path = tmp_path / "resamples.jsonl"
    source = resampler(DATA, None, 0)
    threads = [
        threading.Thread(target=Checkpoint(path, source, {"seed": 0}).read) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(path.read_text().splitlines()) == 1
    # Those that found an empty file may both begin it; it stays a checkpoint.
    path.write_text(path.read_text() * 2)
    assert Checkpoint(path, source, {"seed": 0}).read() == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "at least 1"),
        ({"n_resamples": 1.5}, "whole number"),
        ({"resampling": "columns"}, "'blocks', 'half', 'parametric' or 'groups'"),
        ({"data": Moments(np.eye(2), 9), "resampling": "rows"}, "have no rows"),
        ({"data": DATA[:5], "resampling": "half"}, "too few"),
        ({"on_step": print}, "there is no option 'on_step'"),
        ({"penalty": "aic"}, "penalty is 'aic'"),
        ({"knowledge": Knowledge(exogenous=["weather"])}, "weather"),
    ],
)
def test_input_that_cannot_be_used_is_named(options, message):
    with pytest.raises(InputError, match=message):
        bootstrap(**{"data": DATA, "n_resamples": 2, **options})


def test_resamples_without_a_graph_are_told():
    one = Resample(0, ((0, 1),))
    found = BootstrapResult(("a", "b"), (one, Resample(1, (), error="no")), "rows", {})
    assert (found.n_resamples, found.n_failed) == (1, 1)
    assert "1 more resamples gave no graph" in str(found)
    assert found.edges["frequency"].tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match="no resample gave a graph: no"):
        replace(found, resamples=found.resamples[1:])


def test_limits_are_told():
    found = bootstrap(DATA, 3, max_evaluations=5, **QUICK)
    assert found.limits["max_evaluations"] == 3
    assert "max_evaluations was reached in 3 of 3" in str(found)


def test_learn_carries_the_bootstrap_through_json():
    result = learn(DATA, bootstrap=3, method="hill-climbing")
    assert result.bootstrap.n_resamples == 3
    again = LearnResult.from_json(result.to_json())
    assert again == result
    assert again.bootstrap == result.bootstrap
    assert learn(DATA, method="hill-climbing").bootstrap is None
    half = learn(DATA, bootstrap={"n_resamples": 2, "resampling": "half"}, method="hill-climbing")
    assert half.bootstrap.resampling == "half"


def test_a_bootstrap_may_search_differently_from_the_learning_it_belongs_to():
    own = {"n_resamples": 2, "n_starts": 2, "random_state": 5}
    result = learn(DATA, bootstrap=own, n_starts=1, method="hill-climbing")
    alone = bootstrap(DATA, **own, method="hill-climbing")
    assert result.bootstrap.resamples == alone.resamples


def test_a_time_limit_is_for_all_resamples_together(monkeypatch):
    """They are the first ones of a run without it."""
    whole = bootstrap(DATA, 6, **QUICK)
    clock = [0.0]
    monkeypatch.setattr(deadlines, "monotonic", lambda: clock[0])

    def take_a_second(*_):
        clock[0] += 1

    limited = bootstrap(DATA, 6, **QUICK, time_limit=3, on_progress=take_a_second)
    assert limited.resamples == whole.resamples[:3]
    assert "before all 6 resamples" in str(limited)
    assert BootstrapResult.from_dict(limited.to_dict()) == limited


def test_a_resample_that_was_cut_short_counts_only_where_there_is_no_other():
    found = bootstrap(DATA, 6, **QUICK, time_limit=0)
    assert found.n_resamples == 1
    assert found.limits == {"time_limit": 1}


def test_a_file_that_is_no_checkpoint_is_refused_before_the_search(tmp_path, monkeypatch):
    # A search would fail in another way.
    monkeypatch.setattr(sys.modules["cyclearn.learning.learn"], "learn_with", None)
    (tmp_path / "precious").write_text("precious")
    with pytest.raises(InputError, match="not a checkpoint"):
        learn(DATA, bootstrap={"n_resamples": 1, "checkpoint": tmp_path / "precious"})
    with pytest.raises(InputError, match="cannot use the checkpoint"):
        learn(DATA, bootstrap={"n_resamples": 1, "checkpoint": tmp_path})


def test_a_resample_out_of_reach_takes_nothing_from_the_others(monkeypatch):
    from cyclearn.learning.run import learn_with

    calls = iter(range(3))

    def refusing(*given):
        if next(calls) == 1:
            raise LimitError("too many structures")
        return learn_with(*given)

    monkeypatch.setattr(ROOM, "learn_with", refusing)
    found = bootstrap(DATA, 3, **QUICK)
    assert found.resamples[1].error == "too many structures"
    assert (found.n_resamples, found.n_failed) == (2, 1)

"""Runs that are cut, continued, spread over processes: always the same table."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from cyclearn import InputError, LimitError
from cyclearn.experiments import ResultsFile, VirtualEdgeStudy, run_study
from cyclearn.experiments.result_tables import result_table
from cyclearn.experiments.study import Output, Task, task_generator

COMMAND = [sys.executable, "-m", "cyclearn", "experiment", "virtual-edges"]
STUDY = VirtualEdgeStudy(n_samples=300, seed=5)


class Counted:
    """A study that costs nothing and notes what it was asked to run."""

    name = "counted"

    def __init__(self, factor=1):
        self.factor = factor
        self.ran = []

    @property
    def configuration(self):
        return {"study": self.name, "factor": self.factor}

    def tasks(self, n_instances):
        return [Task("one", n) for n in range(n_instances or 3)]

    def run(self, task):
        self.ran.append(task.instance)
        value = self.factor * task_generator(0, self.name, task.instance).integers(1000)
        return [Output(0, "drawn", {"value": int(value)}, 0.1)]


class Ending(Counted):
    """A study that ends the process it runs in."""

    def run(self, _task):
        os.kill(os.getpid(), signal.SIGKILL)


def csv(path):
    return ResultsFile(path).table().to_csv(index=False)


def n_finished(path):
    # A line that is being written is none yet.
    return path.read_text().count("\n") - 1 if path.exists() else 0


def start(path, n_instances):
    options = ["--samples", "300", "--seed", "5", "--instances", str(n_instances)]
    return subprocess.Popen(
        [*COMMAND, *options, "--out", str(path)],
        stdout=subprocess.DEVNULL,
    )


def kill_and_resume(path, n_instances, n_kills, seed):
    """Kill a run at random moments, continue it each time, and let the last one finish."""
    rng = random.Random(seed)
    total = 2 * n_instances
    for _ in range(n_kills):
        process = start(path, n_instances)
        # Half of the kills at some number of finished instances, half at some time.
        goal = n_finished(path) + rng.randrange(1, max(2, total // (n_kills + 1)))
        limit = time.monotonic() + (rng.uniform(0, 3) if rng.random() < 0.5 else 60)
        while n_finished(path) < goal and time.monotonic() < limit and process.poll() is None:
            time.sleep(rng.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.wait()
    finished = start(path, n_instances)
    assert finished.wait(timeout=300) == 0


def test_a_run_killed_at_random_moments_loses_nothing(tmp_path):
    # More kills: CYCLEARN_KILLS=20 python -m pytest tests/experiments/test_runs.py -k random
    n_kills = int(os.environ.get("CYCLEARN_KILLS", "2"))
    n_instances = 2 * n_kills
    run_study(STUDY, tmp_path / "whole.jsonl", n_instances=n_instances)
    kill_and_resume(tmp_path / "cut.jsonl", n_instances, n_kills, seed=n_kills)
    assert csv(tmp_path / "cut.jsonl") == csv(tmp_path / "whole.jsonl")
    assert n_finished(tmp_path / "cut.jsonl") == 2 * n_instances


def test_the_table_does_not_depend_on_the_number_of_processes(tmp_path):
    run_study(STUDY, tmp_path / "one.jsonl", n_instances=2)
    run_study(STUDY, tmp_path / "two.jsonl", n_instances=2, n_jobs=2)
    assert csv(tmp_path / "one.jsonl") == csv(tmp_path / "two.jsonl")
    assert "seconds" not in csv(tmp_path / "one.jsonl")
    lines = result_table([ResultsFile(tmp_path / "one.jsonl")]).splitlines()
    table = ResultsFile(tmp_path / "one.jsonl").table()
    rows = table[table["setting"].str.startswith("(b)") & (table["method"] == "5, 5, with")]
    share = f"{rows['equivalent'].mean():.0%} ["
    assert lines[-1].startswith(f"| (b) a 4-cycle with one outside parent | 5, 5 | with | {share}")
    assert lines[-1].endswith("| 83% | 97% |")


def test_only_what_is_left_is_run_and_more_instances_can_be_added(tmp_path):
    path = tmp_path / "r.jsonl"
    run_study(Counted(), path, n_instances=2)
    longer, again = Counted(), Counted()
    seen = []
    run_study(longer, path, n_instances=4, on_progress=lambda *counts: seen.append(counts))
    run_study(again, path, n_instances=4)
    assert (longer.ran, again.ran) == ([2, 3], [])
    assert seen == [(2, 4), (3, 4), (4, 4)]
    whole = tmp_path / "whole.jsonl"
    run_study(Counted(), whole, n_instances=4)
    assert csv(path) == csv(whole)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_what_has_finished(tmp_path, n_jobs):
    path, whole = tmp_path / "r.jsonl", tmp_path / "whole.jsonl"

    def press(done, _all):
        if done == 2:
            signal.raise_signal(signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_study(STUDY, path, n_instances=3, n_jobs=n_jobs, on_progress=press)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert n_finished(path) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl"]
    run_study(STUDY, path, n_instances=3)
    run_study(STUDY, whole, n_instances=3)
    assert csv(path) == csv(whole)


def test_another_configuration_is_refused_and_named(tmp_path):
    path = tmp_path / "r.jsonl"
    run_study(Counted(), path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="factor is 1 there and 2 here"):
        run_study(Counted(2), path)
    with pytest.raises(InputError, match="has results already"):
        run_study(Counted(), path, must_be_new=True)
    assert path.read_bytes() == before


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not results, but a text long enough to look at" * 30)
    with pytest.raises(InputError, match="not a results file"):
        run_study(Counted(), path)
    assert path.read_text().startswith("not results")
    with pytest.raises(InputError, match="no results file"):
        _ = ResultsFile(tmp_path / "absent.jsonl").configuration
    with pytest.raises(InputError, match="no results file"):
        ResultsFile(tmp_path / "absent.jsonl").table()
    assert not (tmp_path / "absent.jsonl").exists()
    with pytest.raises(InputError, match="no folder"):
        run_study(Counted(), tmp_path / "no" / "such" / "folder.jsonl")


def test_a_file_without_results_is_started_anew(tmp_path):
    path = tmp_path / "r.jsonl"
    ResultsFile(path).open(Counted().configuration)
    results = run_study(Counted(2), path, must_be_new=True)
    assert results.configuration["factor"] == 2


def test_a_process_that_is_ended_from_outside_is_said(tmp_path):
    with pytest.raises(LimitError, match="the same command"):
        run_study(Ending(), tmp_path / "r.jsonl", n_jobs=2)


def test_an_instance_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "r.jsonl"
    results = ResultsFile(path)
    results.open({"study": "broken"})
    good = Output(0, "a", {"x": 1}, 0.0)
    with pytest.raises(TypeError):
        results.add(Task("s", 0), [good, Output(1, "a", {"x": object()}, 0.0)], 0.0)
    assert results.finished() == set()
    assert len(results.table()) == 0


def test_an_instance_that_two_runs_finished_is_in_the_file_once(tmp_path):
    path = tmp_path / "r.jsonl"
    one, other = ResultsFile(path), ResultsFile(path)
    for results in (one, other):
        results.open({"study": "counted"})
        results.add(Task("one", 0), [Output(0, "a", {"x": 1}, 0.0)], 0.0)
    assert len(one.table()) == len(other.finished()) == 1


def test_an_instance_that_cannot_run_is_named_and_the_others_are_kept(tmp_path):
    class Broken(Counted):
        def run(self, task):
            if task.instance == 2:
                raise InputError("no data")
            return super().run(task)

    path = tmp_path / "r.jsonl"
    with pytest.raises(InputError, match="instance 2 of 'one': no data"):
        run_study(Broken(), path)
    assert ResultsFile(path).finished() == {Task("one", 0), Task("one", 1)}


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("cyclearn.experiments.runner._ANSWER", 0.2)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        run_study(STUDY, tmp_path / "r.jsonl", n_instances=1, scheduler="tcp://127.0.0.1:9")


def test_a_cluster_without_the_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"cyclearn\[cluster\]"):
        run_study(STUDY, tmp_path / "r.jsonl", n_instances=1, scheduler="tcp://127.0.0.1:9")

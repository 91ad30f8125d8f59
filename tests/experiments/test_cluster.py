"""A real Dask scheduler and two workers on this machine, one of which dies half-way."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from joblib import parallel_config

import cyclearn as cl
from cyclearn import LimitError
from cyclearn.experiments import ResultsFile, VirtualEdgeStudy, run_study

Client = pytest.importorskip("distributed").Client
pytestmark = pytest.mark.xdist_group("cluster")
N_INSTANCES = 12


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a scheduler, and the processes of its two workers.

    The last but one test takes a worker from it, the last the scheduler.
    """
    tmp_path = tmp_path_factory.mktemp("cluster")
    processes = []

    def begin(*arguments):
        log = (tmp_path / f"{len(processes)}.log").open("w")
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{arguments[0]}", *arguments[1:]],
                stdout=log,
                stderr=log,
                env=os.environ | {"DASK_DISTRIBUTED__WORKER__DAEMON": "False"},
                cwd=tmp_path,
            )
        )
        log.close()
        return processes[-1]

    file = tmp_path / "scheduler.json"
    begin("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
          "--scheduler-file", str(file))  # fmt: skip
    limit = time.monotonic() + 60
    # The scheduler makes the file, and then writes it.
    while not (file.exists() and file.read_text().endswith("}")) and time.monotonic() < limit:
        time.sleep(0.05)
    address = json.loads(file.read_text())["address"]
    workers = [
        begin(
            "dask_worker",
            address,
            "--no-nanny",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--host",
            "127.0.0.1",
            "--local-directory",
            str(tmp_path),
        )
        for _ in range(2)
    ]
    yield address, workers
    for process in reversed(processes):
        process.kill()
        process.wait()


def scheduler_at(address):
    """The process that listens there."""
    with Client(address) as client:
        return client.run_on_scheduler(os.getpid)


def instances_in(path):
    # A line that is being written is none yet.
    return path.read_text().count("\n") - 1 if path.exists() else 0


def all_calls(n_jobs):
    truth = cl.simulate.random_graph(4, max_component=3, random_state=3)
    model = cl.simulate.random_model(truth, random_state=3)
    tables = {name: model.sample(300, random_state=seed) for seed, name in enumerate("ab")}
    one = tables["a"]
    return [
        answer.to_dict()
        for answer in (
            cl.learn(one, n_starts=3, n_jobs=n_jobs),
            cl.learn(tables, n_starts=2, n_jobs=n_jobs),
            cl.bootstrap(one, n_resamples=3, n_starts=1, random_state=1, n_jobs=n_jobs),
            cl.posterior(one, n_samples=50, effective_size=50, random_state=1, n_jobs=n_jobs),
        )
    ]


def test_starts_groups_resamples_and_chains_run_there_too(cluster):
    address, _ = cluster
    with Client(address) as client:
        client.wait_for_workers(2)
        with parallel_config(backend="dask"):
            there = all_calls(n_jobs=2)
        loaded = client.run(lambda: "cyclearn._kernels.graph_chain" in sys.modules)
    assert list(loaded.values()) == [True, True]
    assert there == all_calls(n_jobs=1)


def test_a_lost_worker_loses_nothing(cluster, tmp_path):
    address, workers = cluster
    path, alone = tmp_path / "cluster.jsonl", tmp_path / "alone.jsonl"
    options = ["--seed", "3", "--samples", "2000", "--instances", str(N_INSTANCES)]
    command = [sys.executable, "-m", "cyclearn", "experiment", "virtual-edges", *options]
    run = subprocess.Popen(
        [*command, "--out", str(path), "--scheduler", address], stdout=subprocess.DEVNULL
    )
    limit = time.monotonic() + 120
    while instances_in(path) < N_INSTANCES and time.monotonic() < limit:
        assert run.poll() is None
        time.sleep(0.01)
    workers[0].send_signal(signal.SIGKILL)
    assert instances_in(path) < 2 * N_INSTANCES, "the run was over before the worker died"
    # The run of this process goes on beside that of the cluster.
    run_study(VirtualEdgeStudy(n_samples=2000, seed=3), alone, n_instances=N_INSTANCES)
    assert run.wait(timeout=180) == 0
    tables = [ResultsFile(file).table().to_csv(index=False) for file in (path, alone)]
    assert tables[0] == tables[1]
    assert instances_in(path) == 2 * N_INSTANCES


def test_a_lost_scheduler_is_said(cluster, tmp_path):
    address, _ = cluster
    study = VirtualEdgeStudy(n_samples=2000, seed=4)

    def on_progress(n_done, _n_all):
        if n_done == 3:
            os.kill(scheduler_at(address), signal.SIGKILL)

    with pytest.raises(LimitError, match=r"was lost; .* the same command continues"):
        run_study(study, tmp_path / "r.jsonl", n_instances=200, scheduler=address,
                  on_progress=on_progress)  # fmt: skip
    assert instances_in(tmp_path / "r.jsonl") >= 3

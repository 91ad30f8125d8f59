"""Searches as jobs: queued, done, stopped, cancelled, lost; and scripts that repeat them."""

import json
import os
import signal
import time
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from served import serve

import cyclearn as cl

# One server for all: where tests run in several processes, these run in one of them.
pytestmark = pytest.mark.xdist_group("app")


KNOWLEDGE = {"forbidden": [["price", "profit"]], "tiers": [["costs", "income"], ["price", "stock"]]}


def repeated(client, job, folder, monkeypatch):
    """Run the script of a job beside its table; the graph that it wrote, as bytes."""
    script = client.file(f"/api/script?job={job}").decode()
    record = client.get(f"/api/jobs/{job}")
    table = client.get(f"/api/tables/{record['table']}")
    (folder / table["name"]).write_bytes(client.file(f"/api/tables/{table['id']}/file"))
    monkeypatch.chdir(folder)
    exec(compile(script, "repeat.py", "exec"), {"__name__": "__main__"})
    return (folder / f"graph{job[1:]}.json").read_bytes(), script


def test_the_graph_is_that_of_the_library_and_of_the_script(client, example, tmp_path, monkeypatch):
    table, quickly = example[0], {"penalty": "2 bic", "n_starts": 1}
    job = client.start("learn", table, options={"knowledge": KNOWLEDGE, **quickly})
    client.wait(job)
    graph = client.file(f"/api/jobs/{job}/files/graph.json")
    written, _ = repeated(client, job, tmp_path, monkeypatch)
    assert written == graph
    data = cl.read_table(tmp_path / "market.csv")
    result = cl.learn(data, knowledge=cl.Knowledge.from_dict(KNOWLEDGE), **quickly)
    assert json.loads(graph) == result.graph.to_dict()
    kept = cl.LearnResult.from_json(client.file(f"/api/jobs/{job}/files/result.json").decode())
    assert kept == result


def test_the_view_says_what_the_result_says(client, example):
    view = client.get(f"/api/jobs/{example[1]}")["view"]
    result = cl.LearnResult.from_json(
        client.file(f"/api/jobs/{example[1]}/files/result.json").decode()
    )
    learned = view["members"][0]
    edges = [(each["source"], each["target"]) for each in view["edges"]]
    assert {edges[n] for n in learned["edges"]} == set(result.graph.edges)
    assert int(view["listing"]["size"]) == result.equivalence_class.size == len(view["members"])
    for member in view["members"]:
        graph = cl.DirectedGraph.from_edges([edges[n] for n in member["edges"]], view["names"])
        assert graph in result.equivalence_class
    weights = dict(zip(learned["edges"], learned["weights"], strict=True))
    for n, weight in weights.items():
        a, b = (result.graph.index(name) for name in edges[n])
        assert weight == pytest.approx(result.model.B[a, b])
    shared = {edge for each in result.verdicts for edge in each.shared_edges}
    assert {
        edge for edge, each in zip(edges, view["edges"], strict=True) if each["shared"]
    } == shared


def test_every_file_can_be_taken_away(client, example):
    from cyclearn.app.downloads import EXPORTS

    starts = {"picture.pdf": b"%PDF", "picture.png": b"\x89PNG", "picture.svg": b"<?xml",
              "report.html": b"<!DOCTYPE html>"}  # fmt: skip
    graph = cl.DirectedGraph.from_dict(
        json.loads(client.file(f"/api/jobs/{example[1]}/files/graph.json"))
    )
    for name in EXPORTS["learn"]:
        content = client.file(f"/api/jobs/{example[1]}/files/{name}")
        assert content.startswith(starts.get(name, b""))
        if name in ("graph.dot", "graph.txt"):
            from cyclearn.graphs.formats import parse_graph

            assert parse_graph(content.decode()) == graph
        if name.endswith(".csv"):
            assert len(content.splitlines()) > 1
    assert client.raw.get(f"/api/jobs/{example[1]}/files/job.json").status_code == 400


def test_files_beside_the_data_are_not_executed(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    for name in ("numpy", "pandas", "json"):
        (tmp_path / "here" / f"{name}.py").write_text("open('executed', 'w')\nraise SystemExit")
    monkeypatch.chdir(tmp_path / "here")
    with serve(tmp_path / "workspace", size=1) as client:
        assert client.post("/api/tables/example").status_code == 200
    assert not (tmp_path / "here" / "executed").exists()


def test_hostile_names_stay_names(client, tmp_path, monkeypatch):
    names = ["<img src=x onerror=alert(1)>", "'); import os; ('", 'x"""', "\\N{BULLET} {0}"]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    X[:, 1] += X[:, 0]
    content = pd.DataFrame(X, columns=names).to_csv(index=False).encode()
    table = client.upload("'''\"\"\" \\ {0}.csv", content).json()
    job = client.start("learn", table["id"])
    client.wait(job)
    graph = client.file(f"/api/jobs/{job}/files/graph.json")
    assert repeated(client, job, tmp_path, monkeypatch)[0] == graph
    assert b"<img" not in client.file(f"/api/jobs/{job}/files/report.html")
    assert "<img" not in client.get(f"/api/jobs/{job}")["view"]["picture"]


def test_a_stopped_search_keeps_its_best_and_the_script_says_so(
    client, long_table, tmp_path, monkeypatch
):
    table = client.upload("long.csv", long_table.read_bytes()).json()["id"]
    dropped = client.start("learn", table, options={"random_state": 1})
    assert client.post(f"/api/jobs/{dropped}/cancel").json()["state"] == "cancelled"
    job = client.start("learn", table)
    client.wait_for_kept(job)
    assert client.job(job)["progress"]["scores"]
    assert client.post(f"/api/jobs/{job}/stop").json()["state"] == "stopping"
    assert client.wait(job)["is_kept"]
    view = client.get(f"/api/jobs/{job}")["view"]
    assert "Ended: the search was stopped" in " ".join(view["search"])
    kept = client.file(f"/api/jobs/{job}/files/result.json").decode()
    assert cl.LearnResult.from_json(kept).status.name == "INTERRUPTED"
    written, script = repeated(client, job, tmp_path, monkeypatch)
    assert written == client.file(f"/api/jobs/{job}/files/graph.json")
    assert "stopped" in script
    assert "start=" in script
    assert client.job(dropped)["state"] == "cancelled"


def test_running_searches_leave_small_questions_free(client, example, long_table):
    """Two searches take both processes for long work: whatever is small is done beside them."""
    table = client.upload("long.csv", long_table.read_bytes()).json()["id"]
    ways = [{"random_state": n, "effort": "high"} for n in range(4)]
    jobs = [client.start("learn", table, options=options) for options in ways]
    for job in jobs[:2]:
        client.wait_for_kept(job)
    assert client.upload("six.csv", b"a,b\n1,2\n2,3\n3,5\n4,4\n5,7\n6,5\n").status_code == 200
    page = client.post(f"/api/jobs/{example[1]}/members", {"at": 0})
    assert page.json()["members"]
    effects = client.start("effects", example[0], of=example[1], source="price")
    client.wait(effects)
    assert client.get(f"/api/jobs/{jobs[0]}/sketch")["edges"]
    running, also, waiting, last = map(client.job, jobs)
    assert [each["state"] for each in (running, also)] == ["running", "running"]
    assert running["progress"]["phase"] == "Searching"
    assert running["progress"]["best"] > 0
    assert running["progress"]["seconds"] >= 0
    assert [waiting["progress"], last["progress"]] == [
        {"place": 1, "queue": 2}, {"place": 2, "queue": 2}
    ]  # fmt: skip
    client.post(f"/api/jobs/{jobs[0]}/stop")
    assert client.wait(jobs[0])["is_kept"]
    assert client.job(jobs[1])["state"] == "running"
    # Those that wait first: they would begin, and take a process each.
    for job in reversed(jobs):
        client.post(f"/api/jobs/{job}/cancel")


def test_probabilities_follow_a_search_that_asks_for_them(client, example):
    reading = {"columns": ["costs", "price", "income"]}
    job = client.start("learn", example[0], reading=reading, probabilities=True)
    client.wait(job)
    (after,) = [each for each in client.get("/api/state")["jobs"] if each["of"] == job]
    assert after["kind"] == "posterior"
    client.wait(after["id"])
    view = client.get(f"/api/jobs/{after['id']}")["view"]
    assert "have a probability of at least 0.9" in " ".join(view["conclusion"])
    script = client.file(f"/api/script?job={after['id']}").decode()
    assert "max_steps=100000" in script


def test_a_killed_worker_harms_nobody_else_and_its_best_can_be_kept(tmp_path, long_table):
    from cyclearn.app.pool import Worker

    pids, busy = [], []
    begin, ask = Worker.start.__func__, Worker.ask

    async def start(cls, niceness=0):
        worker = await begin(cls, niceness)
        pids.append(worker.process.pid)
        return worker

    async def asked(self, task, arguments):
        busy.append((task, self.process.pid))
        return await ask(self, task, arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "start", classmethod(start))
        patch.setattr(Worker, "ask", asked)
        with serve(tmp_path / "w", size=1) as client:
            table = client.upload("long.csv", long_table.read_bytes()).json()["id"]
            job = client.start("learn", table)
            client.wait_for_kept(job)
            os.kill(dict(busy)["learn"], signal.SIGKILL)
            found = client.wait(job, "lost")
            assert "killed" in found["message"]
            assert found["can_keep"]
            client.post(f"/api/jobs/{job}/stop")
            assert client.wait(job)["is_kept"]
            running = client.start("learn", table, options={"random_state": 2})
            client.wait_for_kept(running)
    # The program ended while it ran, and its workers with it.
    for pid in pids:
        for _ in range(100):
            if not os.path.exists(f"/proc/{pid}"):
                break
            time.sleep(0.05)
        else:
            raise AssertionError(f"worker {pid} outlives its server")
    with serve(tmp_path / "w", size=1) as client:
        assert client.job(running)["state"] == "lost"
        assert client.job(job)["state"] == "done"
        assert client.get(f"/api/jobs/{job}")["view"]["names"]


def test_a_stopped_search_does_not_read_the_table_again(tmp_path, monkeypatch):
    from cyclearn.app import learning_tasks
    from cyclearn.app.limits import Limits
    from cyclearn.app.opening import open_table

    rows = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=list("abc"))
    rows["c"] = rows["c"].gt(0).astype(int)
    places = [tmp_path / "t1", tmp_path / "j1"]
    for place in places:
        place.mkdir()
    rows.to_csv(places[0] / "table.csv", index=False)
    open_table(folder=str(places[0]), file="table.csv", name="table.csv", reading={},
               limits=asdict(Limits()))  # fmt: skip
    arguments = {"folder": str(places[1]), "table": str(places[0]), "request": {}}
    learning_tasks.learn(**arguments, kept_tables=str(tmp_path / "kept"))
    found = learning_tasks.learned(str(places[1]))
    monkeypatch.setattr(learning_tasks, "read_frame", pytest.fail)
    learning_tasks.keep_learn(**arguments, kept_tables=str(tmp_path / "kept"))
    kept = learning_tasks.learned(str(places[1]))
    assert kept.status.name == "INTERRUPTED"
    assert kept.tables.ordered == found.tables.ordered == ("c",)
    assert kept.score == found.score


def test_tables_that_were_read_are_kept_only_while_a_search_runs(tmp_path, long_table, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with serve(tmp_path / "w", size=1) as client:
        table = client.upload("long.csv", long_table.read_bytes()).json()["id"]
        for end in ("stop", "cancel"):
            job = client.start("learn", table)
            client.wait_for_kept(job)
            assert [each.name for each in tmp_path.glob("cyclearn-*/*")] == [job]
            client.post(f"/api/jobs/{job}/{end}")
            client.wait(job, "done", "cancelled")
            assert not list(tmp_path.glob("cyclearn-*/*"))
    assert not list(tmp_path.glob("cyclearn-*"))

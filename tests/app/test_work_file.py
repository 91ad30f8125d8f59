"""One's work as a file: opened again it is the same; what is damaged or hostile is refused."""

import io
import json
import zipfile

import pytest
from served import serve

pytestmark = pytest.mark.xdist_group("app")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A workspace with one named graph, its job, and the file."""
    with serve(tmp_path_factory.mktemp("work") / "w", size=1, max_bytes=300_000) as client:
        table = client.post("/api/tables/example").json()["id"]
        job = client.start("learn", table, reading={"columns": ["costs", "price", "profit"]})
        client.wait(job)
        about = {
            "name": "First",
            "note": "n",
            "look": {"layout": "ring", "own": [["costs", "price"]]},
        }
        client.raw.put(f"/api/jobs/{job}", json=about, headers=client.headers)
        for kind, request in (
            ("bootstrap", {"n_resamples": 2}),
            ("effects", {"source": "costs"}),
            ("compare", {"text": "costs -> price"}),
        ):
            client.wait(client.start(kind, table, of=job, **request))
        yield client, job, client.file("/api/work")


def changed(work, **changes):
    """The file with other parts; by name, None leaves one out."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(work)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            part = changes[name](part) if name in changes else part
            if part is not None:
                new.writestr(name, part)
    return made.getvalue()


def listed(change):
    """A change of the list of contents."""

    def make(part):
        content = json.loads(part)
        change(content)
        return json.dumps(content)

    return {"work.json": make}


def test_opened_again_it_is_the_same_beside_the_first(saved):
    client, job, work = saved
    assert client.raw.post("/api/work", content=work, headers=client.headers).status_code == 200
    every = client.get("/api/state")["jobs"]
    first, again = (each for each in every if each["kind"] == "learn")
    assert again["id"] != first["id"] == job
    assert again["table"] != first["table"]
    assert [again[part] for part in ("name", "note", "state")] == ["First", "n", "done"]
    before, view = (client.get(f"/api/jobs/{each['id']}")["view"] for each in (first, again))
    for part in ("conclusion", "edges", "members", "picture"):
        assert view[part] == before[part]
    looks = [client.get(f"/api/jobs/{each['id']}")["look"] for each in (first, again)]
    assert looks[0] == looks[1] == {"layout": "ring", "own": [["costs", "price"]]}
    for kind in ("bootstrap", "effects", "compare"):
        about, same = (each for each in every if each["kind"] == kind)
        assert [about["of"], same["of"]] == [first["id"], again["id"]]
        views = [client.get(f"/api/jobs/{each['id']}")["view"] for each in (about, same)]
        assert views[0] == views[1]
    tables = [client.get(f"/api/tables/{each['table']}") for each in (first, again)]
    assert tables[0]["columns"] == tables[1]["columns"]


def test_without_rows_results_are_there_and_no_table_is(saved):
    client, _, work = saved
    slim = client.file("/api/work?tables=no")
    assert not [name for name in zipfile.ZipFile(io.BytesIO(slim)).namelist() if "table" in name]
    assert client.raw.post("/api/work", content=slim, headers=client.headers).status_code == 200
    last = [each for each in client.get("/api/state")["jobs"] if each["kind"] == "learn"][-1]
    assert client.get(f"/api/jobs/{last['id']}")["view"]["names"] == ["costs", "price", "profit"]
    table = client.get(f"/api/tables/{last['table']}")
    assert table["n_rows"] == 2_000
    assert "not in the file" in table["trouble"]
    refused = client.start("learn", last["table"])
    assert "rows of this table" in client.wait(refused, "failed")["message"]
    # It can be saved again, with what there is.
    assert len(client.file("/api/work")) > len(work)


def hostile(work):
    """Files that no page has saved."""
    yield b"", "damaged"
    yield work[: len(work) // 2], "damaged"
    yield b"a,b\n1,2\n", "damaged"
    yield changed(work, **{"work.json": lambda _: None}), "damaged"
    yield changed(work, **listed(lambda c: c.update(schema="cyclearn.work/9"))), "cannot open"
    yield changed(work, **listed(lambda c: c["tables"][0].update(file="../../evil.csv"))), "damaged"
    yield changed(work, **listed(lambda c: c["tables"][0].update(file="x.py"))), "cannot open"
    yield changed(work, **listed(lambda c: c["tables"][0].update(name=3))), "damaged"
    yield changed(work, **listed(lambda c: c["jobs"][0].update(table="t0"))), "damaged"
    yield changed(work, **listed(lambda c: c["jobs"][0].update(kind="posterior"))), "wrong type"
    yield changed(work, **{"j1.json": lambda _: b"{}"}), ""
    bad = {"required": 3, "forbidden": [], "tiers": [], "exogenous": []}
    yield changed(work, **listed(lambda c: c["tables"][0]["draft"].update(knowledge=bad))), ""
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("work.json", b"0" * 10_000_000)
    yield bomb.getvalue(), "larger than"


def test_what_is_damaged_or_hostile_is_refused_in_words(saved):
    client, _, work = saved
    folders = len(client.get("/api/state")["tables"])
    for content, words in hostile(work):
        answer = client.raw.post("/api/work", content=content, headers=client.headers)
        assert answer.status_code == 400, answer.text
        assert words in answer.json()["error"]
        assert "defect" not in answer.json()["error"]
    assert client.raw.post("/api/work", content=work).status_code == 403
    assert len(client.get("/api/state")["tables"]) == folders

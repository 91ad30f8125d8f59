"""Tables of users: what is opened, what is refused and with which words."""

import io
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl

# One server for all: where tests run in several processes, these run in one of them.
pytestmark = pytest.mark.xdist_group("app")
WORDS = ("message", "remedy")


def csv(frame):
    return frame.to_csv(index=False).encode()


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.standard_normal((200, 3)), columns=["a", "b", "c"])


def test_the_example(client, example):
    table = client.get(f"/api/tables/{example[0]}")
    assert [column["name"] for column in table["columns"]][:3] == ["costs", "income", "price"]
    assert table["n_rows"] == 2_000
    assert all(len(values) == 300 for values in table["sample"].values())
    assert all(sum(column["histogram"]) == 2_000 for column in table["columns"])
    assert b"costs,income" in client.file(f"/api/tables/{example[0]}/file")


def test_columns_that_are_no_numbers_are_listed_with_the_reason(client, frame):
    mixed = frame.assign(subject=[f"s{n}" for n in range(200)], day="2024-05-01")
    table = client.upload("mixed.csv", csv(mixed)).json()
    problems = {each["name"]: each["problem"] for each in table["columns"] if "problem" in each}
    assert set(problems) == {"subject", "day"}
    assert "dates" in problems["day"]
    job = client.start("learn", table["id"], reading={"columns": ["a", "b", "c"]})
    client.wait(job)
    assert client.get(f"/api/jobs/{job}")["view"]["names"] == ["a", "b", "c"]


def test_holes_and_their_codes(client, frame):
    holed = frame.copy()
    holed.iloc[::7, 0] = -999
    table = client.upload("holed.csv", csv(holed)).json()
    assert not table["has_holes"]
    assert any(warning["code"] == "missing_codes" for warning in table["warnings"])
    again = client.post(f"/api/tables/{table['id']}/read", {"missing_codes": ["-999"]}).json()
    assert again["has_holes"]
    assert again["columns"][0]["missing"] == len(holed.iloc[::7])
    assert again["reading"] == {"missing_codes": ["-999"]}


def test_codes_are_proposed_once_for_the_whole_table(client):
    rows = [f"{n},{3 * n % 7},{5 * n % 9}" for n in range(30)]
    coded = ["a,b,c", *rows, "30,*,4", "31,2,missing", "-999,4,.", "-999,1,2"]
    opened = client.upload("coded.csv", "\n".join(coded).encode()).json()
    assert opened["codes"] == ["*", "-999"]
    assert [each["name"] for each in opened["columns"] if "problem" not in each] == ["a", "c"]
    path = f"/api/tables/{opened['id']}/read"
    again = client.post(path, {"missing_codes": opened["codes"]}).json()
    assert again["codes"] == []
    assert [each["missing"] for each in again["columns"]] == [2, 1, 2]
    # Also if no column can be used before.
    every = client.upload("every.csv", b"a,b\n1,2\n2,*\n*,1\n4,3\n5,3\n6,5\n").json()
    assert (every["codes"], every["trouble"]) == (["*"], "no column can be used as numbers")


def test_a_table_of_one_column_is_refused_in_the_words_of_the_library(client, tmp_path):
    content = b"a\n" + b"".join(b"%d\n" % (n * n % 17) for n in range(40))
    (tmp_path / "one.csv").write_bytes(content)
    with pytest.raises(cl.InputError) as refused:
        cl.learn(tmp_path / "one.csv")
    assert client.refused("one.csv", content) == f"one.csv: {refused.value}"
    # A text column may become the second.
    table = client.upload("text.csv", b"a,b\n1,x\n2,y\n3,z\n4,x\n5,y\n6,z\n").json()
    assert table["trouble"] == str(refused.value)


def test_a_file_without_names_and_one_with_several_sheets(client, frame):
    unnamed = client.upload("unnamed.csv", frame.to_csv(index=False, header=False).encode()).json()
    assert [column["name"] for column in unnamed["columns"]] == ["X1", "X2", "X3"]
    assert unnamed["n_rows"] == 200
    assert unnamed["reading"] == {"header": False}
    assert "read as data" in unnamed["notes"][-1]
    job = client.start("learn", unnamed["id"], reading=unnamed["reading"])
    client.wait(job)
    assert client.get(f"/api/jobs/{job}")["view"]["names"] == ["X1", "X2", "X3"]
    packed = io.BytesIO()
    with pd.ExcelWriter(packed) as writer:
        frame.to_excel(writer, sheet_name="one", index=False)
        frame.rename(columns={"a": "z"}).to_excel(writer, sheet_name="two", index=False)
    table = client.upload("book.xlsx", packed.getvalue()).json()
    assert table["sheets"] == ["one", "two"]
    other = client.post(f"/api/tables/{table['id']}/read", {"sheet": "two"}).json()
    assert [column["name"] for column in other["columns"]] == ["z", "b", "c"]
    assert other["reading"] == {"sheet": "two"}


def test_ordinal_columns_and_categories_may_hold_text(client, frame):
    mixed = frame.assign(
        sex=np.where(frame["a"] > 0, "f", "m"), land=np.resize(["de", "fr", "it"], 200)
    )
    table = client.upload("texts.csv", csv(mixed)).json()
    problems = {each["name"]: each["problem"] for each in table["columns"] if "problem" in each}
    assert "sex" not in problems
    assert "3 categories" in problems["land"]
    reading = {"columns": ["a", "b", "c"], "labels": ["sex", "land"]}
    options = {"ordered": ["sex"], "categories": ["land"]}
    job = client.start("learn", table["id"], reading=reading, options=options)
    client.wait(job)
    names = ["a", "b", "c", "sex", "land=fr", "land=it"]
    assert client.get(f"/api/jobs/{job}")["view"]["names"] == names


def test_what_was_chosen_is_kept(client, example):
    draft = {"columns": ["costs"], "knowledge": {"tiers": [["costs"]]}}
    path = f"/api/tables/{example[0]}/draft"
    assert client.raw.put(path, json=draft, headers=client.headers).status_code == 200
    assert client.get(f"/api/tables/{example[0]}")["draft"] == draft


def test_a_table_that_cannot_be_used_says_why(client, frame):
    table = client.upload("constant.csv", csv(frame.assign(c=1.0))).json()
    assert "c" in table["trouble"]
    job = client.start("learn", table["id"])
    assert "c" in client.wait(job, "failed")["message"]


def test_files_that_are_too_large(client):
    assert "300,000 bytes" in client.refused("big.csv", b"a,b\n" + b"1,2\n" * 100_000)
    assert "3,000 rows" in client.refused("long.csv", b"a,b\n" + b"1,2\n" * 4_000)
    wide = ",".join(f"x{n}" for n in range(1_200))
    values = ",".join("1" for _ in range(1_200))
    assert "1,000 columns" in client.refused("wide.csv", f"{wide}\n{values}\n{values}\n".encode())


def test_files_that_unpack_to_much_more(client):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 50_000_000)
    assert len(packed.getvalue()) < 300_000
    assert "300,000 bytes" in client.refused("bomb.xlsx", packed.getvalue())
    assert "Unpack" in client.refused("bomb.csv.gz", b"\x1f\x8b")


@pytest.mark.parametrize("far", ['"XFD1048576"', "'XFD1048576'"])
def test_a_cell_that_is_far_out(client, far):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        cells = f'<row r="1"><c r="A1"/></row><row r="1048576"><c r={far}/></row>'
        archive.writestr("xl/worksheets/sheet1.xml", cells)
    assert "row 1,048,576 and column 16,384" in client.refused("far.xlsx", packed.getvalue())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("names.csv", b"a,b\n"),
        ("bytes.csv", bytes(range(256))),
        ("program.exe", b"MZ"),
        ("words.csv", b"to be or not\nto be\n"),
        ("sheet.xlsx", b"no sheet"),
        ("table.parquet", b"no table"),
        ("table.feather", b"no table"),
        ("table.dta", b"no table"),
        ("", b"a,b\n1,2\n"),
        ("..", b"a,b\n1,2\n"),
    ],
)
def test_what_is_no_table_is_refused_in_words(client, name, content):
    before = client.get("/api/state")["tables"]
    words = client.refused(name, content)
    assert words
    assert "Traceback" not in words
    assert "defect" not in words
    assert client.get("/api/state")["tables"] == before


def test_remedies_are_on_the_page(client):
    rng = np.random.default_rng(0)
    bad = rng.standard_normal((300, 3))
    bad[:, :2] = bad[:, :2].cumsum(axis=0) ** 3
    bad[::20, 2] = -999
    table = client.upload("bad.csv", csv(pd.DataFrame(bad, columns=list("abc")))).json()
    codes = {each["code"] for each in table["warnings"]}
    assert codes >= {"missing_codes", "dependent_rows", "nonnormal_columns"}
    for each in table["warnings"]:
        assert not any(re.search(r"\w=|\w_\w|--", each[part]) for part in WORDS), each


def read_again(client, table, **reading):
    answer = client.post(f"/api/tables/{table['id']}/read", reading)
    assert answer.status_code == 200, answer.text
    return answer.json()


def learned(client, table, **request):
    """The names in the graph that is learned, and the graph that the script for it gives."""
    job = client.start("learn", table["id"], **request)
    client.wait(job)
    return job, client.get(f"/api/jobs/{job}")["view"]


def repeated(client, job, table, monkeypatch, folder):
    """The edges of the graph to which the script of a job leads, and those of the job."""
    (folder / table["name"]).write_bytes(client.file(f"/api/tables/{table['id']}/file"))
    monkeypatch.chdir(folder)
    script = client.file(f"/api/script?job={job}")
    exec(compile(script, "repeat.py", "exec"), {"__name__": "__main__"})
    written = (folder / f"graph{job[1:]}.json").read_bytes()
    return written, client.file(f"/api/jobs/{job}/files/graph.json")


def test_a_covariance_matrix_is_learned_from(client, frame, tmp_path, monkeypatch):
    """Whole, as one triangle, and in Tetrad's format, which says the number of rows."""
    frame = frame.assign(d=frame["a"] + frame["b"] / 2)
    noisy = frame.cov() + np.diag([0.0, 0.0, 0.0, 0.3])
    lines = "\n".join(" ".join(map(str, row[: n + 1])) for n, row in enumerate(noisy.to_numpy()))
    tetrad = f"200\n{' '.join(noisy)}\n{lines}\n".encode()
    for content, suffix in ((csv(noisy), "csv"), (csv(noisy.where(np.tri(4) > 0)), "csv")):
        table = client.upload(f"s.{suffix}", content).json()
        assert "number of rows" in table["trouble"]
        table = read_again(client, table, covariance=True, n=200)
        assert table["trouble"] is None
        assert table["n_rows"] == 200
        reading = table["reading"] | {"columns": ["a", "b", "d"]}
        job, view = learned(client, table, reading=reading)
        assert view["names"] == ["a", "b", "d"]
        assert {each["target"] for each in view["edges"]} <= {"a", "b", "d"}
        assert len(set(repeated(client, job, table, monkeypatch, tmp_path))) == 1
    written = client.upload("s.txt", tetrad).json()
    assert written["n_rows"] == 200
    assert written["trouble"] is None


def test_rows_are_filtered_and_values_get_numbers(client, frame, tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    site = rng.choice(["north", "south"], 200)
    mood = pd.cut(frame["a"], [-9, -0.5, 0.5, 9], labels=["low", "mid", "high"]).astype(str)
    table = client.upload("answers.csv", csv(frame.assign(site=site, mood=mood))).json()
    (text,) = [each for each in table["columns"] if each["name"] == "mood"]
    assert text["levels"] == ["high", "low", "mid"]
    codes = [["low", 0], ["mid", 1], ["high", 2]]
    reading = {"where": [["site", "=", "north"], ["b", "<", 1.5]], "recode": {"mood": codes}}
    again = read_again(client, table, **reading)
    kept = (site == "north") & (frame["b"] < 1.5)
    assert again["n_rows"] == kept.sum()
    (coded,) = [each for each in again["columns"] if each["name"] == "mood"]
    assert coded["mean"] == pytest.approx(mood[kept].map(dict(codes)).mean())
    job, view = learned(client, table, reading=reading | {"columns": ["a", "b", "mood"]})
    assert view["names"] == ["a", "b", "mood"]
    assert len(set(repeated(client, job, table, monkeypatch, tmp_path))) == 1
    for where, words in (
        ([["b", ">", 1e9]], "no row meets"),
        ([["b", ">", "x"]], "cannot be compared"),
        ([["b", "~", 1]], "cannot be compared"),
        ([["nobody", ">", 1]], "nobody"),
        ([["b", ">"]], "cannot be read"),
        ({"b": 1}, "cannot be read"),
    ):
        answer = client.post(f"/api/tables/{table['id']}/read", {"where": where})
        assert answer.status_code == 400
        assert words in answer.json()["error"]
    wrong = client.post(f"/api/tables/{table['id']}/read", {"recode": {"mood": [["low"]]}})
    assert "cannot be read" in wrong.json()["error"]


def test_columns_that_others_determine_are_named_together(client, frame):
    total = frame.assign(total=frame.sum(axis=1), twice=2 * frame["a"])
    table = client.upload("total.csv", csv(total)).json()
    assert table["drop"] == ["total", "twice"]
    draft = {"columns": ["a", "b", "c"]}
    client.raw.put(f"/api/tables/{table['id']}/draft", json=draft, headers=client.headers)
    assert read_again(client, table)["trouble"] is None


def test_weights_and_subjects(client):
    for name, options, columns in (
        ("survey.csv", {"weights": "people"}, ["stress", "sleep", "activity"]),
        ("panel.csv", {"within": "firm", "se": "robust"}, ["wages", "effort", "sales", "prices"]),
    ):
        table = client.post("/api/tables/example", {"name": name}).json()
        reading = {"columns": columns, "labels": [*options.values()][:1], "missing_codes": ["-9"]}
        options = options | {"missing": "rows"} if name == "survey.csv" else options
        assert learned(client, table, reading=reading, options=options)[1]["names"] == columns


def test_every_example_opens(client):
    names = re.findall(r'file: "([^"]+)"', client.raw.get("/static/examples.js").text)
    assert len(names) >= 6
    for name in names:
        table = client.post("/api/tables/example", {"name": name})
        assert table.status_code == 200, table.text
        assert table.json()["trouble"] is None
    assert client.post("/api/tables/example", {"name": "../server.py"}).status_code == 400


def test_two_windows_change_different_things(client, frame):
    table = client.upload("two.csv", csv(frame)).json()["id"]
    for changes in ({"options": {"lags": 1}}, {"options": {"penalty": "bic"}}, {"groups": "c"}):
        client.raw.put(f"/api/tables/{table}/draft", json=changes, headers=client.headers)
    both = {"options": {"lags": 1, "penalty": "bic"}, "groups": "c"}
    assert client.get(f"/api/tables/{table}")["draft"] == both
    back = {"options": {"lags": None}}
    client.raw.put(f"/api/tables/{table}/draft", json=back, headers=client.headers)
    assert client.get(f"/api/tables/{table}")["draft"]["options"] == {"penalty": "bic"}


def test_the_page_says_of_a_result_what_python_says_without_its_names(client, frame):
    walks = client.upload("walks.csv", csv(frame.cumsum())).json()["id"]
    job = client.start("learn", walks, options={"max_parents": 0, "n_starts": 1})
    client.wait(job)
    view = client.get(f"/api/jobs/{job}")["view"]
    assert "3 variables, 200 samples" in view["conclusion"][0]
    assert {"dependent_rows", "reached_limits"} <= {each["code"] for each in view["warnings"]}
    warned = [each[part] for each in view["warnings"] for part in WORDS]
    said = [*view["conclusion"], *view["search"], *warned]
    assert not any(re.search(r"\w=|\w_\w|--|\(see|Warning:", words) for words in said)


def test_names_of_files_stay_names(client, frame):
    table = client.upload("../../../etc/passwd\x00\n<b>.csv", csv(frame)).json()
    assert table["name"] == "passwd<b>.csv"
    assert table["file"] == "table.csv"


def test_requests_that_make_no_sense_are_refused_in_words(client, example):
    table, job = example
    for path, value in [
        ("/api/jobs", {}),
        ("/api/jobs", {"kind": "delete", "table": table}),
        ("/api/jobs", {"kind": "learn", "table": "t999"}),
        ("/api/jobs", {"kind": "learn", "table": table, "request": [1]}),
        (f"/api/jobs/{job}/stop", {}),
        ("/api/jobs/j999/stop", {}),
    ]:
        answer = client.post(path, value)
        assert answer.status_code == 400
        assert answer.json()["error"]
    # Too deep, too large, and half a character.
    for content in (b"{" * 100_000, b'{"kind": 1%s}' % (b"0" * 400), b'{"kind": "\\ud800"}'):
        raw = client.raw.post("/api/jobs", content=content, headers=client.headers)
        assert raw.status_code == 400


@pytest.mark.parametrize(
    "request_",
    [
        {"options": {"penalty": "cheap"}},
        {"options": {"no_option": 1}},
        {"options": {"knowledge": {"required": [["costs", "nobody"]]}}},
        {"options": {"knowledge": {"tiers": 3}}},
        {"options": []},
        {"options": {"start": 3}},
        {"reading": ["costs"]},
        {"reading": {"columns": ["nobody"]}},
        {"reading": {"columns": []}},
        {"reading": {"columns": "costs"}},
    ],
)
def test_searches_that_make_no_sense_fail_in_words(client, example, request_):
    job = client.start("learn", example[0], **request_)
    message = client.wait(job, "failed")["message"]
    assert message
    assert "defect" not in message

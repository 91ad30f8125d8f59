"""What no page of ours would send: one clear message, and nothing harmed."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest

# One server for all: where tests run in several processes, these run in one of them.
pytestmark = pytest.mark.xdist_group("app")


def words(answer, status=400):
    """What an answer says is wrong."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert 0 < len(error) <= 2_000
    assert error.isprintable()
    assert "defect" not in error
    return error


@pytest.mark.parametrize("depth", [50, 300, 470, 900])
def test_deep_nesting_is_refused_before_it_is_kept(client, example, depth):
    content = b'{"columns": ' + b"[" * depth + b"]" * depth + b"}"
    path = f"/api/tables/{example[0]}/draft"
    assert words(client.raw.put(path, content=content, headers=client.headers))
    assert client.get(f"/api/tables/{example[0]}")["id"] == example[0]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api", 404),
        ("GET", "/api/", 404),
        ("GET", "/api/nothing", 404),
        ("POST", "/api/jobs//stop", 404),
        ("DELETE", "/api/jobs/j1", 405),
        ("POST", "/api/state", 405),
    ],
)
def test_an_address_that_there_is_not_is_said_as_all_else(client, method, path, status):
    assert words(client.raw.request(method, path, headers=client.headers), status)


@pytest.mark.parametrize("name", ["x" * 5_000 + ".js", "..%5Creport%5Creport.css", "a%00.js"])
def test_files_of_the_page_that_there_are_not(client, name):
    assert client.raw.get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize(
    "value",
    [{"name": 3}, {"name": "x" * 201}, {"note": ["x"]}, {"note": "x" * 20_001}, {"is_removed": 1}],
)
def test_a_result_is_named_and_noted_by_texts(client, example, value):
    path = f"/api/jobs/{example[1]}"
    assert words(client.raw.put(path, json=value, headers=client.headers))
    assert words(client.raw.put("/api/jobs/j99999", json={"name": "x"}, headers=client.headers))
    assert client.raw.put(path, json={"name": "x"}).status_code == 403
    assert client.job(example[1])["name"] == ""


def test_messages_do_not_repeat_what_is_long(client, example):
    table, job = example
    long = "x" * 100_000
    assert words(client.post("/api/jobs", {"kind": long}))
    assert words(client.post(f"/api/jobs/{job}/members", {"source": long}))
    assert words(client.raw.get(f"/api/jobs/{job}/files/{long[:5_000]}"))
    assert words(client.upload("long.csv", f"{long},b\n{long},c\n{long},d\n".encode()))
    failed = client.start("effects", table, job, source=long)
    assert len(client.wait(failed, "failed")["message"]) <= 2_000


def test_sheets_that_are_damaged(client):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(range(256)) * 50)
    whole = packed.getvalue()
    # Within what is packed, and where the list of contents begins.
    for place in (60, whole.index(b"PK\x01\x02")):
        damaged = bytearray(whole)
        damaged[place] ^= 255
        assert "damaged" in words(client.upload("damaged.xlsx", bytes(damaged)))


def test_names_in_parquet_that_are_no_text(client):
    pytest.importorskip("pyarrow")
    written = io.BytesIO()
    pd.DataFrame({"axbxc": [1.0, 2.0, 4.0], "b": [1.0, 2.0, 5.0]}).to_parquet(written)
    damaged = written.getvalue().replace(b"axbxc", b"\xb6xbxc")
    assert "Parquet" in words(client.upload("names.parquet", damaged))


def test_numbers_of_any_size_are_counted(client):
    rng = np.random.default_rng(0)
    columns = {
        "large": [1e18] * 20,
        "apart": [1e308, -1e308] * 10,
        "near": [1e18, 1e18 + 128] * 10,
        "small": [5e-324, 0.0] * 10,
        "usual": rng.standard_normal(20),
    }
    content = pd.DataFrame(columns).to_csv(index=False).encode()
    answer = client.upload("sizes.csv", content)
    assert answer.status_code == 200, answer.text
    for column in answer.json()["columns"]:
        assert sum(column["histogram"]) == 20
        assert len(column["histogram"]) == 16


def test_lists_in_cells_are_no_numbers(client):
    pytest.importorskip("pyarrow")
    written = io.BytesIO()
    pd.DataFrame({"a": [[1.0], [], [2.0]], "b": [1.0, 2.0, 4.0]}).to_parquet(written)
    answer = client.upload("lists.parquet", written.getvalue())
    assert answer.status_code == 200, answer.text
    assert "text" in next(each["problem"] for each in answer.json()["columns"] if "problem" in each)


def test_very_many_columns_are_refused_before_they_are_looked_at(client):
    """A line of so many commas took five minutes."""
    content = b"a,b\n" + b"," * 100_000 + b"\n1,2\n"
    assert "1,000 columns" in words(client.upload("wide.csv", content))


def test_a_job_without_a_result_has_no_file_of_it(client, example):
    job = client.start("effects", *example, source="costs")
    client.wait(job)
    assert "result.json" in words(client.raw.get(f"/api/jobs/{job}/files/result.json"))


@pytest.mark.parametrize("value", ["bytes=9-1", "bytes=x", "bytes=" + "0-0," * 5_000])
def test_files_are_sent_whole(client, example, value):
    path = f"/api/tables/{example[0]}/file"
    answer = client.raw.get(path, headers={"range": value})
    assert answer.status_code == 200
    assert answer.content == client.file(path)

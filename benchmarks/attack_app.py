"""Send the application requests that its own pages would never send, and check the answers.

    python benchmarks/attack_app.py

Every endpoint gets bodies that are no JSON, values of a wrong type in each field, numbers that are
huge or none, deep nesting, long and hostile names, paths that lead elsewhere, jobs that are not
there, files that are no tables or were cut short, and headers of other pages. An answer is good
when it is no failure of the server, comes within ten seconds and says in one line of at most 2,000
characters what is wrong; a job, when it is done, goes on until it is cancelled, or fails in such a
line. Nothing may be written outside the workspace.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from starlette.testclient import TestClient

from cyclearn.app.limits import Limits
from cyclearn.app.pool import WorkerPool
from cyclearn.app.server import make_app
from cyclearn.app.workspace import KINDS, Workspace
from cyclearn.models.example import MARKET
from cyclearn.search.options import SearchOptions

HOST = "http://127.0.0.1:8765"
OWN = {"origin": HOST}
LONGEST, SLOWEST, PATIENCE = 2_000, 10.0, 10.0
MARKUP = "<script>alert(1)</script>"
NAMES = [
    *("", " ", ".", "..", "/", "\\", "x" * 5_000, MARKUP, "\x1b[2J", "a\0b", "\ud7ff\U0010ffff"),
    *("../../../etc/passwd", "..\\..\\windows\\win.ini", "%2e%2e%2f", "C:\\x", "CON", "\u202egpj"),
    *("j1/../../tables/t1", "j1\n", "j٣", "J1", "j-1", "j1e3", "j" + "9" * 30, "$x$", "{0}", "'\""),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 10**17, -(10**17), 0.5, 1e308, -1e308),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "1", "nan", MARKUP, "\x1b[2J", "a\0b"),
    *("x" * 100_000, [], [[]], [None], ["x"], [1, "x", None], list(range(10_000)), {}, {"a": 1}),
    *({"": {}}, [{}], [["a", "b"]], {"nodes": 1, "edges": 2}, "../../x"),
]
BODIES = [
    *(b"", b" ", b"null", b"[]", b"1", b'"x"', b"{", b"}", b"{]", b"nul", b"\xff\xfe", b"\x00"),
    *(b"\xef\xbb\xbf{}", '{"kind": "learn"}'.encode("utf-16"), b"\x80abc", b"a=1&b=2", b"<a/>"),
    *(b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 1e999}', b'{"a": ' + b"9" * 100_000 + b"}"),
    *(b'{"a": "\\ud800"}', b'{"\\udfff": 1}', b'{"a": 1, "a": 2}', b'{"__proto__": {"a": 1}}'),
    *(b"[" * 100_000, b'{"a":' * 900 + b"1" + b"}" * 900, b" " * 6_000_000),
    *(b'{"a":' + b"[" * n + b"]" * n + b"}" for n in (50, 100, 200, 300, 400, 470, 600, 900, 980)),
]
CONTENT_TYPES = ["", "text/plain", "application/xml", "multipart/form-data; boundary=x", "a" * 999]


class Attacks:
    """Sends, judges and counts."""

    def __init__(self, client: TestClient, verbose: bool) -> None:
        self.client = client
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []
        self.jobs: dict[str, str] = {}
        self._verbose = verbose

    def send(self, what: str, method: str, path: str, **given: Any) -> Any:
        """One request; the answer, judged."""
        headers = OWN | given.pop("headers", {})
        if "value" in given:
            headers |= {"content-type": "application/json"}
            given["content"] = json.dumps(given.pop("value")).encode()
        begun = time.monotonic()
        answer = self.client.request(method, path, headers=headers, **given)
        taken = time.monotonic() - begun
        self.counts[what] += 1
        shown = f"{what}: {method} {path[:80]} {str(given)[:150]}"
        trouble = _trouble(answer, path)
        if taken > SLOWEST:
            trouble = f"{taken:.0f} seconds"
        if trouble:
            self.note(f"{shown}: {answer.status_code}, {trouble}")
        elif self._verbose:
            print(shown, answer.status_code, answer.content[:150], flush=True)
        if path == "/api/jobs" and answer.status_code == 200:
            self.jobs[answer.json()["id"]] = shown
        return answer

    def note(self, words: str) -> None:
        """Say what is broken."""
        self.broken.append(words)
        print("BROKEN", words, flush=True)

    def see_jobs_through(self) -> None:
        """Wait a little for every job that was started, and cancel what goes on."""
        for name, shown in self.jobs.items():
            end = time.monotonic() + PATIENCE
            while True:
                job = self.client.get(f"/api/jobs/{name}").json()
                if job["state"] not in ("waiting", "running"):
                    break
                if job["state"] == "running" and time.monotonic() > end:
                    job = self.client.post(f"/api/jobs/{name}/cancel", headers=OWN).json()
                    break
                time.sleep(0.02)
            if job["state"] == "lost" or (
                job["state"] == "failed" and (trouble := _wrong_words(job["message"]))
            ):
                trouble = "the worker was lost" if job["state"] == "lost" else trouble
                self.note(f"{shown}: job {name} {job['state']}: {trouble}")
            elif self._verbose:
                print(shown, job["state"], job["message"][:200], flush=True)
        self.jobs.clear()


def _trouble(answer: Any, path: str) -> str:
    """What is wrong with an answer, if anything."""
    if answer.status_code >= 500:
        return answer.text[:500]
    if answer.status_code < 400:
        return ""
    if answer.status_code == 403 or not path.startswith("/api/"):
        return _wrong_words(answer.text.strip())
    try:
        return _wrong_words(answer.json()["error"])
    except (ValueError, KeyError):
        return f"no words under error: {answer.text[:200]!r}"


def _wrong_words(words: str) -> str:
    if not words or len(words) > LONGEST or not words.isprintable():
        return f"{len(words)} characters: {words[:300]!r}"
    return words if "Traceback" in words or "defect" in words else ""


def bodies(attacks: Attacks, table: str, job: str) -> None:
    """Bodies that are no JSON object, to everything that takes one."""
    for method, path in (
        ("POST", "/api/jobs"),
        ("PUT", f"/api/tables/{table}/draft"),
        ("POST", f"/api/tables/{table}/read"),
        ("POST", f"/api/jobs/{job}/members"),
        ("PUT", f"/api/jobs/{job}"),
        ("POST", f"/api/jobs/{job}/stop"),
        ("POST", f"/api/jobs/{job}/cancel"),
        ("POST", "/api/tables/example"),
    ):
        for body in BODIES:
            if path != "/api/tables/example" or len(body) < 10:
                attacks.send("bodies", method, path, content=body)
        for kind in CONTENT_TYPES:
            attacks.send(
                "content types", method, path, content=b"{}", headers={"content-type": kind}
            )
    nested = {"kind": "learn", "table": table}
    for depth in (10, 100, 200, 300, 400, 480):
        deep: Any = 1
        for _ in range(depth):
            deep = [deep]
        attacks.send("bodies", "POST", "/api/jobs", value=nested | {"request": {"options": deep}})
        attacks.send("bodies", "PUT", f"/api/tables/{table}/draft", value={"columns": deep})
        attacks.send("bodies", "GET", f"/api/tables/{table}")
        attacks.send("bodies", "GET", "/api/state")


def fields(attacks: Attacks, table: str, job: str) -> None:
    """Every value in every field of every request."""
    whole = {"kind": "learn", "table": table, "of": None, "request": {}}
    for name in whole:
        for value in VALUES:
            attacks.send("fields", "POST", "/api/jobs", value=whole | {name: value})
    of = {"table": table, "of": job}
    for kind in KINDS:
        for value in VALUES:
            attacks.send(
                "fields", "POST", "/api/jobs", value=whole | of | {"kind": kind, "of": value}
            )
    for name in ("source", "target", "how", "stable", "at"):
        for value in VALUES:
            asked = {"source": "costs", "target": "price", name: value}
            attacks.send("fields", "POST", f"/api/jobs/{job}/members", value=asked)
    for value in VALUES:
        for name in READING:
            attacks.send("fields", "POST", f"/api/tables/{table}/read", value={name: value})
        for read in _reading(value):
            attacks.send("fields", "POST", f"/api/tables/{table}/read", value=read)
        for name in ("name", "note", "look", "is_removed"):
            attacks.send("fields", "PUT", f"/api/jobs/{job}", value={name: value})
        for name in ("columns", "options", "knowledge", "groups"):
            attacks.send("fields", "PUT", f"/api/tables/{table}/draft", value={name: value})
        attacks.send("fields", "POST", f"/api/tables/{table}/read", value={})
        attacks.send("fields", "POST", "/api/tables/example", value={"name": value})
        attacks.send("fields", "POST", "/api/link", value={"token": value})
    empty = {"columns": None, "options": None, "knowledge": None, "groups": None}
    attacks.send("fields", "PUT", f"/api/tables/{table}/draft", value=empty)
    attacks.send("fields", "PUT", f"/api/jobs/{job}", value={"is_removed": False})
    attacks.send("fields", "POST", f"/api/tables/{table}/read", value={})


# What a request may say about reading.
READING = ("missing_codes", "labels", "header", "sheet", "covariance", "n", "where", "recode")


def _reading(value: Any) -> Iterator[dict[str, Any]]:
    """A value at every place of conditions and codes."""
    for n in range(3):
        condition = ["costs", "<", 1]
        condition[n] = value
        yield {"where": [condition]}
    yield {"recode": {"costs": value}}
    yield {"recode": {"costs": [value]}}
    yield {"recode": {"costs": [[value, 1], [1, value]]}}
    yield {"recode": {str(value)[:200]: [[1, 2]]}}


def requests(attacks: Attacks, table: str, job: str) -> None:
    """Every value in every field of what a job is asked for."""
    of = {"table": table, "of": job}
    asked: list[dict[str, Any]] = []
    for kind, names in {
        "effects": ("source", "how", "group"),
        "bootstrap": ("n_resamples",),
        "posterior": ("effective_size",),
        "experiment": ("size",),
        "compare": ("text", "graph"),
    }.items():
        base = {"source": "costs"} if kind == "effects" else {}
        for name in names:
            asked += [of | {"kind": kind, "request": base | {name: value}} for value in VALUES]
    for value in VALUES:
        asked.append(of | {"kind": "learn", "request": {"penalty": value}})
        asked += [
            {"kind": "learn", "table": table, "request": {"reading": read}}
            for read in _reading(value)
        ]
    for name in ("columns", *READING, "no such thing"):
        asked += [
            {"kind": "learn", "table": table, "request": {"reading": {name: value}}}
            for value in VALUES
        ]
    # Quick, where an option is taken.
    base = {"method": "hill-climbing"}
    for name in (*SearchOptions.names(), "n_jobs", "__class__"):
        asked += [
            {"kind": "learn", "table": table, "request": {"options": base | {name: value}}}
            for value in VALUES
        ]
    for name in ("required", "forbidden", "tiers", "exogenous", "no such thing"):
        asked += [
            {"kind": "learn", "table": table,
             "request": {"options": base | {"knowledge": {name: value}}}}
            for value in VALUES
        ]  # fmt: skip
    for text in GRAPHS:
        asked.append(of | {"kind": "compare", "request": {"text": text}})
    for number, each in enumerate(asked):
        attacks.send("jobs", "POST", "/api/jobs", value=each)
        if number % 50 == 49:
            attacks.see_jobs_through()
    attacks.see_jobs_through()


GRAPHS = [
    *("costs -> costs", "a -> b", "costs -> " * 10_000, "digraph {" * 1_000, "{" * 10_000, "\0"),
    *('{"nodes": ["costs"], "edges": [[0, 9]]}', '{"nodes": ["a", "a"], "edges": []}', "1 0\n0 1"),
    *("costs -> price\nprice -> costs", "<graphml/>", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'),
]


def names_and_paths(attacks: Attacks, table: str, job: str) -> None:  # noqa: ARG001 - as all
    """Tables, jobs and files that are not there, under names that lead elsewhere."""
    from urllib.parse import quote

    for name in NAMES:
        part = quote(name, safe="")
        for method, path in (
            ("GET", f"/api/tables/{part}"),
            ("GET", f"/api/tables/{part}/file"),
            ("PUT", f"/api/tables/{part}/draft"),
            ("POST", f"/api/tables/{part}/read"),
            ("GET", f"/api/jobs/{part}"),
            ("PUT", f"/api/jobs/{part}"),
            ("GET", f"/api/jobs/{part}/sketch"),
            ("POST", f"/api/jobs/{part}/stop"),
            ("POST", f"/api/jobs/{part}/cancel"),
            ("POST", f"/api/jobs/{part}/members"),
            ("GET", f"/api/jobs/{part}/files/graph.json"),
            ("GET", f"/api/jobs/{job}/files/{part}"),
            ("GET", f"/api/script?job={part}"),
            ("GET", f"/api/work?tables={part}"),
            ("GET", f"/static/{part}"),
            ("GET", f"/static/{part}.js"),
            ("GET", f"/api/{part}"),
        ):
            attacks.send("names", method, path)
        for suffix in ("", ".csv", ".parquet", ".csv.exe"):
            attacks.send(
                "names", "POST", f"/api/tables?name={quote(name + suffix)}", content=b"a,b\n1,2\n"
            )
        attacks.send("names", "POST", f"/api/jobs/{job}/members", value={"source": name})
    for method in ("HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
        for path in ("/", "/api/state", "/api/jobs", f"/api/jobs/{job}", "/api/script", "/api/x"):
            answer = attacks.client.request(method, path, headers=OWN)
            attacks.counts["methods"] += 1
            if method != "HEAD" and (trouble := _trouble(answer, path)):
                attacks.note(f"{method} {path}: {answer.status_code}, {trouble}")


def headers(attacks: Attacks, table: str, job: str) -> None:
    """Hosts and pages that are not ours, and headers that make no sense."""
    foreign = [
        *({"host": name} for name in ("evil.example", "127.0.0.1", "localhost:1", "", "[::1]:8765",
                                      "127.0.0.1:8765.evil.example", "x" * 10_000, "ü:8765")),
        *({"origin": name} for name in ("null", "http://evil.example", "", f"{HOST}/", "file://",
                                        HOST.upper(), f"{HOST}@evil.example", "x" * 10_000)),
        *({"sec-fetch-site": name} for name in ("cross-site", "same-site", "", "x", "none, none")),
        *({"cookie": value} for value in ("", "cyclearn-8765=", "cyclearn-8765=x", "=" * 1_000,
                                          "cyclearn-8765=ü", ";" * 5_000, 'a="\\', "a=b; " * 2_000,
                                          "[]=1", "cyclearn-8765=" + "x" * 50_000)),
    ]  # fmt: skip
    paths = [
        ("GET", "/api/state"),
        ("GET", f"/api/tables/{table}/file"),
        ("GET", "/?token=secret"),
        ("POST", "/api/tables/example"),
        ("POST", "/api/link"),
        ("GET", "/api/work"),
        ("POST", "/api/work"),
        ("GET", f"/api/jobs/{job}/sketch"),
        ("POST", f"/api/jobs/{job}/cancel"),
        ("PUT", f"/api/jobs/{job}"),
        ("PUT", f"/api/tables/{table}/draft"),
    ]
    for given in foreign:
        for method, path in paths:
            encoded = {name: value.encode() for name, value in given.items()}
            answer = attacks.send("foreign headers", method, path, headers=encoded)
            is_own = given == {"sec-fetch-site": "none"}
            if answer.status_code != 403 and not is_own and "token" not in path:
                attacks.note(f"{method} {path} {str(given)[:80]}: {answer.status_code}")
    ranges = ("bytes=0-1", "bytes=9-1", "bytes=x", "lines=1", "bytes=-", "bytes=" + "0-0," * 9_000,
              "bytes=99999999999999999999-", "bytes=0-1,5-6", "")  # fmt: skip
    for value in ranges:
        for name in (f"/api/tables/{table}/file", f"/api/jobs/{job}/files/graph.json"):
            attacks.send("ranges", "GET", name, headers={"range": value})


def uploads(attacks: Attacks, seed: int) -> None:
    """Files that are no tables, tables cut short or changed, and ones of absurd shapes."""
    for name, content in _files(random.Random(seed)):
        attacks.send("uploads", "POST", f"/api/tables?name={name}", content=content)
        attacks.send("uploads", "POST", "/api/work", content=content)


def _files(rng: random.Random) -> Iterator[tuple[str, bytes]]:
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=list("abc"))
    whole = _forms(frame)
    junk = [b"", b"\0", b"\n" * 1_000, b"," * 10_000, b'"' * 10_001, b"a,b\n", bytes(range(256)),
            b"PK\x03\x04", b"PAR1", b"PAR1PAR1", b"ARROW1\0\0", b"\x1f\x8b\x08", b"%PDF-1.4",
            b"\xff\xfe", b"\xff\xfea", b"a,b\n1,2,3\n4\n", b"a,a\n1,2\n3,4\n", b"a\n1\n2\n3\n",
            b"\xef\xbb\xbf", b"<html></html>", b"a,b\nnan,inf\n-inf,1e999\n1,2\n",
            b"a,b\n" + b"1e308,-1e308\n" * 20 + b"-1e308,1e308\n" * 20]  # fmt: skip
    for suffix in (*whole, ".tsv", ".txt", ".dat", ".tab"):
        for content in junk:
            yield f"junk{suffix}", content
    for suffix, content in whole.items():
        for other in whole:
            yield f"other{other}", content
        for share in np.linspace(0.02, 0.98, 20):
            yield f"cut{suffix}", content[: int(share * len(content))]
        yield f"head{suffix}", content[4:]
        for _ in range(60):
            changed = bytearray(content)
            for _ in range(rng.choice((1, 3, 20))):
                changed[rng.randrange(len(changed))] = rng.randrange(256)
            yield f"changed{suffix}", bytes(changed)
        # The ends of binary files say what is in them.
        for _ in range(40):
            changed = bytearray(content)
            for _ in range(3):
                changed[-rng.randrange(1, min(len(changed), 400))] = rng.randrange(256)
            yield f"end{suffix}", bytes(changed)
    for n in (1_001, 100_000):
        wide = ",".join(f"x{i}" for i in range(n))
        yield "wide.csv", f"{wide}\n".encode()
        yield "wide.csv", f"{wide}\n{','.join('1' * n)}\n".encode()
        yield "wide.csv", f"{wide}\n1,2\n3,4\n".encode()
        yield "wide.csv", b"a,b\n" + b"," * n + b"\n1,2\n"
        yield "wide.tsv", f"{wide}\n{wide}\n".replace(",", "\t").encode()
        yield "wide.csv", b"a,b\n" + b"1,2\n" * 5 + b"x" * n + b",1\n"
    for parts in ({"xl/worksheets/sheet1.xml": b""}, {"a": b""}, {}, {"../../x": b"1"},
                  {"xl/workbook.xml": b"<a/>", "[Content_Types].xml": b"<a>"},
                  {"xl/worksheets/sheet1.xml": b"0" * 10_000_000}):  # fmt: skip
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in parts.items():
                archive.writestr(name, text)
        yield "archive.xlsx", packed.getvalue()
    import pyarrow as pa

    for array in (
        pa.nulls(5),
        pa.array([[1], [2], []] * 2),
        pa.array([{"a": 1}] * 6),
        pa.array([b"\xff", None] * 3),
        pa.array([10**18] * 6, pa.decimal128(38)),
        pa.array(["x" * 100_000] * 6),
        pa.array([1, 2, 3] * 2).dictionary_encode(),
        pa.array([1, 2, 3] * 2, pa.timestamp("ns")),
        pa.array([1, 2, 3] * 2, pa.duration("s")),
        pa.array([True, False, None] * 2),
        pa.array([1.0, float("nan"), float("inf")] * 2, pa.float16()),
    ):
        yield from _arrow(pa.table({"a": array, "b": array}))
    for names in (["", ""], ["a", "a"], [MARKUP, "\0"], ["x" * 100_000, "\x1b[2J"]):
        yield from _arrow(pa.table([pa.array([1.0, 2, 4]), pa.array([3.0, 5, 2])], names=names))


def _arrow(table: Any) -> Iterator[tuple[str, bytes]]:
    from pyarrow.feather import write_feather
    from pyarrow.parquet import write_table

    for suffix, write in ((".parquet", write_table), (".feather", write_feather)):
        written = io.BytesIO()
        try:
            write(table, written)
        except Exception:
            # Not every form can hold everything.
            continue
        yield f"arrow{suffix}", written.getvalue()


def _forms(frame: pd.DataFrame) -> dict[str, bytes]:
    """A table in every form that the application opens."""
    found = {".csv": frame.to_csv(index=False).encode()}
    with tempfile.TemporaryDirectory() as folder:
        for suffix, write in (
            (".parquet", frame.to_parquet),
            (".feather", frame.to_feather),
            (".dta", lambda path: frame.to_stata(path, write_index=False)),
            (".xlsx", lambda path: frame.to_excel(path, index=False)),
        ):
            path = Path(folder) / f"table{suffix}"
            write(path)
            found[suffix] = path.read_bytes()
    return found


# Values for every field of saved work; opening it takes longer than a request does.
FEW: list[Any] = [
    *(None, True, -1, 10**17, 1e308, "", MARKUP, "a\0b", "../../x", "x" * 100_000),
    *([], [[]], ["x"], {}, {"a": 1}, {"": {}}),
]


def works(attacks: Attacks, job: str, seed: int) -> None:
    """Saved work that is damaged, foreign, huge or contradicts itself; what opens can be shown."""
    rng = random.Random(seed)
    for path, value in (("look", {"layout": "ring"}), ("name", "First")):
        attacks.send("saved work", "PUT", f"/api/jobs/{job}", value={path: value})
    work = attacks.client.get("/api/work", headers=OWN).content
    before = len(attacks.client.get("/api/state").json()["tables"])
    for content, is_hurt in _works(work, rng):
        answer = attacks.send("saved work", "POST", "/api/work", content=content)
        if is_hurt and answer.status_code == 200:
            attacks.note(f"damaged work was opened: {content[:80]!r}")
    state = attacks.send("saved work", "GET", "/api/state").json()
    print(f"note: {len(state['tables']) - before} tables of changed work were opened", flush=True)
    for each in state["tables"]:
        attacks.send("saved work", "GET", f"/api/tables/{each['id']}")
    for each in state["jobs"]:
        attacks.send("saved work", "GET", f"/api/jobs/{each['id']}")
        if each["state"] == "done" and each["kind"] == "learn":
            attacks.send("saved work", "GET", f"/api/script?job={each['id']}")
    attacks.send("saved work", "GET", "/api/work")


def _works(work: bytes, rng: random.Random) -> Iterator[tuple[bytes, bool]]:
    """Files made of a saved one, and whether they must be refused."""
    for share in np.linspace(0.0, 0.98, 20):
        yield work[: int(share * len(work))], True
    for _ in range(60):
        changed = bytearray(work)
        for _ in range(rng.choice((1, 3, 20))):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        yield bytes(changed), False
    with zipfile.ZipFile(io.BytesIO(work)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    contents = json.loads(parts["work.json"])
    for name in parts:
        yield _packed({key: part for key, part in parts.items() if key != name}), True
        for value in (b"", b"null", b"[]", b"\xff" * 100, b"{" * 100_000, b"0" * 10_000_000):
            yield _packed(parts | {name: value}), False
    for where in ("tables", "jobs", None):
        record = contents if where is None else contents[where][0]
        for name in (*record, "no such thing"):
            for value in FEW:
                kept = record.get(name)
                record[name] = value
                yield _packed(parts | {"work.json": json.dumps(contents).encode()}), False
                record[name] = kept
    # A result in which one part is another.
    (result,) = (name for name in parts if name == f"{contents['jobs'][0]['id']}.json")
    record = json.loads(parts[result])
    for name in record:
        for value in FEW:
            changed_ = json.dumps(record | {name: value}).encode()
            yield _packed(parts | {result: changed_}), False
    yield _packed(parts | {"../../outside.txt": b"x", "/tmp/outside": b"x"}), False


def _packed(parts: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return made.getvalue()


def hostile_columns(attacks: Attacks) -> None:
    """Columns named as no file of any form would like them; every file of every kind of job."""
    from cyclearn.app.downloads import EXPORTS

    rng = np.random.default_rng(1)
    for names in (
        [MARKUP, "\x1b[2J", "$\\frac{$"],
        ["$$", "\\N{x}", "a\nb"],
        ["a -> b", "digraph {", "x" * 2_000],
        ["'); import os; ('", '"""', "\u202eabc"],
        ["~", "a~b", "# c"],
        ["\U0001f9ea", "ﷺ" * 20, "\u0301"],
        ["\x01\x02", "\ufffe", "\u2028"],
    ):
        X = rng.standard_normal((80, 3))
        X[:, 1] += X[:, 0]
        content = pd.DataFrame(X, columns=names).to_csv(index=False).encode()
        answer = attacks.send("columns", "POST", "/api/tables?name=columns.csv", content=content)
        if answer.status_code != 200:
            continue
        table, kept = answer.json()["id"], [each["name"] for each in answer.json()["columns"]]
        base = {"kind": "learn", "table": table, "request": {"options": {"random_state": 0}}}
        learned = attacks.send("columns", "POST", "/api/jobs", value=base).json()["id"]
        if not _ended(attacks, learned):
            continue
        jobs = [("learn", learned)]
        for kind, request in (
            ("effects", {"source": kept[0]}),
            ("bootstrap", {"n_resamples": 3}),
            ("posterior", {"effective_size": 10}),
            ("experiment", {"size": 1}),
            ("compare", {"graph": {"schema": "cyclearn.graph/1", "nodes": kept, "edges": []}}),
        ):
            asked = {"kind": kind, "table": table, "of": learned, "request": request}
            job = attacks.send("columns", "POST", "/api/jobs", value=asked).json()["id"]
            if _ended(attacks, job):
                jobs.append((kind, job))
        for kind, job in jobs:
            attacks.send("columns", "GET", f"/api/jobs/{job}")
            attacks.send("columns", "GET", f"/api/script?job={job}")
            for name in ("result.json", *sorted({n for each in EXPORTS.values() for n in each})):
                answer = attacks.send("columns", "GET", f"/api/jobs/{job}/files/{name}")
                if name in EXPORTS[kind] and answer.status_code != 200:
                    print("note:", names, kind, name, answer.json()["error"][:160], flush=True)
    attacks.send("columns", "GET", "/api/script")


def _ended(attacks: Attacks, job: str) -> bool:
    while (found := attacks.client.get(f"/api/jobs/{job}").json())["state"] in (
        "waiting",
        "running",
    ):
        time.sleep(0.02)
    if found["state"] == "failed" and (trouble := _wrong_words(found["message"])):
        attacks.note(f"job {job}: {trouble}")
    attacks.jobs.pop(job, None)
    return found["state"] == "done"


def many_jobs(attacks: Attacks, table: str, job: str) -> None:
    """Many jobs at once, each stopped and cancelled more than once."""
    asked = {"kind": "learn", "table": table, "request": {"options": {"n_starts": 100_000}}}
    resampled = {"kind": "bootstrap", "table": table, "of": job, "request": {"n_resamples": 9_999}}
    started = []
    for n in range(200):
        answer = attacks.send("many jobs", "POST", "/api/jobs", value=resampled if n % 2 else asked)
        started.append(answer.json()["id"])
    time.sleep(2)
    for name in started:
        for path in ("stop", "stop", "cancel", "stop", "cancel"):
            attacks.send("many jobs", "POST", f"/api/jobs/{name}/{path}")
    attacks.jobs.clear()
    if any(_state(attacks, name) != "cancelled" for name in started):
        attacks.note("some of many jobs are not cancelled")
    # Stopped twice, and once more when done.
    name = attacks.send("many jobs", "POST", "/api/jobs", value=resampled).json()["id"]
    attacks.jobs.clear()
    while attacks.send("many jobs", "POST", f"/api/jobs/{name}/stop").status_code != 200:
        time.sleep(0.1)
    attacks.send("many jobs", "POST", f"/api/jobs/{name}/stop")
    while _state(attacks, name) == "stopping":
        time.sleep(0.05)
    if _state(attacks, name) != "done":
        attacks.note(f"a stopped job is {_state(attacks, name)}")
    attacks.send("many jobs", "POST", f"/api/jobs/{name}/stop")
    attacks.send("many jobs", "POST", f"/api/jobs/{name}/cancel")


def _state(attacks: Attacks, name: str) -> str:
    return str(attacks.client.get(f"/api/jobs/{name}").json()["state"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="one group of attacks, by the function's name")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        outside = Path(name)
        app = make_app(
            Workspace.open(outside / "workspace"),
            port=8765,
            token="secret",
            limits=Limits(max_bytes=3_000_000, max_rows=10_000),
            pool=WorkerPool(2),
        )
        with TestClient(app, base_url=HOST, raise_server_exceptions=False) as client:
            client.get("/?token=secret")
            attacks = Attacks(client, given.verbose)
            small = pd.DataFrame(MARKET.sample(100, random_state=0)).iloc[:, :4]
            content = small.to_csv(index=False).encode()
            path = "/api/tables?name=small.csv"
            # Not counted: the first request waits until the library is loaded.
            table = client.post(path, content=content, headers=OWN).json()["id"]
            asked = {"kind": "learn", "table": table, "request": {}}
            job = client.post("/api/jobs", json=asked, headers=OWN).json()["id"]
            assert _ended(attacks, job)
            # Before there are many tables and results, which would all be in the file.
            if given.only in ("", "works"):
                works(attacks, job, given.seed)
            if given.only in ("", "uploads"):
                uploads(attacks, given.seed)
            if given.only in ("", "hostile_columns"):
                hostile_columns(attacks)
            for attack in (bodies, fields, names_and_paths, headers, many_jobs, requests):
                if given.only in ("", attack.__name__):
                    attack(attacks, table, job)
                    attacks.see_jobs_through()
            attacks.send("after all", "GET", "/api/state")
            attacks.send("after all", "GET", f"/api/tables/{table}")
        left = [path.name for path in outside.iterdir() if path.name != "workspace"]
        if left:
            attacks.note(f"written outside: {left}")
    for what, n in attacks.counts.items():
        print(f"{what}: {n}")
    print(f"{sum(attacks.counts.values()):,} attacks, {len(attacks.broken)} broken")
    sys.exit(bool(attacks.broken))


if __name__ == "__main__":
    main()

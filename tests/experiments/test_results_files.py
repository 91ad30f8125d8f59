"""Results files that were made elsewhere or changed by hand: refused, and left as they are."""

import json
import sqlite3
from contextlib import closing

import pytest

from cyclearn import InputError
from cyclearn.experiments import ResultsFile
from cyclearn.experiments.figures import write_figures
from cyclearn.experiments.result_tables import result_table
from cyclearn.experiments.study import Output, Task


def changed(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(*statement) if isinstance(statement, tuple) else connection.execute(
                statement
            )


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE photos (id INTEGER)"],
        [
            "CREATE TABLE configuration (name TEXT PRIMARY KEY, value TEXT)",
            "INSERT INTO configuration VALUES ('colour', 'green')",
            "CREATE TABLE environment (name TEXT, value TEXT)",
            "CREATE TABLE instances (id INTEGER)",
        ],
    ],
)
def test_a_foreign_database_is_refused_untouched(tmp_path, statements):
    path = tmp_path / "foreign.sqlite"
    changed(path, *statements)
    before = path.read_bytes()
    with pytest.raises(InputError, match="a database of something else"):
        ResultsFile(path).open({"study": "paper"})
    assert path.read_bytes() == before


def test_files_that_are_missing_or_no_databases(tmp_path):
    with pytest.raises(InputError, match="there is no results file"):
        _ = ResultsFile(tmp_path / "absent").configuration
    path = tmp_path / "text.sqlite"
    path.write_text("precious" * 200)
    with pytest.raises(InputError, match="cannot use"):
        ResultsFile(path).open({"study": "paper"})
    assert path.read_text() == "precious" * 200


@pytest.mark.parametrize(
    "measures",
    ["", "{", "[]", "5", "null", "{}", '{"success": [1]}', '{"success": "x"}', b"\x00\xff",
     '{"success": {}}', '{"success": "\\ud800"}', '{"\\ud800": 1}', '{"setting": 5}',
     "[" * 100_000, '{"success": null, "equivalent": 3}'],
)  # fmt: skip
def test_measures_changed_by_hand(tmp_path, measures):
    path = tmp_path / "results.sqlite"
    file = ResultsFile(path)
    file.open({"study": "paper"})
    file.add(Task("p=5, n=100", 0), [Output(0, "tabu", {"success": 1.0}, 0.1)], 0.1)
    changed(path, ("UPDATE outputs SET measures = ?", (measures,)))
    with pytest.raises(InputError):
        result_table([file])


@pytest.mark.parametrize("study", ["../../elsewhere", "/tmp/elsewhere", "", 5, None])
def test_no_name_in_a_file_leads_elsewhere(tmp_path, study):
    path, folder = tmp_path / "results.sqlite", tmp_path / "a" / "b"
    file = ResultsFile(path)
    file.open({"study": "paper"})
    changed(
        path,
        ("UPDATE configuration SET value = ? WHERE name = 'study'", (json.dumps(study),)),
    )
    with pytest.raises(InputError, match="study"):
        write_figures([file], folder)
    assert [each.name for each in tmp_path.rglob("*.md")] == []

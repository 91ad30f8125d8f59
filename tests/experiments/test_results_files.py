"""Results files that were made elsewhere or changed by hand: refused, and left as they are."""

import json

import pytest

from cyclearn import InputError
from cyclearn.experiments import ResultsFile
from cyclearn.experiments.figures import write_figures
from cyclearn.experiments.result_tables import result_table
from cyclearn.experiments.study import Output, Task


def with_measures(path, measures):
    """A results file with one output, whose measures are this text."""
    file = ResultsFile(path)
    file.open({"study": "paper"})
    file.add(Task("p=5, n=100", 0), [Output(0, "tabu", {"success": 1.0}, 0.1)], 0.1)
    path.write_text(path.read_text().replace('{"success": 1.0}', measures))
    return file


@pytest.mark.parametrize("content", [b"precious", b'{"schema": "other"}\n', b"SQLite format 3\x00"])
def test_a_foreign_file_is_refused_untouched(tmp_path, content):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a results file"):
        ResultsFile(path).open({"study": "paper"})
    assert path.read_bytes() == content


def test_files_that_are_missing(tmp_path):
    with pytest.raises(InputError, match="there is no results file"):
        _ = ResultsFile(tmp_path / "absent").configuration


@pytest.mark.parametrize(
    "measures",
    ["[]", "5", "null", "{}", '{"success": [1]}', '{"success": "x"}', '{"success": {}}',
     '{"success": "\\ud800"}', '{"\\ud800": 1}', '{"setting": 5}',
     '{"success": null, "equivalent": 3}'],
)  # fmt: skip
def test_measures_changed_by_hand(tmp_path, measures):
    with pytest.raises(InputError):
        result_table([with_measures(tmp_path / "results.jsonl", measures)])


@pytest.mark.parametrize("line", ["5", "[]", "{}", '{"setting": [], "instance": 0}'])
def test_lines_that_are_no_instances(tmp_path, line):
    file = with_measures(tmp_path / "results.jsonl", "{}")
    with file.path.open("a") as lines:
        lines.write(line + "\n")
    with pytest.raises(InputError, match=r"line 3 of .* is damaged"):
        file.finished()


@pytest.mark.parametrize("measures", ["", "{", "[" * 100_000])
def test_a_line_cut_short_is_an_instance_that_is_left_to_run(tmp_path, measures):
    file = with_measures(tmp_path / "results.jsonl", measures)
    assert file.finished() == set()
    assert len(file.table()) == 0


@pytest.mark.parametrize("study", ["../../elsewhere", "/tmp/elsewhere", "", 5, None])
def test_no_name_in_a_file_leads_elsewhere(tmp_path, study):
    path, folder = tmp_path / "results.jsonl", tmp_path / "a" / "b"
    file = ResultsFile(path)
    file.open({"study": "paper"})
    path.write_text(path.read_text().replace('"paper"', json.dumps(study)))
    with pytest.raises(InputError, match="study"):
        write_figures([file], folder)
    assert [each.name for each in tmp_path.rglob("*.md")] == []

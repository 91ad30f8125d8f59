import json

import pytest

A = "1 -> 2\n4 -> 3\n1 -> 4\n2 -> 4\n3 -> 4\n"
B = "3 -> 4\n2 -> 1\n1 -> 2\n3 -> 2\n4 -> 2\n"
CYCLE = "a -> b\nb -> c\nc -> a\n"
DAG = "a -> b\nb -> c\na -> c\n"


@pytest.fixture(autouse=True)
def files(tmp_path):
    for name, text in {"A": A, "B": B, "cycle": CYCLE, "dag": DAG, "broken": "a -> "}.items():
        (tmp_path / name).write_text(text)


def test_compare(cyclearn, refused):
    yes = cyclearn("compare", "A", "B")
    assert (yes.returncode, yes.stderr) == (0, "")
    assert "block rule" in yes.stdout
    no = cyclearn("compare", "cycle", "dag", "--draws", 20)
    assert no.returncode == 1
    assert no.stdout.startswith("Not equivalent, proved")
    refused("compare", "cycle", "broken")
    refused("compare", "cycle", "A")


def test_compare_as_json(cyclearn):
    shared = cyclearn("compare", "cycle", "dag", "--quasi", "--json", "--draws", 20, "--seed", 3)
    assert shared.returncode == 0
    record = json.loads(shared.stdout)
    assert (record["schema_version"], record["command"]) == (2, "compare")
    assert record["equal"] is False
    assert record["quasi_equivalent"] is True
    assert record["overlap_forward"]["share"] == 1
    assert record["overlap_backward"]["interval"][1] < 1
    assert record["data"]["random_state"] == 3

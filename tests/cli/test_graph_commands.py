import json
import subprocess
import sys
from subprocess import PIPE

import numpy as np
import pytest

from cyclearn import DirectedGraph, write_graph

PAPER = "X1 -> X3\nX3 -> X2\nX2 -> X4\nX4 -> X1\nX4 -> X3\n"
LESS = "X1 -> X3\nX3 -> X2\nX2 -> X4\nX4 -> X3\n"
TURNED = "X1 -> X4\nX2 -> X3\nX3 -> X4\nX4 -> X1\nX4 -> X2\n"


@pytest.fixture(autouse=True)
def files(tmp_path):
    texts = {
        "paper": PAPER,
        "less": LESS,
        "turned": TURNED,
        "broken": "a -> ",
        "broken.dot": "digraph { a -> ",
        "table.csv": "x,y\n1,2\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)


def test_equivalent(cyclearn):
    yes = cyclearn("equivalent", "paper", "turned")
    assert (yes.returncode, yes.stderr) == (0, "")
    assert "reverse cycle X3 -> X2 -> X4 -> X3" in yes.stdout
    no = cyclearn("equivalent", "paper", "less")
    assert no.returncode == 1
    assert "dimensions 9 and 8" in no.stdout
    record = json.loads(cyclearn("equivalent", "paper", "turned", "--json").stdout)
    assert record["schema_version"] == 2
    assert record["equivalent"] is True
    assert len(record["forward"]) == 1


def test_class(cyclearn):
    assert cyclearn("class", "paper", "--count").stdout == "8\n"
    assert cyclearn("class", "paper", "--count", "--reducible").stdout == "10\n"
    assert cyclearn("class", "paper", "--count", "--acyclic").stdout == "0\n"
    listed = cyclearn("class", "paper", "--list").stdout.splitlines()
    assert len(listed) == 8
    cut = cyclearn("class", "paper", "--list", "--max", "3").stdout.splitlines()
    assert len(cut) == 4
    assert "3 of 8" in cut[-1]
    assert "in some" in cyclearn("class", "paper", "--table").stdout
    record = json.loads(cyclearn("class", "paper", "--json").stdout)
    assert record["size"] == len(record["members"]) == 8
    assert record["complete"] is True
    assert {row["verdict"] for row in record["edge_table"]} == {"direction differs", "in some"}


def test_class_under_interventions(cyclearn):
    assert cyclearn("class", "paper", "--do", "X1", "--do", "X2,X3", "--count").stdout == "1\n"
    record = json.loads(cyclearn("class", "paper", "--do", "X3", "--json").stdout)
    assert record["size"] == len(record["members"]) < 8
    for refused in (("--acyclic",), ("--reducible",), ("--do", "X9")):
        answer = cyclearn("class", "paper", "--do", "X1", *refused)
        assert answer.returncode == 2


def test_class_that_cannot_be_counted_is_listed(cyclearn, tmp_path):
    rng = np.random.default_rng(2)
    g = DirectedGraph((rng.random((12, 12)) < 0.4) & ~np.eye(12, dtype=bool))
    write_graph(g, tmp_path / "dense.json")
    limited = ("class", "dense.json", "--max-states", "1")
    listed = cyclearn(*limited, "--list", "--max", "2")
    assert listed.returncode == 0
    assert listed.stdout.splitlines()[-1] == "… 2 of an unknown number shown; --max lists more."
    everything = cyclearn(*limited, "--max", "2").stdout
    assert "An unknown number of equivalent graphs" in everything
    assert "No table of edges: a block of" in everything
    assert json.loads(cyclearn(*limited, "--max", "2", "--json").stdout)["edge_table"] is None
    record = json.loads(cyclearn(*limited, "--list", "--max", "2", "--json").stdout)
    assert record["size"] is None
    assert record["complete"] is False
    assert len(record["members"]) == 2
    for wanted in ("--count", "--table"):
        result = cyclearn(*limited, wanted)
        assert result.returncode == 2
        assert "raise max_states" in result.stderr


def test_list_comes_as_a_stream(tmp_path):
    """The first lines arrive although the class has more members than anyone can wait for."""
    write_graph(DirectedGraph(np.triu(np.ones((15, 15)), 1)), tmp_path / "complete.json")
    command = [sys.executable, "-m", "cyclearn", "class", "complete.json", "--list"]
    with subprocess.Popen(
        [*command, "--max", str(10**12)], stdout=PIPE, stderr=PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout.readline().startswith("1. ")
        process.stdout.close()
        assert process.wait(timeout=60) == 141
        assert process.stderr.read() == ""


def test_sizes_of_thousands_of_digits(cyclearn, tmp_path):
    p = 150
    write_graph(DirectedGraph(np.triu(np.ones((p, p)), 1)), tmp_path / "complete.json")
    count = cyclearn("class", "complete.json", "--count")
    assert count.returncode == 0
    assert len(count.stdout) > 4301
    assert count.stdout.strip().isdigit()
    assert cyclearn("class", "complete.json", "--count", "--json").returncode == 0


def test_members_without_edges(cyclearn, tmp_path):
    (tmp_path / "lone").write_text("a\nb\n")
    assert cyclearn("class", "lone", "--list").stdout == "1. (no edges)\n"


def test_a_seed_is_taken_by_every_command(cyclearn):
    assert cyclearn("class", "paper", "--count", "--seed", "3").stdout == "8\n"
    assert cyclearn("equivalent", "paper", "turned", "--seed", "3").returncode == 0


def test_simulate(cyclearn, tmp_path):
    first = cyclearn("simulate", "--nodes", "6", "--seed", "3")
    assert first.returncode == 0
    assert first.stdout == cyclearn("simulate", "--nodes", "6", "--seed", "3").stdout
    assert cyclearn("simulate", "--nodes", "6", "--seed", "3", "--out", "g.json").returncode == 0
    assert len(json.loads((tmp_path / "g.json").read_text())["nodes"]) == 6


@pytest.mark.parametrize(
    "arguments",
    [
        ("equivalent", "paper", "absent"),
        ("equivalent", "paper", "broken"),
        ("class", "broken"),
        ("class", "table.csv"),
        ("class", "broken.dot"),
        ("class", "paper", "--acyclic", "--table"),
        ("simulate", "--out", "g.pdf"),
        ("simulate", "--out", "no/such/folder/g.json"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(refused, arguments):
    refused(*arguments)


def test_wrong_usage(cyclearn):
    assert cyclearn("equivalent", "paper").returncode == 2
    assert cyclearn("no-such-command").returncode == 2
    assert cyclearn("simulate", "--nodes", "0").returncode == 2


def test_every_command_has_help(cyclearn):
    listing = cyclearn("--help").stdout
    for command in ("learn", "fit", "equivalent", "class", "simulate", "demo"):
        assert command in listing
        assert "Usage" in cyclearn(command, "--help").stdout


def test_version(cyclearn):
    assert cyclearn("--version").stdout.startswith("cyclearn 0.")

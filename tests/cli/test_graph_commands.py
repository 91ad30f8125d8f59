import json
import subprocess
import sys

import pytest

PAPER = "X1 -> X3\nX3 -> X2\nX2 -> X4\nX4 -> X1\nX4 -> X3\n"
LESS = "X1 -> X3\nX3 -> X2\nX2 -> X4\nX4 -> X3\n"
TURNED = "X1 -> X4\nX2 -> X3\nX3 -> X4\nX4 -> X1\nX4 -> X2\n"


@pytest.fixture
def cyclearn(tmp_path):
    for name, text in {"paper": PAPER, "less": LESS, "turned": TURNED, "broken": "a -> "}.items():
        (tmp_path / name).write_text(text)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "cyclearn", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )

    return run


def test_equivalent(cyclearn):
    yes = cyclearn("equivalent", "paper", "turned")
    assert (yes.returncode, yes.stderr) == (0, "")
    assert "reverse cycle X3 -> X2 -> X4 -> X3" in yes.stdout
    no = cyclearn("equivalent", "paper", "less")
    assert no.returncode == 1
    assert "dimensions 9 and 8" in no.stdout
    record = json.loads(cyclearn("equivalent", "paper", "turned", "--json").stdout)
    assert record["schema_version"] == 1
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
    assert "comes and goes" in cyclearn("class", "paper", "--table").stdout
    record = json.loads(cyclearn("class", "paper", "--json").stdout)
    assert record["size"] == len(record["members"]) == 8
    assert record["complete"] is True
    assert {row["verdict"] for row in record["edge_table"]} == {"turns", "comes and goes"}


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
        ("simulate", "--out", "no/such/folder/g.json"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(cyclearn, arguments):
    result = cyclearn(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("cyclearn: ")
    assert result.stderr.count("\n") == 1


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


def test_demo(cyclearn):
    result = cyclearn("demo")
    assert result.returncode == 0
    assert "Feedback was found between price and quantity" in result.stdout

import json


def test_run_continue_and_draw(cyclearn, tmp_path):
    options = ("--nodes", 4, "--domains", 2, "--samples", 300, "--methods", "tabu,l1")
    run = ("experiment", "paper", *options, "--out", "r.jsonl")
    made = cyclearn(*run, "--instances", 1)
    assert (made.returncode, made.stderr) == (0, "")
    more = cyclearn(*run, "--instances", 2, "--resume", "--json")
    assert json.loads(more.stdout)["finished"] == 2
    other = cyclearn("experiment", "paper", "--seed", 1, *options, "--out", "r.jsonl")
    assert (other.returncode, other.stdout) == (2, "")
    assert "seed is 0 there and 1 here" in other.stderr
    drawn = cyclearn("experiment", "figures", "r.jsonl", "--out", "figures")
    assert (drawn.returncode, drawn.stderr) == (0, "")
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == ["paper.md", "paper.png", "paper.svg"]


def test_bad_options_are_one_line(refused):
    refused("experiment", "paper", "--nodes", "five")
    refused("experiment", "figures", "absent.jsonl")

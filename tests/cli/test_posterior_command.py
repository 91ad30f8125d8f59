"""``cyclearn posterior`` on tables, names and options that were made to break it."""

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl

QUICK = ("--time-limit", "0.1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((60, 3))
    X[:, 1] += X[:, 0]
    pd.DataFrame(X, columns=list("abc")).to_csv("d.csv", index=False)
    pd.DataFrame(X, columns=["a\x1b[2J", "<b>", "c"]).to_csv("odd.csv", index=False)
    pd.DataFrame(np.c_[X, np.ones(60)]).to_csv("constant.csv", index=False)
    pd.DataFrame(X[:2]).to_csv("two_rows.csv", index=False)
    (tmp_path / "empty.csv").touch()
    (tmp_path / "link.json").symlink_to("d.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["d.csv", "--chains", "100000"], "n_chains is 100000; give a whole number of at most 100"),
        (["d.csv", "--samples", "9" * 15], "n_samples is 999999999999999; give a whole number of"),
        (["d.csv", "--max-steps", "9" * 30], "give a whole number of at most 9,007,199,254,740,9"),
        (["d.csv", "--jobs", "0"], "n_jobs is 0"),
        (["d.csv", "--penalty", "nan"], "penalty is nan"),
        (["d.csv", "--knowledge", "none.json"], "cannot read the knowledge file none.json"),
        (["d.csv", "--out", "d.csv"], "d.csv is an input"),
        (["d.csv", "--out", "link.json"], "link.json is an input"),
        (["d.csv", "--out", "graph.txt"], "cannot write a posterior as .txt"),
        (["d.csv", "--out", "l" * 3000 + ".json"], "File name too long"),
        (["n" * 3000 + ".csv"], "no such file"),
        (["n" * 3000], "unknown kind of file"),
        (["d.csv", "--knowledge", "k" * 3000], "File name too long"),
        (["none.csv"], "none.csv: no such file"),
        (["empty.csv"], "the file is empty"),
        (["constant.csv"], "is constant"),
        (["two_rows.csv"], "2 rows; a covariance needs at least 3"),
        (["d.csv", "--columns", "a"], "at least two"),
    ],
)
def test_what_cannot_be_done_is_one_short_line(folder, cyclearn, arguments, words):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ended = cyclearn("posterior", *arguments, *QUICK)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert len(ended.stderr) < 600
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_names_are_shown_and_not_sent(folder, cyclearn):
    ended = cyclearn("posterior", "odd.csv", "--out", "out.json", *QUICK)
    assert ended.returncode == 0
    assert "\x1b" not in ended.stdout + ended.stderr
    found = cl.Posterior.from_json((folder / "out.json").read_text())
    assert found.names == ("a\x1b[2J", "<b>", "c")

"""What long work says of itself while it runs."""

import re

import numpy as np
import pytest

import cyclearn as cl
from cyclearn.cli import progress as cli_progress
from cyclearn.search import annealed_search, orders

DATA = np.random.default_rng(0).normal(size=(200, 4)) @ (np.eye(4) + np.eye(4, k=1))


def test_a_search_tells_its_best_score_and_the_starts_that_agree():
    told: list[cl.Progress] = []
    result = cl.learn(DATA, on_progress=told.append)
    assert {each.phase for each in told} == {"search"}
    scores = [each.score for each in told]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] == pytest.approx(result.score)
    last = told[-1]
    assert cl.fit(last.graph, DATA).log_likelihood == pytest.approx(result.fitted.log_likelihood)
    agreeing, starts = result.n_starts_agreeing
    assert last.start == starts
    assert last.agreeing == agreeing - 1
    assert re.match(r"search, \d+ s: best score", str(last))


def test_a_first_graph_is_told_before_the_search_over_orders(monkeypatch):
    told, seen = [], []

    def best_acyclic(*arguments, n_exchanges, **others):
        seen.append((n_exchanges == 0, len(told)))
        return orders.best_acyclic(*arguments, n_exchanges=n_exchanges, **others)

    monkeypatch.setattr(annealed_search, "best_acyclic", best_acyclic)
    cl.learn(DATA, on_progress=told.append)
    assert seen[:2] == [(True, 0), (False, 1)]


def test_a_posterior_tells_its_effective_size_and_goal():
    told: list[cl.Progress] = []
    found = cl.posterior(DATA, robust=False, effective_size=100, on_progress=told.append)
    assert told[-1].done >= told[-1].wanted == 100
    assert told[-1].steps == found.n_steps
    assert "effective sample size" in str(told[-1])
    assert "of 100" in str(told[-1])


def test_a_search_tells_of_its_bootstrap_and_posterior_too():
    told: list[cl.Progress] = []
    cl.learn(
        DATA, bootstrap=2, posterior={"effective_size": 50}, n_starts=1, on_progress=told.append
    )
    assert [each.phase for each in told if each.phase == "bootstrap"] == ["bootstrap"] * 2
    assert told[-1].phase == "posterior"


def test_in_a_pipe_a_line_appears_every_ten_seconds_at_most(monkeypatch, capsys):
    clock = iter([0.0, 5.0, 10.0, 10.0, 12.0, 20.0, 20.0, 21.0])
    monkeypatch.setattr(cli_progress, "monotonic", lambda: next(clock))
    with cli_progress.followed() as tell:
        for done in range(5):
            tell(cl.Progress("bootstrap", 5.0 * done, done=done, wanted=9))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["bootstrap, 5 s: 1 of 9 resamples", "bootstrap, 15 s: 3 of 9 resamples"]

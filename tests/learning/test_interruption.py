"""Ctrl-C at any moment: KeyboardInterrupt, or the best graph so far."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.foundation.interruption import is_asked_to_stop, underlying
from cyclearn.search.runs import SearchStatus

# Long enough to be met at work: noise at no price has no sparse graph.
ROWS = np.random.default_rng(0).standard_normal((200, 30))[:, :15]
LONG = {"penalty": 0.5, "n_starts": 50, "time_limit": 60}


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """So that every call is interrupted at its work, and not while kernels are compiled."""
    cl.learn(ROWS[:, :6], n_starts=1)
    cl.learn(ROWS[:, :6], method="tabu")


@pytest.fixture
def interrupted_after():
    """Ctrl-C after some seconds, at most one."""
    timers = []
    # Ignored where the tests themselves run in the background of a shell.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def start(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield start
    for timer in timers:
        timer.cancel()
        timer.join()
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("seconds", [0.001, 0.02, 0.1, 0.13, 0.2, 0.3, 0.41, 0.6])
def test_learn_raises_keyboard_interrupt_and_nothing_else(interrupted_after, seconds):
    with pytest.raises(KeyboardInterrupt):
        _started(interrupted_after, seconds, lambda: cl.learn(ROWS, **LONG))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _started(interrupted_after, seconds, call):
    interrupted_after(seconds)
    return call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: cl.bootstrap(ROWS[:, :12], n_resamples=10_000, random_state=0),
        lambda: cl.posterior(ROWS[:, :8], n_samples=10_000_000, random_state=0),
        lambda: [
            cl.fit(cl.DirectedGraph(~np.eye(5, dtype=bool)), ROWS[:, :5]) for _ in range(9999)
        ],
    ],
    ids=["bootstrap", "posterior", "fit"],
)
def test_other_calls_raise_keyboard_interrupt(interrupted_after, call):
    with pytest.raises(KeyboardInterrupt):
        _started(interrupted_after, 0.4, call)


@pytest.mark.usefixtures("interrupted_after")
def test_resamples_in_other_processes_are_left_without_a_word():
    """Warnings are errors here, and joblib has one for results that nobody takes."""
    with pytest.raises(KeyboardInterrupt):
        cl.bootstrap(
            ROWS[:, :4],
            20,
            n_jobs=2,
            method="tabu",
            on_progress=lambda *_: signal.raise_signal(signal.SIGINT),
        )


@pytest.mark.parametrize("method", ["auto", "tabu"])
def test_the_best_graph_so_far_is_returned_when_asked_for(interrupted_after, method):
    options = LONG if method == "auto" else {"method": method, "penalty": 0.5}
    interrupted_after(0.3)
    result = cl.learn(ROWS, on_interrupt="best", **options)
    assert result.status is SearchStatus.INTERRUPTED
    assert "best graph found so far" in str(result)
    assert cl.LearnResult.from_json(result.to_json()).status is SearchStatus.INTERRUPTED
    empty = cl.fit(cl.DirectedGraph(np.zeros((15, 15)), result.graph.names), ROWS)
    assert result.score <= -empty.log_likelihood
    assert not is_asked_to_stop()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_exact_search_has_a_best_so_far_too(interrupted_after):
    interrupted_after(0.5)
    result = cl.learn(ROWS[:, :6], method="exact", penalty=0.1, on_interrupt="best")
    assert result.certificate is None
    assert result.status is SearchStatus.INTERRUPTED


def test_the_second_interrupt_raises():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press_twice(_):
        signal.raise_signal(signal.SIGINT)
        assert is_asked_to_stop()
        signal.raise_signal(signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            cl.learn(ROWS, on_interrupt="best", on_progress=press_twice, **LONG)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_of_the_program_stays(interrupted_after):
    met = []
    before = signal.signal(signal.SIGINT, lambda *_: met.append(1))
    try:
        interrupted_after(0.1)
        result = cl.learn(ROWS, on_interrupt="best", **(LONG | {"time_limit": 0.5}))
    finally:
        signal.signal(signal.SIGINT, before)
    assert met == [1]
    assert result.status is SearchStatus.TIME_LIMIT


def test_only_two_answers_to_an_interrupt():
    with pytest.raises(cl.InputError, match="on_interrupt is 'stop'; give 'raise' or 'best'"):
        cl.learn(ROWS[:, :3], on_interrupt="stop")


def test_errors_of_their_own_are_no_interrupts():
    assert underlying(SystemError("by itself")) is None
    assert underlying(ValueError("by itself")) is None


def test_starts_in_other_processes_are_left_behind(interrupted_after):
    cl.learn(ROWS[:, :6], n_starts=2, n_jobs=2)
    interrupted_after(1.0)
    result = cl.learn(ROWS, on_interrupt="best", n_jobs=2, **LONG)
    assert result.status is SearchStatus.INTERRUPTED


COMMAND = """
import os, signal, sys, threading
import cyclearn.learning.run as run
from cyclearn.cli import app

# Ignored where the tests themselves run in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)
asks_once = run.asks_once

def with_interrupt(on_interrupt):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    return asks_once(on_interrupt)

run.asks_once = with_interrupt
sys.argv = ["cyclearn", "learn", "d.csv", "--penalty", "0.5", "--starts", "50", "--out", "r.json"]
app.main()
"""


def test_the_command_line_keeps_what_it_has_and_says_so(tmp_path):
    pd.DataFrame(ROWS).add_prefix("v").to_csv(tmp_path / "d.csv", index=False)
    ended = subprocess.run(
        [sys.executable, "-c", COMMAND], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 130
    assert ended.stderr == (
        "cyclearn: stopping with the best graph so far; Ctrl-C again ends at once\n"
        "cyclearn: interrupted\n"
    )
    assert "best graph found so far" in ended.stdout
    assert cl.LearnResult.from_json((tmp_path / "r.json").read_text()).graph.n_nodes == 15

"""How commands end: exit codes that scripts can rely on, one line, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

import cyclearn as cl
from cyclearn.cli import app, endings
from cyclearn.cli.endings import Terminated, ending_signal
from cyclearn.cli.output import print_json, say, terminal_text

ODD = "a\x1b[31m\x07\x9b2J\u202eb"


@pytest.fixture
def graphs(tmp_path):
    (tmp_path / "g1").write_text("a -> b\n")
    (tmp_path / "g2").write_text("b -> a\n")
    cl.write_graph(cl.DirectedGraph.from_edges([(ODD, "µ"), ("µ", "x\ny")]), tmp_path / "odd.json")
    return tmp_path


def run(folder, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "cyclearn", *arguments],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_an_answer_that_cannot_be_written_is_no_no(graphs):
    with open("/dev/full", "w") as full:
        result = run(graphs, "equivalent", "g1", "g2", stdout=full)
    assert result.returncode == 2
    assert result.stderr == "cyclearn: cannot write the output: No space left on device\n"
    closed = run(graphs, "equivalent", "g1", "g2", preexec_fn=lambda: os.close(1))
    assert closed.returncode == 2
    assert closed.stderr.startswith("cyclearn: the standard output is closed")
    assert closed.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (cl.InputError("bad \x1b[2J\nname"), 2, "cyclearn: bad \\x1b[2J\\nname\n"),
        (cl.LimitError("too large"), 2, "cyclearn: too large\n"),
        (MemoryError(), 2, "cyclearn: memory ran out; use fewer"),
        (OSError(28, "No space left on device"), 2, "cyclearn: cannot write the output: No space"),
        (BrokenPipeError(), 141, ""),
        (
            TerminatedWorkerError("killed"),
            2,
            "cyclearn: a process of --jobs was killed",
        ),
        (KeyboardInterrupt(), 130, "cyclearn: interrupted\n"),
        (Terminated(signal.SIGTERM), 143, "cyclearn: terminated\n"),
        (Terminated(signal.SIGHUP), 129, "cyclearn: the terminal was closed\n"),
        (ZeroDivisionError("a bug"), 70, "ZeroDivisionError: a bug\n"),
    ],
)
def test_every_end_has_its_code(monkeypatch, capsys, error, code, line):
    def fail(**_):
        raise error

    monkeypatch.setattr(app, "app", fail)
    monkeypatch.setattr(app, "end_children", lambda: None)
    assert app._run() == code
    assert line in capsys.readouterr().err


def test_interrupts_are_seen_behind_other_errors():
    hidden = SystemError("a compiled function returned a result with an exception set")
    assert ending_signal(hidden) is None
    hidden.__cause__ = KeyboardInterrupt()
    assert ending_signal(hidden) == (130, "interrupted")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_request_to_end_that_python_drops_is_made_again(monkeypatch):
    """As it does while an object is cleaned up."""

    class Lost:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGALRM)}
    monkeypatch.setattr(endings, "_AGAIN", 0.05)
    signal.signal(signal.SIGTERM, endings._raise)
    try:
        Lost()
        with pytest.raises(Terminated):
            time.sleep(10)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)


# Workers that would compute for a minute, started as the library starts them.
WORKERS = """
import signal, sys, time
# Ignored where the tests themselves run in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)
from joblib import Parallel, delayed
from cyclearn.cli import app

def work(_):
    print(flush=True)
    time.sleep(60)

def command(**_):
    Parallel(n_jobs=2)(delayed(work)(n) for n in range(4))

app.app = command
app.main()
"""


# As the console script does: from a file that lies elsewhere.
BESIDE = """
from joblib import Parallel, delayed
from cyclearn.cli import app

app.app = lambda **_: Parallel(n_jobs=2)(delayed(len)(word) for word in ("a", "b"))
app.main()
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot be told")
def test_workers_do_not_execute_files_beside_the_data(tmp_path):
    (tmp_path / "run.py").write_text(BESIDE)
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("numpy", "joblib", "json"):
        (folder / f"{name}.py").write_text("open('executed', 'w')\nraise SystemExit")
    subprocess.run([sys.executable, tmp_path / "run.py"], cwd=folder, check=True)
    assert not (folder / "executed").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_leave_one_line_and_no_workers(tmp_path, number, code):
    process = subprocess.Popen(
        [sys.executable, "-c", WORKERS],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # Both workers have begun.
    process.stdout.readline()
    process.stdout.readline()
    process.send_signal(number)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == code
    assert complaint.count("\n") == 1
    assert complaint.startswith("cyclearn: ")
    # All were in one session; what is left of it would be orphans.
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("workers were left")


# As modules do that take long to load.
SLOW = """
import signal
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    raise ImportError("a part is missing") from None
"""
# An output that nobody reads: Ctrl-C while the last of it is written.
UNREAD = """
import signal
from cyclearn import __main__
from cyclearn.cli import app
app._run = lambda: 0
app._flushed = lambda *_: signal.raise_signal(signal.SIGINT)
__main__.main()
"""


@pytest.mark.parametrize("start", [["-m", "cyclearn"], ["-c", UNREAD]])
def test_interrupts_before_the_program_and_after_it(tmp_path, start):
    if "-m" in start:
        (tmp_path / "typer.py").write_text(SLOW)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    ended = subprocess.run(
        [sys.executable, *start, "--version"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (ended.returncode, ended.stderr) == (130, "cyclearn: interrupted\n")


@pytest.mark.parametrize(
    ("arguments", "encoding"),
    [(["class", "odd.json"], "ascii"), (["class", "odd.json", "--json"], "utf-8")],
)
def test_escape_sequences_never_reach_the_terminal(graphs, arguments, encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    result = run(graphs, *arguments, stdout=subprocess.PIPE, env=environment)
    assert result.returncode == 0
    assert result.stderr == ""
    assert not set(result.stdout) & set("\x1b\x07\x9b\u202e")
    if "--json" in arguments:
        assert json.loads(result.stdout)["members"][0]["nodes"] == [ODD, "µ", "x\ny"]


def test_errors_are_one_line_whatever_the_names(graphs):
    refused = run(graphs, "equivalent", "odd.json", "g1", stdout=subprocess.PIPE)
    assert refused.returncode == 2
    assert "\x1b" not in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_what_is_safe_stays_as_it_is(capsys):
    assert terminal_text("größe → 温度\tx\ny") == "größe → 温度\tx\ny"
    say("a\ud800b")
    assert capsys.readouterr().out == "a\\ud800b\n"
    print_json("x", {"a": float("inf"), "b": [float("nan"), 1.5], "c": {"\ud800": "\x7f"}})
    text = capsys.readouterr().out
    assert "\x7f" not in text
    record = json.loads(text, parse_constant=pytest.fail)
    assert record["a"] is None
    assert record["b"] == [None, 1.5]
    assert record["c"] == {"\ud800": "\x7f"}


def test_outputs_of_simulate(graphs, refused, cyclearn):
    refused("simulate", "--data", "q.feather", "-n", 5)
    refused("simulate", "--graph", "g1", "--out", "g1")
    refused("simulate", "--out", "same", "--model", "same.json", "--data", ".", "-n", 5)
    assert (graphs / "g1").read_text() == "a -> b\n"
    done = cyclearn("simulate", "--graph", "g1", "--data", "q.parquet", "-n", 5, "--seed", 1)
    assert done.returncode == 0
    import pandas as pd

    assert pd.read_parquet(graphs / "q.parquet").shape == (5, 2)


def test_what_is_missing_is_not_damaged(tmp_path, cyclearn):
    missing = cyclearn("experiment", "figures", "absent.jsonl")
    assert missing.returncode == 2
    assert "there is no results file" in missing.stderr
    assert "damaged" not in missing.stderr
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "g").write_text("a -> b")
    folder = cyclearn("fit", "folder.csv", "g")
    assert folder.returncode == 2
    assert "this is a folder" in folder.stderr

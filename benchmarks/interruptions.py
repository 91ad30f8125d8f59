"""Interrupt the library at random moments, and check what it promises about that.

    python benchmarks/interruptions.py --seconds 240 --seed 1

Starts learn, fit, bootstrap, posterior, report and an experiment, in Python and on the command
line, sends SIGINT or SIGTERM to the program or, where there are other processes at work, SIGKILL to
one of these, and looks at what comes of it: the exit code, one line and no traceback, no process
left, no file half written. Programs that were done before the signal are counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import cyclearn as cl

# What a program in Python says when Ctrl-C has met it as Python does.
IN_PYTHON = """
import sys, warnings
warnings.simplefilter("ignore")
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import cyclearn as cl
graph = cl.read_graph("graph.json")
def repeat(call):
    while True:
        call()
try:
    print("begun", flush=True)
    {call}
except KeyboardInterrupt:
    sys.exit(33)
"""
CALLS = {
    "learn": 'repeat(lambda: cl.learn("data.csv"))',
    "fit": 'repeat(lambda: cl.fit(graph, "data.csv"))',
    "bootstrap": 'cl.bootstrap("data.csv", n_resamples=10**6)',
    "bootstrap, 2 jobs": 'cl.bootstrap("data.csv", n_resamples=10**6, n_jobs=2)',
    "posterior": 'cl.posterior("data.csv", effective_size=10**9, max_steps=10**12)',
    "posterior, 2 jobs": 'cl.posterior("data.csv", effective_size=10**9, max_steps=10**12, '
    "n_jobs=2)",
    "report": 'repeat(lambda: cl.learn("data.csv").report("report.html"))',
}
COMMANDS = {
    "learn": ["learn", "data.csv", "--starts", "100000", "--out", "out.json"],
    "learn, 2 jobs": ["learn", "data.csv", "--starts", "100000", "--jobs", "2"],
    "fit": ["fit", "graph.json", "data.csv"],
    "bootstrap": ["learn", "data.csv", "--bootstrap", "100000", "--checkpoint", "kept.jsonl"],
    "bootstrap, 2 jobs": ["learn", "data.csv", "--bootstrap", "100000", "--jobs", "2"],
    "posterior": [
        *("posterior", "data.csv", "--effective-size", "1000000000", "--max-steps", "99999999999"),
        *("--out", "out.json"),
    ],
    "posterior, 2 jobs": [
        *("posterior", "data.csv", "--effective-size", "1000000000", "--max-steps", "99999999999"),
        *("--jobs", "2"),
    ],
    "report": ["report", "data.csv", "--starts", "100000", "-o", "report.html"],
    "experiment": ["experiment", "sample-size"],
}
KEPT = "what stood here before\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=240.0, help="of processor time, about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    counts: Counter[tuple[str, str]] = Counter()
    n_broken = 0
    while sum(os.times()[2:4]) < given.seconds:
        how = rng.choice(("Python", "command line"))
        what = rng.choice(list(CALLS if how == "Python" else COMMANDS))
        number = signal.SIGINT
        if how == "command line" and rng.random() < 0.5:
            number = signal.SIGTERM
        kills_worker = "bootstrap, 2 jobs" in what and rng.random() < 0.5
        outcome = attempt(how, what, signal.SIGKILL if kills_worker else number, rng)
        counts[how, outcome.split(":")[0]] += 1
        n_broken += outcome.startswith("broken")
        if given.verbose or outcome.startswith("broken"):
            print(how, what, signal.Signals(number).name, kills_worker, outcome, flush=True)
    for (how, outcome), n in sorted(counts.items()):
        print(f"{how}, {outcome}: {n}")
    sys.exit(bool(n_broken))


def attempt(how: str, what: str, number: signal.Signals, rng: random.Random) -> str:
    """One program, one signal; what came of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graph = cl.simulate.random_graph(15, max_component=5, random_state=rng.randrange(10**6))
        model = cl.simulate.random_model(graph, random_state=rng.randrange(10**6))
        model.sample(500, random_state=rng.randrange(10**6)).to_csv(
            folder / "data.csv", index=False
        )
        cl.write_graph(graph, folder / "graph.json")
        for output in ("out.json", "report.html"):
            (folder / output).write_text(KEPT)
        if how == "Python":
            command = [sys.executable, "-c", IN_PYTHON.format(call=CALLS[what])]
        else:
            command = [sys.executable, "-m", "cyclearn", *COMMANDS[what]]
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        if how == "Python":
            process.stdout.readline()
        # Programs take some seconds to be loaded, more on a busy machine.
        time.sleep(rng.uniform(0.0, 10.0))
        signalled = _send(process, number)
        try:
            output, complaint = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "broken: did not end" if signalled else "not signalled"
        left = _left_of(process.pid)
        if not signalled:
            return "done before"
        return _judged(how, number, process.returncode, output, complaint, folder) or (
            "broken: a process was left" if left else "kept"
        )


def _send(process: subprocess.Popen[str], number: signal.Signals) -> bool:
    if process.poll() is not None:
        return False
    if number != signal.SIGKILL:
        process.send_signal(number)
        return True
    for _ in range(200):
        workers = _workers(process.pid)
        if workers:
            try:
                os.kill(workers[0], signal.SIGKILL)
            except ProcessLookupError:
                continue
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    return False


def _workers(parent: int) -> list[int]:
    """Processes that joblib has started for this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                its_parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                line = (entry / "cmdline").read_bytes()
            except (OSError, IndexError, ValueError):
                continue
            if its_parent == parent and b"popen_loky" in line:
                found.append(int(entry.name))
    return found


def _judged(
    how: str, number: signal.Signals, code: int, output: str, complaint: str, folder: Path
) -> str | None:
    """What promise was broken, if any."""
    if "Traceback" in complaint and not (how == "Python" and number == signal.SIGKILL):
        return f"broken: a traceback: {complaint[-600:]}"
    # As a shell reports a program that a signal ended.
    code = 128 - code if code < 0 else code
    if how == "Python":
        right = {signal.SIGINT: {33}, signal.SIGKILL: {1, 33}}[number]
    else:
        right = {signal.SIGINT: {130, 0}, signal.SIGTERM: {143}, signal.SIGKILL: {2}}[number]
    if code not in right and not (code == 0 and output):
        return f"broken: code {code}: {complaint[-300:]}"
    # That Ctrl-C was heard is said at once, where the best so far is still to be written.
    lines = [line for line in complaint.splitlines() if not line.startswith("cyclearn: stopping")]
    if how != "Python" and code != 0 and len(lines) > 1:
        return f"broken: {len(lines)} lines: {complaint[-300:]}"
    for path in folder.iterdir():
        if path.name.startswith(".cyclearn"):
            return f"broken: {path.name} was left"
    written = (folder / "out.json").read_text()
    if written != KEPT:
        json.loads(written)
    page = (folder / "report.html").read_text()
    if page != KEPT and not page.rstrip().endswith("</html>"):
        return "broken: half a report"
    return None


def _left_of(session: int) -> bool:
    for _ in range(100):
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    os.killpg(session, signal.SIGKILL)
    return True


if __name__ == "__main__":
    main()

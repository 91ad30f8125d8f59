"""Times and scores of the default search on tables that are hard to search.

``run FILE`` learns every table and adds a line to a file; what is there already is not done again.
``table BEFORE AFTER`` prints both side by side; ``picture BEFORE AFTER PNG`` draws the best score
over time. The tables are in the folder given by ``--data`` or ``CYCLEARN_DATA``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.signal import lfilter

import cyclearn as cl

REAGENTS = {"aktinhib": "akt", "g0076": "pkc", "psitect": "pip2", "u0126": "mek", "ly": "pip3"}
Call = tuple[Any, dict[str, Any]]


def real(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / "real" / f"{name}.txt", sep="\t").select_dtypes("number")


def not_collinear(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that are no linear function of those before them."""
    centred = (table - table.mean()) / table.std()
    kept: list[str] = []
    basis = np.zeros((len(table), 0))
    for name in centred:
        left = centred[name].to_numpy()
        size = left @ left
        for _ in range(2):
            left = left - basis @ (basis.T @ left)
        if left @ left > 1e-6 * size:
            kept.append(name)
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
    return table[kept]


def proteins(folder: Path, reagents: list[str]) -> Call:
    """Cells that nothing acted on, and cells with one reagent each."""
    cells = pd.read_csv(folder / "sachs" / "sachs.experiments.txt", sep="\t")
    cells = cells[(cells["cd3_cd28"] == 1) & (cells["icam2"] == 0)]
    acted_on = [cells[list(REAGENTS)].sum(axis=1) == 0, *(cells[name] == 1 for name in reagents)]
    tables = [cells.loc[each].iloc[:, :11] for each in acted_on]
    return tables, {"interventions": [[], *([REAGENTS[name]] for name in reagents)]}


def slow_signals(p: int = 10, n_groups: int = 10, n_rows: int = 500) -> list[pd.DataFrame]:
    """Groups with one graph and weights of their own, each signal smoothed as blood flow does."""
    graph = cl.simulate.random_graph(p, max_degree=4, max_component=5, random_state=1)
    response = np.diff(np.exp(-np.arange(0.0, 8.0)) * np.arange(0.0, 8.0) ** 2, prepend=0.0)
    response = np.abs(response) / np.abs(response).sum()
    groups = []
    for seed in range(n_groups):
        model = cl.simulate.random_model(graph, random_state=seed)
        rng = np.random.default_rng(seed)
        signal = np.zeros((4 * n_rows, p))
        noise = rng.normal(size=signal.shape) * np.sqrt(model.noise_variances)
        for t in range(1, len(signal)):
            signal[t] = 0.5 * signal[t - 1] + 0.5 * signal[t - 1] @ model.B + noise[t]
        smooth = lfilter(response, 1.0, signal, axis=0)[::4]
        groups.append(pd.DataFrame(smooth, columns=[f"x{j}" for j in range(p)]))
    return groups


def network(folder: Path, name: str) -> list[pd.DataFrame]:
    paths = sorted((folder / "feedback" / name).glob("sim-*.txt"))
    return [pd.read_csv(path, sep="\t") for path in paths]


def calls(folder: Path) -> dict[str, Callable[[], Call]]:
    residential = not_collinear(real(folder, "residential-building"))
    among_first = not_collinear(real(folder, "residential-building").iloc[:, :50])
    return {
        "boston": lambda: (real(folder, "boston"), {}),
        "chickenpox": lambda: (real(folder, "chickenpox"), {}),
        "wine, two groups": lambda: (
            {name: real(folder, f"wine-{name}") for name in ("red", "white")},
            {},
        ),
        f"residential, {among_first.shape[1]} columns": lambda: (among_first, {}),
        f"residential, {residential.shape[1]} columns": lambda: (residential, {}),
        "sachs, two tables": lambda: proteins(folder, ["aktinhib"]),
        "sachs, six tables": lambda: proteins(folder, list(REAGENTS)),
        "ten groups of 10": lambda: (slow_signals(), {}),
        "Network9, ten groups": lambda: (network(folder, "Network9_amp_amp"), {}),
        "student-performance": lambda: (real(folder, "student-performance"), {}),
    }


def measure(call: Call, n_effective: str, options: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds, score of the whole sample, and when scores were there on the way."""
    data, given = call
    begun = process_time()
    curve: list[tuple[float, float]] = []

    def note(progress: cl.Progress) -> None:
        if not curve or progress.score < curve[-1][1]:
            curve.append((round(process_time() - begun, 2), progress.score))

    found = cl.learn(data, n_effective=n_effective, on_progress=note, **given, **options)
    seconds = process_time() - begun
    agreeing, starts = found.n_starts_agreeing
    return {
        "seconds": round(seconds, 1),
        "score": found.score,
        "edges": found.graph.n_edges,
        "largest": max(map(len, found.graph.components)),
        "starts": f"{agreeing} of {starts}",
        "evaluations": found.cost.n_evaluations,
        "status": found.status.name,
        # Scores on the way above the best of them.
        "curve": [(at, round(score - found.score, 2)) for at, score in curve],
    }


def run(path: Path, folder: Path, names: list[str], rows: str, options: dict[str, Any]) -> None:
    lines = path.read_text().splitlines() if path.exists() else []
    known = {(line["table"], line["rows"]) for line in map(json.loads, lines)}
    for name, call in calls(folder).items():
        if (name, rows) in known or not any(name.startswith(each) for each in names):
            continue
        line = {"table": name, "rows": rows} | measure(call(), rows, options)
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print({key: value for key, value in line.items() if key != "curve"}, flush=True)


def table(paths: list[Path]) -> None:
    """Both files side by side: CPU seconds, scores, and when the first answer was there."""
    before, after = (
        {(line["table"], line["rows"]): line for line in map(json.loads, path.open())}
        for path in paths
    )
    print("| table | rows | seconds before | after | score before | after | first answer |")
    print("|---|---|---|---|---|---|---|")
    for key, new in after.items():
        old = before.get(key, {"seconds": np.nan, "score": np.nan, "status": ""})
        cut = "over " if old["status"] == "TIME_LIMIT" else ""
        first = f"{new['curve'][0][0]:.1f}" if new["curve"] else ""
        print(
            f"| {key[0]} | {key[1]} | {cut}{old['seconds']:.1f} | {new['seconds']:.1f} "
            f"| {old['score']:.2f} | {new['score']:.2f} | {first} |"
        )


def picture(before: Path, after: Path, path: Path) -> None:
    """How far above the last score the best one so far was, over CPU seconds; zero is the last."""
    shown = ("boston", "chickenpox", "residential, 49 columns")
    figure, panels = plt.subplots(1, len(shown), figsize=(11, 3.2), layout="constrained")
    for source, label in ((before, "before"), (after, "after")):
        lines = {line["table"]: line for line in map(json.loads, source.open())}
        for name, panel in zip(shown, panels, strict=True):
            times, gaps = zip(*lines[name]["curve"], (lines[name]["seconds"], 0.0), strict=True)
            panel.step(times, gaps, where="post", label=label)
            panel.set(title=name, xscale="log", xlabel="CPU seconds", yscale="symlog")
            panel.set_ylim(bottom=0, auto=True)
    panels[0].set_ylabel("score above the last")
    panels[0].legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CYCLEARN_DATA"))
    parser.add_argument("--tables", default="", help="how names begin, with commas between")
    parser.add_argument("--rows", default="all", help="all, or auto: effective rows")
    parser.add_argument("--options", type=json.loads, default={}, help="of learn, in JSON")
    parser.add_argument("command", choices=["run", "table", "picture"])
    parser.add_argument("paths", type=Path, nargs="+")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.command == "run":
        cl.learn(np.random.default_rng(0).normal(size=(100, 4)))  # loads compiled code
        run(given.paths[0], given.data, given.tables.split(","), given.rows, given.options)
    elif given.command == "table":
        table(given.paths)
    else:
        picture(*given.paths)


if __name__ == "__main__":
    main()

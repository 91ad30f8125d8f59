"""The robust posterior compared with the plain one on simulated data with a known truth.

``run FILE`` adds one line for each data set to a file; what is there already is not computed again.
``table FILE`` prints the page. A true edge is one of the graph that generated the data.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import cyclearn as cl

FIRST_SEED = 20_000
CLAIMED = 0.9
# As the model says; and noise, rows and columns that it does not foresee.
WAYS = ("as assumed", "t noise", "skewed noise", "AR(1) rows", "rounded")
METHODS = {"plain": {"robust": False, "n_effective": "all", "effective_size": 400}, "robust": {}}


def simulated(way: str, p: int, n: int, seed: int) -> tuple[cl.DirectedGraph, pd.DataFrame]:
    """A graph of the paper's generator, and rows that it made in a way."""
    graph = cl.simulate.random_graph(p, max_component=5, random_state=seed)
    model = cl.simulate.random_model(graph, random_state=seed)
    rng = np.random.default_rng(seed)
    draw: dict[str, Callable[[], np.ndarray]] = {
        "t noise": lambda: rng.standard_t(5, (n, p)) * np.sqrt(3 / 5),
        "skewed noise": lambda: rng.exponential(size=(n, p)) - 1,
        "AR(1) rows": lambda: _remembering(rng.standard_normal((n, p))),
    }
    noise = draw.get(way, lambda: rng.standard_normal((n, p)))()
    rows = (noise * np.sqrt(model.noise_variances)) @ np.linalg.inv(np.eye(p) - model.B)
    if way == "rounded":
        rows = np.round(rows / rows.std(axis=0))
    return graph, pd.DataFrame(rows, columns=list(graph.names))


def _remembering(noise: np.ndarray, memory: float = 0.7) -> np.ndarray:
    for row in range(1, len(noise)):
        noise[row] = memory * noise[row - 1] + np.sqrt(1 - memory**2) * noise[row]
    return noise


def run(path: Path, ways: list[str], p: int, n: int, n_sets: int) -> None:
    known = {json.loads(line)["key"] for line in path.open()} if path.exists() else set()
    for seed in range(FIRST_SEED, FIRST_SEED + n_sets):
        for way in ways:
            name = f"{way} {p} {n} {seed}"
            if name in known:
                continue
            graph, table = simulated(way, p, n, seed)
            line = {"key": name, "way": way, "p": p, "n": n, "truth": graph.adjacency.tolist()}
            for method, options in METHODS.items():
                begun = time.process_time()
                found = cl.posterior(table, random_state=seed, **options)
                line[method] = {
                    "seconds": round(time.process_time() - begun, 1),
                    "determined": found.is_determined,
                    "edges": np.round(found.edges, 4).tolist(),
                    "joined": np.round(found.edges + found.edges.T - found.both, 4).tolist(),
                }
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")


def calibration_error(said: np.ndarray, true: np.ndarray) -> float:
    """Mean distance of what was said from what was, over ten bins, weighed by their size."""
    place = np.minimum((10 * said).astype(int), 9)
    distances = [
        abs(said[place == k].mean() - true[place == k].mean()) * (place == k).mean()
        for k in np.unique(place)
    ]
    return float(sum(distances))


def table(path: Path) -> None:
    lines = [json.loads(line) for line in path.open()]
    cells = list(dict.fromkeys((line["way"], line["p"], line["n"]) for line in lines))
    print(
        "| data | p | n | sets | method | agreed | seconds | Brier | calibration error | ideal | ",
        end="",
    )
    print("edges claimed | true | pairs claimed | true |")
    print("|---" * 14 + "|")
    for way, p, n in cells:
        its = [line for line in lines if (line["way"], line["p"], line["n"]) == (way, p, n)]
        off = ~np.eye(p, dtype=bool)
        for method in METHODS:
            sure = [line for line in its if line[method]["determined"]]
            if not sure:
                continue
            said = np.concatenate([np.array(line[method]["edges"])[off] for line in sure])
            true = np.concatenate([np.array(line["truth"])[off] for line in sure])
            joined = np.concatenate(
                [np.array(line[method]["joined"])[np.triu(off)] for line in sure]
            )
            pairs = np.concatenate(
                [
                    (np.array(line["truth"]) | np.array(line["truth"]).T)[np.triu(off)]
                    for line in sure
                ]
            )
            drawn = np.random.default_rng(0).random((50, len(said))) < said
            ideal = np.mean([calibration_error(said, each) for each in drawn])
            seconds = np.median([line[method]["seconds"] for line in its])
            claimed, joined_claimed = said >= CLAIMED, joined >= CLAIMED
            print(
                f"| {way} | {p} | {n:,} | {len(its)} | {method} | {len(sure)} | {seconds:.1f} | "
                f"{((said - true) ** 2).mean():.4f} | {calibration_error(said, true):.3f} | "
                f"{ideal:.3f} | {claimed.sum()} | {_share(true[claimed])} | "
                f"{joined_claimed.sum()} | {_share(pairs[joined_claimed])} |"
            )


def _share(holds: np.ndarray) -> str:
    return f"{holds.mean():.0%}" if len(holds) else "–"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["run", "table"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--ways", nargs="*", default=["as assumed"], choices=WAYS)
    parser.add_argument("--variables", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--data-sets", type=int, default=100)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.part == "run":
        run(given.file, given.ways, given.variables, given.rows, given.data_sets)
    else:
        table(given.file)


if __name__ == "__main__":
    main()

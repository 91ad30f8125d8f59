"""Whether two versions of the library give the same answers, and how long they take.

    python benchmarks/same_answers.py write before.json     (with the one version installed)
    python benchmarks/same_answers.py write after.json      (with the other)
    python benchmarks/same_answers.py table before.json after.json

62 problems: one table (the paper's generator), several groups, and an intervention.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from pathlib import Path
from time import process_time

import numpy as np

import cyclearn as cl

# Variables, rows, first seed and number of problems.
TABLES = ((5, 10_000, 7000, 20), (10, 10_000, 7100, 12), (20, 10_000, 7200, 8), (20, 1000, 7300, 4))
TABLES += ((50, 10_000, 7400, 2),)
N_OTHERS = 8


def problems():
    """What each problem is called, and its data with the options of ``learn``."""
    for p, n, first, count in TABLES:
        for seed in range(first, first + count):
            graph = cl.simulate.random_graph(p, random_state=seed)
            model = cl.simulate.random_model(graph, random_state=seed)
            yield f"one table, p = {p}, n = {n:,}", seed, model.sample(n, random_state=seed), {}
    for seed in range(7500, 7500 + N_OTHERS):
        graph = cl.simulate.random_graph(6, random_state=seed)
        seeds = [1000 * seed + group for group in range(3)]
        models = [cl.simulate.random_model(graph, random_state=each) for each in seeds]
        yield "three groups", seed, [m.sample(1000, random_state=seed) for m in models], {}
    for seed in range(7600, 7600 + N_OTHERS):
        graph = cl.simulate.random_graph(6, random_state=seed)
        model = cl.simulate.random_model(graph, random_state=seed)
        target = int(np.random.default_rng(seed).integers(6))
        B = model.B.copy()
        B[:, target] = 0
        cut = cl.LinearGaussianModel(B, model.noise_variances, graph.names)
        data = [model.sample(500, random_state=seed), cut.sample(500, random_state=seed + 1)]
        yield "one intervention", seed, data, {"interventions": [[], [graph.names[target]]]}


def write(path: Path) -> None:
    rows = []
    for kind, seed, data, options in problems():
        begun = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = cl.learn(data, **options)
        rows.append(
            {
                "problem": kind,
                "seed": seed,
                "edges": [list(edge) for edge in result.graph.edges],
                "score": round(result.score, 6),
                "seconds": process_time() - begun,
            }
        )
    path.write_text(json.dumps(rows))


def table(before: Path, after: Path) -> None:
    found = defaultdict(list)
    for old, new in zip(*(json.loads(path.read_text()) for path in (before, after)), strict=True):
        assert (old["problem"], old["seed"]) == (new["problem"], new["seed"])
        is_same = all(old[name] == new[name] for name in ("edges", "score"))
        found[old["problem"]].append((is_same, old["seconds"], new["seconds"]))
    print(
        "| problems | number | same graph and score | CPU s before | after |\n|---|---|---|---|---|"
    )
    for kind, rows in found.items():
        same, old, new = map(sum, zip(*rows, strict=True))
        print(f"| {kind} | {len(rows)} | {same} | {old:.1f} | {new:.1f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["write", "table"])
    parser.add_argument("paths", nargs="+", type=Path)
    arguments = parser.parse_args()
    {"write": write, "table": table}[arguments.task](*arguments.paths)

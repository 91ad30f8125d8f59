"""Writes ``fiml_cases.json``: rows with holes and graphs for ``lavaan_fiml.R``.

Run from this directory, in this order, to make the golden values again::

    python fiml_cases.py
    Rscript lavaan_fiml.R fiml_cases.json lavaan_fiml.json
"""

import json
from pathlib import Path

import numpy as np

from cyclearn.graphs import DirectedGraph
from cyclearn.models import random_model

# Name: number of rows, edges that are fitted, share of holes, whether holes depend on values.
CASES = {
    "acyclic": (150, "ab ac bd cd", 0.1, False),
    "acyclic_many_holes": (120, "ab bc cd ad", 0.4, False),
    "two_cycle_with_instruments": (200, "ab cd bd db", 0.2, False),
    "two_cycle_holes_by_another_column": (200, "ab cd bd db", 0.25, True),
    "three_cycle_with_outside_parents": (250, "ax by cz xy yz zx", 0.15, False),
    "misspecified": (150, "ab bc cd", 0.2, True),
}


def golden_case(seed, name):
    n, edges, share, depends = CASES[name]
    pairs = [tuple(edge) for edge in edges.split()]
    names = sorted({v for edge in pairs for v in edge})
    more = [("a", "c"), ("b", "d")] if name == "misspecified" else []
    rng = np.random.default_rng([20261116, seed])
    truth = random_model(DirectedGraph.from_edges(pairs + more, names=names), random_state=rng)
    X = truth.sample(n, random_state=rng).to_numpy() * 1.7 + 3.0
    holes = rng.random(X.shape) < share
    if depends:
        # Holes of the other columns are likelier where the first is large.
        large = X[:, :1] > np.median(X[:, 0])
        holes[:, 1:] = rng.random(X[:, 1:].shape) < np.where(large, 1.6 * share, 0.4 * share)
        holes[:, 0] = False
    holes[holes.all(axis=1), 0] = False
    rows = [[None if hole else round(x, 6) for x, hole in zip(*row, strict=True)]
            for row in zip(X.tolist(), holes.tolist(), strict=True)]  # fmt: skip
    return {"name": name, "names": names, "edges": [list(edge) for edge in pairs], "rows": rows}


if __name__ == "__main__":
    cases = [golden_case(seed, name) for seed, name in enumerate(CASES)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    Path("fiml_cases.json").write_text(f"[\n{lines}\n]\n")

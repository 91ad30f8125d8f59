"""Writes ``cases.json``: covariance matrices, sample sizes and graphs for ``lavaan_golden.R``.

Run from this directory, in this order, to make the golden values again::

    python golden_cases.py
    Rscript lavaan_golden.R cases.json lavaan_golden.json
"""

import json
from pathlib import Path

import numpy as np

from cyclearn.data import as_moments
from cyclearn.graphs import DirectedGraph
from cyclearn.models import random_model

# Name: number of samples, edges that are fitted, and edges of the truth that the fit leaves out.
# An edge is cause then effect.
CASES = {
    "two_cycle_with_instruments": (300, "ab cd bd db", ""),
    "three_cycle_with_outside_parents": (500, "ax by cz xy yz zx", ""),
    "four_cycle_with_chord_and_parent": (400, "aw wx xy yz zw wy zq", ""),
    "nested_loops": (600, "aw bx cz wx xw xy yz zw zq", ""),
    "two_components": (350, "ab bc cb cd de ed ef af ae", ""),
    "acyclic": (250, "ab ac bd cd de ae", ""),
    "misspecified_cycle": (500, "ax xy yz zx", "by cz az"),
    "misspecified_acyclic": (400, "ab bc cd", "ac bd ad"),
    "saturated_three_cycle": (200, "ab bc ca", ""),
    "nearly_independent": (120, "ab bc ca cd", "weak"),
    "below_the_baseline": (120, "ab bc ca cd", "weak"),
    "not_identified_two_cycle": (300, "ab ba bc cd ad", ""),
}


def golden_case(seed, name):
    n, edges, more = CASES[name]
    pairs = [tuple(edge) for edge in edges.split()]
    weak = more == "weak"
    truth = pairs if weak else pairs + [tuple(edge) for edge in more.split()]
    names = sorted({v for edge in truth for v in edge})
    graph = DirectedGraph.from_edges(truth, names)
    weights = (0.0, 0.05) if weak else (0.4, 0.8)
    model = random_model(graph, weights=weights, random_state=seed)
    X = model.sample(n, random_state=seed)
    # Different units, within the range that lavaan is comfortable with.
    scale = np.random.default_rng(seed).uniform(0.5, 4.0, size=len(names))
    covariance = as_moments(X[names] * scale).covariance
    return {
        "name": name,
        "n": n,
        "names": names,
        "edges": [list(pair) for pair in pairs],
        "covariance": covariance.tolist(),
    }


if __name__ == "__main__":
    cases = [golden_case(seed, name) for seed, name in enumerate(CASES)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    Path("cases.json").write_text(f"[\n{lines}\n]\n")

"""Writes ``correlated_cases.json``: models with correlated noises for ``lavaan_golden.R``.

Run from this directory, in this order, to make the golden values again::

    python correlated_cases.py
    Rscript lavaan_golden.R correlated_cases.json lavaan_correlated.json
"""

import json
from pathlib import Path

import numpy as np

from cyclearn.data import as_moments

# Name: number of samples, edges that are fitted, pairs whose noises correlate in the fit, and
# hidden common causes of the truth. An edge is cause then effect.
CASES = {
    "two_instruments": (300, "xa yb", "ab", ["ab"]),
    "one_instrument": (250, "xa ab bc", "ac", ["ac"]),
    "three_children": (400, "ua vb wc", "ab ac bc", ["abc"]),
    "chain_of_pairs": (500, "ua vb wc xd", "ab bc cd", ["ab", "bc", "cd"]),
    "verma": (600, "ab bc cd", "bd", ["bd"]),
    "front_door": (350, "am mb bc", "ab", ["ab"]),
    "missing_edge": (300, "xa yb", "ab", ["ab", "xb"]),
    "pairs_that_are_not_there": (200, "ab bc cd", "ac bd", []),
    "loop_beside_a_pair": (500, "xa yb ab ba ac zd", "cd", ["cd"]),
    "loop_with_a_pair": (600, "xa yb zc ab bc ca wd", "ad", ["ad"]),
}


def correlated_case(seed, name):
    n, edges, pairs, causes = CASES[name]
    edges, pairs = ([tuple(each) for each in group.split()] for group in (edges, pairs))
    names = sorted({v for edge in edges for v in edge} | {v for cause in causes for v in cause})
    rng = np.random.default_rng([7, seed])
    p = len(names)
    B, loadings = np.zeros((p, p)), np.zeros((len(causes), p))
    for a, b in edges:
        B[names.index(a), names.index(b)] = rng.choice([-1, 1]) * rng.uniform(0.4, 0.8)
    for row, cause in zip(loadings, causes, strict=True):
        for v in cause:
            row[names.index(v)] = rng.choice([-1, 1]) * rng.uniform(0.6, 1.0)
    noise = rng.normal(size=(n, p)) + rng.normal(size=(n, len(causes))) @ loadings
    X = noise @ np.linalg.inv(np.eye(p) - B) * rng.uniform(0.5, 4.0, size=p)
    return {
        "name": name,
        "n": n,
        "names": names,
        "edges": [list(edge) for edge in edges],
        "pairs": [sorted(pair) for pair in pairs],
        "covariance": as_moments(X).covariance.tolist(),
    }


if __name__ == "__main__":
    cases = [correlated_case(seed, name) for seed, name in enumerate(CASES)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    Path("correlated_cases.json").write_text(f"[\n{lines}\n]\n")

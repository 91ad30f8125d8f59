"""Problems, and the same problems as another machine would see them."""

import json
from math import isclose

import numpy as np

from cyclearn import DirectedGraph, Moments, learn, simulate

# Names whose order is not that of the columns.
NAMES = ["stock", "price", "Cost", "income", "a", "quantity", "zeta", "Y", "b2", "b10", "Ü", "x"]
SIZES = [4, 5, 6, 4, 5, 7, 4, 6, 5, 8, 4, 5, 6, 4, 5, 7, 4, 6, 10, 12]


def problem(seed):
    """Moments of a random problem: small samples, large ones, and populations, where scores tie."""
    rng = np.random.default_rng([20, seed])
    p = SIZES[seed % len(SIZES)]
    graph = simulate.random_graph(p, max_component=5, random_state=rng)
    model = simulate.random_model(graph, random_state=rng)
    names = [NAMES[j] for j in rng.permutation(len(NAMES))[:p]]
    n = [300, 2_000, 10_000, 100_000][seed % 4]
    if seed % 3 == 0:
        return Moments(model.covariance, n, np.zeros(p), names)
    rows = model.sample(n, random_state=rng).to_numpy()
    return Moments(np.cov(rows.T, bias=True), n, rows.mean(axis=0), names)


def perturbed(moments, seed, *, noise=True, permute=True, rescale=True):
    """The same moments with last digits, order and units of the columns changed."""
    rng = np.random.default_rng([21, seed])
    S, mean, names = moments.covariance.copy(), moments.mean.copy(), list(moments.names)
    if noise:
        errors = 1e-12 * rng.uniform(-1, 1, S.shape)
        S *= 1 + (errors + errors.T) / 2
    if rescale:
        scale = 10.0 ** rng.uniform(-6, 6, len(S))
        S, mean = S * np.outer(scale, scale), mean * scale
    if permute:
        order = rng.permutation(len(S))
        S, mean, names = S[np.ix_(order, order)], mean[order], [names[j] for j in order]
    return Moments(S, moments.n_samples, mean, names)


def statement(moments, **options):
    """All that a result says, without units and the order of the columns."""
    result = learn(moments, **options)
    record = json.loads(result.to_json())
    names = sorted(moments.names)
    order = [moments.names.index(name) for name in names]
    scale = moments.scale
    weights = (result.model.B * scale[:, None] / scale)[np.ix_(order, order)]
    return {
        "graph": _edges(result.graph),
        "alternatives": [_edges(graph) for graph in result.alternatives],
        "verdicts": sorted(
            (*sorted((pair.a, pair.b)), pair.verdict, sorted(pair.shared_edges))
            for pair in result.verdicts
        ),
        "status": record["status"],
        "limits": record["limits"],
        "options": record["options"],
        "weights": weights.tolist(),
    }


def _edges(graph: DirectedGraph):
    return sorted(map(list, graph.edges))


def differences(first, second, where=""):
    """Places at which two records differ by more than the digits that results promise."""
    if isinstance(first, float) and isinstance(second, float):
        same = isclose(first, second, rel_tol=1e-6, abs_tol=1e-6)
        return [] if same else [f"{where}: {first} and {second}"]
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        pairs = [(f"{where}/{key}", first[key], second[key]) for key in first]
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = [(f"{where}/{n}", *each) for n, each in enumerate(zip(first, second, strict=True))]
    else:
        return [] if first == second else [f"{where}: {first} and {second}"]
    return [found for place, a, b in pairs for found in differences(a, b, place)]

"""Slow, obvious twins: every proposal with its probability, and the posterior by summing."""

from itertools import permutations, product

import numpy as np

from cyclearn import DirectedGraph, LinearGaussianModel, fit, simulate
from cyclearn._kernels import balanced_moves as kinds
from cyclearn.data import as_moments

# Entries in which two graphs differ, each with what it is in one of them.
PIECES = [
    ((0, 1, False), (1, 0, True), (1, 2, False)),
    ((0, 2, False), (2, 1, False), (1, 2, True)),
    ((0, 1, False), (0, 2, True), (2, 0, True)),
]


def symmetric_weights(p):
    W = np.random.default_rng(p).uniform(0.5, 2, (p, p))
    return W + W.T


def feedback_data(n=300, seed=0):
    B = [[0, 0.6, 0, 0], [0, 0, 0.7, 0], [0, -0.5, 0, 0.5], [0, 0, 0, 0]]
    return LinearGaussianModel(B, [1, 1, 1, 1], list("dbac")).sample(n, random_state=seed)


def three_variables(seed, n=150):
    graph = simulate.random_graph(3, random_state=seed)
    model = simulate.random_model(graph, random_state=seed)
    return as_moments(model.sample(n, random_state=seed))


def all_graphs(p):
    pairs = [(i, j) for i in range(p) for j in range(p) if i != j]
    for bits in product((0, 1), repeat=len(pairs)):
        A = np.zeros((p, p), dtype=np.uint8)
        for (i, j), bit in zip(pairs, bits, strict=True):
            A[i, j] = bit
        yield A


def summed_posterior(moments, penalty, *, admits=None, stable=True):
    """Edge probabilities over all graphs, each fitted by itself; of one table or of groups."""
    tables = moments if isinstance(moments, list) else [moments]
    graphs, logs = [], []
    for A in all_graphs(tables[0].n_variables):
        graph = DirectedGraph(A.astype(bool), tables[0].names)
        if admits is not None and not admits(graph):
            continue
        fits = [fit(graph, table) for table in tables]
        if stable and any(each.model.spectral_radius >= 1 - 1e-5 for each in fits):
            continue
        graphs.append(A)
        logs.append(sum(each.log_likelihood for each in fits) - penalty * A.sum())
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    return np.array(graphs), weights


def orders_of(graph):
    """In how many orders its components can be put, each after its outside parents."""
    found = 0
    for order in permutations(graph.component_indices):
        before: set[int] = set()
        for nodes in order:
            parents = {i for v in nodes for i in np.flatnonzero(graph.adjacency[:, v]).tolist()}
            if not parents <= before | set(nodes):
                break
            before |= set(nodes)
        else:
            found += 1
    return found


def every_outcome(run):
    """All outcomes of ``run(choose)`` with their probabilities.

    ``choose(probabilities)`` stands for a random choice; every one is taken in turn.
    """
    found, open_ = [], [()]
    while open_:
        path, chance, taken = open_.pop(), 1.0, []

        def choose(probabilities, path=path, taken=taken):
            nonlocal chance
            k = path[len(taken)] if len(taken) < len(path) else 0
            if len(taken) >= len(path):
                open_.extend((*taken, other) for other in range(1, len(probabilities)))
            taken.append(k)
            chance *= probabilities[k]
            return k

        outcome = run(choose)
        found.append((chance, outcome))
    return found


def _toggled(A, *entries):
    changed = A.copy()
    for i, j in entries:
        changed[i, j] ^= 1
    return changed


def _turned(A, i, j):
    """A with the edge between i and j turned, None where there is not just one."""
    return None if A[i, j] == A[j, i] else _toggled(A, (i, j), (j, i))


def _column(A, j):
    return frozenset([j, *np.flatnonzero(A[:, j]).tolist()])


def _with_columns(A, columns):
    changed = A.copy()
    for j, column in columns.items():
        changed[:, j] = 0
        changed[[i for i in column if i != j], j] = 1
    return changed


def _exchanges(A, a, b):
    S, T = _column(A, a), _column(A, b)
    union = S | T
    if len(S ^ T) != 1:
        return [(1.0, A, 1.0)]

    def assignments(small):
        given = [{a: union, b: small}, {a: small, b: union}]
        return [each for each in given if all(node in each[node] for node in (a, b))]

    before = len(assignments(S & T))
    found = []
    for dropped in union:
        after = assignments(union - {dropped})
        for each in after:
            chance = 1 / len(union) / len(after)
            found.append((chance, _with_columns(A, each), len(after) / before))
    return found


def _reversals(A, start):
    """Walks against the edges from a node, inside its component, until a node comes twice."""
    (component,) = [c for c in DirectedGraph(A.astype(bool)).component_indices if start in c]
    found = []

    def walk(path, chance):
        parents = [i for i in component if A[i, path[-1]]]
        if not parents:
            found.append((chance, A, 1.0))
        for i in parents:
            if i == path[0]:
                before = dict(zip(path, path[1:] + path[:1], strict=True))
                columns = {before[v]: _column(A, v) for v in path}
                found.append((chance / len(parents), _with_columns(A, columns), 1.0))
            elif i in path:
                found.append((chance / len(parents), A, 1.0))
            else:
                walk([*path, i], chance / len(parents))

    walk([start], 1.0)
    return found


def _on_three(A, kind, i, j, k):
    if kind == kinds.SWAP_PARENTS:
        return [_toggled(A, (i, j), (k, j)) if A[i, j] != A[k, j] else A]
    if kind == kinds.SWAP_CHILDREN:
        return [_toggled(A, (j, i), (j, k)) if A[j, i] != A[j, k] else A]
    if kind == kinds.REDRAW:
        entries = [(i, j), (j, i), (i, k), (k, i), (j, k), (k, j)]
        subsets = product((False, True), repeat=6)
        return [_toggled(A, *(e for e, on in zip(entries, s, strict=True) if on)) for s in subsets]
    if kind == kinds.TURN_SOME:
        found = []
        for chosen in product((False, True), repeat=3):
            changed = A
            for (u, v), on in zip(((i, j), (i, k), (j, k)), chosen, strict=True):
                turned = _turned(changed, u, v) if on else None
                changed = changed if turned is None else turned
            found.append(changed)
        return found
    turned = _turned(A, i, j)
    if turned is None:
        return [A]
    if kind == kinds.TURN_AND_TOGGLE:
        return [_toggled(turned, entry) for entry in ((k, i), (k, j), (i, k), (j, k))]
    parents = _toggled(turned, (k, i), (k, j)) if A[k, i] != A[k, j] else turned
    children = _toggled(turned, (i, k), (j, k)) if A[i, k] != A[j, k] else turned
    return [parents, children]


def _jumped(A, piece):
    """A with all entries of a piece toggled, A itself where it stands as in neither graph."""
    if len({bool(A[i, j]) == present for i, j, present in piece}) > 1:
        return A
    return _toggled(A, *(entry[:2] for entry in piece))


def proposals(A, kind, weights, pieces):
    """All proposals of a kind: probability, graph, ratio of the way back to the way there."""
    p = len(A)
    W = np.where(np.eye(p, dtype=bool), 0, weights)
    pair, given = W / W.sum(), W / W.sum(axis=1, keepdims=True)
    found = []
    if kind == kinds.REVERSE_CYCLE:
        return [(q / p, B, r) for j in range(p) for q, B, r in _reversals(A, j)]
    if kind == kinds.JUMP:
        return [(1 / len(pieces), _jumped(A, piece), 1.0) for piece in pieces]
    for i, j in product(range(p), repeat=2):
        if i == j:
            continue
        if kind == kinds.TOGGLE:
            found.append((pair[i, j], _toggled(A, (i, j)), 1.0))
        elif kind == kinds.TOGGLE_BOTH:
            found.append((pair[i, j], _toggled(A, (i, j), (j, i)), 1.0))
        elif kind == kinds.EXCHANGE:
            found += [(pair[i, j] * q, B, r) for q, B, r in _exchanges(A, i, j)]
        else:
            for k in range(p):
                chance = pair[i, j] * given[j, k]
                if k == i:
                    found.append((chance, A, 1.0))
                elif kind == kinds.TURN_AND_TOGGLE_TWO:
                    for other in range(p):
                        turned = None if other == j else _turned(A, i, j)
                        B = A if turned is None else _toggled(turned, (k, j), (other, i))
                        found.append((chance * given[i, other], B, 1.0))
                elif k != j:
                    graphs = _on_three(A, kind, i, j, k)
                    found += [(chance / len(graphs), B, 1.0) for B in graphs]
    return found

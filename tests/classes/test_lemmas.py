"""The lemmas of the documentation ("Beyond the theorem") on small cases, in exact arithmetic."""

from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from random import Random

import naive_rules
import numpy as np
import pytest
from exact_steps import inverse, is_point, matrix_of, peeled
from naive_rules import pairs_inside, union
from test_certificates_exactly import drawn
from test_whole_class import GROWING, LARGEST, graph_of

from cyclearn import equivalence_class
from cyclearn.graphs import DirectedGraph
from cyclearn.identifiability.constraints.invariants import vanishing_minors


def exact(rows):
    return np.array(rows, dtype=object)


def orthogonal(n, random):
    """A rational orthogonal matrix, (I − K)(I + K)⁻¹ with K antisymmetric."""
    K = exact([[Fraction(random.randint(-3, 3)) for _ in range(n)] for _ in range(n)])
    K = K - K.T
    one = exact([[Fraction(i == j) for j in range(n)] for i in range(n)])
    return (one - K) @ exact(inverse((one + K).tolist()))


@pytest.mark.parametrize("seed", range(10))
def test_lift(seed):
    """M[V, V] in S(F) and rank M ≤ n: a turn makes vectors on F + D of those of any factor of M."""
    random = Random(seed)
    n = random.choice([2, 3, 4])
    columns = [random.randrange(8) for _ in range(n)]
    Q = exact([[Fraction(random.randint(-3, 3) * (c >> v & 1)) for c in columns] for v in range(3)])
    turn = orthogonal(n, random)
    assert (turn @ turn.T == np.eye(n)).all()
    outside = exact([[Fraction(random.randint(-3, 3)) for _ in range(n)] for _ in range(2)])
    # A factor of M that knows nothing of the columns; its rows V have the Gram matrix of Q.
    N = np.vstack([Q @ turn, outside])
    lifted = N @ turn.T
    assert (lifted @ lifted.T == N @ N.T).all()
    assert (lifted[:3] == Q).all()


def chordal_orientations(p):
    return [
        columns
        for columns in combinations_with_replacement(range(3, 1 << p), p - 1)
        if union(columns) == (1 << p) - 1 and naive_rules.is_chordal_orientation(list(columns))
    ]


@pytest.mark.parametrize("p", [2, 3, 4])
def test_columns_of_a_chordal_graph(p):
    """Singular matrices with the zeros of the graph, made of its edges alone, are generated."""
    random = Random(p)
    every = chordal_orientations(p)
    for columns in random.sample(every, min(40, len(every))):
        M = [[Fraction(0)] * p for _ in range(p)]
        # x has M x = 0: each edge has a vector that is orthogonal to it.
        x = [random.choice([-2, -1, 1, 2]) for _ in range(p)]
        for i, j in sorted(pairs_inside(columns)):
            weight = random.randint(1, 5)
            for a, b, value in (
                (i, i, x[j] ** 2),
                (j, j, x[i] ** 2),
                (i, j, -x[i] * x[j]),
                (j, i, -x[i] * x[j]),
            ):
                M[a][b] += weight * value
        point = peeled(M, columns)
        assert is_point(point, columns)
        assert matrix_of(point) == M
        # With the column of any node, all of them: here one that is not singular.
        for v in range(p):
            M[v][v] += 1
            single = [Fraction(u == v) for u in range(p)]
            weight = 1 / inverse(M)[v][v]
            less = [[M[i][j] - weight * (i == j == v) for j in range(p)] for i in range(p)]
            point = [*peeled(less, columns), (weight, single)]
            assert is_point(point, [*columns, 1 << v])
            assert matrix_of(point) == M
            M[v][v] -= 1


def test_substitution():
    """Three columns on four nodes: a change of rows takes an entry out, and its inverse back."""
    random = Random(0)
    n_checked = 0
    for columns in random.sample([*combinations_with_replacement(range(1, 16), 3)], 150):
        for z, i in permutations(range(4), 2):
            having = [n for n, c in enumerate(columns) if c >> z & 1]
            if not having or not all(columns[n] >> i & 1 for n in having):
                continue
            n = random.choice(having)
            point = drawn([*columns, 0], random)[:3]
            r = point[n][1][i] / point[n][1][z]
            changed = [
                (d, [x - r * q[z] if v == i else x for v, x in enumerate(q)]) for d, q in point
            ]
            smaller = [*columns[:n], columns[n] ^ (1 << i), *columns[n + 1 :]]
            assert is_point(changed, smaller)
            T = exact(np.eye(4, dtype=int).tolist())
            T[i, z] = r
            assert (T @ exact(matrix_of(changed)) @ T.T == exact(matrix_of(point))).all()
            n_checked += 1
    assert n_checked > 100


@pytest.mark.parametrize("text", [*GROWING, LARGEST])
def test_what_equal_graphs_share(text):
    """Largest columns and vanishing minors tell no two graphs of a class apart."""
    members = equivalence_class(graph_of(text))
    found = set()
    for part in members.rotation_classes:
        columns = [next(t.iter_sets()) for t in part.territories]
        largest = {c for c in columns if not any(c != d and c & ~d == 0 for d in columns)}
        seated = naive_rules.seatings(columns)
        graph = DirectedGraph.from_columns(tuple(next(iter(seated))), members.names)
        found.add((frozenset(largest), vanishing_minors(graph), graph.dimension()))
    assert len(found) == 1
    assert len(members.rotation_classes) > 1

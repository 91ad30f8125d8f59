"""The block and scaling rules carried out in exact arithmetic on random matrices.

Shares nothing with the search: uses of a rule are taken from single steps (``naive_rules``) on
known graphs, and every number is a fraction.
"""

from fractions import Fraction
from random import Random

import naive_rules
import pytest


def solve(matrix, right):
    """Solution of a linear system, by elimination."""
    n = len(matrix)
    rows = [[*map(Fraction, matrix[i]), Fraction(right[i])] for i in range(n)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def quadratic(matrix, vector):
    """qᵀM⁻¹q."""
    return sum(a * b for a, b in zip(vector, solve(matrix, vector), strict=True))


def generated(columns, n, random):
    """A random matrix Σ qqᵀ with integers q on the columns, and the vectors."""
    vectors = [
        [random.choice([-3, -2, -1, 1, 2, 3]) if c >> v & 1 else 0 for v in range(n)]
        for c in columns
    ]
    matrix = [[Fraction(sum(q[i] * q[j] for q in vectors)) for j in range(n)] for i in range(n)]
    return matrix, vectors


def minus(matrix, vector, weight=Fraction(1)):
    n = len(matrix)
    return [[matrix[i][j] - weight * vector[i] * vector[j] for j in range(n)] for i in range(n)]


def peeled(matrix, columns):
    """What is left of a matrix after the columns of a chordal graph took what they can.

    Each column takes all that its own node has; the weights are checked to be positive.
    """
    left, matrix = list(columns), [row[:] for row in matrix]
    while left:
        candidates = [
            (c, u)
            for n, c in enumerate(left)
            for u in naive_rules.nodes_of(c & ~naive_rules.union(left[:n] + left[n + 1 :]))
            if len(left) == 1 or naive_rules.is_chordal_orientation(left[:n] + left[n + 1 :])
        ]
        # By accident a node may have nothing left; then another of the column takes.
        column, u = max(candidates, key=lambda found: matrix[found[1]][found[1]] > 0)
        left.remove(column)
        assert matrix[u][u] >= 0
        if matrix[u][u] == 0:
            continue
        assert all(column >> v & 1 for v in range(len(matrix)) if matrix[v][u])
        matrix = minus(matrix, [row[u] for row in matrix], 1 / matrix[u][u])
    return matrix


def inside(matrix, nodes):
    return [[matrix[i][j] for j in nodes] for i in nodes]


def test_the_block_rule_is_carried_out_exactly():
    """Columns 1 12 34 1234: what they generate is written on 3 12 34 1234, in fractions."""
    random = Random(0)
    pair, other, whole = 0b0011, 0b1100, 0b1111
    for _ in range(50):
        M, vectors = generated([0b0001, pair, other, whole], 4, random)
        q = vectors[3]
        a, b = [*q[:2], 0, 0], [0, 0, *q[2:]]
        # t² a aᵀ is as much as the upper block can lose; what crosses over stays the same.
        t2 = 1 / quadratic(inside(M, [0, 1]), a[:2])
        assert t2 >= 1
        rest = [
            [
                M[i][j] - t2 * a[i] * a[j] - b[i] * b[j] / t2 - a[i] * b[j] - b[i] * a[j]
                for j in range(4)
            ]
            for i in range(4)
        ]
        # The pair 12 takes the upper block whole, since it is singular.
        rest = peeled(rest, [pair])
        assert all(rest[i][j] == 0 for i in range(2) for j in range(4))
        # The pair 34 and the new column 3 take the lower one.
        rest = peeled(rest, [other])
        s = [(i, j) for i in range(4) for j in range(4) if rest[i][j]]
        assert s in ([], [(2, 2)], [(3, 3)])
        assert all(rest[i][i] >= 0 for i in range(4))


@pytest.mark.parametrize(
    ("orientation", "W", "X", "Y"),
    [
        # A path and its two ends: a cycle of pairs.
        ([0b011, 0b110], 0b101, 0b001, 0b100),
        # A path of four nodes, and three of them, of which one has no missing edge but one.
        ([0b0011, 0b0110, 0b1100], 0b1001, 0b0001, 0b1000),
        # Two triangles on an edge, and the two far ends with one of the others.
        ([0b0011, 0b0111, 0b1110], 0b1011, 0b0001, 0b1000),
    ],
)
def test_the_scaling_rule_is_carried_out_exactly(orientation, W, X, Y):
    """A root is found between two fractions, and no entry appears where there is no edge."""
    random = Random(1)
    assert naive_rules.is_chordal_orientation(orientation)
    n = naive_rules.union(orientation).bit_length()
    known = naive_rules.pairs_inside(orientation)
    for node in range(n):
        for _ in range(10):
            M, vectors = generated([*orientation, 1 << node, W], n, random)

            def scaled(t, q=vectors[-1]):
                power = [t if X >> v & 1 else 1 / t if Y >> v & 1 else 1 for v in range(n)]
                return [Fraction(x) * f for x, f in zip(q, power, strict=True)]

            for t in (Fraction(1), Fraction(3, 2), Fraction(7)):
                rest = minus(M, scaled(t))
                assert all(
                    rest[i][j] == 0 for i in range(n) for j in range(i) if (j, i) not in known
                )
            # Positive semidefinite at first, not any more in the end: singular in between.
            t = Fraction(1)
            assert quadratic(M, scaled(t)) <= 1
            while quadratic(M, scaled(t)) <= 1:
                t *= 2
            assert t < 10**6


def test_single_steps_make_the_moves_of_the_rules():
    """The uses of the rules that are carried out above are among the single steps."""
    assert (0b0011, 0b0100, 0b1100, 0b1111) in set(
        naive_rules.rule_steps((0b0001, 0b0011, 0b1100, 0b1111))
    )
    assert (0b0001, 0b0111, 0b1011, 0b1101) in set(
        naive_rules.rule_steps((0b0011, 0b0111, 0b1011, 0b1101))
    )

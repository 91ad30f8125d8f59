"""Definition 6, Proposition 3 and the worked examples of the paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_rotations import RotationKind, SupportRotation, givens_rotation, zero_by_rotation

from cyclearn import DirectedGraph, InputError, equivalent
from strategies import graphs


@given(st.integers(2, 5), st.data())
def test_givens_rotation_is_a_rotation_of_one_plane(n, data):
    j, k = data.draw(st.permutations(range(n)))[:2]
    angle = data.draw(st.floats(-7, 7))
    G = givens_rotation(n, j, k, angle)
    np.testing.assert_allclose(G @ G.T, np.eye(n), atol=1e-12)
    assert np.linalg.det(G) == pytest.approx(1.0)
    v = np.arange(1.0, n + 1)
    rotated = v @ G
    assert rotated[j] == pytest.approx(np.cos(angle) * v[j] + np.sin(angle) * v[k])
    assert rotated[k] == pytest.approx(-np.sin(angle) * v[j] + np.cos(angle) * v[k])
    others = [i for i in range(n) if i not in (j, k)]
    np.testing.assert_allclose(rotated[others], v[others])


@given(graphs(min_nodes=2), st.data())
def test_a_support_rotation_is_what_a_generic_rotation_does(g, data):
    p = g.n_nodes
    j, k = data.draw(st.permutations(range(p)))[:2]
    i = data.draw(st.integers(0, p - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    support = np.array(g.support)
    Q = rng.uniform(1, 2, size=(p, p)) * rng.choice([-1, 1], size=(p, p)) * support
    rotation = SupportRotation(i, j, k)
    rotated = rotation.apply(support)
    if rotation.kind(support) is RotationKind.NO_EFFECT:
        np.testing.assert_array_equal(rotated, support)
    else:
        numeric = zero_by_rotation(Q, i, j, k)
        np.testing.assert_allclose(numeric @ numeric.T, Q @ Q.T, atol=1e-9)
        np.testing.assert_array_equal(np.abs(numeric) > 1e-9, rotated)
    np.testing.assert_array_equal(support, g.support)


def columns(*sets, p=4):
    support = np.zeros((p, len(sets)), dtype=bool)
    for j, rows in enumerate(sets):
        support[list(rows), j] = True
    return support


@pytest.mark.parametrize(
    ("first", "second", "kind", "first_after", "second_after"),
    [
        ({1, 2}, {0, 1}, RotationKind.NO_EFFECT, {1, 2}, {0, 1}),
        ({0, 1}, {0, 1}, RotationKind.REDUCTION, {1}, {0, 1}),
        ({0, 1}, {0, 1, 2}, RotationKind.REVERSIBLE_ACUTE, {1, 2}, {0, 1, 2}),
        ({0, 1, 2}, {0, 1}, RotationKind.REVERSIBLE_ACUTE, {1, 2}, {0, 1, 2}),
        ({0, 1, 3}, {0, 2}, RotationKind.IRREVERSIBLE_ACUTE, {1, 2, 3}, {0, 1, 2, 3}),
        ({0, 1}, {2, 3}, RotationKind.COLUMN_SWAP, {2, 3}, {0, 1}),
        ({0, 1}, {1}, RotationKind.COLUMN_SWAP, {1}, {0, 1}),
    ],
)
def test_the_five_outcomes(first, second, kind, first_after, second_after):
    support = columns(first, second)
    rotation = SupportRotation(0, 0, 1)
    assert rotation.kind(support) is kind
    np.testing.assert_array_equal(rotation.apply(support), columns(first_after, second_after))


@given(graphs(min_nodes=2))
def test_a_reversible_acute_rotation_is_reversible(g):
    support = np.array(g.support)
    reversible = [
        SupportRotation(i, j, k)
        for i in range(g.n_nodes)
        for j in range(g.n_nodes)
        for k in range(g.n_nodes)
        if j != k
        and SupportRotation(i, j, k).kind(support) is RotationKind.REVERSIBLE_ACUTE
        and not np.any(support[:, j] & ~support[:, k])
    ]
    for rotation in reversible:
        missing = int(np.flatnonzero(support[:, rotation.j] != support[:, rotation.k])[0])
        back = SupportRotation(missing, rotation.j, rotation.k)
        np.testing.assert_array_equal(back.apply(rotation.apply(support)), support)


def matrix(*rows):
    return np.array([[entry == "x" for entry in row] for row in rows])


XI_1 = matrix("xxx", "0x0", "0xx")
XI_2 = matrix("xx0", "xx0", "0xx")
XI_3 = matrix("x0x", "xx0", "0xx")
XI_4 = matrix("xxx", "xx0", "0xx")
CHAIN, BACK, COLLIDER = (
    matrix("xx0", "0xx", "00x"),
    matrix("x00", "xx0", "0xx"),
    matrix("xx0", "0x0", "0xx"),
)


@pytest.mark.parametrize(
    ("start", "rotations", "supports"),
    [
        # Example 1 (a), both ways, and (c); rows and columns count from one in the paper.
        (XI_1, [(1, 3, 1), (3, 1, 2)], [matrix("xx0", "0x0", "xxx"), XI_2]),
        (XI_2, [(2, 1, 2), (3, 1, 3)], [matrix("xx0", "0x0", "xxx"), XI_1]),
        (XI_4, [(2, 1, 2), (3, 1, 3)], [matrix("xxx", "0x0", "xxx"), XI_1]),
        # Example 2, both ways.
        (CHAIN, [(1, 2, 1), (2, 3, 2)], [matrix("x00", "xxx", "00x"), BACK]),
        (BACK, [(3, 2, 3), (2, 1, 2)], [matrix("x00", "xxx", "00x"), CHAIN]),
    ],
)
def test_worked_examples(start, rotations, supports):
    current = start
    for (i, j, k), after in zip(rotations, supports, strict=True):
        rotation = SupportRotation(i - 1, j - 1, k - 1)
        assert rotation.kind(current) is not RotationKind.IRREVERSIBLE_ACUTE
        current = rotation.apply(current)
        np.testing.assert_array_equal(current, after)


def graph_of(support):
    adjacency = support.copy()
    np.fill_diagonal(adjacency, False)
    return DirectedGraph(adjacency)


def test_verdicts_of_the_examples():
    g1, g2, g3, g4 = map(graph_of, (XI_1, XI_2, XI_3, XI_4))
    assert equivalent(g1, g2)
    assert not equivalent(g1, g3)
    assert equivalent(g1, g4)
    assert g4.is_reducible()
    assert equivalent(graph_of(CHAIN), graph_of(BACK))
    assert not equivalent(graph_of(CHAIN), graph_of(COLLIDER))


@pytest.mark.parametrize("rotation", [(0, 1, 1), (3, 0, 1), (0, 0, 3), (-1, 0, 1)])
def test_rotations_outside_the_support_are_refused(rotation):
    with pytest.raises(InputError):
        SupportRotation(*rotation).apply(XI_1)


def test_a_plane_needs_two_columns():
    with pytest.raises(InputError, match="span no plane"):
        givens_rotation(3, 1, 1, 0.5)

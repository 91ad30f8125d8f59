"""Kernels that say whether feedback dies out, against eigenvalues and brute force."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from cyclearn._kernels.stable_feedback import (
    can_die_out,
    dies_out,
    dies_out_in_all,
    least_assignment,
)
from cyclearn.models.components import ComponentColumns

pytestmark = pytest.mark.uncompiled(only=True)


def _component(B: np.ndarray) -> tuple[np.ndarray, ...]:
    columns = ComponentColumns.of(B != 0, range(len(B)))
    b = np.ascontiguousarray(B[columns.parents, columns.children])
    return columns.nodes, columns.offsets, columns.parents, b


def _radius(B: np.ndarray) -> float:
    return float(np.abs(np.linalg.eigvals(B)).max())


def _drawn(rng: np.random.Generator, k: int) -> np.ndarray:
    B = rng.normal(size=(k, k)) * (rng.random((k, k)) < 0.6) * rng.choice([0.5, 1, 2])
    np.fill_diagonal(B, 0)
    return B


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_radii_on_either_side_of_one(k):
    rng = np.random.default_rng(k)
    both = set()
    for _ in range(100):
        B = _drawn(rng, k)
        both.add(dies_out(*_component(B)))
        assert dies_out(*_component(B)) == (_radius(B) < 1)
    assert both == {True, False}


def test_feedback_has_to_die_out_in_every_table():
    # The loop a ⇄ b is damped by the loop b ⇄ c, and grows where c is held.
    B = np.array([[0, 1.2, 0], [1.0, 0, -1.5], [0, 0.5, 0]])
    assert _radius(B) < 1 < _radius(B * [1, 1, 0])
    free = np.zeros((1, 3), np.uint8)
    assert dies_out_in_all(free, *_component(B))
    held = np.array([[0, 0, 0], [0, 0, 1]], np.uint8)
    assert not dies_out_in_all(held, *_component(B))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_columns_at_the_nodes_where_their_product_is_largest(k):
    rng = np.random.default_rng(10 + k)
    turned = 0
    for _ in range(100):
        B = _drawn(rng, k)
        Q = np.eye(k) - B
        orders = [order for order in permutations(range(k)) if (Q[range(k), order] != 0).all()]
        best = max(orders, key=lambda order: np.abs(np.prod(Q[range(k), order])))
        moved = np.eye(k) - Q[:, best] / Q[range(k), best]
        expected = _radius(B) < 1 or _radius(moved) < 1
        assert can_die_out(*_component(B)) == expected
        turned += expected and _radius(B) >= 1
    assert turned


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_the_assignment_is_that_of_scipy(k):
    cost = np.random.default_rng(k).normal(size=(k, k))
    rows, columns = linear_sum_assignment(cost)
    found = least_assignment(cost)
    np.testing.assert_array_equal(found[columns], rows)

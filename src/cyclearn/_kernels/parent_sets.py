"""Parents of one node among permitted candidates: grown and shrunk on an updated factorisation.

Let S be the correlations, with the Cholesky factor of S on the parents. Then ``rows[a, c]`` is the
covariance of variable c with the a-th parent after the parents before it are regressed out of the
parent and the remainder is scaled to variance one. The residual variance of every variable given
the parents, ``left[c]``, and its residual covariance with the node, ``joint[c]``, follow by
subtraction. So the gain of every candidate is known at once, a new parent needs one more row, and
no fit is ever repeated.

Shares of variance are compared instead of logarithms: a parent pays if the share of the residual
variance that it explains is above 1 − exp(−2λ).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_scores import Bytes, Floats, Ints
from cyclearn._kernels.typed_numbers import ROUNDING

# A variable of which a smaller share of the variance is left is collinear with the parents: what
# remains is only rounding error.
COLLINEAR = 1e-10


class Factor(NamedTuple):
    """The parents of one node and what they explain of all variables.

    ``members[:size[0]]`` are the parents; ``scales`` are one over the diagonal of the Cholesky
    factor, and ``solved`` is a work array.
    """

    rows: Floats
    left: Floats
    joint: Floats
    members: Ints
    size: Ints
    scales: Floats
    solved: Floats


@kernel
def new_factor(p: int, max_parents: int) -> Factor:
    """Work arrays for the parents of any node."""
    return Factor(
        np.empty((max_parents, p)),
        np.empty(p),
        np.empty(p),
        np.empty(max_parents, np.int64),
        np.zeros(1, np.int64),
        np.empty(max_parents),
        np.empty(max_parents),
    )


@lean_kernel
def empty_factor(S: Floats, f: Factor, node: int) -> None:
    """Initialise the factor of a node without parents."""
    f.size[0] = 0
    for c in range(S.shape[0]):
        f.left[c] = 1.0
        f.joint[c] = S[node, c]


@lean_kernel
def _explain(f: Factor, row: Floats, scale: float, node: int, sign: float) -> None:
    """Scale a row, and subtract or add what it explains."""
    own = sign * scale * row[node]
    for c in range(row.size):
        row[c] *= scale
        f.left[c] += sign * row[c] * row[c]
        f.joint[c] += own * row[c]


@lean_kernel
def append_parent(S: Floats, f: Factor, node: int, parent: int) -> None:
    """Append a parent; its residual variance must not be zero."""
    p = S.shape[0]
    k = f.size[0]
    row = f.rows[k]
    for c in range(p):
        row[c] = S[parent, c]
    for a in range(k):
        above = f.rows[a]
        factor = above[parent]
        for c in range(p):
            row[c] -= factor * above[c]
    f.scales[k] = 1.0 / np.sqrt(f.left[parent])
    _explain(f, row, f.scales[k], node, -1.0)
    # A parent has a residual variance of exactly zero, so it is not a candidate.
    f.left[parent] = 0.0
    f.members[k] = parent
    f.size[0] = k + 1


@lean_kernel
def least_share(penalty: float) -> float:
    """The least share of the residual variance that a parent must explain to pay."""
    return float(1.0 - np.exp(-2.0 * (penalty + ROUNDING)))


@lean_kernel
def _best_candidate(
    f: Factor, node: int, may: Bytes, position: Ints, limit: int, share: float
) -> int:
    """The candidate that explains most, more than the share of the residual variance; or −1."""
    best = -1
    residual = f.left[node]
    least = share * residual
    for c in range(position.size):
        square = f.joint[c] * f.joint[c]
        if square > least * f.left[c] and f.left[c] > COLLINEAR:
            explained = square / f.left[c]
            if position[c] < limit and may[c] and explained < residual - COLLINEAR:
                best = c
                least = explained + ROUNDING * residual
    return best


@lean_kernel
def _weakest_parent(f: Factor, node: int, required: Bytes, share: float) -> int:
    """The position of the parent that explains least, less than a share of the residual; or −1.

    Without parent a the residual variance grows by βₐ² / (S⁻¹)ₐₐ; both come from a column of L⁻¹.
    """
    k = f.size[0]
    x = f.solved
    weakest = -1
    most = share * f.left[node]
    for a in range(k):
        if required[f.members[a]]:
            continue
        coefficient = 0.0
        diagonal = 0.0
        for b in range(a, k):
            total = 1.0 if b == a else 0.0
            for c in range(a, b):
                total -= f.rows[c, f.members[b]] * x[c]
            x[b] = total * f.scales[b]
            coefficient += x[b] * f.rows[b, node]
            diagonal += x[b] * x[b]
        explained = coefficient * coefficient / diagonal
        if explained < most:
            weakest = a
            most = explained - ROUNDING * f.left[node]
    return weakest


@lean_kernel
def drop_parent(f: Factor, node: int, place: int) -> None:
    """Remove a parent: rotations move what only it explains into the last row."""
    k = f.size[0] - 1
    for b in range(place, k):
        parent = f.members[b + 1]
        last, row = f.rows[b], f.rows[b + 1]
        f.scales[b] = 1.0 / np.sqrt(last[parent] * last[parent] + row[parent] * row[parent])
        sine = last[parent] * f.scales[b]
        cosine = row[parent] * f.scales[b]
        for c in range(row.size):
            both = sine * last[c] + cosine * row[c]
            row[c] = cosine * last[c] - sine * row[c]
            last[c] = both
        f.members[b] = parent
    f.size[0] = k
    _explain(f, f.rows[k], 1.0, node, 1.0)
    for a in range(k):
        f.left[f.members[a]] = 0.0


@lean_kernel
def factor_value(f: Factor, node: int, penalty: float) -> float:
    """The value of a node with the parents in f: ½ log residual variance + λ·parents."""
    return float(0.5 * np.log(f.left[node]) + penalty * f.size[0])


@lean_kernel
def grow_and_shrink(
    S: Floats,
    f: Factor,
    node: int,
    may: Bytes,
    required: Bytes,
    position: Ints,
    limit: int,
    penalty: float,
) -> tuple[float, int]:
    """Grow and shrink the parents in f until no addition or removal of one improves the set.

    Candidates are the variables with a position below the limit that the row ``may`` permits. The
    best one is added as long as it pays; then the weakest is removed as long as that pays; and so
    on until nothing changes. Returns the value of the node, and the number of parent sets tried.
    """
    grow_share = least_share(penalty)
    shrink_share = np.exp(2.0 * (penalty - ROUNDING)) - 1.0
    n_fitted = 1
    while True:
        n_before = n_fitted
        while f.size[0] < f.members.size:
            c = _best_candidate(f, node, may, position, limit, grow_share)
            if c < 0:
                break
            append_parent(S, f, node, c)
            n_fitted += 1
        # The given parents may need shrinking, but not those that were shrunk and did not grow.
        if n_fitted == n_before > 1:
            break
        n_before = n_fitted
        while f.size[0] > 0:
            a = _weakest_parent(f, node, required, shrink_share)
            if a < 0:
                break
            drop_parent(f, node, a)
            n_fitted += 1
        if n_fitted == n_before:
            break
    return factor_value(f, node, penalty), n_fitted

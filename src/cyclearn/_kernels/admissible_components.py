"""Whether a sampled graph may contain a component: some best-fit parameter set must be stable.

The verdict on a component is reached once and stored in a table like that of the values.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_optima import (
    fit_component_from_starts,
    inverted_gain,
    select_optima,
)
from cyclearn._kernels.component_scores import (
    Bytes,
    Floats,
    Ints,
    Keys,
    Scored,
    column_key,
    parents_of,
)
from cyclearn._kernels.shared_weights import (
    Pooled,
    fit_shared_component,
    of_group,
    regressions,
)
from cyclearn._kernels.stable_feedback import dies_out_in_all

_PROBES = 8
_MAX_ITERATIONS = cast(int, np.int64(1000))


class Admission(NamedTuple):
    """What a verdict depends on: correlations, random starts, tables of verdicts, and the rules.

    ``S``, ``shares``, ``targeted`` and ``pooled`` have the meaning that they have in
    :class:`Scored`, but may differ from the ones that the values are computed from. ``normals`` are
    the random numbers that ``models.component_solutions`` starts from, in the same order. ``rules``
    are the longest cycle permitted and whether fits must be stable.
    """

    S: Floats
    shares: Floats
    targeted: Bytes
    pooled: Pooled
    normals: Floats
    keys: Keys
    verdicts: Bytes
    rules: Ints


@kernel
def has_longer_cycle(A: Bytes, nodes: Ints, max_length: int) -> bool:
    """Whether some simple cycle among ``nodes`` has more than ``max_length`` nodes.

    A depth-first search looks for each cycle from its first node in the given order.
    """
    k = nodes.size
    if k <= max_length:
        return False
    on_path = np.zeros(k, np.uint8)
    path = np.empty(k, np.int64)
    following = np.empty(k, np.int64)
    for root in range(k - max_length):
        depth = 0
        path[0] = root
        following[0] = root
        on_path[root] = 1
        while depth >= 0:
            v = path[depth]
            w = following[depth]
            if w == k:
                on_path[v] = 0
                depth -= 1
                continue
            following[depth] += 1
            if not A[nodes[v], nodes[w]]:
                continue
            if w == root and depth + 1 > max_length:
                return True
            if w > root and not on_path[w]:
                depth += 1
                path[depth] = w
                following[depth] = root
                on_path[w] = 1
    return False


@kernel
def _shared_runs(
    admission: Admission, group: int, nodes: Ints, offsets: Ints, parents: Ints, starts: Floats
) -> tuple[Floats, Floats, Ints]:
    """Values, coefficients and statuses of fits of weights that the tables of a group share.

    The fits start from regressions, half and whole, from every start, and from the best fit with
    inverted gain.
    """
    n = starts.shape[0] + 3
    values, statuses = np.empty(n), np.empty(n, np.int64)
    runs = np.empty((n, parents.size))
    pooled = of_group(admission.pooled, group)
    first, end = pooled.tables[group], pooled.tables[group + 1]
    regressed = regressions(pooled, nodes, offsets, parents)
    start = np.empty(parents.size)
    best = 0
    for s in range(n):
        for e in range(parents.size):
            if s < 2:
                start[e] = 0.5 * (s + 1) * regressed[e]
            elif s < n - 1:
                start[e] = starts[s - 2, e]
        if s == n - 1:
            start = inverted_gain(nodes, parents, runs[best])
        fitted = fit_shared_component(
            pooled,
            admission.shares[first:end],
            admission.targeted[first:end],
            nodes,
            offsets,
            parents,
            start,
            1e-12,
            _MAX_ITERATIONS,
        )
        values[s], statuses[s] = fitted[0], fitted[4]
        for e in range(parents.size):
            runs[s, e] = fitted[1][e]
        if values[s] < values[best]:
            best = s
    return values, runs, statuses


@kernel
def _has_stable_fit(g: Scored, admission: Admission, nodes: Ints) -> bool:
    """Whether every group has a stable parameter set among the best fits from several starts.

    A stable fit from one start decides nothing: another start may lead to a better fit that is
    unstable. Tables of a group that share their weights have one fit.
    """
    k = nodes.size
    offsets, parents = parents_of(g, nodes)
    e = parents.size
    n_starts = min(max(4, 2 * k - 4), 20)
    starts = np.zeros((n_starts, e))
    for s in range(1, n_starts):
        for c in range(e):
            starts[s, c] = 3 * admission.normals[(s - 1) * e + c]
    is_shared = admission.pooled.matrices.shape[0] > 0
    is_special = False
    for v in nodes:
        is_special = is_special or (is_shared and admission.pooled.is_special[v] > 0)
    tables = admission.pooled.tables
    for t in range(tables.size - 1 if is_shared else admission.S.shape[0]):
        targeted = admission.targeted
        if is_shared:
            targeted = targeted[tables[t] : tables[t + 1]]
        if is_special:
            values, runs, statuses = _shared_runs(admission, t, nodes, offsets, parents, starts)
        else:
            S = admission.pooled.matrices[0] if is_shared else admission.S[t]
            values, runs, _, _, statuses = fit_component_from_starts(
                S, nodes, offsets, parents, starts, 1e-9, _MAX_ITERATIONS
            )
        _, distinct = select_optima(values, runs, statuses, 1e-8)
        some = False
        for s in distinct:
            some = some or dies_out_in_all(targeted, nodes, offsets, parents, runs[s])
        if not some:
            return False
    return True


@lean_kernel
def is_admissible(g: Scored, admission: Admission, nodes: Ints) -> bool:
    """The verdict on a component of two or more nodes."""
    key = np.uint64(0)
    for v in nodes:
        key ^= column_key(g, v)
    mask = admission.keys.size - 1
    at = np.int64(key & np.uint64(mask))
    place = at
    for probe in range(_PROBES):
        here = (at + probe) & mask
        if admission.keys[here] == key:
            return bool(admission.verdicts[here])
        if admission.keys[here] == 0:
            place = here
            break
    verdict = not has_longer_cycle(g.A, nodes, admission.rules[0])
    if verdict and admission.rules[1]:
        verdict = _has_stable_fit(g, admission, nodes)
    admission.keys[place] = key
    admission.verdicts[place] = verdict
    return verdict

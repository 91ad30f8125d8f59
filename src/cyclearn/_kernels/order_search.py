"""Search over orders of the variables for the acyclic graph with the best score.

Every node has parents among the nodes before it, found by growing and shrinking its previous set.
A move takes one node out of the order and inserts it where the score is best. For every other node
only one thing matters, whether the moved node comes before or after it: the nodes that change are
those that lose it as a parent and those for which it is worth adding as one. The moved node passes
the others one by one, and changes only when it loses a parent or can gain one that pays. So a move
costs a few small fits; the rest is looked up in ``pays``.

When no move improves the graph, a few nodes near each other exchange their positions, and the moves
around them are tried again. The result is kept unless it is worse.
"""

from __future__ import annotations

from typing import NamedTuple

from cyclearn._kernels.compilation import lean_kernel
from cyclearn._kernels.component_scores import Bytes, Floats, Ints, Keys
from cyclearn._kernels.parent_sets import (
    COLLINEAR,
    Factor,
    append_parent,
    drop_parent,
    empty_factor,
    factor_value,
    grow_and_shrink,
)
from cyclearn._kernels.proposals import uniform
from cyclearn._kernels.typed_numbers import ROUNDING

# Places in ``progress``: nodes placed, parent sets fitted, exchanges made, whether an exchange is
# not settled yet, the node whose move is to be tried next.
PLACED, FITTED, EXCHANGES, IN_EXCHANGE, NEXT = range(5)


class Ordered(NamedTuple):
    """An order of the variables and the best parents found for it.

    ``may[v, u]`` and ``required[v, u]`` concern the edge u → v. ``pays[v, u]`` says whether this
    edge, added to the parents of v, would lower the score: whether the squared partial correlation
    of v and u given these parents is above ``share``. ``is_open`` marks nodes whose move has not
    been tried since something near them changed. ``saved_*`` are the order and, for the nodes in
    ``is_saved``, the rows from before the last exchange; ``best[0]`` is the best score. A walk
    along the order ends when the score is worse by ``cutoff``. ``mark``, ``kept``, ``factor`` and
    ``own`` are work arrays.
    """

    S: Floats
    may: Bytes
    required: Bytes
    penalty: float
    share: float
    cutoff: float
    order: Ints
    position: Ints
    n_parents: Ints
    parents: Ints
    values: Floats
    pays: Bytes
    is_open: Bytes
    is_saved: Bytes
    saved_order: Ints
    saved_n_parents: Ints
    saved_parents: Ints
    saved_values: Floats
    saved_pays: Bytes
    best: Floats
    progress: Ints
    random: Keys
    mark: Bytes
    kept: Ints
    factor: Factor
    own: Factor


@lean_kernel
def _load(o: Ordered, f: Factor, v: int, limit: int) -> None:
    """Factorise v on those of its parents that come before the limit."""
    empty_factor(o.S, f, v)
    for a in range(o.n_parents[v]):
        if o.position[o.parents[v, a]] < limit:
            append_parent(o.S, f, v, o.parents[v, a])


@lean_kernel
def _grow(o: Ordered, f: Factor, v: int, limit: int) -> float:
    """Grow and shrink the parents in the factor, among the nodes before the limit."""
    value, n_fitted = grow_and_shrink(
        o.S, f, v, o.may[v], o.required[v], o.position, limit, o.penalty
    )
    o.progress[FITTED] += n_fitted
    return float(value)


@lean_kernel
def _has_parent(n_parents: Ints, parents: Ints, v: int, u: int) -> bool:
    # Called for every node that a walk passes: it would take longer to pass all of ``Ordered``.
    found = False
    for a in range(n_parents[v]):
        found = found or parents[v, a] == u
    return found


@lean_kernel
def _open_around(o: Ordered, v: int) -> None:
    """Mark a node, its parents and its children."""
    o.is_open[v] = 1
    for a in range(o.n_parents[v]):
        o.is_open[o.parents[v, a]] = 1
    for u in range(o.order.size):
        if _has_parent(o.n_parents, o.parents, u, v):
            o.is_open[u] = 1


@lean_kernel
def _store(o: Ordered, v: int, value: float) -> None:
    """Give v the parents in the factor."""
    p = o.order.size
    f = o.factor
    if not o.is_saved[v]:
        o.is_saved[v] = 1
        o.saved_n_parents[v] = o.n_parents[v]
        o.saved_values[v] = o.values[v]
        for a in range(o.n_parents[v]):
            o.saved_parents[v, a] = o.parents[v, a]
        for u in range(p):
            o.saved_pays[v, u] = o.pays[v, u]
    _open_around(o, v)
    o.values[v] = value
    o.n_parents[v] = f.size[0]
    for a in range(f.size[0]):
        o.parents[v, a] = f.members[a]
    least = o.share * f.left[v]
    for u in range(p):
        is_candidate = o.may[v, u] == 1 and f.left[u] > COLLINEAR
        o.pays[v, u] = is_candidate and f.joint[u] * f.joint[u] > least * f.left[u]
    _open_around(o, v)


@lean_kernel
def _refit(o: Ordered, v: int) -> None:
    """Find the parents of v that its position in the order permits, starting from those it has."""
    f = o.factor
    _load(o, f, v, o.position[v])
    value = _grow(o, f, v, o.position[v])
    is_same = f.size[0] == o.n_parents[v]
    for a in range(f.size[0]):
        is_same = is_same and f.members[a] == o.parents[v, a]
    if not is_same:
        _store(o, v, value)


@lean_kernel
def _shift(o: Ordered, v: int, to: int) -> None:
    """Move v to another position, and find new parents for the nodes that it passes."""
    at = o.position[v]
    step = 1 if to > at else -1
    for i in range(at, to, step):
        o.order[i] = o.order[i + step]
        o.position[o.order[i]] = i
    o.order[to] = v
    o.position[v] = to
    for i in range(at, to, step):
        u = o.order[i]
        if (step > 0 and _has_parent(o.n_parents, o.parents, u, v)) or (step < 0 and o.pays[u, v]):
            _refit(o, u)


@lean_kernel
def _change_if_passed(o: Ordered, v: int, u: int) -> float:
    """How the value of u changes when v passes it and becomes or ceases to be a candidate."""
    at = o.position[v]
    limit = o.position[u]
    o.position[v] = -1 if limit < at else o.order.size
    _load(o, o.factor, u, limit)
    change = _grow(o, o.factor, u, limit) - o.values[u]
    o.position[v] = at
    return float(change)


@lean_kernel
def _best_place(o: Ordered, v: int) -> int:
    """The position where v lowers the score most, or its own; leaves its parents in ``kept``.

    A walk to either side ends when the score has become much worse.
    """
    f = o.own
    at = o.position[v]
    best = at
    best_change = 0.0
    for step in (-1, 1):
        _load(o, f, v, at)
        own = o.values[v]
        others = 0.0
        i = at + step
        while 0 <= i < o.progress[PLACED]:
            u = o.order[i]
            if o.required[v, u] or o.required[u, v]:
                break
            if step < 0:
                is_concerned = o.pays[u, v] == 1
            else:
                is_concerned = _has_parent(o.n_parents, o.parents, u, v)
            if is_concerned:
                others += _change_if_passed(o, v, u)
            if step < 0:
                for a in range(f.size[0]):
                    if f.members[a] == u:
                        drop_parent(f, v, a)
                        own = _grow(o, f, v, i)
                        break
            elif (
                o.may[v, u]
                and f.left[u] > COLLINEAR
                and f.joint[u] * f.joint[u] > o.share * f.left[u] * f.left[v]
            ):
                own = _grow(o, f, v, i + 1)
            change = others + own - o.values[v]
            if change < best_change - ROUNDING:
                best_change = change
                best = i
                o.kept[0] = f.size[0]
                for a in range(f.size[0]):
                    o.kept[a + 1] = f.members[a]
            elif change > o.cutoff:
                break
            i += step
    return int(best)


@lean_kernel
def _reinsert(o: Ordered, v: int) -> None:
    """Move v to the position with the best score."""
    to = _best_place(o, v)
    if to != o.position[v]:
        _shift(o, v, to)
        empty_factor(o.S, o.factor, v)
        for a in range(o.kept[0]):
            append_parent(o.S, o.factor, v, o.kept[a + 1])
        _store(o, v, factor_value(o.factor, v, o.penalty))


@lean_kernel
def _descend(o: Ordered, max_fitted: int) -> bool:
    """Try the moves of all open nodes in turn until none is open; false if stopped early."""
    p = o.order.size
    n_closed = 0
    while n_closed < p:
        v = o.progress[NEXT]
        if o.is_open[v]:
            if o.progress[FITTED] >= max_fitted:
                return False
            o.is_open[v] = 0
            _reinsert(o, v)
            n_closed = 0
        else:
            n_closed += 1
        o.progress[NEXT] = (v + 1) % p
    return True


@lean_kernel
def _below(o: Ordered, n: int) -> int:
    """A random integer from 0 to n − 1."""
    return int(uniform(o.random) * n)


@lean_kernel
def _exchange(o: Ordered, n_near: int) -> None:
    """Exchange the positions of a random node and some nodes near it.

    Nodes near it are parents, children and the other parents of children.
    """
    p = o.order.size
    for v in range(p):
        o.is_saved[v] = 0
        o.saved_order[v] = o.order[v]
    centre = _below(o, p)
    near = o.kept
    n = 0
    mark = o.mark
    for v in range(p):
        mark[v] = 0
    mark[centre] = 1
    for v in range(p):
        is_child = _has_parent(o.n_parents, o.parents, v, centre)
        if is_child or v == centre:
            mark[v] = 1
            for a in range(o.n_parents[v]):
                mark[o.parents[v, a]] = 1
    for v in range(p):
        if mark[v] and v != centre:
            near[n] = v
            n += 1
    if n == 0:
        near[0] = _below(o, p)
        n = 1
    n_chosen = min(n, n_near)
    for a in range(n_chosen):
        b = a + _below(o, n - a)
        near[a], near[b] = near[b], near[a]
    near[n_chosen] = centre
    for a in range(n_chosen + 1):
        v = near[a]
        to = o.position[near[_below(o, n_chosen + 1)]]
        # As far as required edges permit.
        step = 1 if to > o.position[v] else -1
        i = o.position[v]
        while i != to:
            u = o.order[i + step]
            if o.required[v, u] or o.required[u, v]:
                break
            i += step
        if i != o.position[v]:
            _shift(o, v, i)
            _refit(o, v)
            o.is_open[v] = 1


@lean_kernel
def settle(o: Ordered) -> None:
    """Keep the result of the last exchange, unless it is worse than before."""
    p = o.order.size
    total = 0.0
    for v in range(p):
        total += o.values[v]
    o.progress[IN_EXCHANGE] = 0
    if total <= o.best[0] + ROUNDING:
        o.best[0] = min(total, o.best[0])
        return
    for i in range(p):
        v = o.saved_order[i]
        o.order[i] = v
        o.position[v] = i
        o.is_open[v] = 0
        if o.is_saved[v]:
            o.values[v] = o.saved_values[v]
            o.n_parents[v] = o.saved_n_parents[v]
            for a in range(o.n_parents[v]):
                o.parents[v, a] = o.saved_parents[v, a]
            for u in range(p):
                o.pays[v, u] = o.saved_pays[v, u]


@lean_kernel
def search_orders(o: Ordered, max_fitted: int, max_exchanges: int, n_near: int) -> bool:
    """Continue until a limit on parent sets or exchanges is reached; true if it is the latter.

    The whole state is in o, so a later call continues where this one ended. Nodes are placed one by
    one, each where the score is best; then all are moved until no move improves the score; then
    positions are exchanged. After the nodes are placed, o has a graph; after ``settle`` it is the
    best one.
    """
    p = o.order.size
    while o.progress[PLACED] < p:
        if o.progress[FITTED] >= max_fitted:
            return False
        v = o.order[o.progress[PLACED]]
        o.progress[PLACED] += 1
        empty_factor(o.S, o.factor, v)
        for u in range(p):
            if o.required[v, u] and o.factor.left[u] > COLLINEAR:
                append_parent(o.S, o.factor, v, u)
        _store(o, v, _grow(o, o.factor, v, o.position[v]))
        _reinsert(o, v)
        o.is_open[v] = 1
    while True:
        if not _descend(o, max_fitted):
            return False
        settle(o)
        if o.progress[EXCHANGES] >= max_exchanges:
            return True
        o.progress[EXCHANGES] += 1
        o.progress[IN_EXCHANGE] = 1
        _exchange(o, n_near)

"""A search for feedback groups that are worth being parts, apart from the steps of chains.

A chain that comes to a group by small steps may stay for tens of thousands before it comes out
again. So groups are looked for beforehand, by what they promise when the rest of the graph is
summed over: there nothing around a group stands in its way. What is found does not hang on where
chains are, and so may be used at any time.

Two ways complete each other. *Near* graphs that were drawn, one edge added, deleted or turned
makes most groups that go with what is probable. *Climbing* from a bare cycle or a group that was
found, by the rule of Metropolis, finds those that stand alone. It goes over groups that are not
admissible as well: their equations, solved for other nodes, may be those of one that is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cyclearn._kernels.admissible_components import Admission, is_admissible
from cyclearn._kernels.assembled_graphs import draw_graphs
from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_scores import (
    Ints,
    Keys,
    Scored,
    component_value,
    parents_of,
    place_of,
    remember,
    saturated_value,
)
from cyclearn._kernels.graph_chain import ChainRules
from cyclearn._kernels.layered_parts import (
    group_key,
    meet,
    members_of,
    outlook,
    parents_outside,
    place_in,
)
from cyclearn._kernels.proposals import below, uniform
from cyclearn._kernels.typed_numbers import ZERO

# Groups below exp of this are not looked for, relative to all graphs.
_LEAST_PROMISE = -10.0


class Seen(NamedTuple):
    """Groups that were looked at: ``size[0]`` keys in a table."""

    size: Ints
    keys: Keys


class SearchMemory(NamedTuple):
    """Groups that a search has seen ``near`` draws, and those it has ``solved`` in all ways."""

    near: Seen
    solved: Seen


@lean_kernel
def _component_with(columns: Ints, v: int) -> int:
    """The component of a node, zero where it is the only one."""
    p = columns.size
    above = 0
    new = columns[v]
    while new & ~above:
        above |= new
        new = 0
        for u in range(p):
            if above >> u & 1:
                new |= columns[u]
    if not above >> v & 1:
        return 0
    members = 1 << v
    is_larger = True
    while is_larger:
        is_larger = False
        for u in range(p):
            if above & ~members & 1 << u and columns[u] & members:
                members |= 1 << u
                is_larger = True
    return members


@lean_kernel
def _largest_component(columns: Ints) -> int:
    """The largest component, the first of those; zero where there is none of two nodes."""
    largest = 0
    most = 1
    seen = 0
    for v in range(columns.size):
        if columns[v] == 0 or seen >> v & 1:
            continue
        members = _component_with(columns, v)
        seen |= members
        if _n_in(members) > most:
            largest, most = members, _n_in(members)
    return largest


@lean_kernel
def _show(g: Scored, rules: ChainRules, columns: Ints, members: int) -> int:
    """Write a component into the graph; return its edges, −1 where it is not permitted."""
    p = columns.size
    max_component, max_parents, _ = rules.limits
    n_nodes = n_edges = 0
    for v in range(p):
        if not members >> v & 1:
            continue
        n_nodes += 1
        n_parents = 0
        for i in range(p):
            is_there = columns[v] >> i & 1
            if (is_there and not rules.may_add[i, v]) or (
                i != v and not is_there and not rules.may_delete[i, v]
            ):
                return -1
            g.A[i, v] = is_there
            n_parents += is_there
        if n_parents > max_parents:
            return -1
        n_edges += n_parents
    return n_edges if n_nodes <= max_component else -1


@kernel
def _nodes_of(members: int) -> Ints:
    """The nodes of a set."""
    nodes = np.empty(_n_in(members), np.int64)
    k = 0
    v = 0
    while k < nodes.size:
        if members >> v & 1:
            nodes[k] = v
            k += 1
        v += 1
    return nodes


@lean_kernel
def _n_in(members: int) -> int:
    """How many nodes a set has."""
    n = 0
    while members:
        members &= members - 1
        n += 1
    return n


@kernel
def _bound(g: Scored, members: int) -> float:
    """A value that no coefficients of a component are better than."""
    return float(saturated_value(g, _nodes_of(members)))


@kernel
def _fitted(g: Scored, members: int) -> float:
    """The value of a component of the graph."""
    key = group_key(g, members)
    place = place_of(g, key)
    if place < 0:
        nodes = _nodes_of(members)
        offsets, parents = parents_of(g, nodes)
        place = remember(g, key, component_value(g, nodes, offsets, parents))
    return float(g.table_values[place])


@lean_kernel
def _promise(
    g: Scored,
    admission: Admission,
    rules: ChainRules,
    columns: Ints,
    members: int,
    least: float,
    memory: SearchMemory,
) -> float:
    """The outlook of a component, which is noted if it is worth it, solved so that it may be.

    −∞ if it is not permitted or below the ``least`` whatever its coefficients, which takes no fit.
    """
    n_edges = _show(g, rules, columns, members)
    if n_edges < 0:
        return -np.inf
    outside = parents_outside(columns, members)
    price = rules.costs[_n_in(members)] + rules.penalty * n_edges
    key = group_key(g, members)
    place = place_of(g, key)
    if place < 0:
        best = -(_bound(g, members) + price) / rules.unit
        if outlook(rules.parts, members, outside, best) < min(least, _LEAST_PROMISE):
            return -np.inf
    value = g.table_values[place] if place >= 0 else _fitted(g, members)
    promise = outlook(rules.parts, members, outside, -(value + price) / rules.unit)
    if promise > _LEAST_PROMISE and _is_new(key, memory.solved):
        _note_solved(g, admission, rules, columns, members, price)
    return promise


@kernel
def _note_solved(
    g: Scored, admission: Admission, rules: ChainRules, columns: Ints, members: int, price: float
) -> None:
    """Note a group, or if it is not admissible the first with the same equations that is.

    A node's equation is one of itself and its parents, and can be solved for any of them. All ways
    to solve each for another node of the group give the same distributions, but one is stable
    where another is not.
    """
    nodes = _nodes_of(members)
    n = nodes.size
    solved = np.zeros(columns.size, np.int64)
    # Node of the group that each equation is solved for; at first each for its own.
    heads = np.arange(n)
    while True:
        for k in range(n):
            v, head = nodes[k], nodes[heads[k]]
            solved[head] = (columns[v] | 1 << v) & ~(1 << head)
        if _show(g, rules, solved, members) >= 0 and is_admissible(g, admission, nodes):
            log = -(_fitted(g, members) + price) / rules.unit
            meet(g, rules.met, members, log)
            return
        if not _solve_otherwise(columns, nodes, heads):
            return


@lean_kernel
def _solve_otherwise(columns: Ints, nodes: Ints, heads: Ints) -> bool:
    """Find the next way to solve equations for nodes; whether there is one."""
    n = nodes.size
    while _next_heads(heads):
        is_possible = True
        for k in range(n):
            equation = columns[nodes[k]] | 1 << nodes[k]
            is_possible = is_possible and equation >> nodes[heads[k]] & 1
        if is_possible:
            return True
    return False


@lean_kernel
def _next_heads(heads: Ints) -> bool:
    """Go on to the next permutation in the order of the alphabet; whether there is one."""
    k = heads.size - 2
    while k >= 0 and heads[k] > heads[k + 1]:
        k -= 1
    if k < 0:
        return False
    m = heads.size - 1
    while heads[m] < heads[k]:
        m -= 1
    heads[k], heads[m] = heads[m], heads[k]
    low, high = k + 1, heads.size - 1
    while low < high:
        heads[low], heads[high] = heads[high], heads[low]
        low += 1
        high -= 1
    return True


@lean_kernel
def _is_new(key: np.uint64, seen: Seen) -> bool:
    """Whether a key was not seen before; none is new when half of the table is full."""
    if 2 * seen.size[0] >= seen.keys.size:
        return False
    at = place_in(seen.keys, key)
    if seen.keys[at] == key:
        return False
    seen.keys[at] = key
    seen.size[0] += 1
    return True


@lean_kernel
def _look(
    g: Scored,
    admission: Admission,
    rules: ChainRules,
    columns: Ints,
    v: int,
    memory: SearchMemory,
) -> int:
    """Look at the component of a node, if it is of several and new; return its nodes."""
    members = _component_with(columns, v)
    if members != 0 and _is_new(_key_of(g, columns, members), memory.near):
        _promise(g, admission, rules, columns, members, _LEAST_PROMISE, memory)
    return members


@lean_kernel
def _key_of(g: Scored, columns: Ints, members: int) -> np.uint64:
    """The key of a component that is not in the graph yet."""
    key = np.uint64(0)
    for v in range(columns.size):
        if members >> v & 1:
            key ^= g.Z[v, v]
            for i in range(columns.size):
                if columns[v] >> i & 1:
                    key ^= g.Z[i, v]
    return key


@kernel
def look_near(
    g: Scored,
    admission: Admission,
    rules: ChainRules,
    memory: SearchMemory,
    n: int,
    state: Keys,
) -> None:
    """Note the groups of graphs that differ in one edge from n graphs drawn from parts."""
    p = g.A.shape[0]
    graphs = np.empty((n, p), np.int64)
    draw_graphs(state, rules.parts, graphs)
    for k in range(n):
        columns = graphs[k]
        for i in range(p):
            for j in range(p):
                if i == j:
                    continue
                is_there = columns[j] >> i & 1
                columns[j] ^= 1 << i
                _look(g, admission, rules, columns, j, memory)
                if is_there and not columns[i] >> j & 1:
                    columns[i] ^= 1 << j
                    members = _look(g, admission, rules, columns, j, memory)
                    if not members >> i & 1:
                        _look(g, admission, rules, columns, i, memory)
                    columns[i] ^= 1 << j
                columns[j] ^= 1 << i


@lean_kernel
def _another(state: Keys, p: int, v: int) -> int:
    """A node other than v."""
    i = int(np.int64(below(state, p - 1)))
    return i + 1 if i >= v else i


@lean_kernel
def _member(state: Keys, members: int, n: int) -> int:
    """One of the n nodes of a set."""
    k = int(np.int64(below(state, n)))
    v = 0
    while True:
        if members >> v & 1:
            if k == 0:
                return v
            k -= 1
        v += 1


@lean_kernel
def _change(state: Keys, columns: Ints, members: int, around: Ints) -> None:
    """Change the columns of a group: toggle, swap or turn, take a node in, or give one up.

    A node that is taken in has the parents it has in the graph ``around``, and one in the group.
    """
    p = columns.size
    n = _n_in(members)
    v = _member(state, members, n)
    u = _member(state, members, n)
    kind = uniform(state)
    if kind < 0.45:
        columns[v] ^= 1 << _another(state, p, v)
    elif kind < 0.6:
        i, j = _another(state, p, v), _another(state, p, v)
        if columns[v] >> i & 1 != columns[v] >> j & 1:
            columns[v] ^= 1 << i | 1 << j
    elif kind < 0.75:
        if columns[v] >> u & 1 and not columns[u] >> v & 1:
            columns[v] ^= 1 << u
            columns[u] ^= 1 << v
            if uniform(state) < 0.5:
                columns[v] ^= 1 << _another(state, p, v)
            if uniform(state) < 0.5:
                columns[u] ^= 1 << _another(state, p, u)
    elif kind < 0.9:
        x = _another(state, p, v)
        if not members >> x & 1:
            columns[x] = around[x] | 1 << u
            columns[v] |= 1 << x
            if u != v and uniform(state) < 0.5:
                columns[v] &= ~(1 << u)
    elif n > 2:
        columns[v] = 0
        if uniform(state) < 0.5:
            for w in range(p):
                columns[w] &= ~(1 << v)


@kernel
def climb(
    g: Scored,
    admission: Admission,
    rules: ChainRules,
    memory: SearchMemory,
    starts: Ints,
    n_steps: int,
    state: Keys,
) -> None:
    """Walk from groups to better ones, and note those that are worth it."""
    p = g.A.shape[0]
    here = np.empty(p, np.int64)
    there = np.empty(p, np.int64)
    around = np.empty_like(starts)
    draw_graphs(state, rules.parts, around)
    for k in range(starts.shape[0]):
        for v in range(p):
            here[v] = starts[k, v]
        members = members_of(here)
        promise = _promise(g, admission, rules, here, members, -np.inf, memory)
        for _ in range(n_steps):
            for v in range(p):
                there[v] = here[v]
            _change(state, there, members, around[k])
            others = _largest_component(there)
            if others == 0:
                continue
            least = promise + np.log(uniform(state))
            promised = _promise(g, admission, rules, there, others, least, memory)
            if promised > least:
                for v in range(p):
                    here[v] = there[v] if others >> v & 1 else ZERO
                members, promise = others, promised

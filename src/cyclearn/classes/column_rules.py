"""Rules beyond rotations that preserve distribution sets, and where a class allows them.

Write a graph as the multiset F of its columns (sets of rows), and S(F) for the positive
semidefinite matrices Σⱼ qⱼqⱼᵀ with qⱼ supported on column j. Θ(G) is the positive definite part of
S(F). Proofs of all that follows are in the documentation, "Beyond the theorem".

**Context.** S(F ∪ E) = S(F) + S(E). So if S(F) = S(F′), F can be replaced by F′ in any multiset.

**Lift.** Let F have n columns on the rows V, empty ones counted, let D be disjoint from V, and let
F + D be F with D added to every column. Then S(F + D) is the set of all M ⪰ 0 on V ∪ D with
M[V, V] ∈ S(F) and rank M ≤ n. So S(F) = S(F′) with equally many columns gives
S(F + D) = S(F′ + D). From {i, l}, {i} ~ {i, l}, {l} and {i}, {i} ~ {i}, ∅ the two facts make the
exchange and the reduction. The following rules can all be lifted and used in any context:

**Chordal columns.** The columns of a perfect orientation of a connected chordal graph, each a node
with a clique of earlier neighbours, without the column {root}, generate the singular M ⪰ 0 with the
zeros of the graph; with the column {v} of any node v they generate all of these M.

**Scaling rule.** Take such columns for a connected chordal graph on V and a column W ⊆ V. If the
missing edges among the nodes of W have a bipartite component (such as an isolated node), an
additional column {v}, v ∈ V, adds nothing. In effect a column D ∪ {v} becomes D. The smallest case
is a path with W as its two ends: a cycle of pairs.

**Block rule.** Take such columns for two connected chordal graphs, on V₁ and V₂ disjoint, and a
column W that is a clique of the first together with a clique of the second, neither empty. Then a
further column {v₁}, v₁ ∈ V₁, is equivalent to {v₂}, v₂ ∈ V₂. In effect a column D ∪ {v₁} becomes D
∪ {v₂}. If one of the cliques is a single node, rotations give the same result.

**Substitution rule.** A change of variables that depends on the matrix alone can take entries out
of columns (:mod:`cyclearn.classes.chordal_growth`). If the result is the columns of a connected
chordal graph, a column {v} is equivalent to {w}, for most of its nodes. The block rule is the case
with one column between the blocks; two and three such columns are searched for.

**Facet rule.** The k subsets of k − 1 elements of a set V of k elements generate all matrices of
factor width k − 1, a convex cone, so another column inside V, except V itself, adds nothing.
In effect a column between D and D ∪ V, without D ∪ V, becomes any other. For k = 3 this is a case
of the scaling rule.

**Search.** The columns of an irreducible graph move independently, each in its territory. So a rule
applies somewhere in a class of rotations if and only if it applies to some choice of sets from
different territories. All these sets contain the core D, and there are few of them:

- the scaling rule takes |V| columns with D and 2 to |V| nodes more, so two of them have one size;
- the block rule takes two columns of |D| + 2 nodes and one of |D| + 4 or more;
- the substitution rule takes two or three columns that link two disjoint pairs;
- the facet rule takes four or more columns of one size;
- a node of V that is in only one of the columns can be omitted together with that column: rotations
  move D ∪ {v} to the other nodes of V.

A sparse graph has no core with that many columns around it, which is detected at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, product
from math import comb, prod

from cyclearn.classes.chordal_growth import (
    SearchBudget,
    Seated,
    exchangeable_nodes,
    iter_clique_growths,
    iter_growths,
)
from cyclearn.classes.territories import Territory, territory_below
from cyclearn.graphs.bitsets import bits, union


class Rule(Enum):
    """A rule that preserves the distributions; its value describes the change."""

    SCALING = "a column D ∪ {v} becomes D, or back"
    BLOCK = "a column D ∪ {v} becomes D ∪ {w}"
    SUBSTITUTION = "a column D ∪ {v} becomes D ∪ {w}, by a change of variables"
    FACET = "a column between D and D ∪ V gains or loses a node of V"


@dataclass(frozen=True)
class RuleUse:
    """One application of a rule: the column of seat ``mover`` changes ``before`` → ``after``.

    ``core`` is D. ``witness`` are the columns that allow it, each with its seat: the position of
    its territory among those of the class. All other columns are arbitrary. If the mover was
    ``raised``, its column was first made equal to that of the seat above it, and so on: the
    opposite of a reduction.
    """

    rule: Rule
    core: int
    witness: tuple[Seated, ...]
    mover: int
    before: int
    after: int
    raised: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Mover:
    """A column that a rule might change, and its possible places."""

    seat: int
    raised: tuple[int, ...]
    territory: Territory


def iter_rule_uses(territories: Sequence[Territory], budget: SearchBudget) -> Iterator[RuleUse]:
    """Applications of the four rules in a class, one for each class that they lead to.

    Complete unless the budget is exhausted.

    Examples
    --------
    Columns {0}, {0, 1}, {2, 3}, {0, 1, 2, 3}:

    >>> from cyclearn.classes.territories import territories
    >>> columns = territories((0b0001, 0b0011, 0b1100, 0b1111))
    >>> [(u.rule.name, u.before, u.after) for u in iter_rule_uses(columns, SearchBudget(1000))]
    [('BLOCK', 1, 4)]
    """
    movers: list[_Mover] = []
    for core, around in _iter_cores(territories, budget):
        sizes = [territories[s].size for s in around]
        if core.bit_count() + 2 not in sizes:
            continue
        # Most graphs have no core at all.
        movers = movers or list(_iter_movers(territories))
        near = [m for m in movers if any(core & ~a == 0 for a in m.territory.anchors)]
        can_scale, can_exchange = _thinkable(core, sizes, near)
        if not (can_scale or can_exchange):
            continue
        columns = _residuals(territories, core, around, budget)
        if can_scale:
            yield from _scaling_uses(core, columns, near, budget)
        if can_exchange:
            single = [m for m in near if m.territory.size == core.bit_count() + 1]
            yield from _block_uses(core, columns, single, budget)
            yield from _substitution_uses(core, columns, single, budget)
    yield from _facet_uses(territories, budget)


def _iter_movers(territories: Sequence[Territory]) -> Iterator[_Mover]:
    """The column of every seat in its place, and raised to every seat above it."""
    above: dict[int, list[int]] = {}
    for s, below in enumerate(territory_below(territories)):
        if below is not None:
            above.setdefault(below, []).append(s)
    for seat in range(len(territories)):
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            raised = waiting.pop()
            top = raised[-1] if raised else seat
            yield _Mover(seat, raised, territories[top])
            waiting += [(*raised, s) for s in above.get(top, ())]


def _iter_cores(
    territories: Sequence[Territory], budget: SearchBudget
) -> Iterator[tuple[int, list[int]]]:
    """Possible cores D, each with the seats of columns with D and two or more other nodes."""
    families = [(t.size, t.anchors) for t in territories]
    waiting = [(0, list(range(len(families))))]
    while waiting:
        core, seats = waiting.pop()
        if not budget.spend(len(seats)):
            return
        d = core.bit_count()
        near = {}
        for s in seats:
            size, anchors = families[s]
            held = 0
            for anchor in anchors if size >= d + 2 else ():
                if core & ~anchor == 0:
                    held |= anchor
            if held:
                near[s] = held
        sizes = {families[s][0] for s in near}
        if len(near) < 3 or len(sizes) == len(near):
            # Larger cores have no more columns around them.
            continue
        around = list(near)
        yield core, around
        # Nodes near one, two, and three or more of the larger columns.
        ones = twos = threes = 0
        for s, held in near.items():
            if families[s][0] >= d + 3:
                threes |= twos & held
                twos |= ones & held
                ones |= held
        top = core.bit_length()
        waiting += [(core | 1 << v, around) for v in bits(threes >> top << top)]


def _thinkable(core: int, sizes: list[int], movers: list[_Mover]) -> tuple[bool, bool]:
    """Whether the sizes around a core leave room for a scaling, and for an exchange of nodes.

    Both need a column with two nodes beside the core, which ``sizes`` must contain.
    """
    d = core.bit_count()
    free = {mover.territory.size for mover in movers}
    # Without a core, there would be more columns than nodes.
    can_scale = d > 0 and not free.isdisjoint((d, d + 1))
    return can_scale, sizes.count(d + 2) >= 2 and max(sizes) >= d + 4 and d + 1 in free


def _residuals(
    territories: Sequence[Territory], core: int, seats: Sequence[int], budget: SearchBudget
) -> list[Seated]:
    """Sets of the seats without the core, excluding those with a node that no other seat has."""
    found: list[Seated] = []
    for s in seats:
        if not budget.spend(territories[s].count(core)):
            return []
        found += [(s, members ^ core) for members in territories[s].iter_sets(core)]
    while True:
        holders: dict[int, set[int]] = {}
        for s, members in found:
            for v in bits(members):
                holders.setdefault(v, set()).add(s)
        alone = sum(1 << v for v, held_by in holders.items() if len(held_by) < 2)
        if not alone:
            return found
        found = [(s, members) for s, members in found if not members & alone]


def _scaling_uses(
    core: int, columns: list[Seated], movers: list[_Mover], budget: SearchBudget
) -> Iterator[RuleUse]:
    if len({s for s, _ in columns}) < 3:
        return
    nodes = union(members for _, members in columns)
    # A raised column that lost a node would return to its place.
    losing = [m for m in movers if not m.raised and _first_with(core, nodes, m.territory)]
    # For each column that can gain a node, the nodes that it is known to reach.
    gaining = {m: 0 for m in movers if core in m.territory}
    for growth in iter_growths(columns, budget) if losing or gaining else ():
        for s, W in columns:
            if W & ~growth.nodes or growth.uses(s) or not growth.has_scaling(W):
                continue
            witness = _lifted({*growth.used, (s, W)}, core)
            held = dict(witness)
            for mover in [m for m in losing if m.seat not in held]:
                before = _first_with(core, growth.nodes, mover.territory)
                if before:
                    losing.remove(mover)
                    yield RuleUse(Rule.SCALING, core, witness, mover.seat, before, core)
            for mover in [m for m in gaining if m.seat not in held]:
                if not gaining[mover] & growth.nodes:
                    after = core | growth.nodes & -growth.nodes
                    yield RuleUse(
                        Rule.SCALING, core, witness, mover.seat, core, after, mover.raised
                    )
                # Rotations move the new node to all the others.
                gaining[mover] |= growth.nodes


def _can_leave(territory: Territory, core: int, nodes: int) -> bool:
    """Whether the core plus one node is in a territory for some but not all of the nodes."""
    inside = [core | 1 << v in territory for v in bits(nodes)]
    return any(inside) and not all(inside)


def _first_with(core: int, nodes: int, territory: Territory) -> int:
    """The first set of the core plus one of the nodes that is in a territory, or zero."""
    return next((core | 1 << v for v in bits(nodes) if core | 1 << v in territory), 0)


def _block_uses(
    core: int, columns: list[Seated], movers: list[_Mover], budget: SearchBudget
) -> Iterator[RuleUse]:
    seen: set[tuple[int, tuple[int, ...], int, int]] = set()
    for s, W in columns:
        if W.bit_count() < 4:
            continue
        others = [(t, c) for t, c in columns if t != s]
        if not budget.spend(comb(len(others), 2)):
            return
        for one, two in combinations(others, 2):
            if (
                one[0] == two[0]
                or one[1] & two[1]
                or W & ~(one[1] | two[1])
                or min((W & one[1]).bit_count(), (W & two[1]).bit_count()) < 2
            ):
                continue
            for V1, first in iter_clique_growths(one, others, two[1], budget):
                taken = {t for t, _ in first}
                left = [(t, c) for t, c in others if t not in taken]
                for V2, second in iter_clique_growths(two, left, V1, budget):
                    witness = _lifted({*first, *second, (s, W)}, core)
                    for use in _block_steps(movers, core, (V1, V2), witness):
                        # The same column leads to the same class from any node of the block.
                        key = (use.mover, use.raised, V1, V2)
                        if key not in seen:
                            seen.add(key)
                            yield use


def _block_steps(
    movers: Sequence[_Mover], core: int, blocks: tuple[int, int], witness: tuple[Seated, ...]
) -> Iterator[RuleUse]:
    for mover in movers:
        if mover.seat in dict(witness):
            continue
        for here, there in (blocks, blocks[::-1]):
            before = _first_with(core, here, mover.territory)
            after = core | there & -there
            if before and after not in mover.territory:
                yield RuleUse(Rule.BLOCK, core, witness, mover.seat, before, after, mover.raised)


def _substitution_uses(
    core: int, columns: list[Seated], movers: list[_Mover], budget: SearchBudget
) -> Iterator[RuleUse]:
    pairs = [(s, c) for s, c in columns if c.bit_count() == 2]
    links = [(s, c) for s, c in columns if c.bit_count() > 2]
    for n_links in (2, 3):
        if len({s for s, _ in links}) < n_links:
            return
        for one, two in combinations(pairs, 2):
            if one[0] == two[0] or one[1] & two[1]:
                continue
            # Together, the links have one node less outside the pairs than there are links.
            ends = one[1] | two[1]
            near = [(s, c) for s, c in links if (c & ~ends).bit_count() < n_links]
            if not budget.spend(len(links) + comb(len(near), n_links)):
                return
            for chosen in combinations(near, n_links):
                witness = (one, two, *chosen)
                if _is_knot(witness):
                    yield from _substitution_steps(movers, core, witness, budget)


def _is_knot(witness: Sequence[Seated]) -> bool:
    """Whether there is one more node than columns of different seats, each in two of them."""
    once = twice = 0
    for _, column in witness:
        twice |= once & column
        once |= column
    return (
        once == twice
        and once.bit_count() == len(witness) + 1
        and len({s for s, _ in witness}) == len(witness)
    )


def _substitution_steps(
    movers: Sequence[_Mover], core: int, witness: tuple[Seated, ...], budget: SearchBudget
) -> Iterator[RuleUse]:
    held = {s for s, _ in witness}
    nodes = union(column for _, column in witness)
    free = [m for m in movers if m.seat not in held and _can_leave(m.territory, core, nodes)]
    if not free:
        return
    lifted = _lifted(set(witness), core)
    for nodes in exchangeable_nodes([column for _, column in witness], budget):
        for mover in free:
            before = _first_with(core, nodes, mover.territory)
            for w in bits(nodes) if before else ():
                after = core | 1 << w
                if after not in mover.territory:
                    yield RuleUse(
                        Rule.SUBSTITUTION, core, lifted, mover.seat, before, after, mover.raised
                    )


def _facet_uses(territories: Sequence[Territory], budget: SearchBudget) -> Iterator[RuleUse]:
    """Applications of the facet rule with four or more facets."""
    of_size: dict[int, list[int]] = {}
    for s, territory in enumerate(territories):
        of_size.setdefault(territory.size, []).append(s)
    for size, seats in of_size.items():
        if len(seats) < 4 or size < 3:
            continue
        seat_of: dict[int, int] = {}
        for s in seats:
            if not budget.spend(territories[s].count()):
                return
            seat_of.update(dict.fromkeys(territories[s].iter_sets(), s))
        if not budget.spend(comb(len(seat_of), 2)):
            return
        wholes: set[int] = set()
        for a, b in combinations(seat_of, 2):
            if (a & b).bit_count() == size - 1:
                wholes.add(a | b)
        for whole in sorted(wholes):
            yield from _uses_of_facets(territories, whole, seat_of, budget)


def _uses_of_facets(
    territories: Sequence[Territory], whole: int, seat_of: dict[int, int], budget: SearchBudget
) -> Iterator[RuleUse]:
    by_seat: dict[int, list[int]] = {}
    for v in bits(whole):
        if whole ^ (1 << v) in seat_of:
            by_seat.setdefault(seat_of[whole ^ (1 << v)], []).append(whole ^ (1 << v))
    if len(by_seat) < 4:
        return
    # A seat has one column, so only one of several facets in its territory at a time.
    if not budget.spend(prod(len(facets) for facets in by_seat.values()) * len(territories)):
        return
    for facets in product(*by_seat.values()):
        core = whole & ~union(whole ^ facet for facet in facets)
        witness = tuple(sorted(zip(by_seat, facets, strict=True)))
        for mover in _iter_movers(territories):
            size = mover.territory.size
            if mover.seat in by_seat or not core.bit_count() <= size < whole.bit_count() - 1:
                continue
            before = next(_sets_between(core, whole, size, mover.territory), None)
            if before is None:
                continue
            for changed in (size + 1,) if mover.raised else (size - 1, size + 1):
                if core.bit_count() <= changed < whole.bit_count() - 1:
                    for after in _sets_between(core, whole, changed):
                        if not budget.spend():
                            return
                        yield RuleUse(
                            Rule.FACET, core, witness, mover.seat, before, after, mover.raised
                        )


def _sets_between(
    core: int, whole: int, size: int, territory: Territory | None = None
) -> Iterator[int]:
    """Sets of one size between two, all of them or those of a territory."""
    free = [1 << v for v in bits(whole & ~core)]
    for chosen in combinations(free, size - core.bit_count()):
        members = core | sum(chosen)
        if territory is None or members in territory:
            yield members


def _lifted(columns: set[Seated], core: int) -> tuple[Seated, ...]:
    return tuple(sorted((s, members | core) for s, members in columns))

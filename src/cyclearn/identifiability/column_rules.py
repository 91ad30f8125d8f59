"""Rules beyond rotations that keep the distribution set of a graph.

Write a graph as the multiset F of its columns (sets of rows), and S(F) for the positive
semidefinite matrices Σⱼ qⱼqⱼᵀ with qⱼ supported on column j. Θ(G) is the positive definite part of
S(F). Proofs of all that follows are in the documentation, "Beyond the theorem".

**Context.** S(F ∪ E) = S(F) + S(E). So S(F) = S(F′) allows to replace F by F′ in any multiset.

**Lift.** Let F have n columns on the rows V, empty ones counted, let D be disjoint from V, and let
F + D be F with D added to every column. Then S(F + D) is the set of all M ⪰ 0 on V ∪ D with
M[V, V] ∈ S(F) and rank M ≤ n. So S(F) = S(F′) with equally many columns gives
S(F + D) = S(F′ + D). From {i, l}, {i} ~ {i, l}, {l} and {i}, {i} ~ {i}, ∅ the two facts make the
exchange and the reduction. The further rules are, each to be lifted and put into any context:

**Block rule.** Let A and B be disjoint, of two elements or more. A *full chain* on A is a nested
sequence of sets of sizes |A|, …, 2, 1 that begins with A; a *short chain* stops at size 2. Then
{A ∪ B}, a full chain on A and a short chain on B generate the same as {A ∪ B}, a short chain on A
and a full chain on B: all M ⪰ 0 on A ∪ B with M[A, B] of rank at most one. In effect a column
D ∪ {a}, a ∈ A, becomes D ∪ {b}, b ∈ B.

**Cycle rule.** Let k ≥ 3. Then {v₁,v₂}, {v₂,v₃}, …, {v_k,v₁}, {v₁} generates the same as
{v₁,v₂}, …, {v_k,v₁}, ∅. In effect a column D ∪ {v₁} becomes D: an edge was redundant that no
rotation removes.

**Facet rule.** The k subsets of k − 1 elements of a set V of k elements generate all matrices of
factor width k − 1: a convex cone, so a further column inside V, other than V itself, adds nothing.
In effect a column between D and D ∪ V, without D ∪ V, becomes any other. For k = 3 this is the
cycle rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from cyclearn.graphs.bitsets import bits

Columns = tuple[int, ...]


@dataclass(frozen=True)
class RuleStep:
    """One use of a rule on a multiset of columns: ``before`` in ``columns`` became ``after``."""

    rule: str
    columns: Columns
    before: int
    after: int

    def describe(self, names: Sequence[str]) -> str:
        """The step in words, with columns as sets of names."""
        return (
            f"{self.rule} rule: among the columns {', '.join(_set(c, names) for c in self.columns)}"
            f", {_set(self.before, names)} becomes {_set(self.after, names)}"
        )

    def to_dict(self, names: Sequence[str]) -> dict[str, object]:
        """The rule and the columns as lists of names."""
        return {
            "rule": self.rule,
            "columns": [[names[v] for v in bits(c)] for c in self.columns],
            "before": [names[v] for v in bits(self.before)],
            "after": [names[v] for v in bits(self.after)],
        }


def _set(members: int, names: Sequence[str]) -> str:
    return "{" + ", ".join(names[v] for v in bits(members)) + "}"


def iter_rule_steps(columns: Columns) -> Iterator[RuleStep]:
    """All uses of the block, cycle and facet rules on a multiset of columns, one element at a time.

    Examples
    --------
    Columns {0}, {0, 1}, {2, 3}, {0, 1, 2, 3}:

    >>> [(s.rule, s.before, s.after) for s in iter_rule_steps((0b0001, 0b0011, 0b1100, 0b1111))]
    [('block', 1, 4), ('block', 1, 8)]
    """
    for position, column in enumerate(columns):
        rest = columns[:position] + columns[position + 1 :]
        for v in bits(column):
            core = column ^ (1 << v)
            if _on_cycle(rest, core, v):
                yield RuleStep("cycle", columns, column, core)
            for target in _block_targets(rest, core, v):
                yield RuleStep("block", columns, column, core | target)
        around = 0
        for other in rest:
            if column & ~other == 0 and other.bit_count() == column.bit_count() + 2:
                around |= other & ~column
        for v in bits(around):
            if _on_cycle(rest, column, v):
                yield RuleStep("cycle", columns, column, column | 1 << v)
        for target in _facet_targets(rest, column):
            yield RuleStep("facet", columns, column, target)


def _on_cycle(columns: Columns, core: int, v: int) -> bool:
    """Whether v lies on a cycle, of three nodes or more, of pairs {u, w} with core ∪ {u, w} held.

    That is the case if two pairs at v lead to neighbours that are connected without v.
    """
    size = core.bit_count() + 2
    pairs = [c ^ core for c in columns if c.bit_count() == size and core & ~c == 0]
    at_v = {pair ^ (1 << v) for pair in pairs if pair >> v & 1}
    if len(at_v) < 2:
        return False
    groups: list[int] = []
    for pair in at_v | {pair for pair in pairs if not pair >> v & 1}:
        joined = pair
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return any(sum(1 for u in at_v if u & group) >= 2 for group in groups)


def _facet_targets(columns: Columns, column: int) -> Iterator[int]:
    """Columns, one element more or fewer, that the facet rule with four facets or more makes."""
    held = set(columns)
    found: set[int] = set()
    for whole in {a | b for a, b in combinations(held, 2)}:
        open_ = sum(1 << v for v in bits(whole) if whole ^ (1 << v) in held)
        core = whole & ~open_
        if open_.bit_count() < 4 or column & ~whole or core & ~column:
            continue
        # Facets themselves are left out: two equal columns are a matter of reductions.
        found |= {
            column ^ (1 << v)
            for v in bits(open_)
            if (whole & ~(column ^ (1 << v))).bit_count() >= 2
        }
    yield from sorted(found)


def _block_targets(columns: Columns, core: int, v: int) -> Iterator[int]:
    """Single nodes b such that the block rule turns core ∪ {v} into core ∪ {b}."""
    inner = [c for c in columns if core & ~c == 0 and c != core]
    held = set(inner)
    found = 0
    for full in held:
        for side in held:
            other = full ^ side | core
            if side & ~full or not side >> v & 1 or other not in held or other == full:
                continue
            if min(side.bit_count(), other.bit_count()) < core.bit_count() + 2:
                continue
            if _short_chain(held, side, core, v) and _short_chain(held, other, core, None):
                found |= other & ~core
    for b in bits(found):
        yield 1 << b


def _short_chain(held: set[int], top: int, core: int, bottom: int | None) -> bool:
    """Whether nested columns lead from ``top`` down to core and two nodes, ``bottom`` in all."""
    if top not in held or (bottom is not None and not top >> bottom & 1):
        return False
    if top.bit_count() == core.bit_count() + 2:
        return True
    return any(_short_chain(held, top ^ (1 << v), core, bottom) for v in bits(top & ~core))

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

**Chordal columns.** The columns of a perfect orientation of a connected chordal graph, each a node
with a clique of earlier neighbours, without the column {root}, generate the singular M ⪰ 0 with the
zeros of the graph; with the column {v} of any node v they generate all of these M.

**Scaling rule.** Take such columns for a connected chordal graph on V and a column W ⊆ V. If the
missing edges among the nodes of W have a bipartite component (an isolated node is one), a further
column {v}, v ∈ V, adds nothing. In effect a column D ∪ {v} becomes D. The smallest case is a path
and W its two ends: a cycle of pairs.

**Block rule.** Take such columns for two connected chordal graphs, on V₁ and V₂ disjoint, and a
column W that is a clique of the first together with a clique of the second, neither empty. Then a
further column {v₁}, v₁ ∈ V₁, does the same as {v₂}, v₂ ∈ V₂. In effect a column D ∪ {v₁} becomes
D ∪ {v₂}.

**Facet rule.** The k subsets of k − 1 elements of a set V of k elements generate all matrices of
factor width k − 1: a convex cone, so a further column inside V, other than V itself, adds nothing.
In effect a column between D and D ∪ V, without D ∪ V, becomes any other. For k = 3 this is a case
of the scaling rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from cyclearn.graphs.bitsets import bits
from cyclearn.identifiability.equality.chordal_growth import iter_growths

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
    """All uses of the three rules on a multiset of columns, one element at a time.

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
            above = _above(rest, core)
            if _absorbed(above) >> v & 1:
                yield RuleStep("scaling", columns, column, core)
            for target in bits(_block_targets(above, v)):
                yield RuleStep("block", columns, column, core | 1 << target)
        for v in bits(_absorbed(_above(rest, column))):
            yield RuleStep("scaling", columns, column, column | 1 << v)
        for target in _facet_targets(rest, column):
            yield RuleStep("facet", columns, column, target)


def _above(columns: Columns, core: int) -> Columns:
    """Columns of core and two nodes or more, without the core, in order."""
    return tuple(
        sorted(c ^ core for c in columns if core & ~c == 0 and (c ^ core).bit_count() >= 2)
    )


# Few columns lie above a core, so the same ones come back in many multisets of a class.
@lru_cache(maxsize=1 << 16)
def _absorbed(above: Columns) -> int:
    """Nodes v such that the scaling rule turns core ∪ {v} into core, and back."""
    found = 0
    if len(above) < 3:
        # A path of two pairs and a column from end to end is the smallest case.
        return found
    for growth in iter_growths(above):
        if any(
            position not in growth.used and W & ~growth.nodes == 0 and growth.has_scaling(W)
            for position, W in enumerate(above)
        ):
            found |= growth.nodes
    return found


def _block_targets(above: Columns, v: int) -> int:
    """Nodes b such that the block rule turns core ∪ {v} into core ∪ {b}."""
    found = 0
    for one, other in _blocks(above):
        found |= other if one >> v & 1 else 0
    return found


@lru_cache(maxsize=1 << 16)
def _blocks(above: Columns) -> frozenset[tuple[int, int]]:
    """Nodes of the two chordal graphs of every use of the block rule."""
    found: set[tuple[int, int]] = set()
    if len(above) < 3:
        return frozenset()
    for first in iter_growths(above):
        for place, W in enumerate(above):
            inner, outer = W & first.nodes, W & ~first.nodes
            if place in first.used or not inner or not outer or not first.is_clique(inner):
                continue
            apart = tuple(
                c
                for n, c in enumerate(above)
                if n not in first.used and n != place and not c & first.nodes
            )
            found |= {
                (first.nodes, second.nodes)
                for second in iter_growths(apart)
                if second.is_clique(outer)
            }
    return frozenset(found)


def _facet_targets(columns: Columns, column: int) -> Iterator[int]:
    """Columns, one element more or fewer, that the facet rule with four facets or more makes."""
    held = set(columns)
    found: set[int] = set()
    if len(held) < 4:
        return
    for whole in {
        a | b
        for a, b in combinations(held, 2)
        if a.bit_count() == b.bit_count() > column.bit_count()
    }:
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

"""Rules beyond rotations that keep the distribution set of a graph, with proofs.

Write a graph as the multiset F of its columns (sets of rows), and S(F) for the positive
semidefinite matrices Σⱼ qⱼqⱼᵀ with qⱼ supported on column j. Θ(G) is the positive definite part of
S(F). Two facts make small identities into rules.

**Context.** S(F ∪ E) = S(F) + S(E). So S(F) = S(F′) allows to replace F by F′ in any multiset.

**Lift.** Let F have n columns on the rows V, empty ones counted, let D be disjoint from V, and let
F + D be F with D added to every column. Then S(F + D) is the set of all M ⪰ 0 on V ∪ D with
M[V, V] ∈ S(F) and rank M ≤ n. *Proof.* Only ⊇ needs one. Take M[V, V] = QQᵀ with Q on F, and
M = NNᵀ with n columns. The rows V of N have the Gram matrix of Q, so they are QO with O
orthogonal; then NOᵀ has the rows Q on V, rows free to be anything on D, and Gram matrix M. ∎ So
S(F) = S(F′) with equally many columns gives S(F + D) = S(F′ + D).

From {i, l}, {i} ~ {i, l}, {l} and {i}, {i} ~ {i}, ∅ the two facts make the exchange and the
reduction. The further rules are:

**Block rule.** Let A and B be disjoint, of two elements or more. A *full chain* on A is a nested
sequence of sets of sizes |A|, …, 2, 1 ending with A; a *short chain* stops at size 2. Then
{A ∪ B}, a full chain on A and a short chain on B generate the same as {A ∪ B}, a short chain on A
and a full chain on B: all M ⪰ 0 on A ∪ B with M[A, B] of rank at most one.
*Proof.* By triangular factorisation a full chain supplies every M ⪰ 0 on its set, a short chain
every one that is singular. Let M[A, B] = abᵀ ≠ 0, P = M[A, A], R = M[B, B]. Since M ⪰ 0, a lies in
the range of P, b in that of R, and αβ ≤ 1 with α = aᵀP⁺a, β = bᵀR⁺b. Take (ta, b/t) in the column
A ∪ B with t² = β > 0. What is left is R − bbᵀ/β ⪰ 0, singular, and P − βaaᵀ ⪰ 0, because αβ ≤ 1:
the short chain on B and the full chain on A supply them. If M[A, B] = 0, take (0, v) with
vᵀR⁻¹v = 1, or v = 0 where R is singular. The roles of A and B can be swapped (t² = 1/α). ∎
In effect a column D ∪ {a}, a ∈ A, becomes D ∪ {b}, b ∈ B.

**Cycle rule.** Let k ≥ 3. Then {v₁,v₂}, {v₂,v₃}, …, {v_k,v₁}, {v₁} generates the same as
{v₁,v₂}, …, {v_k,v₁}, ∅.
*Proof.* S is closed (the trace bounds Q), so it suffices to make a dense set of the matrices of the
first family: those with all mᵢ = M[vᵢ, vᵢ₊₁] ≠ 0. Let the column {vᵢ, vᵢ₊₁} add xᵢ to the diagonal
at vᵢ, so mᵢ²/xᵢ at vᵢ₊₁, and let {v₁} add e ≥ 0 at v₁. Now raise x₁ to s and keep the rest of M:
x₂ = M[v₂, v₂] − m₁²/s grows, so does x₃ = M[v₃, v₃] − m₂²/x₂, and so on: all stay positive. The
diagonal at v₁ without {v₁} is f(s) = s + m_k²/x_k(s): continuous, M[v₁, v₁] − e at s = x₁, and
unbounded. So f(s) = M[v₁, v₁] for some s ≥ x₁, and {v₁} adds nothing. ∎
In effect a column D ∪ {v₁} becomes D: an edge was redundant that no rotation removes. The inverse,
from D to D ∪ {v}, is used as well.

For four nodes these rules and the rotations explain every pair of classes that numerics finds
equal (``benchmarks/identifiability_four.py``). For five nodes they do not: in a random eighth of
the pairs (``benchmarks/identifiability_five.py``) three are left that 2,000 distributions each way
did not tell apart, all of them the four sets of four nodes with node 1, and one small column more.
One is an instance of a *conjecture*, not used here: the k subsets of k − 1 elements of a set of k
absorb any further column of k − 2 elements or fewer (k = 3 is the cycle rule; here k = 4, lifted by
node 1). In the other two a column without node 1 takes part, which the conjecture alone does not
explain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.territories import Territory, territories

Columns = tuple[int, ...]
ClassKey = tuple[Territory, ...]


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


def _set(members: int, names: Sequence[str]) -> str:
    return "{" + ", ".join(names[v] for v in bits(members)) + "}"


def iter_rule_steps(columns: Columns) -> Iterator[RuleStep]:
    """All uses of the block rule and of the cycle rule on a multiset of columns.

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


@dataclass(frozen=True)
class Reached:
    """Classes (of Theorem 1) that the rules reach from a graph, with the steps to each.

    ``complete`` is false where a limit cut the search short; what was found stays proved.
    """

    steps: dict[ClassKey, tuple[RuleStep, ...]]
    complete: bool


def reachable_classes(
    graph: DirectedGraph, *, max_classes: int = 50, max_members: int = 200
) -> Reached:
    """Classes with the same distribution set as the graph's, by the rules of this module.

    From every class at most ``max_members`` multisets of columns are examined.
    """
    start = territories(graph.columns)
    steps: dict[ClassKey, tuple[RuleStep, ...]] = {start: ()}
    waiting = [start]
    complete = True
    while waiting:
        key = waiting.pop()
        for number, columns in enumerate(iter_column_multisets(key, max_members + 1)):
            if number == max_members:
                complete = False
                break
            for step in iter_rule_steps(columns):
                after = list(columns)
                after[columns.index(step.before)] = step.after
                found = territories(after)
                if found in steps:
                    continue
                if len(steps) == max_classes:
                    return Reached(steps, False)
                steps[found] = (*steps[key], step)
                waiting.append(found)
    return Reached(steps, complete)


def iter_column_multisets(key: ClassKey, limit: int) -> Iterator[Columns]:
    """The multisets of columns of a class, irreducible ones, at most ``limit`` of them."""
    # Only the first ``limit`` sets of a territory can occur among the first products.
    choices = [list(islice(territory.iter_sets(), limit)) for territory in key]
    return islice(product(*choices), limit)


def is_contained(inner: ClassKey, outer: ClassKey, *, max_members: int = 200) -> bool:
    """Whether a member of one class is a subgraph of a member of the other, so Θ ⊆ Θ.

    True is a proof. Every column of the inner graph needs a column of its own in some member of the
    outer class, reducible members included, that contains it. A column of a reducible member sits
    in its own territory or in a larger one around it, so this is a matching.

    Examples
    --------
    A 3-cycle and the complete acyclic graph:

    >>> cycle, dag = territories((0b101, 0b011, 0b110)), territories((0b001, 0b011, 0b111))
    >>> is_contained(cycle, dag), is_contained(dag, cycle)
    (True, False)
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    p = len(outer)
    rooms = [_around(seat, outer) for seat in range(p)]
    for columns in iter_column_multisets(inner, max_members):
        fits = np.array(
            [
                [
                    any(
                        column.bit_count() <= t.size and any(column & ~a == 0 for a in t.anchors)
                        for t in room
                    )
                    for room in rooms
                ]
                for column in columns
            ],
            dtype=np.int8,
        )
        if fits.any(axis=0).all() and fits.any(axis=1).all():
            matched = maximum_bipartite_matching(csr_array(fits), perm_type="column")
            if (matched >= 0).all():
                return True
    return False


def _around(seat: int, key: ClassKey) -> list[Territory]:
    """The territory and those above it: one size larger, with anchors that this one took over."""
    found = [key[seat]]
    for territory in found:
        found += [
            other
            for other in key
            if other.size == territory.size + 1
            and set(other.anchors) <= set(territory.anchors)
            and other not in found
        ]
    return found

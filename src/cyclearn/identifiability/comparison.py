"""``compare`` and ``quasi_equivalent``: what is known about two distribution sets, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cyclearn.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.equivalence import Equivalence, equivalent
from cyclearn.identifiability.closure_differences import (
    difference_of_equations,
    difference_of_ranks,
)
from cyclearn.identifiability.column_rules import (
    ClassKey,
    Reached,
    RuleStep,
    is_contained,
    reachable_classes,
)
from cyclearn.identifiability.cone_certificate import ConeCertificate, refute
from cyclearn.identifiability.invariants import MOST_NODES
from cyclearn.identifiability.numerical_overlap import Overlap, Sampler, overlap
from cyclearn.identifiability.verdicts import Closures, Sharing, Verdict

_CERTIFICATE_TRIALS = 2
# Before two sets are called equal by numerics, this many times as many distributions are drawn.
_MORE_DRAWS = 10


@dataclass(frozen=True, eq=False)
class Comparison:
    """The answer of :func:`compare`: true when the graphs generate the same distributions.

    ``verdict`` says whether the sets are equal, ``sharing`` whether they share a set of positive
    measure, ``closures`` whether their closures agree; each says if it is proved. ``evidence`` is
    the reason in sentences and ``data`` the same for machines. ``forward`` is the share of
    distributions of the first graph that the second generates, ``backward`` the other way; both
    are None where a proof made drawing needless. ``first_in_second`` is true where a proof shows
    that the second graph generates every distribution of the first.
    """

    first: DirectedGraph
    second: DirectedGraph
    verdict: Verdict
    sharing: Sharing
    closures: Closures
    dimensions: tuple[int, int]
    evidence: tuple[str, ...]
    data: dict[str, Any]
    first_in_second: bool
    second_in_first: bool
    equivalence: Equivalence
    rule_steps: tuple[tuple[RuleStep, ...], tuple[RuleStep, ...]]
    certificate: ConeCertificate | None
    forward: Overlap | None
    backward: Overlap | None

    def __bool__(self) -> bool:
        return self.verdict.is_equal

    def explain(self) -> str:
        """The verdicts and the evidence in words."""
        return "\n".join(
            [
                f"{self.verdict.value.capitalize()}.",
                f"{self.sharing.value.capitalize()}.",
                *(f"- {line}" for line in self.evidence),
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graphs' own structure as plain values, ready for JSON."""
        return {
            "verdict": self.verdict.name.lower(),
            "verdict_text": self.verdict.value,
            "equal": self.verdict.is_equal,
            "proved": self.verdict.is_proved,
            "quasi_equivalent": self.sharing.is_positive,
            "sharing": self.sharing.name.lower(),
            "closures": self.closures.name.lower(),
            "dimensions": list(self.dimensions),
            "first_in_second_proved": self.first_in_second,
            "second_in_first_proved": self.second_in_first,
            "evidence": list(self.evidence),
            "data": self.data,
            "overlap_forward": None if self.forward is None else self.forward.to_dict(),
            "overlap_backward": None if self.backward is None else self.backward.to_dict(),
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.verdict.value}; {self.sharing.value})"


class QuasiEquivalence(Comparison):
    """The answer of :func:`quasi_equivalent`: true when a set of positive measure is shared."""

    def __bool__(self) -> bool:
        return self.sharing.is_positive


def compare(
    g: DirectedGraph,
    h: DirectedGraph,
    *,
    n_draws: int = 60,
    n_starts: int = 12,
    tolerance: float = 1e-9,
    sampler: Sampler = Sampler.GAUSSIAN,
    n_orders: int = 200,
    random_state: int = 0,
) -> Comparison:
    """Whether two graphs generate the same distributions, with what is proved and what is not.

    In this order: rotations; dimensions; the minors of Θ that vanish (up to eleven nodes, beyond
    that d-separations); the block and cycle rules; containment of a member of one class in one of
    the other; algebraic independence of minors of Θ modulo a prime; and, where all of these leave
    the question open, distributions drawn from each graph and projected onto the other, followed
    by a search for a separating matrix that proves a failure.

    Parameters
    ----------
    g, h : DirectedGraph
        Graphs on the same nodes; the order of the nodes may differ.
    n_draws : int
        Distributions drawn from each graph; ten times as many if none of them fails.
    n_starts : int
        Starts of every projection of a component.
    tolerance : float
        Kullback–Leibler divergence below which a distribution counts as generated.
    sampler : Sampler
        Where distributions are drawn from; shares depend on it.
    n_orders : int
        Effort of the search for an equation that holds on one graph only.
    random_state : int
        Seed of the draws and starts.

    Returns
    -------
    Comparison

    Examples
    --------
    No rotations link these two, but the block rule does:

    >>> a = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)])
    >>> b = DirectedGraph.from_edges([(2, 3), (1, 0), (0, 1), (2, 1), (3, 1)])
    >>> print(compare(a, b).explain())
    Equivalent, proved by the block and cycle rules beyond rotations.
    Quasi equivalent, proved.
    - From the second graph, up to rotations: block rule: among the columns {X3}, {X1, X2}, {X3, X4}, {X1, X2, X3, X4}, {X3} becomes {X1}.

    A collider and a chain:

    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> collider = DirectedGraph.from_edges([("a", "b"), ("c", "b")])
    >>> compare(chain, collider).verdict.name
    'DIFFERENT_RANKS'

    See Also
    --------
    cyclearn.equivalent : the relation of the paper, by rotations alone.
    """  # noqa: E501 - a line of output
    return Comparison(
        **_compared(g, h, n_draws, n_starts, tolerance, sampler, n_orders, random_state)
    )


def quasi_equivalent(
    g: DirectedGraph,
    h: DirectedGraph,
    *,
    n_draws: int = 60,
    n_starts: int = 12,
    tolerance: float = 1e-9,
    sampler: Sampler = Sampler.GAUSSIAN,
    n_orders: int = 200,
    random_state: int = 0,
) -> QuasiEquivalence:
    """Whether two graphs share a set of distributions of positive measure (Definition 9).

    The same work and parameters as :func:`compare`. Proved positive: equivalent graphs, and one
    graph's set inside the other's with equal dimension. Proved negative: different closures.
    Otherwise numerics: some drawn distribution of one graph is generated by the other, with one
    tangent space there.

    Examples
    --------
    >>> cycle = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    >>> dag = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("a", "c")])
    >>> found = quasi_equivalent(cycle, dag)
    >>> bool(found), found.verdict.name, found.forward.share, found.backward.share < 1
    (True, 'NOT_GENERATED', 1.0, True)
    """
    return QuasiEquivalence(
        **_compared(g, h, n_draws, n_starts, tolerance, sampler, n_orders, random_state)
    )


def _compared(
    g: DirectedGraph,
    h: DirectedGraph,
    n_draws: int,
    n_starts: int,
    tolerance: float,
    sampler: Sampler,
    n_orders: int,
    random_state: int,
) -> dict[str, Any]:
    if n_draws < 1 or n_starts < 1 or n_orders < 0 or not tolerance > 0:
        raise InputError(
            f"n_draws={n_draws}, n_starts={n_starts}, tolerance={tolerance}: the counts are at "
            "least 1 and the tolerance is positive"
        )
    h = h.reordered(g.names)
    proof = equivalent(g, h)
    answer: dict[str, Any] = {
        "first": g,
        "second": h,
        "dimensions": (g.dimension(), h.dimension()),
        "equivalence": proof,
        "rule_steps": ((), ()),
        "certificate": None,
        "forward": None,
        "backward": None,
        "first_in_second": bool(proof),
        "second_in_first": bool(proof),
        "data": {},
    }
    if proof:
        return answer | _equal(Verdict.EQUIVALENT_BY_ROTATIONS, (proof.reason,))
    difference = difference_of_ranks(g, h)
    if difference is not None:
        return answer | difference
    first, second = reachable_classes(g), reachable_classes(h)
    meeting = next((key for key in first.steps if key in second.steps), None)
    if meeting is not None:
        steps = first.steps[meeting], second.steps[meeting]
        found = _equal(Verdict.EQUIVALENT_BY_RULES, _rules_in_words(steps, g.names))
        return answer | found | {"rule_steps": steps} | _contained(True, True)
    inside = _is_inside(first, second), _is_inside(second, first)
    answer |= _contained(*inside)
    if all(inside):
        lines = ("Each graph, up to the rules, is a subgraph of the other.",)
        return answer | _equal(Verdict.EQUIVALENT_BY_RULES, lines)
    full = answer["dimensions"][0] == g.n_nodes * (g.n_nodes + 1) // 2
    if not (full or any(inside)) and g.n_nodes <= MOST_NODES:
        difference = difference_of_equations(g, h, n_orders)
        if difference is not None:
            return answer | difference
    settings = {
        "n_draws": n_draws,
        "n_starts": n_starts,
        "tolerance": tolerance,
        "sampler": sampler,
        "random_state": random_state,
    }
    return answer | _by_numerics(g, h, answer, settings)


def _equal(verdict: Verdict, evidence: tuple[str, ...]) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "sharing": Sharing.PROVED,
        "closures": Closures.EQUAL,
        "evidence": evidence,
    }


def _contained(first_in_second: bool, second_in_first: bool) -> dict[str, bool]:
    return {"first_in_second": first_in_second, "second_in_first": second_in_first}


def _rules_in_words(
    steps: tuple[tuple[RuleStep, ...], tuple[RuleStep, ...]], names: Sequence[str]
) -> tuple[str, ...]:
    return tuple(
        f"From the {where} graph, up to rotations: {step.describe(names)}."
        for where, taken in zip(("first", "second"), steps, strict=True)
        for step in taken
    )


def _is_inside(inner: Reached, outer: Reached) -> bool:
    def pairs() -> list[tuple[ClassKey, ClassKey]]:
        return [(a, b) for a in inner.steps for b in outer.steps]

    return any(is_contained(a, b) for a, b in pairs())


def _by_numerics(
    g: DirectedGraph, h: DirectedGraph, known: dict[str, Any], settings: dict[str, Any]
) -> dict[str, Any]:
    forward, backward = overlap(g, h, **settings), overlap(h, g, **settings)
    if forward.share == backward.share == 1:
        # Graphs with overlaps of 98% both ways exist on five nodes.
        more = settings | {"n_draws": _MORE_DRAWS * settings["n_draws"]}
        forward, backward = overlap(g, h, **more), overlap(h, g, **more)
    p = g.n_nodes
    lines = []
    closures = Closures.UNDECIDED
    if known["first_in_second"] or known["second_in_first"]:
        inner, outer = ("first", "second") if known["first_in_second"] else ("second", "first")
        closures = Closures.EQUAL
        lines.append(
            f"Up to the rules the {inner} graph is a subgraph of the {outer}, so the {outer} "
            "generates all its distributions; the dimensions are equal, so the closures agree."
        )
    elif known["dimensions"][0] == p * (p + 1) // 2:
        closures = Closures.EQUAL
        lines.append("Both sets have full dimension, so both closures hold every matrix.")
    elif forward.n_common_tangent or backward.n_common_tangent:
        closures = Closures.EQUAL_NUMERICALLY
        lines.append("At common distributions the two sets have the same tangent space.")
    sampler: Sampler = settings["sampler"]
    lines.append(
        f"The second graph generates {forward} distributions of the first, the first {backward} of "
        f"the second (95% intervals; {sampler.value}; KL < {settings['tolerance']:g}; up to "
        f"{settings['n_starts']} starts, ten times as many for rare failures)."
    )
    certificate = None
    for drawn, one, other in ((forward, g, h), (backward, h, g)):
        if certificate is None and drawn.missed:
            certificate = refute(one, other, drawn.missed[:_CERTIFICATE_TRIALS])
    if certificate is not None:
        where, other_graph = (
            ("first", "second") if certificate.generates is g else ("second", "first")
        )
        lines.append(
            f"A distribution of the {where} graph, with all near it, lies outside the convex cone "
            f"of the {other_graph}: certificate.holds() verifies it in exact arithmetic."
        )
        verdict = Verdict.NOT_GENERATED
    elif forward.share == backward.share == 1:
        verdict = Verdict.EQUAL_NUMERICALLY
    else:
        verdict = Verdict.DISTINCT_NUMERICALLY
    if known["first_in_second"] or known["second_in_first"]:
        sharing = Sharing.PROVED
    elif forward.n_common_tangent or backward.n_common_tangent:
        sharing = Sharing.NUMERICAL
    else:
        sharing = Sharing.NOT_FOUND
    data = {k: v.name.lower() if isinstance(v, Sampler) else v for k, v in settings.items()}
    if certificate is not None:
        data["certificate"] = certificate.to_dict()
    return {
        "verdict": verdict,
        "sharing": sharing,
        "closures": closures,
        "evidence": tuple(lines),
        "data": data,
        "certificate": certificate,
        "forward": forward,
        "backward": backward,
    }

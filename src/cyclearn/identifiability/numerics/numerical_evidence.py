"""Numerical evidence about two graphs whose closures may agree, by drawing and projecting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from cyclearn.foundation.arguments import between, whole
from cyclearn.foundation.option_values import Options, option
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.identifiability.comparison import Closures, Conclusion, Sharing
from cyclearn.identifiability.difference.separating_matrix import Separation, separate
from cyclearn.identifiability.interior_points import common_interior_point
from cyclearn.identifiability.numerics.numerical_overlap import Overlap, Sampler, overlap
from cyclearn.identifiability.numerics.separation_search import search_separation

_SEPARATION_TRIALS = 10
_TRIALS = {"n_faces": 100, "n_wide": 20, "n_boundary": 5}
# Before numerics declare two sets equal, this many times as many distributions are drawn.
_MORE_DRAWS = 10


@dataclass(frozen=True, kw_only=True)
class DrawOptions(Options):
    """How many distributions are drawn, how, and when one counts as generated."""

    n_draws: int = option(60, "Distributions drawn from each graph.", partial(whole, least=1))
    n_starts: int = option(12, "Starts of each projection.", partial(whole, least=1))
    tolerance: float = option(
        1e-9,
        "KL divergence below which a distribution counts as generated.",
        partial(between, least=0, most=1, example=1e-9),
    )
    sampler: Sampler = option(
        Sampler.GAUSSIAN, "Where they are drawn from.", lambda _, value: value
    )
    random_state: int = option(0, "Random seed.", lambda _, value: value)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return super().to_dict() | {"sampler": self.sampler.name.lower()}


def numerical_evidence(
    g: DirectedGraph,
    h: DirectedGraph,
    inside: tuple[bool, bool],
    certificate: Separation | None,
    settings: DrawOptions,
) -> dict[str, Any]:
    """Fields of a comparison of graphs of one dimension.

    ``inside`` says what subgraphs prove, ``certificate`` is a known proof of difference, if any.
    """
    forward, backward = _overlaps(g, h, settings, settings.n_draws)
    if certificate is None and forward.share == backward.share == 1:
        # Graphs with overlaps of 98% both ways exist on five nodes.
        forward, backward = _overlaps(g, h, settings, _MORE_DRAWS * settings.n_draws)
    for drawn, one, other in ((forward, g, h), (backward, h, g)):
        if certificate is None:
            certificate = separate(one, other, drawn.missed[:_SEPARATION_TRIALS])
    if certificate is None:
        certificate = search_separation(g, h, **_TRIALS, random_state=settings.random_state)
    common = bool(forward.common or backward.common)
    closures, lines = _closures(g, inside, common)
    shared = None if any(inside) else common_interior_point(g, h, forward.common)
    if shared is None and not any(inside):
        turned = common_interior_point(h, g, backward.common)
        shared = None if turned is None else turned[::-1]
    lines.append(
        f"The second graph generates {forward} distributions of the first, the first {backward} of "
        f"the second (95% intervals; {settings.sampler.value}; KL < {settings.tolerance:g}; up to "
        f"{settings.n_starts} starts, ten times as many for rare failures)."
    )
    data = settings.to_dict()
    if shared is not None:
        closures = Closures.EQUAL
        lines.append(
            "Both graphs generate everything near one distribution, up to entries and minors of Θ "
            "that are zero on both: shared[0].holds() and shared[1].holds() verify it in exact "
            "arithmetic."
        )
        data["shared"] = [point.to_dict() for point in shared]
    if certificate is not None:
        verdict = Conclusion.NOT_GENERATED
        lines.append(_in_words(certificate, g))
        data["certificate"] = certificate.to_dict()
    elif forward.share == backward.share == 1:
        verdict = Conclusion.EQUAL_NUMERICALLY
    else:
        verdict = Conclusion.DISTINCT_NUMERICALLY
    sharing = Sharing.NUMERICAL if common else Sharing.NOT_FOUND
    if any(inside) or shared is not None:
        sharing = Sharing.PROVED
    return {
        "verdict": verdict,
        "sharing": sharing,
        "closures": closures,
        "evidence": tuple(lines),
        "data": data,
        "certificate": certificate,
        "shared": shared,
        "forward": forward,
        "backward": backward,
    }


def _overlaps(
    g: DirectedGraph, h: DirectedGraph, settings: DrawOptions, n_draws: int
) -> tuple[Overlap, Overlap]:
    options = vars(settings) | {"n_draws": n_draws}
    return overlap(g, h, **options), overlap(h, g, **options)


def _closures(
    g: DirectedGraph, inside: tuple[bool, bool], common: bool
) -> tuple[Closures, list[str]]:
    if any(inside):
        inner, outer = ("first", "second") if inside[0] else ("second", "first")
        return Closures.EQUAL, [
            f"Up to the rules the {inner} graph is a subgraph of the {outer}, so the {outer} "
            "generates all its distributions; the dimensions are equal, so the closures agree."
        ]
    if g.dimension() == g.n_nodes * (g.n_nodes + 1) // 2:
        return Closures.EQUAL, [
            "Both sets have full dimension, so both closures hold every matrix."
        ]
    if common:
        return Closures.EQUAL_NUMERICALLY, [
            "At common distributions the two sets have the same tangent space."
        ]
    return Closures.UNDECIDED, []


def _in_words(certificate: Separation, g: DirectedGraph) -> str:
    where, other = ("first", "second") if certificate.generates is g else ("second", "first")
    return (
        f"The {where} graph generates a distribution that the {other}, by a separating matrix, "
        "cannot, nor anything near it: certificate.holds() verifies it in exact arithmetic."
    )

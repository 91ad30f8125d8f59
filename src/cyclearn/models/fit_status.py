"""What became of a fit: each outcome says its likely cause and the remedy."""

from __future__ import annotations

from enum import Enum


class FitStatus(Enum):
    """Outcome of a maximum likelihood fit; the value is a sentence for people.

    Examples
    --------
    >>> FitStatus.CONVERGED.is_converged, FitStatus.AT_INFINITY.is_converged
    (True, False)
    """

    CONVERGED = "converged to a maximum of the likelihood"
    NOT_IDENTIFIED = (
        "converged, but the graph has more parameters than its distributions have dimensions: "
        "some parameters are not determined (not_identified names them); the likelihood, the "
        "covariance and the fit indices stand; graph.reduced() may remove redundant edges"
    )
    BOUNDARY = (
        "converged to the boundary of the distributions of this graph, where two parameter "
        "solutions meet (a feedback loop of gain −1, say) and the information is singular: the "
        "data probably come from another graph; standard errors do not exist"
    )
    AT_INFINITY = (
        "the likelihood has no maximum: it keeps rising while some coefficients grow without "
        "limit; the data probably come from a graph with a cycle through these nodes reversed: "
        "fit that graph (equivalence_class(graph) lists the candidates)"
    )
    ITERATION_LIMIT = (
        "stopped at the iteration limit before reaching the tolerance: the likelihood is very "
        "flat or the limit is low; raise max_iterations"
    )

    @property
    def is_converged(self) -> bool:
        """Whether the parameters are a maximum to within the tolerance."""
        return self not in (FitStatus.AT_INFINITY, FitStatus.ITERATION_LIMIT)


# From harmless to serious: a graph reports the last that any of its components has.
SEVERITY = {status: rank for rank, status in enumerate(FitStatus)}

"""The outcome of a fit, with its likely cause and the remedy, and warnings about it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from cyclearn.data import data_warnings as warn
from cyclearn.data.data_warnings import DataWarning
from cyclearn.foundation.stability import is_stable_radius

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel


class FitStatus(Enum):
    """Outcome of a maximum likelihood fit; the value is a sentence for people.

    Examples
    --------
    >>> FitStatus.CONVERGED.is_converged, FitStatus.AT_INFINITY.is_converged
    (True, False)
    """

    CONVERGED = "Converged to a maximum of the likelihood."
    NOT_IDENTIFIED = str(warn.NotIdentified())
    BOUNDARY = str(warn.BoundaryFit())
    AT_INFINITY = str(warn.NoMaximum())
    ITERATION_LIMIT = str(warn.IterationLimit())

    @property
    def warning(self) -> DataWarning | None:
        """The warning about this outcome; None for an ordinary maximum."""
        return _WARNINGS.get(self.value)

    @property
    def is_converged(self) -> bool:
        """Whether the parameters are a maximum to within the tolerance."""
        return self not in (FitStatus.AT_INFINITY, FitStatus.ITERATION_LIMIT)


# From harmless to serious: a graph reports the most serious status of its components.
SEVERITY = {status: rank for rank, status in enumerate(FitStatus)}
_WARNINGS: dict[str, DataWarning] = {
    str(each): each
    for each in (warn.NotIdentified(), warn.BoundaryFit(), warn.NoMaximum(), warn.IterationLimit())
}


# Largest modulus of an eigenvalue of B from which feedback is close to growing without limit.
_NEARLY_UNSTABLE = 0.95


def check_fit(fitted: FittedModel) -> tuple[DataWarning, ...]:
    """Warnings about a fit: feedback that grows, an optimum that is not an ordinary maximum.

    Examples
    --------
    >>> from cyclearn import DirectedGraph, Moments, fit
    >>> check_fit(fit(DirectedGraph.from_edges([(0, 1)]), Moments([[2, 1], [1, 2]], 50)))
    ()
    """
    found = list[DataWarning]()
    radius = fitted.model.spectral_radius
    if not is_stable_radius(radius):
        found.append(warn.UnstableFeedback(radius=radius))
    elif radius > _NEARLY_UNSTABLE:
        found.append(warn.SlowFeedback(radius=radius))
    if (problem := fitted.status.warning) is not None:
        found.append(problem)
    if fitted.alternatives:
        number = len(fitted.alternatives)
        found.append(warn.SeveralSolutions(n_others=number, is_stable=fitted.is_stable))
    return tuple(found)

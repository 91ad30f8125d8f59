"""Checks of a fit before it is trusted: feedback that grows, an optimum that is not ordinary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclearn.data.data_warnings import (
    DataWarning,
    SeveralSolutions,
    SlowFeedback,
    UnstableFeedback,
)
from cyclearn.foundation.stability import is_stable_radius

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel

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
        found.append(UnstableFeedback(radius=radius))
    elif radius > _NEARLY_UNSTABLE:
        found.append(SlowFeedback(radius=radius))
    if (problem := fitted.status.warning) is not None:
        found.append(problem)
    if fitted.alternatives:
        number = len(fitted.alternatives)
        found.append(SeveralSolutions(n_others=number, is_stable=fitted.is_stable))
    return tuple(found)

"""What to mind before trusting a fit: feedback that grows, an optimum that is no ordinary one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclearn.data.checks import DataWarning
from cyclearn.foundation.stability import is_stable_radius
from cyclearn.models.fit_status import FitStatus

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
    found = []
    radius = fitted.model.spectral_radius
    if not is_stable_radius(radius):
        found.append(
            DataWarning(
                "unstable",
                f"The fitted feedback grows without limit (spectral radius {radius:.2f}, it should "
                "be below 1).",
                "Do not read total effects; look for a stable member of the class, or ask whether "
                "the system was at rest when it was measured.",
                radius,
            )
        )
    elif radius > _NEARLY_UNSTABLE:
        found.append(
            DataWarning(
                "unstable",
                f"The fitted feedback dies out only slowly (spectral radius {radius:.3f}; at 1 it "
                "would not).",
                "Small changes of the data change total effects a lot: read those inside feedback "
                "groups as orders of magnitude.",
                radius,
            )
        )
    if fitted.status is not FitStatus.CONVERGED:
        message, _, remedy = fitted.status.value.partition(": ")
        found.append(
            DataWarning("fit", _sentence(message), _sentence(remedy), float(fitted.converged))
        )
    if fitted.alternatives:
        number = len(fitted.alternatives)
        found.append(
            DataWarning(
                "fit",
                f"{number} other set{'s' * (number != 1)} of coefficients on the same graph "
                f"fit{'s' * (number == 1)} exactly as well.",
                "The coefficients shown are those of "
                + ("a stable set" if fitted.is_stable else "one set")
                + "; the others are in model.alternatives.",
                float(number),
            )
        )
    return tuple(found)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."

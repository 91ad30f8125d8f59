"""What became of a fit: each outcome says its likely cause and the remedy."""

from __future__ import annotations

from enum import Enum

from cyclearn.data.data_warnings import (
    BoundaryFit,
    DataWarning,
    IterationLimit,
    NoMaximum,
    NotIdentified,
)


class FitStatus(Enum):
    """Outcome of a maximum likelihood fit; the value is a sentence for people.

    Examples
    --------
    >>> FitStatus.CONVERGED.is_converged, FitStatus.AT_INFINITY.is_converged
    (True, False)
    """

    CONVERGED = "Converged to a maximum of the likelihood."
    NOT_IDENTIFIED = str(NotIdentified())
    BOUNDARY = str(BoundaryFit())
    AT_INFINITY = str(NoMaximum())
    ITERATION_LIMIT = str(IterationLimit())

    @property
    def warning(self) -> DataWarning | None:
        """The warning about this outcome; None for an ordinary maximum."""
        return _WARNINGS.get(self)

    @property
    def is_converged(self) -> bool:
        """Whether the parameters are a maximum to within the tolerance."""
        return self not in (FitStatus.AT_INFINITY, FitStatus.ITERATION_LIMIT)


# From harmless to serious: a graph reports the last that any of its components has.
SEVERITY = {status: rank for rank, status in enumerate(FitStatus)}
_WARNINGS: dict[FitStatus, DataWarning] = {
    FitStatus.NOT_IDENTIFIED: NotIdentified(),
    FitStatus.BOUNDARY: BoundaryFit(),
    FitStatus.AT_INFINITY: NoMaximum(),
    FitStatus.ITERATION_LIMIT: IterationLimit(),
}

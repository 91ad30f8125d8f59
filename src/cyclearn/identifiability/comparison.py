"""What is known about the distribution sets of two graphs, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from cyclearn.classes.class_certificate import ClassCertificate
from cyclearn.classes.equivalence import Equivalence
from cyclearn.foundation.answers import Answer
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.identifiability.difference.separating_matrix import Separation
from cyclearn.identifiability.interior_points import InteriorPoint
from cyclearn.identifiability.numerics.numerical_overlap import Overlap


class Conclusion(Enum):
    """Whether two graphs generate the same distributions, and how that is known."""

    EQUIVALENT_BY_ROTATIONS = "equivalent, proved by rotations"
    EQUIVALENT_BY_RULES = "equivalent, proved by rules beyond rotations"
    DIFFERENT_DIMENSIONS = (
        "not equivalent, proved: the graphs allow different numbers of free parameters"
    )
    DIFFERENT_RANKS = (
        "not equivalent, proved: a submatrix of the precision or covariance matrix has another "
        "generic rank"
    )
    DIFFERENT_EQUATIONS = (
        "not equivalent, with an error probability below 10⁻¹⁰: the two sets satisfy different "
        "equations"
    )
    NOT_GENERATED = (
        "not equivalent, proved: one graph generates a distribution, and all near it, that the "
        "other cannot"
    )
    EQUAL_NUMERICALLY = "equal as far as numerics can tell"
    DISTINCT_NUMERICALLY = "distinct as far as numerics can tell"

    @property
    def is_equal(self) -> bool:
        """Whether the graphs generate the same distributions, by proof or by numerics."""
        return self in (
            Conclusion.EQUIVALENT_BY_ROTATIONS,
            Conclusion.EQUIVALENT_BY_RULES,
            Conclusion.EQUAL_NUMERICALLY,
        )

    @property
    def is_proved(self) -> bool:
        """Whether the answer is a proof; minors modulo two primes at two points count as one."""
        return self not in (Conclusion.EQUAL_NUMERICALLY, Conclusion.DISTINCT_NUMERICALLY)


class Sharing(Enum):
    """Whether two graphs share a set of distributions of positive measure (Definition 9)."""

    PROVED = "quasi equivalent, proved"
    NUMERICAL = "quasi equivalent as far as numerics can tell"
    REFUTED = "not quasi equivalent, proved: the closures of the distribution sets differ"
    NOT_FOUND = "not quasi equivalent as far as numerics can tell"

    @property
    def is_positive(self) -> bool:
        """Whether a set of positive measure is shared, by proof or by numerics."""
        return self in (Sharing.PROVED, Sharing.NUMERICAL)


class Closures(Enum):
    """Whether the (Zariski) closures of the two distribution sets agree."""

    EQUAL = "the closures agree, proved"
    EQUAL_NUMERICALLY = (
        "the closures agree as far as numerics can tell: equal tangent spaces at a common point"
    )
    DIFFERENT = "the closures differ, proved"
    UNDECIDED = "no common distribution was found at which the closures could be compared"


@dataclass(frozen=True, eq=False)
class Comparison(Answer):
    """The answer of :func:`compare`: true when the graphs generate the same distributions.

    ``verdict`` says whether the sets are equal, ``sharing`` whether they share a set of positive
    measure, ``closures`` whether their closures agree; each says if it is proved. ``evidence`` is
    the reason in sentences and ``data`` the same for machines. ``forward`` is the share of
    distributions of the first graph that the second generates, ``backward`` the other way; both
    are None if a proof made sampling unnecessary. ``first_in_second`` is true if a proof shows
    that the second graph generates every distribution of the first. ``proof`` holds the steps of
    rotations and rules that show the sets to be equal, ``certificate`` proves that
    the sets differ, ``shared`` that both hold all distributions near one; both can be verified.
    """

    first: DirectedGraph
    second: DirectedGraph
    verdict: Conclusion
    sharing: Sharing
    closures: Closures
    dimensions: tuple[int, int]
    evidence: tuple[str, ...]
    data: dict[str, Any]
    first_in_second: bool
    second_in_first: bool
    equivalence: Equivalence
    proof: ClassCertificate | None = None
    certificate: Separation | None = None
    shared: tuple[InteriorPoint, InteriorPoint] | None = None
    forward: Overlap | None = None
    backward: Overlap | None = None

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

    __str__ = explain

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

"""What a comparison of two graphs can say; the value of each verdict is a sentence."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """Whether two graphs generate the same distributions, and how that is known."""

    EQUIVALENT_BY_ROTATIONS = "equivalent, proved by rotations"
    EQUIVALENT_BY_RULES = "equivalent, proved by rules beyond rotations"
    DIFFERENT_DIMENSIONS = "not equivalent, proved: the distribution sets differ in dimension"
    DIFFERENT_RANKS = (
        "not equivalent, proved: a submatrix of the precision or covariance matrix has another "
        "generic rank"
    )
    DIFFERENT_EQUATIONS = (
        "not equivalent, but for a chance of error below 10⁻¹⁰: the two sets are bound by "
        "different equations"
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
            Verdict.EQUIVALENT_BY_ROTATIONS,
            Verdict.EQUIVALENT_BY_RULES,
            Verdict.EQUAL_NUMERICALLY,
        )

    @property
    def is_proved(self) -> bool:
        """Whether the answer is a proof; minors modulo two primes at two points count as one."""
        return self not in (Verdict.EQUAL_NUMERICALLY, Verdict.DISTINCT_NUMERICALLY)


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

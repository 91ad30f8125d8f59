"""What data can tell apart: exact invariants, rules beyond rotations, numerical comparison."""

from cyclearn.identifiability.comparison import Comparison as Comparison
from cyclearn.identifiability.comparison import QuasiEquivalence as QuasiEquivalence
from cyclearn.identifiability.comparison import compare as compare
from cyclearn.identifiability.comparison import quasi_equivalent as quasi_equivalent
from cyclearn.identifiability.numerical_overlap import Overlap as Overlap
from cyclearn.identifiability.numerical_overlap import Sampler as Sampler
from cyclearn.identifiability.verdicts import Closures as Closures
from cyclearn.identifiability.verdicts import Sharing as Sharing
from cyclearn.identifiability.verdicts import Verdict as Verdict

__all__ = [
    "Closures",
    "Comparison",
    "Overlap",
    "QuasiEquivalence",
    "Sampler",
    "Sharing",
    "Verdict",
    "compare",
    "quasi_equivalent",
]

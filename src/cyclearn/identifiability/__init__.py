"""Which graphs data distinguish: exact invariants, rules beyond rotations, numerical comparison."""

from cyclearn.identifiability.assumption_one import check_assumption_one as check_assumption_one
from cyclearn.identifiability.comparing import compare as compare
from cyclearn.identifiability.comparing import quasi_equivalent as quasi_equivalent
from cyclearn.identifiability.comparison import Closures as Closures
from cyclearn.identifiability.comparison import Comparison as Comparison
from cyclearn.identifiability.comparison import Conclusion as Conclusion
from cyclearn.identifiability.comparison import QuasiEquivalence as QuasiEquivalence
from cyclearn.identifiability.comparison import Sharing as Sharing
from cyclearn.identifiability.constraints.hard_constraints import Faithfulness as Faithfulness
from cyclearn.identifiability.constraints.hard_constraints import HardConstraint as HardConstraint
from cyclearn.identifiability.constraints.hard_constraints import (
    hard_constraints as hard_constraints,
)
from cyclearn.identifiability.constraints.hard_constraints import is_faithful as is_faithful
from cyclearn.identifiability.numerics.numerical_overlap import Sampler as Sampler

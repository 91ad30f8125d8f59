"""Too few rows for the number of variables: limits and a penalty against edges from noise.

With n rows, n − 1 parents explain a variable exactly, and among many pairs some are strongly
correlated by chance: with n ≤ 2 (p + 1) neither ½ log n nor any penalty that ignores n compensates
for this. A variable then has at most n / 10 parents, a feedback loop has one variable more, and the
penalty per edge is a gain that a superfluous edge reaches with small probability: given k parents
its squared partial correlation r² has a Beta(½, (n − k − 2) / 2) distribution, and its likelihood
ratio is −n/2 log(1 − r²), whose quantiles grow as k comes near n.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p

# Rows per variable above which none of this is needed.
_ROWS_PER_VARIABLE = 2
_ROWS_PER_PARENT = 10
# Expected number of superfluous edges, over all pairs, that exceed the penalty by chance.
_FALSE_EDGES = 0.2


@dataclass(frozen=True)
class FewRows:
    """Limits and the smallest penalty per edge, for few rows."""

    max_parents: int
    max_component: int
    price: float


def few_rows(n_effective: float, n_variables: int) -> FewRows | None:
    """The limits for this number of rows; None if there are enough rows.

    Examples
    --------
    >>> few_rows(500, 40) is None
    True
    >>> found = few_rows(20, 40)
    >>> found.max_parents, found.max_component, round(found.price, 1)
    (2, 3, 8.1)
    """
    n, p = n_effective, n_variables
    if p < 2 or n > _ROWS_PER_VARIABLE * (p + 1):
        return None
    # Imported here because it takes a second to load and few tables need it.
    from scipy.special import betainccinv

    most = max(int(n // _ROWS_PER_PARENT), 1)
    chance = _FALSE_EDGES / (p * (p - 1) / 2)
    # The last permitted parent is added to all the others.
    spare = max((n - (most - 1) - 2) / 2, 0.5)
    price = -n / 2 * log1p(-float(betainccinv(0.5, spare, min(chance, 0.5))))
    return FewRows(most, most + 1, price)

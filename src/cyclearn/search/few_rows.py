"""Fewer rows than variables can bear: limits and a price that keep noise from looking like edges.

With n rows, n − 1 parents explain a variable without remainder, and of many pairs some are
strongly correlated by chance: with n not above 2 (p + 1) neither ½ log n nor any penalty that
ignores n compensates for it. There a variable has at most n / 10 parents and a feedback loop one
variable more, and the penalty per edge is what a superfluous edge reaches with small probability:
given k parents its squared partial correlation r² has a Beta(½, (n − k − 2) / 2) distribution, and
its likelihood ratio is −n/2 log(1 − r²), whose quantiles grow as k comes near n.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p

# Rows a variable, above which nothing of this is needed.
_ROWS_PER_VARIABLE = 2
_ROWS_PER_PARENT = 10
# Superfluous edges, of all pairs, that pay the price by chance.
_FALSE_EDGES = 0.2


@dataclass(frozen=True)
class FewRows:
    """Limits and the least penalty per edge, for so few rows."""

    max_parents: int
    max_component: int
    price: float


def few_rows(n_effective: float, n_variables: int) -> FewRows | None:
    """What applies with this number of rows; None where they are enough.

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
    # It takes a second to load, which few tables need.
    from scipy.special import betainccinv

    most = max(int(n // _ROWS_PER_PARENT), 1)
    chance = _FALSE_EDGES / (p * (p - 1) / 2)
    # The last parent that is allowed joins all the others.
    spare = max((n - (most - 1) - 2) / 2, 0.5)
    price = -n / 2 * log1p(-float(betainccinv(0.5, spare, min(chance, 0.5))))
    return FewRows(most, most + 1, price)

"""What one edge costs: the λ of negative log-likelihood + λ·|E|."""

from __future__ import annotations

import re
from math import isfinite, log
from numbers import Real

from cyclearn.errors import InputError

Penalty = str | float


def edge_penalty(penalty: Penalty, n_samples: float, n_nodes: int) -> float:
    """λ for a penalty by name or by number.

    ``"bic"`` is ½ log n; ``"2 bic"`` (any number) a multiple of it; ``"ebic"`` adds log p, the
    extended BIC with γ = ½ for many variables and few samples; a number is λ itself.

    Examples
    --------
    >>> edge_penalty("bic", 10_000, 5) == 2 * edge_penalty("0.5 bic", 10_000, 5)
    True
    """
    bic = 0.5 * log(n_samples)
    if isinstance(penalty, str):
        if penalty == "ebic":
            return bic + log(n_nodes)
        found = re.fullmatch(r"(?:(\d+\.?\d*|\.\d+)\s*\*?\s*)?bic", penalty.strip())
        if found:
            return bic * float(found[1] or 1)
    elif isinstance(penalty, bool):
        pass
    elif isinstance(penalty, Real) and isfinite(penalty) and penalty >= 0:
        return float(penalty)
    raise InputError(
        f"penalty is {penalty!r}; give 'bic', a multiple such as '2 bic', 'ebic', or a number "
        "of at least zero"
    )

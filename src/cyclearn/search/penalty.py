"""The penalty per edge: the λ of negative log-likelihood + λ·|E|."""

from __future__ import annotations

import re
from math import isfinite, log
from numbers import Real

from cyclearn.foundation import InputError, short

Penalty = str | float

# Chosen among families of penalties by how often the learned graph is in the true class.
DEFAULT_PENALTY = "ebic 0.75"

_NUMBER = r"(\d+\.?\d*|\.\d+)"


def edge_penalty(penalty: Penalty, n_samples: float, n_nodes: float, n_groups: int = 1) -> float:
    """λ for a penalty by name or by number.

    ``"bic"`` is ½ log n, and ``"2 bic"`` (any number) a multiple of it. ``"ebic"`` is the extended
    BIC with γ = ½, ½ log n + log p, and ``"ebic 1"`` (any number) that with another γ:
    ½ log n + 2γ log p. ``"0.1 false edges"`` (any number) is the larger of ½ log n and what leaves
    this expected number of superfluous edges among the p(p − 1) possible ones: half the upper
    quantile of χ² with one degree of freedom. A number is λ itself. The default is ``"ebic 0.75"``:
    an edge must improve the log-likelihood by ½ log n, as in BIC, and by 1.5 log p more, because
    among many edges some gain a little by chance.

    With several groups ½ log n is added for each group, and the term in p once: an edge is one
    choice for all groups, with one weight in each.

    Examples
    --------
    >>> edge_penalty("bic", 10_000, 5) == 2 * edge_penalty("0.5 bic", 10_000, 5)
    True
    >>> [round(edge_penalty(name, 10_000, 20), 2) for name in ("bic", "ebic", "0.1 false edges")]
    [4.61, 7.6, 6.66]
    """
    bic = 0.5 * log(n_samples)
    if isinstance(penalty, str):
        text = penalty.strip()
        if found := re.fullmatch(rf"(?:{_NUMBER}\s*\*?\s*)?bic", text):
            return bic * float(found[1] or 1)
        if found := re.fullmatch(rf"ebic(?:\s+{_NUMBER})?", text):
            return bic + 2 * float(found[1] or 0.5) * log(n_nodes) / n_groups
        if found := re.fullmatch(rf"{_NUMBER} false edges", text):
            share = min(float(found[1]) / max(n_nodes * (n_nodes - 1), 1), 1.0)
            if share > 0:
                from scipy.special import chdtri

                return max(bic, 0.5 * float(chdtri(n_groups, share)) / n_groups)
    elif isinstance(penalty, bool):
        pass
    elif isinstance(penalty, Real) and isfinite(penalty) and penalty >= 0:
        return float(penalty)
    raise InputError(
        f"penalty is {short(penalty)}; give 'ebic 0.75' (the default), 'ebic', 'bic', a multiple "
        "such as '2 bic', '0.1 false edges', or a number of at least zero"
    )

"""The prior over graphs: few causes, and small feedback loops.

The prior subtracts penalties from a graph's log probability: a part of λ for each edge, and
``loop_cost`` for each variable of a feedback loop beyond the fifth.
"""

from __future__ import annotations

from math import log

import numpy as np

from cyclearn.foundation.arrays import FloatArray

# The prior on edges, besides ½ log n: this many times log p, as in the default search penalty,
# less a constant. Chosen by calibration with five, ten and twenty variables
# (benchmarks/results/posterior_calibration.md).
_TIMES_LOG_P, _LESS = 1.5, 1.3
# Without it, large loops would be too probable, because there are so many graphs with them.
_SMALL_LOOP = 5
LOOP_COST = 2.0


def posterior_penalty(n_samples: float, n_variables: int) -> float:
    """λ of the posterior: ½ log n + 1.5 log p − 1.3, at least ½ log n.

    ½ log n approximates the effect of the prior of an additional parameter (BIC). The rest is the
    prior on edges: the term in p of the default search penalty, minus 1.3. Its expected number of
    causes per variable is about one with up to ten variables, 0.75 with twenty, 0.5 with fifty.

    Examples
    --------
    >>> round(posterior_penalty(1, 20), 3) == round(1.5 * log(20) - 1.3, 3)
    True
    """
    return 0.5 * log(n_samples) + max(0.0, _TIMES_LOG_P * log(n_variables) - _LESS)


def costs_by_size(n_variables: int, loop_cost: float) -> FloatArray:
    """The penalty of a component of k variables, k = 0, …, p: zero up to five, then linear.

    Examples
    --------
    >>> costs_by_size(7, 2.0).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 4.0]
    """
    beyond = np.maximum(np.arange(n_variables + 1.0) - _SMALL_LOOP, 0.0)
    return np.asarray(loop_cost * beyond)

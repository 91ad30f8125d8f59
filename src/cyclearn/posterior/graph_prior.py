"""What is believed of a graph before looking at the data: few causes, and small feedback loops.

Beliefs are costs, which the logarithm of a graph's probability loses: a part of λ for each edge,
and ``loop_cost`` for each variable of a feedback loop beyond the fifth.
"""

from __future__ import annotations

from math import log

import numpy as np

from cyclearn.foundation.arrays import FloatArray

# The prior on edges, besides ½ log n: this many times log p, as in the default search penalty,
# less a constant. Chosen by calibration with five, ten and twenty variables
# (benchmarks/results/posterior_calibration.md).
_TIMES_LOG_P, _LESS = 1.5, 1.3
# Edges alone would let large loops be too probable, only because graphs with them are so many.
_SMALL_LOOP = 5
LOOP_COST = 2.0


def posterior_penalty(n_samples: float, n_variables: int) -> float:
    """λ of the posterior: ½ log n + 1.5 log p − 1.3, at least ½ log n.

    ½ log n is what the likelihood of a further parameter loses to its prior (BIC). The rest is the
    prior on edges: that of the default price of a search, less 1.3. It expects about one cause a
    variable with up to ten variables, 0.75 with twenty, 0.5 with fifty.

    Examples
    --------
    >>> round(posterior_penalty(1, 20), 3) == round(1.5 * log(20) - 1.3, 3)
    True
    """
    return 0.5 * log(n_samples) + max(0.0, _TIMES_LOG_P * log(n_variables) - _LESS)


def costs_by_size(n_variables: int, loop_cost: float) -> FloatArray:
    """What a component of k variables costs, k = 0, …, p: nothing up to five, then linear.

    Examples
    --------
    >>> costs_by_size(7, 2.0).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 4.0]
    """
    beyond = np.maximum(np.arange(n_variables + 1.0) - _SMALL_LOOP, 0.0)
    return np.asarray(loop_cost * beyond)

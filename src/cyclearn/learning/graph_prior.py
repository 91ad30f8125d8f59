"""What is believed of a graph before looking at the data: few causes, and small feedback groups.

Beliefs are costs, which the logarithm of a graph's probability loses: a part of λ for each edge,
and ``group_cost`` for each variable of a feedback group beyond the fifth.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

# Parents that a variable is expected to have before looking at the data: random graphs of the
# paper's experiments have one to one and a half. Close to the best of seven choices with five and
# ten variables (benchmarks/results/posterior_calibration.md).
EXPECTED_PARENTS = 1.5
# Edges alone would make large groups the rule: with one and a half causes a variable, most graphs
# of fifty variables have a group of a dozen or two, only because such graphs are so many.
_SMALL_GROUP = 5
GROUP_COST = 2.0


def posterior_penalty(n_samples: float, n_variables: int) -> float:
    """λ of the posterior: ½ log n + log(p / 1.5), at least ½ log n.

    ½ log n is what the likelihood of a further parameter loses to its prior (BIC). The second
    part is the prior on edges: odds of one to p/1.5, as if each variable had about 1.5 parents.

    Examples
    --------
    >>> round(posterior_penalty(1000, 15), 3) == round(0.5 * log(1000) + log(10), 3)
    True
    """
    return 0.5 * log(n_samples) + max(0.0, log(n_variables / EXPECTED_PARENTS))


def costs_by_size(n_variables: int, group_cost: float) -> NDArray[np.float64]:
    """What a component of k variables costs, k = 0, …, p: nothing up to five, then linear.

    Examples
    --------
    >>> costs_by_size(7, 2.0).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 4.0]
    """
    beyond = np.maximum(np.arange(n_variables + 1.0) - _SMALL_GROUP, 0.0)
    return np.asarray(group_cost * beyond)

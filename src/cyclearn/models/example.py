"""A small system with feedback, for demonstrations."""

from __future__ import annotations

import numpy as np

from cyclearn.models.linear_gaussian import LinearGaussianModel

EXAMPLE_ROWS = 2_000
# Supply and demand: price and quantity drive each other, and what is sold leaves the stock, which
# moves the price again.
MARKET = LinearGaussianModel(
    B=np.array(
        [
            [0, 0, 0.7, 0, 0, 0],
            [0, 0, 0, 0.8, 0, 0],
            [0, 0, 0, -0.6, 0, 0.5],
            [0, 0, 0.5, 0, -0.7, 0.6],
            [0, 0, -0.3, 0, 0, 0],
            [0, 0, 0, 0, 0, 0],
        ]
    ),
    noise_variances=[1, 1, 1, 1, 1, 1],
    names=["costs", "income", "price", "quantity", "stock", "profit"],
)

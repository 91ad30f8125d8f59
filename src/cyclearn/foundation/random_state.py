"""Random numbers from ``random_state``, the same for all functions."""

from __future__ import annotations

import numpy as np

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short

RandomState = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: RandomState) -> np.random.Generator:
    """Numpy generator for a seed, a Generator, a RandomState (drawn from) or None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state is {short(random_state)}; give a whole number of at least 0, "
            "a numpy Generator or None"
        ) from None

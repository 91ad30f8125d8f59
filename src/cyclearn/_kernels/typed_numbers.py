"""Numbers that kernels share.

In compiled code a literal has its own type, so ``f(1)`` and ``f(n)`` would compile ``f`` twice.
The numbers here are for calls from one kernel to another and have the type that variables have.
"""

from __future__ import annotations

from typing import cast

import numpy as np

FALSE, TRUE = cast(bool, np.bool_(False)), cast(bool, np.bool_(True))
NONE = cast(int, np.int64(-1))
ZERO, ONE, TWO = (cast(int, np.int64(n)) for n in range(3))

# Smaller changes of the score per sample are rounding: scores are sums of at most a few hundred
# terms of order one.
ROUNDING = 1e-10

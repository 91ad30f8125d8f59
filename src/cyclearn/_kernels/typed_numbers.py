"""Numbers that kernels share.

In compiled code a literal has a type of its own, so that ``f(1)`` and ``f(n)`` compile ``f`` twice.
Those for calls from one kernel to another have the type that variables have.
"""

from __future__ import annotations

from typing import cast

import numpy as np

FALSE, TRUE = cast(bool, np.bool_(False)), cast(bool, np.bool_(True))
NONE = cast(int, np.int64(-1))
ZERO, ONE, TWO = (cast(int, np.int64(n)) for n in range(3))

# Changes of score per sample that are smaller are rounding: scores are sums of a few hundred terms
# of order one at most.
ROUNDING = 1e-10

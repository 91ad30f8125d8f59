"""Numbers for calls from one kernel to another.

In compiled code a literal has a type of its own, so that ``f(1)`` and ``f(n)`` compile ``f`` twice.
These have the type that variables have.
"""

from __future__ import annotations

from typing import cast

import numpy as np

FALSE, TRUE = cast(bool, np.bool_(False)), cast(bool, np.bool_(True))
NONE = cast(int, np.int64(-1))
ZERO, ONE, TWO = (cast(int, np.int64(n)) for n in range(3))

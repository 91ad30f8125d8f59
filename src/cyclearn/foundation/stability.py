"""The rule for stable feedback, used everywhere."""

from __future__ import annotations

# Feedback dies out where every eigenvalue of B has modulus below 1. Optima on the boundary are
# common, and rounding puts them on different sides of 1 on different processors, so they count as
# unstable.
STABLE_RADIUS = 1 - 1e-5


def is_stable_radius(radius: float) -> bool:
    """Whether feedback with this spectral radius dies out.

    Examples
    --------
    >>> is_stable_radius(0.9), is_stable_radius(1 - 1e-7)
    (True, False)
    """
    return radius < STABLE_RADIUS

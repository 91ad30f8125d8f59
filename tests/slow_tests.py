"""Which tests `make test` leaves to `make slow`."""

import pytest

slow = pytest.mark.slow


def few(n, cases):
    """Cases to parametrise a test with: those after the first ``n`` are slow tests."""
    cases = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*case, marks=slow if at >= n else ()) for at, case in enumerate(cases)]

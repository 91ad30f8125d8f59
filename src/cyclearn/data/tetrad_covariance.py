"""Tetrad's text of a covariance matrix: the number of rows, the names, a lower triangle."""

from __future__ import annotations

import re

import numpy as np

from cyclearn.data.input_checks import number_of
from cyclearn.foundation.arrays import FloatArray


def tetrad_covariance(text: str) -> tuple[int, list[str], FloatArray] | None:
    r"""The number of rows, the names and the matrix; None if the text is something else.

    Lines of comments begin with ``//``, and a first line ``/covariance`` may say what it is.

    Examples
    --------
    >>> tetrad_covariance("100\na b\n1.0\n.5 2.0\n")
    (100, ['a', 'b'], array([[1. , 0.5],
           [0.5, 2. ]]))
    >>> tetrad_covariance("a b\n1 2\n")
    """
    lines = [re.split(r"[\s,]+", line.strip()) for line in text.splitlines()]
    lines = [line for line in lines if line != [""] and not line[0].startswith("/")]
    if len(lines) < 4 or len(lines[0]) != 1 or not lines[0][0].isdigit():
        return None
    names, rows = lines[1], lines[2:]
    numbers = [[number_of(cell) for cell in row] for row in rows]
    is_triangle = [len(row) for row in rows] == list(range(1, len(names) + 1))
    if not is_triangle or any(cell is None for row in numbers for cell in row):
        return None
    S = np.zeros((len(names), len(names)))
    S[np.tril_indices(len(names))] = [cell for row in numbers for cell in row]
    return int(lines[0][0]), names, S + np.tril(S, -1).T

"""The one loop over components and starts behind fit, projection and overlap.

The negative log-likelihood is a sum over strongly connected components, and of each the best
conceivable value is known before any fit: what the component would reach if it could generate every
distribution of its nodes given its outside parents. A fit wants every start, because solutions of
equal likelihood are part of its answer. A distance only wants the least value: a component that
has come as low as is conceivable is left alone, and the rest ends with the first sum that is low
enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cyclearn.models.component_columns import ComponentColumns

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Most answers need only the first start, so it is tried alone; then five times as many each time.
_GROWTH = 5


@dataclass(frozen=True, eq=False)
class ComponentRuns:
    """Where the starts of one component led: arrays with an entry or a row for every run."""

    columns: ComponentColumns
    values: FloatArray
    coefficients: FloatArray
    gradient_norms: FloatArray
    iterations: IntArray
    codes: IntArray

    @classmethod
    def of(
        cls,
        R: FloatArray,
        columns: ComponentColumns,
        starts: FloatArray,
        tolerance: float,
        max_iterations: int,
    ) -> ComponentRuns:
        """Run from every row of ``starts``, and once more from the best with its gain inverted."""
        from cyclearn._kernels.component_optima import fit_component_from_starts

        nodes, offsets, parents = columns.nodes, columns.offsets, columns.parents
        return cls(
            columns,
            *fit_component_from_starts(
                R, nodes, offsets, parents, starts, tolerance, max_iterations
            ),
        )

    @classmethod
    def none(cls, columns: ComponentColumns) -> ComponentRuns:
        """No run yet."""
        numbers, counts = np.empty(0), np.empty(0, dtype=np.int64)
        coefficients = np.empty((0, len(columns.parents)))
        return cls(columns, numbers, coefficients, numbers, counts, counts)

    def joined(self, others: ComponentRuns) -> ComponentRuns:
        """These runs and others."""
        if not len(self.values):
            return others
        return ComponentRuns(
            self.columns,
            np.concatenate([self.values, others.values]),
            np.concatenate([self.coefficients, others.coefficients]),
            np.concatenate([self.gradient_norms, others.gradient_norms]),
            np.concatenate([self.iterations, others.iterations]),
            np.concatenate([self.codes, others.codes]),
        )

    @property
    def least(self) -> float:
        """The smallest value that was found, infinite without any."""
        return float(self.values.min(initial=np.inf))

    @property
    def best_coefficients(self) -> FloatArray:
        """The coefficients at the smallest value."""
        return np.asarray(self.coefficients[self.values.argmin()])


def run_components(
    R: FloatArray,
    loops: Sequence[ComponentColumns],
    starts: Sequence[FloatArray],
    *,
    tolerance: float,
    max_iterations: int,
    close: float | None = None,
    bound: float | None = None,
) -> list[ComponentRuns]:
    """Run every component from its starts, shape (n_starts, edges) each.

    Without ``close`` every component is run from all of its starts. With it starts are tried in
    stages, and a component so close to its least conceivable value is not run again. A ``bound``
    ends all stages once the best values sum to less than it, and keeps every run away where even
    the least conceivable values sum to more.
    """
    runs = [ComponentRuns.none(columns) for columns in loops]
    stages = [max((len(rows) for rows in starts), default=0)]
    least = [-np.inf] * len(loops)
    if close is not None:
        least = [least_value(R, columns) for columns in loops]
        while stages[0] > 1:
            stages.insert(0, (stages[0] - 1) // _GROWTH + 1)
    if bound is not None and sum(least) >= bound:
        return runs
    done = 0
    for stage in stages:
        for n, columns in enumerate(loops):
            rows = starts[n][done:stage]
            if len(rows) and (close is None or runs[n].least - least[n] >= close):
                found = ComponentRuns.of(R, columns, rows, tolerance, max_iterations)
                runs[n] = runs[n].joined(found)
        if bound is not None and sum(run.least for run in runs) < bound:
            break
        done = stage
    return runs


def least_value(R: FloatArray, columns: ComponentColumns) -> float:
    """Half the log determinant of the covariance of a component given its outside parents."""
    outside = np.unique(columns.parents[~columns.inside])
    both = np.concatenate([columns.nodes, outside])
    value = np.linalg.slogdet(R[np.ix_(both, both)])[1]
    if len(outside):
        value -= np.linalg.slogdet(R[np.ix_(outside, outside)])[1]
    return 0.5 * float(value)

"""Maximum likelihood for tables with interventions, which share their weights.

A node's intercept, weights and variance are estimated from all rows in which it was not a perfect
target. Rows in which its noise was changed contribute with a separate variance and intercept; rows
in which it was shifted, with a separate intercept. So the likelihood needs covariances of sets of
rows; see :mod:`cyclearn._kernels.shared_weights`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from cyclearn.data.intervened_tables import target_mask
from cyclearn.data.moments import Moments
from cyclearn.data.tables import Design, Tables
from cyclearn.data.tables import InterventionKind as Kind
from cyclearn.foundation import InputError, is_stable_radius
from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models import components
from cyclearn.models.fit_status import FitStatus

if TYPE_CHECKING:
    from cyclearn._kernels.shared_weights import Pooled


@dataclass(frozen=True, eq=False)
class Experiments:
    """Tables that share their weights, on the scale of the standard deviations of all rows.

    Attributes
    ----------
    tables : Tables
    scale : array of shape (p,)
        Standard deviations over all rows.
    covariances : array of shape (tables, p, p)
        Of each table; a target that was held constant has variance one and no covariances.
    targeted : array of shape (tables, p)
        Which variables were cut off from their parents, or are exogenous.
    matrices : array of shape (sets of rows, p, p)
        Covariances of sets of rows, that of all rows first.
    at, which, weights : arrays
        The terms of node i are ``at[i]`` to ``at[i + 1]``, the one with its ordinary noise first:
        the number of a matrix, and its share of all rows.
    means : array of shape (p, p)
        Row i: means of all variables over the rows of the first term of node i.
    """

    tables: Tables
    scale: FloatArray
    covariances: FloatArray
    targeted: NDArray[np.uint8]
    matrices: FloatArray
    at: IntArray
    which: IntArray
    weights: FloatArray
    means: FloatArray

    @classmethod
    def of(cls, tables: Tables) -> Experiments:
        """Construct from tables that have been checked."""
        design = tables.design or Design()
        moments = [table.moments for table in tables]
        p, everything = tables.n_variables, tuple(range(len(moments)))
        mask, given = target_mask(tables), moments[0].is_exogenous
        is_shared = design.intercepts == "shared"
        scale = np.sqrt(_pooled(tables, everything, True)[0].diagonal())
        of_kind = {kind: mask & [[t.kind == kind] for t in tables] for kind in get_args(Kind)}
        # Rows with a common intercept, and tables with their own intercept but the same noise.
        sets: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {(everything, ()): 0}
        at, which, weights, means = [0], list[int](), list[float](), list[FloatArray]()
        for i in range(p):
            free = tuple(np.flatnonzero(~mask[:, i]).tolist())
            shifted = tuple(np.flatnonzero(of_kind["shift"][:, i]).tolist())
            terms = [(free, shifted)] if free or shifted else []
            terms += [((e,), ()) for e in np.flatnonzero(of_kind["noise"][:, i]).tolist()]
            for rows, apart in [] if given[i] else terms:
                which.append(sets.setdefault((rows, apart), len(sets)))
                effective = sum(tables.tables[e].n_effective for e in (*rows, *apart))
                weights.append(effective / tables.n_effective)
            at.append(len(which))
            first = terms[0] if terms and not given[i] else (everything, ())
            means.append(_pooled(tables, first[0], True, first[1])[1])
        unit = np.outer(scale, scale)
        matrices = [_pooled(tables, rows, is_shared, apart)[0] / unit for rows, apart in sets]
        # Exogenous variables have no equation, like variables that are targets in every table.
        targeted = given | of_kind["perfect"]
        each = zip(moments, targeted, strict=True)
        own = [_without_constants(m.covariance / unit, is_set) for m, is_set in each]
        return cls(
            tables=tables,
            scale=scale,
            covariances=np.array(own),
            targeted=targeted.astype(np.uint8),
            matrices=np.array(matrices),
            at=np.array(at),
            which=np.array(which, dtype=np.int64),
            weights=np.array(weights),
            means=np.array(means),
        )

    @cached_property
    def is_special(self) -> BoolArray:
        """Nodes that were perfect targets, or had different noise, in some tables."""
        return np.array([self.which[a:b].tolist() != [0] for a, b in self._ranges])

    @property
    def _ranges(self) -> list[tuple[int, int]]:
        return list(zip(self.at[:-1].tolist(), self.at[1:].tolist(), strict=True))

    @property
    def n_rows(self) -> FloatArray:
        """Number of rows from which the equation of each node is estimated, shape (p,).

        One less if an intercept is estimated from them too.
        """
        n_shifted = [table.kind == "shift" for table in self.tables] @ target_mask(self.tables)
        n = (1 - self.targeted).T @ [table.moments.n_samples for table in self.tables]
        return np.asarray(n - n_shifted)

    @cached_property
    def n_effective(self) -> FloatArray:
        """Effective sample size of the equation of each node, shape (p,)."""
        shares = np.array([self.weights[a:b].sum() for a, b in self._ranges])
        return shares * self.tables.n_effective

    @property
    def is_set_everywhere(self) -> BoolArray:
        """Nodes that were perfect targets in every table: they have no equation and no parents."""
        return np.asarray(self.at[1:] == self.at[:-1])

    @cached_property
    def pooled(self) -> Pooled:
        """The sets of rows, as arguments of kernels."""
        from cyclearn._kernels.shared_weights import Pooled

        special, tables = self.is_special.astype(np.uint8), np.array([0, len(self.tables)])
        return Pooled(self.matrices, self.at, self.which, self.weights, special, tables)

    def first_matrix(self, node: int) -> FloatArray:
        """The covariance of the rows of a node's first term."""
        return np.asarray(self.matrices[self.which[self.at[node]]])

    @cached_property
    def moments(self) -> Moments:
        """Mean and covariance of all rows together."""
        S, mean = _pooled(self.tables, tuple(range(len(self.tables))), True)
        first = self.tables.tables[0].moments
        return first._changed(covariance=S, n_samples=self.tables.n_samples, mean=mean)

    def largest_radius(self, B: FloatArray, nodes: IntArray | None = None) -> float:
        """The largest spectral radius of B and of B with the columns of targets removed.

        ``nodes`` are the variables of B, all by default.
        """
        cut = self.targeted.astype(bool)
        cut = cut if nodes is None else cut[:, nodes]
        largest = 0.0
        for targets in np.unique(np.vstack([cut, np.zeros_like(cut[:1])]), axis=0):
            held = np.where(targets, 0.0, B)
            largest = max(largest, float(np.abs(np.linalg.eigvals(held)).max()))
        return largest

    def is_stable(self, B: FloatArray) -> bool:
        """Whether the observed system and every mutilated one are stable."""
        return bool(is_stable_radius(self.largest_radius(B)))


@dataclass(frozen=True, eq=False)
class GroupedExperiments:
    """Tables with interventions, in groups that each share their weights; often only one group."""

    tables: Tables
    groups: tuple[Experiments, ...]

    @classmethod
    def of(cls, tables: Tables) -> GroupedExperiments:
        """Construct from tables that have been checked."""
        return cls(tables, tuple(map(Experiments.of, tables.by_group.values())))

    @cached_property
    def shares(self) -> FloatArray:
        """The share of each group in the effective sample size."""
        sizes = [each.tables.n_effective for each in self.groups]
        return np.asarray(np.array(sizes) / sum(sizes))

    @property
    def covariances(self) -> FloatArray:
        """Those of every table, each on the scale of its group."""
        return np.concatenate([each.covariances for each in self.groups])

    @property
    def targeted(self) -> NDArray[np.uint8]:
        """Which variables were cut off from their parents in which table."""
        return np.concatenate([each.targeted for each in self.groups])

    @property
    def n_rows(self) -> FloatArray:
        """Number of rows for the equation of each node, in the group with the fewest."""
        return np.asarray(np.min([each.n_rows for each in self.groups], axis=0))

    @property
    def is_set_everywhere(self) -> BoolArray:
        """Nodes that were perfect targets in every table of every group.

        A node that always was one in some of the groups would have no equation there.
        """
        found = np.array([each.is_set_everywhere for each in self.groups])
        for group, node in np.argwhere(found & ~found.all(axis=0))[:1].tolist():
            raise InputError(
                f"group {self.tables.groups[group]!r}: {self.tables.names[node]!r} was intervened "
                "on in every table of the group, but not in other groups, so weights of its "
                "parents cannot be estimated there; omit the group, or add a table to it"
            )
        return np.asarray(found[0])

    @property
    def log_constant(self) -> float:
        """From standardised values to the negative log-likelihood of all rows."""
        each_log = [0.5 * (np.log(2 * np.pi) + 1) + np.log(each.scale) for each in self.groups]
        return sum(
            float(each.n_effective @ logs) for each, logs in zip(self.groups, each_log, strict=True)
        )

    @cached_property
    def pooled(self) -> Pooled:
        """The sets of rows of all groups, as arguments of kernels."""
        if len(self.groups) == 1:
            return self.groups[0].pooled
        each = [group.pooled for group in self.groups]
        n_terms = np.cumsum([0, *(len(own.which) for own in each[:-1])])
        n_sets = np.cumsum([0, *(len(own.matrices) for own in each[:-1])])
        return each[0]._replace(
            matrices=np.concatenate([own.matrices for own in each]),
            at=np.concatenate(
                [[0], *(own.at[1:] + n for own, n in zip(each, n_terms, strict=True))]
            ),
            which=np.concatenate([own.which + n for own, n in zip(each, n_sets, strict=True)]),
            weights=np.concatenate(
                [share * own.weights for own, share in zip(each, self.shares, strict=True)]
            ),
            is_special=np.ones_like(each[0].is_special),
            tables=np.cumsum([0, *(len(group.tables) for group in self.groups)]),
        )


def _pooled(
    tables: Tables, rows: tuple[int, ...], about_one_mean: bool, apart: tuple[int, ...] = ()
) -> tuple[FloatArray, FloatArray]:
    """Covariance of the rows of some tables, about one mean or each about its own; their mean.

    Tables ``apart`` are centred at their own means, and contribute to the common mean only if all
    are.
    """
    some = [tables.tables[e] for e in (*rows, *apart)]
    n = np.array([table.n_effective for table in some])
    share = n / n.sum()
    # Tables of one row have no covariance, and there may be many.
    wide = [e for e, table in enumerate(some) if table.moments.n_samples > 1] or [0]
    S = np.einsum("e,eij->ij", share[wide], [some[e].moments.covariance for e in wide])
    known = [table.moments.mean for table in some]
    if any(mean is None for mean in known):
        return S, np.zeros(len(S))
    centres = np.array(known, dtype=float)
    together = slice(len(rows) or None)
    mean = n[together] / n[together].sum() @ centres[together]
    if about_one_mean and rows:
        between = centres[together] - mean
        S = S + (share[together, None] * between).T @ between
    return S, mean


def _without_constants(S: FloatArray, is_set: BoolArray) -> FloatArray:
    constant = (S.diagonal() <= 1e-20) & is_set
    S = np.where(constant[:, None] | constant, 0.0, S)
    S[constant, constant] = 1.0
    return S


# Predicted gain in log-likelihood per sample of another Newton step.
_TOLERANCE = 1e-12


def fit_shared(
    experiments: Experiments,
    columns: components.ComponentColumns,
    options: components.FitOptions = components.USUAL,
) -> components.ComponentFit:
    """Fit one component, or a single node, to all tables; its value is for a sample of all."""
    nodes, n_starts = columns.nodes, options.n_starts
    if len(nodes) == 1:
        n_terms = int(experiments.at[nodes[0] + 1] - experiments.at[nodes[0]])
        if n_terms < 2:
            return _least_squares(experiments, columns, n_terms)
        # One equation with several variances: the weighted sum of logarithms has few optima.
        n_starts = 1 if n_starts is None else n_starts
    elif not experiments.is_special[nodes].any():
        return components.fit_component_solutions(experiments.matrices[0], columns, options)
    starts = components.fit_starts(columns, n_starts, options.random_state)
    return _solutions(experiments, _runs(experiments, columns, starts, options.max_iterations))


def _least_squares(
    experiments: Experiments, columns: components.ComponentColumns, n_terms: int
) -> components.ComponentFit:
    """A single node with one set of rows; without rows it has no equation, only a variance."""
    node = int(columns.nodes[0])
    if n_terms == 0:
        # Its values were set by interventions: it has no noise.
        variance = experiments.matrices[0][node, node]
        solution = components.ComponentSolution(np.empty(0), np.array([variance]), 0.0)
        return components.ComponentFit(columns, 0.0, 0.0, 0, FitStatus.CONVERGED, (solution,), 0)
    fitted = components.fit_single_nodes(experiments.first_matrix(node), columns)
    weight = float(experiments.weights[experiments.at[node]])
    return replace(fitted, value=weight * fitted.value)


def _runs(
    experiments: Experiments,
    columns: components.ComponentColumns,
    starts: FloatArray,
    max_iterations: int,
) -> components.ComponentRuns:
    """Run from regressions, half and whole, every start, and the best with its gain inverted."""
    from cyclearn._kernels.component_optima import inverted_gain
    from cyclearn._kernels.shared_weights import fit_shared_component, regressions

    def run(start: FloatArray) -> Any:
        return fit_shared_component(
            experiments.pooled,
            experiments.tables.shares,
            experiments.targeted,
            *columns.layout,
            start,
            _TOLERANCE,
            max_iterations,
        )

    regressed = regressions(experiments.pooled, *columns.layout)
    found = [run(np.ascontiguousarray(start)) for start in (0.5 * regressed, regressed, *starts)]
    if len(columns.nodes) > 1:
        best = min(found, key=lambda each: each[0])
        found.append(run(inverted_gain(columns.nodes, columns.parents, best[1])))
    return components.ComponentRuns(columns, *map(np.array, zip(*found, strict=True)))


def _solutions(experiments: Experiments, runs: components.ComponentRuns) -> components.ComponentFit:
    from cyclearn._kernels.component_fit import CONVERGED

    def n_flat(best: components.ComponentSolution, code: int) -> int:  # noqa: ARG001 - as for one table
        return 0 if code == CONVERGED else max(components.generic_deficiency(runs.columns), 1)

    return components.best_fit(
        experiments.matrices[0], runs, lambda b: _solution(experiments, runs.columns, b), n_flat
    )


def _solution(
    experiments: Experiments, columns: components.ComponentColumns, b: FloatArray
) -> components.ComponentSolution:
    """Variances of the ordinary noise, and the largest radius of any system of the tables."""
    k = len(columns.nodes)
    variances = np.empty(k)
    for i, node in enumerate(columns.nodes.tolist()):
        own = slice(columns.offsets[i], columns.offsets[i + 1])
        S = experiments.first_matrix(node)
        index = np.append(columns.parents[own], node)
        q = np.append(-b[own], 1.0)
        variances[i] = q @ S[np.ix_(index, index)] @ q
    B = np.zeros((k, k))
    B[columns.ends[0], columns.ends[1]] = b[columns.inside]
    return components.ComponentSolution(b, variances, experiments.largest_radius(B, columns.nodes))


def observed_mean(experiments: Experiments, B: FloatArray) -> FloatArray:
    """The mean of the undisturbed system, from the intercepts of its equations."""
    means = experiments.means
    everywhere = experiments.is_set_everywhere
    intercepts = means.diagonal() - (means * B.T).sum(axis=1)
    intercepts = np.where(everywhere, experiments.moments.mean, intercepts)
    return np.asarray(np.linalg.solve(np.eye(len(B)) - B.T, intercepts))


def mean_residuals(experiments: Experiments, B: FloatArray, variances: FloatArray) -> FloatArray:
    """Residuals of the means of every table, in standard errors, shape (tables, p).

    NaN for targets, and if a mean or an equation is unknown.
    """
    tables = experiments.tables
    Q = np.eye(len(B)) - B
    intercepts = (experiments.means * Q.T).sum(axis=1)
    nan = np.full(len(B), np.nan)
    means = [nan if t.moments.mean is None else t.moments.mean for t in tables]
    sizes = np.sqrt([table.n_effective for table in tables])
    left = (np.array(means) @ Q - intercepts) * sizes[:, None] / np.sqrt(variances)
    return np.where(target_mask(tables) | experiments.targeted.astype(bool), np.nan, left)


def check_rows(graph: DirectedGraph, experiments: Experiments) -> None:
    """Raise if a node has too few rows for its parents, or has parents but was always a target."""
    for j, name in enumerate(graph.names):
        n_parents = graph.columns[j].bit_count() - 1
        if experiments.is_set_everywhere[j]:
            if n_parents:
                raise InputError(
                    f"{name!r} was intervened on in every table, so nothing can be learned about "
                    "its parents; remove the edges into it, or add a table in which it was not "
                    "intervened on"
                )
        elif experiments.n_rows[j] < n_parents + 2:
            raise InputError(
                f"{name!r} has {n_parents} parents but only {experiments.n_rows[j]:.0f} rows "
                "without an intervention on it; at least two more rows than parents are needed: "
                "drop parents or add rows"
            )


def shared_information(
    experiments: Experiments, B: FloatArray, edges: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Second derivatives of the negative log-likelihood of all rows, on the standardised scale.

    Parameters are the weights of ``edges``, shape (m, 2), and then the noise variances term by
    term; returns the matrix and these variances.
    """
    m, n_terms = len(edges), len(experiments.which)
    n = experiments.tables.n_effective
    info = np.zeros((m + n_terms, m + n_terms))
    variances = np.empty(n_terms)
    p = len(B)
    Q = np.eye(p) - B
    for i in range(p):
        into = np.flatnonzero(edges[:, 1] == i)
        parents = edges[into, 0]
        for t in range(experiments.at[i], experiments.at[i + 1]):
            S, rows = experiments.matrices[experiments.which[t]], n * experiments.weights[t]
            variance = variances[t] = Q[:, i] @ S @ Q[:, i]
            info[np.ix_(into, into)] += rows * S[np.ix_(parents, parents)] / variance
            cross = rows * (S[parents] @ Q[:, i]) / variance**2
            info[into, m + t] = info[m + t, into] = cross
            info[m + t, m + t] = rows / (2 * variance**2)
    source, target = edges[:, 0], edges[:, 1]
    for table, targets in zip(experiments.tables, experiments.targeted, strict=True):
        M = np.linalg.inv(np.where(targets.astype(bool), np.eye(p), Q))
        free = ~targets.astype(bool)[target]
        second = M[np.ix_(target, source)]
        info[:m, :m] += table.n_effective * second * second.T * np.outer(free, free)
    return info, variances

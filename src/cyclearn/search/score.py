"""The score of a graph, decomposed over its strongly connected components.

Negative log-likelihood + λ·|E|, here per sample and without constants; for several groups, the sum
weighted by their shares of the rows. Everything works on correlation matrices; the rows of the data
are not used again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment

from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray
from cyclearn.foundation.stability import is_stable_radius
from cyclearn.models import components as component_fits
from cyclearn.models.experiments import GroupedExperiments, fit_shared
from cyclearn.search.runs import Adjacency
from cyclearn.search.search_effort import SIZES, MoveEffort
from cyclearn.search.surroundings import Surroundings

if TYPE_CHECKING:
    from cyclearn._kernels.component_scores import Scored
    from cyclearn._kernels.neighbourhood import MoveRules
    from cyclearn._kernels.shared_weights import Pooled

_EFFORT = MoveEffort()
# Number of component values kept: some megabytes, more than a search with 50 variables computes
# (where_time_goes.md).
_CACHE_SIZE = 1 << 18


@dataclass(frozen=True)
class SearchLimits:
    """Limits that exclude moves; the numbers are inclusive."""

    max_component: int
    max_parents: int
    max_edges: int
    max_virtual_cycle: int

    def allow(self, A: BoolArray | Adjacency, largest: int) -> bool:
        """Whether a graph with this largest component respects the limits."""
        return bool(
            largest <= self.max_component
            and A.sum(axis=0).max() <= self.max_parents
            and np.count_nonzero(A) <= self.max_edges
        )


@dataclass(frozen=True)
class Neighbour:
    """The best move from a graph: the change per sample, and the entries it toggles."""

    delta: float
    toggles: IntArray
    n_evaluations: int
    limits: int

    def applied_to(self, A: Adjacency) -> Adjacency:
        """The graph after the move."""
        changed = A.copy()
        changed[self.toggles[:, 0], self.toggles[:, 1]] ^= 1
        return changed


@dataclass(frozen=True)
class Annealed:
    """The end of an annealing, the best graph it visited, and the changes of score to both."""

    last: Adjacency
    change: float
    best: Adjacency
    best_change: float
    n_evaluations: int


@dataclass(frozen=True)
class _Thorough:
    """The best fit of a component: whether it is stable, its value, and the solutions of every fit.

    No solutions if parents determine a node exactly: there is no fit.
    """

    is_stable: bool
    value: float
    solutions: tuple[tuple[FloatArray, ...], ...]


def turned_weights(
    columns: component_fits.ComponentColumns,
    weights: FloatArray,
    its_columns: component_fits.ComponentColumns,
    nodes: IntArray,
    sources: IntArray,
) -> FloatArray:
    """Weights of a component whose nodes have the columns of ``sources`` in another component.

    The columns of I − B move and are scaled, so that the distribution does not change.
    """
    p = 1 + max(its_columns.parents.max(), nodes.max())
    Q = np.eye(p)
    Q[its_columns.parents, its_columns.children] = -weights
    moved = np.zeros((p, p))
    own = Q[nodes, sources]
    moved[:, nodes] = -Q[:, sources] / np.where(own == 0, 1e-15, own)
    return np.asarray(moved[columns.parents, columns.children])


class GraphScore:
    """Scores graphs on correlation matrices, and remembers the components it has fitted.

    One matrix of shape (p, p), or one for each group, shape (groups, p, p), with the ``shares``
    that groups have of all rows. With ``experiments``, the tables of a group share their weights,
    and matrices and shares are those of tables. ``unstable`` is the penalty for components whose
    fit from one start is not stable.
    """

    def __init__(
        self,
        correlation: FloatArray,
        penalty: float,
        limits: SearchLimits,
        shares: FloatArray | None = None,
        experiments: GroupedExperiments | None = None,
        unstable: float = 0.0,
    ):
        self._unstable = unstable
        p = self.n_variables = correlation.shape[-1]
        stack = np.ascontiguousarray(correlation, dtype=np.float64).reshape(-1, p, p)
        self.S = stack
        self.shares = np.ones(1) if shares is None else np.ascontiguousarray(shares)
        self.experiments = experiments
        self.targeted = np.zeros((len(stack), p), dtype=np.uint8)
        if experiments is not None:
            self.targeted = experiments.targeted
        self.penalty = penalty
        self.limits = limits
        # Fixed keys: the same graph has the same key in every process.
        generator = np.random.Generator(np.random.PCG64(20200713))
        self.Z = generator.integers(1, 2**64, size=(p, p), dtype=np.uint64, endpoint=False)
        self._keys = np.zeros(_CACHE_SIZE, dtype=np.uint64)
        self._values = np.empty(_CACHE_SIZE)
        self._fits: dict[int, _Thorough] = {}
        self._turned: dict[bytes, tuple[IntArray, component_fits.ComponentColumns, _Thorough]] = {}

    def limited(self, *, max_component: int, max_virtual_cycle: int) -> GraphScore:
        """The same score with the same memory, and a limit on neighbourhoods."""
        limited = copy(self)
        limited.limits = replace(
            self.limits,
            max_component=min(max_component, self.limits.max_component),
            max_virtual_cycle=min(max_virtual_cycle, self.limits.max_virtual_cycle),
        )
        return limited

    def value(self, A: Adjacency) -> float:
        """Score per sample of a graph."""
        from cyclearn._kernels.component_scores import region_values

        p = len(A)
        label, values = np.empty(p, dtype=np.int64), np.empty(p)
        total = region_values(self._scored(A), np.arange(p), label, values, p)
        return float(total) + self.penalty * int(np.count_nonzero(A))

    def _scored(self, A: Adjacency, *, is_warm: bool = False) -> Scored:
        """Arguments of kernels; if warm, fits start at the weights of A and then at those found."""
        from cyclearn._kernels.component_scores import START, Scored, Warm

        n_fits, p = self.n_fits if is_warm else 0, len(A)
        weights = np.zeros((n_fits, p, p))
        for nodes in self._cyclic(A) if is_warm else ():
            known = self._fits.get(self._component_key(A, nodes))
            if known is not None and known.solutions:
                columns = component_fits.ComponentColumns.of(A.astype(bool), nodes.tolist())
                weights[:, columns.parents, columns.children] = [b[0] for b in known.solutions]
        warm = Warm(weights, np.zeros_like(weights), np.full(p, START, dtype=np.uint8))
        data = self.S, self.shares, self.targeted, self.pooled
        counter = np.zeros(1, dtype=np.int64)
        return Scored(*data, A, self.Z, self._keys, self._values, counter, warm)

    @cached_property
    def pooled(self) -> Pooled:
        """The sets of rows that equations are fitted to; none if weights are not shared."""
        from cyclearn._kernels.shared_weights import Pooled

        if self.experiments is not None:
            return self.experiments.pooled._replace(unstable=self._unstable)
        p, none = self.n_variables, np.empty(0, dtype=np.int64)
        marks = np.empty(0, dtype=np.uint8)
        return Pooled(np.empty((0, p, p)), none, none, np.empty(0), marks, none, self._unstable)

    def key(self, A: Adjacency) -> int:
        """A number that identifies the graph."""
        return int(np.bitwise_xor.reduce(self.Z[A == 1], initial=np.uint64(0)))

    def rules(
        self, may_add: Adjacency, may_delete: Adjacency, banned: Sequence[int] = ()
    ) -> MoveRules:
        """The moves that masks and limits permit; none leads to a graph with a banned key."""
        from cyclearn._kernels.neighbourhood import MoveRules

        limits = self.limits
        keys, hit = np.array(banned, dtype=np.uint64), np.zeros(1, dtype=np.int64)
        most = limits.max_component, limits.max_parents, limits.max_edges
        return MoveRules(may_add, may_delete, keys, self.penalty, *most, hit)

    def best_neighbour(
        self, A: Adjacency, rules: MoveRules, *, first_improvement: bool = False
    ) -> Neighbour:
        """The permitted move with the smallest change of score."""
        from cyclearn._kernels.neighbourhood import best_neighbour

        graph = self._scored(A, is_warm=True)
        delta, toggles = best_neighbour(graph, rules, self._virtual_cycle(A), first_improvement)
        return Neighbour(float(delta), toggles, int(graph.counter[0]), int(rules.hit[0]))

    def _virtual_cycle(self, A: Adjacency) -> int:
        """The longest cycle that virtual-edge moves may form: shorter if there are many."""
        from cyclearn._kernels.virtual_edges import virtual_edge_moves

        longest = self.limits.max_virtual_cycle
        if longest <= 2:
            return longest
        # Each requires a fit of a component; small graphs are fitted quickly.
        most = _EFFORT.virtual_moves // min(len(A), SIZES.small)
        # The weight of one graph: large components are slow to fit.
        weight = max(1.0, (self.largest_component(A) / _EFFORT.large_component) ** 2)
        n_moves = len(virtual_edge_moves(A, longest)[1])
        while longest > 2 and weight * n_moves > most:
            longest -= 1
            n_moves = len(virtual_edge_moves(A, longest)[1])
        # With a large component there can still be thousands.
        return 0 if weight > 1 and weight * n_moves > 4 * most else longest

    def anneal(
        self,
        A: Adjacency,
        nodes: IntArray,
        rules: MoveRules,
        *,
        temperatures: tuple[float, float],
        n_proposals: int,
        max_evaluations: int,
        seed: int,
    ) -> Annealed:
        """Anneal the edges among ``nodes``, from the first temperature per sample to the last."""
        from cyclearn._kernels.annealing import anneal

        around, score = self.around(A, nodes)
        part = around.part(A)
        graph = score._scored(part.copy(), is_warm=True)
        inside = np.ix_(around.index, around.index)
        n_outside = int(np.count_nonzero(A)) - int(np.count_nonzero(part))
        rules = rules._replace(
            may_add=np.ascontiguousarray(rules.may_add[inside]),
            may_delete=np.ascontiguousarray(rules.may_delete[inside]),
            max_edges=rules.max_edges - n_outside,
        )
        places, work = around.places(nodes), (n_proposals, max_evaluations)
        change, best_change, best = anneal(graph, places, rules, temperatures, *work, seed)
        last, best = (around.with_part(A, part) for part in (graph.A, best))
        return Annealed(last, float(change), best, float(best_change), int(graph.counter[0]))

    def around(self, A: Adjacency, nodes: IntArray) -> tuple[Surroundings, GraphScore]:
        """The part of the graph that edges among the nodes can affect, and the score on it.

        The whole graph if tables share their weights, and for small graphs.
        """
        if self.takes_all(A):
            return Surroundings.everything(len(A)), self
        around = Surroundings.of(A, nodes)
        score = copy(self)
        index = around.index
        score.n_variables = len(index)
        score._turned = {}  # nodes have other numbers there
        score.S = np.ascontiguousarray(self.S[:, index[:, None], index])
        score.Z = np.ascontiguousarray(self.Z[np.ix_(index, index)])
        score.targeted = np.ascontiguousarray(self.targeted[:, index])
        return around, score

    def takes_all(self, A: Adjacency) -> bool:
        """Whether such a part is always the whole graph."""
        return self.experiments is not None or len(A) <= SIZES.small

    def components(self, A: Adjacency) -> IntArray:
        """The number of each node's strongly connected component."""
        from cyclearn._kernels.component_scores import strong_components

        label = np.empty(len(A), dtype=np.int64)
        strong_components(A, np.arange(len(A)), label)
        return label

    def largest_component(self, A: Adjacency) -> int:
        """Nodes in the largest strongly connected component."""
        return int(np.bincount(self.components(A)).max())

    def is_stable(self, A: Adjacency) -> bool:
        """Whether every component has a best-likelihood parameter set that is stable."""
        return all(self.is_stable_component(A, nodes) for nodes in self._cyclic(A))

    def unstable_components(self, A: Adjacency) -> list[int]:
        """Keys of the components without a stable best-likelihood parameter set."""
        cyclic = self._cyclic(A)
        return [
            self._component_key(A, nodes)
            for nodes in cyclic
            if not self.is_stable_component(A, nodes)
        ]

    def _cyclic(self, A: Adjacency) -> list[IntArray]:
        label = self.components(A)
        return [np.flatnonzero(label == c) for c in np.flatnonzero(np.bincount(label) > 1)]

    def _component_key(self, A: Adjacency, nodes: IntArray) -> int:
        keys = self.Z[:, nodes][A[:, nodes] == 1]
        return int(np.bitwise_xor.reduce(keys) ^ np.bitwise_xor.reduce(self.Z[nodes, nodes]))

    def is_stable_component(self, A: Adjacency, nodes: IntArray) -> bool:
        """Whether some best-likelihood parameters of a component, in every group, are stable.

        The single fit for a score may miss the best one, so more starts are used here.
        """
        return self._fitted(A, nodes).is_stable

    def turned_to_damp(self, A: Adjacency) -> Adjacency:
        """The equivalent graph with unstable components reversed, so that their feedback dies out.

        Columns of I − B are assigned to nodes so that the product of their entries is largest (the
        kernel ``can_die_out``); of several groups, those of the first that is unstable.
        """
        turned = A.copy()
        for nodes in self._cyclic(A):
            fitted = self._fitted(A, nodes)
            columns = component_fits.ComponentColumns.of(A.astype(bool), nodes.tolist())
            for coefficients, *_ in () if fitted.is_stable else fitted.solutions:
                if is_stable_radius(columns.spectral_radius(coefficients)):
                    continue
                B = np.zeros(A.shape)
                B[columns.parents, columns.children] = coefficients
                inside = np.abs(np.eye(len(nodes)) - B[np.ix_(nodes, nodes)])
                at, held = linear_sum_assignment(np.log(np.maximum(inside, 1e-300)), maximize=True)
                own = (A + np.eye(len(A), dtype=np.uint8))[:, nodes]
                turned[:, nodes[at]] = own[:, held]
                turned[nodes, nodes] = 0
                break
        return turned

    def thorough_value(self, A: Adjacency) -> float:
        """Score per sample of a graph, with every component fitted from many starts."""
        from cyclearn._kernels.component_scores import region_values

        p = len(A)
        label, values = np.empty(p, dtype=np.int64), np.empty(p)
        region_values(self._scored(A), np.arange(p), label, values, p)
        sizes = np.bincount(label)
        single = float(values[: len(sizes)][sizes == 1].sum())
        cyclic = sum(self._fitted(A, nodes).value for nodes in self._cyclic(A))
        return single + cyclic + self.penalty * int(np.count_nonzero(A))

    def _fitted(self, A: Adjacency, nodes: IntArray) -> _Thorough:
        """The best fit of a component from many starts."""
        key = self._component_key(A, nodes)
        if key not in self._fits:
            self._fits[key] = self._thorough_fit(A, nodes)
        return self._fits[key]

    def _thorough_fit(self, A: Adjacency, nodes: IntArray) -> _Thorough:
        """Fit a component; a large one with the columns of another reuses its fit."""
        columns = component_fits.ComponentColumns.of(A.astype(bool), nodes.tolist())
        if len(nodes) <= _EFFORT.turned_component or self.experiments is not None:
            return self._fit_from_many_starts(columns)
        held = A[:, nodes].astype(bool)
        held[nodes, np.arange(len(nodes))] = True
        places = np.lexsort(held)
        key = held[:, places].tobytes()
        if key not in self._turned:
            found = self._fit_from_many_starts(columns)
            self._turned[key] = nodes[places], columns, found
            return found
        sources, its_columns, found = self._turned[key]
        solutions, radii = [], []
        for known in found.solutions:
            each = [turned_weights(columns, b, its_columns, nodes[places], sources) for b in known]
            own = [columns.spectral_radius(b) for b in each]
            solutions.append(tuple(each[n] for n in np.argsort(own, kind="stable")))
            radii.append(min(own))
        is_stable = bool(radii) and all(map(is_stable_radius, radii))
        return _Thorough(is_stable, found.value, tuple(solutions))

    def _fit_from_many_starts(self, columns: component_fits.ComponentColumns) -> _Thorough:
        fits: list[Callable[..., component_fits.ComponentFit]]
        if self.experiments is not None:
            fits = [partial(fit_shared, each) for each in self.experiments.groups]
        else:
            fits = [partial(component_fits.fit_component_solutions, S) for S in self.S]
        stable, value = True, 0.0
        solutions = []
        for fit, share in zip(fits, self._weights, strict=True):
            try:
                fitted = fit(columns)
            except component_fits.CollinearError:
                # Parents determine a node exactly: there is no fit, and the graph is not visited.
                return _Thorough(False, np.inf, ())
            best = fitted.solutions[0]
            stable = stable and bool(is_stable_radius(best.spectral_radius))
            value += share * fitted.value
            solutions.append(tuple(each.coefficients for each in fitted.solutions))
        return _Thorough(stable, value, tuple(solutions))

    @property
    def n_fits(self) -> int:
        """Number of fits per component: one for each group."""
        return len(self._weights)

    @property
    def _weights(self) -> list[float]:
        """The weight of the fit of each group."""
        shares = self.shares if self.experiments is None else self.experiments.shares
        return list(map(float, shares))

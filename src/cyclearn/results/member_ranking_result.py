"""Members ranked by the shape of their residuals, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import islice
from math import prod
from typing import Any

import numpy as np

from cyclearn.foundation import Answer, InputError, edges_in_words, pd
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs import DirectedGraph
from cyclearn.models import LinearGaussianModel
from cyclearn.results.noise_rows import NoiseRows

NO_ANSWER = "the noise looks Gaussian: no answer"
# Number of standard errors by which the runner-up must be behind for a clear first.
_CLEAR = 2.0


@dataclass(frozen=True, eq=False)
class Filling:
    """One filling of a block with one of its parameter sets.

    Attributes
    ----------
    columns : tuple of int
        {j} ∪ parents(j) for every node j of the block.
    weights : tuple of arrays of shape (nodes, p)
        The weights into every node of the block, and ``variances`` of their noise, in each group.
    residuals : tuple of int
        Numbers of its residuals: candidates with the same numbers tie exactly.
    stable : bool
    has_continuum : bool
        Whether it has a continuum of parameters, represented by one set.
    """

    columns: tuple[int, ...]
    weights: tuple[FloatArray, ...]
    variances: tuple[FloatArray, ...]
    residuals: tuple[int, ...]
    stable: bool
    has_continuum: bool

    @classmethod
    def joined(cls, groups: Sequence[Filling]) -> Filling:
        """One filling with the parameters of several groups, from one candidate for each."""
        return cls(
            groups[0].columns,
            tuple(own for each in groups for own in each.weights),
            tuple(own for each in groups for own in each.variances),
            tuple(number for each in groups for number in each.residuals),
            all(each.stable for each in groups),
            any(each.has_continuum for each in groups),
        )


@dataclass(frozen=True, eq=False)
class ListedBlock:
    """The candidates of a block, and whether the list is complete."""

    nodes: tuple[int, ...]
    candidates: tuple[Filling, ...]
    complete: bool

    @property
    def stable(self) -> tuple[Filling, ...]:
        """The candidates that are stable."""
        return tuple(candidate for candidate in self.candidates if candidate.stable)

    @property
    def is_open(self) -> bool:
        """Whether there is a choice: candidates that do not all tie."""
        return len({candidate.residuals for candidate in self.candidates}) > 1


@dataclass(frozen=True, eq=False)
class BlockRanking(ListedBlock):
    """The candidates of a block, the best first.

    Attributes
    ----------
    behind : array
        How far the log-likelihood of each is below the best, with the standard error ``behind_se``;
        zero if there is no answer.
    gain : float
        Gain of the best in log-likelihood over Gaussian noise.
    p_value : float
        Of a test, over all nodes with a choice, that the residuals of a member that was chosen
        beforehand are Gaussian.
    answered : bool
        Whether the noise is significantly non-Gaussian.
    """

    behind: FloatArray
    behind_se: FloatArray
    gain: float
    p_value: float
    answered: bool

    @classmethod
    def of(
        cls,
        block: ListedBlock,
        row_gains: Callable[[Sequence[int]], FloatArray],
        p_value: float,
        answered: bool,
        *,
        is_needed: bool,
    ) -> BlockRanking:
        """Rank candidates by the gain of their residuals; stable ones come first among ties."""
        distinct = {candidate.residuals for candidate in block.candidates}
        # Without an answer all gains are zero.
        rows = {numbers: np.zeros(1) for numbers in distinct}
        if answered and is_needed:
            rows = {each: row_gains(each) for each in distinct}
        # Rounded, because sums of the same numbers in another order differ in the last bit.
        value = {numbers: round(float(gains.sum()), 6) for numbers, gains in rows.items()}
        ordered = sorted(block.candidates, key=lambda c: (-value[c.residuals], not c.stable))
        best = ordered[0].residuals
        errors = {
            numbers: float(np.sqrt(len(gains)) * (rows[best] - gains).std())
            for numbers, gains in rows.items()
        }
        return cls(
            block.nodes,
            tuple(ordered),
            block.complete,
            np.array([value[best] - value[c.residuals] for c in ordered]),
            np.array([errors[c.residuals] for c in ordered]),
            value[best],
            p_value,
            answered,
        )

    @cached_property
    def weights(self) -> FloatArray:
        """Relative likelihood of each candidate; equal if there is no answer."""
        relative = np.exp(-self.behind)
        return np.asarray(relative / relative.sum())

    @property
    def is_clear(self) -> bool:
        """Whether all candidates that do not tie with the best are two standard errors behind."""
        return bool((self.behind >= _CLEAR * self.behind_se).all())


@dataclass(frozen=True, eq=False)
class ClassRanking:
    """The blocks of one class, or of a part of one."""

    blocks: tuple[BlockRanking, ...]

    @property
    def gain(self) -> float:
        """Gain of the best member in log-likelihood over Gaussian noise."""
        return sum(block.gain for block in self.blocks)

    @property
    def mass(self) -> float:
        """Likelihood of all members together, over that of the best."""
        return prod(float(np.exp(-block.behind).sum()) for block in self.blocks)

    def iter_members(self) -> Iterator[tuple[tuple[Filling, ...], float, float]]:
        """Iterate over members, most likely first: candidates, weight, difference to the first."""
        first = (0,) * len(self.blocks)
        waiting, seen = [(0.0, first)], {first}
        while waiting:
            behind, places = heappop(waiting)
            chosen = list(zip(self.blocks, places, strict=True))
            weight = prod(float(block.weights[k]) for block, k in chosen)
            yield tuple(block.candidates[k] for block, k in chosen), weight, behind
            for n, (block, k) in enumerate(chosen):
                following = (*places[:n], k + 1, *places[n + 1 :])
                if k + 1 < len(block.candidates) and following not in seen:
                    seen.add(following)
                    step = float(block.behind[k + 1] - block.behind[k])
                    heappush(waiting, (round(behind + step, 6), following))


@dataclass(frozen=True, eq=False)
class RankedMember:
    """One member with one parameter set.

    Attributes
    ----------
    graph : DirectedGraph
    models : dict of str to LinearGaussianModel
        By group; ``model`` if there is only one.
    weight : float
        Its relative likelihood among all members and parameter sets.
    behind : float
        How far its log-likelihood is below that of the first.
    stable : bool
    ties_with_first : bool
        Whether its columns of I − B are those of the first up to order and scale.
    """

    graph: DirectedGraph
    models: dict[str, LinearGaussianModel]
    weight: float
    behind: float
    stable: bool
    ties_with_first: bool

    @property
    def model(self) -> LinearGaussianModel:
        """The model, if there are no groups."""
        if len(self.models) > 1:
            raise InputError(f"there are several groups; use models[…]: {', '.join(self.models)}")
        return next(iter(self.models.values()))

    def numbers(self) -> dict[str, Any]:
        """Its row of the table."""
        names = ("weight", "behind", "stable", "ties_with_first")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Numbers and model, or models by group, as plain values."""
        models = {name: model.to_dict() for name, model in self.models.items()}
        known = {"model": self.model.to_dict()} if len(models) == 1 else {"models": models}
        return self.numbers() | known


@dataclass(frozen=True, eq=False)
class MemberRanking(Answer):
    """Members of the class ranked by the shape of the noise; made by ``result.rank_members``.

    Attributes
    ----------
    names : tuple of str
        Of the variables.
    classes : tuple of ClassRanking
        The class that was learned and those that tie with it, in parts, the best first.
    level : float
        Maximum probability of an answer if the noise is Gaussian.
    n_rows : int
    rows : tuple of NoiseRows
        The rows of each group.
    groups : tuple of str
    """

    names: tuple[str, ...]
    classes: tuple[ClassRanking, ...]
    level: float
    n_rows: int
    rows: tuple[NoiseRows, ...]
    groups: tuple[str, ...]

    @property
    def answered(self) -> bool:
        """Whether the noise of some block with a choice is significantly non-Gaussian."""
        several = len(self.classes) > 1
        return any(block.answered for block in self._blocks if several or block.is_open)

    @property
    def is_open(self) -> bool:
        """Whether there is more than one member to choose from, exact ties apart."""
        return len(self.classes) > 1 or any(block.is_open for block in self._blocks)

    @property
    def is_clear(self) -> bool:
        """Whether every choice has an answer, and all others are two standard errors behind."""
        return len(self.classes) == 1 and all(
            block.answered and block.is_clear and block.complete
            for block in self._blocks
            if block.is_open
        )

    @property
    def _blocks(self) -> tuple[BlockRanking, ...]:
        return self.classes[0].blocks

    @property
    def message(self) -> str:
        """The verdict in a sentence."""
        if not self.is_open:
            ties = any(len(block.candidates) > 1 for block in self._blocks)
            return (
                "All members tie exactly for some parameter set: no noise distribution can "
                "distinguish them."
                if ties
                else "There is one graph with one parameter set, so there is nothing to choose."
            )
        if not self.answered:
            return f"No member is preferred: {NO_ANSWER}."
        unanswered = [b for b in self._blocks if b.is_open and not b.answered]
        words = f"The noise is not Gaussian and favours some members ({self.n_rows:,} rows)."
        if unanswered:
            among = "; ".join(", ".join(self.names[j] for j in b.nodes) for b in unanswered)
            words += f" Among {among} {NO_ANSWER}."
        if not self.is_clear:
            words += " Other members score almost as well as the first."
        if not all(block.complete for each in self.classes for block in each.blocks):
            words += " A large block of the graph was searched only in part."
        if any(c.has_continuum for block in self._blocks for c in block.candidates):
            words += " Some graphs have infinitely many parameter sets, of which one was tried."
        return words

    def members(self, n: int = 20) -> tuple[RankedMember, ...]:
        """The first members of the ranking; none if the noise gives no answer."""
        if self.is_open and not self.answered:
            return ()
        best = self.classes[0].gain
        mass = np.array([np.exp(each.gain - best) * each.mass for each in self.classes])
        found = []
        for each, share in zip(self.classes, mass / mass.sum(), strict=True):
            lag = best - each.gain
            for chosen, weight, behind in islice(each.iter_members(), n):
                found.append((behind + lag, float(share) * weight, each, chosen))
        found.sort(key=lambda item: (round(item[0], 6), -item[1]))
        first = found[0][3]
        return tuple(
            self._member(each, chosen, weight, behind, first)
            for behind, weight, each, chosen in found[:n]
        )

    def _member(
        self,
        each: ClassRanking,
        chosen: tuple[Filling, ...],
        weight: float,
        behind: float,
        first: tuple[Filling, ...],
    ) -> RankedMember:
        p = len(self.names)
        columns = [0] * p
        B, variances = np.zeros((len(self.rows), p, p)), np.ones((len(self.rows), p))
        for block, candidate in zip(each.blocks, chosen, strict=True):
            nodes = list(block.nodes)
            for j, column in zip(nodes, candidate.columns, strict=True):
                columns[j] = column
            B[:, :, nodes] = np.transpose(candidate.weights, (0, 2, 1))
            variances[:, nodes] = candidate.variances
        models = {
            group: LinearGaussianModel(own, noise, self.names, rows.mean(own))
            for group, rows, own, noise in zip(self.groups, self.rows, B, variances, strict=False)
        }
        numbers = [sorted(k for c in parts for k in c.residuals) for parts in (chosen, first)]
        return RankedMember(
            DirectedGraph.from_columns(columns, self.names),
            models,
            weight,
            behind,
            all(candidate.stable for candidate in chosen),
            numbers[0] == numbers[1],
        )

    @cached_property
    def best(self) -> RankedMember | None:
        """The first member, or None if the noise gives no answer."""
        first = self.members(1)
        return first[0] if first else None

    @property
    def table(self) -> pd.DataFrame:
        """The first 20 members: weight, difference to the first, stability, ties, edges."""
        rows = [(*m.numbers().values(), edges_in_words(m.graph.edges)) for m in self.members()]
        return pd.DataFrame(rows, columns=["weight", "behind", "stable", "ties", "edges"])

    def to_dict(self, n: int = 20) -> dict[str, Any]:
        """The ranking as plain values, ready for JSON."""
        return {
            "answered": self.answered,
            "clear": self.is_clear,
            "message": self.message,
            "level": self.level,
            "n_rows": self.n_rows,
            "members": [m.to_dict() for m in self.members(n)],
        }

    def __str__(self) -> str:
        if self.best is None:
            return self.message
        return f"{self.message}\n{self.table.round(3).to_string(index=False)}"

    def __repr__(self) -> str:
        return f"MemberRanking({self.message})"

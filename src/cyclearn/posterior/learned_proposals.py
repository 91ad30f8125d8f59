"""Proposals for the next round, learned from the last one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.arrays import FloatArray
from cyclearn.posterior.graph_jumps import jumps_between, packed_jumps
from cyclearn.posterior.graph_parts import PartsList, learned_tilts, no_parts
from cyclearn.posterior.sampler_effort import EFFORT

if TYPE_CHECKING:
    from cyclearn._kernels.assembled_graphs import Parts
    from cyclearn._kernels.balanced_moves import Jumps, PairWeights


@dataclass(frozen=True, eq=False)
class Proposals:
    """Frequencies of pairs of nodes, differences to jump, and parts to assemble."""

    pair_weights: PairWeights
    jumps: Jumps
    parts: Parts

    @classmethod
    def alike(cls, p: int) -> Proposals:
        """Initial proposals: all pairs equally often."""
        return cls(pair_weights(np.ones((p, p))), packed_jumps([]), no_parts())

    @classmethod
    def learned(
        cls,
        edges: FloatArray,
        graphs: NDArray[np.uint8],
        parts: PartsList | None,
        *,
        most_loops: int | None,
        seed: int,
    ) -> Proposals:
        """Learn from the edge probabilities of a round, its graphs, and the known parts.

        If graphs are assembled, nothing else is learned, because it would take more time than it
        saves (``benchmarks/results/posterior_sampler.md``, "Without one device").
        """
        if parts is not None:
            chosen = parts.parts(learned_tilts(graphs), most_loops)
            return replace(cls.alike(len(edges)), parts=chosen)
        return cls(pair_weights(_openness(edges)), jumps_between(graphs, seed=seed), no_parts())


def _openness(edges: FloatArray) -> FloatArray:
    """Symmetric weights of pairs, largest for the most uncertain pairs."""
    p = len(edges)
    open_ = edges * (1 - edges)
    open_ = open_ + open_.T
    alike = np.full((p, p), 1 / (p * (p - 1)))
    if open_.sum() == 0:
        return alike
    share = EFFORT.uniform_share
    return np.asarray(share * alike + (1 - share) * open_ / open_.sum())


def pair_weights(weights: FloatArray) -> PairWeights:
    """Symmetric weights as cumulative probabilities for the kernel."""
    from cyclearn._kernels.balanced_moves import PairWeights

    weights = np.where(np.eye(len(weights), dtype=bool), 0.0, weights)
    pairs, rows = weights.ravel().cumsum(), weights.cumsum(axis=1)
    return PairWeights(pairs / pairs[-1], rows / rows[:, -1:])

"""How much work the chains of a posterior do: numbers that change their speed, never the answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SamplerEffort:
    """The numbers; measurements are in ``benchmarks/results/posterior_sampler.md``."""

    # Shares of the kinds of proposals, in the order of the kernel: toggle one and both; swap
    # parents and children; exchange parents and reverse a cycle; turn an edge and toggle, swap or
    # toggle two; turn some of three; redraw three; jump; assemble.
    proposal_shares: tuple[int, ...] = (24, 12, 6, 6, 12, 5, 12, 6, 6, 6, 5, 60, 12)
    # Temperatures on the way from a start to where a chain begins, and steps at each, times the
    # number of variables.
    hot_temperatures: tuple[float, ...] = (2.0, 1.4)
    hot_steps: int = 100
    hot_component: int = 5
    # Places for components that were met.
    component_places: int = 1 << 18
    # Variables with which graphs are assembled: with more there are too many sets of nodes.
    most_assembled: int = 12
    most_loops: int = 1 << 15
    most_node_sets: int = 512
    noted_loss: float = 6.0
    # Each round is so many times as long as the one before.
    growth: int = 2
    uniform_share: float = 0.25
    n_batches: int = 48
    fewest_batches: int = 4
    least_steps: int = 5_000


EFFORT = SamplerEffort()

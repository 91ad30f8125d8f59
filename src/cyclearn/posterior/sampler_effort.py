"""Tuned numbers of the chains of a posterior: they affect its speed, not its target."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SamplerEffort:
    """The numbers; measurements are in ``benchmarks/results/posterior_sampler.md``."""

    # Shares of the kinds of proposals, in the order of the kernel: toggle one and both; swap
    # parents and children; exchange parents and reverse a cycle; turn an edge and toggle, swap or
    # toggle two; turn some of three; redraw three; jump; assemble. "Without one device": 20 jumps
    # instead of 60 took 33 s instead of 18 with fifty variables.
    proposal_shares: tuple[int, ...] = (24, 12, 6, 6, 12, 5, 12, 6, 6, 6, 5, 60, 12)
    # Share of proposals that choose any pair equally often, however certain it seems: with ten
    # variables, other shares are not better.
    uniform_share: float = 0.25
    # Temperatures of the initial walk of a chain, steps at each per variable, and its largest
    # component: the first rounds forget all of it. If graphs are assembled, it is hotter and is
    # repeated this often, because the loops visited there are used as parts. From 2 and 1.4 alone,
    # no walk found the best structure of the proteins of sachs.md; a turn from 8 finds it in 9 of
    # 20 cases, from 5 in 12 of 40. Walks of 44 steps per variable at most missed a set of graphs of
    # probability 0.008 ("Is the effective sample size correct?"). With interventions there are more
    # turns: on sachs.md, five missed graphs that have a third of the probability over resamples.
    warm_temperatures: tuple[float, ...] = (2.0, 1.4)
    hot_temperatures: tuple[float, ...] = (8.0, 4.0, 2.0, 2.0, 1.4, 1.4)
    hot_steps: int = 100
    hot_turns: int = 5
    intervened_turns: int = 20
    hot_component: int = 5
    # Maximum number of variables for assembling graphs: with more there are too many sets of nodes.
    # With 12, chains agreed on two of six halves of boston, which has 14 variables.
    most_assembled: int = 14
    # Number of loops to keep, and of node sets of parts: a matter of memory, 67 MB with fourteen
    # variables.
    most_loops: int = 1 << 15
    most_node_sets: int = 512
    # If graphs are assembled for every resample, at most this many loops for each of its steps:
    # weighting them then takes about as long as the steps. With 500 loops, whatever the number of
    # steps, chains drifted on one half of abalone and of wine-red.
    loops_a_step: int = 1
    # Then also only the single nodes, with their parents, that this share of the graphs have: the
    # same probabilities in half the time ("Thirteen and fourteen variables").
    least_share: float = 1e-7
    # Loops of rejected proposals are noted if the graph loses at most this much log probability: 3
    # and 6 took 35 and 44 s (seeds 6, 33 and 36); without it, chains do not agree.
    noted_loss: float = 3.0
    # Number of component values to store: a matter of memory, 5 MB per thread.
    component_places: int = 1 << 18
    # Each round is this many times as long as the preceding one: 3 was not faster than 2.
    growth: int = 2
    # Batches of a round, and batches between comparisons of the chains: enough to estimate
    # autocorrelations. A first round that is cut short has at least four, two in each half of a
    # chain.
    n_batches: int = 48
    n_compared: int = 24
    fewest_batches: int = 4
    # Minimum number of steps of a chain, per variable.
    least_steps: int = 5_000
    # Steps and maximum number of variables for probabilities computed by default: ten seconds for
    # most tables of ten variables.
    brief_steps: int = 100_000
    brief_variables: int = 50
    # Before using resamples, chains learn from the data themselves: up to this effective size, in
    # at most this share of all steps.
    learning_size: int = 200
    learning_share: float = 0.1
    # Initial number of steps per resample: in units of the steps per independent graph with the
    # data themselves, and at most this many per variable; and the share of additional discarded
    # steps before these. A drift shows that a round has too few of them, and the next has more.
    resample_length: int = 3
    resample_steps: int = 300
    forgetting_share: float = 0.5
    # Drift that matters, next to a standard error of 0.03.
    largest_drift: float = 0.03


EFFORT = SamplerEffort()

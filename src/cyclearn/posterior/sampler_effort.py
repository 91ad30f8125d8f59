"""How much work the chains of a posterior do: numbers that change their speed, never the answer."""

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
    # Share of proposals that look at any pair alike, however settled it seems: with ten variables
    # all of them are as good.
    uniform_share: float = 0.25
    # Temperatures on the way from the start to where a chain begins, steps at each, times the
    # number of variables, and the largest component there: the first rounds forget all of it. Where
    # graphs are assembled, so many times as long: of the loops met there they are put together.
    # With one turn a set of graphs of probability 0.008 was missed in most runs ("What effective
    # sizes promise").
    hot_temperatures: tuple[float, ...] = (2.0, 1.4)
    hot_steps: int = 100
    hot_turns: int = 20
    hot_component: int = 5
    # Variables with which graphs are assembled: with more there are too many sets of nodes.
    most_assembled: int = 12
    # Loops that are kept, and node sets of parts: memory, 16 MB with twelve variables.
    most_loops: int = 1 << 15
    most_node_sets: int = 512
    # The same where graphs are assembled for every resample: weighing parts takes about as long
    # there as the steps.
    resampled_loops: int = 500
    resampled_node_sets: int = 64
    # Loops of two to four nodes that are known before chains begin: all 205 there are with six
    # variables, where they were measured ("Does the effective size tell the truth?"); time beyond.
    small_loops: int = 400
    # Loops of refused proposals are noted, if a graph loses so much of its log probability at most:
    # 3 and 6 took 35 and 44 s (seeds 6, 33 and 36); without, chains do not come to agree.
    noted_loss: float = 3.0
    # Places for values of components: memory, 5 MB for each thread.
    component_places: int = 1 << 18
    # A round is so many times as long as the one before: 3 was not faster than 2.
    growth: int = 2
    # Batches of a round, and those after which chains are compared: enough to tell how they hang
    # together. A first round that is cut short has four at least, two in each half of a chain.
    n_batches: int = 48
    n_compared: int = 24
    fewest_batches: int = 4
    # Steps that chains take at least, times the number of variables.
    least_steps: int = 5_000
    # Steps and most variables of the probabilities that are shown without being asked for: ten
    # seconds for most tables of ten variables.
    brief_steps: int = 100_000
    brief_variables: int = 50
    # Before resamples, chains learn from the data themselves: to this effective size, in this share
    # of all steps at most.
    learning_size: int = 200
    learning_share: float = 0.1
    # Steps of a chain with a resample at first: in units of those that an independent graph takes
    # with the data themselves, and at most so many for each variable; and the share of further
    # steps before, in which it forgets where it began. Rounds with too few of them are seen by a
    # drift, and the next has more.
    resample_length: int = 3
    resample_steps: int = 300
    forgetting_share: float = 0.5
    # Drift that matters, next to a standard error of 0.03.
    largest_drift: float = 0.03


EFFORT = SamplerEffort()

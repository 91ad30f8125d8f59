"""How much work the search does: its tuned numbers, each with what chose it.

Pages named next to a number are in ``benchmarks/results``; a name in asterisks is a section of
``search_effort.md``, which has what was measured when the number was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from scipy.sparse.csgraph import connected_components

from cyclearn.foundation.arrays import BoolArray
from cyclearn.search.runs import Adjacency

# How long the default search lasts.
Effort = Literal["default", "high"]


@dataclass(frozen=True)
class Sizes:
    """Numbers of variables from which on work is saved."""

    # Up to here work per variable grows with the number of variables (*Orders*, *Slow tail*), and
    # taking the part out of a graph that edges touch costs as much as it saves. *Many variables*.
    small: int = 20
    # Only what changed is annealed again, and starts that differ are combined. *Many variables*.
    many: int = 50
    # Starts hardly ever agree, so there are fewer, and choosing the member that is shown takes a
    # good part of a second. *Many variables*, peers.md.
    very_many: int = 200


@dataclass(frozen=True)
class MoveEffort:
    """Moves of a local search."""

    # Components of more nodes take long to fit (fit_speed.md): only later climbs enter them, and
    # graphs that have them count for several. *Climbs*, *Slow tail*.
    large_component: int = 10
    # Larger components that turned cycles make of each other are fitted once: whether hundreds of
    # members are stable is asked of such a class, at 10 to 20 ms a fit (hard_tables.md). Smaller
    # ones are fitted fast, and from many starts each.
    turned_component: int = 7
    # Nodes in the longest cycle that a virtual-edge move forms. Longer ones are found by single
    # edges and shorter cycles; listing them all would take longer than the rest of the search.
    # That the operator finds what it is for: virtual_edges.md.
    virtual_cycle: int = 6
    # Virtual-edge moves from one graph, times its nodes; where there are more, cycles are shorter.
    # *Slow tail*, slow_tail.md.
    virtual_moves: int = 10_000


@dataclass(frozen=True)
class LocalEffort:
    """Tabu search and hill climbing."""

    # Nodes in the largest component that moves one by one enter. They make components of dozens of
    # nodes out of superfluous edges, where every further move is a thousand slow fits.
    # slow_tail.md.
    max_component: int = 15
    # Seconds for each variable, about, that a quick acyclic graph takes; with 1,000 variables, and
    # of no account where time is not short.
    quick_seconds: float = 0.4e-3


@dataclass(frozen=True)
class OrderEffort:
    """The search over orders of the variables."""

    # How many of the nodes near another one exchange places with it. *Orders*.
    n_near: int = 4
    # A walk along the order ends where the score is worse by so many edges' penalties. *Orders*.
    cutoff: float = 10.0
    # Seconds between two looks at the clock, about. They change no result.
    slice_seconds: float = 0.05


@dataclass(frozen=True)
class StartEffort:
    """One start of the default search.

    Temperatures are in units of the log-likelihood of the whole sample.
    """

    # Exchanges in the search over orders, for each node. *Orders*, peers.md.
    n_exchanges: int = 10
    # Annealing in its place, where required edges close cycles or tables are several: proposals for
    # each node, and the first temperature. several_tables.md, interventions.md.
    acyclic_proposals: int = 5000
    acyclic_temperature: float = 100.0
    # Between two looks at the clock: a fraction of a second.
    proposals_at_once: int = 20_000
    # Nodes of a region; components of more are entered only where there is one almost as large, as
    # long cycles grow node by node. *Regions*.
    region_nodes: int = 7
    region_proposals: int = 1500
    region_temperature: float = 5.0
    last_temperature: float = 0.5
    # The first temperature is at least so many edges' penalties: if the penalty is larger, the way
    # from one good graph to another leads higher up. *Regions*.
    steps_up: float = 1.1
    # Beside a component larger than a region it is so many penalties: a hotter walk forgets what
    # the component is made of before it has cooled down again (hard_tables.md).
    steps_up_beside_large: float = 0.4
    # In several groups an edge costs and brings several times as much, so that a region begins
    # hotter and takes longer to cool down. *Regions*, several_tables.md.
    longer_in_groups: int = 3
    # Edges as far away from the centre of a region are not turned away from it. *Regions*.
    turned_distance: int = 4
    # While superfluous edges are many, climbing would make large components out of them, and
    # virtual-edge moves with long cycles by the ten thousand. So cycles are short, and components
    # as small as those of a local search until the last climb. *Climbs*.
    virtual_cycle: int = 3
    virtual_component: int = LocalEffort.max_component
    # The last climb enters components as large as it can fit with so much work: cubes of the sizes
    # of all those that one more edge could make (hard_tables.md).
    last_climb_work: float = 1e6
    # There is none, and no second start, where the components of the graph have so many edges that
    # a single move would take seconds: the cube of the edges for every pair of nodes
    # (hard_tables.md).
    last_climb_most: float = 1e9
    # The search climbs from a graph with a ring closed if it is worse by at most so many edges'
    # penalties: what else is wrong around a true ring costs that much (10 is the most met), and
    # most other rings far more. *Rings*.
    ring_worse: float = 12
    # Nor is one inside a component larger than a region with so many edges more than nodes: it
    # imitates many rings, and none of them ever helped (hard_tables.md).
    thicket: int = 2
    # Nor is one that makes a component of more than so many times its nodes: it closes other ways
    # too, is not a ring that the graph imitates, and takes long to fit. *Rings*.
    ring_grows: int = 2

    def in_thicket(self, A: BoolArray | Adjacency) -> BoolArray:
        """The nodes of components larger than a region with many more edges than nodes."""
        n, label = connected_components(A, connection="strong")
        n_nodes = np.bincount(label)
        inside = np.asarray(label[:, None] == label) & (A != 0)
        n_edges = np.bincount(label, inside.sum(axis=0), n)
        is_thicket = (n_nodes > self.region_nodes) & (n_edges >= n_nodes + self.thicket)
        return np.asarray(is_thicket[label])

    def is_overgrown(self, A: BoolArray | Adjacency) -> bool:
        """Whether the components of a graph have too many edges to look at all its neighbours."""
        _, label = connected_components(A, connection="strong")
        is_inside = label[:, None] == label
        n_edges = float((is_inside & (A != 0)).sum())
        return bool(n_edges**3 * is_inside.sum() > self.last_climb_most)

    def halved(self) -> StartEffort:
        """The effort of a quick start."""
        return replace(
            self,
            n_exchanges=self.n_exchanges // 2,
            acyclic_proposals=self.acyclic_proposals // 2,
            region_proposals=self.region_proposals // 2,
        )

    def exchanges_of(self, p: int) -> int:
        """Exchanges for each of p nodes, at least one."""
        return -(-self.n_exchanges * min(p, SIZES.small) ** 2 // SIZES.small**2)

    def acyclic_proposals_of(self, p: int) -> int:
        """Proposals for p nodes together."""
        return self.acyclic_proposals * p * min(p, SIZES.small) ** 2 // SIZES.small**2


@dataclass(frozen=True)
class AutoEffort:
    """The default search: starts until some agree."""

    # The first start is a quick one; those that are to confirm or to improve on it take longer.
    # search_truth.md, one start alone.
    further: StartEffort = field(default_factory=StartEffort)
    first: StartEffort = field(default_factory=StartEffort().halved)
    # Starts that must have reached the best score, and starts at most. search_truth.md.
    agreeing: int = 2
    most: int = 4
    # The same where a graph is one region: near ties that one start in two misses are common, and
    # starts cost little. search_truth.md, equal to exact.
    agreeing_of_few: int = 5
    most_of_few: int = 12
    # Very many variables have so many near ties that starts hardly ever agree. *Many variables*.
    most_of_very_many: int = 2
    # Starts that end in components made of superfluous edges hardly ever agree: where one is a
    # thicket, so many are enough, and another start goes through graphs whose edges cost so many
    # times as much: in these there are none. *Thickets*, hard_tables.md.
    most_in_thicket: int = 2
    # And so many where edges are too many for a last climb (hard_tables.md).
    most_overgrown: int = 1
    dearer: float = 1.5
    # Seconds until other processes work: they start, and load compiled code (search_speed.md).
    # They change no result.
    workers_begin: float = 5.0

    def higher(self) -> AutoEffort:
        """The effort of a search that may take several times as long."""
        return replace(
            self,
            agreeing=2 * self.agreeing,
            agreeing_of_few=2 * self.agreeing_of_few,
            most=4 * self.most,
            most_of_few=4 * self.most_of_few,
            most_of_very_many=4 * self.most_of_very_many,
            most_in_thicket=4 * self.most_in_thicket,
            most_overgrown=4 * self.most_overgrown,
        )

    def starts_of(self, p: int) -> tuple[int, int]:
        """How many starts must agree for p variables, and how many there are at most."""
        if p <= self.further.region_nodes:
            return self.agreeing_of_few, self.most_of_few
        return self.agreeing, self.most_of_very_many if p > SIZES.very_many else self.most


@dataclass(frozen=True)
class ExactEffort:
    """The exact search."""

    # Structures listed at most: some minutes. exact_speed.md.
    max_structures: int = 5_000_000_000
    # A value is kept for every set of variables. Without limits on components and parents there are
    # more structures than that from 7 variables on. exact_speed.md.
    max_variables: int = 14

    @property
    def counted_structures(self) -> int:
        """An estimate is counted no further than this."""
        return 1000 * self.max_structures


@dataclass(frozen=True)
class TieEffort:
    """Looking for classes, or graphs after interventions, whose score ties."""

    # More than anybody reads.
    max_classes: int = 100
    # Graphs that are scored; those with large components count for several. *Ties*.
    max_scored: int = 10_000
    # Those with a component larger than a region count for so many, by its size: real tables have
    # such components, and hardly ever ties (hard_tables.md).
    large_component: int = StartEffort.region_nodes
    large_cost: float = 0.1
    # Members of a class, or of one block of it, around which ties are looked for. *Ties*.
    max_members: int = 500

    def cost_of(self, largest: int, n_fits: int) -> float:
        """How many graphs one counts for whose largest component is fitted so many times."""
        return n_fits * (self.large_cost * largest**2 if largest > self.large_component else 1.0)


@dataclass(frozen=True)
class MixedEffort:
    """The search for hidden common causes in place of edges (rivals.md)."""

    # Acyclic graphs to start from: those of a class that are equally good lead to different pairs.
    starts: int = 4
    # Graphs to start from in which a hidden cause takes the place of the edges among three.
    triples: int = 6
    # Acyclic graphs of a class among which the nearest to the learned graph is looked for.
    listed: int = 500
    # Blocks of variables that are fitted, in all tables: about a millisecond each.
    max_fits: int = 10_000


SIZES = Sizes()

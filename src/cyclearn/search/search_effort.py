"""How much work the search does: its tuned numbers, each with the measurement that chose it.

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

# Effort of the default search.
Effort = Literal["default", "high"]


@dataclass(frozen=True)
class Sizes:
    """Numbers of variables above which the search saves work."""

    # Up to here work per variable grows with the number of variables (*Orders*, *Slow tail*), and
    # taking the part out of a graph that edges touch costs as much as it saves. *Many variables*.
    small: int = 20
    # Only changed regions are annealed again, and starts that differ are combined. *Many
    # variables*.
    many: int = 50
    # Starts rarely agree, so there are fewer, and choosing the member shown takes up to a second.
    # *Many variables*, peers.md.
    very_many: int = 200


@dataclass(frozen=True)
class MoveEffort:
    """Moves of a local search."""

    # Larger components take long to fit (fit_speed.md): only later climbs enter them, and graphs
    # that contain them count as several. *Climbs*, *Slow tail*.
    large_component: int = 10
    # Larger components that arise from each other by cycle reversion are fitted once: the stability
    # of hundreds of members of such a class has to be checked, at 10 to 20 ms per fit
    # (hard_tables.md). Smaller ones are fitted quickly, from many starts each.
    turned_component: int = 7
    # Nodes in the longest cycle that a virtual-edge move forms. Longer ones are found by single
    # edges and shorter cycles; listing them all would take longer than the rest of the search.
    # Evidence that the operator finds these: virtual_edges.md.
    virtual_cycle: int = 6
    # Virtual-edge moves from one graph, per node; if there are more, only shorter cycles are
    # formed. *Slow tail*, slow_tail.md.
    virtual_moves: int = 10_000


@dataclass(frozen=True)
class LocalEffort:
    """Tabu search and hill climbing."""

    # Nodes in the largest component that single moves enter. They would form components of dozens
    # of nodes from superfluous edges, in which every further move takes a thousand slow fits.
    # slow_tail.md.
    max_component: int = 15
    # Approximate seconds per variable for a quick acyclic graph, with 1,000 variables; irrelevant
    # unless time is short.
    quick_seconds: float = 0.4e-3


@dataclass(frozen=True)
class OrderEffort:
    """The search over orders of the variables."""

    # Number of nearby nodes that exchange places with a node. *Orders*.
    n_near: int = 4
    # A walk along the order ends when the score is worse by this many penalties per edge. *Orders*.
    cutoff: float = 5.0
    # Approximate seconds between checks of the clock. They do not change results.
    slice_seconds: float = 0.05


@dataclass(frozen=True)
class StartEffort:
    """One start of the default search.

    Temperatures are in units of the log-likelihood of the whole sample.
    """

    # Exchanges in the search over orders, for each node. *Orders*, peers.md.
    n_exchanges: int = 10
    # Annealing instead, if required edges close cycles or there are several tables: proposals per
    # node, and the first temperature. several_tables.md, interventions.md.
    acyclic_proposals: int = 5000
    acyclic_temperature: float = 100.0
    # Between checks of the clock: a fraction of a second.
    proposals_at_once: int = 20_000
    # Nodes of a region; larger components are entered only if there is one almost as large, because
    # long cycles grow node by node. *Regions*.
    region_nodes: int = 7
    region_proposals: int = 1500
    region_temperature: float = 5.0
    last_temperature: float = 0.5
    # The first temperature is at least this many penalties per edge: with a larger penalty, the
    # barriers between good graphs are higher. *Regions*.
    steps_up: float = 1.1
    # Next to a component larger than a region it is this many penalties: a hotter walk destroys the
    # component before it has cooled down (hard_tables.md).
    steps_up_beside_large: float = 0.4
    # With several groups the penalty and the gain of an edge are several times as large, so that a
    # region starts hotter and cools down for longer. *Regions*, several_tables.md.
    longer_in_groups: int = 3
    # Edges at this distance from the centre of a region are not reversed. *Regions*.
    turned_distance: int = 4
    # With many superfluous edges, climbing would form large components of them, with tens of
    # thousands of virtual-edge moves along long cycles. So until the last climb, cycles are short
    # and components as small as in a local search. *Climbs*.
    virtual_cycle: int = 3
    virtual_component: int = LocalEffort.max_component
    # The last climb enters components up to this amount of work: the sum of the cubed sizes of all
    # components that one more edge could form (hard_tables.md).
    last_climb_work: float = 1e6
    # There is no last climb and no second start if the components of the graph have so many edges
    # that a single move would take seconds: the cube of the edges for every pair of nodes
    # (hard_tables.md).
    last_climb_most: float = 1e9
    # A quick start that ends in a thicket, after which better starts follow, does not climb with
    # virtual edges, which would take as long as the rest of it (hard_tables.md).
    climbs_in_thicket: bool = True
    # The search climbs from a graph with a ring closed if it is worse by at most this many
    # penalties per edge: other errors around a true ring cost up to 10, the largest value observed,
    # and most false rings far more. *Rings*.
    ring_worse: float = 12
    # Rings inside a component larger than a region with this many more edges than nodes are not
    # tried: it imitates many rings, and none of them ever helped (hard_tables.md).
    thicket: int = 2
    # Rings that create a component of more than this many times their nodes are not tried: they
    # close other paths too, are not imitated by the graph, and take long to fit. *Rings*.
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
        """Whether the components of a graph have too many edges to evaluate all neighbours."""
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
            climbs_in_thicket=False,
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

    # The first start is quick; later ones, which confirm or improve it, take longer.
    # search_truth.md, one start alone.
    further: StartEffort = field(default_factory=StartEffort)
    first: StartEffort = field(default_factory=StartEffort().halved)
    # Number of starts that must reach the best score, and maximum number of starts.
    # search_truth.md.
    agreeing: int = 2
    most: int = 4
    # The same if a graph is one region: near ties that half of the starts miss are common, and
    # starts are quick. search_truth.md, equal to exact.
    agreeing_of_few: int = 5
    most_of_few: int = 12
    # With very many variables there are so many near ties that starts rarely agree. *Many
    # variables*.
    most_of_very_many: int = 2
    # Starts that end in components of superfluous edges rarely agree: if one of these is a thicket,
    # this many starts are enough, and another start uses a penalty this many times as large, with
    # which no thickets form. *Thickets*, hard_tables.md.
    most_in_thicket: int = 2
    # The number of starts if there are too many edges for a last climb (hard_tables.md).
    most_overgrown: int = 1
    dearer: float = 1.5
    # Seconds until other processes are ready: they start and load compiled code (search_speed.md).
    # They do not change results.
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

    # Maximum number of structures to list: some minutes. exact_speed.md.
    max_structures: int = 5_000_000_000
    # A value is stored for every set of variables. Without limits on components and parents, more
    # than 6 variables have too many structures. exact_speed.md.
    max_variables: int = 14

    @property
    def counted_structures(self) -> int:
        """An estimate stops counting here."""
        return 1000 * self.max_structures


@dataclass(frozen=True)
class TieEffort:
    """The search for classes, or graphs with interventions, with the same score."""

    # More than anyone would read.
    max_classes: int = 100
    # Number of graphs to score; those with large components count as several. *Ties*.
    max_scored: int = 10_000
    # Those with a component larger than a region count as many, by its size: real tables have such
    # components, and rarely ties (hard_tables.md).
    large_component: int = StartEffort.region_nodes
    large_cost: float = 0.1
    # Number of members of a class, or of one block, whose neighbours are examined. *Ties*.
    max_members: int = 500

    def cost_of(self, largest: int, n_fits: int) -> float:
        """The weight of a graph, given the number of fits of its largest component."""
        return n_fits * (self.large_cost * largest**2 if largest > self.large_component else 1.0)


@dataclass(frozen=True)
class MixedEffort:
    """The search for hidden common causes in place of edges (rivals.md)."""

    # Number of acyclic start graphs: equally good members of a class lead to different pairs.
    starts: int = 4
    # Number of start graphs in which a hidden cause replaces the edges among three variables.
    triples: int = 6
    # Number of acyclic members of a class among which the one nearest to the learned graph is
    # chosen.
    listed: int = 500
    # Maximum number of block fits over all tables: about a millisecond each.
    max_fits: int = 10_000


SIZES = Sizes()

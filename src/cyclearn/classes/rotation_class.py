"""One class of rotations (Theorem 1): members streamed, counted and drawn from its territories."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from cyclearn.classes.redundancy import IrreducibleSeatings, irreducible_seatings
from cyclearn.classes.rule_search import ClassKey
from cyclearn.classes.seated_graphs import SeatedGraphs
from cyclearn.classes.seating import Seating


class RotationClass(SeatedGraphs):
    """The graphs with these territories; part of an :class:`EquivalenceClass`, which makes it.

    Irreducible members only, unless ``reducible``. ``linked`` are the territories of all classes
    with the same distributions: members with a subgraph in one of them are left out too. There may
    be none left, and then ``seatings`` is empty.
    """

    def __init__(
        self,
        territories: ClassKey,
        names: tuple[str, ...],
        *,
        linked: Collection[ClassKey],
        reducible: bool,
        max_states: int,
    ) -> None:
        self.territories = territories
        self.names = names
        self.reducible = reducible
        self._linked = linked
        self._max_states = max_states

    @cached_property
    def seatings(self) -> tuple[Seating, ...]:
        """Which node can hold a set of which territory; the members in disjoint parts.

        One part, unless some members have an edge that only a rule shows to be redundant.
        """
        if self.reducible:
            return (Seating(self.territories, reducible=True, max_states=self._max_states),)
        return self.irreducible_seatings

    @property
    def irreducible_seatings(self) -> tuple[Seating, ...]:
        """The parts of the irreducible members."""
        return self._irreducible.parts

    @property
    def redundancy_cut_by(self) -> str | None:
        """The limit that cut the search for redundant edges, None where none did."""
        return self._irreducible.cut_by

    @cached_property
    def _irreducible(self) -> IrreducibleSeatings:
        return irreducible_seatings(self.territories, self._linked, self._max_states)

    @property
    def n_edges(self) -> int:
        """Number of edges of every irreducible member."""
        return sum(territory.size - 1 for territory in self.territories)

    def __repr__(self) -> str:
        return f"RotationClass({self.n_edges} edges, {len(self.names)} nodes)"

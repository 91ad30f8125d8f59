"""One class of rotations (Theorem 1): members streamed, counted and drawn from its territories."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import chain
from math import prod
from random import Random

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.edge_counts import EdgeCounts, PairCount
from cyclearn.classes.member_sampling import MemberSampler
from cyclearn.classes.redundancy import irreducible_seatings
from cyclearn.classes.rule_search import ClassKey
from cyclearn.classes.seating import Seating
from cyclearn.graphs.bitsets import words_to_supports
from cyclearn.graphs.directed_graph import DirectedGraph


class RotationClass:
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

    @cached_property
    def irreducible_seatings(self) -> tuple[Seating, ...]:
        """The parts of the irreducible members."""
        return irreducible_seatings(self.territories, self._linked, self._max_states)

    @property
    def n_edges(self) -> int:
        """Number of edges of every irreducible member."""
        return sum(territory.size - 1 for territory in self.territories)

    @property
    def size(self) -> int:
        """Number of members, exact; LimitError if the class is too entangled to be counted."""
        return sum(prod(sizes) for sizes in self._block_sizes)

    @cached_property
    def _block_sizes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(seating.count(block) for block in seating.blocks) for seating in self.seatings
        )

    def __iter__(self) -> Iterator[DirectedGraph]:
        for words in self._iter_words():
            if words.shape[2] == 1:
                batch = words[:, :, 0].tolist()
            else:
                batch = [
                    [int.from_bytes(column.tobytes(), "little") for column in m] for m in words
                ]
            for columns in batch:
                yield DirectedGraph.from_columns(columns, self.names)

    def iter_adjacencies(self) -> Iterator[NDArray[np.bool_]]:
        """Stream the adjacency arrays of the members, in the order of iteration."""
        diagonal = np.arange(len(self.names))
        for words in self._iter_words():
            adjacencies = words_to_supports(words, len(self.names))
            adjacencies[:, diagonal, diagonal] = False
            yield from adjacencies

    def _iter_words(self) -> Iterator[NDArray[np.uint64]]:
        return chain.from_iterable(seating.iter_words() for seating in self.seatings)

    def draw(self, place: int, source: Random) -> DirectedGraph:
        """A member drawn at random from the part in which number ``place`` of all members is."""
        for seating, sizes in zip(self._samplers, self._block_sizes, strict=True):
            place -= prod(sizes)
            if place < 0:
                return DirectedGraph.from_columns(seating.draw(source), self.names)
        raise AssertionError("the members have been used up")

    @cached_property
    def _samplers(self) -> tuple[MemberSampler, ...]:
        return tuple(MemberSampler(seating) for seating in self.seatings)

    def iter_edge_counts(self) -> Iterator[PairCount]:
        """For every part, in how many members each pair of nodes is joined, and how."""
        for seating, sizes in zip(self.seatings, self._block_sizes, strict=True):
            yield from EdgeCounts(seating, sizes)

    def __repr__(self) -> str:
        return f"RotationClass({self.n_edges} edges, {len(self.names)} nodes)"

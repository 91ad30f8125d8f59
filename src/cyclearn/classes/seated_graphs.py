"""Graphs that seatings describe: streamed, counted and drawn, in disjoint parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from math import prod
from random import Random

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.edge_counts import EdgeCounts, PairCount
from cyclearn.classes.member_sampling import MemberSampler
from cyclearn.classes.seating import Seating
from cyclearn.graphs.bitsets import words_to_supports
from cyclearn.graphs.directed_graph import DirectedGraph


class SeatedGraphs(ABC):
    """The members of some seatings, which have none in common."""

    names: tuple[str, ...]

    @property
    @abstractmethod
    def seatings(self) -> Sequence[Seating]:
        """Which node can hold a set of which territory; the members in disjoint parts."""

    @property
    def size(self) -> int:
        """Number of members, exact, without listing them.

        Raises
        ------
        LimitError
            If the class is too entangled to be counted with ``max_states`` states.
        """
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
        """Stream the adjacency arrays of the members, in the order of iteration.

        Faster than making graphs; memory does not grow with the number of members.
        """
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

"""The result of :func:`cyclearn.bootstrap`: how often each statement holds over resamples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.foundation import Axes, InputError, SavedAnswer, check_schema, pd
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs import DirectedGraph
from cyclearn.results.edge_rows import statements_beside
from cyclearn.search.knowledge import Knowledge


@dataclass(frozen=True)
class Resample:
    """The graph learned from one resample.

    ``redraws`` counts discarded draws, in which a column was constant or collinear; ``limits``
    names the limits that the search reached; ``error`` says why there is no graph.
    """

    number: int
    edges: tuple[tuple[int, int], ...]
    redraws: int = 0
    limits: tuple[str, ...] = ()
    error: str | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the time limit ended the search."""
        return "time_limit" in self.limits

    def to_dict(self) -> dict[str, Any]:
        """The resample as plain values."""
        more = {"redraws": self.redraws, "limits": list(self.limits), "error": self.error}
        record: dict[str, Any] = {"number": self.number, "edges": [list(e) for e in self.edges]}
        return record | {name: value for name, value in more.items() if value}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Resample:
        """The resample from the values of :meth:`to_dict`."""
        return cls(
            int(record["number"]),
            tuple((int(i), int(j)) for i, j in record["edges"]),
            int(record.get("redraws", 0)),
            tuple(record.get("limits", ())),
            record.get("error"),
        )


_SCHEMA = "cyclearn.BootstrapResult/1"
# A dense component has more simple cycles than anyone would read; the result says if it was cut.
_MAX_CYCLES = 10_000


class _Shares(NamedTuple):
    """Shares of resamples in which statements about the class hold, each of shape (p, p)."""

    compelled: FloatArray
    possible: FloatArray
    always_adjacent: FloatArray
    sometimes_adjacent: FloatArray


@dataclass(frozen=True)
class BootstrapResult(SavedAnswer):
    """Frequencies of edges, adjacencies, cycles and class-level statements over resamples.

    A learned graph represents its class, and chance decides in which member a search ends. The
    frequency of an edge in the learned graphs is therefore less informative than two statements
    about classes: *compelled*, the edge is in every member of the class learned from a resample;
    *possible*, it is in some member. Members that contradict the knowledge do not count. Both are
    exact for classes of any size.

    Attributes
    ----------
    names : tuple of str
    resamples : tuple of Resample
        In the order of their numbers, regardless of the order in which they finished.
    resampling : str
        ``"rows"`` drawn with replacement, ``"half"`` of the rows without replacement, or
        ``"parametric"`` draws of a covariance, for example.
    options : mapping
        Options of the searches, as plain values, and the ``seed``; if ``time_limit`` left no time
        for all resamples, also ``n_wanted``, the number requested.
    """

    names: tuple[str, ...]
    resamples: tuple[Resample, ...]
    resampling: str
    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not self.learned:
            reason = self.resamples[0].error if self.resamples else "there are none"
            raise InputError(f"no resample gave a graph: {reason}")

    @cached_property
    def learned(self) -> tuple[Resample, ...]:
        """The resamples that gave a graph; all frequencies are shares of these."""
        return tuple(r for r in self.resamples if r.error is None)

    @cached_property
    def graphs(self) -> tuple[DirectedGraph, ...]:
        """The learned graphs."""
        return tuple(DirectedGraph.from_edges(r.edges, self.names) for r in self.learned)

    @property
    def n_resamples(self) -> int:
        """Number of resamples that gave a graph."""
        return len(self.learned)

    @property
    def n_failed(self) -> int:
        """Number of resamples that gave no graph; ``resamples`` contains the reasons."""
        return len(self.resamples) - len(self.learned)

    @property
    def n_redraws(self) -> int:
        """Number of draws discarded because a column was constant or collinear."""
        return sum(r.redraws for r in self.resamples)

    @property
    def limits(self) -> dict[str, int]:
        """In how many resamples the search reached each limit."""
        return dict(Counter(name for r in self.resamples for name in r.limits))

    @cached_property
    def edge_frequencies(self) -> FloatArray:
        """Entry (i, j): share of the learned graphs with i → j, shape (p, p)."""
        return np.asarray(np.mean([g.adjacency for g in self.graphs], axis=0, dtype=float))

    @property
    def compelled_frequencies(self) -> FloatArray:
        """Entry (i, j): share of resamples in which every member of the class has i → j."""
        return self._shares.compelled

    @property
    def possible_frequencies(self) -> FloatArray:
        """Entry (i, j): share of resamples in which some member of the class has i → j."""
        return self._shares.possible

    @property
    def always_adjacent_frequencies(self) -> FloatArray:
        """Entry (i, j): share of resamples in which i and j are adjacent in every member."""
        return self._shares.always_adjacent

    @cached_property
    def _shares(self) -> _Shares:
        masks = Knowledge.from_dict(self.options.get("knowledge") or {}).masks(self.names)
        p = len(self.names)
        total = np.zeros((4, p, p))
        for graph, times in Counter(self.graphs).items():
            found = statements_beside(graph, EquivalenceClass(graph), *masks)
            A = graph.adjacency
            # The graph itself counts too, if it has a required redundant edge.
            compelled, possible = found.compelled & A, found.possible | A
            adjacent = found.always_adjacent & (A | A.T)
            total += times * np.array([compelled, possible, adjacent, possible | possible.T])
        return _Shares(*(total / self.n_resamples))

    @property
    def edges(self) -> pd.DataFrame:
        """Table of edges that some learned class has, the most frequent first.

        Columns ``source`` and ``target``; the ``frequency`` in the learned graphs; the shares of
        resamples in which the edge is ``compelled`` (in every member of the class) and
        ``possible`` (in some member).
        """
        return self._pairs(
            ("source", "target"),
            self.possible_frequencies,
            frequency=self.edge_frequencies,
            compelled=self.compelled_frequencies,
            possible=self.possible_frequencies,
        )

    @property
    def adjacencies(self) -> pd.DataFrame:
        """Table of pairs that some learned class joins, the most frequent first.

        Nodes ``a`` and ``b``; the ``frequency`` of an edge between them, in any direction, in the
        learned graphs; the shares of resamples in which they are adjacent in every member of the
        class (``compelled``) and in some member (``possible``); and the share in which both lie in
        one feedback loop (``feedback``) of the learned graph.
        """
        possible, loops = self._shares.sometimes_adjacent, self._same_loop
        return self._pairs(
            ("a", "b"),
            np.triu(possible + loops),
            frequency=np.mean([g.adjacency | g.adjacency.T for g in self.graphs], axis=0),
            compelled=self.always_adjacent_frequencies,
            possible=possible,
            feedback=loops,
        )

    def _pairs(
        self, ends: tuple[str, str], found: FloatArray, **shares: FloatArray
    ) -> pd.DataFrame:
        """Table of the pairs where ``found`` is not zero, with their shares, the largest first."""
        places = np.nonzero(found)
        names = np.array(self.names, dtype=object)
        columns = {end: names[place] for end, place in zip(ends, places, strict=True)}
        table = pd.DataFrame(columns | {name: each[places] for name, each in shares.items()})
        return table.sort_values(list(shares), ascending=False, kind="stable", ignore_index=True)

    @cached_property
    def _same_loop(self) -> FloatArray:
        shares = np.mean([graph.in_one_component for graph in self.graphs], axis=0)
        np.fill_diagonal(shares, 0)
        return np.asarray(shares)

    @property
    def cycles(self) -> pd.DataFrame:
        """Table of simple cycles of the learned graphs, the most frequent first.

        Columns ``cycle`` (names in the order of the arrows), ``length`` and ``frequency``. At most
        10,000 cycles of each graph are listed, the smallest components first; ``attrs["n_cut"]`` of
        the table counts the graphs with more.
        """
        counts: Counter[tuple[str, ...]] = Counter()
        n_cut = 0
        for graph, times in Counter(self.graphs).items():
            found = list(islice(graph.simple_cycles(), _MAX_CYCLES + 1))
            n_cut += times * (len(found) > _MAX_CYCLES)
            for cycle in found[:_MAX_CYCLES]:
                counts[cycle] += times
        rows = [(cycle, len(cycle), n / self.n_resamples) for cycle, n in counts.items()]
        rows.sort(key=lambda row: (-row[2], row[1], row[0]))
        table = pd.DataFrame(rows, columns=["cycle", "length", "frequency"])
        table.attrs["n_cut"] = n_cut
        return table

    def plot(self, ax: Axes | None = None, *, threshold: float = 0.5) -> Axes:
        """Draw the frequent edges; see :func:`cyclearn.drawing.plots.plot_bootstrap`."""
        from cyclearn.drawing.plots import plot_bootstrap

        return plot_bootstrap(self, ax, threshold=threshold)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {"schema": _SCHEMA, **super().to_dict()}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> BootstrapResult:
        """The result from the values of :meth:`to_dict`."""
        check_schema(record, _SCHEMA, "bootstrap")
        found = cls(
            tuple(record["names"]),
            tuple(Resample.from_dict(each) for each in record["resamples"]),
            record["resampling"],
            dict(record["options"]),
        )
        # Reject edges between nodes that do not exist now.
        _ = found.graphs
        return found

    def __str__(self) -> str:
        drawn = {
            "rows": "of the rows, drawn with replacement",
            "blocks": "of the rows, drawn in blocks of neighbours",
            "half": "of half of the rows",
            "groups": "of the groups, drawn with replacement",
            "parametric": "of the covariance (parametric)",
        }[self.resampling]
        lines = [f"Bootstrap: {self.n_resamples} resamples {drawn}."]
        wanted = self.options.get("n_wanted")
        if wanted is not None:
            lines.append(f"The time limit ended it before all {wanted} resamples were done.")
        if self.n_failed:
            lines.append(f"{self.n_failed} more resamples gave no graph (see resamples).")
        if self.n_redraws:
            lines.append(
                f"{self.n_redraws} resamples with a constant or collinear column were redrawn."
            )
        for name, times in self.limits.items():
            lines.append(f"Limit {name} was reached in {times} of {len(self.resamples)}.")
        table = self.edges.round(3)
        shown = table.head(30).to_string(index=False)
        more = f"\n… {len(table) - 30} more (see edges)" if len(table) > 30 else ""
        return "\n".join([*lines, shown + more])

    def __repr__(self) -> str:
        return f"BootstrapResult({self.n_resamples} resamples, {len(self.names)} variables)"

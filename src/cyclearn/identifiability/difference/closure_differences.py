"""Proofs that two graphs have different closures, so that they share only a null set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.markov import markov_equivalent
from cyclearn.identifiability.comparison import Closures, Conclusion, Sharing
from cyclearn.identifiability.constraints.conormals import differing_conormal_minor
from cyclearn.identifiability.constraints.invariants import MOST_NODES, differing_minor, readable


def difference_of_ranks(g: DirectedGraph, h: DirectedGraph) -> dict[str, Any] | None:
    """Fields of a comparison if the dimension or a vanishing minor differs, else None.

    Beyond eleven nodes d-separations replace the minors.
    """
    dimensions = g.dimension(), h.dimension()
    if dimensions[0] != dimensions[1]:
        text = f"The graphs allow {dimensions[0]} and {dimensions[1]} free parameters."
        return _different(Conclusion.DIFFERENT_DIMENSIONS, text, {"dimensions": list(dimensions)})
    if g.n_nodes > MOST_NODES:
        if markov_equivalent(g, h):
            return None
        text = "The graphs have different d-separations."
        return _different(Conclusion.DIFFERENT_RANKS, text, {})
    found = differing_minor(g, h)
    if found is None:
        return None
    minor, on_first = found
    matrix, rows, columns = readable(minor, g.n_nodes)
    where, other = ("first", "second") if on_first else ("second", "first")
    size = rows.bit_count()
    block, data = _block(g.names, matrix, rows, columns)
    text = (
        f"{block} is zero on the {where} graph, and not on the {other}."
        if size == 1
        else f"{block} has rank at most {size - 1} on the {where} graph, and generic rank {size} "
        f"on the {other}."
    )
    return _different(Conclusion.DIFFERENT_RANKS, text, data | {"singular_on": where})


def difference_of_conormals(g: DirectedGraph, h: DirectedGraph) -> dict[str, Any] | None:
    """Fields of a comparison if a minor of normal directions vanishes on one graph only."""
    found = differing_conormal_minor(g, h)
    if found is None:
        return None
    (matrix, (rows, columns)), on_first = found
    where, other = ("first", "second") if on_first else ("second", "first")
    block, data = _block(g.names, matrix, rows, columns)
    text = (
        f"Let Y be a direction normal to the set at Θ: the determinant of {block} is zero on the "
        f"{where} graph, and not on the {other}, modulo two primes at two points; so they are "
        "bound by different equations."
    )
    return _different(Conclusion.DIFFERENT_EQUATIONS, text, data | {"singular_on": where})


def _different(verdict: Conclusion, evidence: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "sharing": Sharing.REFUTED,
        "closures": Closures.DIFFERENT,
        "evidence": (evidence,),
        "data": data,
    }


def _block(
    names: Sequence[str], matrix: str, rows: int, columns: int
) -> tuple[str, dict[str, Any]]:
    """A submatrix as text, and as data."""
    row_names, column_names = ([names[v] for v in bits(members)] for members in (rows, columns))
    words = f"{matrix}[{{{', '.join(row_names)}}}, {{{', '.join(column_names)}}}]"
    return words, {"matrix": matrix, "rows": row_names, "columns": column_names}

"""``cyclearn equivalent`` and ``cyclearn class``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cyclearn.cli.output import print_json
from cyclearn.graphs import DirectedGraph, EquivalenceClass, GraphStep, read_graph
from cyclearn.graphs import equivalent as decide_equivalence

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def equivalent(
    a: Annotated[Path, typer.Argument(help="Graph file: JSON, DOT, Tetrad or edge list.")],
    b: Annotated[Path, typer.Argument(help="Graph file on the same nodes.")],
    as_json: Json = False,
) -> None:
    """Decide whether two graphs generate the same distributions, with the steps as proof.

    Exits with 1 where rotations do not link the graphs.
    """
    answer = decide_equivalence(read_graph(a), read_graph(b))
    if as_json:
        print_json(
            "equivalent",
            {
                "equivalent": bool(answer),
                "reason": answer.reason,
                "forward": _steps_in_words(answer.forward, answer.first),
                "backward": _steps_in_words(answer.backward, answer.second),
                "dimensions": [answer.first.dimension(), answer.second.dimension()],
            },
        )
    else:
        typer.echo(answer.explain())
    raise typer.Exit(0 if answer else 1)


def _steps_in_words(steps: tuple[GraphStep, ...] | None, graph: DirectedGraph) -> list[str] | None:
    return None if steps is None else [step.describe(graph.names) for step in steps]


def equivalence_class(
    a: Annotated[Path, typer.Argument(help="Graph file: JSON, DOT, Tetrad or edge list.")],
    count: Annotated[bool, typer.Option("--count", help="Print only the number.")] = False,
    as_list: Annotated[bool, typer.Option("--list", help="List the members.")] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Print which edges are certain, turn, come and go.")
    ] = False,
    reducible: Annotated[
        bool, typer.Option("--reducible", help="Include members with redundant edges.")
    ] = False,
    acyclic: Annotated[
        bool, typer.Option("--acyclic", help="List or count the acyclic members only.")
    ] = False,
    max_members: Annotated[
        int, typer.Option("--max", min=0, help="List at most this many members.")
    ] = 1000,
    as_json: Json = False,
) -> None:
    """List, count or tabulate the graphs that no observational data can tell from a graph."""
    everything = not (count or as_list or table)
    graphs = EquivalenceClass(read_graph(a), reducible=reducible)
    size = graphs.n_acyclic if acyclic else graphs.size
    listed = _first_members(graphs, acyclic, max_members) if as_list or everything else []
    edges = graphs.edge_table() if (table or everything) and not acyclic else None
    if as_json:
        result: dict[str, object] = {"size": size, "reducible": reducible, "acyclic": acyclic}
        if as_list or everything:
            result |= {
                "members": [graph.to_dict() for graph in listed],
                "complete": len(listed) == size,
            }
        if edges is not None:
            result["edge_table"] = edges.to_dict(orient="records")
        print_json("class", result)
        return
    if count:
        typer.echo(str(size))
    if everything:
        kind = "acyclic" if acyclic else "with redundant edges too" if reducible else "irreducible"
        typer.echo(f"{size} equivalent graph{'s' * (size != 1)} ({kind}).")
    for number, graph in enumerate(listed, start=1):
        typer.echo(f"{number}. " + ", ".join(f"{a} -> {b}" for a, b in graph.edges))
    if (as_list or everything) and len(listed) < size:
        typer.echo(f"… cut after {len(listed)} of {size}; --max lists more.")
    if edges is not None:
        typer.echo(edges.to_string(index=False) if len(edges) else "No member has an edge.")


def _first_members(
    graphs: EquivalenceClass, acyclic: bool, max_members: int
) -> list[DirectedGraph]:
    stream = graphs.iter_acyclic() if acyclic else iter(graphs)
    return [graph for _, graph in zip(range(max_members), stream, strict=False)]

"""``cyclearn demo``: the paper's example, from graph to class."""

from __future__ import annotations

import typer

from cyclearn.graphs import DirectedGraph, equivalence_class, equivalent


def demo() -> None:
    """Show the eight graphs that are equivalent to the paper's example, and why."""
    graph = DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 0), (3, 2)])
    graphs = equivalence_class(graph)
    typer.echo(f"A graph with feedback: {', '.join(f'{a} -> {b}' for a, b in graph.edges)}")
    typer.echo(f"\n{graphs.size} graphs generate the same distributions:")
    for number, member in enumerate(graphs, start=1):
        typer.echo(f"  {number}. " + ", ".join(f"{a} -> {b}" for a, b in member.edges))
    typer.echo("\nWhat all of them agree on:")
    typer.echo(graphs.edge_table().to_string(index=False))
    other = next(member for member in graphs if member != graph)
    typer.echo("\n" + equivalent(graph, other).explain())

"""``cyclearn simulate``: random graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cyclearn.cli.output import Json, print_json
from cyclearn.graphs import random_graph, write_graph
from cyclearn.graphs.formats import edge_list


def simulate(
    nodes: Annotated[int, typer.Option("--nodes", "-p", min=1, help="Number of nodes.")] = 5,
    max_degree: Annotated[int, typer.Option(min=1, help="Most edges at a node.")] = 4,
    max_component: Annotated[
        int | None, typer.Option(min=1, help="Most nodes in a strongly connected component.")
    ] = None,
    max_cycle_length: Annotated[
        int | None, typer.Option(min=1, help="Most nodes in a simple cycle.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed; the same seed, the same graph.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the graph here (.json, .dot or .txt).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw a random directed graph by the generator of the paper's experiments."""
    graph = random_graph(nodes, max_degree, max_component, max_cycle_length, random_state=seed)
    if out is not None:
        write_graph(graph, out)
    if as_json:
        print_json("simulate", {"graph": graph.to_dict(), "seed": seed})
    elif out is None:
        typer.echo(edge_list(graph), nl=False)

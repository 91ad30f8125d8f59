"""``cyclearn simulate``: random graphs, parameters and data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from cyclearn.cli.documented_options import documented
from cyclearn.cli.output import Json, print_json, say
from cyclearn.foundation import InputError, check_output, checked_suffix, write_text
from cyclearn.graphs import random_graph, read_graph, write_graph
from cyclearn.graphs.formats import edge_list


@documented
def simulate(
    nodes: Annotated[int, typer.Option("--nodes", "-p", min=1)] = 5,
    max_degree: Annotated[int, typer.Option(min=1)] = 4,
    max_component: Annotated[int | None, typer.Option(min=1)] = None,
    max_cycle_length: Annotated[int | None, typer.Option(min=1)] = None,
    graph: Path | None = None,
    samples: Annotated[int | None, typer.Option("--samples", "-n", min=1)] = None,
    data: Path | None = None,
    model: Path | None = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    out: Path | None = None,
    as_json: Json = False,
) -> None:
    """Simulate a graph, stable parameters and data with the paper's generator.

    Weights are uniform on ±[0.2, 0.8], variances on [1, 3]. Without --out, the graph is printed.

    Parameters
    ----------
    nodes
        Number of nodes.
    max_degree
        Maximum number of edges per node.
    max_component
        Maximum number of nodes in a strongly connected component.
    max_cycle_length
        Maximum number of nodes in a simple cycle.
    graph
        Use this graph file instead of a random graph.
    samples
        Number of rows of data.
    data
        Write the data here (.csv, .tsv or .parquet).
    model
        Write the weights and variances here (.json).
    seed
        Seed; the same seed gives the same output.
    out
        Write the graph here (.json, .dot or .txt).
    """
    from cyclearn.data.table_files import write_table
    from cyclearn.models import random_model

    if (samples is None) != (data is None):
        raise InputError("to simulate data, give both --samples N and --data FILE")
    if data is not None and data.suffix.lower() not in {".csv", ".tsv", ".txt", ".parquet"}:
        raise InputError(f"--data is {data}; name the file .csv, .tsv, .txt (tabs) or .parquet")
    if model is not None:
        checked_suffix(model, (".json",), "a model")
    outputs = [path for path in (out, model, data) if path is not None]
    for n, path in enumerate(outputs):
        check_output(path, [graph, *outputs[:n]])
    generator = np.random.default_rng(seed)
    if graph is None:
        drawn = random_graph(nodes, max_degree, max_component, max_cycle_length, generator)
    else:
        drawn = read_graph(graph)
    result: dict[str, object] = {"graph": drawn.to_dict(), "seed": seed}
    if out is not None:
        write_graph(drawn, out)
    if model is not None or data is not None:
        parameters = random_model(drawn, random_state=generator)
        result["model"] = parameters.to_dict()
        if model is not None:
            write_text(model, parameters.to_json() + "\n")
        if data is not None and samples is not None:
            write_table(data, parameters.sample(samples, random_state=generator))
    if as_json:
        print_json("simulate", result)
    elif out is None:
        say(edge_list(drawn), nl=False)

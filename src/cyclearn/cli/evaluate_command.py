"""``cyclearn evaluate``: a learned graph against the true one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cyclearn.cli.documented_options import documented
from cyclearn.cli.output import Json, print_answer
from cyclearn.graphs import read_graph


@documented
def evaluate(
    learned: Path,
    true: Path,
    domains: Annotated[int, typer.Option(min=1, max=10**6)] = 50,
    eta: float | None = None,
    time_limit: Annotated[float | None, typer.Option(min=0)] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: Json = False,
) -> None:
    """Measure how close a learned graph is to the true one and to its class.

    Precision is the share of learned features that some graph equivalent to the true one has;
    recall is the share of features common to all of these graphs that was learned. Multi-domain
    success is the share of random distributions of the true graph that the learned graph generates.

    Parameters
    ----------
    learned
        Graph file: JSON, DOT, Tetrad or edge list.
    true
        Graph file on the same nodes.
    domains
        Distributions drawn from the true graph.
    eta
        KL divergence that counts as generated; p/1000 by default.
    time_limit
        Limit in seconds; measures that do not finish are omitted.
    seed
        Seed of the distributions.
    """
    from cyclearn.evaluation import evaluate as evaluate_graph

    found = evaluate_graph(
        read_graph(learned),
        read_graph(true),
        n_domains=domains,
        eta=eta,
        time_limit=time_limit,
        random_state=seed,
    )
    print_answer("evaluate", found, as_json=as_json)

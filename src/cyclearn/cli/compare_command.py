"""``cyclearn compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cyclearn.cli.documented_options import documented
from cyclearn.cli.output import Json, print_answer
from cyclearn.graphs import read_graph
from cyclearn.identifiability import Sampler
from cyclearn.identifiability import compare as compare_graphs
from cyclearn.identifiability import quasi_equivalent as decide_quasi_equivalence


@documented
def compare(
    a: Path,
    b: Path,
    quasi: bool = False,
    draws: Annotated[int, typer.Option(min=1, max=10**6)] = 60,
    starts: Annotated[int, typer.Option(min=1, max=10**6)] = 12,
    paper: bool = False,
    as_json: Json = False,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Test whether two graphs generate the same distributions, by proofs and numerics.

    Exits with 1 if they do not, or, with --quasi, if they share no set of positive measure.

    Parameters
    ----------
    a
        Graph file: JSON, DOT, Tetrad or edge list.
    b
        Graph file on the same nodes.
    quasi
        Test whether the graphs share a set of distributions of positive measure.
    draws
        Distributions drawn from each graph if there is no proof.
    starts
        Number of starts of every projection.
    paper
        Draw weights and variances as the paper does.
    seed
        Seed of the draws and starts.
    """
    decide = decide_quasi_equivalence if quasi else compare_graphs
    answer = decide(
        read_graph(a),
        read_graph(b),
        n_draws=draws,
        n_starts=starts,
        sampler=Sampler.PAPER if paper else Sampler.GAUSSIAN,
        random_state=seed,
    )
    print_answer("compare", answer, as_json=as_json)
    raise typer.Exit(0 if answer else 1)

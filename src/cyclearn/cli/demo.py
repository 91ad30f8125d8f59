"""``cyclearn demo``: from built-in data to a graph with feedback and its class."""

from __future__ import annotations

import typer

from cyclearn.graphs import DirectedGraph
from cyclearn.models import LinearGaussianModel

# Supply and demand with two instruments: price and quantity drive each other.
_MARKET = LinearGaussianModel(
    B=[
        [0, 0, 0.7, 0],
        [0, 0, 0, 0.8],
        [0, 0, 0, -0.6],
        [0, 0, 0.5, 0],
    ],
    noise_variances=[1, 1, 1, 1],
    names=["costs", "income", "price", "quantity"],
)


def demo() -> None:
    """Learn the feedback between price and quantity from simulated market data."""
    from cyclearn.learning import learn

    truth = _MARKET.graph
    typer.echo("2,000 simulated rows of a market in which")
    for a, b in truth.edges:
        typer.echo(f"  {a} -> {b}  {_MARKET.B[truth.index(a), truth.index(b)]:+.3f}")
    result = learn(_MARKET.sample(2_000, random_state=0))
    typer.echo("\nLearned from the data:")
    typer.echo(str(result))
    typer.echo("\nWhat all graphs that fit equally well agree on:")
    typer.echo(result.equivalence_class.edge_table().to_string(index=False))
    typer.echo("\n" + _finding(result.graph, truth in result.equivalence_class))


def _finding(graph: DirectedGraph, is_true: bool) -> str:
    loops = [" and ".join(nodes) for nodes in graph.components if len(nodes) > 1]
    found = f"Feedback was found between {loops[0]}" if loops else "No feedback was found"
    verdict = "the class of the true graph" if is_true else "not the class of the true graph"
    return f"{found}; the learned class is {verdict}."

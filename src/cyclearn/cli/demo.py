"""``cyclearn demo``: from built-in data to a graph with feedback, its class and its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cyclearn.cli.output import say
from cyclearn.foundation import InputError, replacing, why
from cyclearn.graphs import DirectedGraph
from cyclearn.models.example import EXAMPLE_ROWS, MARKET

_TITLE = "What drives what in a market"
_RESAMPLES = 10


def demo(
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the data and the report.")
    ] = Path("demo"),
) -> None:
    """Learn the feedback in simulated market data, and write a report about it."""
    from cyclearn.learning import learn

    truth = MARKET.graph
    table, page = folder / "market.csv", folder / "report.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {why(error)}") from None
    with replacing(table) as beside:
        MARKET.sample(EXAMPLE_ROWS, random_state=0).to_csv(beside, index=False)
    say(f"{EXAMPLE_ROWS:,} simulated rows of a market ({table}) in which")
    for a, b in truth.edges:
        say(f"  {a} -> {b}  {MARKET.B[truth.index(a), truth.index(b)]:+.3f}")
    say("\nLearning (the first run on a machine compiles the code) …")
    result = learn(table, bootstrap=_RESAMPLES, posterior="brief")
    say("\nLearned from the data:")
    say(str(result))
    say("\nEdges that all equally good graphs share:")
    say(result.equivalence_class.edge_table().to_string(index=False))
    command = ["cyclearn", "report", str(table), "-o", str(page), "--title", _TITLE]
    command += ["--bootstrap", str(_RESAMPLES)]
    result.report(page, data=table, title=_TITLE, command=command)
    say(f"\n{_finding(result.graph, truth in result.equivalence_class)} Report: {page}")


def _finding(graph: DirectedGraph, is_true: bool) -> str:
    loops = [f"{', '.join(nodes[:-1])} and {nodes[-1]}" for nodes in graph.components if nodes[1:]]
    found = f"Feedback was found among {loops[0]}" if loops else "No feedback was found"
    verdict = "the class of the true graph" if is_true else "not the class of the true graph"
    return f"{found}; the learned class is {verdict}."

"""``cyclearn posterior``: how probable is each edge, given a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cyclearn.cli.output import Json, print_json, say
from cyclearn.cli.search_options import said_in_the_result
from cyclearn.cli.table_options import (
    EffectiveRows,
    Estimate,
    Groups,
    Lags,
    Margins,
    Missing,
    number_or_name,
    takes_table,
)
from cyclearn.foundation.files import check_output, checked_suffix, write_text
from cyclearn.posterior.graph_prior import LOOP_COST
from cyclearn.search.knowledge import Knowledge


@takes_table
def posterior(
    data: Any,
    groups: Groups = None,
    penalty: Annotated[
        str | None,
        typer.Option(help="What an edge costs: bic, '2 bic', ebic, or a number."),
    ] = None,
    n_effective: EffectiveRows = None,
    prior: Annotated[
        Literal["graphs", "classes"], typer.Option(help="What is equally probable beforehand.")
    ] = "graphs",
    loop_cost: Annotated[
        float, typer.Option(min=0, help="What each variable of a feedback loop beyond five costs.")
    ] = LOOP_COST,
    missing: Missing = "error",
    margins: Margins = "raw",
    lags: Lags = 0,
    estimate: Estimate = "sample",
    knowledge: Annotated[
        Path | None, typer.Option(help="JSON file: required, forbidden, tiers, exogenous.")
    ] = None,
    stable: Annotated[
        bool, typer.Option("--stable/--unstable", help="Admit only graphs with a stable fit.")
    ] = True,
    max_component: Annotated[
        int | None, typer.Option(min=1, help="Most variables in a feedback loop.")
    ] = None,
    max_cycle_length: Annotated[
        int | None, typer.Option(min=1, help="Most variables in a cycle.")
    ] = None,
    max_parents: Annotated[int | None, typer.Option(min=0, help="Most causes a variable.")] = None,
    max_edges: Annotated[int | None, typer.Option(min=0, help="Most edges.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Graphs to keep.")] = 2000,
    chains: Annotated[int, typer.Option(min=2, help="Independent Markov chains.")] = 4,
    effective_size: Annotated[
        int | None, typer.Option(min=1, help="Run until the sample is worth this many graphs.")
    ] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Most steps of a chain.")] = None,
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the chains.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads for the chains.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the result (.json) here.")] = None,
    as_json: Json = False,
) -> None:
    """Sample graphs by how probable they are, and say how probable each edge is."""
    from cyclearn.posterior import posterior as sample

    if out is not None:
        # Sampling can take long; what would fail after it fails before it.
        checked_suffix(out, (".json",), "a posterior")
        check_output(out, [knowledge])
    with said_in_the_result():
        found = sample(
            data,
            groups=groups,
            penalty=number_or_name(penalty),
            n_effective=number_or_name(n_effective),
            prior=prior,
            loop_cost=loop_cost,
            missing=missing,
            margins=margins,
            lags=lags,
            covariance=estimate,
            knowledge=None if knowledge is None else Knowledge.read(knowledge),
            stable=stable,
            max_component=max_component,
            max_cycle_length=max_cycle_length,
            max_parents=max_parents,
            max_edges=max_edges,
            n_samples=samples,
            n_chains=chains,
            effective_size=effective_size,
            max_steps=max_steps,
            time_limit=time_limit,
            random_state=seed,
            n_jobs=jobs,
        )
    if out is not None:
        write_text(out, found.to_json() + "\n")
    if as_json:
        print_json("posterior", found.to_dict())
    else:
        say(str(found))

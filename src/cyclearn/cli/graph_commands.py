"""``cyclearn equivalent``, ``class``, ``compare`` and ``evaluate``: what is said of graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from cyclearn.classes import EquivalenceClass, InterventionalClass
from cyclearn.classes import equivalence_class as members_under
from cyclearn.classes import equivalent as decide_equivalence
from cyclearn.classes.graph_class import MAX_STATES
from cyclearn.cli.documented_options import documented, names_by_commas
from cyclearn.cli.output import Json, print_answer, print_json, say
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph, read_graph

T = TypeVar("T")
Unused = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Accepted for consistency; this command is not random."),
]


@documented
def equivalent(
    a: Path,
    b: Path,
    as_json: Json = False,
    seed: Unused = None,  # noqa: ARG001 - scripts pass it to every command
) -> None:
    """Decide whether rotations prove two graphs equivalent, and print the proof.

    Exits with 1 if rotations do not link the graphs.

    Parameters
    ----------
    a
        Graph file: JSON, DOT, Tetrad or edge list.
    b
        Graph file on the same nodes.
    """
    answer = decide_equivalence(read_graph(a), read_graph(b))
    print_answer("equivalent", answer, as_json=as_json)
    raise typer.Exit(0 if answer else 1)


@documented
def equivalence_class(
    a: Path,
    count: bool = False,
    as_list: Annotated[bool, typer.Option("--list")] = False,
    table: bool = False,
    reducible: bool = False,
    acyclic: bool = False,
    rotations: bool = False,
    do: Annotated[list[str] | None, typer.Option(metavar="NAMES")] = None,
    exogenous: str = "",
    max_members: Annotated[int, typer.Option("--max", min=0)] = 1000,
    max_states: Annotated[int, typer.Option(min=1)] = MAX_STATES,
    as_json: Json = False,
    seed: Unused = None,  # noqa: ARG001 - scripts pass it to every command
) -> None:
    """List, count or tabulate the graphs that generate the same distributions.

    With ``--do``, only those that the named experiments cannot distinguish either.

    Parameters
    ----------
    a
        Graph file: JSON, DOT, Tetrad or edge list.
    count
        Print only the number.
    as_list
        List the members.
    table
        Print for each edge whether it is in every equivalent graph, in some, or its direction
        differs.
    reducible
        Include members with redundant edges.
    acyclic
        List or count the acyclic members only.
    rotations
        The paper's class: rotations only, no further rules.
    do
        Add a table with interventions on these variables (a,b,…) to the observed data; repeat the
        option for each table.
    exogenous
        Exogenous nodes, separated by commas.
    max_members
        List at most this many members.
    max_states
        Maximum number of states of an exact count in memory.
    """
    if acyclic:
        _check_acyclic(table=table, do=do, exogenous=exogenous)
    everything = not (count or as_list or table)
    as_list = as_list or everything
    graphs = members_under(
        read_graph(a),
        interventions=[[], *(names.split(",") for names in do)] if do else None,
        exogenous=names_by_commas(exogenous),
        rules="rotations" if rotations else "all",
        reducible=reducible,
        max_states=max_states,
    )
    of_acyclic = graphs if acyclic and isinstance(graphs, EquivalenceClass) else None
    # Members can be listed even if they cannot be counted.
    size, _ = _computed(
        lambda: graphs.size if of_acyclic is None else of_acyclic.n_acyclic,
        is_required=count or not as_list,
    )
    # Count before printing, so that a limit does not leave half an answer.
    edges, left_out = None, ""
    if table or (everything and not acyclic):
        edges, left_out = _computed(graphs.edge_table, is_required=table)
    shown = graphs if of_acyclic is None else of_acyclic.iter_acyclic()
    if as_json:
        result = {"size": size, "reducible": reducible, "acyclic": acyclic, **_about(graphs)}
        if as_list:
            result |= _listed(shown, max_members)
        if edges is not None or left_out:
            result["edge_table"] = None if edges is None else edges.to_dict(orient="records")
        print_json("class", result)
        return
    if count:
        say(str(size))
    if everything:
        kind = "acyclic" if acyclic else "with redundant edges too" if reducible else "irreducible"
        number = "An unknown number of" if size is None else str(size)
        say(f"{number} equivalent graph{'s' * (size != 1)} ({kind}).")
    if as_list:
        _say_members(shown, max_members, size)
    if (stopped_by := graphs.redundancy_cut_by) and not reducible:
        say(f"Some may have a redundant edge: the search was stopped by {stopped_by}.")
    if edges is not None:
        say(edges.to_string(index=False) if len(edges) else "No member has an edge.")
    elif left_out:
        say(f"No table of edges: {left_out}.")


def _check_acyclic(*, table: bool, do: list[str] | None, exogenous: str) -> None:
    """Raise if --acyclic is combined with an option that applies to all members."""
    if table:
        raise InputError(
            "--table counts over all members, but --acyclic keeps only some; give one of the two"
        )
    if do or exogenous:
        option = "--do" if do else "--exogenous"
        raise InputError(f"--acyclic cannot be combined with {option}; omit one of them")


def _about(graphs: EquivalenceClass | InterventionalClass) -> dict[str, object]:
    """What is known about the members that were found."""
    return {
        "completeness": graphs.completeness.name.lower(),
        "redundancy_cut_by": graphs.redundancy_cut_by,
    }


def _listed(graphs: Iterable[DirectedGraph], most: int) -> dict[str, object]:
    # Read one more to know whether the list was cut.
    members = list(islice(graphs, most + 1))
    listed = [graph.to_dict() for graph in members[:most]]
    return {"members": listed, "complete": len(members) <= most}


def _say_members(graphs: Iterable[DirectedGraph], most: int, size: int | None) -> None:
    for n, graph in enumerate(graphs, start=1):
        if n > most:
            total = "an unknown number" if size is None else size
            say(f"… {most} of {total} shown; --max lists more.")
            return
        say(f"{n}. {', '.join(f'{a} -> {b}' for a, b in graph.edges) or '(no edges)'}")


def _computed(compute: Callable[[], T], *, is_required: bool) -> tuple[T | None, str]:
    """A value, or the reason why it cannot be computed."""
    try:
        return compute(), ""
    except LimitError as error:
        if is_required:
            raise
        return None, str(error)


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
    from cyclearn.identifiability import Sampler
    from cyclearn.identifiability import compare as compare_graphs
    from cyclearn.identifiability import quasi_equivalent as decide_quasi_equivalence

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

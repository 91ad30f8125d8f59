"""``cyclearn effects`` and ``cyclearn rivals``: what a result says beyond its graph."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cyclearn.cli import search_options as given
from cyclearn.cli.documented_options import documented
from cyclearn.cli.field_options import takes_fields
from cyclearn.cli.output import Json, print_answer, print_json, say
from cyclearn.cli.report_command import learned
from cyclearn.cli.table_options import takes_table_or_result
from cyclearn.foundation import InputError, significant
from cyclearn.search.options import SearchOptions


@takes_table_or_result
@takes_fields(SearchOptions)
@documented
def effects(
    data: Any,
    options: SearchOptions,
    do: list[str] | None = None,
    shift: list[str] | None = None,
    source: Annotated[str | None, typer.Option("--from")] = None,
    target: Annotated[str | None, typer.Option("--to")] = None,
    level: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.95,
    members: Annotated[int, typer.Option(min=1)] = 500,
    group: str | None = None,
    jobs: given.Jobs = None,
    as_json: Json = False,
) -> None:
    """Predict the effects of interventions, from a saved result (.json) or a table.

    With --do and --shift: the mean of every variable under the intervention, with its interval, and
    its range over all graphs that fit equally well. With --from and --to: the effects of one
    variable on another in all of these graphs.

    Parameters
    ----------
    do
        Hold a variable at a value: price=1.5; repeatable.
    shift
        Shift a variable by this amount: price=0.5; repeatable.
    source
        Cause, with --to.
    target
        Effect, with --from.
    level
        Level of the intervals.
    members
        Maximum number of graphs to use.
    group
        The group whose weights and means are used, if there are several.
    """
    if (source is None) != (target is None):
        raise InputError("--from and --to must be used together; give both")
    if source is None and not do and not shift:
        raise InputError(
            "nothing to compute; use --do price=1.5, --shift price=1, or --from and --to"
        )
    held, shifted = _values(do, "--do"), _values(shift, "--shift")
    # Only effects of one variable on another are averaged over graphs.
    posterior = False if source is None else None
    result = learned(data, options, jobs=jobs, bootstrap=None, checkpoint=None, posterior=posterior)
    record: dict[str, Any] = {}
    if held or shifted:
        table = result.do(held, shift=shifted, group=group, level=level, max_members=members)
        record |= {"do": held, "shift": shifted}
        record["variables"] = table.reset_index().to_dict(orient="records")
        record["graphs"] = dict(table.attrs)
        if not as_json:
            changes = [f"{name} is held at {value:g}" for name, value in held.items()]
            changes += [f"{name} is shifted by {value:g}" for name, value in shifted.items()]
            say(f"Means if {' and '.join(changes)}:")
            say(table.to_string(float_format=lambda value: significant(value, 4)))
            say(_about(table.attrs, level))
    if source is not None and target is not None:
        found = result.effects(source, target, group=group, max_members=members)
        record |= found.to_dict()
        if not as_json:
            say(str(found))
        if result.posterior is not None and result.posterior.is_determined and not result.groups:
            over_all = result.posterior.effects(source, target)
            low, high = over_all.interval()
            record["posterior"] = {"mean": over_all.mean, "lower": low, "upper": high}
            if not as_json:
                say(f"Over all graphs, by their probabilities: {over_all}")
    if as_json:
        print_json("effects", record)


def _about(attributes: dict[str, Any], level: float) -> str:
    drawn = {"all": "", "sampled": " (drawn at random)", "first": " (the first listed)"}
    n_graphs, n_unstable = attributes["n_looked_at"], attributes["n_unstable"]
    words = (
        "now: the mean in the data. mean, lower, upper: the mean under the intervention and its "
        f"{100 * level:g}% interval, from the graph shown; sd: the standard deviation then.\n"
        "smallest, largest: range of the mean over the graphs that fit equally well; lowest, "
        f"highest: range of their intervals.\nGraphs that fit equally well: {n_graphs}"
        f"{drawn[attributes['selection']]}."
    )
    if "scale" in attributes:
        words += f" All values are on the scale of {attributes['scale']}."
    if "levels" in attributes:
        words += " levels: the probability of each level under the intervention."
    if n_unstable:
        words += f" Omitted: {n_unstable} without a stable best fit."
    if n_unstable == n_graphs:
        words += " No graph remains, so there is no range; allow more graphs with --members."
    if attributes["n_unsettled"]:
        words += f" No equilibrium: {attributes['n_unsettled']} of {attributes['n_models']} fits."
    return words


def _values(given: list[str] | None, option: str) -> dict[str, float]:
    """Values by name from ``name=value``; the last equals sign counts."""
    found = {}
    for text in given or []:
        name, equals, value = (part.strip() for part in text.rpartition("="))
        try:
            if not equals or not name:
                raise ValueError
            number = float(value)
        except ValueError:
            raise InputError(f"{option} got {text!r}; write it as name=number") from None
        if name in found:
            raise InputError(f"{option} names {name!r} twice; give each variable one value")
        found[name] = number
    return found


@takes_table_or_result
@takes_fields(SearchOptions)
@documented
def rivals(
    data: Any,
    options: SearchOptions,
    pairs: Annotated[int, typer.Option(min=0)] = 3,
    jobs: given.Jobs = None,
    as_json: Json = False,
) -> None:
    """Compare a saved result (.json), or one learned from a table, with its rivals.

    The rivals are the best graph without feedback, the best with hidden common causes instead, and
    the best with smaller loops. For each it prints how much worse it is, what that means, and the
    edges that change.

    Parameters
    ----------
    pairs
        Maximum number of pairs of variables with a hidden common cause.
    """
    result = learned(data, options, jobs=jobs, bootstrap=None, checkpoint=None, posterior=False)
    print_answer("rivals", result.rivals(max_pairs=pairs), as_json=as_json)

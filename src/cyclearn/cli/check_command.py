"""``cyclearn check``: which columns will be used, and warnings before learning."""

from __future__ import annotations

from typing import Any

from cyclearn.cli.field_options import takes_fields
from cyclearn.cli.output import Json, print_json, say
from cyclearn.cli.table_options import takes_rows
from cyclearn.data.reading import Reading


@takes_rows
@takes_fields(Reading)
def check(data: Any, options: Reading, as_json: Json = False) -> None:
    """Show which columns of a table will be used, and warn about problems."""
    from cyclearn.data.checks import missing_values
    from cyclearn.data.data_warnings import MissingValues
    from cyclearn.data.missing_values import Missing, find_holes
    from cyclearn.data.ordinal_columns import with_numbers
    from cyclearn.search.checking import check_several_variables
    from cyclearn.search.options import ProblemOptions

    frame, options = options.with_indicators(data.frame)
    about_rows = [options.groups, options.interventions, options.weights, options.within]
    variables = with_numbers(frame.drop(columns=about_rows, errors="ignore"), options.ordered)
    holes = find_holes(variables)
    # A table with missing cells can still be checked.
    is_refused = holes is not None and options.missing == "error" and options.interventions is None
    if is_refused:
        of_rows = (options.lags, options.weights, options.within, options.covariance == "shrunk")
        otherwise: Missing = "rows" if any(of_rows) else "pairwise" if options.ordered else "em"
        options = options.replaced(missing=otherwise)
    tables = options.tables(frame)
    check_several_variables(tables.names)
    warnings = ProblemOptions.of(options.to_dict()).warnings(tables)
    if holes is not None and is_refused:
        others = (each for each in warnings if not isinstance(each, MissingValues))
        warnings = (missing_values(holes), *others)
    if as_json:
        print_json(
            "check",
            {
                "columns": list(map(str, variables.columns)),
                "n_rows": len(frame),
                "n_effective": tables.n_effective,
                "missing": variables.isna().sum().to_dict(),
                "notes": list(data.notes),
                "warnings": [
                    {**w.to_dict(), "message": w.message, "remedy": w.remedy} for w in warnings
                ],
            },
        )
        return
    names = ", ".join(map(str, variables.columns))
    say(f"{len(frame)} rows of {variables.shape[1]} variables: {names}")
    say(tables.rows_in_words)
    for note in data.notes:
        say(f"Read: {note}.")
    for warning in warnings:
        say(f"Warning ({warning.title}): {warning}")
    if not warnings:
        say("No other problems found; this does not prove the data are fine.")

"""``cyclearn check``: what of a table will be used, and warnings before learning from it."""

from __future__ import annotations

from typing import Any

from cyclearn.cli.output import Json, print_json, say
from cyclearn.cli.table_options import Estimate, Lags, Margins, Missing, takes_rows


@takes_rows
def check(
    data: Any,
    missing: Missing = "error",
    margins: Margins = "raw",
    lags: Lags = 0,
    estimate: Estimate = "sample",
    as_json: Json = False,
) -> None:
    """Say what of a table will be used, and warn of problems. Nothing is learned."""
    from cyclearn.data.checks import check_data, missing_values
    from cyclearn.data.data_warnings import MissingValues
    from cyclearn.data.missing_values import find_holes, missing_by_column
    from cyclearn.data.tables import as_tables

    frame = data.frame
    holes = find_holes(frame)
    # A table with holes can be checked all the same.
    treated = missing
    if holes is not None and missing == "error":
        treated = "rows" if lags or estimate == "shrunk" else "em"
    reading: dict[str, Any] = {
        "missing": treated,
        "margins": margins,
        "lags": lags,
        "covariance": estimate,
    }
    tables = as_tables(frame, **reading)
    warnings = check_data(frame, **reading)
    if holes is not None and missing == "error":
        others = (each for each in warnings if not isinstance(each, MissingValues))
        warnings = (missing_values(holes), *others)
    if as_json:
        print_json(
            "check",
            {
                "columns": list(map(str, frame.columns)),
                "n_rows": len(frame),
                "n_effective": tables.n_effective,
                "missing": missing_by_column(frame),
                "notes": list(data.notes),
                "warnings": [
                    {**w.to_dict(), "message": w.message, "remedy": w.remedy} for w in warnings
                ],
            },
        )
        return
    say(f"{len(frame)} rows of {frame.shape[1]} variables: {', '.join(map(str, frame.columns))}")
    for note in data.notes:
        say(f"Read: {note}.")
    for warning in warnings:
        say(f"Warning ({warning.title}): {warning}")
    if not warnings:
        say("No other problems found; this does not prove the data are fine.")

"""``cyclearn check``: what of a table will be used, and what to mind before learning from it."""

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
    """Say what of a table will be used, and what to mind. Nothing is learned."""
    from cyclearn.data.checks import check_data
    from cyclearn.data.missing_values import find_holes, missing_by_column
    from cyclearn.data.tables import as_tables

    frame = data.frame
    holes = find_holes(frame)
    # What is to mind can be said of a table with holes all the same.
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
                    {"kind": w.kind, "message": w.message, "remedy": w.remedy} for w in warnings
                ],
            },
        )
        return
    say(f"{len(frame)} rows of {frame.shape[1]} variables: {', '.join(map(str, frame.columns))}")
    for note in data.notes:
        say(f"Read: {note}.")
    if holes is not None and missing == "error":
        say(f"{holes.in_words[:-1]} unless you say what to do: --missing em, or rows.")
    for warning in warnings:
        say(f"Mind ({warning.kind}): {warning}")
    if not warnings:
        say("Nothing else to mind was found, which is no proof that all is well.")

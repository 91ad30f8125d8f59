"""``cyclearn check``: what of a table will be used, and what to mind before learning from it."""

from __future__ import annotations

from typing import Any

from cyclearn.cli.field_options import takes_fields
from cyclearn.cli.output import Json, print_json, say
from cyclearn.cli.table_options import takes_rows
from cyclearn.data.reading import Reading


@takes_rows
@takes_fields(Reading, only=("missing", "margins", "lags", "covariance", "n_effective"))
def check(data: Any, options: Reading, as_json: Json = False) -> None:
    """Say what of a table will be used, and what to mind. Nothing is learned."""
    from cyclearn.data.missing_values import find_holes, missing_by_column

    frame = data.frame
    holes = find_holes(frame)
    # Warnings can be given about a table with missing cells all the same.
    is_refused = holes is not None and options.missing == "error"
    if is_refused:
        needs_rows = options.lags or options.covariance == "shrunk"
        options = options.replaced(missing="rows" if needs_rows else "em")
    tables = options.tables(frame)
    warnings = tables.warnings
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
    if holes is not None and is_refused:
        say(f"{holes.in_words[:-1]} unless you say what to do: --missing em, or rows.")
    for warning in warnings:
        say(f"Mind ({warning.kind}): {warning}")
    if not warnings:
        say("Nothing else to mind was found, which is no proof that all is well.")

"""``cyclearn rivals``: whether a loop is real, or due to a missing variable."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cyclearn.cli import search_options as given
from cyclearn.cli.documented_options import documented
from cyclearn.cli.field_options import takes_fields
from cyclearn.cli.output import Json, print_answer
from cyclearn.cli.report_command import learned
from cyclearn.cli.table_options import takes_table_or_result
from cyclearn.search.options import SearchOptions


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

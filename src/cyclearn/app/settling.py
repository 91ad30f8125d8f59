"""Which experiment would settle what the data leave open, as a job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclearn.app.learning_tasks import learned
from cyclearn.app.workspace import read_json, write_json
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.results.next_experiment import next_experiment

if TYPE_CHECKING:
    import pandas as pd

# Rows are predicted for the best experiments; the others are only ordered.
PREDICTED = 5
_MOST_TOGETHER = 3


def experiment(*, folder: str, table: str, of: str, request: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - as all jobs
    """What setting one variable, or some together, would leave open."""
    size = request.get("size", 1)
    if type(size) is not int or size not in range(1, _MOST_TOGETHER + 1):
        raise InputError(f"{short(size)} variables cannot be set together; ask for 1 to 3")
    advice = next_experiment(learned(of), size=size, max_predicted=PREDICTED)
    record = advice.to_dict() | {
        "words": advice.in_words(),
        "is_settled": advice.is_settled,
        "asked_size": size,
    }
    for name in ("view.json", "result.json"):
        write_json(Path(folder) / name, record)
    return {}


def experiment_table(folder: Path) -> pd.DataFrame:
    """The experiments of a job that is done, the best first."""
    import pandas as pd

    rows = read_json(folder / "result.json")["candidates"]
    return pd.DataFrame(rows).assign(targets=[", ".join(row["targets"]) for row in rows])

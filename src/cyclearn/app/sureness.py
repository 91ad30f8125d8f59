"""How certain a graph is: resamples, probabilities, and experiments that would determine it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclearn.app.learning_tasks import learned, search_options
from cyclearn.app.progress import ProgressFile
from cyclearn.app.reading import read_frame
from cyclearn.app.workspace import read_json, write_json
from cyclearn.foundation.arguments import whole
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.learning.bootstrap import bootstrap as run_bootstrap
from cyclearn.posterior.posterior import PosteriorOptions
from cyclearn.posterior.posterior import posterior as run_posterior
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.posterior.sample_quality import SamplingWarning
from cyclearn.posterior.sampler_effort import EFFORT
from cyclearn.results.bootstrap_result import BootstrapResult
from cyclearn.results.next_experiment import next_experiment
from cyclearn.results.result_text import conclusion, with_evidence
from cyclearn.search.progress import Progress

if TYPE_CHECKING:
    import pandas as pd


_MAX_RESAMPLES = 10_000


def bootstrap(*, folder: str, table: str, request: dict[str, Any], **_: Any) -> None:
    """Learn from resamples with the options of the graph."""
    n = whole("n_resamples", request.get("n_resamples", 100), 1, _MAX_RESAMPLES)
    _bootstrap(Path(folder), table, request, n)


def keep_bootstrap(*, folder: str, table: str, request: dict[str, Any], **_: Any) -> None:
    """The result of a stopped bootstrap: the finished resamples."""
    _bootstrap(Path(folder), table, request, read_json(Path(folder) / "kept.json")["done"])


def _bootstrap(place: Path, table: str, request: dict[str, Any], n: int) -> None:
    note = ProgressFile(place)

    def done(now: Progress) -> None:
        write_json(place / "kept.json", {"done": now.done})
        words = f"{now.done} of {now.wanted} resamples"
        note.say("Learning from resamples", words, done=now.done, total=now.wanted)

    found = run_bootstrap(
        read_frame(table, request),
        n,
        checkpoint=place / "resamples.jsonl",
        on_progress=done,
        **search_options(request).given(),
    )
    write_bootstrap(place, found)


def write_bootstrap(place: Path, found: BootstrapResult) -> None:
    """Save the bootstrap and its view for the page."""
    (place / "result.json").write_text(json.dumps(found.to_dict(), ensure_ascii=False), "utf-8")
    write_json(
        place / "view.json",
        {
            "n_resamples": found.n_resamples,
            "words": str(found).splitlines()[0],
            "edges": found.edges.to_dict(orient="records"),
        },
    )


def posterior(*, folder: str, table: str, of: str, request: dict[str, Any], **_: Any) -> None:
    """Probabilities of graphs, with the knowledge and the limits of the search."""
    place = Path(folder)
    note = ProgressFile(place)
    note.say("Sampling graphs")

    def done(now: Progress) -> None:
        words = f"effective sample size {now.done:,.0f} of {now.wanted:,.0f}, {now.steps:,} steps"
        note.say("Sampling graphs", words)

    with warnings.catch_warnings():
        # The result and the page report this already.
        warnings.simplefilter("ignore", SamplingWarning)
        options = posterior_options(request).given()
        found = run_posterior(read_frame(table, request), on_progress=done, **options)
    write_posterior(place, Path(of), found)


def write_posterior(place: Path, of: Path, found: Posterior) -> None:
    """Save probabilities about a learned graph and their view for the page."""
    (place / "result.json").write_text(found.to_json(), "utf-8")
    first, second, *_ = str(found).splitlines()
    ProgressFile(place).say("Comparing feedback loops with other explanations")
    classes = found.classes()[:5] if found.is_determined else []
    write_json(
        place / "view.json",
        {
            "words": [first, second],
            "conclusion": conclusion(with_evidence(learned(str(of)), posterior=found)),
            "warning": None if found.warning is None else found.warning.on_page(),
            "is_determined": found.is_determined,
            "edges": found.edge_table().to_dict(orient="records"),
            "classes": [each.probability for each in classes],
        },
    )


def posterior_options(request: dict[str, Any]) -> PosteriorOptions:
    """The reading, knowledge and limits of the search, and the requested precision."""
    shared = search_options(request).shared_with(PosteriorOptions)
    for own in ("penalty", "time_limit"):
        del shared[own]
    most = EFFORT.brief_steps if request.get("brief") else None
    size = request.get("effective_size")
    return PosteriorOptions(**shared, effective_size=size, max_steps=most)


# Rows are predicted for the best experiments only.
PREDICTED = 5
_MOST_TOGETHER = 3


def experiment(*, folder: str, of: str, request: dict[str, Any], **_: Any) -> None:
    """What interventions on one or several variables would leave open."""
    size = request.get("size", 1)
    if type(size) is not int or size not in range(1, _MOST_TOGETHER + 1):
        raise InputError(f"{short(size)} variables cannot be intervened on together; choose 1 to 3")
    advice = next_experiment(learned(of), size=size, max_predicted=PREDICTED)
    record = advice.to_dict() | {
        "words": advice.in_words(),
        "is_settled": advice.is_settled,
        "asked_size": size,
    }
    for name in ("view.json", "result.json"):
        write_json(Path(folder) / name, record)


def experiment_table(folder: Path) -> pd.DataFrame:
    """The experiments of a finished job, the best first."""
    import pandas as pd

    rows = read_json(folder / "result.json")["candidates"]
    return pd.DataFrame(rows).assign(targets=[", ".join(row["targets"]) for row in rows])

"""``bootstrap``: learn from resamples of the data, and count how often each edge occurs."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.resampling import Resampler, Resampling
from cyclearn.data.tables import Tables
from cyclearn.foundation.arguments import function, one_of, processes, whole
from cyclearn.foundation.arguments import seed as drawn_seed
from cyclearn.foundation.deadlines import Deadline, deadline_since, has_passed, now, seconds_left
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.foundation.files import check_path
from cyclearn.foundation.interruption import ended_quietly
from cyclearn.foundation.option_values import takes_options
from cyclearn.foundation.random_state import RandomState
from cyclearn.learning.checkpoint import Checkpoint
from cyclearn.learning.run import learn_with
from cyclearn.results.bootstrap_result import BootstrapResult, Resample
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.options import SearchOptions
from cyclearn.search.progress import OnProgress, Progress


@takes_options(SearchOptions)
def bootstrap(
    data: SeveralData | Tables,
    n_resamples: int = 100,
    *,
    resampling: Resampling | None = None,
    checkpoint: str | Path | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> BootstrapResult:
    """Learn from resamples of the data; count edges, cycles, and edges common to all members.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path or Moments
        Or several of these, one for each group; rows are drawn within groups.
    n_resamples : int
    resampling : {"rows", "blocks", "half", "parametric", "groups"}, optional
        ``"rows"`` draws n rows with replacement, the default if there are rows. ``"blocks"``
        draws blocks of neighbouring rows, the default if rows are dependent (see ``n_effective``).
        Rows that are drawn twice exaggerate dependences, so graphs become a little denser;
        ``"half"`` draws half of the rows without replacement, which avoids this but has the power
        of half a sample. ``"parametric"``, the default for Moments, draws the covariance of n
        samples of the Gaussian distribution with the covariance given (a Wishart matrix).
        ``"groups"`` draws groups with replacement and keeps their rows: it shows how much the
        result depends on the choice of groups.
    checkpoint : path, optional
        File that stores every resample as soon as it is finished. A second call with the same data,
        options and version of the library continues from it, also with a larger ``n_resamples``; a
        call with other settings raises an error.
    random_state : int, Generator or None
        None uses a fixed seed.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    on_progress : callable, optional
        Called with a :class:`cyclearn.Progress` after every resample.
    **options
        Options of :func:`cyclearn.learn`, used for every resample; ``time_limit`` applies to all of
        them together. The result then contains the first resamples of an unlimited run, as many as
        there was time for; an unfinished one counts only if there is no other.

    Returns
    -------
    BootstrapResult

    Raises
    ------
    InputError
        If the data or options cannot be used, if the checkpoint was made with other settings, or if
        no resample gives a graph. If only some fail, the result reports them.

    Examples
    --------
    >>> from cyclearn import LinearGaussianModel
    >>> model = LinearGaussianModel([[0, 0, 0.8], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1])
    >>> found = bootstrap(model.sample(500, random_state=0), 10, n_starts=1)
    >>> found.edges.set_index(["source", "target"]).loc[("X1", "X3"), "compelled"] > 0.8
    np.True_
    """
    begun = now()
    whole("n_resamples", n_resamples, 1)
    if resampling is not None:
        one_of("resampling", resampling, ("rows", "blocks", "half", "parametric", "groups"))
    if checkpoint is not None:
        check_path(checkpoint)
    function("on_progress", on_progress)
    n_jobs, seed = processes(n_jobs), drawn_seed(random_state) or 0
    search = SearchOptions.of(options)
    tables = search.tables(data)
    resampler = Resampler.of(tables, search.reading, resampling, seed)
    plain = {key: value for key, value in search.to_dict().items() if key != "random_state"}
    plain["seed"] = seed
    # Invalid input is rejected before the first resample.
    search.problem(tables)
    done: dict[int, Resample] = {}
    keep: Checkpoint | None = None
    if checkpoint is not None:
        keep = Checkpoint(Path(checkpoint), resampler, plain)
        done = keep.read()
    missing = [number for number in range(n_resamples) if number not in done]
    n_done = n_resamples - len(missing)
    cut: list[Resample] = []
    deadline = deadline_since(begun, search.time_limit)
    with ended_quietly(_run(resampler, missing, search, n_jobs, deadline)) as stream:
        for resample in stream:
            if resample.is_cut:
                cut.append(resample)
                continue
            done[resample.number] = resample
            if keep is not None:
                keep.add(resample)
            n_done += 1
            if on_progress is not None:
                seconds = now() - begun
                on_progress(Progress("bootstrap", seconds, done=n_done, wanted=n_resamples))
    resamples = tuple(done[number] for number in range(n_resamples) if number in done)
    if not any(each.error is None for each in resamples):
        resamples += tuple(cut)
    if len(resamples) < n_resamples:
        plain["n_wanted"] = n_resamples
    known = Knowledge.given(search.knowledge, tables.exogenous)
    plain["knowledge"] = None if known is None else known.to_dict()
    return BootstrapResult(resampler.names, resamples, resampler.resampling, plain)


def _run(
    resampler: Resampler,
    numbers: list[int],
    options: SearchOptions,
    n_jobs: int | None,
    deadline: Deadline,
) -> Generator[Resample, None, None]:
    """Yield resamples as they finish, until all are done or the time is over."""
    asked = _within(options, numbers, deadline)
    if n_jobs in (None, 1) or len(numbers) < 2:
        for number, each in asked:
            yield learn_resample(resampler, number, each)
        return
    from joblib import Parallel, delayed

    # As they finish, so that each can be saved at once. Queued resamples would start after their
    # limit was set.
    ahead = "2*n_jobs" if deadline is None else "n_jobs"
    run = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=ahead)
    yield from run(delayed(learn_resample)(resampler, number, each) for number, each in asked)


def _within(
    options: SearchOptions, numbers: list[int], deadline: Deadline
) -> Iterator[tuple[int, SearchOptions]]:
    """Resamples to learn from, each with the remaining time."""
    for place, number in enumerate(numbers):
        if place and has_passed(deadline):
            return
        yield number, options.replaced(time_limit=seconds_left(deadline))


def learn_resample(resampler: Resampler, number: int, options: SearchOptions) -> Resample:
    """Draw one resample and learn from it."""
    try:
        tables, seed, redraws = resampler.draw(number)
        result = learn_with(options.replaced(random_state=seed), tables)
    except (InputError, LimitError) as error:
        # A failing resample does not affect the others.
        return Resample(number, (), error=str(error))
    edges = tuple((int(i), int(j)) for i, j in np.argwhere(result.graph.adjacency))
    return Resample(number, edges, redraws, result.limits)

"""From data to graph in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, Literal

from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.reading import Reading
from cyclearn.data.tables import Tables
from cyclearn.foundation import InputError, OnInterrupt, check_name, check_path, takes_options
from cyclearn.foundation.arguments import flag, one_of, processes, whole
from cyclearn.learning.bootstrap import bootstrap as run_bootstrap
from cyclearn.learning.checkpoint import checkpoint_file
from cyclearn.learning.run import learn_with
from cyclearn.posterior.posterior import PosteriorOptions, check_known_targets
from cyclearn.posterior.posterior import posterior as run_posterior
from cyclearn.posterior.sampler_effort import EFFORT
from cyclearn.results.result import LearnResult
from cyclearn.search.checking import check_several_variables
from cyclearn.search.options import SearchOptions
from cyclearn.search.progress import OnProgress
from cyclearn.search.runs import SearchStatus


@takes_options(SearchOptions)
def learn(
    data: SeveralData,
    *,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    on_interrupt: OnInterrupt = "raise",
    bootstrap: int | Mapping[str, Any] | None = None,
    posterior: bool | Literal["brief"] | Mapping[str, Any] = False,
    **options: Any,
) -> LearnResult:
    """Learn a directed graph, possibly with feedback loops, from a table.

    Search for the graph with the smallest negative log-likelihood + λ·|E| (section 5 of the
    paper). Only the covariance of the data is used.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path or Moments
        Or several of these, in a list or in a mapping from names: groups that share one graph, each
        with its own weights and noise. The score is the sum over the groups.
    n_jobs : int, optional
        Number of processes for several starts; the result does not depend on it.
    on_progress : callable, optional
        Called with a :class:`cyclearn.Progress` at every move of a search in this process, after
        every resample of a bootstrap, and whenever the chains of a posterior are compared.
    on_interrupt : {"raise", "best"}
        What Ctrl-C does: raise KeyboardInterrupt, or end the search and return the best graph so
        far, with the status ``INTERRUPTED``; a second Ctrl-C raises.
    bootstrap : int or mapping, optional
        Also learn from this many resamples of the data, with the same options, and store the
        frequencies in ``result.bootstrap``; a mapping gives ``n_resamples`` and other arguments of
        :func:`cyclearn.bootstrap`.
    posterior : bool or mapping
        Also sample graphs in proportion to their probability, with the same data options, knowledge
        and limits, and store the probabilities in ``result.posterior``; tables, reports and
        pictures then show them. A mapping gives arguments of :func:`cyclearn.posterior`.
        ``"brief"``, the default of the command line, takes at most 100,000 steps per chain, and
        samples only for 2 to 50 variables; if the chains do not agree by then, probabilities are
        not determined.
    **options
        The fields of :class:`cyclearn.SearchOptions` (method, penalty, knowledge, limits) and of
        :class:`cyclearn.Reading` (how the data are read).

    Returns
    -------
    LearnResult
        Its graph is one member of the learned equivalence class, chosen by structure: among the
        members that respect knowledge and limits and have a stable best fit, the one with the
        fewest variables in cycles, then the fewest edges inside feedback loops, then the first
        sorted list of edges by name. ``result.alternatives`` has the classes whose scores tie
        exactly.

    Examples
    --------
    >>> from cyclearn import LinearGaussianModel
    >>> truth = LinearGaussianModel(
    ...     [[0, 0.8, 0, 0], [0, 0, 0.7, 0], [0, -0.6, 0, 0], [0, 0, 0.8, 0]], [1, 1, 1, 1]
    ... )
    >>> found = learn(truth.sample(5_000, random_state=0))
    >>> truth.graph in found.equivalence_class
    True
    """
    checked, n_jobs = SearchOptions.of(options), processes(n_jobs)
    around = {"n_jobs": n_jobs, "on_progress": on_progress}
    resampling = _bootstrap_arguments(bootstrap, checked, around)
    sampling = _posterior_arguments(posterior, checked, around)
    tables = checked.tables(data)
    check_several_variables(tables.names)
    if isinstance(posterior, str) and not is_brief(tables):
        sampling = None
    result = learn_with(
        checked, tables, n_jobs=n_jobs, on_progress=on_progress, on_interrupt=on_interrupt
    )
    if result.status is SearchStatus.INTERRUPTED:
        return result
    if resampling is not None:
        found = run_bootstrap(_read(tables, data, checked, resampling), **resampling)
        result = replace(result, bootstrap=found)
    if sampling is not None:
        result = replace(
            result, posterior=run_posterior(_read(tables, data, checked, sampling), **sampling)
        )
    return result


def _read(
    tables: Tables, data: SeveralData, options: SearchOptions, arguments: Mapping[str, Any]
) -> SeveralData | Tables:
    """The tables already read, or the data if other options require reading them again."""
    is_same = all(arguments[name] == getattr(options, name) for name in Reading.names())
    return tables if is_same else data


def _bootstrap_arguments(
    bootstrap: Any, options: SearchOptions, around: dict[str, Any]
) -> dict[str, Any] | None:
    """The arguments of a bootstrap, checked before a long search."""
    if bootstrap is None:
        return None
    own = dict(bootstrap) if isinstance(bootstrap, Mapping) else {"n_resamples": bootstrap}
    _check_names("bootstrap", own, run_bootstrap)
    whole("n_resamples", own.get("n_resamples", 1), 1)
    if own.get("checkpoint") is not None:
        check_path(own["checkpoint"])
        # Reject an invalid checkpoint before the search.
        checkpoint_file(Path(own["checkpoint"])).header()
    # A generator was used already: its seed is used for the resamples too.
    return options.shared_with(SearchOptions) | around | own


def _posterior_arguments(
    posterior: Any, options: SearchOptions, around: dict[str, Any]
) -> dict[str, Any] | None:
    """The arguments of a posterior: those of the search except the penalty, and its own."""
    own = dict(posterior) if isinstance(posterior, Mapping) else {}
    if isinstance(posterior, str):
        one_of("posterior", posterior, ("brief",), "True, False, 'brief' or a mapping of options")
        own = {"max_steps": EFFORT.brief_steps}
    elif not isinstance(posterior, Mapping) and not flag("posterior", posterior):
        return None
    if options.is_unknown:
        if isinstance(posterior, str):
            return None
        check_known_targets(options)
    _check_names("posterior", own, run_posterior)
    shared = options.shared_with(PosteriorOptions)
    del shared["penalty"]
    return shared | around | own


def is_brief(tables: Tables) -> bool:
    """Whether a brief posterior is run for these tables."""
    return 2 <= tables.n_variables <= EFFORT.brief_variables


def _check_names(what: str, own: Mapping[str, Any], function: Callable[..., Any]) -> None:
    known = tuple(signature(function).parameters)[1:]
    try:
        for name in own:
            check_name(name, known)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None

"""From data to graph in one call."""

# The parameters of learn are read by name, all at once, so that none can be forgotten.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.margins import Margins
from cyclearn.data.missing_values import Missing
from cyclearn.data.shrinkage import Covariance
from cyclearn.data.tables import EffectiveRows, Intercepts, Kind
from cyclearn.foundation.arguments import flag, processes, whole
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import check_path
from cyclearn.foundation.interruption import OnInterrupt
from cyclearn.foundation.json_input import short
from cyclearn.foundation.random_state import RandomState
from cyclearn.learning.bootstrap import bootstrap as run_bootstrap
from cyclearn.learning.checkpoint import check_checkpoint
from cyclearn.learning.run import learn_with
from cyclearn.posterior.posterior import INHERITED as POSTERIOR_OPTIONS
from cyclearn.posterior.posterior import posterior as run_posterior
from cyclearn.results.result import LearnResult
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.options import Method, SearchOptions, Start
from cyclearn.search.penalty import DEFAULT_PENALTY, Penalty
from cyclearn.search.runs import OnStep, SearchStatus


def learn(
    data: SeveralData,
    *,
    method: Method = "auto",
    penalty: Penalty = DEFAULT_PENALTY,
    groups: str | None = None,
    interventions: Any = None,
    kind: Kind = "perfect",
    intercepts: Intercepts = "shared",
    n_effective: EffectiveRows = None,
    missing: Missing = "error",
    margins: Margins = "raw",
    lags: int = 0,
    covariance: Covariance = "sample",
    knowledge: Knowledge | None = None,
    start: Start = None,
    n_starts: int | None = None,
    virtual_edges: bool = True,
    first_improvement: bool = False,
    tabu_length: int = 10,
    patience: int = 10,
    stable: bool = True,
    max_component: int | None = None,
    max_cycle_length: int | None = None,
    max_parents: int | None = None,
    max_edges: int | None = None,
    max_evaluations: int | None = None,
    time_limit: float | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    on_step: OnStep | None = None,
    on_interrupt: OnInterrupt = "raise",
    bootstrap: int | Mapping[str, Any] | None = None,
    posterior: bool | Mapping[str, Any] = False,
) -> LearnResult:
    """Learn a directed graph, feedback loops included, from observational data.

    Search for the graph with the smallest negative log-likelihood + λ·|E| (section 5 of the
    paper). Only the covariance of the data is used.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path or Moments
        Or several of these, in a list or in a mapping from names: groups that share one graph, each
        with weights and noise of its own. The score is the sum of those of the groups.
    method : {"auto", "exact", "tabu", "hill-climbing"}
        ``"auto"`` searches over orders for the best acyclic graph, climbs from it with cyclic
        moves, and anneals region by region until nothing improves. ``"exact"`` finds the best
        graph of all, for few variables, and says what it went through (``result.certificate``).
        ``"tabu"`` and ``"hill-climbing"`` are the local searches of the paper, whose moves add,
        delete or reverse an edge or are those of the virtual-edge operator.
    penalty : "ebic 0.75", "bic", a multiple such as "2 bic", or a number
        What one edge costs (:func:`cyclearn.search.penalty.edge_penalty` has all names). By
        default an edge must be worth what BIC asks for, and more the more edges there are to
        choose from: ½ log n + 1.5 log p, ``"ebic 0.75"``. With several groups
        ½ log n is paid in each, by its own rows.
    groups : str, optional
        The column of one table that names the group of each row.
    interventions : list of lists of str, or str, optional
        Targets of each table of a list: variables that were set from outside there, none where the
        system was only observed. Or the column of one table that names the targets of each row,
        separated by commas. Weights are then shared over tables.
    kind : {"perfect", "noise"}
        Targets are cut off from their parents; or keep them, and have noise and intercept of their
        own.
    intercepts : {"shared", "table"}
        Whether shifts of means between tables count. Shared intercepts use them, but turn
        differences between batches into edges.
    n_effective : number, "auto" or None
        How many independent rows the data, or each group of them, are worth, in likelihood and
        penalty together: by default all; ``"auto"`` estimates it from the memory of the columns,
        for rows of a time series. ``result.model.n_effective`` says which number was used.
    missing : {"error", "em", "rows", "pairwise"}
        What is done about missing values: refuse them; use the maximum likelihood mean and
        covariance (EM); use complete rows only; or take each covariance from the rows that have
        both columns. With ``"em"`` and ``"pairwise"`` the data count for as many rows as pairs of
        columns were observed in, by the harmonic mean over the pairs.
    margins : {"raw", "rank"}
        Columns as they are, or normal scores of their ranks, which outliers and monotone bends
        hardly change; weights and effects are then on the scale of these scores.
    lags : int
        Rows are a time series, in order: each may also be caused by so many rows before it, which
        stand beside it under names such as ``gdp[t-1]``, never across groups. The past is taken as
        given: nothing causes it, and likelihood, test of fit and class are those of the present
        given the past. ``result.lag_weights(k)`` are the weights over k rows, ``k = 0`` those
        within a row.
    covariance : {"sample", "shrunk"}
        That of the rows, or Ledoit and Wolf's with all correlations made smaller, by as much as
        rows are few; the result says by how much.
    knowledge : Knowledge, optional
        Edges that must or must not be there; never violated.
    start : DirectedGraph or several, optional
        Where to start; the graph without edges by default.
    n_starts : int, optional
        Independent starts: one for the local searches, whose further starts are random graphs;
        with ``"auto"``, by default, until two of at most four come to the same best score, five of
        at most twelve with up to 7 variables, and two starts with more than 200.
        ``result.n_starts_agreeing`` says how many did.
    virtual_edges : bool
        Whether to use the virtual-edge operator.
    first_improvement : bool
        Take the first improving move instead of the best one.
    tabu_length, patience : int
        A tabu search enters none of the last ``tabu_length`` graphs and ends after ``patience``
        moves without a new best. The paper used lengths 5 and 10, and patience 5; 10 and 10 get
        stuck less often.
    stable : bool
        Visit only structures on which some best-likelihood parameter set found is stable, in every
        group; where a move leads to an unstable one, equivalent graphs with a cycle reversed are
        tried instead.
    max_component, max_cycle_length, max_parents, max_edges : int, optional
        Limits on the graph: nodes in a strongly connected component, nodes in a cycle, parents of
        a node, edges. ``"tabu"`` and ``"hill-climbing"`` enter components of 15 nodes at most, or
        as large as the start's, unless ``max_component`` says more; ``limits`` says if it mattered.
    max_evaluations : int, optional
        Limit on the number of components fitted, for each start; keeps results repeatable. It is
        looked at between moves, so that the last one may go over it.
    time_limit : float, optional
        Limit in seconds, without those that kernels take to compile; results may then differ
        between runs, and say so. Reading the table counts, but half of the time is left for the
        search, and ``"auto"`` always comes to a first graph. Resamples, and a posterior, may take
        as long again.
    random_state : int, Generator or None
        For annealing and for random starts; None is a fixed seed, so that results repeat. Of a
        generator a seed is drawn, and recorded with the result.
    n_jobs : int, optional
        Processes for several starts; the result does not depend on it.
    on_step : callable, optional
        Called with every move of a search in this process.
    on_interrupt : {"raise", "best"}
        What Ctrl-C does: it raises KeyboardInterrupt, or ends the search, and the best graph so
        far is returned with a status that says so; pressed again it raises.
    bootstrap : int or mapping, optional
        Learn also from this many resamples of the data, with the same options, and keep the
        frequencies as ``result.bootstrap``; a mapping gives ``n_resamples`` and other arguments
        of :func:`cyclearn.bootstrap`.
    posterior : bool or mapping
        Sample also graphs by how probable they are, with the same knowledge and limits, and keep
        the probabilities as ``result.posterior``, where tables, reports and pictures find them; a
        mapping gives arguments of :func:`cyclearn.posterior`.

    Returns
    -------
    LearnResult
        Its graph is the member of the learned class that a rule of structure chooses: of the
        members that respect knowledge and limits and have a stable best fit, the one with the
        fewest variables in cycles, then the fewest edges inside feedback groups, then the smallest
        sorted list of edges by name. Classes whose scores tie exactly are ``result.alternatives``.

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
    options, n_jobs = SearchOptions.among(locals()), processes(n_jobs)
    _check_more(bootstrap, posterior)
    result = learn_with(options, data, n_jobs=n_jobs, on_step=on_step, on_interrupt=on_interrupt)
    if result.status is SearchStatus.INTERRUPTED:
        return result
    if bootstrap is not None:
        own = bootstrap if isinstance(bootstrap, Mapping) else {"n_resamples": bootstrap}
        # A generator has been drawn from: its seed serves the resamples as well.
        inherited = {name: getattr(options, name) for name in options.names()}
        # There, kind is how resamples are drawn.
        inherited["intervention_kind"] = inherited.pop("kind")
        resampled = run_bootstrap(data, **(inherited | {"n_jobs": n_jobs} | dict(own)))
        result = replace(result, bootstrap=resampled)
    if isinstance(posterior, Mapping) or posterior:
        own = posterior if isinstance(posterior, Mapping) else {}
        inherited = {name: getattr(options, name) for name in POSTERIOR_OPTIONS}
        sampled = run_posterior(
            options.tables(data), **(inherited | {"n_jobs": n_jobs} | dict(own))
        )
        result = replace(result, posterior=sampled)
    return result


def _check_more(bootstrap: Any, posterior: Any) -> None:
    """What is wrong about resamples or a posterior is said before a search of hours."""
    own = bootstrap if isinstance(bootstrap, Mapping) else {"n_resamples": bootstrap}
    if bootstrap is not None:
        whole("n_resamples", own.get("n_resamples", 1), 1)
    if own.get("checkpoint") is not None:
        check_path(own["checkpoint"])
        check_checkpoint(Path(own["checkpoint"]))
    if isinstance(posterior, Mapping):
        known = signature(run_posterior).parameters
        for name in posterior:
            if name not in known or name == "data":
                raise InputError(
                    f"posterior has {short(name)}, which is no option of cyclearn.posterior; leave "
                    "it out"
                )
    elif posterior is not None:
        flag("posterior", posterior)

"""``posterior``: how probable is each graph, given the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from math import log
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes import EquivalenceClass
from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.margins import Margins
from cyclearn.data.missing_values import Missing
from cyclearn.data.shrinkage import Covariance
from cyclearn.data.tables import EffectiveRows, Tables
from cyclearn.foundation.arguments import cost, function, one_of, processes, whole
from cyclearn.foundation.deadlines import now
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.interruption import interruptible
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs import DirectedGraph
from cyclearn.posterior.graph_prior import LOOP_COST, costs_by_size, posterior_penalty
from cyclearn.posterior.graph_sample import (
    GraphSample,
    SampleSize,
    check_number_of_variables,
    sample_graphs,
)
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.posterior.sample_quality import SamplingWarning
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.members import list_members
from cyclearn.search.options import SearchOptions, few_rows_of, read_tables
from cyclearn.search.over_time import knowing_the_past
from cyclearn.search.penalty import Penalty
from cyclearn.search.runs import Budget

Prior = Literal["graphs", "classes"]

# Effective size that is waited for: a standard error of 0.011 at most with few variables, 0.025
# with many.
_FEW_VARIABLES, _FEW_SIZE, _SIZE = 10, 2000, 400
# Most steps of a chain: this many for each pair of variables, within bounds.
_STEPS_A_PAIR, _LEAST_STEPS, _MOST_STEPS = 8_000, 1_000_000, 20_000_000
# Members of a class that are fitted to find the share of those that are admissible.
_MEMBERS = 100
# More chains would each take a few steps only, and more graphs would fill the memory.
_MOST_CHAINS, _MOST_BYTES = 100, 2_000_000_000


# Options that a posterior takes over from a search.
INHERITED = (
    "knowledge",
    "stable",
    "max_component",
    "max_cycle_length",
    "max_parents",
    "max_edges",
    "random_state",
)


@interruptible
def posterior(
    data: SeveralData | Tables,
    *,
    groups: str | None = None,
    penalty: Penalty | None = None,
    n_effective: EffectiveRows = None,
    missing: Missing = "error",
    margins: Margins = "raw",
    lags: int = 0,
    covariance: Covariance = "sample",
    prior: Prior = "graphs",
    loop_cost: float = LOOP_COST,
    knowledge: Knowledge | None = None,
    stable: bool = True,
    max_component: int | None = None,
    max_cycle_length: int | None = None,
    max_parents: int | None = None,
    max_edges: int | None = None,
    n_samples: int = 2000,
    n_chains: int = 4,
    effective_size: int | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    on_round: Callable[[int, float, float], None] | None = None,
) -> Posterior:
    """Sample graphs in proportion to how probable they are, given the data.

    The probability of a graph is proportional to exp(−NLL − λ·|E|), NLL the negative
    log-likelihood of its best fit, over all graphs that knowledge, limits and stability admit; a
    feedback loop of more than five variables loses another ``loop_cost`` for each further one.
    Markov chains draw from it; they start near what searches find, and run until they agree.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path or Moments
        Or several of these, in a list or a mapping: groups that share the graph, each with weights
        and noise of its own.
    groups : str, optional
        The column of one table that names the group of each row.
    penalty : "bic", a multiple such as "2 bic", "ebic", or a number, optional
        λ. By default ½ log n + 1.5 log p − 1.3, see :func:`posterior_penalty`; a penalty that
        suits a search, such as "2 bic", is larger with many rows and makes weak edges too
        improbable. With too few rows an edge costs more, and ``max_parents`` and
        ``max_component`` are limited, as in :func:`cyclearn.learn`; the result says so.
    n_effective : number, "auto" or None
        How many independent rows the data are worth; see :func:`cyclearn.learn`.
    missing, margins, lags, covariance
        What becomes of missing values, of each column by itself, how many rows before each may
        cause it, and which covariance of the rows is taken; see :func:`cyclearn.learn`.
    prior : {"graphs", "classes"}
        ``"graphs"``: graphs with as many edges are equally probable before looking at the data, so
        a class counts as often as it has admissible members. ``"classes"``: classes are; every
        graph is weighed by one over the number of admissible irreducible members of its class.
    loop_cost : float
        What each variable of a feedback loop beyond the fifth costs. There are so many graphs with
        large loops that these would be the rule before looking at the data; 0 lets them be.
    knowledge : Knowledge, optional
        Edges that must or must not be there.
    stable : bool
        Admit only graphs on which some best-likelihood parameter set is stable.
    max_component, max_cycle_length, max_parents, max_edges : int, optional
        Limits on the graph: nodes in a strongly connected component, nodes in a cycle, parents of
        a node, edges.
    n_samples : int
        Graphs to keep; up to twice as many are. Probabilities of edges come from every step of the
        chains.
    n_chains : int
        Independent chains, at least two.
    effective_size : int, optional
        Run until the probability of every edge is known as well as from this many independent
        graphs: by default 2,000 with up to 10 variables, 400 with more.
    max_steps : int, optional
        Most steps of a chain.
    time_limit : float, optional
        Limit in seconds; results may then differ between runs, and say so.
    random_state : int, Generator or None
        None is a fixed seed, so that results repeat.
    n_jobs : int, optional
        Threads for the chains; the result does not depend on it.
    on_round : callable, optional
        Called after every round with the steps taken, the effective size and R̂.

    Returns
    -------
    Posterior

    Warns
    -----
    SamplingWarning
        When the chains did not come to agree.

    Examples
    --------
    >>> from cyclearn import LinearGaussianModel
    >>> model = LinearGaussianModel([[0, 0, 0.8], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1], list("abc"))
    >>> found = posterior(model.sample(500, random_state=0))
    >>> bool(found.edge_probabilities().loc["a", "c"] > 0.8 and found.converged)
    True
    """
    begun = now()
    function("on_round", on_round)
    one_of("prior", prior, ("graphs", "classes"))
    loop_cost = cost("loop_cost", loop_cost)
    reading = SearchOptions(
        groups=groups,
        n_effective=n_effective,
        missing=missing,
        margins=margins,
        lags=lags,
        covariance=covariance,
    )
    tables, minded = read_tables(reading, data)
    if tables.design is not None:
        raise InputError(
            "variables were set from outside (interventions), and a posterior takes observed "
            "tables; ask for that of the table without interventions, or learn from all with a "
            "bootstrap"
        )
    if tables.n_variables < 2:
        raise InputError("there is one variable; a posterior over graphs takes at least two")
    # Before the numbers that are allowed for so many.
    check_number_of_variables(tables.n_variables)
    given: dict[str, Any] = {
        "penalty": _price(tables, penalty),
        "n_effective": None if n_effective is None or tables.is_grouped else tables.n_effective,
        "knowledge": knowing_the_past(knowledge, tables.past),
        "stable": stable,
        "max_component": max_component,
        "max_cycle_length": max_cycle_length,
        "max_parents": max_parents,
        "max_edges": max_edges,
        "time_limit": time_limit,
        "random_state": random_state,
    }
    options = SearchOptions(**given)
    size = _sample_size(tables.n_variables, n_samples, n_chains, effective_size, max_steps)
    # Weighing graphs anew costs about half of the sample's worth.
    share = 0.5 if prior == "classes" else 1.0
    problem = options.problem(tables)
    sample = sample_graphs(
        problem,
        replace(size, effective_size=int(size.effective_size / share)),
        costs=costs_by_size(tables.n_variables, loop_cost),
        seed=options.seed,
        deadline=Budget.since(begun, None, options.time_limit).deadline,
        n_jobs=processes(n_jobs),
        on_round=on_round,
    )
    found = replace(
        _result(sample, tables, options, size, {"prior": prior, "loop_cost": loop_cost}),
        warnings=(*minded, *options.warnings(tables)),
    )
    if not found.converged:
        warnings.warn(found.warning, SamplingWarning, stacklevel=2)
    return found


def _price(tables: Tables, penalty: Penalty | None) -> float:
    """What an edge costs in each group: by default its own ½ log n, and a share of the prior.

    At least what chance reaches with too few rows. Where correlations were shrunk it stays what it
    is: less evidence leaves what was believed before it.
    """
    if penalty is not None:
        return SearchOptions(penalty=penalty).full_price(tables) / len(tables)
    rows = [table.n_effective for table in tables]
    prior = posterior_penalty(1, tables.n_variables) / len(rows)
    prices = [0.5 * log(n) + prior for n in rows]
    few = few_rows_of(tables)
    total = sum(
        max(price, each.price if each else 0.0) for price, each in zip(prices, few, strict=True)
    )
    return total / len(rows)


def _sample_size(
    p: int, n_samples: int, n_chains: int, effective_size: int | None, max_steps: int | None
) -> SampleSize:
    if effective_size is None:
        effective_size = _FEW_SIZE if p <= _FEW_VARIABLES else _SIZE
    if max_steps is None:
        max_steps = min(max(_STEPS_A_PAIR * p * (p - 1) // 2, _LEAST_STEPS), _MOST_STEPS)
    return SampleSize(
        # Up to twice as many are kept, a bit for each pair.
        n_samples=whole("n_samples", n_samples, 1, _MOST_BYTES * 4 // p**2),
        n_chains=whole("n_chains", n_chains, 2, _MOST_CHAINS),
        effective_size=whole("effective_size", effective_size, 1),
        max_steps=whole("max_steps", max_steps, 1),
    )


def _result(
    sample: GraphSample,
    tables: Tables,
    options: SearchOptions,
    size: SampleSize,
    beliefs: dict[str, Any],
) -> Posterior:
    """The sample in the order of the columns of the data, weighed by the prior."""
    places = np.argsort(tables.order)
    graphs = np.ascontiguousarray(sample.graphs[:, places][:, :, places])
    weights, share_left = sample.counts / sample.counts.sum(), 1.0
    edges, both = (each[np.ix_(places, places)] for each in (sample.edges, sample.both))
    if beliefs["prior"] == "classes":
        members = _admissible_members(graphs, tables, options)
        # Kish's effective size, as a share of the sample.
        share_left = float((weights / members).sum() ** 2 / (weights / members**2).sum())
        weights = weights / members / (weights / members).sum()
        edges = np.tensordot(weights, graphs, axes=1)
        both = np.tensordot(weights, graphs & graphs.transpose(0, 2, 1), axes=1)
    record = options.to_dict()
    kept = [name for name in INHERITED if name != "random_state"]
    return Posterior(
        names=tables.names,
        adjacencies=graphs,
        weights=weights,
        n_samples=int(sample.counts.sum()),
        share_left=share_left,
        edges=edges,
        both=both,
        quality=sample.quality.reordered(places),
        wanted_size=size.effective_size,
        tables={table.group: table.moments for table in tables},
        n_effective=tuple(table.n_effective for table in tables),
        penalty=options.edge_penalty(tables),
        options={name: record[name] for name in kept}
        | beliefs
        | {"n_chains": size.n_chains, "random_state": options.random_state},
        n_steps=sample.n_steps,
        is_cut=sample.is_cut,
    )


def _admissible_members(
    graphs: NDArray[np.uint8], tables: Tables, options: SearchOptions
) -> NDArray[np.float64]:
    """For each graph, how many irreducible members of its class respect knowledge and stability.

    Where a class is large, from the share of admissible ones among some drawn at random.
    """
    sizes: dict[EquivalenceClass, float] = {}
    moments = [table.moments for table in tables]
    found = []
    for A in graphs:
        graph = DirectedGraph(A.astype(bool), tables.names)
        its_class = EquivalenceClass(graph)
        if its_class not in sizes:
            listed = list_members([graph], moments, options.knowledge, max_members=_MEMBERS)
            stable = [member.times for member in listed.members if member.is_stable]
            share = sum(stable) / listed.n_looked_at if options.stable else 1.0
            size = listed.n_looked_at if listed.size is None else listed.size
            # The graph itself is admissible, whatever a few draws say.
            sizes[its_class] = max(1.0, share * size)
        found.append(sizes[its_class])
    return np.array(found)

"""``posterior``: the probability of each graph, given the data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from math import log
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes import EquivalenceClass
from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.reading import Reading
from cyclearn.data.resampling import Resampler, Resampling
from cyclearn.data.tables import Tables
from cyclearn.foundation.arguments import at_least, cost, flag, function, one_of, processes, whole
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.deadlines import deadline_since, now
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.option_values import option, takes_options
from cyclearn.graphs import DirectedGraph
from cyclearn.posterior.graph_prior import LOOP_COST, costs_by_size, posterior_penalty
from cyclearn.posterior.graph_sample import (
    GraphSample,
    Resamples,
    SampleSize,
    check_number_of_variables,
    sample_graphs,
)
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.posterior.sample_quality import SamplingWarning
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.members import list_members
from cyclearn.search.options import ProblemOptions
from cyclearn.search.penalty import Penalty, edge_penalty
from cyclearn.search.problem import SearchProblem
from cyclearn.search.progress import OnProgress

Prior = Literal["graphs", "classes"]

# Effective size to reach: a standard error of at most 0.011 with few variables, 0.025 with many.
_FEW_VARIABLES, _FEW_SIZE, _SIZE = 10, 2000, 400
# The same over resamples: a standard error of at most 0.029.
_ROBUST_SIZE = 300
# Maximum steps of a chain: this many per pair of variables, within bounds, and twice as many over
# resamples, because each takes steps to become independent of the preceding one (real_tables.md).
_STEPS_A_PAIR, _LEAST_STEPS, _MOST_STEPS = 8_000, 1_000_000, 20_000_000
# Number of members of a class to fit to estimate the share of admissible ones.
_MEMBERS = 100
# More chains would take only a few steps each, and more graphs would fill the memory.
_MOST_CHAINS, _MOST_BYTES = 100, 2_000_000_000


def _penalty(_: str, value: Any) -> Any:
    if value is None or isinstance(value, str):
        edge_penalty(value or "bic", 2, 1)
        return value
    return edge_penalty(value, 2, 1)


@dataclass(frozen=True, kw_only=True)
class PosteriorOptions(ProblemOptions):
    """How data are read, which graphs are allowed, and how long to sample.

    :func:`cyclearn.posterior` takes these as keywords and describes them.
    """

    penalty: Penalty | None = option(  # type: ignore[assignment]
        None, "Penalty per edge: bic, '2 bic', ebic, or a number.", _penalty
    )
    prior: Prior = option(
        "graphs",
        "Prior: which objects (graphs or classes) are equally probable a priori.",
        partial(one_of, words=("graphs", "classes")),
    )
    loop_cost: float = option(
        LOOP_COST, "Log prior penalty for each variable of a feedback loop beyond the fifth.", cost
    )
    robust: bool = option(
        True, "Average over resamples of the rows, in case no graph is exactly true.", flag
    )
    n_samples: int = option(2000, "Number of graphs to keep.", partial(whole, least=1))
    n_chains: int = option(
        4, "Number of independent Markov chains.", partial(whole, least=2, most=_MOST_CHAINS)
    )
    effective_size: int | None = option(
        None, "Effective sample size of the chains at which they end.", partial(at_least, least=1)
    )
    max_steps: int | None = option(None, "Maximum steps per chain.", partial(at_least, least=1))

    @property
    def is_penalty_named(self) -> bool:
        """Whether the penalty is given by a rule; a number is used as it is."""
        return self.penalty is None or isinstance(self.penalty, str)

    def asked_penalty(self, tables: Tables, rows: float, n_groups: int) -> float:
        """By default ½ log n of the group, and its share of the prior.

        In a resample, an absent edge gains ½ more on average than in the data, which the penalty
        of every group compensates.
        """
        if self.penalty is None:
            resampled = 0.5 if self.robust else 0.0
            prior = posterior_penalty(1, tables.n_variables) / n_groups
            return 0.5 * log(rows) + resampled + prior
        return super().asked_penalty(tables, rows, n_groups)

    def evidence_left(self, tables: Tables) -> float:  # noqa: ARG002 - as the search has it
        """One: shrunk correlations are weaker evidence, but the prior stays the same."""
        return 1.0

    def sample_size(self, p: int) -> SampleSize:
        """How much to sample for this number of variables."""
        default = _FEW_SIZE if p <= _FEW_VARIABLES else _SIZE
        size = self.effective_size or (_ROBUST_SIZE if self.robust else default)
        steps = min(max(_STEPS_A_PAIR * p * (p - 1) // 2, _LEAST_STEPS), _MOST_STEPS)
        return SampleSize(
            # Up to twice as many are kept, a bit for each pair.
            n_samples=whole("n_samples", self.n_samples, 1, _MOST_BYTES * 4 // p**2),
            n_chains=self.n_chains,
            effective_size=size,
            max_steps=self.max_steps or steps * (1 + self.robust),
        )


def _resamples(problem: SearchProblem, tables: Tables, options: PosteriorOptions) -> Resamples:
    """Rows are drawn one by one: the effective sample size already accounts for autocorrelation."""
    resampling: Resampling = "rows" if _have_rows(tables) else "parametric"
    resampler = Resampler.of(tables, options.reading, resampling, options.seed, weighs=True)
    return partial(_resampled, problem, resampler)


def _resampled(problem: SearchProblem, resampler: Resampler, number: int) -> SearchProblem:
    """The problem of one resample."""
    tables, _, _ = resampler.draw(number)
    return replace(problem, tables=tables.sorted())


def _have_rows(tables: Tables) -> bool:
    return all(table.rows is not None for table in tables)


def check_known_targets(options: Reading) -> None:
    """Raise if targets are unknown; a search must learn them first."""
    if options.is_unknown:
        raise InputError(
            "a posterior needs known targets: run learn first and pass the targets it found, "
            "interventions=list(result.targets.values()), intervention_kind='noise'"
        )


@takes_options(PosteriorOptions)
def posterior(
    data: SeveralData | Tables,
    *,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> Posterior:
    """Sample graphs in proportion to their probability, given the data.

    The probability of a graph is proportional to exp(−NLL − λ·|E|), where NLL is the negative
    log-likelihood of its best fit, over all graphs that knowledge, limits and stability allow. A
    feedback loop of more than five variables is penalised by ``loop_cost`` for each further
    variable. Markov chains sample from this distribution; they start near graphs found by searches,
    and run until they agree.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path or Moments
        Or several of these, in a list or a mapping: groups that share the graph, each with its own
        weights and noise.
    penalty : "bic", a multiple such as "2 bic", "ebic", or a number, optional
        λ. By default ½ log n + 1.5 log p − 1.3, see :func:`posterior_penalty`, plus ½ if
        probabilities are averaged over resamples, which fit better by chance. A penalty that suits
        a search, such as "2 bic", is larger with many rows and makes weak edges too improbable.
        With too few rows the default is larger, and ``max_parents`` and ``max_component`` are
        limited, as in :func:`cyclearn.learn`; the result reports this.
    prior : {"graphs", "classes"}
        ``"graphs"``: all graphs with the same number of edges have the same prior probability, so
        that of a class grows with its number of admissible members. ``"classes"``: all classes have
        the same prior probability; every graph is weighted by one over the number of admissible
        irreducible members of its class.
    robust : bool
        Average the probabilities over resamples of the rows (the bagged posterior of Huggins and
        Miller, 2023), each of which weighs the rows at random, as draws with replacement would. If
        no graph describes the data exactly, as with most real data, the plain posterior can be
        certain of one graph in one half of a table and of another graph in the other half. The
        average avoids this overconfidence, and loses little if some graph is true. ``False`` gives
        the plain posterior. Rows are resampled within groups; for Moments, covariances are drawn
        instead, which does not correct for misfit.
    loop_cost : float
        Log prior penalty for each variable of a feedback loop beyond the fifth. Without it the
        prior would favour large loops, because there are so many graphs with them; 0 removes the
        penalty.
    knowledge : Knowledge, optional
        Required and forbidden edges, tiers and exogenous variables.
    stable : bool
        Allow only graphs for which some maximum likelihood parameter set is stable.
    max_component, max_cycle_length, max_parents, max_edges : int, optional
        Limits on the graph: nodes in a strongly connected component, nodes in a cycle, parents of
        a node, edges.
    n_samples : int
        Number of graphs to keep (up to twice as many are kept). Edge probabilities use every step
        of the chains.
    n_chains : int
        Number of independent chains, at least two.
    effective_size : int, optional
        Run until the probability of every edge is as precise as from this many independent graphs:
        by default 300, which gives a standard error of 0.03; for the plain posterior, 2,000 with up
        to 10 variables and 400 with more. Variation between resamples is included.
    max_steps : int, optional
        Maximum number of steps per chain.
    time_limit : float, optional
        Limit in seconds; results may then differ between runs, and a warning reports it.
    random_state : int, Generator or None
        None uses a fixed seed, so results are reproducible.
    n_jobs : int, optional
        Number of threads for the chains; the result does not depend on it.
    on_progress : callable, optional
        Called with a :class:`cyclearn.Progress` whenever the chains are compared.
    **options
        How the data are read: the fields of :class:`cyclearn.Reading`.

    Returns
    -------
    Posterior

    Warns
    -----
    SamplingWarning
        If the chains do not agree.

    Examples
    --------
    >>> from cyclearn import LinearGaussianModel
    >>> model = LinearGaussianModel([[0, 0, 0.8], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1], list("abc"))
    >>> found = posterior(model.sample(500, random_state=0))
    >>> bool(found.edge_probabilities().loc["a", "c"] > 0.8 and found.converged)
    True
    """
    begun = now()
    function("on_progress", on_progress)
    checked = PosteriorOptions.of(options)
    check_known_targets(checked)
    tables = checked.tables(data)
    if tables.n_variables < 2:
        raise InputError("there is one variable; a posterior over graphs needs at least two")
    # Checked before the limits that depend on the number of variables.
    check_number_of_variables(tables.n_variables)
    checked = checked.replaced(knowledge=Knowledge.given(checked.knowledge, tables.exogenous))
    if tables.design is not None and checked.prior == "classes":
        raise InputError("prior='classes' cannot be combined with interventions; omit it")
    size = checked.sample_size(tables.n_variables)
    # Weighting graphs by their classes roughly halves the effective size of the sample.
    share = 0.5 if checked.prior == "classes" else 1.0
    problem = checked.problem(tables)
    sample = sample_graphs(
        problem,
        replace(size, effective_size=int(size.effective_size / share)),
        costs=costs_by_size(tables.n_variables, checked.loop_cost),
        seed=checked.seed,
        resamples=_resamples(problem, tables, checked) if checked.robust else None,
        deadline=deadline_since(begun, checked.time_limit),
        n_jobs=processes(n_jobs),
        on_progress=on_progress,
    )
    found = _result(sample, tables, checked, size)
    if found.warning is not None:
        warnings.warn(str(found.warning), SamplingWarning, stacklevel=2)
    return found


# The options that are saved with a posterior.
_RECORDED = (
    "knowledge",
    "stable",
    "max_component",
    "max_cycle_length",
    "max_parents",
    "max_edges",
    "prior",
    "loop_cost",
    "robust",
    "n_chains",
    "random_state",
)


def _result(
    sample: GraphSample, tables: Tables, options: PosteriorOptions, size: SampleSize
) -> Posterior:
    """The sample in the order of the columns of the data, weighted by the prior."""
    places = np.argsort(tables.order)
    graphs = np.ascontiguousarray(sample.graphs[:, places][:, :, places])
    weights, share_left = sample.counts / sample.counts.sum(), 1.0
    edges, both = (each[np.ix_(places, places)] for each in (sample.edges, sample.both))
    if options.prior == "classes":
        members = _admissible_members(graphs, tables, options)
        # Kish's effective size, as a share of the sample.
        share_left = float((weights / members).sum() ** 2 / (weights / members**2).sum())
        weights = weights / members / (weights / members).sum()
        edges = np.tensordot(weights, graphs, axes=1)
        both = np.tensordot(weights, graphs & graphs.transpose(0, 2, 1), axes=1)
    record = options.to_dict()
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
        tables=tables.without_rows(),
        penalty=options.edge_penalty(tables),
        options={name: record[name] for name in _RECORDED},
        n_steps=sample.n_steps,
        is_cut=sample.is_cut,
        n_resamples=sample.n_resamples,
        is_parametric=options.robust and not _have_rows(tables),
        warnings=options.warnings(tables),
    )


def _admissible_members(
    graphs: NDArray[np.uint8], tables: Tables, options: PosteriorOptions
) -> FloatArray:
    """For each graph, the number of irreducible members of its class that are admissible.

    For large classes, estimated from the share among members drawn at random.
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
            # The graph itself is admissible, even if a few draws are not.
            sizes[its_class] = max(1.0, share * size)
        found.append(sizes[its_class])
    return np.array(found)

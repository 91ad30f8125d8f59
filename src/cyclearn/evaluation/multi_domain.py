"""Multi-domain evaluation: the share of the true graph's distributions that a graph generates.

A graph learned from one distribution of the true graph may fit only that one. So several
distributions ("domains") of the true graph are drawn, and the learned graph is projected on each of
them: its success rate is the share with a KL divergence below η (section 6 of the paper, which
draws d = 50 domains, learns a graph from each, and uses η = p·10⁻³).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from cyclearn.classes import equivalence_class
from cyclearn.classes.territories import Territory, territories
from cyclearn.data import Moments
from cyclearn.data.input_checks import as_float, whole_number
from cyclearn.foundation.arguments import seconds
from cyclearn.foundation.deadlines import Deadline, check_deadline, deadline_after, seconds_left
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.models import LinearGaussianModel, random_model
from cyclearn.models.projection import is_within, moments_of

_ETA_PER_NODE = 1e-3


class SuccessRate(float):
    """Share of domains that a graph generates, up to a KL divergence of ``eta``.

    ``successes`` says for which; a domain that no start reached counts as a failure.
    """

    successes: tuple[bool, ...]
    eta: float

    def __new__(cls, successes: Sequence[bool], eta: float) -> SuccessRate:
        """The share of successes, with the list of successes."""
        self = super().__new__(cls, sum(successes) / len(successes))
        self.successes = tuple(successes)
        self.eta = eta
        return self

    def __getnewargs__(self) -> tuple[tuple[bool, ...], float]:  # type: ignore[override]
        return self.successes, self.eta


class Domains:
    """Distributions of one true graph, prepared for projections.

    Equivalent graphs have the same success rate, so it is computed once for each class, and without
    projection for the class of the true graph.
    """

    def __init__(
        self, true: DirectedGraph, models: Sequence[LinearGaussianModel], eta: float | None = None
    ) -> None:
        true = as_graph(true, "true graph")
        if not isinstance(models, Sequence) or not all(
            isinstance(model, LinearGaussianModel) for model in models
        ):
            raise InputError(f"domains is {short(models)}; give a list of LinearGaussianModel")
        if not models:
            raise InputError("there are no domains; give at least one distribution")
        if eta is not None and not 0 < as_float(eta, "eta") < inf:
            raise InputError(f"eta is {eta}; the threshold on the KL divergence must be positive")
        self.true = true
        self.models = tuple(models)
        self.eta = _ETA_PER_NODE * true.n_nodes if eta is None else float(eta)
        self._correlations = [moments_of(model, true.names).correlation for model in models]
        self._found: dict[tuple[Territory, ...], SuccessRate] = {}
        if all(model.graph.is_subgraph_of(true) for model in models):
            # The true graph, and so its class, generates all its own distributions.
            for rotations in equivalence_class(true).rotation_classes:
                self._found[rotations.territories] = SuccessRate([True] * len(models), self.eta)

    def success(self, learned: DirectedGraph, deadline: Deadline = None) -> SuccessRate:
        """Share of the domains that the graph generates."""
        graph = as_graph(learned, "learned graph").reordered(self.true.names)
        key = territories(graph.columns)
        if key not in self._found:
            # Use the member with the fewest parameters: without redundant edges, and if possible
            # without cycles, because an acyclic graph is projected by least squares.
            members = equivalence_class(graph)
            member = next(members.iter_acyclic(), members.representative)
            successes = []
            for R in self._correlations:
                check_deadline(deadline)
                successes.append(is_within(member, R, self.eta))
            self._found[key] = SuccessRate(successes, self.eta)
        return self._found[key]


@checks_names
def draw_domains(
    true: DirectedGraph,
    n_domains: int = 50,
    *,
    time_limit: float | None = None,
    random_state: RandomState = 0,
) -> tuple[LinearGaussianModel, ...]:
    """Stable models on the true graph, by the generator of the paper's experiments."""
    true = as_graph(true, "true graph")
    n_domains = whole_number("n_domains", n_domains, 1)
    deadline = deadline_after(seconds("time_limit", time_limit))
    rng = generator(random_state)
    return tuple(
        random_model(true, time_limit=seconds_left(deadline), random_state=rng)
        for _ in range(n_domains)
    )


@checks_names
def multi_domain_success(
    learned: DirectedGraph,
    true: DirectedGraph,
    *,
    n_domains: int = 50,
    domains: Sequence[LinearGaussianModel] | None = None,
    eta: float | None = None,
    time_limit: float | None = None,
    random_state: RandomState = 0,
) -> SuccessRate:
    """Share of the true graph's distributions that a learned graph generates.

    Parameters
    ----------
    learned, true : DirectedGraph
    n_domains : int
        Distributions to draw from the true graph.
    domains : sequence of LinearGaussianModel, optional
        Distributions to use instead.
    eta : float, optional
        KL divergence below which a distribution counts as generated; p·10⁻³ by default.
    time_limit : float, optional
        Limit in seconds, after which a LimitError is raised.
    random_state : int, Generator, RandomState or None
        For drawing.

    Returns
    -------
    SuccessRate
        A number from 0 to 1 that also has ``successes``, one per domain.

    Examples
    --------
    A graph without edges generates none of the distributions of a chain:

    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> nothing = DirectedGraph.from_edges([], ["a", "b", "c"])
    >>> fork = DirectedGraph.from_edges([("b", "a"), ("b", "c")], ["a", "b", "c"])
    >>> float(multi_domain_success(nothing, chain)), float(multi_domain_success(fork, chain))
    (0.0, 1.0)
    """
    deadline = deadline_after(seconds("time_limit", time_limit))
    learned = as_graph(learned, "learned graph")
    if domains is None:
        domains = draw_domains(true, n_domains, time_limit=time_limit, random_state=random_state)
    return Domains(true, domains, eta).success(learned, deadline)


@dataclass(frozen=True)
class MultiDomainOutput:
    """The graph learned from one domain, and the share of all domains that it generates."""

    graph: DirectedGraph
    success: SuccessRate


@checks_names
def multi_domain_outputs(
    true: DirectedGraph,
    learner: Callable[[Moments], DirectedGraph],
    *,
    n_domains: int = 50,
    n_samples: int = 10_000,
    eta: float | None = None,
    random_state: RandomState = 0,
) -> tuple[MultiDomainOutput, ...]:
    """The paper's multi-domain evaluation of a learning method on one true graph.

    Draws ``n_domains`` distributions from the true graph and ``n_samples`` samples of each, learns
    a graph from each, and projects every learned graph on all distributions.

    Examples
    --------
    >>> from cyclearn import learn
    >>> true = DirectedGraph.from_edges([("a", "b"), ("c", "b")])
    >>> outputs = multi_domain_outputs(
    ...     true, lambda moments: learn(moments, method="tabu").graph, n_domains=3
    ... )
    >>> [float(output.success) for output in outputs]
    [1.0, 1.0, 1.0]
    """
    rng = generator(random_state)
    models = draw_domains(true, n_domains, random_state=rng)
    domains = Domains(true, models, eta)
    graphs = [learner(sampled_moments(model, n_samples, rng)) for model in models]
    return tuple(MultiDomainOutput(graph, domains.success(graph)) for graph in graphs)


def sampled_moments(
    model: LinearGaussianModel, n_samples: int, random_state: RandomState
) -> Moments:
    """Moments of a sample from a model."""
    rows = model.sample(n_samples, random_state=random_state).to_numpy()
    return Moments(np.cov(rows.T, bias=True), n_samples, mean=rows.mean(axis=0), names=model.names)

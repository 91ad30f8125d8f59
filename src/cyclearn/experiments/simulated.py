"""The studies on simulated data.

``paper`` and ``sample-size``: section 6 of the paper and its supplement, on random graphs. An
instance is one true graph with d distributions ("domains"). A graph is learned from a sample of
each by each method; every learned graph is compared with the true class and projected on all d
distributions.

``consistency``: how often the l0 score finds the truth as the sample grows (Theorem 3). The exact
method on random graphs of four nodes. Theorem 3 promises a graph quasi equivalent to the true one
in the limit: one that shares a set of distributions of positive measure with it.

``virtual-edges``: the supplement's two examples, tabu search with and without the operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from cyclearn.classes import equivalent
from cyclearn.evaluation import Evaluation, Evaluator, class_distance, draw_domains
from cyclearn.evaluation.multi_domain import sampled_moments
from cyclearn.experiments import study
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph, random_graph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.identifiability import quasi_equivalent
from cyclearn.learning import learn
from cyclearn.models import LinearGaussianModel, fit, random_model

_MAX_DEGREE = 4
# The paper's largest components are 5, 5 and 10 for p = 5, 20 and 50.
_MANY_NODES, _SMALL, _LARGE = 50, 5, 10
_MAX_GRAPHS = 1000


def _drawn_tasks(settings: Iterable[str], n_instances: int | None) -> list[study.Task]:
    """Instances of every setting; by default as many as in the paper."""
    instances = range(100 if n_instances is None else n_instances)
    return [study.Task(setting, instance) for setting in settings for instance in instances]


def _check_different(what: str, values: Sequence[int], least: int) -> None:
    if not values or min(values) < least or len(set(values)) < len(values):
        raise InputError(
            f"{what} are {', '.join(map(str, values)) or 'none'}; give different numbers of at "
            f"least {least}"
        )


@dataclass(frozen=True)
class SimulatedStudy(study.Study):
    """Methods compared on random graphs by distance to the class and multi-domain success."""

    name: str
    nodes: tuple[int, ...] = (5, 20, 50)
    samples: tuple[int, ...] = (10_000,)
    n_domains: int = 50
    methods: tuple[str, ...] = study.METHODS
    seed: int = 0

    def __post_init__(self) -> None:
        study.check_methods(self.methods)
        _check_different("nodes", self.nodes, 2)
        _check_different("samples", self.samples, 10)
        if self.n_domains < 1:
            raise InputError(f"domains are {self.n_domains}; give at least 1")

    def tasks(self, n_instances: int | None) -> list[study.Task]:
        """One task for each true graph, small graphs first."""
        return _drawn_tasks(
            [f"p={p}, n={n}" for p in self.nodes for n in self.samples], n_instances
        )

    def run(self, task: study.Task) -> list[study.Output]:
        """All domains of one true graph, by all methods."""
        p, n = (int(part.split("=")[1]) for part in task.setting.split(", "))
        # The same graphs and distributions for every sample size.
        true, models = drawn_problem(
            p, self.n_domains, study.task_generator(self.seed, self.name, p, task.instance)
        )
        evaluator = Evaluator(true, models)
        outputs = []
        for number, model in enumerate(models):
            rng = study.task_generator(self.seed, self.name, p, task.instance, n, number)
            moments = sampled_moments(model, n, rng)
            truth = fit(true.reduced(), moments)
            for method in self.methods:
                learned = study.learn_by(method, moments)
                measures = measured(evaluator.evaluate(learned.graph))
                # In compact form, such as 0>2 2>1, so that an output can be examined again.
                edges = np.argwhere(learned.graph.adjacency)
                measures["edges"] = " ".join(f"{i}>{j}" for i, j in edges)
                if learned.score is not None and learned.penalty is not None:
                    bar = -truth.log_likelihood + learned.penalty * truth.graph.n_edges
                    measures["reached"] = bool(learned.score <= bar + 1e-6 * n)
                outputs.append(study.Output(number, method, measures, learned.seconds))
        return outputs


def drawn_problem(
    p: int, n_domains: int, rng: np.random.Generator
) -> tuple[DirectedGraph, Sequence[LinearGaussianModel]]:
    """A random graph by the paper's generator, and stable models on it.

    Graphs that have hardly any stable weights are replaced.
    """
    largest = _SMALL if p < _MANY_NODES else _LARGE
    for _ in range(_MAX_GRAPHS):
        true = random_graph(p, _MAX_DEGREE, largest, random_state=rng)
        try:
            return true, draw_domains(true, n_domains, random_state=rng)
        except LimitError:
            continue
    raise LimitError(f"none of {_MAX_GRAPHS} random graphs of {p} nodes has stable weights")


def measured(found: Evaluation) -> dict[str, Any]:
    """The metrics of one output in one flat record."""
    assert found.success is not None
    assert found.scores is not None
    return {
        "success": float(found.success),
        "class_distance": int(found.class_distance),
        "distance_is_exact": found.class_distance.is_exact,
        "equivalent": found.equivalent,
        "shd": found.shd,
        "n_edges": found.n_edges[0],
        "n_true_edges": found.n_edges[1],
        **found.scores.by_name(),
    }


@dataclass(frozen=True)
class ConsistencyStudy(study.Study):
    """Share of exact optima that are equivalent and quasi equivalent to the truth."""

    nodes: int = 4
    samples: tuple[int, ...] = (100, 1_000, 10_000, 100_000, 1_000_000)
    seed: int = 0
    name: str = "consistency"

    def __post_init__(self) -> None:
        if not 2 <= self.nodes <= 5:
            raise InputError(f"nodes are {self.nodes}; the exact method is run on 2 to 5 here")
        _check_different("samples", self.samples, 10)

    def tasks(self, n_instances: int | None) -> list[study.Task]:
        """One task for each true graph and sample size."""
        return _drawn_tasks([f"p={self.nodes}, n={n}" for n in self.samples], n_instances)

    def run(self, task: study.Task) -> list[study.Output]:
        """Learn by the exact method and compare with the truth."""
        n = int(task.setting.split("=")[-1])
        rng = study.task_generator(self.seed, self.name, self.nodes, task.instance)
        true, (model,) = drawn_problem(self.nodes, 1, rng)
        moments = sampled_moments(
            model, n, study.task_generator(self.seed, self.name, self.nodes, task.instance, n)
        )
        learned = study.learn_by("exact", moments)
        compared = quasi_equivalent(learned.graph, true)
        truth = fit(true.reduced(), moments)
        bar = -truth.log_likelihood + (learned.penalty or 0.0) * truth.graph.n_edges
        measures = {
            "equivalent": bool(compared.equivalence),
            "quasi_equivalent": bool(compared),
            "sharing": compared.sharing.name.lower(),
            "class_distance": int(class_distance(learned.graph, true)),
            "n_edges": learned.graph.n_edges,
            "n_true_edges": true.reduced().n_edges,
            "better_than_truth": bool((learned.score or 0.0) < bar - 1e-6 * n),
        }
        return [study.Output(0, "exact", measures, learned.seconds)]


EXAMPLES = {
    "(a) i → k, l → j, j ⇄ k": "i -> k, l -> j, j -> k, k -> j",
    "(b) a 4-cycle with one outside parent": "a -> b, b -> c, c -> d, d -> a, e -> a",
}
# Length and patience of the tabu search: the library's and the paper's.
SEARCHES = {"10, 10": (10, 10), "5, 5": (5, 5)}


@dataclass(frozen=True)
class VirtualEdgeStudy(study.Study):
    """How often the search ends in the true class, with and without virtual-edge moves."""

    n_samples: int = 10_000
    seed: int = 0
    name: str = "virtual-edges"

    def tasks(self, n_instances: int | None) -> list[study.Task]:
        """One task for each example and draw of parameters."""
        return _drawn_tasks(EXAMPLES, n_instances)

    def run(self, task: study.Task) -> list[study.Output]:
        """One draw of parameters, searched with and without the operator."""
        true = as_graph(EXAMPLES[task.setting])
        rng = study.task_generator(self.seed, self.name, task.setting, task.instance)
        moments = sampled_moments(random_model(true, random_state=rng), self.n_samples, rng)
        truth = fit(true, moments)
        outputs = []
        for search, (length, patience) in SEARCHES.items():
            for operator in (False, True):
                begun = perf_counter()
                result = learn(
                    moments,
                    method="tabu",
                    penalty="bic",
                    virtual_edges=operator,
                    tabu_length=length,
                    patience=patience,
                )
                seconds = perf_counter() - begun
                bar = -truth.log_likelihood + result.penalty * true.n_edges
                measures = {
                    "equivalent": bool(equivalent(result.graph, true)),
                    "reached": bool(result.score <= bar + 1e-6 * self.n_samples),
                }
                method = f"{search}, {'with' if operator else 'without'}"
                outputs.append(study.Output(0, method, measures, seconds))
        return outputs

"""``paper`` and ``sample-size``: section 6 of the paper and its supplement, on random graphs.

An instance is one true graph with d distributions ("domains"). A graph is learned from a sample of
each by each method; every learned graph is compared with the true class and projected on all d
distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cyclearn.evaluation import Evaluation, Evaluator, draw_domains
from cyclearn.evaluation.multi_domain import sampled_moments
from cyclearn.experiments.compared_methods import METHODS, checked_methods, learn_by
from cyclearn.experiments.study import (
    Output,
    Task,
    configured,
    flat,
    instances,
    reaches,
    task_generator,
)
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph, random_graph
from cyclearn.models import LinearGaussianModel, fit

_MAX_DEGREE = 4
# The paper's largest components are 5, 5 and 10 for p = 5, 20 and 50.
_MANY_NODES, _SMALL, _LARGE = 50, 5, 10
_MAX_GRAPHS = 1000


@dataclass(frozen=True)
class SimulatedStudy:
    """Methods compared on random graphs by distance to the class and multi-domain success."""

    name: str
    nodes: tuple[int, ...] = (5, 20, 50)
    samples: tuple[int, ...] = (10_000,)
    n_domains: int = 50
    methods: tuple[str, ...] = METHODS
    seed: int = 0

    def __post_init__(self) -> None:
        checked_methods(self.methods)
        for what, values, least in (("nodes", self.nodes, 2), ("samples", self.samples, 10)):
            if not values or min(values) < least or len(set(values)) < len(values):
                raise InputError(
                    f"{what} are {', '.join(map(str, values)) or 'none'}; give different numbers "
                    f"of at least {least}"
                )
        if self.n_domains < 1:
            raise InputError(f"domains are {self.n_domains}; give at least 1")

    @property
    def configuration(self) -> dict[str, Any]:
        """All that the results depend on."""
        return configured(
            self,
            nodes=list(self.nodes),
            samples=list(self.samples),
            domains=self.n_domains,
            methods=list(self.methods),
        )

    def tasks(self, n_instances: int | None) -> list[Task]:
        """One task for each true graph, small graphs first."""
        return [
            Task(f"p={p}, n={n}", instance)
            for p in self.nodes
            for n in self.samples
            for instance in instances(n_instances)
        ]

    def run(self, task: Task) -> list[Output]:
        """All domains of one true graph, by all methods."""
        p, n = (int(part.split("=")[1]) for part in task.setting.split(", "))
        # The same graphs and distributions for every sample size.
        true, models = drawn_problem(
            p, self.n_domains, task_generator(self.seed, self.name, p, task.instance)
        )
        evaluator = Evaluator(true, models)
        outputs = []
        for number, model in enumerate(models):
            rng = task_generator(self.seed, self.name, p, task.instance, n, number)
            moments = sampled_moments(model, n, rng)
            truth = fit(true.reduced(), moments)
            for method in self.methods:
                learned = learn_by(method, moments)
                measures = measured(evaluator.evaluate(learned.graph))
                measures["edges"] = edges_by_index(learned.graph)
                if learned.score is not None:
                    measures["reached"] = reaches(learned, truth)
                outputs.append(Output(number, method, measures, learned.seconds))
        return outputs


def drawn_problem(
    p: int, n_domains: int, rng: np.random.Generator
) -> tuple[DirectedGraph, Sequence[LinearGaussianModel]]:
    """A random graph by the paper's generator, and stable models on it.

    Graphs on which hardly any weights are stable are drawn again.
    """
    largest = _SMALL if p < _MANY_NODES else _LARGE
    for _ in range(_MAX_GRAPHS):
        true = random_graph(p, _MAX_DEGREE, largest, random_state=rng)
        try:
            return true, draw_domains(true, n_domains, random_state=rng)
        except LimitError:
            continue
    raise LimitError(f"none of {_MAX_GRAPHS} random graphs of {p} nodes has stable weights")


def edges_by_index(graph: DirectedGraph) -> str:
    """The edges in short, such as ``0>2 2>1``, so that an output can be looked at again."""
    return " ".join(f"{i}>{j}" for i, j in np.argwhere(graph.adjacency))


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
        **flat(found.scores),
    }

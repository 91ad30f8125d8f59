"""``consistency``: how often the l0 score finds the truth as the sample grows (Theorem 3).

The exact method on random graphs of four nodes. Theorem 3 promises a graph quasi equivalent to the
true one in the limit: one that shares a set of distributions of positive measure with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cyclearn.evaluation import class_distance
from cyclearn.evaluation.multi_domain import sampled_moments
from cyclearn.experiments.compared_methods import learn_by
from cyclearn.experiments.simulated import drawn_problem
from cyclearn.experiments.study import Output, Task, configured, instances, task_generator
from cyclearn.foundation.errors import InputError
from cyclearn.identifiability import quasi_equivalent
from cyclearn.models import fit


@dataclass(frozen=True)
class ConsistencyStudy:
    """Share of exact optima that are equivalent and quasi equivalent to the truth."""

    nodes: int = 4
    samples: tuple[int, ...] = (100, 1_000, 10_000, 100_000, 1_000_000)
    seed: int = 0
    name: str = "consistency"

    def __post_init__(self) -> None:
        if not 2 <= self.nodes <= 5:
            raise InputError(f"nodes are {self.nodes}; the exact method is run on 2 to 5 here")
        if not self.samples or min(self.samples) < 10 or len(set(self.samples)) < len(self.samples):
            raise InputError("samples are different numbers of at least 10")

    @property
    def configuration(self) -> dict[str, Any]:
        """All that the results depend on."""
        return configured(self, nodes=self.nodes, samples=list(self.samples))

    def tasks(self, n_instances: int | None) -> list[Task]:
        """One task for each true graph and sample size."""
        return [
            Task(f"p={self.nodes}, n={n}", instance)
            for n in self.samples
            for instance in instances(n_instances)
        ]

    def run(self, task: Task) -> list[Output]:
        """Learn by the exact method and compare with the truth."""
        n = int(task.setting.split("=")[-1])
        rng = task_generator(self.seed, self.name, self.nodes, task.instance)
        true, (model,) = drawn_problem(self.nodes, 1, rng)
        moments = sampled_moments(
            model, n, task_generator(self.seed, self.name, self.nodes, task.instance, n)
        )
        learned = learn_by("exact", moments)
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
        return [Output(0, "exact", measures, learned.seconds)]

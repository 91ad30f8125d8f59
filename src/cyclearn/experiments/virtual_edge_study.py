"""``virtual-edges``: the supplement's two examples, tabu search with and without the operator."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from cyclearn.classes import equivalent
from cyclearn.evaluation.multi_domain import sampled_moments
from cyclearn.experiments.study import Output, Task, configured, instances, reaches, task_generator
from cyclearn.graphs import DirectedGraph
from cyclearn.learning import learn
from cyclearn.models import fit, random_model

EXAMPLES = {
    "(a) i → k, l → j, j ⇄ k": [("i", "k"), ("l", "j"), ("j", "k"), ("k", "j")],
    "(b) a 4-cycle with one outside parent": [
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
        ("d", "a"),
        ("e", "a"),
    ],
}
# Length and patience of the tabu search: the library's and the paper's.
SEARCHES = {"10, 10": (10, 10), "5, 5": (5, 5)}


@dataclass(frozen=True)
class VirtualEdgeStudy:
    """How often the search ends in the true class, with and without virtual-edge moves."""

    n_samples: int = 10_000
    seed: int = 0
    name: str = "virtual-edges"

    @property
    def configuration(self) -> dict[str, Any]:
        """All that the results depend on."""
        return configured(self, samples=self.n_samples)

    def tasks(self, n_instances: int | None) -> list[Task]:
        """One task for each example and draw of parameters."""
        return [
            Task(example, instance) for example in EXAMPLES for instance in instances(n_instances)
        ]

    def run(self, task: Task) -> list[Output]:
        """One draw of parameters, searched with and without the operator."""
        true = DirectedGraph.from_edges(EXAMPLES[task.setting])
        rng = task_generator(self.seed, self.name, task.setting, task.instance)
        model = random_model(true, random_state=rng)
        moments = sampled_moments(model, self.n_samples, rng)
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
                measures = {
                    "equivalent": bool(equivalent(result.graph, true)),
                    "reached": reaches(result, truth),
                }
                method = f"{search}, {'with' if operator else 'without'}"
                outputs.append(Output(0, method, measures, seconds))
        return outputs

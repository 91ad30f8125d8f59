"""What half and twice each tuned number of the default search do to one start.

python benchmarks/search_effort.py
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np
from environment import describe_run
from search_truth import problem as drawn

from cyclearn.data.reading import as_tables
from cyclearn.search import SearchOptions, orders, score
from cyclearn.search.annealed_search import run_from
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Budget, SearchRun
from cyclearn.search.search_effort import MoveEffort, OrderEffort, StartEffort
from cyclearn.search.starts import starting_graphs

# Scores per sample further apart are different.
DIFFERENT = 1e-6


@dataclass(frozen=True)
class Number:
    """A field of an effort, and the module that keeps it where a start does not."""

    effort: type[Any]
    name: str
    module: ModuleType | None = None

    @property
    def value(self) -> float:
        """What it is."""
        return float(getattr(self.effort, self.name))

    def times(self, factor: float) -> dict[str, float]:
        """The field with the number multiplied."""
        changed = self.value * factor
        is_whole = isinstance(getattr(self.effort, self.name), int)
        return {self.name: max(1, round(changed)) if is_whole else changed}

    @contextmanager
    def set_to(self, changes: dict[str, float]) -> Iterator[StartEffort]:
        """The effort of a start with the number changed, or kept where its module has it."""
        if self.module is None:
            yield replace(StartEffort(), **changes)  # type: ignore[arg-type]
            return
        kept = vars(self.module)["_EFFORT"]
        vars(self.module)["_EFFORT"] = replace(kept, **changes)
        try:
            yield StartEffort()
        finally:
            vars(self.module)["_EFFORT"] = kept


NUMBERS = [
    *(
        Number(StartEffort, name)
        for name in (
            "n_exchanges",
            "region_nodes",
            "region_proposals",
            "region_temperature",
            "last_temperature",
            "steps_up",
            "turned_distance",
            "virtual_cycle",
            "virtual_component",
            "ring_worse",
            "ring_grows",
        )
    ),
    *(Number(OrderEffort, name, orders) for name in ("n_near", "cutoff")),
    *(Number(MoveEffort, name, score) for name in ("large_component", "virtual_moves")),
]


def run(problem: SearchProblem, effort: StartEffort) -> tuple[SearchRun, float]:
    begun = process_time()
    (start,) = starting_graphs(problem, None, 1, 0)
    found = run_from(problem, start, True, 0, effort, Budget())
    return found, process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="20:20,50:4", help="p:graphs, ...")
    parser.add_argument("--first", type=int, default=4000, help="number of the first graph")
    parser.add_argument("--penalty", default="bic")
    arguments = parser.parse_args()
    problems = [
        SearchOptions(penalty=arguments.penalty).problem(as_tables(drawn(p, seed, 10_000)[1]))
        for p, n_graphs in (map(int, size.split(":")) for size in arguments.sizes.split(","))
        for seed in range(arguments.first, arguments.first + n_graphs)
    ]
    run(problems[0], StartEffort())
    before = [run(problem, StartEffort()) for problem in problems]
    print(describe_run("benchmarks/search_effort.py " + " ".join(sys.argv[1:])))
    print(f"{len(problems)} graphs, {arguments.penalty}, one start.\n")
    print("| number | value | set to | worse | better | mean change of the score | CPU |")
    print("|---|---|---|---|---|---|---|")
    for number in NUMBERS:
        for factor in (0.5, 2.0):
            changes = number.times(factor)
            with number.set_to(changes) as effort:
                after = [run(problem, effort) for problem in problems]
            change = np.array(
                [b.score - a.score for (a, _), (b, _) in zip(before, after, strict=True)]
            )
            cpu = sum(seconds for _, seconds in after) / sum(seconds for _, seconds in before)
            print(
                f"| `{number.name}` | {number.value:g} | {changes[number.name]:g} "
                f"| {(change > DIFFERENT).sum()} | {(change < -DIFFERENT).sum()} "
                f"| {10_000 * change.mean():+.2f} | {cpu:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

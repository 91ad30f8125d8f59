"""How often the shape of the noise puts the true member of a class first.

Random models of the paper's generator with a class of more than one graph; noise of four kinds.
The class is the true one, and the member whose residuals are tested for being Gaussian is drawn
from it. Right: the true graph, or one that ties with it exactly, is first.

    python benchmarks/rank_members.py > benchmarks/results/rank_members.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from time import process_time

import numpy as np
from environment import describe_run
from numpy.typing import NDArray

from cyclearn import equivalence_class, fit
from cyclearn.graphs import random_graph
from cyclearn.models import random_model
from cyclearn.results.member_ranking import rank_members

Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
NOISE: dict[str, Draw] = {
    "laplace": lambda rng, shape: rng.laplace(size=shape) / np.sqrt(2),
    "uniform": lambda rng, shape: rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
}


def one(kind: str, p: int, n: int, seed: int, largest: int) -> dict[str, bool] | None:
    """Rank the class of one random model; None where there is nothing to choose."""
    graph = random_graph(p, max_component=5, random_state=seed).reduced()
    members = equivalence_class(graph)
    if not 2 <= members.size <= largest:
        return None
    model = random_model(graph, random_state=seed)
    rng = np.random.default_rng(seed)
    noise = NOISE[kind](rng, (n, p)) * np.sqrt(model.noise_variances)
    X = noise @ np.linalg.inv(np.eye(p) - model.B)
    shown = fit(members.sample(1, random_state=seed)[0], X)
    ranking = rank_members([graph], X, shown.model, max_fillings=2000)
    if not ranking.is_open:
        return None
    first = ranking.members(100)
    return {
        "answered": ranking.answered,
        "right": any(m.graph == graph for m in first if m.ties_with_first),
        "clear": ranking.answered and ranking.is_clear,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=100, help="models of each kind")
    parser.add_argument("--gaussian", type=int, default=200, help="models with Gaussian noise")
    parser.add_argument("--largest", type=int, default=2000, help="largest class")
    parser.add_argument("--seed", type=int, default=5000)
    options = parser.parse_args()
    started = process_time()
    print("# Non-Gaussian noise chooses in the class\n")
    print(describe_run(" ".join(["benchmarks/rank_members.py", *sys.argv[1:]])))
    print(
        f"Seeds from {options.seed}; knots, cells and the level of the test were chosen on seeds "
        f"below 100. Classes of 2 to {options.largest} graphs that do not all tie. Level 0.01.\n"
    )
    print("| noise | p | n | models | answered | true member first | clear | clear and wrong |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in NOISE:
        for p in (5, 10):
            for n in (500, 2_000, 10_000):
                found: list[dict[str, bool]] = []
                seed = options.seed
                while len(found) < (options.gaussian if kind == "gaussian" else options.cases):
                    seed += 1
                    result = one(kind, p, n, seed, options.largest)
                    if result is not None:
                        found.append(result)
                answered = np.mean([f["answered"] for f in found])
                right = np.mean([f["right"] for f in found])
                clear = np.mean([f["clear"] for f in found])
                wrong = sum(f["clear"] and not f["right"] for f in found)
                print(
                    f"| {kind} | {p} | {n:,} | {len(found)} | {answered:.1%} | "
                    f"{right:.0%} | {clear:.0%} | {wrong} |",
                    flush=True,
                )
    print(f"\n{process_time() - started:.0f} s of CPU.")


if __name__ == "__main__":
    main()

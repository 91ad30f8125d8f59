"""How a search spends its time: in which kernels, and on fits or other work.

python benchmarks/where_time_goes.py --sizes 20,50 > benchmarks/results/where_time_goes.md
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from time import process_time

import numpy as np
from environment import describe_run

import cyclearn as cl
from cyclearn._kernels import component_scores
from cyclearn._kernels.compilation import Kernel
from cyclearn.data import as_moments
from cyclearn.data.reading import as_tables
from cyclearn.search.options import SearchOptions

N_ROWS = 10_000
SEED = 9_500


def search(p: int) -> None:
    graph = cl.simulate.random_graph(p, max_component=min(10, p // 4), random_state=SEED)
    model = cl.simulate.random_model(graph, random_state=SEED)
    moments = as_moments(model.sample(N_ROWS, random_state=SEED))
    seconds: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    n_computed = 0
    plain_call = Kernel.__call__

    def timed(self: Kernel, *arguments: object) -> object:
        nonlocal n_computed
        scored = next((a for a in arguments if isinstance(a, component_scores.Scored)), None)
        before = 0 if scored is None else int(scored.counter[0])
        begun = process_time()
        answer = plain_call(self, *arguments)
        seconds[self.__name__] += process_time() - begun
        calls[self.__name__] += 1
        if scored is not None:
            n_computed += int(scored.counter[0]) - before
        return answer

    Kernel.__call__ = timed  # type: ignore[method-assign]
    begun = process_time()
    result = cl.learn(moments)
    whole = process_time() - begun
    Kernel.__call__ = plain_call  # type: ignore[method-assign]

    one_value = cost_of_a_value(result.graph, moments)
    kernels = sum(seconds.values())
    print(f"\n## p = {p}\n")
    print(
        f"The search took {whole:.2f} s, {kernels / whole:.0%} of it in kernels. It "
        f"computed {n_computed:,} values of components. One takes {1e6 * one_value:.1f} µs "
        "on average for the components of the learned graph, which adds up to "
        f"{n_computed * one_value:.2f} s or {n_computed * one_value / whole:.0%} of the "
        "total. This is a lower bound, because components visited during the search have "
        "more cycles. The rest of the kernels' time goes to proposing moves, looking up "
        "values and finding components.\n"
    )
    print("| kernel | calls | seconds | share |")
    print("|---|---|---|---|")
    for name, spent in seconds.most_common(8):
        print(f"| `{name}` | {calls[name]:,} | {spent:.2f} | {spent / whole:.0%} |")


def cost_of_a_value(graph: cl.DirectedGraph, moments: cl.Moments) -> float:
    """Mean seconds to compute the value of a component, nothing remembered."""
    problem = SearchOptions().problem(as_tables(moments))
    A = np.ascontiguousarray(graph.adjacency, dtype=np.uint8)
    n_components = len(graph.components)
    times = []
    for _ in range(20):
        score = problem.score()
        begun = process_time()
        score.value(A)
        times.append(process_time() - begun)
    return float(np.median(times)) / n_components


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="20,50,500")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cl.learn(np.random.default_rng(0).normal(size=(100, 4)))  # loads compiled code
    print("# Where the time goes\n")
    print(describe_run(f"benchmarks/where_time_goes.py --sizes {options.sizes}"))
    print(
        "The default search was run on one graph of the paper's generator per size (number "
        f"{SEED:,}; components of at most a quarter of the nodes and at most 10), n = "
        f"{N_ROWS:,}, on one core. Times are CPU seconds. Kernels are counted when Python "
        "calls them, including everything that they call."
    )
    for p in map(int, options.sizes.split(",")):
        search(p)


if __name__ == "__main__":
    main()

"""Time to fit a graph, compared with semopy and by the size of components and graphs.

OMP_NUM_THREADS=1 python benchmarks/fit_speed.py > benchmarks/results/fit_speed.md

semopy is timed on one thread too: with more, it is slower on matrices of this size.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
import semopy
from environment import describe_run
from numba import njit
from threadpoolctl import threadpool_limits

from cyclearn._kernels.component_fit import fit_component, fit_nodes
from cyclearn.data import as_moments
from cyclearn.graphs import DirectedGraph
from cyclearn.models import LinearGaussianModel, fit, random_model
from cyclearn.models.components import ComponentColumns

EDGES = [("e", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "f")]
REPEATS = 41
ROUNDS = 101


def median_seconds(function: Callable[[], object], repeats: int = REPEATS) -> float:
    function()
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        function()
        times.append(perf_counter() - begin)
    return float(np.median(times))


@njit
def fit_repeatedly(R, singles, loop, start, repeats):
    """The whole graph, least squares and component, through the kernels alone."""
    total = 0.0
    for _ in range(repeats):
        total += fit_nodes(R, *singles)[0].sum()
        total += fit_component(R, *loop, start, 1e-9, 1000)[0]
    return total


def arrays_of(graph: DirectedGraph, nodes: list[int]) -> tuple[np.ndarray, ...]:
    columns = ComponentColumns.of(graph.adjacency, nodes)
    return columns.nodes, columns.offsets, columns.parents


def beside_semopy() -> None:
    graph = DirectedGraph.from_edges(EDGES)
    data = random_model(graph, random_state=3).sample(10_000, random_state=1)
    moments = as_moments(data)
    lines = [f"{v} ~ {' + '.join(graph.parents(v))}" for v in graph.names if graph.parents(v)]
    description = "\n".join(lines)
    loop = next(list(c) for c in graph.component_indices if len(c) > 1)
    rest = [v for v in range(graph.n_nodes) if v not in loop]
    singles, cycle = arrays_of(graph, rest), arrays_of(graph, loop)
    start = np.zeros(len(cycle[2]))
    R = moments.aligned_to(graph.names).correlation

    def seconds(function: Callable[[], object]) -> float:
        begin = perf_counter()
        function()
        return perf_counter() - begin

    def loaded_model() -> semopy.Model:
        # A second fit of one model would start at the optimum: each timing gets a fresh one.
        model = semopy.Model(description)
        model.load(data)
        return model

    # Each entry returns the seconds of one fit; short ones are averaged over a few calls.
    timers: dict[str, Callable[[], float]] = {
        "semopy, model and fit": lambda: seconds(lambda: semopy.Model(description).fit(data)),
        "semopy, fit alone with data loaded": lambda: seconds(loaded_model().fit),
        "kernel, least squares and one start of the component": lambda: (
            seconds(lambda: fit_repeatedly(R, singles, cycle, start, 100)) / 100
        ),
        "`fit` from moments": lambda: (
            seconds(lambda: [fit(graph, moments) for _ in range(10)]) / 10
        ),
        "`fit` from moments, graph built each time": lambda: (
            seconds(lambda: [fit(DirectedGraph.from_edges(EDGES), moments) for _ in range(10)]) / 10
        ),
        "`fit` from the table of 10,000 rows": lambda: seconds(lambda: fit(graph, data)),
    }
    for timer in timers.values():
        timer()
    # One round times every entry once, so that a change of load meets all of them; ratios are
    # taken within a round.
    rounds = np.array([[timer() for timer in timers.values()] for _ in range(ROUNDS)])
    print("## One graph: 6 nodes, a 4-cycle, an outside parent and a child; n = 10,000\n")
    print(
        "`fit` fits the component from five starts, to find other optima and solutions. In "
        f"each of {ROUNDS} rounds every row is timed once. The table shows medians of the "
        "times and of the ratios within a round, with the 10% and 90% quantiles of the "
        "ratios.\n"
    )
    print("| program | median | semopy / this | semopy's fit alone / this |\n|---|---|---|---|")
    for column, name in enumerate(timers):
        cells = []
        for base in (0, 1):
            low, middle, high = np.percentile(rounds[:, base] / rounds[:, column], [10, 50, 90])
            cells.append(f"{middle:,.1f} ({low:,.1f} to {high:,.1f})")
        print(f"| {name} | {np.median(rounds[:, column]) * 1e6:,.1f} µs | {' | '.join(cells)} |")
    print()


def cyclic_graph(k: int, rng: np.random.Generator) -> DirectedGraph:
    """A cycle through k nodes, k/2 chords, and one outside parent."""
    edges = [(i, (i + 1) % k) for i in range(k)] + [(k, 0)]
    pairs = [p for p in itertools.permutations(range(k), 2) if p not in edges]
    chords = [pairs[pick] for pick in rng.permutation(len(pairs))[: k // 2]]
    return DirectedGraph.from_edges(edges + chords)


def small_weights(graph: DirectedGraph, rng: np.random.Generator) -> LinearGaussianModel:
    return random_model(graph, weights=(0.2, 0.6), max_draws=100_000, random_state=rng)


def growth(sizes: list[int], times: list[float], least: int) -> float:
    kept = [(np.log(s), np.log(t)) for s, t in zip(sizes, times, strict=True) if s >= least]
    return float(np.polyfit(*zip(*kept, strict=True), 1)[0])


def against_component_size() -> None:
    rng = np.random.default_rng(0)
    print("## Time by size of one component\n")
    print(
        "The component is a cycle with k/2 chords and an outside parent, n = 10,000; the "
        "times are medians over ten graphs.\n"
    )
    print("| nodes k | edges | kernel, one start | iterations | `fit` |\n|---|---|---|---|---|")
    sizes, kernel_times, fit_times = [2, 3, 4, 5, 7, 10, 15, 20, 25, 30], [], []
    for k in sizes:
        kernel_runs, fit_runs, iterations, n_edges = [], [], [], []
        for _ in range(10):
            graph = cyclic_graph(k, rng)
            moments = as_moments(small_weights(graph, rng).sample(10_000, random_state=rng))
            columns = arrays_of(graph, list(range(k)))
            start = np.zeros(len(columns[2]))
            R = moments.aligned_to(graph.names).correlation
            run = fit_component(R, *columns, start, 1e-9, 1000)
            iterations.append(run[3])
            n_edges.append(graph.n_edges)
            kernel_runs.append(
                median_seconds(
                    lambda R=R, c=columns, s=start: fit_component(R, *c, s, 1e-9, 1000), 11
                )
            )
            fit_runs.append(median_seconds(lambda g=graph, m=moments: fit(g, m), 5))
        kernel_times.append(float(np.median(kernel_runs)))
        fit_times.append(float(np.median(fit_runs)))
        print(
            f"| {k} | {np.median(n_edges):.0f} | {kernel_times[-1] * 1e6:,.0f} µs | "
            f"{np.median(iterations):.0f} | {fit_times[-1] * 1e6:,.0f} µs |"
        )
    print(
        "\nFrom k = 7 on, the time of the kernel grows as "
        f"k^{growth(sizes, kernel_times, 7):.1f} and that of `fit` as "
        f"k^{growth(sizes, fit_times, 7):.1f}. Each iteration takes one factorisation of "
        "the Hessian and one inverse, both of which are cubic.\n"
    )


def against_graph_size() -> None:
    rng = np.random.default_rng(1)
    print("## Time by number of nodes\n")
    print(
        "The graphs consist of blocks of ten nodes, each a 4-cycle with edges to six nodes "
        "that have two parents. The moments of 2 p + 100 samples are computed beforehand.\n"
    )
    print("| nodes p | edges | `fit` | `summary` after it |\n|---|---|---|---|")
    sizes, times = [10, 30, 100, 300, 1000], []
    for p in sizes:
        edges = []
        for base in range(0, p, 10):
            edges += [(base + i, base + (i + 1) % 4) for i in range(4)]
            for v in range(base + 4, base + 10):
                edges += [(v - 1, v), (v - 3, v)]
            if base:
                edges.append((base - 1, base))
        graph = DirectedGraph.from_edges(edges)
        model = random_model(graph, random_state=rng)
        moments = as_moments(model.sample(2 * p + 100, random_state=rng))
        repeats = 21 if p < 300 else 5
        times.append(median_seconds(lambda g=graph, m=moments: fit(g, m), repeats))
        fitted = fit(graph, moments)
        begin = perf_counter()
        fitted.summary()
        print(
            f"| {p} | {graph.n_edges} | {times[-1] * 1e3:,.2f} ms | "
            f"{(perf_counter() - begin) * 1e3:,.1f} ms |"
        )
    print(
        f"\nFrom p = 100 on, the time grows as p^{growth(sizes, times, 100):.1f}: each "
        "component takes the same time, and B and the covariance have p² entries."
    )


def main() -> None:
    print("# Speed of the maximum likelihood fit\n")
    print(describe_run("benchmarks/fit_speed.py"))
    print(
        "The times are medians of runs on one thread, with compiled code loaded; semopy has "
        f"version {semopy.__version__}.\n"
    )
    with threadpool_limits(1), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        beside_semopy()
        against_component_size()
        against_graph_size()


if __name__ == "__main__":
    main()

"""Many searches in one process: memory must not grow, and every answer must be valid.

    python benchmarks/long_run.py --calls 10000

Problems are drawn at random: 2 to 8 variables, 20 to 500 rows, any method and some options. Every
result is checked: the graph keeps to the limits and the knowledge, its fit is stable, finite and
the same when made again, it is a member of its own class, and it is read again as it was written.
Memory, threads and open files are printed on the way; the run ends with an error where they have
grown.
"""

from __future__ import annotations

import argparse
import gc
import sys
import threading
from time import perf_counter

import numpy as np
import psutil

import cyclearn as cl

METHODS = ("auto", "tabu", "hill-climbing")
# What loading and the caches of a warm process still take, in MB a thousand calls.
MOST_GROWTH = 5.0


def problem(rng):
    """Rows, options, and what the graph has to keep to."""
    p, n = int(rng.integers(2, 9)), int(rng.integers(20, 501))
    graph = cl.simulate.random_graph(p, max_degree=4, random_state=int(rng.integers(2**31)))
    model = cl.simulate.random_model(graph, random_state=int(rng.integers(2**31)))
    rows = model.sample(n, random_state=int(rng.integers(2**31)))
    options = {"method": METHODS[rng.integers(len(METHODS))]}
    if rng.random() < 0.2:
        options["max_parents"] = int(rng.integers(1, p + 1))
    if rng.random() < 0.2:
        a, b = rng.choice(list(rows.columns), 2, replace=False)
        options["knowledge"] = cl.Knowledge(forbidden=[(str(a), str(b))])
    if rng.random() < 0.1:
        options["max_evaluations"] = int(rng.integers(1, 200))
    return rows, options


def check(result, options):
    """Raise where an answer is not sound."""
    graph = result.graph
    assert np.isfinite(result.score)
    assert result.model.is_stable
    assert graph.adjacency.sum(axis=0).max(initial=0) <= options.get("max_parents", graph.n_nodes)
    for edge in getattr(options.get("knowledge"), "forbidden", ()):
        assert edge not in graph.edges
    refitted = cl.fit(graph, result.model.moments)
    assert abs(refitted.log_likelihood - result.model.log_likelihood) <= 1e-5 * len(graph.names)
    if "knowledge" not in options:
        assert graph in result.equivalence_class
    assert cl.LearnResult.from_json(result.to_json()) == result


def state():
    """Memory in MB, threads, open files."""
    gc.collect()
    process = psutil.Process()
    return process.memory_info().rss / 1e6, threading.active_count(), process.num_fds()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=250, help="Calls between two measurements.")
    parser.add_argument("--seconds", type=float, default=np.inf, help="End after so long.")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    begun = perf_counter()
    print("| calls | memory, MB | threads | open files | seconds |")
    print("|---|---|---|---|---|")
    seen = []
    number = 0
    for number in range(1, options.calls + 1):
        rows, given = problem(rng)
        check(cl.learn(rows, **given), given)
        if number % options.every == 0:
            seen.append((number, *state()))
            shown = f"{seen[-1][1]:.1f} | {seen[-1][2]} | {seen[-1][3]}"
            print(f"| {number:,} | {shown} | {perf_counter() - begun:.0f} |", flush=True)
        if perf_counter() - begun > options.seconds:
            break
    print(f"\n{number:,} results, all sound.")
    # The first measurement is of a process that has not met everything yet.
    settled = seen[1:]
    if len(settled) >= 2:
        (first, memory, threads, files), (last, *now) = settled[0], settled[-1]
        growth = (now[0] - memory) / max(last - first, 1) * 1000
        print(f"Memory grew by {growth:.2f} MB a thousand calls.")
        if growth > MOST_GROWTH or now[1] > threads or now[2] > files:
            sys.exit("memory, threads or open files have grown")


if __name__ == "__main__":
    main()

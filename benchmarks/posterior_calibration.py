"""Calibration of the posterior: whether a share x of statements with probability x is true.

Graphs and weights of the generator of the paper's experiments. Every data set is one line of a file
of records, so that a run can be stopped and continued, and the page is made from the file:

    python benchmarks/posterior_calibration.py choose --records CHOOSING --variables 5 --rows 1000 \
        --data-sets 40
    python benchmarks/posterior_calibration.py choices --records CHOOSING
    python benchmarks/posterior_calibration.py groups --records GROUPS --variables 10 --rows 1000 \
        --data-sets 20
    python benchmarks/posterior_calibration.py run --records FILE --variables 5 --rows 1000 \
        --data-sets 100 --bootstrap 20 --resamples 50
    python benchmarks/posterior_calibration.py page --records FILE --choosing CHOOSING \
        --groups GROUPS --figure reliability.png > benchmarks/results/posterior_calibration.md

``choose`` compares priors on edges and ``groups`` what large feedback loops cost, on data sets
that ``run`` does not use.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from environment import describe_run

import cyclearn as cl
from cyclearn.data import Moments, as_moments

# These pages are about the plain posterior.
posterior = partial(cl.posterior, robust=False)

FIRST_CHOOSING_SEED, FIRST_REPORTED_SEED = 0, 5_000
# What an edge costs beside ½ log n, to choose from.
PRICES: dict[str, Callable[[int], float]] = {
    "log(p / 1.5)": lambda p: np.log(p / 1.5),
    "log(p − 2)": lambda p: np.log(p - 2),
    "1.5 log p − 1.3": lambda p: 1.5 * np.log(p) - 1.3,
    "1.5 log p − 1": lambda p: 1.5 * np.log(p) - 1,
    "1.5 log p − 0.5": lambda p: 1.5 * np.log(p) - 0.5,
    "2 log p − 2": lambda p: 2 * np.log(p) - 2,
    "2 log p − 1.5": lambda p: 2 * np.log(p) - 1.5,
}
# What each variable of a feedback loop beyond the fifth may cost, to choose from.
COSTS = (0.0, 0.5, 1.0, 2.0, 4.0, 100.0)
EFFECTIVE_SIZE = 400
STATEMENTS = ("edge", "adjacency", "arrowhead", "feedback")
N_DRAWN = 20
BINS = np.linspace(0, 1, 11)


def simulated(p: int, n: int, seed: int) -> tuple[cl.DirectedGraph, Moments]:
    graph = cl.simulate.random_graph(p, max_component=5, random_state=seed)
    model = cl.simulate.random_model(graph, random_state=seed)
    return graph, as_moments(model.sample(n, random_state=seed))


def answers(graphs: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    """Probabilities of all statements from weighted graphs, shape (n, p, p)."""
    p = graphs.shape[1]
    upper, off = np.triu_indices(p, 1), ~np.eye(p, dtype=bool)
    A = graphs.astype(bool)
    joined = A | A.transpose(0, 2, 1)
    loops = np.zeros_like(A)
    for number, each in enumerate(A):
        for nodes in cl.DirectedGraph(each).component_indices:
            if len(nodes) > 1:
                loops[number][np.ix_(nodes, nodes)] = True
    edge, adjacent, feedback = (np.tensordot(weights, x, axes=1) for x in (A, joined, loops))
    # An arrow head, given that the two are joined; for pairs that probably are.
    heads = np.where(adjacent >= 0.5, edge / np.maximum(adjacent, 1e-12), np.nan)
    return {
        "edge": edge[off],
        "adjacency": adjacent[upper],
        "arrowhead": heads[off],
        "feedback": feedback[upper],
    }


def truths(adjacency: np.ndarray) -> dict[str, np.ndarray]:
    """The same statements of one graph: 0, 1, and NaN for arrow heads of pairs not joined."""
    A = adjacency.astype(bool)
    found = answers(A[None], np.ones(1))
    off = ~np.eye(len(A), dtype=bool)
    return found | {"arrowhead": np.where((A | A.T)[off], A[off], np.nan)}


def record(p: int, n: int, seed: int, n_resamples: int, size: int) -> dict[str, Any]:
    graph, moments = simulated(p, n, seed)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.SamplingWarning)
        found = posterior(moments, random_state=seed, effective_size=size)
    line: dict[str, Any] = {
        "p": p,
        "n": n,
        "seed": seed,
        "seconds": time.process_time() - begun,
        "size": found.effective_size,
        "converged": found.converged,
        "posterior": rounded(answers(found.adjacencies, found.weights)),
        "truth": rounded(truths(graph.adjacency)),
    }
    drawn = np.random.default_rng(seed).choice(len(found.weights), N_DRAWN, p=found.weights)
    line["drawn"] = [rounded(truths(found.adjacencies[k])) for k in drawn]
    if n_resamples:
        begun = time.process_time()
        resampled = cl.bootstrap(moments, n_resamples, random_state=seed, n_starts=1)
        line["bootstrap_seconds"] = time.process_time() - begun
        line["resamples"] = n_resamples
        learned = np.array([g.adjacency for g in resampled.graphs])
        equal = np.full(len(learned), 1 / len(learned))
        line["bootstrap"] = rounded(answers(learned, equal))
    return line


def rounded(found: dict[str, np.ndarray]) -> dict[str, list[float | None]]:
    return {
        name: [None if np.isnan(v) else round(float(v), 4) for v in values]
        for name, values in found.items()
    }


def calibration_error(probabilities: np.ndarray, holds: np.ndarray) -> float:
    """Mean distance of probability and share over ten bins, weighed by their sizes."""
    place = np.clip(np.digitize(probabilities, BINS) - 1, 0, len(BINS) - 2)
    total = 0.0
    for b in range(len(BINS) - 1):
        inside = place == b
        if inside.any():
            total += abs(probabilities[inside].sum() - holds[inside].sum())
    return total / max(1, len(probabilities))


def middle_error(probabilities: np.ndarray, holds: np.ndarray) -> float:
    """The calibration error over statements that are open: with a probability in [0.05, 0.95]."""
    middle = (probabilities >= 0.05) & (probabilities <= 0.95)
    return calibration_error(probabilities[middle], holds[middle])


def pooled(lines: list[dict[str, Any]], source: str, statement: str, truth: str | int) -> tuple:
    """Probabilities of one source and whether they hold, over data sets."""
    x, y = [], []
    for line in lines:
        true = line["truth"] if truth == "truth" else line["drawn"][truth]
        x += line[source][statement]
        y += true[statement]
    x, y = (np.array([np.nan if v is None else v for v in values]) for values in (x, y))
    known = ~np.isnan(x) & ~np.isnan(y)
    return x[known], y[known]


def summary(lines: list[dict[str, Any]], source: str, statement: str) -> list[str]:
    x, y = pooled(lines, source, statement, "truth")
    middle = (x >= 0.05) & (x <= 0.95)
    own = "–"
    if source == "posterior":
        drawn = (pooled(lines, source, statement, k) for k in range(N_DRAWN))
        own = f"{np.mean([middle_error(*each) for each in drawn]):.3f}"
    ratio = f"{x.sum() / y.sum():.2f}" if y.sum() else "–"
    brier = f"{((x - y) ** 2).mean():.4f}" if len(x) else "–"
    error = f"{middle_error(x, y):.3f}" if middle.any() else "–"
    return [str(int(middle.sum())), error, own, ratio, brier]


def table(heads: list[str], rows: list[list[str]]) -> None:
    for row in (heads, ["---"] * len(heads), *rows):
        print("| " + " | ".join(row) + " |")


def page(path: Path, choosing: Path | None, groups: Path | None, figure: Path | None) -> None:
    lines = records_of(path)
    resampled = [line for line in lines if "bootstrap" in line]
    counts = sorted({line["resamples"] for line in resampled})
    print("# Calibration of the posterior\n")
    print(describe_run("benchmarks/posterior_calibration.py page --records FILE"))
    print(
        "Graphs and weights come from the paper's generator (components of at most 5), "
        f"with seeds from {FIRST_REPORTED_SEED:,}; the priors on edges and feedback loops "
        f"were chosen on seeds from {FIRST_CHOOSING_SEED}. Chains run to an effective "
        f"sample size of {EFFECTIVE_SIZE}. *Statements* are those with a probability in "
        "[0.05, 0.95], and *error* is their expected calibration error over ten bins. "
        "*Ideal* is the same error if the truths are graphs drawn from the posterior "
        "itself, which is the smallest error to expect. *Sum* is the sum of all "
        "probabilities divided by the number of true statements. *Arrowhead* is the "
        "probability of a direction given that the two variables are joined, over pairs "
        "that are both probably and truly adjacent. The bootstrap "
        f"({' or '.join(map(str, counts))} resamples, one start each, the default penalty "
        "of `learn`) is computed on the first data sets of each cell only, and the "
        "posterior is shown for the same data sets.\n"
    )
    cells = sorted({(line["p"], line["n"]) for line in lines})
    heads = ["p", "n", "data sets", "what", "statements", "error", "ideal", "sum", "Brier"]
    rows = []
    for p, n in cells:
        own = [line for line in lines if (line["p"], line["n"]) == (p, n)]
        rows += [
            [str(p), str(n), str(len(own)), what, *summary(own, "posterior", what)]
            for what in STATEMENTS
        ]
    table(heads, rows)
    print("\n## Comparison with the bootstrap\n")
    rows = []
    for p, n in cells:
        both = [r for r in resampled if (r["p"], r["n"]) == (p, n)]
        for what in STATEMENTS if both else ():
            for source in ("posterior", "bootstrap"):
                row = [str(p), str(n), str(len(both)), f"{what}, {source}"]
                rows.append([*row, *summary(both, source, what)])
    table(heads, rows)
    print("\n## Reliability of edges\n\nThe table combines all data sets.\n")
    rows = []
    for source, own in (("posterior", lines), ("bootstrap", resampled)):
        for mean, share, n in reliability(own, source):
            rows.append([source, f"{mean:.3f}", f"{share:.3f}", str(n)])
    table(["what", "probability", "share true", "edges"], rows)
    print("\n## Time and convergence\n")
    rows = []
    for p, n in cells:
        own = [line for line in lines if (line["p"], line["n"]) == (p, n)]
        seconds = [line["seconds"] for line in own]
        other = [100 * r["bootstrap_seconds"] / r["resamples"] for r in own if "bootstrap" in r]
        row = [str(p), str(n), f"{np.median(seconds):.1f}, {max(seconds):.1f}"]
        row.append(f"{sum(line['converged'] for line in own)} of {len(own)}")
        rows.append([*row, f"{np.median(other):.1f}" if other else "–"])
    heads = ["p", "n", "seconds (median, largest)", "converged", "100 resamples, seconds (median)"]
    table(heads, rows)
    if choosing is not None:
        print("\n## The prior on edges\n")
        choices(choosing)
    if groups is not None:
        print("\n## The penalty for large feedback loops\n")
        group_choices(groups)
    if figure is not None:
        draw(lines, resampled, figure)


def reliability(lines: list[dict[str, Any]], source: str) -> list[tuple[float, float, int]]:
    """Mean probability, share true and number of edges in each bin that has some."""
    if not lines:
        return []
    x, y = pooled(lines, source, "edge", "truth")
    place = np.clip(np.digitize(x, BINS) - 1, 0, len(BINS) - 2)
    bins = (place == b for b in range(len(BINS) - 1))
    return [(x[b].mean(), y[b].mean(), int(b.sum())) for b in bins if b.any()]


def draw(lines: list[dict[str, Any]], resampled: list[dict[str, Any]], path: Path) -> None:
    """The reliability diagram of edges, with two standard errors."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for source, own, colour in (
        ("posterior", lines, "#1f5fa8"),
        ("bootstrap", resampled, "#c4622d"),
    ):
        found = reliability(own, source)
        if found:
            x, y, n = (np.array(each) for each in zip(*found, strict=True))
            spread = 2 * np.sqrt(np.maximum(y * (1 - y), 0.25 / n) / n)
            ax.errorbar(
                x,
                y,
                spread,
                color=colour,
                marker="o",
                markersize=4,
                linewidth=1.2,
                capsize=2,
                label=source,
            )
    ax.set(xlabel="what was said: probability of an edge", ylabel="what was: share of true edges")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.legend(frameon=False, loc="upper left")
    figure.savefig(path, dpi=150)


def chosen_from(
    path: Path, p: int, n: int, n_sets: int, **options: float
) -> Iterator[tuple[dict[str, Any], cl.DirectedGraph, cl.Posterior]]:
    """For each data set for choosing that has no record yet: its line, true graph and posterior.

    What the loop writes into the line is then kept.
    """
    done = {(line["p"], line["n"], line["seed"]) for line in records_of(path)}
    for seed in range(FIRST_CHOOSING_SEED, FIRST_CHOOSING_SEED + n_sets):
        if (p, n, seed) in done:
            continue
        graph, moments = simulated(p, n, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cl.SamplingWarning)
            found = posterior(
                moments,
                random_state=seed,
                n_samples=4000,
                effective_size=EFFECTIVE_SIZE,
                **options,
            )
        line: dict[str, Any] = {"p": p, "n": n, "seed": seed, "converged": found.converged}
        yield line, graph, found
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def choose(path: Path, p: int, n: int, n_sets: int) -> None:
    """Probabilities under several prices of an edge."""
    for line, graph, found in chosen_from(path, p, n, n_sets):
        n_edges = found.adjacencies.sum(axis=(1, 2))
        line["truth"] = rounded(truths(graph.adjacency))
        for name, price in PRICES.items():
            # One sample, weighed anew.
            change = 0.5 * np.log(n) + price(p) - found.penalty
            weights = found.weights * np.exp(-change * (n_edges - n_edges.mean()))
            line[name] = rounded(answers(found.adjacencies, weights / weights.sum()))


def choices(path: Path) -> None:
    """What each prior gives, on the data sets for choosing."""
    lines = records_of(path)
    cells = sorted({(line["p"], line["n"]) for line in lines})
    print(
        "The columns are penalties per edge in addition to ½ log n; the cells show the "
        "error and sum of edges, the error of adjacencies, and the mean log score of "
        "edges.\n"
    )
    rows = []
    for p, n in cells:
        own = [line for line in lines if (line["p"], line["n"]) == (p, n)]
        row = [str(p), str(n), str(len(own))]
        for name in PRICES:
            x, y = pooled(own, name, "edge", "truth")
            joined = pooled(own, name, "adjacency", "truth")
            loss = -np.log(np.where(y == 1, x, 1 - x).clip(1e-3)).mean()
            row.append(
                f"{middle_error(x, y):.3f}, {x.sum() / y.sum():.2f}, {middle_error(*joined):.3f}, "
                f"{loss:.4f}"
            )
        rows.append(row)
    table(["p", "n", "data sets", *PRICES], rows)


def choose_groups(path: Path, p: int, n: int, n_sets: int) -> None:
    """Probabilities of edges and feedback under several costs of large groups."""
    for line, graph, found in chosen_from(path, p, n, n_sets, loop_cost=0.0):
        line["truth"] = rounded(truths(graph.adjacency))
        line |= weighed_by_groups(found.adjacencies, found.weights)


def weighed_by_groups(graphs: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """What a sample without costs says when it is weighed anew by each cost."""
    sizes = [map(len, cl.DirectedGraph(A.astype(bool)).component_indices) for A in graphs]
    beyond = np.array([sum(max(0, k - 5) for k in each) for each in sizes])
    found = {}
    for cost in COSTS:
        anew = weights * np.exp(-cost * (beyond - beyond.min()))
        found[str(cost)] = rounded(answers(graphs, anew / anew.sum()))
    return found


def group_choices(path: Path) -> None:
    """What each cost gives, on the data sets for choosing."""
    lines = records_of(path)
    print(
        "The columns are penalties for each variable of a feedback loop beyond the fifth; "
        "the cells show the error, sum and Brier score of feedback, and the sum of edges.\n"
    )
    rows = []
    for p, n in sorted({(line["p"], line["n"]) for line in lines}):
        own = [line for line in lines if (line["p"], line["n"]) == (p, n)]
        row = [str(p), str(n), str(len(own))]
        for cost in COSTS:
            x, y = pooled(own, str(cost), "feedback", "truth")
            edges, there = pooled(own, str(cost), "edge", "truth")
            brier = ((x - y) ** 2).mean()
            row.append(
                f"{middle_error(x, y):.3f}, {x.sum() / y.sum():.2f}, {brier:.4f}, "
                f"{edges.sum() / there.sum():.2f}"
            )
        rows.append(row)
    table(["p", "n", "data sets", *(f"{cost:g}" for cost in COSTS)], rows)


def records_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of records, none where there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def run(
    path: Path, p: int, n: int, n_sets: int, n_resampled: int, n_resamples: int, size: int
) -> None:
    done = {(line["p"], line["n"], line["seed"]) for line in records_of(path)}
    for number in range(n_sets):
        seed = FIRST_REPORTED_SEED + number
        if (p, n, seed) not in done:
            line = record(p, n, seed, n_resamples if number < n_resampled else 0, size)
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["run", "choose", "choices", "groups", "page"])
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--choosing", type=Path)
    parser.add_argument("--groups", type=Path)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--variables", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--data-sets", type=int, default=100)
    parser.add_argument("--bootstrap", type=int, default=0, help="data sets to resample as well")
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--size", type=int, default=EFFECTIVE_SIZE, help="effective size")
    given = parser.parse_args()
    cell = given.records, given.variables, given.rows, given.data_sets
    if given.part == "page":
        page(given.records, given.choosing, given.groups, given.figure)
    elif given.part == "choices":
        choices(given.records)
    elif given.part == "choose":
        choose(*cell)
    elif given.part == "groups":
        choose_groups(*cell)
    else:
        run(*cell, given.bootstrap, given.resamples, given.size)


if __name__ == "__main__":
    main()

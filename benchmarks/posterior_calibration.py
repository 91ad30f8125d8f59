"""Calibration of the posterior: whether of statements with probability x a share x is true.

Graphs and weights of the generator of the paper's experiments. Every data set is one line of a file
of records, so that a run can be stopped and continued, and the page is made from the file:

    python benchmarks/posterior_calibration.py run --records FILE --variables 5 --rows 1000 \
        --data-sets 100 --bootstrap 20
    python benchmarks/posterior_calibration.py choose --variables 5 --rows 1000 --data-sets 40
    python benchmarks/posterior_calibration.py page --records FILE \
        > benchmarks/results/posterior_calibration.md

``choose`` compares priors on edges, on data sets that ``run`` does not use.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from environment import describe_run

import cyclearn as cl
from cyclearn.models import Moments, as_moments

FIRST_CHOOSING_SEED = 100_000
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


def record(p: int, n: int, seed: int, n_resamples: int) -> dict[str, Any]:
    graph, moments = simulated(p, n, seed)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.SamplingWarning)
        found = cl.posterior(moments, random_state=seed)
    line: dict[str, Any] = {
        "p": p,
        "n": n,
        "seed": seed,
        "seconds": time.process_time() - begun,
        "size": found.effective_size,
        "converged": found.converged,
        "posterior": _rounded(answers(found.adjacencies, found.weights)),
        "truth": _rounded(truths(graph.adjacency)),
    }
    drawn = np.random.default_rng(seed).choice(len(found.weights), N_DRAWN, p=found.weights)
    line["drawn"] = [_rounded(truths(found.adjacencies[k])) for k in drawn]
    if n_resamples:
        begun = time.process_time()
        resampled = cl.bootstrap(moments, n_resamples, random_state=seed, n_starts=1)
        line["bootstrap_seconds"] = time.process_time() - begun
        learned = np.array([g.adjacency for g in resampled.graphs])
        equal = np.full(len(learned), 1 / len(learned))
        line["bootstrap"] = _rounded(answers(learned, equal))
    return line


def _rounded(found: dict[str, np.ndarray]) -> dict[str, list[float | None]]:
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
        errors = []
        for k in range(N_DRAWN):
            a, b = pooled(lines, source, statement, k)
            inside = (a >= 0.05) & (a <= 0.95)
            errors.append(calibration_error(a[inside], b[inside]))
        own = f"{np.mean(errors):.3f}"
    ratio = f"{x.sum() / y.sum():.2f}" if y.sum() else "–"
    brier = f"{((x - y) ** 2).mean():.4f}" if len(x) else "–"
    error = f"{calibration_error(x[middle], y[middle]):.3f}" if middle.any() else "–"
    return [str(int(middle.sum())), error, own, ratio, brier]


def page(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    print("# Calibration of the posterior\n")
    print(describe_run("benchmarks/posterior_calibration.py page --records FILE"))
    print(
        "Graphs and weights of the paper's generator (components of at most 5), seeds from 0; the "
        "prior on edges was chosen on other seeds. *Statements*: those with a probability in "
        "[0.05, 0.95]. *Error*: expected calibration error over ten bins of these. *Of itself*: "
        "the same error when the truths are graphs drawn from the posterior, the least one can "
        "expect. *Sum*: sum of all probabilities over the number of true statements. *Arrowhead*: "
        "probability of a direction given that the two are joined, over pairs that probably are "
        "and truly are. The bootstrap, 100 resamples with one start each and the default penalty "
        "of `learn`, on the first data sets of a cell only; its rows repeat the posterior on the "
        "same data sets.\n"
    )
    cells = sorted({(line["p"], line["n"]) for line in lines})
    heads = ["p", "n", "data sets", "what", "statements", "error", "of itself", "sum", "Brier"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for p, n in cells:
        own = [line for line in lines if (line["p"], line["n"]) == (p, n)]
        for statement in STATEMENTS:
            row = [str(p), str(n), str(len(own)), statement, *summary(own, "posterior", statement)]
            print("| " + " | ".join(row) + " |")
    print("\n## Beside the bootstrap\n\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for p, n in cells:
        both = [r for r in lines if (r["p"], r["n"]) == (p, n) and "bootstrap" in r]
        for statement in STATEMENTS if both else ():
            for source in ("posterior", "bootstrap"):
                row = [str(p), str(n), str(len(both)), f"{statement}, {source}"]
                print("| " + " | ".join([*row, *summary(both, source, statement)]) + " |")
    print("\n## Reliability of edges\n")
    print("All data sets together; for a reliability diagram.\n")
    print("| what | probability | share true | edges |\n|---|---|---|---|")
    resampled = [line for line in lines if "bootstrap" in line]
    for source, own in (("posterior", lines), ("bootstrap", resampled)):
        x, y = pooled(own, source, "edge", "truth") if own else (np.empty(0), np.empty(0))
        place = np.clip(np.digitize(x, BINS) - 1, 0, len(BINS) - 2)
        for b in range(len(BINS) - 1):
            if (inside := place == b).any():
                cells_ = f"{x[inside].mean():.3f} | {y[inside].mean():.3f} | {inside.sum()}"
                print(f"| {source} | {cells_} |")
    print("\n## Time and convergence\n")
    print("| p | n | seconds (median, largest) | converged | bootstrap, seconds (median) |")
    print("|---|---|---|---|---|")
    for p, n in cells:
        own = [line for line in lines if (line["p"], line["n"]) == (p, n)]
        seconds = [line["seconds"] for line in own]
        other = [line["bootstrap_seconds"] for line in own if "bootstrap" in line]
        print(
            f"| {p} | {n} | {np.median(seconds):.1f}, {max(seconds):.1f} | "
            f"{sum(line['converged'] for line in own)} of {len(own)} | "
            + (f"{np.median(other):.1f} |" if other else "– |")
        )


def choose(p: int, n: int, n_sets: int) -> None:
    """Priors on edges, by weighing one sample anew: λ = ½ log n + log(p / parents)."""
    parents = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
    seen: dict[float, list[tuple[np.ndarray, np.ndarray]]] = {d: [] for d in parents}
    for seed in range(FIRST_CHOOSING_SEED, FIRST_CHOOSING_SEED + n_sets):
        graph, moments = simulated(p, n, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cl.SamplingWarning)
            found = cl.posterior(moments, random_state=seed, n_samples=8000)
        n_edges = found.adjacencies.sum(axis=(1, 2))
        for d in parents:
            change = 0.5 * np.log(n) + np.log(p / d) - found.penalty
            weights = found.weights * np.exp(-change * (n_edges - n_edges.mean()))
            edge = answers(found.adjacencies, weights / weights.sum())["edge"]
            seen[d].append((edge, truths(graph.adjacency)["edge"]))
    print(f"p = {p}, n = {n}, {n_sets} data sets from seed {FIRST_CHOOSING_SEED}")
    for d, pieces in seen.items():
        x, y = (np.concatenate(each) for each in zip(*pieces, strict=True))
        middle = (x >= 0.05) & (x <= 0.95)
        print(
            f"  parents {d}: error {calibration_error(x[middle], y[middle]):.3f}, "
            f"sum {x.sum() / y.sum():.3f}, Brier {((x - y) ** 2).mean():.5f}, "
            f"log score {-np.log(np.where(y == 1, x, 1 - x).clip(1e-4)).mean():.5f}",
            flush=True,
        )


def run(path: Path, p: int, n: int, n_sets: int, n_resampled: int) -> None:
    done = set()
    if path.exists():
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        done = {(line["p"], line["n"], line["seed"]) for line in lines}
    for seed in range(n_sets):
        if (p, n, seed) not in done:
            line = record(p, n, seed, 100 if seed < n_resampled else 0)
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["run", "choose", "page"])
    parser.add_argument("--records", type=Path)
    parser.add_argument("--variables", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--data-sets", type=int, default=100)
    parser.add_argument("--bootstrap", type=int, default=0, help="data sets to resample as well")
    given = parser.parse_args()
    if given.part == "page":
        page(given.records)
    elif given.part == "choose":
        choose(given.variables, given.rows, given.data_sets)
    else:
        run(given.records, given.variables, given.rows, given.data_sets, given.bootstrap)


if __name__ == "__main__":
    main()

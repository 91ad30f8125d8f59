"""The posterior under interventions: beside sums over all graphs, and its calibration.

python benchmarks/posterior_interventions.py > benchmarks/results/posterior_interventions.md
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from environment import describe_run
from interventions import drawn
from posterior_calibration import (
    N_DRAWN,
    STATEMENTS,
    answers,
    records_of,
    rounded,
    summary,
    truths,
)

import cyclearn as cl
from cyclearn.data.tables import Tables


def all_graphs(names: tuple[str, ...]) -> Iterator[cl.DirectedGraph]:
    """Every directed graph on some nodes."""
    p = len(names)
    off = ~np.eye(p, dtype=bool)
    for bits in product((False, True), repeat=p * (p - 1)):
        adjacency = np.zeros((p, p), dtype=bool)
        adjacency[off] = bits
        yield cl.DirectedGraph(adjacency, names)


def summed(tables: Tables, penalty: float) -> np.ndarray:
    """Edge probabilities over all stable graphs, each fitted by itself from many starts."""
    graphs, logs = [], []
    for graph in all_graphs(tables.names):
        fitted = cl.fit(graph, tables)
        if fitted.is_stable:
            graphs.append(graph.adjacency)
            logs.append(fitted.log_likelihood - penalty * graph.n_edges)
    weights = np.exp(np.array(logs) - max(logs))
    return np.asarray(np.tensordot(weights / weights.sum(), np.array(graphs), axes=1))


def designs(p: int, seed: int) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Tables of one random model, read in several ways."""
    model, tables, targets = drawn("paper", p, 2, 30, seed)
    named = [[model.names[t] for t in own] for own in targets]
    for kind, intercepts in (("perfect", "shared"), ("noise", "shared"), ("perfect", "table")):
        how = {"intervention_kind": kind, "intercepts": intercepts}
        yield f"{kind}, {intercepts} intercepts", tables, {"interventions": named, **how}
    other, more, others = drawn("paper", p, 2, 30, seed + 100)
    by_group = {"1": named, "2": [[other.names[t] for t in own] for own in others]}
    for kind in ("perfect", "noise"):
        grouped = {"interventions": by_group, "intervention_kind": kind}
        yield f"{kind}, two groups", {"1": tables, "2": more}, grouped
    _, rows, targets = drawn("paper", p, p, 30, seed)
    order = [own[0] for own in targets[1:]]
    screen = np.array([rows[1 + order.index(i)][0] for i in range(p)])
    for kind in ("perfect", "shift"):
        how = {"interventions": "rows", "intervention_kind": kind}
        yield f"single rows, {kind}", [screen, rows[0]], how


def compare(sizes: list[int], size: int) -> None:
    """Largest errors of edge probabilities, by design."""
    print("## Comparison with sums over all graphs\n")
    print(
        "*Largest error* is the largest difference of an edge's probability from the sum over all "
        "stable graphs, each fitted separately. There are 30 observed rows, and 30 for each of two "
        "targets or one for each variable; two groups are two models with their own targets. The "
        f"posterior is the plain one, with an effective sample size of {size:,} (a standard error "
        f"of {0.5 / np.sqrt(size):.4f} at most).\n"
    )
    print("| p | design | largest error | s of CPU |\n|---|---|---|---|")
    for p in sizes:
        for words, data, how in designs(p, seed=p):
            begun = process_time()
            found = cl.posterior(
                data, robust=False, effective_size=size, max_steps=20_000_000, **how
            )
            seconds = process_time() - begun
            error = np.abs(found.edges - summed(found.tables, found.penalty)).max()
            print(f"| {p} | {words} | {error:.4f} | {seconds:.0f} |", flush=True)


def one_data_set(p: int, seed: int) -> dict[str, Any]:
    """The answers of the posterior, the truth, and graphs drawn from the posterior."""
    model, tables, targets = drawn("paper", p, 3, 200, 5_000 + seed)
    named = [[model.names[t] for t in own] for own in targets]
    begun = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.SamplingWarning)
        found = cl.posterior(tables, interventions=named, robust=False, effective_size=400)
    places = np.random.default_rng(seed).choice(len(found.weights), N_DRAWN, p=found.weights)
    return {
        "p": p,
        "seed": seed,
        "seconds": process_time() - begun,
        "converged": found.converged,
        "posterior": rounded(answers(found.adjacencies, found.weights)),
        "truth": rounded(truths(model.B != 0)),
        "drawn": [rounded(truths(found.adjacencies[k])) for k in places],
    }


def calibrate(sizes: list[int], n_sets: int, records: Path) -> None:
    """Whether of statements with probability x a share x is true; data sets recorded are kept."""
    print("\n## Calibration\n")
    print(
        "Each data set has an observed table and one for each of three targets, with 200 rows "
        f"each; there are {n_sets} data sets for each number of variables. The posterior is the "
        "plain one, with an effective sample size of 400. *Statements* are those with a "
        "probability in [0.05, 0.95], *error* is their calibration error over ten bins, *ideal* "
        "the same error if truths are graphs drawn from the posterior, and *sum* the sum of all "
        "probabilities divided by the number of true statements.\n"
    )
    known = {(line["p"], line["seed"]): line for line in records_of(records)}
    for p, seed in product(sizes, range(n_sets)):
        if (p, seed) not in known:
            known[p, seed] = one_data_set(p, seed)
            with records.open("a") as file:
                file.write(json.dumps(known[p, seed]) + "\n")
    print("| p | what | statements | error | ideal | difference | sum | Brier |")
    print("|---|---|---|---|---|---|---|---|")
    for p in sizes:
        lines = [known[p, seed] for seed in range(n_sets)]
        for what in STATEMENTS:
            n, error, ideal, *others = summary(lines, "posterior", what)
            difference = f"{float(error) - float(ideal):.3f}"
            print(f"| {p} | {what} | {' | '.join([n, error, ideal, difference, *others])} |")
    print()
    for p in sizes:
        lines = [known[p, seed] for seed in range(n_sets)]
        seconds = [line["seconds"] for line in lines]
        print(
            f"- p = {p}: {sum(line['converged'] for line in lines)} of {n_sets} samples "
            f"converged; {np.median(seconds):.1f} s of CPU per data set (median), "
            f"{max(seconds):.1f} s at most."
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="3,4", help="numbers of variables of the sums")
    parser.add_argument("--effective-size", type=int, default=20_000)
    parser.add_argument("--data-sets", type=int, default=100, help="for calibration")
    parser.add_argument("--calibrated", default="6,10", help="numbers of variables calibrated")
    parser.add_argument("--records", type=Path, default=Path("posterior_interventions.jsonl"))
    arguments = parser.parse_args()
    print("# The posterior under interventions\n")
    print(describe_run("benchmarks/posterior_interventions.py"))
    if arguments.sizes:
        compare([int(p) for p in arguments.sizes.split(",")], arguments.effective_size)
    if arguments.data_sets:
        sizes = [int(p) for p in arguments.calibrated.split(",")]
        calibrate(sizes, arguments.data_sets, arguments.records)


if __name__ == "__main__":
    main()

"""Unknown intervention targets: comparison with gnies, feedback loops, Sachs without labels.

    python benchmarks/unknown_targets.py --data DIR > benchmarks/results/unknown_targets.md

gnies (PyPI, with ges) is compared where it can be imported. It has one set of targets for all
tables, and so do the columns that compare with it. Graphs are compared by the class under these
targets, which it returns.
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from environment import describe_run
from numpy.typing import NDArray

from cyclearn import DirectedGraph, LearnResult, equivalence_class, learn
from cyclearn.graphs import random_graph
from cyclearn.models import random_model

Mask = NDArray[np.bool_]


def simulated(
    seed: int, p: int, n: int, kind: str, largest: int
) -> tuple[DirectedGraph, Mask, list[pd.DataFrame]]:
    """An observed table and three with one target each: variance × 4, or one deviation more."""
    rng = np.random.default_rng(seed)
    graph = random_graph(p, max_degree=3, max_component=largest, random_state=seed)
    model = random_model(graph, random_state=seed)
    spread = np.linalg.inv(np.eye(p) - model.B)
    mask, tables = np.zeros((4, p), dtype=bool), []
    for e in range(4):
        noise = rng.standard_normal((n, p)) * np.sqrt(model.noise_variances)
        if e:
            j = int(rng.integers(p))
            mask[e, j] = True
            noise[:, j] = (
                2 * noise[:, j]
                if kind == "variance"
                else noise[:, j] + np.sqrt(model.noise_variances[j])
            )
        tables.append(pd.DataFrame(noise @ spread, columns=graph.names))
    return graph, mask, tables


def learned_mask(result: LearnResult) -> Mask:
    return np.array([[name in t for name in result.graph.names] for t in result.targets.values()])


def seatings(graph: DirectedGraph) -> list[tuple[int, ...]]:
    """Columns that nodes can hold when cycles turn: of node j that of ``each[j]``."""
    options = []
    for nodes in graph.components:
        own = [graph.index(name) for name in nodes]
        fits = [[j for j in own if i == j or graph.adjacency[i, j]] for i in own]
        options.append(
            [dict(zip(own, c, strict=True)) for c in product(*fits) if len({*c}) == len(c)]
        )
    joined = []
    for chosen in product(*options):
        held = {i: j for part in chosen for i, j in part.items()}
        joined.append(tuple(held[i] for i in range(graph.n_nodes)))
    return joined


def up_to_the_class(found: Mask, truth: Mask, graph: DirectedGraph) -> int:
    """Targets found that are right, if true cycles may be reversed together with their noises."""
    return max(int((found & truth[:, list(held)]).sum()) for held in seatings(graph))


def ratio(part: float, whole: float) -> str:
    return "–" if whole == 0 else f"{part / whole:.2f}"


def beside_gnies(cases: int, first: int) -> None:
    try:
        import gnies
        from gnies.utils import dag_to_icpdag
    except ImportError:
        print("gnies is not installed: no comparison.\n")
        return
    print("## Acyclic truths, compared with gnies\n")
    print(
        "The models have six variables and four tables of n rows. *Precision* and *recall* "
        "are those of targets over all tables together. *Class right* shows how often the "
        "class under the targets is the true one, and *entries* the mean number of entries "
        "in which it differs. gnies is run with its defaults, and for shifts with "
        "`center=False`.\n"
    )
    print("| kind | n | method | precision | recall | class right | entries | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, n in product(("variance", "shift"), (200, 1000)):
        counts: dict[str, list[Any]] = {"cyclearn": [], "gnies": []}
        for seed in range(first, first + cases):
            graph, mask, tables = simulated(seed, 6, n, kind, 1)
            truth = dag_to_icpdag(
                graph.adjacency.astype(int), set(np.flatnonzero(mask.any(axis=0)))
            )
            for method in counts:
                begun = process_time()
                if method == "gnies":
                    data = [table.to_numpy() for table in tables]
                    _, pdag, targets = gnies.fit(data, center=kind == "variance")
                else:
                    result = learn(tables, interventions="unknown")
                    targets = set(np.flatnonzero(learned_mask(result).any(axis=0)).tolist())
                    A = result.graph.adjacency.astype(int)
                    is_acyclic = nx.is_directed_acyclic_graph(nx.DiGraph(A))
                    pdag = dag_to_icpdag(A, targets) if is_acyclic else A
                known = set(np.flatnonzero(mask.any(axis=0)).tolist())
                differing = int(((np.asarray(pdag) != 0) != (truth != 0)).sum())
                numbers = len(known & targets), len(targets), len(known)
                seconds = process_time() - begun
                counts[method].append((*numbers, differing == 0, differing, seconds))
        for method, found in counts.items():
            right, n_found, n_known, *_ = np.sum(found, axis=0)
            _, _, _, same, differing, seconds = np.mean(found, axis=0)
            print(
                f"| {kind} | {n} | {method} | {ratio(right, n_found)} | {ratio(right, n_known)} | "
                f"{same:.0%} | {differing:.1f} | {seconds:.1f} |",
                flush=True,
            )
    print()


def with_feedback(cases: int, first: int) -> None:
    print("## Feedback\n")
    print(
        "The models have loops of up to four variables and four tables of 1,000 rows. "
        "Targets are compared table by table; *up to the class* means that the true cycles "
        "may be reversed together with their noise terms. *Class right* means that the "
        "graph is in the observational class of the true one.\n"
    )
    columns = "precision | recall | precision up to the class | recall up to it"
    print(f"| kind | p | models | {columns} | class right | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind, p in product(("variance", "shift"), (6, 10)):
        found, seed = [], first
        while len(found) < cases:
            seed += 1
            graph, mask, tables = simulated(seed, p, 1000, kind, 4)
            if graph.is_acyclic:
                continue
            begun = process_time()
            result = learn(tables, interventions="unknown")
            seconds = process_time() - begun
            own = learned_mask(result)
            up_to = up_to_the_class(own, mask, graph)
            same = result.graph in equivalence_class(graph)
            found.append((int((own & mask).sum()), up_to, own.sum(), mask.sum(), same, seconds))
        right, up_to, n_found, n_known, *_ = np.sum(found, axis=0)
        *_, same, seconds = np.mean(found, axis=0)
        print(
            f"| {kind} | {p} | {cases} | {ratio(right, n_found)} | {ratio(right, n_known)} | "
            f"{ratio(up_to, n_found)} | {ratio(up_to, n_known)} | {same:.0%} | {seconds:.1f} |",
            flush=True,
        )
    print()


def sachs(folder: Path, limit: float) -> None:
    from sachs import read, shares

    print("## Sachs without labels\n")
    cells, consensus = read(folder / "sachs")
    logs = np.log(cells.drop(columns="targets"))
    tables = {
        label or "none": logs[cells["targets"] == label] for label in sorted(set(cells["targets"]))
    }
    begun = process_time()
    result = learn(tables, interventions="unknown", n_starts=1, time_limit=limit)
    both = shares(result.graph.adjacency, consensus.adjacency).replace(" | ", ", ")
    print(
        f"The data are logarithms of eleven proteins in {len(tables)} tables by the target "
        "of the reagents, which is hidden from the search. The search took "
        f"{process_time() - begun:.0f} s of CPU; {result.status.value}. The precision and "
        f"recall of consensus edges are {both}.\n"
    )
    print("| table (hidden target) | rows | targets learned | hidden target among them |")
    print("|---|---|---|---|")
    for name, targets in result.targets.items():
        among = "–" if name == "none" else "yes" if set(name.split()) <= set(targets) else "no"
        print(f"| {name} | {len(tables[name])} | {', '.join(targets) or 'none'} | {among} |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("CYCLEARN_DATA"))
    parser.add_argument("--cases", type=int, default=20, help="acyclic models of each row")
    parser.add_argument("--loops", type=int, default=20, help="models with feedback of each row")
    parser.add_argument("--limit", type=float, default=600, help="seconds for Sachs")
    parser.add_argument("--seed", type=int, default=3000)
    options = parser.parse_args()
    started = process_time()
    print("# Unknown intervention targets\n")
    print(describe_run(" ".join(["benchmarks/unknown_targets.py", *sys.argv[1:]])))
    if options.cases:
        beside_gnies(options.cases, options.seed)
    if options.loops:
        with_feedback(options.loops, 2 * options.seed)
    if options.data is not None:
        sachs(options.data, options.limit)
    print(f"{process_time() - started:.0f} s of CPU.")


if __name__ == "__main__":
    main()

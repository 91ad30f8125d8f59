"""Graphs learned from tables with interventions, compared with GIES and LLC.

python benchmarks/interventions.py run --first 5000 --out interventions.jsonl
python benchmarks/interventions.py table interventions.jsonl

One observed table and one for each single target of a growing list; ``run`` appends a line for each
graph, number of targets and method, and goes on where it was stopped. One code scores all answers,
with each table's own intercepts, as GIES has them (package gies). LLC, written here from Hyttinen,
Eberhardt and Hoyer (2012), solves linear equations between total effects, by least squares where
they are too many or too few, and keeps weights above a threshold.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from resumed_run import Benchmark

import cyclearn as cl

FloatArray = NDArray[np.float64]
# Standardised weights that LLC keeps.
LLC_THRESHOLD = 0.1
# Scores are compared at the price that gies has too; the other is what one gets without asking.
PENALTIES = {"cyclearn": "bic", "cyclearn by default": cl.SearchOptions().penalty}


def drawn(
    kind: str, p: int, n_targets: int, n_rows: int, seed: int
) -> tuple[cl.LinearGaussianModel, list[FloatArray], list[list[int]]]:
    """A model, and its tables; targets are drawn from a standard normal distribution."""
    rng = np.random.default_rng([15, p, seed])
    largest = 1 if kind == "acyclic" else 5
    while True:
        graph = cl.simulate.random_graph(p, max_component=largest, random_state=rng)
        model = cl.simulate.random_model(graph, random_state=rng)
        held = [np.where(np.arange(p) == t, 0.0, model.B) for t in range(p)]
        if all(np.abs(np.linalg.eigvals(B)).max() < 1 for B in held):
            break
    order = rng.permutation(p)
    targets: list[list[int]] = [[], *([int(t)] for t in order[:n_targets])]
    tables = []
    for own in targets:
        B = model.B.copy()
        B[:, own] = 0.0
        noise = rng.normal(size=(n_rows, p)) * np.sqrt(model.noise_variances)
        noise[:, own] = rng.normal(size=(n_rows, len(own)))
        tables.append(noise @ np.linalg.inv(np.eye(p) - B))
    return model, tables, targets


def llc(tables: list[FloatArray], targets: list[list[int]]) -> FloatArray:
    """Weights by LLC: in a table that sets i, total effects obey t_ij = b_ij + Σ t_ik b_kj.

    The sum is over all variables k but i and j: one equation for the weights into j.
    """
    p = tables[0].shape[1]
    B = np.zeros((p, p))
    equations: list[list[tuple[FloatArray, float]]] = [[] for _ in range(p)]
    for X, own in zip(tables, targets, strict=True):
        for i in own:
            S = np.cov(X.T, bias=True)
            effects = S[i] / S[i, i]
            for j in range(p):
                if j != i:
                    row = effects.copy()
                    row[i], row[j] = 1.0, 0.0
                    equations[j].append((row, float(effects[j])))
    for j in range(p):
        if equations[j]:
            rows = np.array([row for row, _ in equations[j]])
            right = np.array([value for _, value in equations[j]])
            free = np.arange(p) != j
            B[free, j] = np.linalg.lstsq(rows[:, free], right, rcond=None)[0]
    scale = np.std(tables[0], axis=0)
    return np.where(np.abs(B * scale[:, None] / scale) > LLC_THRESHOLD, B, 0.0)


def by_gies(tables: list[FloatArray], targets: list[list[int]]) -> NDArray[np.bool_]:
    """An acyclic graph of the class that GIES finds."""
    import gies
    from gies.utils import pdag_to_dag

    estimate, _ = gies.fit_bic(tables, targets)
    return np.asarray(pdag_to_dag(estimate), dtype=bool)


def measure(
    methods: list[str], n_rows: int, kind: str, p: int, n_targets: int, seed: int
) -> Iterator[dict[str, Any]]:
    model, tables, targets = drawn(kind, p, n_targets, n_rows, seed)
    names = list(model.names)
    named = [[names[t] for t in own] for own in targets]
    how = {"interventions": named, "intercepts": "table"}
    n = sum(map(len, tables))

    def score_of(graph: cl.DirectedGraph) -> float:
        return -cl.fit(graph, tables, **how).log_likelihood + 0.5 * np.log(n) * graph.n_edges

    truth = cl.DirectedGraph(model.B != 0, names)
    for method in methods:
        begun = process_time()
        weights = None
        if method in PENALTIES:
            result = cl.learn(tables, penalty=PENALTIES[method], **how)
            graph, weights = result.graph, result.model.B
        elif method == "gies":
            graph = cl.DirectedGraph(by_gies(tables, targets), names)
        else:
            weights = llc(tables, targets)
            graph = cl.DirectedGraph(weights != 0, names)
        seconds = process_time() - begun
        # What LLC keeps need have no fit.
        score = None if method == "llc" else float(score_of(graph))
        if weights is None:
            weights = cl.fit(graph, tables, **how).B
        yield {
            "key": [kind, p, n_targets, seed, method],
            "kind": kind,
            "p": p,
            "targets": n_targets,
            "method": method,
            "is_truth": graph == truth,
            "as_good_as_truth": None if score is None else bool(score <= score_of(truth) + 1e-6),
            "score": score,
            "wrong": int((graph.adjacency != truth.adjacency).sum()),
            "extra": int((graph.adjacency & ~truth.adjacency).sum()),
            "error": float(np.sqrt(((weights - model.B) ** 2).sum())),
            "seconds": seconds,
        }


def cases(arguments: argparse.Namespace, done: set[Any]) -> Iterator[dict[str, Any]]:
    for kind in arguments.kinds.split(","):
        for p, n_graphs in (map(int, each.split(":")) for each in arguments.sizes.split(",")):
            for seed in range(arguments.first, arguments.first + n_graphs):
                for n_targets in sorted({0, 1, p // 2, p}):
                    key = (kind, p, n_targets, seed)
                    methods = [m for m in arguments.methods.split(",") if (*key, m) not in done]
                    yield from measure(methods, arguments.rows, *key)


def print_rows(rows: pd.DataFrame) -> None:
    print(
        "Each model has one observed table and one for each single target; the penalty is "
        "BIC unless marked *by default*. *Wrong edges* are missing, superfluous or "
        "reversed (which counts twice) compared with the true graph itself, which "
        "observational data alone cannot determine. *As good* is the share of answers "
        "whose score is at least as good as that of the truth, *error* is that of all "
        "weights (Frobenius norm), and *worse than gies* counts cases with a worse score. "
        f"GIES is an acyclic method; LLC keeps standardised weights above {LLC_THRESHOLD}.\n"
    )
    print("| truths | p | targets | method | graphs | wrong edges | is the truth | as good "
          "| error | worse than gies | median CPU s |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    case = rows["key"].map(lambda key: tuple(key[:4]))
    scores = rows.assign(case=case).pivot_table(index="case", columns="method", values="score")
    worse = (scores["cyclearn"] > scores["gies"] + 1e-6) if "gies" in scores else None
    for (kind, p, n_targets, method), part in rows.groupby(["kind", "p", "targets", "method"]):
        cases = part["key"].map(lambda key: tuple(key[:4]))
        lost = "–"
        if method == "cyclearn" and worse is not None:
            lost = str(int(worse.reindex(cases).sum()))
        good = part["as_good_as_truth"].dropna()
        print(
            f"| {kind} | {p} | {n_targets} | {method} | {len(part)} | {part['wrong'].mean():.2f} "
            f"| {part['is_truth'].mean():.0%} | {f'{good.mean():.0%}' if len(good) else '–'} "
            f"| {part['error'].mean():.2f} | {lost} | {part['seconds'].median():.2f} |"
        )


def main() -> None:
    benchmark = Benchmark("interventions.py", "Interventions", print_rows)
    run = benchmark.command("run", cases)
    run.add_argument("--sizes", default="5:50,10:30,20:10", help="p:graphs, ...")
    run.add_argument("--rows", type=int, default=1_000, help="rows of each table")
    run.add_argument("--kinds", default="acyclic,paper")
    run.add_argument("--methods", default="cyclearn,cyclearn by default,gies,llc")
    run.add_argument("--first", type=int, default=0, help="number of the first graph")
    benchmark.main()


if __name__ == "__main__":
    main()

"""Ordinal columns: learned from before they were cut, as numbers, and as ordinal columns.

    python benchmarks/ordinal_columns.py run.jsonl [--graphs 50] \
        > benchmarks/results/ordinal_columns.md
    python benchmarks/ordinal_columns.py other.jsonl --first 1000 --graphs 200 \
        --rows 5000 --levels 5 --kinds uncut ordinal fewer full

What was measured is appended to the file, from which an interrupted run continues; with
``--graphs 0`` the page is made of what is there. Without columns as numbers only differences are
printed, graph by graph.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from environment import describe_run
from latent_likelihood import correlations_of, latent_correlations

import cyclearn as cl

N_NODES, ROWS, SHARES, LEVELS = 10, (1_000, 5_000), (0.5, 1.0), (2, 3, 5)
# No level is rarer than this.
RAREST = 0.05
# Half the length of an interval of 95%, in standard errors.
Z = 1.959964
KINDS = ("uncut", "numbers", "ordinal")
# Columns that were not cut, with as many rows as the ordinal ones count for.
FEWER = "fewer"
# Ordinal columns, with correlations from the likelihood of whole rows in place of pairs.
FULL = "full"
KEY = ("n", "seed", "share", "levels", "kind")


def cut(
    rows: pd.DataFrame, share: float, n_levels: int, seed: int
) -> tuple[pd.DataFrame, list[str]]:
    """The rows with a share of the columns cut at random, and the names of these."""
    rng = np.random.default_rng(seed)
    chosen = sorted(rng.permutation(rows.columns)[: round(share * rows.shape[1])])
    found = rows.copy()
    for name in chosen:
        shares = RAREST + (1 - n_levels * RAREST) * rng.dirichlet(np.ones(n_levels))
        cuts = np.quantile(rows[name], shares.cumsum()[:-1])
        found[name] = np.digitize(rows[name], cuts).astype(float)
    return found, chosen


def measured(truth: cl.DirectedGraph, result: cl.LearnResult) -> dict[str, float]:
    """Distance to the true class, and pairs joined in every learned graph and in no true one."""
    table = result.equivalence_class.edge_table()
    claimed = table[table["verdict"] == "in every equally good graph"]
    pairs = {frozenset(edge) for graph in cl.equivalence_class(truth) for edge in graph.edges}
    named = zip(claimed["a"], claimed["b"], strict=True)
    false = sum(frozenset(pair) not in pairs for pair in named)
    return {"distance": float(cl.metrics.class_distance(truth, result.graph)), "false": false}


def deviations(model: cl.LinearGaussianModel, table: pd.DataFrame, own: list[str]) -> list[float]:
    """Estimated weights on the true graph less the true ones, in standard errors.

    Where another set of parameters has the same likelihood and is closer, nothing is compared.
    """
    fitted = cl.fit(model.graph, table, ordered=own, n_effective="all")
    scale = np.where(np.isin(model.names, own), np.sqrt(model.covariance.diagonal()), 1.0)
    B, errors = model.B * scale[:, None] / scale, fitted.standard_errors
    away = [np.abs(each.B - B).max() for each in (fitted.model, *fitted.alternatives)]
    if int(np.argmin(away)) != 0:
        return []
    known = model.graph.adjacency & ~np.isnan(errors)
    return [float(z) for z in ((fitted.B - B)[known] / errors[known])]


def cases(
    graphs: range, sizes: tuple[int, ...], levels: tuple[int, ...], kinds: tuple[str, ...]
) -> Iterator[Any]:
    """All that is measured, by :data:`KEY`."""
    for n, seed in product(sizes, graphs):
        yield n, seed, 0.0, 0, "uncut"
        yield from product((n,), (seed,), SHARES, levels, [k for k in kinds if k != "uncut"])


def measure(case: tuple[int, int, float, int, str], has_coverage: bool = True) -> dict[str, Any]:
    """One graph, one table, one way to read it."""
    n, seed, share, n_levels, kind = case
    truth = cl.simulate.random_graph(N_NODES, max_degree=4, max_component=4, random_state=seed)
    model = cl.simulate.random_model(truth, random_state=seed)
    rows = model.sample(n, random_state=seed)
    if kind == "uncut":
        return measured(truth, cl.learn(rows, n_effective="all"))
    table, own = cut(rows, share, n_levels, seed)
    if kind == FEWER:
        counted = cl.Reading(ordered=own, n_effective="all").tables(table).n_effective
        rows = model.sample(round(counted), random_state=seed)
        return measured(truth, cl.learn(rows, n_effective="all"))
    if kind == FULL:
        read = cl.Reading(ordered=own, n_effective="all").tables(table)
        pairs = read.tables[0].moments.aligned_to(tuple(table)).correlation
        R = latent_correlations(table, own, correlations_of(pairs))
        moments = cl.Moments(R, round(read.n_effective), names=[*table])
        return measured(truth, cl.learn(moments))
    options = {"continuous" if kind == "numbers" else "ordered": own}
    result = cl.learn(table, n_effective="all", **options)
    found: dict[str, Any] = measured(truth, result) | {"n_effective": result.tables.n_effective}
    is_compared = has_coverage and kind == "ordinal"
    return found | ({"z": deviations(model, table, own)} if is_compared else {})


def with_error(values: pd.Series) -> str:
    """The mean and its standard error."""
    return f"{values.mean():.2f} ± {values.sem():.2f}"


def paired(found: pd.DataFrame, n: int, share: float, n_levels: int, kind: str) -> str:
    """A kind less uncut on the same graphs: one line of a table; empty without any."""
    here = found[(found["n"] == n) & found["share"].isin([0.0, share])]
    here = here[here["levels"].isin([0, n_levels]) & here["kind"].isin(["uncut", kind])]
    both = here.pivot(index="seed", columns="kind", values=["distance", "false"]).dropna()
    if len(both) < 2 or both.shape[1] < 4:
        return ""
    texts = [f"{n:,}", f"{share:.0%}", str(n_levels), kind, str(len(both))]
    for what in ("distance", "false"):
        uncut, other = both[what]["uncut"], both[what][kind]
        texts += [with_error(uncut), with_error(other), with_error(other - uncut)]
        if what == "distance":
            # The error of a ratio of means, to first order.
            ratio = other.mean() / uncut.mean()
            texts.append(f"{ratio:.2f} ± {(other - ratio * uncut).sem() / uncut.mean():.2f}")
    return f"| {' | '.join(texts)} |"


def row(found: pd.DataFrame, n: int, share: float, n_levels: int) -> str:
    """One line of the table, of graphs that were measured in every way; empty without any."""
    here = found[(found["n"] == n) & found["share"].isin([0.0, share])]
    own = {kind: each.set_index("seed") for kind, each in here.groupby("kind") if kind == "uncut"}
    cells = here[here["levels"] == n_levels]
    own |= {kind: each.set_index("seed") for kind, each in cells.groupby("kind")}
    if len(own) < 3:
        return ""
    same = sorted(set.intersection(*(set(each.index) for each in own.values())))
    if len(same) < 2:
        return ""
    z = np.abs(np.concatenate(own["ordinal"].loc[same, "z"].to_list()))
    texts = [
        with_error(own[kind].loc[same, what])
        for what in ("distance", "false")
        for kind in ("uncut", "numbers", "ordinal")
    ]
    start = [f"{n:,}", f"{share:.0%}", str(n_levels), str(len(same))]
    return f"| {' | '.join([*start, *texts, f'{(z < Z).mean():.3f} of {len(z)}'])} |"


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--graphs", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--levels", type=int, nargs="+", default=LEVELS)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=(*KINDS, FEWER, FULL))
    given = parser.parse_args()
    lines = given.file.read_text().splitlines() if given.file.exists() else []
    records = {tuple(each[k] for k in KEY): each for each in map(json.loads, lines)}
    graphs = range(given.first, given.first + given.graphs)
    for case in cases(graphs, tuple(given.rows), tuple(given.levels), tuple(given.kinds)):
        if case not in records:
            measured_here = measure(case, "numbers" in given.kinds)
            records[case] = dict(zip(KEY, case, strict=True)) | measured_here
            with given.file.open("a") as file:
                file.write(json.dumps(records[case]) + "\n")
    found = pd.DataFrame(list(records.values()))
    if "numbers" not in given.kinds:
        heads = ["rows", "columns cut", "levels", "kind", "graphs"]
        heads += ["distance, uncut", "of this kind", "difference", "ratio"]
        heads += ["false, uncut", "of this kind", "difference"]
        print(f"| {' | '.join(heads)} |\n|{'---:|' * len(heads)}")
        for n, share, n_levels, kind in product(ROWS, SHARES, LEVELS, ("ordinal", FEWER, FULL)):
            if line := paired(found, n, share, n_levels, kind):
                print(line)
        return
    print("# Ordinal columns\n")
    print(describe_run("benchmarks/ordinal_columns.py"))
    print(
        f"Random graphs with {N_NODES} variables and loops of at most four; columns cut at random, "
        f"with no level rarer than {RAREST:.0%}. Distance to the true class, and pairs that every "
        "equally good graph joins and no true one (false), with standard errors: before columns "
        "were cut, with levels as numbers, and as ordinal. Coverage: how many weights on the true "
        "graph are in their intervals of 95%.\n"
    )
    heads = [f"{what}, {kind}" for what in ("distance", "false") for kind in KINDS]
    print(f"| rows | columns cut | levels | graphs | {' | '.join(heads)} | coverage |")
    print(f"|{'---:|' * (len(heads) + 5)}")
    for n, share, n_levels in product(ROWS, SHARES, LEVELS):
        if line := row(found, n, share, n_levels):
            print(line)


if __name__ == "__main__":
    main()

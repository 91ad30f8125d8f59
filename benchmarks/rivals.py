"""Whether ``result.rivals`` distinguishes a loop from a hidden cause, on three kinds of truths.

    python benchmarks/rivals.py --tables 50 --seed 1000 > benchmarks/results/rivals.md

*Hidden*: a random acyclic graph, and a common cause of three variables that no edge joins, with
weights from ±[0.6, 1] deviations of their noise, which is left out of the table. *Loop*: a random
graph with feedback that no graph without feedback is equivalent to. *Acyclic*: neither. Graphs and
parameters are those of the paper's generator.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Set
from itertools import combinations
from time import perf_counter

import numpy as np
import pandas as pd
from environment import describe_run

import cyclearn as cl
from cyclearn.search.mixed_graphs import best_mixed_graph
from cyclearn.search.search_effort import MixedEffort

# Rows, the generating graph, the variables with a hidden common cause, and the loops.
Table = tuple[pd.DataFrame, cl.DirectedGraph, frozenset[str], list[frozenset[str]]]
# Differences of scores by which answers are counted.
BINS = (1.0, 3.0, 5.0, 10.0)


def hidden_table(p: int, n: int, rng: np.random.Generator) -> Table:
    """A table with a hidden common cause of three variables."""
    while True:
        graph = cl.simulate.random_graph(p, 4, 1, random_state=rng)
        joined = graph.adjacency | graph.adjacency.T
        free = [c for c in combinations(range(p), 3) if not joined[np.ix_(c, c)].any()]
        if free:
            break
    model = cl.simulate.random_model(graph, random_state=rng)
    children = list(free[rng.integers(len(free))])
    B = np.zeros((p + 1, p + 1))
    B[:p, :p] = model.B
    weights = rng.choice([-1, 1], 3) * rng.uniform(0.6, 1, 3)
    B[p, children] = weights * np.sqrt(model.noise_variances[children])
    whole = cl.LinearGaussianModel(B, [*model.noise_variances, 1.0], [*model.names, "hidden"])
    rows = whole.sample(n, random_state=rng).drop(columns="hidden")
    return rows, model.graph, frozenset(model.names[j] for j in children), []


def loop_table(p: int, n: int, rng: np.random.Generator) -> Table:
    """A table of a graph with feedback that no acyclic graph is equivalent to."""
    while True:
        graph = cl.simulate.random_graph(p, 4, 3, random_state=rng)
        loops = [frozenset(nodes) for nodes in graph.components if len(nodes) > 1]
        if loops and cl.equivalence_class(graph).n_acyclic == 0:
            break
    model = cl.simulate.random_model(graph, random_state=rng)
    return model.sample(n, random_state=rng), graph, frozenset(), loops


def acyclic_table(p: int, n: int, rng: np.random.Generator) -> Table:
    """A table of an acyclic graph."""
    graph = cl.simulate.random_graph(p, 4, 1, random_state=rng)
    model = cl.simulate.random_model(graph, random_state=rng)
    return model.sample(n, random_state=rng), graph, frozenset(), []


def favours_hidden(result: cl.LearnResult, truth: cl.DirectedGraph, children: Set[str]) -> bool:
    """Whether a graph with the hidden cause, found from the truth, is better than the learned."""
    problem = result.options.problem(result.tables)
    adjacency = truth.reordered(problem.names).adjacency
    pairs = frozenset(combinations(sorted(map(problem.names.index, children)), 2))
    best, _ = best_mixed_graph(problem, [(adjacency, pairs)], 3, MixedEffort(triples=0))
    names = [frozenset(problem.names[node] for node in pair) for pair in best.pairs]
    return best.score < result.score - 1e-5 and any(each <= children for each in names)


def examined(table: Table) -> dict[str, object]:
    """What the rivals say about one table, and whether that is true."""
    rows, truth, children, loops = table
    result = cl.learn(rows)
    begun = perf_counter()
    found = result.rivals()
    seconds = perf_counter() - begun
    learned = [frozenset(nodes) for nodes in result.graph.components if len(nodes) > 1]
    hidden, acyclic = found.hidden_causes, found.without_feedback
    assert hidden is not None
    pairs = [frozenset(pair) for pair in hidden.pairs]
    return {
        "learned loop": bool(learned),
        "true loop": any(len(own & true) > 1 for own in learned for true in loops),
        "joined": any({a, b} <= children for a, b in result.graph.edges),
        "favoured": bool(children) and favours_hidden(result, truth, children),
        "named": any(pair <= children for pair in pairs),
        "pairs": len(pairs),
        "right pairs": sum(pair <= children for pair in pairs),
        "pays": hidden.difference < (0.0 if acyclic is None else acyclic.difference) - 1e-5,
        "hidden": hidden.difference,
        "acyclic": None if acyclic is None else acyclic.difference,
        "seconds": seconds,
    }


SORTS = {"hidden": hidden_table, "loop": loop_table, "acyclic": acyclic_table}


def share(some: pd.Series) -> str:
    """A share with its counts."""
    return f"{some.sum()} of {len(some)} ({some.mean():.0%})" if len(some) else "–"


def binned(differences: pd.Series) -> str:
    """How many differences lie between the bins."""
    counts = Counter(np.digitize(differences.to_numpy(dtype=float), BINS).tolist())
    return " | ".join(str(counts[n]) for n in range(len(BINS) + 1))


def main() -> None:
    """Print tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--truths", nargs="+", choices=SORTS, default=list(SORTS))
    parser.add_argument("--variables", type=int, default=8)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 3_000])
    given = parser.parse_args()
    records = []
    for number, (sort, draw) in enumerate(SORTS.items()):
        for n in given.rows if sort in given.truths else ():
            for seed in range(given.seed, given.seed + given.tables):
                rng = np.random.default_rng([seed, number, n])
                record = examined(draw(given.variables, n, rng))
                records.append({"truth": sort, "n": n, **record})
    frame = pd.DataFrame(records)
    print(describe_run("benchmarks/rivals.py " + " ".join(sys.argv[1:])))
    columns = (
        *("truth", "n", "tables", "feedback learned", "two of three joined", "named of all"),
        *(
            "named of the joined",
            "of the favoured",
            "named and better",
            "tables with pairs",
            "of them better",
        ),
        *("pairs", "right pairs", "seconds"),
    )
    print(f"| {' | '.join(columns)} |\n{'|--' * len(columns)}|")
    for (sort, n), part in frame.groupby(["truth", "n"], sort=False):
        joined, claimed = part[part["joined"]], part[part["pairs"] > 0]
        cells = (
            share(part["learned loop"]),
            share(part["joined"]),
            share(part["named"]),
            share(joined["named"]),
            share(part[part["favoured"]]["named"]),
            (part["named"] & part["pays"]).sum(),
            len(claimed),
            claimed["pays"].sum(),
            part["pairs"].sum(),
            part["right pairs"].sum(),
            f"{part['seconds'].mean():.1f}",
        )
        print(f"| {sort} | {n:,} | {len(part)} | {' | '.join(map(str, cells))} |")
    bins = " | ".join(["below 1", "1 to 3", "3 to 5", "5 to 10", "above"])
    print(
        "\n| learned graphs with feedback, n | the best graph without feedback is worse by: "
        f"{bins} |"
    )
    print("|--|--|--|--|--|--|")
    loops = frame[frame["learned loop"]]
    for is_true, words in ((True, "a true loop"), (False, "no true loop")):
        for n, part in loops[loops["true loop"] == is_true].groupby("n"):
            print(f"| {words}, {n:,} | {binned(part['acyclic'])} |")
    print(f"\n| hidden causes claimed for graphs without feedback, n | better by: {bins} |")
    print("|--|--|--|--|--|--|")
    claimed = frame[(frame["pairs"] > 0) & ~frame["learned loop"]]
    for (sort, is_named, n), part in claimed.groupby(["truth", "named", "n"], sort=False):
        words = "named" if is_named else "not named" if sort == "hidden" else "false"
        print(f"| {sort}, {words}, {n:,} | {binned(-part['hidden'])} |")
    print(f"\n| score with hidden causes minus that of the loop, n | {bins} |")
    print("|--|--|--|--|--|--|")
    for (sort, n), part in loops.groupby(["truth", "n"], sort=False):
        print(f"| {sort}, {n:,} | {binned(part['hidden'])} |")


if __name__ == "__main__":
    main()

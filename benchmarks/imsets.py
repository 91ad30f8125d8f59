"""Whether graphs with equal characteristic imsets are equivalent: ``python benchmarks/imsets.py``.

For a graph with cycles the imset is taken to be linear in the columns: c(S) is the number of nodes
i in S whose parents include the rest of S. Prints the lines of ``results/imsets.md``.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from itertools import product

import cyclearn as cl

Columns = tuple[int, ...]


def all_graphs(n_nodes: int) -> Iterator[Columns]:
    """The columns of every directed graph: node and parents as bits."""
    sets = range(1 << n_nodes)
    return product(*([s for s in sets if s >> node & 1] for node in range(n_nodes)))


def imset(columns: Columns) -> bytes:
    """The number of nodes i in S with S inside column i, for every set S."""
    counts = bytearray(1 << len(columns))
    for node, column in enumerate(columns):
        own, others = 1 << node, column & ~(1 << node)
        subset = others
        while True:
            counts[subset | own] += 1
            if not subset:
                break
            subset = (subset - 1) & others
    return bytes(counts)


def graph_of(columns: Columns) -> cl.DirectedGraph:
    """The graph with these columns."""
    return cl.DirectedGraph.from_columns(columns, tuple("12345"[: len(columns)]))


def line(n_nodes: int) -> str:
    """Every graph against the first one with its imset."""
    by_imset = defaultdict(list)
    for columns in all_graphs(n_nodes):
        by_imset[imset(columns)].append(columns)
    compared = different = 0
    for first, *others in by_imset.values():
        members = cl.equivalence_class(graph_of(first)) if others else None
        for other in others:
            compared += 1
            different += graph_of(other) not in members
    n_graphs = sum(map(len, by_imset.values()))
    return f"| {n_nodes} | {n_graphs:,} | {len(by_imset):,} | {compared:,} | {different} |"


def main() -> None:
    """One line for each number of nodes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="+", default=[3, 4, 5])
    print("| nodes | graphs | imsets | pairs with equal imsets | not equivalent |")
    print("|---|---|---|---|---|")
    for n_nodes in parser.parse_args().nodes:
        print(line(n_nodes), flush=True)


if __name__ == "__main__":
    main()

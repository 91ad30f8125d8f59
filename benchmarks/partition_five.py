"""Partition all 1,048,576 graphs on five nodes into classes, twice, and compare graph by graph.

By brute force: connected components of the graph whose vertices are the directed graphs and whose
edges are the steps of Theorem 2, applied one at a time. By the library: equal territories. Then
the definition itself is checked: two classes would have to be one if each had a member that is a
subgraph of a member of the other.

    python benchmarks/partition_five.py > benchmarks/results/partition_five.md
"""

from __future__ import annotations

import sys
from itertools import combinations, permutations
from time import perf_counter

import numba
import numpy as np
from environment import describe_run

from cyclearn.classes.territories import territories

P = 5
N_GRAPHS = 1 << (P * (P - 1))


def all_cycles() -> np.ndarray:
    cycles = [
        (first, *rest) + (-1,) * (P - size)
        for size in range(2, P + 1)
        for nodes in combinations(range(P), size)
        for first, rest in [(nodes[0], r) for r in permutations(nodes[1:])]
    ]
    return np.array(cycles)


@numba.njit
def columns_of(code, columns):
    """Column j of graph ``code`` is {j} and four bits of the code, the diagonal left out."""
    for j in range(P):
        off = (code >> (4 * j)) & 15
        low = off & ((1 << j) - 1)
        columns[j] = low | (1 << j) | ((off >> j) << (j + 1))


@numba.njit
def code_of(columns):
    code = 0
    for j in range(P):
        low = columns[j] & ((1 << j) - 1)
        code |= (low | ((columns[j] >> (j + 1)) << j)) << (4 * j)
    return code


@numba.njit
def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@numba.njit
def join(parent, a, b):
    a, b = find(parent, a), find(parent, b)
    if a < b:
        parent[b] = a
    elif b < a:
        parent[a] = b


@numba.njit
def popcount(x):
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@numba.njit
def components(n_graphs, cycles):
    """Smallest code in the component of every graph under single steps."""
    parent = np.arange(n_graphs)
    columns = np.empty(P, np.int64)
    after = np.empty(P, np.int64)
    for code in range(n_graphs):
        columns_of(code, columns)
        for j in range(P):
            for k in range(P):
                differing = columns[j] ^ columns[k]
                if j == k or popcount(differing) > 1:
                    continue
                union = columns[j] | columns[k]
                for i in range(P):
                    # Equal columns: a reduction. One difference: an exchange.
                    if i != j and (columns[j] >> i) & 1:
                        after[:] = columns
                        after[j] = union & ~(1 << i)
                        after[k] = union
                        join(parent, code, code_of(after))
        for c in range(cycles.shape[0]):
            size = 0
            while size < P and cycles[c, size] >= 0:
                size += 1
            closed = True
            for s in range(size):
                before, node = cycles[c, s], cycles[c, (s + 1) % size]
                closed = closed and bool((columns[node] >> before) & 1)
            if closed:
                after[:] = columns
                for s in range(size):
                    after[cycles[c, s]] = columns[cycles[c, (s + 1) % size]]
                join(parent, code, code_of(after))
    label = np.empty(n_graphs, np.int64)
    for code in range(n_graphs):
        label[code] = find(parent, code)
    return label


def labels_by_territories() -> np.ndarray:
    number: dict[object, int] = {}
    label = np.empty(N_GRAPHS, dtype=np.int64)
    columns = np.empty(P, np.int64)
    for code in range(N_GRAPHS):
        columns_of(code, columns)
        label[code] = number.setdefault(territories(columns.tolist()), len(number))
    return label


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    pairs = np.unique(np.stack([a, b]), axis=1).shape[1]
    return pairs == len(np.unique(a)) == len(np.unique(b))


def mutually_contained(label: np.ndarray) -> int:
    """Number of pairs of classes, each with a member inside a member of the other."""
    n_classes = int(label.max()) + 1
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(n_classes + 1))
    contains = np.zeros((n_classes, n_classes), dtype=bool)
    for one in range(n_classes):
        above = np.zeros(N_GRAPHS, dtype=bool)
        above[order[starts[one] : starts[one + 1]]] = True
        for bit in range(P * (P - 1)):
            halves = above.reshape(-1, 2, 1 << bit)
            halves[:, 1] |= halves[:, 0]
        contains[one, label[above]] = True
    return int(np.count_nonzero(np.triu(contains & contains.T, k=1)))


def main() -> None:
    started = perf_counter()
    brute = np.unique(components(N_GRAPHS, all_cycles()), return_inverse=True)[1]
    by_steps = perf_counter() - started
    started = perf_counter()
    fast = labels_by_territories()
    by_library = perf_counter() - started
    equal = same_partition(brute, fast)
    both = mutually_contained(brute)
    sizes = np.bincount(brute)
    print("# All graphs on five nodes, partitioned twice\n")
    print(describe_run("benchmarks/partition_five.py"))
    print("| quantity | value |\n|---|---|")
    print(f"| directed graphs | {N_GRAPHS:,} |")
    print(f"| classes by brute force (single steps) | {len(sizes):,} |")
    print(f"| classes by territories | {int(fast.max()) + 1:,} |")
    print(f"| the two partitions are equal, graph by graph | {'yes' if equal else 'NO'} |")
    print(f"| pairs of classes with members inside each other | {both} |")
    print(f"| graphs in the largest class | {sizes.max():,} |")
    print(f"| classes of one graph | {int(np.count_nonzero(sizes == 1)):,} |")
    print(f"| seconds, brute force (compiled) | {by_steps:.0f} |")
    print(f"| seconds, territories | {by_library:.0f} |")
    sys.exit(0 if equal and both == 0 else 1)


if __name__ == "__main__":
    main()

"""Whether statements about one half of a real table are replicated in the other half.

``run FILE`` splits every table in two, asks each half for probabilities, and adds them to a file of
lines; what is there already is not computed again. ``table FILE`` counts claims and prints the
page. The tables are those of ``real/`` in the folder given by ``--data`` or ``CYCLEARN_DATA``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import cyclearn as cl

# Options were chosen on the first five.
CHOSEN_ON = ("abalone", "auto-mpg", "contraceptive", "pima", "wine-red")
TABLES = (*CHOSEN_ON, "airfoil", "boston", "galton", "student-performance", "wine-white")
# Neighbouring rows resemble each other: random halves would share what they should find alone.
IN_BLOCKS = ("airfoil", "boston", "chickenpox")
N_BLOCKS = 10
METHODS = {
    "plain": {"robust": False, "n_effective": "all"},
    "robust": {},
}
CLAIMED, FOUND, CONTRADICTED = 0.9, 0.5, 0.05


def halves(table: pd.DataFrame, name: str, split: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two halves: rows at random, or contiguous blocks at random, in order."""
    rng, n = np.random.default_rng(split), len(table)
    if name in IN_BLOCKS:
        chosen = rng.permutation(N_BLOCKS)[: N_BLOCKS // 2]
        is_first = np.isin(np.arange(n) * N_BLOCKS // n, chosen)
    else:
        is_first = np.isin(np.arange(n), rng.permutation(n)[: n // 2])
    return table[is_first], table[~is_first]


def numbers(folder: Path, name: str) -> pd.DataFrame:
    """The numeric columns of a table, without those that number families or persons."""
    table = pd.read_csv(folder / "real" / f"{name}.txt", sep="\t").select_dtypes("number")
    return table.drop(columns=["family"], errors="ignore")


def probabilities(half: pd.DataFrame, method: str) -> dict[str, object]:
    """What one half says: matrices of probabilities, and whether chains agreed."""
    begun = time.process_time()
    # The former default took every column for a continuous one.
    numbers_only = {"continuous": list(half.columns)} if method == "plain" else {}
    found = cl.posterior(half, **METHODS[method], **numbers_only)
    answer = {
        "seconds": round(time.process_time() - begun, 1),
        "converged": found.converged,
        "determined": found.is_determined,
        "n_effective": found.n_effective[0],
    }
    edges, both = found.edges, found.both
    return answer | {
        "edges": np.round(edges, 4).tolist(),
        "adjacent": np.round(edges + edges.T - both, 4).tolist(),
        "loops": np.round(pair_in_loop(found), 4).tolist(),
    }


def pair_in_loop(found: cl.Posterior) -> np.ndarray:
    """How probable it is that two variables are in one feedback loop."""
    total = np.zeros(found.edges.shape)
    for A, weight in zip(found.adjacencies, found.weights, strict=True):
        graph = cl.DirectedGraph(A.astype(bool))
        for nodes in graph.component_indices:
            if len(nodes) > 1:
                total[np.ix_(nodes, nodes)] += weight
    np.fill_diagonal(total, 0)
    return total


def run(path: Path, folder: Path, names: list[str], methods: list[str], splits: range) -> None:
    known = {key(line) for line in lines(path)} if path.exists() else set()
    for split in splits:
        for name in names:
            table = numbers(folder, name)
            for number, half in enumerate(halves(table, name, split)):
                # A column may be constant in one half.
                half = half.loc[:, half.nunique() > 1]
                for method in methods:
                    head = {"table": name, "split": split, "half": number, "method": method}
                    if key(head) in known:
                        continue
                    line = head | {"names": list(half.columns)} | probabilities(half, method)
                    with path.open("a") as file:
                        file.write(json.dumps(line) + "\n")


def lines(path: Path) -> Iterator[dict]:
    with path.open() as file:
        for line in file:
            yield json.loads(line)


def key(line: dict) -> tuple:
    return line["table"], line["split"], line["half"], line["method"]


def claims(first: dict, second: dict, what: str) -> np.ndarray:
    """Probabilities in both halves, shape (n, 2)."""
    names = [name for name in first["names"] if name in second["names"]]
    pairs = []
    for answer in (first, second):
        places = [answer["names"].index(name) for name in names]
        matrix = np.array(answer[what])[np.ix_(places, places)]
        pairs.append(matrix)
    off = ~np.eye(len(names), dtype=bool)
    if what != "edges":
        off = np.triu(off)
    return np.stack([each[off] for each in pairs], axis=1)


def counted(splits: list[list[dict]], what: str) -> tuple[int, int, int]:
    """Claims of single halves; those replicated in the other half, and contradicted there."""
    n = found = against = 0
    for first, second in splits:
        both = claims(first, second, what)
        for one, other in ((0, 1), (1, 0)):
            claimed = both[:, one] >= CLAIMED
            n += int(claimed.sum())
            found += int((claimed & (both[:, other] >= FOUND)).sum())
            against += int((claimed & (both[:, other] <= CONTRADICTED)).sum())
    return n, found, against


def table(path: Path) -> None:
    answers = {key(line): line for line in lines(path)}
    methods = list(dict.fromkeys(method for *_, method in answers))
    every = sorted({(name, split) for name, split, _, _ in answers})
    both_halves = [(half, method) for half in (0, 1) for method in methods]
    whole = [pair for pair in every if all((*pair, *each) in answers for each in both_halves)]
    for what in ("edges", "adjacent", "loops"):
        print(f"\n## {what}\n")
        print("| tables | method | splits | claims | replicated | contradicted | kept |")
        print("|---|---|---|---|---|---|---|")
        for label, names in (("chosen on", CHOSEN_ON), ("others", TABLES[5:]), ("all", TABLES)):
            counts = {}
            for method in methods:
                splits = [
                    [answers[name, split, half, method] for half in (0, 1)]
                    for name, split in whole
                    if name in names
                ]
                # The plain posterior gave numbers whether chains agreed or not.
                shown = [
                    halves
                    for halves in splits
                    if method == "plain" or all(half["determined"] for half in halves)
                ]
                n, found, against = counts[method] = counted(shown, what)
                kept = found / max(1, counts[methods[0]][1])
                print(
                    f"| {label} | {method} | {len(shown)} | {n} | "
                    f"{found} ({found / max(n, 1):.0%}) | "
                    f"{against} ({against / max(n, 1):.1%}) | {kept:.0%} |"
                )
    print("\n| table | p | method | seconds, median | slowest | converged | rows counted |")
    print("|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(name for name, *_ in answers):
        for method in methods:
            its = [a for (n, *_, m), a in answers.items() if n == name and m == method]
            if its:
                seconds = [a["seconds"] for a in its]
                rows = np.median([a["n_effective"] for a in its])
                agreed = sum(a["converged"] for a in its)
                print(
                    f"| {name} | {len(its[0]['names'])} | {method} | {np.median(seconds):.0f} | "
                    f"{max(seconds):.0f} | {agreed} of {len(its)} | {rows:.0f} |"
                )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["run", "table"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", type=Path, default=os.environ.get("CYCLEARN_DATA"))
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--splits", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.part == "run":
        run(given.file, given.data, given.tables, given.methods, range(given.splits))
    else:
        table(given.file)


if __name__ == "__main__":
    main()

"""Effective sample size of independent, sorted, autocorrelated and published tables.

    python benchmarks/effective_rows.py --data DIR > benchmarks/results/effective_rows.md

DIR has the folder ``real`` with published tables; the variable CYCLEARN_DATA names it as well.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from environment import describe_run

from cyclearn.data.effective_rows import Memory, autocorrelations
from cyclearn.data.sorted_rows import Order

SIZES = (30, 50, 100, 500, 3_000)
# So many tables of so many variables for each size.
TABLES = {3: 400, 10: 300, 30: 300}
NOISES: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "Gaussian": lambda rng, shape: rng.standard_normal(shape),
    "t₅": lambda rng, shape: rng.standard_t(5, shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
}
EXCHANGEABLE = ("abalone", "wine-red", "auto-mpg", "pima", "contraceptive")
AS_MEASURED = ("boston", "chickenpox", "airfoil", *EXCHANGEABLE)


def counted(rows: pd.DataFrame | np.ndarray) -> float:
    return Memory.of(np.asarray(rows, dtype=float)).n_effective


def mixed(rng: np.random.Generator, noise: np.ndarray) -> np.ndarray:
    """Rows of a random acyclic system with this noise."""
    p = noise.shape[1]
    return noise @ np.linalg.inv(np.eye(p) - np.triu(rng.normal(scale=0.5, size=(p, p)), 1))


def print_false_alarms() -> None:
    print(
        "**Independent rows.** The table shows in how many tables an autocorrelation is "
        "detected, of 1,000 per cell:\n"
    )
    print("| noise | " + " | ".join(f"n = {n:,}" for n in SIZES) + " |")
    print("|---|" + "---|" * len(SIZES))
    for name, noise in NOISES.items():
        alarms = []
        for n in SIZES:
            rng = np.random.default_rng(n)
            alarms.append(
                sum(
                    counted(mixed(rng, noise(rng, (n, p)))) < n
                    for p, times in TABLES.items()
                    for _ in range(times)
                )
            )
        print(f"| {name} | " + " | ".join(map(str, alarms)) + " |")


def bent(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Exchangeable rows with bent relations and noise that grows."""
    x = rng.standard_normal(n)
    y = np.exp(x) + (0.2 + 0.3 * np.abs(x)) * rng.standard_normal(n)
    z = x**2 - 0.5 * y + rng.standard_t(5, n)
    w = rng.exponential(size=n) + 0.5 * z
    return pd.DataFrame({"x": x, "y": y, "z": z, "w": w, "rounded": np.round(w + x, 1)})


def exchangeable(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Fifty tables: simulated ones, and measured ones in random order."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        yield "simulated", bent(rng, int(rng.choice([60, 200, 1_000, 5_000])))
    for name in EXCHANGEABLE:
        table = pd.read_csv(folder / f"{name}.txt", sep=r"\s+")
        for seed in range(5):
            yield name, table.sample(frac=1, random_state=seed, ignore_index=True)


def orders(rows: pd.DataFrame, rng: np.random.Generator) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "shuffled", rows
    for name in rows:
        yield "by one column", rows.sort_values(name, kind="stable")
        yield "by one column", rows.sort_values(name, kind="stable", ascending=False)
        other = rng.choice([each for each in rows if each != name])
        yield "by two columns", rows.sort_values([name, other], kind="stable")
    for values in (2, 5):
        for name in rows:
            # Ties are broken at random.
            places = np.argsort(np.lexsort((rng.random(len(rows)), rows[name])))
            blocks = places * values // len(rows)
            # In any order of the blocks.
            wide = rows.assign(block=rng.permutation(values)[blocks])
            order = np.argsort(rng.permutation(values)[wide["block"]], kind="stable")
            yield f"blocks of {values} values", wide.iloc[order]
            if values == 5:
                two = wide.assign(half=(rows[name] + rows.iloc[:, 0]).rank() > len(rows) / 2)
                yield "by blocks, then a column", two.sort_values(["half", "block", name])


def print_orders(folder: Path) -> None:
    found = []
    for table, rows in exchangeable(folder):
        rng = np.random.default_rng(len(found))
        for order, arranged in orders(rows, rng):
            share = counted(arranged) / len(rows)
            found.append({"table": table, "order": order, "share": share})
    frame = pd.DataFrame(found)
    print(
        "\n**Exchangeable rows.** There are 50 tables: 25 simulated, and five measured ones "
        "shuffled five times each. The table shows the number\nof arrangements, how many of them "
        "have a reduced effective sample size, and the smallest ratio of this size to the number "
        "of rows.\n"
    )
    print("| order | arrangements | reduced | smallest ratio |\n|---|---|---|---|")
    for order, part in frame.groupby("order", sort=False):
        fewer = int((part["share"] < 1).sum())
        print(f"| {order} | {len(part):,} | {fewer} | {part['share'].min():.3f} |")
    fewer = frame[frame["share"] < 1]
    if len(fewer):
        print(
            "\nArrangements with a reduced effective sample size:",
            ", ".join(sorted(set(fewer["table"]))),
        )


def remembering(rng: np.random.Generator, n: int, memory: float) -> np.ndarray:
    rows = rng.standard_normal((n, 5))
    for t in range(1, n):
        rows[t] = memory * rows[t - 1] + np.sqrt(1 - memory**2) * rows[t]
    return rows


def print_memory() -> None:
    print(
        "\n**AR(1) rows** of five columns, with 100 tables per line. The table compares the median "
        "effective sample size with Bartlett's formula,\nalso with a column that counts years, "
        "with a tenth of the years missing, and with irregular times.\n"
    )
    print("| n | autocorrelation | formula | median | with years | with gaps | irregular times |")
    print("|---|---|---|---|---|---|---|")
    for n in (100, 300, 1_000):
        for memory in (0.5, 0.7, 0.9):
            rng = np.random.default_rng([n, round(10 * memory)])
            columns: list[list[float]] = []
            for _ in range(100):
                rows, time = remembering(rng, n, memory), np.arange(n)
                kept = rng.random(n) < 0.9
                random = np.cumsum(rng.exponential(size=n))
                tables = (
                    rows,
                    np.column_stack([rows, time]),
                    np.column_stack([rows, time])[kept],
                    np.column_stack([rows, random]),
                )
                columns.append([n * counted(table) / len(table) for table in tables])
            formula = n * (1 - memory**2) / (1 + memory**2)
            medians = " | ".join(f"{value:.0f}" for value in np.median(columns, axis=0))
            print(f"| {n:,} | {memory} | {formula:.0f} | {medians} |")


def print_measured(folder: Path) -> None:
    print("\n**Published tables**, with the rows in the order of their files:\n")
    print("| table | rows | effective sample size | sorted by |\n|---|---|---|---|")
    for name in AS_MEASURED:
        table = pd.read_csv(folder / f"{name}.txt", sep=r"\s+")
        X = table.to_numpy(dtype=float)
        by = ", ".join(table.columns[Order.of(X).is_sorted]) or "none"
        print(f"| {name} | {len(X):,} | {counted(X):,.0f} | {by} |")


def print_cost() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 20))
    print(
        "\n**Cost.** The table shows CPU seconds for 100,000 rows of 20 columns (the best of three "
        "runs). Earlier versions computed only the\nautocorrelations:\n\n| rows | CPU seconds |"
    )
    print("|---|---|")
    sorted_rows = X[X[:, 0].argsort()]
    tasks: dict[str, Callable[[], object]] = {
        "in random order": lambda: counted(X),
        "sorted": lambda: counted(sorted_rows),
        "autocorrelations only": lambda: autocorrelations(X),
    }
    for name, task in tasks.items():
        times = []
        for _ in range(3):
            begun = process_time()
            task()
            times.append(process_time() - begun)
        print(f"| {name} | {min(times):.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("CYCLEARN_DATA"))
    folder = Path(parser.parse_args().data) / "real"
    print("# Effective sample size\n")
    print(describe_run("benchmarks/effective_rows.py"))
    print_false_alarms()
    print_orders(folder)
    print_memory()
    print_measured(folder)
    print_cost()


if __name__ == "__main__":
    main()

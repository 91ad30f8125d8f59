"""Calibration of the bootstrap on a simulated network with feedback (Sanchez-Romero et al. 2019).

Of the statements that came out in about a share x of the resamples, the share that is true. The
data are public (doi 10.1162/netn_a_00061); name the folder that holds ``feedback/`` by ``--data``
or by the variable CYCLEARN_DATA.

    python benchmarks/bootstrap_calibration.py --data DIR \
        > benchmarks/results/bootstrap_calibration.md
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from environment import describe_run

from cyclearn import bootstrap, equivalence_class, read_graph
from cyclearn.classes import class_statements
from cyclearn.data import read_table

BINS = [0.0, 1e-9, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0 - 1e-9, 1.0]
HEADS = ["0", "to 0.1", "to 0.3", "to 0.5", "to 0.7", "to 0.9", "below 1", "1"]
KINDS = {"rows": "all rows, with replacement", "half": "half of the rows, without replacement"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("CYCLEARN_DATA"))
    parser.add_argument("--network", default="Network5_amp")
    parser.add_argument("--resamples", type=int, default=50)
    arguments = parser.parse_args()
    folder = Path(arguments.data or ".") / "feedback" / arguments.network
    if not folder.is_dir():
        sys.exit("name the folder that holds feedback/ by --data or CYCLEARN_DATA")
    truth = read_graph(folder / "truth.graph.txt")
    true = class_statements(equivalence_class(truth))
    off_diagonal = ~np.eye(truth.n_nodes, dtype=bool)
    upper = np.triu(off_diagonal)
    paths = sorted(folder.glob("sim-*.txt"))
    tables = [read_table(path)[list(truth.names)] for path in paths]
    memory = np.mean([table[name].autocorr(1) for table in tables for name in table])
    print("# Calibration of the bootstrap\n")
    print(describe_run("benchmarks/bootstrap_calibration.py --data DIR"))
    print(
        f"The network {arguments.network} has {truth.n_nodes} nodes, {truth.n_edges} edges and "
        f"{equivalence_class(truth).size} members in the class of the true graph. There are "
        f"{len(paths)} data sets of 500 rows, with {arguments.resamples} resamples of each and one "
        "start per search. "
        "The tables show, for each kind of statement and each range of its frequency, the "
        "share of these statements that hold for the true class and, in brackets, their number "
        "over all data sets. Frequencies are calibrated if this share lies within the range. "
        f"The data are time series with an autocorrelation of {memory:.2f} from one row to the "
        "next on average, so resampling rows as if they were independent overstates "
        "certainty.\n"
    )
    for kind, title in KINDS.items():
        seen: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        n_edges = []
        for table in tables:
            found = bootstrap(
                table,
                arguments.resamples,
                resampling=kind,
                n_starts=1,
            )
            n_edges += [graph.n_edges for graph in found.graphs]
            for name, frequencies, holds, where in (
                ("edge in the learned graph: in some true member",
                 found.edge_frequencies, true.possible, off_diagonal),
                ("edge in some member: in some true member",
                 found.possible_frequencies, true.possible, off_diagonal),
                ("edge in every member: in every true member",
                 found.compelled_frequencies, true.compelled, off_diagonal),
                ("joined in every member: joined in every true member",
                 found.always_adjacent_frequencies, true.always_adjacent, upper),
            ):  # fmt: skip
                seen.setdefault(name, []).append((frequencies[where], holds[where]))
        print(f"## Resamples: {title}\n")
        print(f"Learned graphs have {np.mean(n_edges):.1f} edges on average.\n")
        print("| frequency | " + " | ".join(HEADS) + " |")
        print("|---|" + "---|" * len(HEADS))
        for name, pieces in seen.items():
            frequencies, holds = (np.concatenate(each) for each in zip(*pieces, strict=True))
            place = np.searchsorted(BINS[1:-1], frequencies, side="right")
            cells = []
            for n in range(len(HEADS)):
                inside = place == n
                share = f"{holds[inside].mean():.2f} ({inside.sum()})" if inside.any() else "–"
                cells.append(share)
            print(f"| {name} | " + " | ".join(cells) + " |")
        print(flush=True)


if __name__ == "__main__":
    main()

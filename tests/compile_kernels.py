"""Compile the kernels once, on two cores, before many processes would each compile them all.

python tests/compile_kernels.py
"""

import subprocess
import sys

import numpy as np

import cyclearn as cl

ROWS = np.random.default_rng(0).standard_normal((200, 4)) @ (np.eye(4) + 0.5 * np.eye(4, k=1))
LOOP = cl.DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])


def searching():
    for method in ("auto", "tabu", "exact"):
        cl.learn(ROWS, method=method)


def the_rest():
    cl.fit(LOOP, ROWS)
    cl.posterior(ROWS, n_samples=100, time_limit=5)
    holes = np.where(np.random.default_rng(1).random(ROWS.shape) < 0.1, np.nan, ROWS)
    cl.fit(LOOP, holes, missing="em")
    cl.fit(LOOP, [ROWS, ROWS + 1], interventions=[[], ["X1"]])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        {"searching": searching, "the_rest": the_rest}[sys.argv[1]]()
    else:
        parts = [
            subprocess.Popen([sys.executable, "-W", "ignore", __file__, part])
            for part in ("searching", "the_rest")
        ]
        sys.exit(max(part.wait() for part in parts))

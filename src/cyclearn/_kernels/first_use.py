"""The first search on a machine: its kernels are compiled by two processes at once.

Compiled code is kept on disk, function by function, and found there by every process. The first
time, when none is there, a second process compiles the functions that list and propose moves,
while this one compiles the fit; what calls both follows when the second is done. Without a second
process all is compiled here, which takes longer and gives the same.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path

import numpy as np
from numba.core import config

from cyclearn._kernels import annealing, component_fit, component_scores, neighbourhood, proposals
from cyclearn._kernels.component_information import expected_information
from cyclearn._kernels.virtual_edges import virtual_edge_moves


def compile_for_search() -> None:
    """Compile the kernels of the search, unless the disk has them."""
    may_start = bool(sys.executable) and not getattr(sys, "frozen", False)
    if not may_start or multiprocessing.parent_process() is not None or not _is_first_use():
        return
    try:
        second = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return
    with second:
        _compile_fit()


def _is_first_use() -> bool:
    """Whether the disk has no compiled fit that is as new as its source."""
    if getattr(config, "DISABLE_JIT", False):
        return False
    folder = component_fit.fit_component.stats.cache_path
    if folder is None:
        return False
    source = Path(component_fit.__file__)
    compiled = Path(folder).glob(f"{source.stem}.fit_component-*.nbi")
    return all(index.stat().st_mtime < source.stat().st_mtime for index in compiled)


def _small_graph() -> component_scores.Scored:
    """A cycle of two nodes; the types of its arrays are what matters."""
    return component_scores.Scored(
        np.eye(2),
        1 - np.eye(2, dtype=np.uint8),
        np.array([[1, 2], [4, 8]], np.uint64),
        np.zeros(16, np.uint64),
        np.empty(16),
        np.empty(16, np.uint8),
        np.zeros(1, np.int64),
    )


def _compile_fit() -> None:
    room = np.zeros(2, np.int64), np.empty(2), np.empty(2, np.uint8)
    component_scores.region_values(_small_graph(), np.arange(2), *room, 2)
    cycle = np.arange(2), np.arange(3), np.array([1, 0])
    expected_information(np.eye(2), *cycle, np.zeros(2), np.ones(2))


def _compile_moves() -> None:
    graph = _small_graph()
    allowed = np.ones((2, 2), np.uint8)
    state = neighbourhood.state_of(graph, np.zeros(2, np.int64), np.zeros(2))
    # A number that leaves compiled code forgets its type.
    state = state._replace(graph_key=np.uint64(state.graph_key))
    rules = neighbourhood.Rules(
        allowed, allowed, np.empty(0, np.uint64), 1.0, 2, 2, 2, np.zeros(1, np.int64)
    )
    virtual, sizes = virtual_edge_moves(graph.A, 2)
    moves = neighbourhood.Moves(
        np.empty((9, virtual.shape[1], 2), np.int64),
        np.empty(9, np.int64),
        np.empty(9),
        np.empty(9),
        np.empty(9, np.uint8),
    )
    n = neighbourhood._list_edges(graph, state, rules, moves)
    neighbourhood._list_virtual_edges(graph, state, rules, virtual, sizes, moves, n)
    neighbourhood._next_move(moves, n, False)
    walk = proposals.new_walk(2, 1)
    proposals.propose(graph.A, walk, np.arange(2))
    annealing._is_allowed(graph.A, walk, allowed, allowed, 2)
    annealing._touched(graph.A, walk)
    annealing._apply(graph.A, walk)
    annealing._node_value(graph, np.zeros(1, np.int64))


if __name__ == "__main__":
    _compile_moves()

"""``cyclearn compile``: compile for this machine now, so that no later call has to."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np

from cyclearn.cli.output import say
from cyclearn.graphs import DirectedGraph

_LOOP = DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])


def compile_kernels() -> None:
    """Compile the code for this processor, so that later commands start at once."""
    from joblib import Parallel, delayed

    say("Compiling for this processor on two cores; this takes a minute or two …")
    begin = perf_counter()
    with Parallel(n_jobs=2) as on_two_cores:
        # In this order no two at the same time need what is not compiled yet.
        for both in ((_fit, _order), (_search, _sample)):
            on_two_cores(delayed(_quietly)(task) for task in both)
    say(
        f"Done after {perf_counter() - begin:.0f} s; searches and fits now start without compiling."
    )


def _quietly(task: Callable[[], None]) -> None:
    with warnings.catch_warnings():
        # A few rows of noise are not to be warned of.
        warnings.simplefilter("ignore")
        task()


def _rows() -> np.ndarray:
    chain = np.eye(4) + 0.5 * np.eye(4, k=1)
    return np.random.default_rng(0).standard_normal((200, 4)) @ chain


def _fit() -> None:
    from cyclearn.data import as_moments
    from cyclearn.models import fit
    from cyclearn.models.correlated_noise import fit_correlated

    fit(_LOOP, _rows())
    fit_correlated(_LOOP, as_moments(_rows()), [(_LOOP.names[0], _LOOP.names[3])])


def _order() -> None:
    from cyclearn.search.orders import best_acyclic
    from cyclearn.search.runs import Budget
    from cyclearn.search.score import GraphScore, SearchLimits

    score = GraphScore(np.corrcoef(_rows().T), 0.01, SearchLimits(4, 3, 12, 0))
    every, none = ~np.eye(4, dtype=bool), np.zeros((4, 4), dtype=bool)
    best_acyclic(score, every, none, seed=0, n_exchanges=1, budget=Budget())


def _search() -> None:
    from cyclearn.learning import learn

    for method in ("auto", "tabu", "exact"):
        learn(_rows(), method=method)


def _sample() -> None:
    from cyclearn.models import fit
    from cyclearn.posterior.posterior import posterior

    rows = _rows()
    posterior(rows, n_samples=100, time_limit=5)
    rows_with_holes = np.where(np.random.default_rng(1).random(rows.shape) < 0.1, np.nan, rows)
    fit(_LOOP, rows_with_holes, missing="em")
    fit(_LOOP, [rows, rows + 1], interventions=[[], ["X1"]])

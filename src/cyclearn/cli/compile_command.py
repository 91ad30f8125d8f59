"""``cyclearn compile``: compile for this machine in advance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Annotated

import numpy as np
import typer

from cyclearn._kernels.compilation import compile_for_this_processor
from cyclearn.cli.output import say
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph

_LOOP = DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])


def compile_kernels(
    first: Annotated[
        bool, typer.Option("--first", help="Only what learn, fit, posterior and report need.")
    ] = False,
) -> None:
    """Compile the code for this processor, so that later commands start at once."""
    from joblib import Parallel, delayed

    say("Compiling for this processor on two cores; this takes a minute or two …")
    begin = perf_counter()
    # This order avoids that two processes compile the same code.
    rounds = [([_order, _search], [_fit]), ([_sample], [] if first else [_exact, _several])]
    with Parallel(n_jobs=2) as on_two_cores:
        for both in rounds:
            on_two_cores(delayed(_quietly)(tasks) for tasks in both)
    what = "the rest compiles on first use" if first else "searches and fits now start at once"
    say(f"Done after {perf_counter() - begin:.0f} s; {what}.")


def _quietly(tasks: Sequence[Callable[[], None]]) -> None:
    compile_for_this_processor()
    with warnings.catch_warnings():
        # No warnings about these few rows of noise.
        warnings.simplefilter("ignore")
        for task in tasks:
            task()


def _rows() -> np.ndarray:
    chain = np.eye(4) + 0.5 * np.eye(4, k=1)
    return np.random.default_rng(0).standard_normal((200, 4)) @ chain


def _fit() -> None:
    from cyclearn.data import as_moments
    from cyclearn.models import fit
    from cyclearn.models.correlated_noise import fit_correlated

    rows = _rows()
    fit(_LOOP, rows).summary()
    fit_correlated(_LOOP, as_moments(rows), [(_LOOP.names[0], _LOOP.names[3])])


def _order() -> None:
    from cyclearn.search.orders import best_acyclic
    from cyclearn.search.runs import Budget
    from cyclearn.search.score import GraphScore, SearchLimits

    score = GraphScore(np.corrcoef(_rows().T), 0.01, SearchLimits(4, 3, 12, 0))
    every, none = ~np.eye(4, dtype=bool), np.zeros((4, 4), dtype=bool)
    # Some of these limits end in the middle of an exchange.
    for most in range(1, 100):
        budget = Budget(max_evaluations=most)
        best_acyclic(score, every, none, seed=0, n_exchanges=5, budget=budget)


def _search() -> None:
    from cyclearn.learning import learn

    learn(_rows())
    learn(_rows(), method="tabu")


def _sample() -> None:
    from cyclearn.posterior.posterior import posterior

    posterior(_rows(), n_samples=100, time_limit=5)


def _exact() -> None:
    from cyclearn.learning import learn

    learn(_rows(), method="exact")


def _several() -> None:
    from cyclearn.models import fit
    from cyclearn.models.components import ComponentColumns, raise_collinear

    rows = _rows()
    fit(_LOOP, [rows, rows + 1], interventions=[[], ["X1"]])
    rows_with_holes = np.where(np.random.default_rng(1).random(rows.shape) < 0.1, np.nan, rows)
    fit(_LOOP, rows_with_holes, missing="em")
    with suppress(InputError):
        raise_collinear(np.eye(4), ComponentColumns.of(_LOOP.adjacency, range(4)))

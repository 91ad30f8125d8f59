"""The number of rows a graph needs: simulate tables, learn from each, compare with the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from cyclearn.classes import equivalence_class
from cyclearn.evaluation.structure import Features
from cyclearn.foundation.arguments import items, whole
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.learning.learn import learn
from cyclearn.models import LinearGaussianModel, random_model


def recovery(
    truth: LinearGaussianModel | DirectedGraph,
    rows: Sequence[int] = (100, 300, 1_000, 3_000, 10_000),
    *,
    n_repeats: int = 20,
    random_state: RandomState = 0,
    **options: Any,
) -> pd.DataFrame:
    """Simulate how much of a graph is learned from tables with given numbers of rows.

    Each repeat samples one table of the largest size and learns from its first rows.

    Parameters
    ----------
    truth : LinearGaussianModel or DirectedGraph
        The system to sample from. A graph gets random parameters in every repeat
        (:func:`random_model`).
    rows : sequence of int
        Numbers of rows to try.
    n_repeats : int
        Number of simulated tables.
    random_state : int, Generator, RandomState or None
    **options
        Options of :func:`cyclearn.learn`, such as ``penalty``.

    Returns
    -------
    DataFrame
        One row per number of rows: the share of repeats that found the true equivalence class
        (``class_found``), and the mean precision and recall of adjacencies, arrowheads and
        cycles against that class (:func:`cyclearn.metrics.structure_scores`).

    Examples
    --------
    >>> chain = LinearGaussianModel([[0, 0.3, 0], [0, 0, 0.3], [0, 0, 0]], [1, 1, 1])
    >>> recovery(chain, rows=[30, 3_000], n_repeats=4)["class_found"].tolist()
    [0.0, 1.0]
    """
    model = truth if isinstance(truth, LinearGaussianModel) else None
    graph = model.graph if model is not None else as_graph(truth, "truth")
    sizes = [whole("rows", size, 2) for size in items("rows", rows, "a list of whole numbers")]
    rng, members = generator(random_state), equivalence_class(graph)
    features, found = Features.of_class(members), []
    for _ in range(whole("n_repeats", n_repeats, 1)):
        drawn = model or random_model(graph, random_state=rng)
        table = drawn.sample(max(sizes), random_state=rng)
        for size in sizes:
            learned = learn(table[:size], **options).graph.reordered(graph.names)
            scores = features.scores(learned).by_name()
            found.append({"rows": size, "class_found": learned in members} | scores)
    return pd.DataFrame(found).set_index("rows").astype(float).groupby(level=0).mean()

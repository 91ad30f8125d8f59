"""How much of a graph is learned from how many rows."""

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.graphs import DirectedGraph
from cyclearn.models import LinearGaussianModel, random_model

CHAIN = LinearGaussianModel([[0, 0.3, 0], [0, 0, 0.3], [0, 0, 0]], [1, 1, 1])


def test_it_counts_what_learning_from_the_same_tables_gives():
    graph = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b")])
    found = cl.simulate.recovery(graph, [40, 400], n_repeats=3, random_state=5, n_starts=1)
    rng, expected = np.random.default_rng(5), []
    members = cl.equivalence_class(graph)
    for _ in range(3):
        table = random_model(graph, random_state=rng).sample(400, random_state=rng)
        for size in (40, 400):
            learned = cl.learn(table[:size], n_starts=1).graph
            pairs = cl.metrics.structure_scores(learned, members).adjacency
            expected.append((size, float(learned in members), pairs.precision, pairs.recall))
    columns = ["rows", "class_found", "adjacency_precision", "adjacency_recall"]
    means = pd.DataFrame(expected, columns=columns).groupby("rows").mean()
    pd.testing.assert_frame_equal(found[columns[1:]], means)


def test_more_rows_find_weak_edges():
    found = cl.simulate.recovery(CHAIN, [30, 3_000], n_repeats=4)
    assert found.loc[30, "adjacency_recall"] < found.loc[3_000, "adjacency_recall"] == 1


def test_options_reach_the_search():
    found = cl.simulate.recovery(CHAIN, [500], n_repeats=2, penalty=1e6)
    assert found.loc[500, "adjacency_recall"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"truth": "a b"}, "truth is of type str"),
        ({"truth": CHAIN, "rows": [1]}, "rows is 1"),
        ({"truth": CHAIN, "rows": "100"}, "rows is '100'"),
        ({"truth": CHAIN, "n_repeats": 0}, "n_repeats is 0"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(cl.InputError, match=message):
        cl.simulate.recovery(**arguments)

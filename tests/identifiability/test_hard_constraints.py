"""Hard constraints in words, generalised faithfulness, Assumption 1."""

from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

from cyclearn.classes.territories import is_reducible, territories
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph, random_graph
from cyclearn.identifiability import check_assumption_one, hard_constraints, is_faithful
from cyclearn.models import LinearGaussianModel, random_model


@pytest.mark.parametrize("seed", range(10))
def test_random_models_are_faithful(seed):
    graph = random_graph(5, max_component=5, random_state=seed)
    found = is_faithful(graph, random_model(graph, random_state=seed))
    assert found, found.explain()


def test_a_model_of_another_graph_breaks_constraints():
    chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    collider = DirectedGraph.from_edges([("a", "b"), ("c", "b")])
    found = is_faithful(chain, random_model(collider, random_state=0))
    assert [str(c) for c in found.violated] == ["a and c are independent given b: Θ[a, c] = 0"]
    assert [str(c) for c in found.extra] == ["a and c are independent: Σ[a, c] = 0"]


def test_covariances_and_models_are_matched_with_the_nodes():
    chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    model = random_model(DirectedGraph.from_edges(chain.edges, ["c", "a", "b"]), random_state=0)
    assert is_faithful(chain, model)
    assert not is_faithful(chain, model.covariance)
    with pytest.raises(InputError, match="2 columns and the graph 3 variables"):
        is_faithful(chain, np.eye(2))
    with pytest.raises(InputError, match="not symmetric"):
        is_faithful(chain, [[1, 0.5, 0], [0.2, 1, 0], [0, 0, 1]])
    with pytest.raises(InputError):
        is_faithful(chain, np.ones((3, 3)))
    with pytest.raises(InputError, match="tolerance=0"):
        is_faithful(chain, np.eye(3), tolerance=0)
    with pytest.raises(InputError, match="names"):
        is_faithful(chain, LinearGaussianModel(np.zeros((3, 3)), np.ones(3), ["x", "y", "z"]))


def test_constraints_of_the_complete_and_the_empty_graph():
    complete = DirectedGraph(np.triu(np.ones((4, 4)), 1))
    assert hard_constraints(complete) == ()
    empty = hard_constraints(DirectedGraph(np.zeros((3, 3))))
    assert [c.rows.bit_count() for c in empty] == [1, 1, 1]


def test_too_many_nodes():
    with pytest.raises(LimitError, match="12 nodes"):
        hard_constraints(DirectedGraph(np.zeros((12, 12))))


def test_assumption_one_is_proved_for_every_class_of_four_nodes():
    seen = set()
    for columns in combinations_with_replacement(range(1, 16), 4):
        order = next(
            (o for o in permutations(columns) if all(c >> j & 1 for j, c in enumerate(o))), None
        )
        key = territories(columns)
        if order is None or is_reducible(columns) or key in seen:
            continue
        seen.add(key)
        assert check_assumption_one(DirectedGraph.from_columns(order, tuple("abcd"))).holds
    assert len(seen) == 327


def test_the_graph_with_two_parameters_in_excess():
    columns = (0b1101, 0b0111, 0b1110, 0b1011)
    graph = DirectedGraph.from_columns(columns, tuple("abcd"))
    assert not graph.is_reducible()
    assert "full dimension 10" in check_assumption_one(graph).reason


def test_assumption_one_fails_on_five_nodes():
    """Four nodes with two parameters in excess and a sink: ten edges, dimension 13 of 15."""
    graph = DirectedGraph.from_columns((13, 11, 7, 14, 19), tuple("abcde"))
    assert (graph.n_edges, graph.dimension(), graph.is_reducible()) == (10, 13, False)
    assert check_assumption_one(graph).holds is False


def test_the_rules_remove_an_edge_in_excess():
    """Columns {a,b}, {a,c}, {a,b,d}, {a,c,e}, {a,b,c,d,e}: ten edges, one of them redundant."""
    graph = DirectedGraph.from_columns((3, 31, 5, 11, 21), tuple("abcde"))
    assert (graph.n_edges, graph.dimension(), graph.is_reducible()) == (10, 14, True)
    assert not is_reducible(graph.columns)
    assert check_assumption_one(graph).reason.startswith("dimension 14 = 9 edges")

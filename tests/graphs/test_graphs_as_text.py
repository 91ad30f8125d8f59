"""Calls that take a graph also take its edges as text, and refuse anything else by name."""

import pytest

import cyclearn as cl

CHAIN = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c")])
MODEL = cl.LinearGaussianModel([[0, 0.7, 0], [0, 0, 0.5], [0, 0, 0]], [1, 1, 1], CHAIN.names)
DATA = MODEL.sample(200, random_state=0)
CALLS = {
    "fit": lambda graph: cl.fit(graph, DATA).B.round(6).tolist(),
    "project": lambda graph: round(cl.project(graph, MODEL).kl_divergence, 9),
    "equivalent": lambda graph: bool(cl.equivalent(graph, CHAIN)),
    "equivalence_class": lambda graph: cl.equivalence_class(graph).size,
    "interventional class": lambda graph: cl.equivalence_class(graph, interventions=[["a"]]).size,
    "d_separated": lambda graph: cl.d_separated(graph, "a", "c", ["b"]),
    "shd": lambda graph: cl.metrics.shd(graph, CHAIN),
    "evaluate": lambda graph: cl.metrics.evaluate(graph, CHAIN).to_dict(),
    "virtual_edges": lambda graph: cl.virtual_edges(graph),
    "hard_constraints": lambda graph: cl.hard_constraints(graph),
    "random_model": lambda graph: cl.simulate.random_model(graph, random_state=0).B.tolist(),
}


@pytest.mark.parametrize("name", CALLS)
def test_edges_as_text_are_a_graph(name):
    assert CALLS[name]("a -> b, b -> c") == CALLS[name](CHAIN)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrong", ["a b", 3, {"a": ["b"]}], ids=str)
def test_anything_else_is_refused_by_name(name, wrong):
    with pytest.raises(cl.InputError, match="not a DirectedGraph; pass"):
        CALLS[name](wrong)

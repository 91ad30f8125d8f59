import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclearn import InputError, simulate


@given(
    st.integers(1, 15),
    st.integers(1, 5),
    st.one_of(st.none(), st.integers(1, 5)),
    st.one_of(st.none(), st.integers(1, 5)),
    st.integers(0, 10**6),
)
def test_limits_are_kept(p, degree, component, cycle, seed):
    g = simulate.random_graph(p, degree, component, cycle, random_state=seed)
    assert g.n_nodes == p
    adjacency = g.adjacency.astype(int)
    assert all(adjacency.sum(axis=0) + adjacency.sum(axis=1) <= degree)
    if component is not None:
        assert max(map(len, g.components)) <= component
    if cycle is not None:
        assert all(len(c) <= cycle for c in g.simple_cycles())
    assert g == simulate.random_graph(p, degree, component, cycle, random_state=seed)


def test_feedback_of_every_kind_occurs():
    graphs = [simulate.random_graph(8, max_component=4, random_state=s) for s in range(200)]
    lengths = {len(cycle) for g in graphs for cycle in g.simple_cycles()}
    assert lengths == {2, 3, 4}
    assert any(g.is_acyclic for g in graphs)
    degrees = {int(d) for g in graphs for d in g.adjacency.sum(0) + g.adjacency.sum(1)}
    assert degrees >= {1, 2, 3, 4}


@pytest.mark.parametrize(
    "arguments",
    [{"n_nodes": -1}, {"n_nodes": 3, "max_degree": 0}, {"n_nodes": 2.5}, {"n_nodes": True}],
)
def test_impossible_limits(arguments):
    with pytest.raises(InputError, match="whole number"):
        simulate.random_graph(**arguments)


@pytest.mark.parametrize("random_state", [-1, "x", 1.5])
def test_impossible_seeds(random_state):
    with pytest.raises(InputError, match="random_state is"):
        simulate.random_graph(5, random_state=random_state)

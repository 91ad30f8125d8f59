import naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cyclearn import DirectedGraph
from cyclearn.classes.dimension import rank_modulo
from strategies import dags, graphs, walks


@given(graphs(max_nodes=5), st.integers(0, 10**6))
def test_is_the_rank_of_the_jacobian(g, seed):
    assert g.dimension() == naive.jacobian_rank(g, np.random.default_rng(seed))


@given(walks())
def test_is_constant_on_a_class(pair):
    assert pair[0].dimension() == pair[1].dimension()


@given(dags())
def test_of_a_dag_counts_its_parameters(g):
    assert g.dimension() == g.n_edges + g.n_nodes


def test_irreducible_graphs_with_more_parameters_than_dimensions():
    """Five of the 327 classes on four nodes, one of them written out."""
    excess = [
        min(group, key=lambda g: g.n_edges)
        for group in naive.classes(4)
        if min(g.n_edges for g in group) + 4 > next(iter(group)).dimension()
    ]
    assert len(excess) == 5
    ring = DirectedGraph.from_columns((0b0111, 0b1011, 0b1101, 0b1110), ("a", "b", "c", "d"))
    assert (ring.n_edges + 4, ring.dimension(), ring.is_reducible()) == (12, 10, False)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 10**6))
def test_rank_modulo_a_prime(n, r, seed):
    rng = np.random.default_rng(seed)
    low = rng.integers(-5, 6, size=(n, r)) @ rng.integers(-5, 6, size=(r, n + 1))
    assert rank_modulo(low, 2_147_483_647) == np.linalg.matrix_rank(low)


def test_the_dimension_of_a_long_cycle_counts_its_parameters():
    """With few edges the Jacobian is smaller than the equations for rotations."""
    p = 20
    cycle = DirectedGraph.from_edges([(str(i), str((i + 1) % p)) for i in range(p)])
    assert cycle.dimension() == 2 * p


def test_the_dimension_of_a_complete_graph_is_that_of_all_covariances():
    p = 60
    everything = DirectedGraph(~np.eye(p, dtype=bool))
    assert everything.dimension() == p * (p + 1) // 2


def test_a_rank_is_not_sought_beyond_its_bound():
    assert rank_modulo(np.eye(4, dtype=np.int64), 7, bound=2) == 2
    assert rank_modulo(np.eye(4, dtype=np.int64), 7, bound=0) == 0

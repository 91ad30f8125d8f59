from itertools import permutations, product

import naive_likelihood as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclearn.data import Moments, as_moments
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.models import FitStatus, LinearGaussianModel, fit, project, random_model
from cyclearn.models.components import component_columns

TRIANGLE = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
FED_CYCLE = DirectedGraph.from_edges(
    [("e", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "f")]
)


def cycle(k):
    return DirectedGraph.from_edges([(i, (i + 1) % k) for i in range(k)])


def gain(B):
    k = len(B)
    return np.prod([B[i, (i + 1) % k] for i in range(k)])


def test_acyclic_graphs_are_least_squares():
    rng = np.random.default_rng(0)
    for _ in range(10):
        p = 6
        order = rng.permutation(p)
        adjacency = np.triu(rng.random((p, p)) < 0.5, 1)[np.ix_(order, order)]
        X = rng.standard_normal((80, p)) @ rng.standard_normal((p, p)) + 3
        fitted = fit(DirectedGraph(adjacency), X)
        Y = X - X.mean(0)
        for j in range(p):
            parents = np.flatnonzero(adjacency[:, j])
            b, *_ = np.linalg.lstsq(Y[:, parents], Y[:, j], rcond=None)
            np.testing.assert_allclose(fitted.B[parents, j], b, rtol=1e-9, atol=1e-11)
            residual = ((Y[:, j] - Y[:, parents] @ b) ** 2).mean()
            assert fitted.noise_variances[j] == pytest.approx(residual, rel=1e-9)
        assert fitted.status is FitStatus.CONVERGED
        assert fitted.log_likelihood == pytest.approx(fitted.model.log_likelihood(X), rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_truth_is_recovered_from_its_own_covariance(seed):
    truth = random_model(FED_CYCLE, random_state=seed)
    fitted = fit(FED_CYCLE, Moments(truth.covariance, 1000, names=truth.names))
    np.testing.assert_allclose(fitted.B, truth.B, atol=1e-6)
    np.testing.assert_allclose(fitted.noise_variances, truth.noise_variances, rtol=1e-6)
    assert fitted.converged
    assert fitted.alternatives == ()


@pytest.mark.parametrize("k", [3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(8))
def test_a_chordless_cycle_has_two_solutions_with_inverse_gains(k, seed):
    truth = random_model(cycle(k), random_state=seed)
    fitted = fit(cycle(k), Moments(truth.covariance, 1000))
    assert fitted.is_stable
    np.testing.assert_allclose(fitted.B, truth.B, atol=1e-5)
    assert len(fitted.alternatives) == 1
    other = fitted.alternatives[0]
    assert not other.is_stable
    assert gain(fitted.B) * gain(other.B) == pytest.approx(1, rel=1e-5)
    np.testing.assert_allclose(other.covariance, fitted.covariance, rtol=1e-5, atol=1e-6)


def test_two_cycles_report_one_alternative_each():
    edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    graph = DirectedGraph.from_edges(edges)
    fitted = fit(graph, random_model(graph, random_state=0).sample(500, random_state=0))
    assert len(fitted.alternatives) == 2
    data = fitted.moments
    for other in fitted.alternatives:
        assert other.log_likelihood(data) == pytest.approx(fitted.log_likelihood, abs=1e-4)


def test_an_outside_parent_makes_the_solution_unique():
    fitted = fit(FED_CYCLE, random_model(FED_CYCLE, random_state=1).sample(2000, random_state=2))
    assert fitted.alternatives == ()


def test_a_best_fit_on_the_boundary_is_named():
    complete = DirectedGraph.from_edges([("a", "b"), ("a", "c"), ("b", "c")])
    outside = 0
    for seed in range(40):
        truth = random_model(complete, random_state=seed)
        fitted = fit(TRIANGLE, Moments(truth.covariance, 1000, names=truth.names))
        distance = project(TRIANGLE, truth).kl_divergence
        if distance > 1e-8:
            outside += 1
            assert fitted.status is FitStatus.BOUNDARY
            assert gain(fitted.B) == pytest.approx(-1, abs=1e-6)
            assert fitted.model.spectral_radius == pytest.approx(1, abs=1e-6)
            assert np.isnan(fitted.standard_errors[fitted.graph.adjacency]).any()
    assert outside >= 3


def test_a_supremum_at_infinity_is_named_and_the_turned_graph_fits():
    theta = np.array([[2.0, 0.5, 0.7], [0.5, 2.0, 0.0], [0.7, 0.0, 2.0]])
    moments = Moments(np.linalg.inv(theta), 1000)
    graph = DirectedGraph.from_edges([(0, 1), (1, 0), (2, 1)])
    turned = DirectedGraph.from_edges([(0, 1), (1, 0), (2, 0)])
    fitted = fit(graph, moments)
    assert fitted.status is FitStatus.AT_INFINITY
    assert not fitted.converged
    assert np.abs(fitted.B).max() > 1e4
    assert project(graph, moments).kl_divergence < 1e-10
    assert fit(turned, moments).status is FitStatus.CONVERGED
    assert project(turned, moments).kl_divergence < 1e-12
    assert np.isnan(fitted.standard_errors[0, 1])
    assert fitted.alternatives == ()
    assert "AT_INFINITY" in str(fitted)


def test_the_iteration_limit_is_reported():
    fitted = fit(FED_CYCLE, random_model(FED_CYCLE, random_state=0).sample(99), max_iterations=1)
    assert fitted.status is FitStatus.ITERATION_LIMIT
    assert not fitted.converged


@given(st.lists(st.floats(-8, 8), min_size=6, max_size=6), st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_scale_does_not_matter(exponents, seed):
    scale = 10.0 ** np.array(exponents)
    X = random_model(FED_CYCLE, random_state=seed).sample(300, random_state=seed)
    plain, scaled = fit(FED_CYCLE, X), fit(FED_CYCLE, X * scale)
    np.testing.assert_allclose(scaled.B * scale[:, None] / scale, plain.B, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(scaled.noise_variances / scale**2, plain.noise_variances, rtol=1e-6)
    shift = 300 * np.log(scale).sum()
    assert scaled.log_likelihood + shift == pytest.approx(plain.log_likelihood, rel=1e-7)
    np.testing.assert_allclose(scaled.summary()["z"], plain.summary()["z"], rtol=1e-5)


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_the_value_is_the_likelihood_of_the_estimate_and_below_the_saturated_one(seed):
    rng = np.random.default_rng(seed)
    adjacency = naive.random_cyclic_adjacency(rng, 4, 1, density=0.2)
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 5))
    fitted = fit(DirectedGraph(adjacency), X, n_effective="all")
    if fitted.status is FitStatus.AT_INFINITY:
        return
    S = np.cov(X.T, ddof=0)
    value = naive.negative_log_likelihood(fitted.B, fitted.noise_variances, S)
    expected = -60 * (value + 2.5 * np.log(2 * np.pi))
    assert fitted.log_likelihood == pytest.approx(expected, abs=1e-5)
    assert fitted.log_likelihood <= fitted.fit_indices.saturated_log_likelihood + 1e-7
    assert fitted.bic == pytest.approx(
        -2 * fitted.log_likelihood + np.log(60) * (adjacency.sum() + 5)
    )


def test_rows_in_any_order_and_columns_in_any_order_give_the_same_fit():
    X = random_model(FED_CYCLE, random_state=5).sample(200, random_state=5)
    turned = X[list(X.columns[::-1])].iloc[::-1]
    np.testing.assert_allclose(fit(FED_CYCLE, X).B, fit(FED_CYCLE, turned).B, atol=1e-8)
    np.testing.assert_allclose(fit(FED_CYCLE, X).B, fit(FED_CYCLE, X.to_numpy()).B, atol=1e-12)


def test_a_graph_in_the_place_of_the_data_is_noticed(tmp_path):
    table = random_model(TRIANGLE, random_state=0).sample(50, random_state=0)
    for data in (table, tmp_path / "data.csv", [table, table], table.to_numpy()):
        for graph in (TRIANGLE, "a -> b"):
            with pytest.raises(InputError, match=r"the graph comes first.*cl.fit\(graph, data\)"):
                fit(data, graph)
    with pytest.raises(InputError, match="first argument of fit, the graph, is of type DataFrame"):
        fit(table, table)


def test_names_that_do_not_match_are_an_error_that_names_them():
    X = random_model(FED_CYCLE, random_state=5).sample(200, random_state=5)
    with pytest.raises(InputError, match=r"not in the data: f.*not in the graph: g"):
        fit(FED_CYCLE, X.rename(columns={"f": "g"}))
    with pytest.raises(InputError, match="5 columns and the graph 6 variables"):
        fit(FED_CYCLE, X.to_numpy()[:, :5])


def test_fewer_samples_than_variables_work_until_a_node_has_too_many_parents():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 8))
    chain = DirectedGraph.from_edges([(i, i + 1) for i in range(7)] + [(1, 0)])
    fitted = fit(chain, X)
    assert np.isfinite(fitted.log_likelihood)
    assert "unavailable" in fitted.fit_indices.note
    assert np.isnan(fitted.fit_indices.chi_square)
    assert np.isfinite(fitted.bic)
    star = DirectedGraph.from_edges([(i, 7) for i in range(4)], n_nodes=8)
    with pytest.raises(InputError, match="'X8' has 4 parents, but there are only 5 samples"):
        fit(star, X)


def test_collinear_parents_in_few_samples_are_named():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 7))
    X[:, 2] = X[:, 0] + X[:, 1]
    graph = DirectedGraph.from_edges([(0, 3), (1, 3), (2, 3)], n_nodes=7)
    with pytest.raises(InputError, match="'X4' is an exact linear function of its parents X1"):
        fit(graph, X)


def test_the_same_seed_gives_the_same_fit_and_options_are_checked():
    X = random_model(FED_CYCLE, random_state=5).sample(200, random_state=5)
    first, second = (fit(FED_CYCLE, X, random_state=np.random.default_rng(3)) for _ in range(2))
    assert first.model == second.model
    with pytest.raises(InputError):
        fit(FED_CYCLE, X, n_starts=0)


def test_a_model_without_edges_and_a_single_variable():
    X = np.random.default_rng(0).standard_normal((20, 2))
    fitted = fit(DirectedGraph(np.zeros((2, 2))), X)
    np.testing.assert_allclose(fitted.noise_variances, X.var(axis=0))
    assert fitted.fit_indices.degrees_of_freedom == 1
    alone = fit(DirectedGraph([[0]]), X[:, :1])
    assert alone.fit_indices.degrees_of_freedom == 0
    assert isinstance(alone.model, LinearGaussianModel)


@pytest.mark.parametrize("spread", [1e-2, 1e-3, 1e-4])
def test_nearly_collinear_columns_are_not_mistaken_for_a_boundary(spread):
    graph = DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0), (3, 0), (4, 0)])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 1)) + spread * rng.standard_normal((500, 5))
    fitted = fit(graph, X)
    assert fitted.status is FitStatus.CONVERGED
    assert fitted.log_likelihood == pytest.approx(fitted.model.log_likelihood(X), abs=1e-3)


def test_fits_call_the_kernels_with_contiguous_arrays():
    singles, loops = component_columns(FED_CYCLE)
    for columns in (singles, *loops):
        for array in (columns.nodes, columns.offsets, columns.parents):
            assert array.flags.c_contiguous
            assert array.dtype == np.int64
    X = random_model(FED_CYCLE, random_state=5).sample(50, random_state=5)
    turned = X[list(X.columns[::-1])]
    assert fit(FED_CYCLE, turned).moments.correlation.flags.c_contiguous


def test_of_a_continuum_of_solutions_a_stable_one_is_found():
    pairs = list(permutations(range(3), 2))

    def graph(code):
        return DirectedGraph.from_edges(
            [e for n, e in enumerate(pairs) if code >> n & 1], n_nodes=3
        )

    loose = [c for c in range(64) if graph(c).n_edges + 3 > graph(c).dimension()]
    n_unstable = 0
    for seed, code in product((1, 3, 7), loose):
        rng = np.random.default_rng(seed)
        data = as_moments(rng.standard_normal((200, 3)) @ rng.standard_normal((3, 3)))
        fitted = fit(graph(code), data)
        if fitted.is_stable:
            continue
        n_unstable += 1
        # No graph with some of these edges reaches the same likelihood and is stable.
        for some in range(code):
            if not some & ~code:
                less = fit(graph(some), data)
                gap = fitted.log_likelihood - less.log_likelihood
                assert not (less.is_stable and gap < 1e-5)
    assert n_unstable < 10

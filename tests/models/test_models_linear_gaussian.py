import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph
from cyclearn.models import LinearGaussianModel, random_model

LOOP = LinearGaussianModel(
    [[0, 0.5, 0], [0, 0, 0.8], [-0.6, 0, 0]], [1.0, 2.0, 0.5], ["a", "b", "c"], mean=[1, -1, 2]
)
UNSTABLE = LinearGaussianModel([[0, 2.0], [2.0, 0]], [1.0, 1.0])
COMPLETE = DirectedGraph(1 - np.eye(4))


def test_covariance_precision_and_graph():
    M = np.linalg.inv(np.eye(3) - LOOP.B)
    np.testing.assert_allclose(LOOP.covariance, M.T @ np.diag([1, 2, 0.5]) @ M)
    np.testing.assert_allclose(LOOP.precision @ LOOP.covariance, np.eye(3), atol=1e-12)
    assert LOOP.graph == DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    assert LOOP.spectral_radius == pytest.approx(0.24 ** (1 / 3))
    assert LOOP.is_stable
    assert not UNSTABLE.is_stable
    assert "stable" in repr(LOOP)


def test_on_the_boundary_a_model_counts_as_unstable():
    gain = 1 - 1e-7
    model = LinearGaussianModel([[0, gain], [gain, 0]], [1.0, 1.0])
    assert not model.is_stable
    with pytest.raises(InputError, match="unstable"):
        model.total_effects()
    with pytest.raises(InputError, match="unstable"):
        model.do({})


def test_without_feedback_the_spectral_radius_is_exactly_zero():
    B = np.triu(np.full((8, 8), 100.0), 1)
    assert LinearGaussianModel(B, np.ones(8)).spectral_radius == 0


def test_samples_have_the_mean_and_covariance_and_follow_the_seed():
    X = LOOP.sample(200_000, random_state=0)
    assert list(X.columns) == ["a", "b", "c"]
    np.testing.assert_allclose(X.mean(), LOOP.mean, atol=0.02)
    np.testing.assert_allclose(X.cov(), LOOP.covariance, atol=0.05)
    assert LOOP.sample(5, 3).equals(LOOP.sample(5, 3))
    assert LOOP.sample(5, np.random.default_rng(3)).equals(LOOP.sample(5, 3))
    legacy = [LOOP.sample(5, np.random.RandomState(1)) for _ in range(2)]
    assert legacy[0].equals(legacy[1])
    with pytest.raises(InputError, match="at least 1"):
        LOOP.sample(0)


def test_log_likelihood_is_the_sum_of_normal_densities():
    from scipy.stats import multivariate_normal

    X = LOOP.sample(50, random_state=1)
    density = multivariate_normal(X.mean(), LOOP.covariance)
    assert LOOP.log_likelihood(X) == pytest.approx(density.logpdf(X).sum(), rel=1e-10)


def test_total_effects_sum_over_all_walks():
    effects = LOOP.total_effects()
    series = sum(np.linalg.matrix_power(LOOP.B, k) for k in range(200))
    np.testing.assert_allclose(effects, series, atol=1e-12)
    assert effects.loc["a", "b"] == pytest.approx(0.5 / (1 + 0.24))


def test_an_unstable_model_has_no_total_effects_unless_asked():
    with pytest.raises(InputError, match=r"unstable.*spectral radius 2.*allow_unstable"):
        UNSTABLE.total_effects()
    np.testing.assert_allclose(
        UNSTABLE.total_effects(allow_unstable=True), np.linalg.inv(np.eye(2) - UNSTABLE.B)
    )


def test_do_cuts_the_causes_of_a_variable():
    after = LOOP.do({"a": 3.0})
    # a = 3, b = c_b + 0.5 a + N_b, c = c_c + 0.8 b + N_c with the intercepts of the model.
    intercepts = LOOP.mean - LOOP.mean @ LOOP.B
    b = intercepts[1] + 1.5
    np.testing.assert_allclose(after.mean, [3, b, intercepts[2] + 0.8 * b])
    np.testing.assert_allclose(after.covariance[1:, 1:], [[2, 1.6], [1.6, 0.64 * 2 + 0.5]])
    assert not after.covariance[0].any()
    np.testing.assert_allclose(LOOP.do({}).covariance, LOOP.covariance)
    np.testing.assert_allclose(LOOP.do({}).mean, LOOP.mean)


def test_do_may_stabilise_and_refuses_what_does_not_settle():
    np.testing.assert_allclose(UNSTABLE.do({"X1": 1.0}).mean, [1, 2])
    with pytest.raises(InputError, match="there is no equilibrium"):
        UNSTABLE.do({})
    assert UNSTABLE.do({}, allow_unstable=True).mean.shape == (2,)
    with pytest.raises(InputError, match="no node 'z'"):
        LOOP.do({"z": 1.0})
    with pytest.raises(InputError, match="finite"):
        LOOP.do({"a": np.inf})


def test_json_round_trip_is_exact():
    model = random_model(COMPLETE, random_state=7)
    assert LinearGaussianModel.from_json(model.to_json()) == model
    assert hash(LinearGaussianModel.from_json(model.to_json())) == hash(model)
    assert pickle.loads(pickle.dumps(LOOP)) == LOOP
    assert model != LOOP
    assert model != 3


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("[]", "a model is"),
        ("{", "not valid JSON"),
        ('{"nodes": ["a"], "edges": [["a"]], "noise_variances": [1]}', "not an edge"),
        ('{"nodes": ["a"], "edges": [["a", "b", 1]], "noise_variances": [1]}', "no node 'b'"),
        ('{"nodes": ["a"], "edges": [], "noise_variances": [1], "schema": 9}', "schema 9"),
    ],
)
def test_bad_json(record, message):
    with pytest.raises(InputError, match=message):
        LinearGaussianModel.from_json(record)


@pytest.mark.parametrize(
    ("B", "variances", "message"),
    [
        ([[0, 1, 0], [0, 0, 1]], [1, 1], "square"),
        ([[0.5, 1], [0, 0]], [1, 1], "'X1' to itself"),
        ([[0, np.nan], [0, 0]], [1, 1], "missing"),
        ([[0, 1], [0, 0]], [1, 0], "'X2' is 0"),
        ([[0, 1], [0, 0]], [1], "shape"),
        ([[0, 1], [0, 0]], [1, np.inf], "'X2' is not finite"),
    ],
)
def test_bad_parameters(B, variances, message):
    with pytest.raises(InputError, match=message):
        LinearGaussianModel(B, variances)


def test_a_loop_of_gain_one_has_no_distribution():
    with pytest.raises(InputError, match="singular"):
        _ = LinearGaussianModel([[0, 1.0], [1.0, 0]], [1, 1]).covariance


def test_models_are_immutable():
    with pytest.raises(AttributeError, match="immutable"):
        LOOP.B = np.zeros((3, 3))
    with pytest.raises(ValueError, match="read-only"):
        LOOP.B[0, 1] = 2


@given(st.integers(0, 2**31))
@settings(max_examples=50, deadline=None)
def test_random_models_are_stable_and_in_range(seed):
    model = random_model(COMPLETE, random_state=seed)
    weights = np.abs(model.B[COMPLETE.adjacency])
    assert model.is_stable
    assert ((weights >= 0.2) & (weights <= 0.8)).all()
    assert ((model.noise_variances >= 1) & (model.noise_variances <= 3)).all()
    assert model == random_model(COMPLETE, random_state=seed)


def test_random_models_draw_both_signs_and_may_be_unstable():
    signs = np.sign(random_model(COMPLETE, random_state=0).B[COMPLETE.adjacency])
    assert set(signs) == {-1.0, 1.0}
    radii = [
        random_model(COMPLETE, stable=False, random_state=s).spectral_radius for s in range(30)
    ]
    assert max(radii) > 1


def test_a_hopeless_draw_is_reported():
    with pytest.raises(LimitError, match=r"none of 50 draws.*smaller weights"):
        random_model(COMPLETE, weights=(5, 6), max_draws=50, random_state=0)
    for bad in ({"weights": (0.8, 0.2)}, {"variances": (0, 1)}, {"max_draws": 0}):
        with pytest.raises(InputError):
            random_model(COMPLETE, **bad)


def test_a_graph_is_no_weight_matrix():
    graph = DirectedGraph.from_edges([(0, 1)])
    with pytest.raises(InputError, match="weight matrix B has shape"):
        LinearGaussianModel(graph, [1.0, 1.0])

"""Robust errors and tests, indirect effects, weights and subjects: lavaan's numbers and promises.

Numbers are those of lavaan 0.6-14 for the same table: errors of ``estimator = "MLR"``, the test of
``"MLM"``, score tests of ``lavTestScore``.
"""

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.models.syntax import lavaan_syntax

B = np.array([[0, 0.7, 0, 0], [0, 0, 0.5, 0], [0, -0.4, 0, 0.6], [0, 0, 0, 0]])
GRAPH = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])
EDGES = ["a -> b", "c -> b", "b -> c", "c -> d"]


def tables():
    rng = np.random.default_rng(0)
    noise = rng.standard_t(5, size=(300, 4))
    plain = pd.DataFrame(noise @ np.linalg.inv(np.eye(4) - B), columns=list("abcd"))
    weighted = plain.assign(weight=rng.uniform(0.2, 3, 300))
    return plain, weighted, plain.mask(rng.random((300, 4)) < 0.1)


PLAIN, WEIGHTED, HOLES = tables()


def fitted(table, **reading):
    return cl.fit(GRAPH, table, **({"n_effective": "all", "se": "robust"} | reading))


def about(value):
    return pytest.approx(value, rel=1e-4)


def test_errors_and_test_are_those_of_lavaan():
    model = fitted(PLAIN)
    errors = model.summary()["std_error"]
    assert list(errors[EDGES]) == about([0.062260069, 0.131260805, 0.082608129, 0.063268641])
    variances = [f"var({name})" for name in "abcd"]
    assert list(errors[variances]) == about([0.233535665, 0.202261649, 0.128716304, 0.192106442])
    assert model.robust_standard_errors[0, 1] == about(0.062260069)
    indices = model.fit_indices
    assert indices.chi_square == about(3.38488574)
    assert indices.scaling == about(1.03180534)
    assert indices.p_value == about(0.18406932)
    assert (indices.rmsea, indices.cfi, indices.tli) == about((0.04880117, 0.99241592, 0.97724776))


def test_indirect_effects_are_those_of_lavaan():
    table = fitted(PLAIN).indirect_effects("a", "d")
    assert list(table.index) == ["total", "direct", "indirect", "a -> b -> c -> d"]
    assert table.loc["total", "estimate"] == about(0.12979690)
    assert table.loc["indirect", "std_error"] == about(0.028991841)
    path = table.loc["a -> b -> c -> d"]
    assert (path["estimate"], path["std_error"]) == about((0.14696474, 0.040986311))
    assert table.loc["direct", "estimate"] == 0


def test_effects_of_what_is_not_identified_have_no_error():
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("b", "a"), ("b", "c")])
    model = cl.fit(graph, cl.Moments(np.eye(3) + 0.3, 200, names=list("abc")))
    table = model.indirect_effects("a", "c")
    assert np.isnan(table.loc["total", "std_error"])


def test_correlated_noises_are_tested_as_by_lavaan():
    table = fitted(PLAIN).modification_indices().set_index(["change", "source", "target"])
    for (source, target), value in {"bd": 0.040477782, "ad": 3.4715033, "cd": 0.96398427}.items():
        assert table.loc[("correlate", source, target), "index"] == about(value)


def test_turned_edges_gain_what_fitting_them_gains():
    model = fitted(PLAIN)
    table = model.modification_indices().set_index(["change", "source", "target"])
    turned = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b"), ("d", "c")])
    gain = 2 * (fitted(PLAIN, se="standard").log_likelihood * -1)
    gain += 2 * cl.fit(turned, PLAIN, n_effective="all").log_likelihood
    assert table.loc[("reverse", "d", "c"), "index"] == pytest.approx(gain)


def test_weights_count_as_in_lavaan():
    model = fitted(WEIGHTED, weights="weight")
    table = model.summary()
    weights = [0.60448835, -0.15653661, 0.30910448, 0.58793461]
    assert list(table.loc[EDGES, "estimate"]) == about(weights)
    errors = [0.059133453, 0.118983760, 0.081939651, 0.070263565]
    assert list(table.loc[EDGES, "std_error"]) == about(errors)
    w = WEIGHTED["weight"]
    assert model.n_effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert "their weights differ" in model.rows_in_words


def test_whole_weights_are_repeated_rows():
    times = np.arange(len(PLAIN)) % 3 + 1
    weighted = cl.fit(GRAPH, PLAIN.assign(times=times), weights="times")
    repeated = cl.fit(GRAPH, PLAIN.loc[PLAIN.index.repeat(times)])
    assert np.allclose(weighted.B, repeated.B, atol=1e-7)


def test_missing_cells_have_the_errors_of_lavaan():
    model = fitted(HOLES, missing="em")
    errors = [0.073170831, 0.153499117, 0.091697531, 0.071033388]
    assert list(model.summary().loc[EDGES, "std_error"]) == about(errors)
    assert model.fit_indices.chi_square == about(3.7116227)
    assert model.fit_indices.scaling == about(1.0374404)


def test_exogenous_variables_scatter_by_themselves():
    """Given a, the test is that of the model in which a is free: it is without causes there."""
    given, free = fitted(PLAIN, exogenous=["a"]), fitted(PLAIN)
    assert given.fit_indices.chi_square == pytest.approx(free.fit_indices.chi_square)
    assert given.fit_indices.scaling == pytest.approx(free.fit_indices.scaling)
    assert np.allclose(given.standard_errors, free.standard_errors, equal_nan=True)


def test_robust_errors_are_the_default_where_columns_are_not_gaussian(tmp_path):
    assert cl.fit(GRAPH, PLAIN).sandwich is not None
    normal = cl.LinearGaussianModel(B, np.ones(4), list("abcd")).sample(300, random_state=0)
    assert cl.fit(GRAPH, normal).sandwich is None
    assert cl.fit(GRAPH, PLAIN, se="standard").sandwich is None
    result = cl.learn(PLAIN)
    assert result.model.sandwich is not None
    assert "robust" in str(result.model)
    assert any("robust" in warning.message for warning in result.warnings)
    result.save(tmp_path / "found.json")
    again = cl.load(tmp_path / "found.json").model
    assert np.allclose(again.standard_errors, result.model.standard_errors, equal_nan=True)
    assert again.fit_indices.p_value == pytest.approx(result.model.fit_indices.p_value)


def test_the_rescaled_test_keeps_its_level():
    """A common scale of all noises inflates the plain chi-square of a chain."""
    chain = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    rng = np.random.default_rng(0)
    rejected = {"standard": 0, "robust": 0}
    for _ in range(40):
        scale = rng.choice([0.4, 2.0], size=(400, 1))
        noise = scale * rng.standard_normal((400, 4))
        rows = noise @ np.linalg.inv(np.eye(4) - 0.6 * np.eye(4, k=1))
        table = pd.DataFrame(rows, columns=list("abcd"))
        for se in rejected:
            model = cl.fit(chain, table, se=se, n_effective="all")
            rejected[se] += model.fit_indices.p_value < 0.05
    assert rejected["robust"] <= 6 < rejected["standard"]


def test_subject_means_are_taken_out():
    rng = np.random.default_rng(1)
    subject = np.repeat(np.arange(60), 5)
    shifted = PLAIN + 3 * rng.standard_normal((60, 4))[subject]
    names = np.array([f"person {number}" for number in subject])
    model = cl.fit(GRAPH, shifted.assign(who=names), within="who", n_effective="all")
    left = PLAIN - PLAIN.groupby(subject).transform("mean")
    S = left.T @ left / (300 - 59)
    same = cl.fit(GRAPH, cl.Moments(S, 241), n_effective="all")
    assert np.allclose(model.B, same.B)
    assert np.allclose(model.noise_variances, same.noise_variances)
    assert model.n_effective == 241
    standard = cl.fit(GRAPH, shifted.assign(who=names), within="who", se="standard")
    assert np.allclose(standard.standard_errors, same.standard_errors, equal_nan=True)
    assert "subject" in model.rows_in_words


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        ({"weights": "weight", "missing": "em"}, "cannot be combined with missing"),
        ({"weights": "weight", "within": "a"}, "cannot be combined with within"),
        ({"weights": "weight", "margins": "rank"}, "cannot be combined with margins"),
        ({"within": "weight", "lags": 1}, "cannot be combined with lags"),
        ({"se": "robust", "covariance": "shrunk"}, "cannot be combined with covariance"),
        ({"weights": "mass"}, "not a column"),
        ({"weights": "a"}, "not positive"),
        ({"within": "weight"}, "leave no variation"),
    ],
)
def test_what_cannot_be_had_is_refused(reading, words):
    with pytest.raises(cl.InputError, match=words):
        cl.fit(GRAPH, WEIGHTED, **reading)


def test_what_does_not_change_within_subjects_is_named():
    table = PLAIN.assign(who=np.repeat(np.arange(60), 5), d=np.repeat(np.arange(60.0), 5))
    with pytest.raises(cl.InputError, match="do not vary within any subject: d"):
        cl.fit(GRAPH, table, within="who")


def test_moments_have_no_robust_errors():
    with pytest.raises(cl.InputError, match="needs the rows"):
        cl.fit(GRAPH, cl.Moments(PLAIN.cov(), 300), se="robust")
    with pytest.raises(cl.InputError, match="se='robust'"):
        _ = cl.fit(GRAPH, cl.Moments(PLAIN.cov(), 300)).robust_standard_errors


def test_the_export_for_lavaan_has_weights_subjects_and_robust_errors():
    def call(table, **reading):
        return lavaan_syntax(fitted(table, **reading)).splitlines()[0].removeprefix("# fit with ")

    mlr = 'estimator = "MLR", fixed.x = FALSE)'
    assert call(PLAIN) == f"lavaan(model, data, {mlr}"
    assert call(PLAIN, se="standard") == "lavaan(model, data, fixed.x = FALSE)"
    weighted = call(WEIGHTED, weights="weight")
    assert weighted == f"lavaan(model, data, sampling.weights = COLUMN, {mlr}"
    subjects = PLAIN.assign(who=np.arange(300) // 5)
    assert call(subjects, within="who") == f"lavaan(model, data less subject means, {mlr}"

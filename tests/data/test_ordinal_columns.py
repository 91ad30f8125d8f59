"""Ordinal columns: latent correlations against lavaan and simulation, and every surface."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

import cyclearn as cl
from command_line import run_cyclearn
from cyclearn.data.latent_correlations import (
    _bivariate,
    _correlation,
    efficiency,
    influences,
    latent_correlations,
    thresholds,
)
from cyclearn.data.reading import Reading
from cyclearn.data.resampling import Resampler
from cyclearn.foundation.errors import InputError
from cyclearn.models.syntax import lavaan_syntax
from slow_tests import few, slow

# Counts of 500 pairs of levels, and what lavaan 0.6.14 finds in them by
# lavCor(data, ordered = c("a", "b")), and with output = "th".
TABLES = {
    "two by two": ([[150, 90], [60, 200]], 0.5903817, [-0.0501536], [-0.201893]),
    "three by four": (
        [[60, 40, 20, 10], [30, 60, 50, 40], [5, 25, 60, 100]],
        0.6276531,
        [-0.643345, 0.305481],
        [-0.877896, -0.150969, 0.524401],
    ),
    "negative": (
        [[5, 20, 75], [40, 60, 50], [120, 90, 40]],
        -0.5862660,
        [-0.841621, 0.0],
        [-0.439913, 0.439913],
    ),
}
CUTS = {"a": [0.2], "d": [-1.0, 0.0, 0.6], "f": [-0.5, 0.5]}
TRUTH = cl.DirectedGraph.from_edges(
    [("a", "b"), ("b", "d"), ("e", "d"), ("d", "f"), ("f", "d")], list("abdef")
)


def columns_of(counts):
    counts = np.array(counts)
    cells = [(i, j) for i, j in np.ndindex(counts.shape) for _ in range(counts[i, j])]
    return np.array(cells, dtype=float).T


def latent(n=1_500, seed=1):
    model = cl.simulate.random_model(TRUTH, random_state=2)
    rows = model.sample(n, random_state=seed)
    return (rows - rows.mean()) / rows.std()


def cut(rows, texts=False):
    table = rows.assign(**{name: np.digitize(rows[name], cuts) for name, cuts in CUTS.items()})
    return table.assign(a=np.where(table["a"] == 1, "yes", "no")) if texts else table


ORDERED = list(CUTS)


@pytest.mark.parametrize("r", [-0.95, -0.3, 0.0, 0.5, 0.99])
def test_the_distribution_function_is_that_of_scipy(r):
    h, k = np.array([-1.2, 0.0, 0.7]), np.array([-0.4, 1.5])
    ours = _bivariate(h, k, r)
    joint = multivariate_normal([0, 0], [[1, r], [r, 1]])
    for i, j in np.ndindex(3, 2):
        assert ours[0][i, j] == pytest.approx(joint.cdf([h[i], k[j]]), abs=2e-5)
        assert ours[1][i, j] == pytest.approx(joint.pdf([h[i], k[j]]), rel=1e-9)


@pytest.mark.parametrize("name", TABLES)
def test_correlations_and_thresholds_are_those_of_lavaan(name):
    counts, correlation, first, second = TABLES[name]
    x, y = columns_of(counts)
    assert _correlation(x, y, (True, True)) == pytest.approx(correlation, abs=1e-5)
    assert thresholds(x)[1:-1] == pytest.approx(first, abs=1e-5)
    assert thresholds(y)[1:-1] == pytest.approx(second, abs=1e-5)


def test_an_empty_cell_of_four_does_not_make_two_columns_one():
    x, y = columns_of([[20, 0], [10, 30]])
    assert 0.8 < _correlation(x, y, (True, True)) < 0.99


DRAWN = np.array([[1, 0.5, 0.3, 0.0], [0.5, 1, 0.4, 0.3], [0.3, 0.4, 1, -0.4], [0, 0.3, -0.4, 1]])


def drawn(seed, n=500):
    Z = np.random.default_rng(seed).multivariate_normal(np.zeros(4), DRAWN, n)
    Z[:, 0], Z[:, 2] = Z[:, 0] > 0.2, np.digitize(Z[:, 2], [-0.5, 0.5])
    return Z


IS_ORDERED = np.array([True, False, True, False])


# Two tests look at the same estimates.
together = pytest.mark.xdist_group("estimates")


@cache
def estimated(seed, has_holes=False):
    X = drawn(seed)
    if has_holes:
        X[np.random.default_rng(10_000 + seed).random(X.shape) < 0.2] = np.nan
    return X, latent_correlations(X, IS_ORDERED)


@together
@pytest.mark.parametrize("has_holes", few(1, [False, True]))
def test_influences_say_how_estimates_scatter(has_holes):
    estimates, said = [], []
    for seed in range(300):
        X, R = estimated(seed, has_holes)
        scale = np.where(IS_ORDERED, 1.0, np.nanstd(X, axis=0))
        estimates.append((R * np.outer(scale, scale))[np.triu_indices(4)])
        if seed < 20:
            i, j = np.triu_indices(4)
            moved = influences(X, IS_ORDERED, R)(X)[:, i, j]
            assert np.abs(moved.mean(axis=0)).max() < 1e-6
            said.append(moved.T @ moved / len(X))
    scattered = 500 * np.cov(np.transpose(estimates))
    # Variances of 300 values are known to 8%, covariances of columns with variance 2.5 to 0.15.
    assert np.mean(said, axis=0) == pytest.approx(scattered, abs=0.5)
    variances = np.mean(said, axis=0).diagonal()
    assert variances == pytest.approx(scattered.diagonal(), rel=0.25, abs=1e-9)
    assert variances[[0, 7]] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("second", "expected"), [(True, 4 / np.pi**2), (False, 2 / np.pi)])
def test_the_efficiency_of_medians_is_known(second, expected):
    Z = np.random.default_rng(0).standard_normal((20_000, 2))
    X = np.column_stack([Z[:, 0] > 0, Z[:, 1] > 0 if second else Z[:, 1]]).astype(float)
    R = latent_correlations(X, np.array([True, second]))
    assert efficiency(X, np.array([True, second]), R) == pytest.approx(expected, rel=0.02)
    assert efficiency(Z, np.zeros(2, dtype=bool), np.corrcoef(Z.T)) == 1


def test_every_pair_counts_by_its_own_variance():
    Z = np.random.default_rng(0).standard_normal((3_000, 8))
    Z[:, 0], Z[:, 1] = Z[:, 0] > 0, Z[:, 1] > 0
    found = cl.learn(pd.DataFrame(Z, columns=list("abcdefgh")))
    assert found.tables.ordered == ("a", "b")
    # Variances of 15 pairs of neither, 12 of one and one of both, cut at their medians.
    mean = (15 + 12 * np.pi / 2 + np.pi**2 / 4) / 28
    assert found.tables.n_effective == pytest.approx(3_000 / mean, rel=0.01)


def gain(R, truth):
    """Twice the gain per row of these correlations over the true ones, with any variances."""

    precision = np.linalg.inv(truth)

    def divergence(logs):
        parts = precision * R * np.exp(logs[:, None] + logs)
        return parts.sum() - 2 * logs.sum(), 2 * parts.sum(axis=0) - 2

    found = minimize(divergence, np.zeros(len(R)), jac=True).fun - len(R)
    return found - np.linalg.slogdet(R)[1] + np.linalg.slogdet(truth)[1]


@together
def test_the_efficiency_is_how_much_less_chance_gains_from_plain_rows():
    gains, said = [], []
    for seed in range(200):
        X, R = estimated(seed, False)
        gains.append(500 * gain(R, DRAWN))
        said.append(efficiency(X, IS_ORDERED, R))
    # Six correlations gain 6 from plain rows. The mean of 200 gains is known to 5%.
    assert np.mean(said) == pytest.approx(6 / np.mean(gains), rel=0.1)
    assert np.std(said) < 0.1 * np.mean(said)


def test_heavy_tails_of_other_columns_do_not_reduce_the_rows():
    rng = np.random.default_rng(0)
    Z = rng.standard_t(5, (4_000, 6))
    Z[:, 0] = rng.standard_normal(4_000) > 0
    is_ordered = np.arange(6) == 0
    # Five correlations of the ordinal column, and ten of others, whatever their kurtosis.
    found = efficiency(Z, is_ordered, latent_correlations(Z, is_ordered))
    assert found == pytest.approx(15 / (10 + 5 * np.pi / 2), rel=0.02)


def test_errors_are_from_the_covariance_of_latent_correlations():
    z = []
    truth = cl.simulate.random_model(TRUTH, random_state=2)
    scale = np.sqrt(truth.covariance.diagonal())
    for seed in range(40):
        fitted = cl.fit(TRUTH, cut(latent(1_000, seed)))
        known = TRUTH.adjacency
        z += list(((fitted.B - truth.B * scale[:, None] / scale) / fitted.standard_errors)[known])
        assert fitted.sandwich is not None
    assert np.std(z) == pytest.approx(1.0, abs=0.15)
    assert "covariance of the latent correlations" in str(fitted)
    plain = cl.fit(TRUTH, cut(latent(1_000, seed)), se="standard")
    assert plain.sandwich is None
    assert pytest.approx(fitted.B) == plain.B
    # An exogenous ordinal variable has a variance of one, which nobody estimates.
    assert fitted.noise_variance_errors[0] == 0


@slow
def test_the_test_of_fit_keeps_its_level():
    chi_squares = [cl.fit(TRUTH, cut(latent(600, seed))).fit_indices for seed in range(80)]
    df = chi_squares[0].degrees_of_freedom
    assert np.mean([each.chi_square for each in chi_squares]) == pytest.approx(df, abs=1.1)
    assert np.mean([each.p_value < 0.05 for each in chi_squares]) < 0.13


def test_latent_correlations_are_those_of_the_columns_before_they_were_cut():
    rows = latent(8_000)
    is_ordered = np.isin(list(rows), ORDERED)
    found = latent_correlations(cut(rows).to_numpy(dtype=float), is_ordered)
    assert found == pytest.approx(rows.corr().to_numpy(), abs=0.04)


def test_estimates_are_those_of_the_latent_variables():
    rows = latent(8_000)
    whole, ordinal = cl.fit(TRUTH, rows), cl.fit(TRUTH, cut(rows, texts=True), ordered=ORDERED)
    assert pytest.approx(whole.B, abs=0.06) == ordinal.B
    assert ordinal.ordered == tuple(ORDERED)
    assert ordinal.n_effective < 0.7 * 8_000
    assert "counted as" in str(ordinal)
    assert "Ordinal: a (no < yes), d, f;" in str(ordinal)
    numbers = cl.fit(TRUTH, cut(rows), continuous=ORDERED)
    scaled = numbers.standardised_weights
    assert np.abs(scaled - whole.B).max() > 2 * np.abs(ordinal.B - whole.B).max()


def test_levels_of_every_kind_are_taken_in_their_order():
    rows = latent(400)
    plain = cl.fit(TRUTH, cut(rows), ordered=ORDERED)
    words = pd.Categorical.from_codes(np.digitize(rows["f"], CUTS["f"]), ["x", "b", "c"], True)
    for table in (
        cut(rows, texts=True),
        cut(rows).assign(a=cut(rows)["a"] == 1),
        cut(rows).assign(f=words),
        cut(rows).assign(d=cut(rows)["d"] * 10 + 5),
        cut(rows).astype({"d": str}),
    ):
        assert pytest.approx(plain.B) == cl.fit(TRUTH, table, ordered=ORDERED).B
    # Ordered categories need not be named.
    assert cl.fit(TRUTH, cut(rows).assign(f=words)).ordered == cl.fit(TRUTH, cut(rows)).ordered


def test_learning_finds_the_class_and_is_saved():
    found = cl.learn(cut(latent(6_000)), ordered=ORDERED, n_starts=1)
    assert found.tables.ordered == tuple(ORDERED)
    assert cl.LearnResult.from_json(found.to_json()) == found
    assert found.model.log_likelihood == pytest.approx(
        cl.fit(found.graph, cut(latent(6_000)), ordered=ORDERED).log_likelihood
    )
    assert "ordinal columns carry less information" in str(found)
    assert found.do({"b": 1.0}).attrs["scale"] == "latent normal variables of ordinal columns"
    with pytest.raises(InputError, match="shape of the noise"):
        found.rank_members(cut(latent(6_000)))


def test_resamples_groups_pairs_and_exogenous_columns():
    table = cut(latent(300), texts=True)
    resampled = cl.bootstrap(table, 3, ordered=ORDERED, n_starts=1, random_state=0)
    assert resampled.n_resamples == 3
    grouped = cl.fit(TRUTH, table.assign(half=["x", "y"] * 150), groups="half", ordered=ORDERED)
    assert all(model.ordered == tuple(ORDERED) for model in grouped.models.values())
    holes = cut(latent(300)).astype(float)
    holes.iloc[::11, 2] = np.nan
    for missing in ("pairwise", "rows"):
        fitted = cl.fit(TRUTH, holes, ordered=ORDERED, missing=missing)
        assert fitted.n_effective < 300 * 0.9
    given = cl.fit(TRUTH, cut(latent(300)), ordered=["d", "f"], exogenous=["a", "e"])
    assert (given.ordered, given.exogenous) == (("d", "f"), ("a", "e"))


def test_a_resample_may_have_no_row_of_the_last_level():
    table = latent(60)[["a", "b", "d"]].assign(d=np.repeat([0, 1, 2, 3], [20, 20, 19, 1]))
    resampled = cl.bootstrap(table, 8, ordered=["d"], n_starts=1, random_state=0)
    assert resampled.n_resamples == 8
    reading = Reading(ordered=["d"])
    resampler = Resampler.of(reading.tables(table), reading, "rows", 0)
    shares = [resampler.draw(n)[0].tables[0].moments.levels["d"]["3"] for n in range(30)]
    # One row is left out of a third of the resamples.
    assert 3 < shares.count(0.0) < 20


def test_a_matrix_that_belongs_to_no_variables_is_repaired_and_that_is_said():
    rng = np.random.default_rng(0)
    common = rng.standard_normal(40)
    cuts = np.linspace(-0.8, 0.8, 7)
    rows = pd.DataFrame(
        {f"x{n}": common + 0.5 * rng.standard_normal(40) > at for n, at in enumerate(cuts)}
    )
    found = cl.check_data(rows, ordered=list(rows))
    codes = {each.code for each in found}
    assert "repaired_correlations" in codes
    assert np.linalg.eigvalsh(cl.learn(rows, ordered=list(rows)).model.moments.correlation)[0] > 0


def test_few_levels_are_recognised_and_announced_with_the_option():
    table = cut(latent(300), texts=True)
    codes = {each.code: each for each in cl.check_data(table)}
    assert codes["ordinal_columns"].columns == ("a", "d", "f")
    assert "treated as ordinal" in codes["ordinal_columns"].message
    assert "continuous=['a', 'd', 'f']" in codes["ordinal_columns"].remedy
    assert cl.fit(TRUTH, table).ordered == ("a", "d", "f")
    assert cl.fit(TRUTH, table, continuous=["d"]).ordered == ("a", "f")
    assert np.allclose(cl.fit(TRUTH, cut(latent(300)).to_numpy()).B, cl.fit(TRUTH, table).B)
    grouped = cl.fit(TRUTH, table.assign(half=["x", "y"] * 150), groups="half")
    assert {model.ordered for model in grouped.models.values()} == {("a", "d", "f")}
    with pytest.raises(InputError, match="continuous"):
        cl.fit(TRUTH, table, continuous=["z"])


def test_what_needs_rows_as_numbers_gets_them():
    table = cut(latent(300), texts=True)
    found = cl.fit(TRUTH, table, margins="rank")
    assert found.ordered == ()
    (warning,) = (each for each in cl.check_data(table, lags=1) if each.code == "ordinal_columns")
    assert "omit lags and use ordered=['a', 'd', 'f']" in warning.remedy
    # A matrix that belongs to no variables is not made where nobody asked for it.
    rng = np.random.default_rng(0)
    common = rng.standard_normal(40)
    steps = {f"x{n}": common + 0.5 * rng.standard_normal(40) > n / 4 - 0.8 for n in range(7)}
    assert cl.learn(pd.DataFrame(steps)).tables.ordered == ()
    days = pd.DataFrame(np.eye(4)[np.arange(300) % 4], columns=list("mtwf")).iloc[:, 1:]
    assert cl.learn(days.assign(y=latent(300)["b"].to_numpy())).tables.ordered == ()


@pytest.mark.parametrize(
    ("reading", "remedy"),
    [
        ({"weights": "w"}, "omit weights and use ordered="),
        ({"margins": "rank", "lags": 1}, "omit margins and omit lags and use ordered="),
        ({"covariance": "shrunk"}, "omit covariance and use ordered="),
        ({"missing": "em"}, "set missing='pairwise' and use ordered="),
        ({"interventions": "t"}, "omit interventions and use ordered="),
    ],
)
def test_the_remedy_for_few_levels_is_accepted(reading, remedy):
    """What rules out ordinal columns is named with the remedy, which is then accepted."""
    table = cut(latent(400))
    table["w" if "weights" in reading else "t"] = np.resize([1.0, 2.0, 3.0, 5.0], 400)
    if "interventions" in reading:
        table["t"] = ["", "b"] * 200
    table = table if {"weights", "interventions"} & set(reading) else table.drop(columns="t")
    if "missing" in reading:
        table = table.astype(float)
        table.iloc[::9, table.columns.get_loc("b")] = np.nan
    (warning, *_) = (
        each for each in cl.check_data(table, **reading) if each.code == "ordinal_columns"
    )
    assert f"If these are ordered levels, {remedy}" in warning.remedy
    ordered = list(warning.columns)
    with pytest.raises(InputError, match="cannot be combined"):
        cl.check_data(table, ordered=ordered, **reading)
    kept = {"missing": "pairwise"} if "missing" in reading else {}
    data = table.drop(columns=[name for name in ("w", "t") if name in table])
    assert cl.learn(data, ordered=ordered, n_starts=1, **kept).tables.ordered == tuple(ordered)


@pytest.mark.parametrize("reading", [{}, {"ordered": ["a"]}, {"within": "s"}, {"weights": "w"}])
def test_no_remedy_is_suggested_that_is_refused(reading):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(400, 2))
    table = cut(latent(400)).assign(b=noise[:, 0].cumsum() / 5, e=np.exp(2 * noise[:, 1]))
    rows = {"s": np.arange(400) // 40, "w": 1 + np.arange(400) % 2}
    data = table.assign(**{name: rows[name] for name in reading.values() if str(name) in rows})
    found = {each.code: each.remedy for each in cl.check_data(data, **reading)}
    assert ("margins='rank'" in found["nonnormal_columns"]) == (not reading)
    assert ("lags=1" in found["dependent_rows"]) == (not reading)


def test_a_result_and_its_report_say_what_texts_mean(tmp_path):
    table = cut(latent(400), texts=True)
    result = cl.learn(table, n_starts=1)
    assert "Ordinal: a (no < yes), d, f;" in str(result)
    assert "a (no < yes)" in str(cl.fit(result.graph, table))
    assert "a (no &lt; yes)" in result.report(tmp_path / "r.html").read_text()
    given = cl.learn(table, n_starts=1, exogenous=["a"])
    assert "a: no = 0, yes = 1" in str(given)
    assert "a: no = 0, yes = 1" in given.report(tmp_path / "r.html").read_text()
    assert cl.LearnResult.from_json(given.to_json()).warnings == given.warnings


def test_asked_for_columns_are_not_announced():
    after = {each.code: each for each in cl.check_data(cut(latent(300)), ordered=ORDERED)}
    assert "ordinal_columns" not in after
    assert "a" not in getattr(after.get("nonnormal_columns"), "columns", ())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"missing": "em"}, "missing='em' cannot be combined"),
        ({"margins": "rank"}, "margins='rank' cannot be combined"),
        ({"covariance": "shrunk"}, "covariance='shrunk' cannot be combined"),
        ({"lags": 1}, "lags cannot be combined"),
        ({"ordered": ["nobody"]}, "ordered names 'nobody'"),
        ({"ordered": "a"}, "list of names"),
        ({"ordered": ["b"]}, "levels"),
        ({"exogenous": ["a"]}, "ordered and exogenous"),
    ],
)
def test_what_cannot_be_had_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        cl.learn(cut(latent(200)), **{"ordered": ORDERED, **options})


def test_texts_without_an_order_are_refused():
    table = cut(latent(200)).assign(f=np.resize(["low", "high", "mid"], 200))
    with pytest.raises(InputError, match=r"3 texts.*ordered=True"):
        cl.learn(table, ordered=["f"])
    with pytest.raises(InputError, match="needs the rows"):
        cl.learn(cl.Moments(np.eye(2), 50, names=["a", "b"]), ordered=["a"])
    tables = [cut(latent(50)), cut(latent(50))]
    with pytest.raises(InputError, match="interventions"):
        cl.learn(tables, interventions=[[], ["a"]], ordered=["a"])


def test_interventions_change_the_probabilities_of_levels(tmp_path, capsys):
    table = cut(latent(4_000), texts=True)
    table["f"] = pd.Categorical.from_codes(table["f"], ["low", "mid", "high"], ordered=True)
    result = cl.learn(table, n_starts=1, posterior=False)
    # Held at its mean, the source changes no share.
    now = result.do({"e": 0.0}).attrs["levels"]
    shares = table["f"].value_counts(normalize=True)
    assert now["f"] == pytest.approx(
        {name: shares[name] for name in ("low", "mid", "high")}, abs=0.03
    )
    found = result.do({"e": 2.0})
    chances, words = found.attrs["levels"], found["levels"]
    mean, sd = found.loc["d", ["mean", "sd"]]
    below = norm.cdf((norm.ppf((table["d"] <= 1).mean()) - mean) / sd)
    assert chances["d"]["0"] + chances["d"]["1"] == pytest.approx(below)
    assert words["f"] == ", ".join(f"{name}: {chances['f'][name]:.0%}" for name in chances["f"])
    assert list(chances["a"]) == ["no", "yes"]
    assert words["b"] == words["e"] == ""
    again = cl.LearnResult.from_json(result.to_json())
    assert again.do({"e": 2.0}).attrs["levels"] == chances
    result.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "levels then" in page
    assert "probability of each of its levels" in page
    # A file keeps the texts that are read as 0 and 1.
    path = tmp_path / "t.csv"
    table.drop(columns="f").to_csv(path, index=False)
    said = run_cyclearn(["effects", path, "--do", "e=2", "--starts", "1"], capsys).stdout
    assert "levels: the probability of each level" in said
    assert "no: 5" in said or "no: 6" in said


def test_files_and_the_command_line(tmp_path, capsys):
    path = tmp_path / "t.csv"
    cut(latent(300), texts=True).to_csv(path, index=False)
    found = cl.learn(path, ordered=ORDERED, n_starts=1)
    assert found.graph.n_nodes == 5
    command = ["learn", path, "--ordered", "a,d,f", "--starts", "1", "--no-posterior", "--json"]
    record = json.loads(run_cyclearn(command, capsys).stdout)
    assert record["options"]["ordered"] == ORDERED
    assert run_cyclearn(["check", path, "--ordered", "a"], capsys).returncode == 0
    text = lavaan_syntax(found.model)
    assert 'lavCor(data, ordered = c("a", "d", "f"), output = "cov")' in text


def test_rows_far_out_are_no_trouble():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(200) ** 5
    X = np.column_stack([z, np.digitize(z + rng.standard_normal(200), [-1.0, 0.5])])
    R = latent_correlations(X, np.array([False, True]))
    assert 0.3 < R[0, 1] < 1
    assert 0 < efficiency(X, np.array([False, True]), R) <= 1

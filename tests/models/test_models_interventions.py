"""Fits to tables with interventions against the written-out likelihood and plain regression."""

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn._kernels.component_fit import AT_INFINITY, COLLINEAR, fit_component
from cyclearn._kernels.shared_weights import Pooled, fit_shared_component
from cyclearn.data.margins import normal_scores
from cyclearn.data.reading import as_tables
from cyclearn.models.components import component_columns
from cyclearn.models.experiments import Experiments, shared_information
from naive_interventions import NaiveLikelihood, sample_tables

LOOP = cl.DirectedGraph.from_edges(
    [("a", "b"), ("b", "c"), ("c", "a"), ("d", "c"), ("c", "b")], names=list("abcd")
)
TARGETS = [[], ["b"], ["a", "d"]]
ROWS = (100, 80, 120)
SINGLE = (100, 1, 1)
HOW = [
    *((kind, own, ROWS) for kind in ("perfect", "noise") for own in ("shared", "table")),
    ("shift", "shared", ROWS),
    ("shift", "shared", SINGLE),
    ("perfect", "shared", SINGLE),
]


@pytest.mark.parametrize(("kind", "intercepts", "rows"), HOW)
def test_a_fit_is_the_maximum_of_the_whole_likelihood(kind, intercepts, rows):
    model = cl.simulate.random_model(LOOP, random_state=4)
    tables = sample_tables(model, TARGETS, rows, 4, kind)
    fitted = cl.fit(
        LOOP, tables, interventions=TARGETS, intervention_kind=kind, intercepts=intercepts
    )
    naive = NaiveLikelihood(LOOP, tables, TARGETS, kind, intercepts)
    least = naive.minimum()
    assert fitted.log_likelihood == pytest.approx(-least.fun, abs=1e-5)
    weights = least.x[: LOOP.n_edges]
    assert fitted.B[LOOP.adjacency] == pytest.approx(weights, abs=1e-4)
    assert fitted.n_parameters == LOOP.n_edges + len(naive.variances)


@pytest.mark.parametrize("kind", ["perfect", "noise"])
def test_standard_errors_are_those_of_the_whole_likelihood(kind):
    model = cl.simulate.random_model(LOOP, random_state=1)
    tables = sample_tables(model, TARGETS, ROWS, 1, kind)
    fitted = cl.fit(LOOP, tables, interventions=TARGETS, intervention_kind=kind)
    naive = NaiveLikelihood(LOOP, tables, TARGETS, kind)
    best, step = naive.minimum().x, 1e-4
    units = np.eye(naive.size) * step

    def slope(point, a):
        return (naive(point + a) - naive(point - a)) / (2 * step)

    second = [
        [(slope(best + b, a) - slope(best - b, a)) / (2 * step) for b in units] for a in units
    ]
    errors = np.sqrt(np.linalg.inv(second).diagonal())[: LOOP.n_edges]
    assert fitted.standard_errors[LOOP.adjacency] == pytest.approx(errors, rel=1e-3)


@pytest.mark.parametrize("intercepts", ["shared", "table"])
def test_without_cycles_every_equation_is_a_regression_on_its_own_rows(intercepts):
    graph = cl.simulate.random_graph(5, max_component=1, random_state=3)
    model = cl.simulate.random_model(graph, random_state=3)
    names = graph.names
    targets = [[], [names[0]], [names[1], names[3]], [names[4]]]
    tables = sample_tables(model, targets, (60, 50, 70, 40), 3)
    fitted = cl.fit(graph, tables, interventions=targets, intercepts=intercepts)
    total = 0.0
    for j, name in enumerate(names):
        rows, marks = [], []
        for e, (table, own) in enumerate(zip(tables, targets, strict=True)):
            if name not in own:
                rows.append(table.to_numpy())
                marks += [e] * len(table)
        X = np.vstack(rows)
        means = pd.get_dummies(marks).to_numpy(dtype=float)
        design = np.ones((len(X), 1)) if intercepts == "shared" else means
        parents = np.flatnonzero(graph.adjacency[:, j])
        regressors = np.hstack([X[:, parents], design])
        weights, *_ = np.linalg.lstsq(regressors, X[:, j], rcond=None)
        assert fitted.B[parents, j] == pytest.approx(weights[: len(parents)])
        variance = np.mean((X[:, j] - regressors @ weights) ** 2)
        assert fitted.noise_variances[j] == pytest.approx(variance)
        total -= 0.5 * len(X) * (1 + np.log(2 * np.pi * variance))
    assert fitted.log_likelihood == pytest.approx(total)


def test_one_observed_table_is_an_ordinary_fit():
    table = cl.simulate.random_model(LOOP, random_state=0).sample(300, random_state=0)
    plain = cl.fit(LOOP, table)
    observed = cl.fit(LOOP, [table], interventions=[[]])
    assert pytest.approx(plain.B, abs=1e-8) == observed.B
    assert observed.log_likelihood == pytest.approx(plain.log_likelihood)
    assert observed.noise_variances == pytest.approx(plain.noise_variances)
    assert observed.standard_errors == pytest.approx(plain.standard_errors, nan_ok=True)
    assert observed.model.mean == pytest.approx(table.mean().to_numpy())


def test_the_order_and_units_of_columns_change_nothing():
    model = cl.simulate.random_model(LOOP, random_state=6)
    tables = sample_tables(model, TARGETS, ROWS, 6)
    first = cl.fit(LOOP, tables, interventions=TARGETS)
    factor = np.array([1.0, 100, 0.01, 7])
    other = [(table * factor)[["c", "a", "d", "b"]] for table in tables]
    second = cl.fit(LOOP, other, interventions=TARGETS)
    assert pytest.approx(first.B * factor / factor[:, None], rel=1e-6) == second.B
    shift = sum(
        len(table) * np.log(factor[list("abcd").index(name)])
        for table, own in zip(tables, TARGETS, strict=True)
        for name in set("abcd") - set(own)
    )
    assert second.log_likelihood == pytest.approx(first.log_likelihood - shift)


def test_a_constant_knock_out_is_a_target_like_any_other():
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    model = cl.simulate.random_model(graph, random_state=0)
    tables = sample_tables(model, [[], ["b"]], (50, 40), 0)
    tables[1]["b"] = 0.0
    fitted = cl.fit(graph, tables, interventions=[[], ["b"]])
    both = pd.concat(tables)
    slope = np.polyfit(both["b"], both["c"], 1)[0]
    assert fitted.B[1, 2] == pytest.approx(slope)


def test_samples_of_a_held_system_have_its_distribution():
    model = cl.simulate.random_model(LOOP, random_state=0)
    held = model.do({"b": 1.5})
    rows = held.sample(20_000, random_state=0)
    assert (rows["b"] == 1.5).all()
    assert rows.mean().to_numpy() == pytest.approx(held.mean, abs=0.1)
    assert np.cov(rows.T) == pytest.approx(held.covariance, abs=0.3)
    fitted = cl.fit(LOOP, [model.sample(5000, random_state=1), rows], interventions=[[], ["b"]])
    assert pytest.approx(model.B, abs=0.1) == fitted.B


def test_stable_means_every_mutilated_system():
    """B has radius below one, and above one when the first variable is held."""
    B = np.array([[0.0, 1.2, 0.0], [-0.8, 0.0, 1.1], [0.0, 1.1, 0.0]])
    assert np.abs(np.linalg.eigvals(B)).max() < 1
    model = cl.LinearGaussianModel(B, np.ones(3), list("abc"))
    targets = [[], ["a"]]
    tables = sample_tables(model, targets, (3000, 3000), 0)
    fitted = cl.fit(model.graph, tables, interventions=targets)
    assert fitted.model.is_stable
    assert not fitted.is_stable
    noisy = sample_tables(model, targets, (3000, 3000), 0, "noise")
    assert cl.fit(model.graph, noisy, interventions=targets, intervention_kind="noise").is_stable


def test_shifts_of_means_count_where_intercepts_are_shared():
    """Held at different values, the cause moves the mean of its effect and not the other way."""
    rng = np.random.default_rng(0)
    tables = []
    for level in (-3.0, 3.0):
        cause = np.full(200, level)
        tables.append(pd.DataFrame({"cause": cause, "effect": 0.5 * cause + rng.normal(size=200)}))
    graph = cl.DirectedGraph.from_edges([("cause", "effect")])
    fitted = cl.fit(graph, tables, interventions=[["cause"], ["cause"]])
    assert fitted.B[0, 1] == pytest.approx(0.5, abs=0.05)
    with pytest.raises(cl.InputError, match="linear function"):
        cl.fit(graph, tables, interventions=[["cause"], ["cause"]], intercepts="table")


def test_moments_serve_where_they_have_means():
    model = cl.simulate.random_model(LOOP, random_state=2)
    tables = sample_tables(model, TARGETS, ROWS, 2)
    rows = cl.fit(LOOP, tables, interventions=TARGETS)
    moments = [
        cl.Moments(np.cov(t.T, bias=True), len(t), t.mean().to_numpy(), list(t.columns))
        for t in tables
    ]
    assert cl.fit(LOOP, moments, interventions=TARGETS).log_likelihood == pytest.approx(
        rows.log_likelihood
    )
    without = [cl.Moments(m.covariance, m.n_samples, None, m.names) for m in moments]
    with pytest.raises(cl.InputError, match="table 1: these Moments have no mean"):
        cl.fit(LOOP, without, interventions=TARGETS)
    cl.fit(LOOP, without, interventions=TARGETS, intercepts="table")


def one_table(S):
    """A single observed table, as the solver for several takes it."""
    p = len(S)
    return Pooled(
        S[None].copy(),
        np.arange(p + 1),
        np.zeros(p, dtype=np.int64),
        np.ones(p),
        np.ones(p, dtype=np.uint8),
        np.array([0, 1]),
    )


def fit_both(graph, S, start):
    """The component of a graph by the solver for one table and by that for several."""
    _, (columns,) = component_columns(graph)
    where = columns.nodes, columns.offsets, columns.parents
    alone = fit_component(S, *where, start, 1e-10, 500)
    none = np.zeros((1, len(S)), dtype=np.uint8)
    return alone, fit_shared_component(one_table(S), np.ones(1), none, *where, start, 1e-13, 500)


@pytest.mark.uncompiled(only=True)
def test_both_solvers_agree_on_one_table():
    for seed in range(4):
        model = cl.simulate.random_model(LOOP, random_state=seed)
        S = np.corrcoef(model.sample(200, random_state=seed).T)
        alone, shared = fit_both(LOOP, S, np.zeros(LOOP.n_edges))
        assert shared[0] == pytest.approx(alone[0], abs=1e-9)
        assert shared[1] == pytest.approx(alone[1], abs=1e-5)


@pytest.mark.uncompiled(only=True)
def test_a_start_without_a_determinant_is_left():
    pair = cl.DirectedGraph.from_edges([("a", "b"), ("b", "a"), ("c", "a"), ("d", "b")])
    S = np.corrcoef(cl.simulate.random_model(pair, random_state=1).sample(200, random_state=1).T)
    _, zero = fit_both(pair, S, np.zeros(4))
    _, singular = fit_both(pair, S, np.ones(4))
    assert singular[0] == pytest.approx(zero[0], abs=1e-9)


@pytest.mark.uncompiled(only=True)
def test_coefficients_without_limit_and_collinear_ones_are_said():
    """1 ⇄ 2, 3 → 2 where 2 and 3 are independent given 1: the turned graph fits at once."""
    graph = cl.DirectedGraph.from_edges([(0, 1), (1, 0), (2, 1)])
    Theta = np.array([[2.0, 0.8, 0.7], [0.8, 1.5, 0.0], [0.7, 0.0, 1.2]])
    S = np.linalg.inv(Theta)
    S = S / np.sqrt(np.outer(S.diagonal(), S.diagonal()))
    alone, shared = fit_both(graph, S, np.zeros(3))
    assert alone[4] == shared[4] == AT_INFINITY
    assert shared[0] == pytest.approx(alone[0], abs=1e-7)
    S = np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 1.0]])
    both = cl.DirectedGraph.from_edges([(0, 1), (1, 0), (2, 1)])
    assert fit_both(both, S, np.zeros(3))[1][4] == COLLINEAR


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", ["perfect", "noise"])
def test_the_kernel_is_at_a_stationary_point(kind):
    """Its information is the derivative of a gradient that vanishes, and its value is f."""
    model = cl.simulate.random_model(LOOP, random_state=9)
    tables = sample_tables(model, TARGETS, ROWS, 9, kind)
    read = as_tables(tables, interventions=TARGETS, intervention_kind=kind)
    experiments = Experiments.of(read)
    _, (columns,) = component_columns(LOOP)
    value, b, gain, _, status = fit_shared_component(
        experiments.pooled,
        experiments.tables.shares,
        experiments.targeted,
        columns.nodes,
        columns.offsets,
        columns.parents,
        np.zeros(len(columns.parents)),
        1e-12,
        300,
    )
    assert status == 0
    assert gain < 1e-12

    def f(weights):
        B = np.zeros((4, 4))
        B[columns.parents, columns.children] = weights
        Q = np.eye(4) - B
        total = 0.0
        for i in columns.nodes:
            for t in range(experiments.at[i], experiments.at[i + 1]):
                square = Q[:, i] @ experiments.matrices[experiments.which[t]] @ Q[:, i]
                total += 0.5 * experiments.weights[t] * np.log(square)
        for share, cut in zip(experiments.tables.shares, experiments.targeted, strict=True):
            free = [i for i in columns.nodes if not cut[i]]
            total -= share * np.linalg.slogdet(Q[np.ix_(free, free)])[1]
        return total

    assert value == pytest.approx(f(b), abs=1e-12)
    for unit in np.eye(len(b)) * 1e-4:
        assert f(b + unit) - f(b - unit) == pytest.approx(0, abs=1e-10)
        assert f(b + unit) > value
    B = np.zeros((4, 4))
    B[columns.parents, columns.children] = b
    info, _ = shared_information(experiments, B, np.argwhere(LOOP.adjacency))
    assert (np.linalg.eigvalsh(info) > 0).all()


BAD = [
    ([[], ["x"]], {}, "table 2: target 'x' is not a variable; the variables are a, b, c"),
    ([[], ["a", "b", "c"]], {}, "table 2: every variable is a target"),
    ([[]], {}, "2 tables and interventions of 1"),
    ([[], 3], {}, "give a list of names"),
    (5, {}, "give a list of targets"),
    ([["c"], ["c"]], {}, "'c' was intervened on in every table"),
    (
        [[], ["a"]],
        {"intervention_kind": "soft"},
        "intervention_kind is 'soft'; give 'perfect', 'noise' or 'shift'",
    ),
    ([[], ["a"]], {"intercepts": "own"}, "intercepts is 'own'"),
    ([[], ["a"]], {"missing": "em"}, "missing='em' cannot be combined with interventions"),
    ([[], ["a"]], {"n_effective": 50}, "table 1: n_effective is 50, and there are 30 rows"),
    ([[], ["a"]], {"margins": "log"}, "column 'a' has the value -.* no logarithm"),
    ([[], ["a"]], {"intervention_kind": ["shift"]}, "2 tables and intervention_kind of 1"),
    (
        [[], ["a"]],
        {"intervention_kind": "shift", "intercepts": "table"},
        "table 1: intervention_kind='shift' changes an intercept",
    ),
    ([[], "rows"], {}, "there are 30 rows and 3 columns"),
    ([[], ["a"]], {"groups": "a"}, "column 'a' names 30 groups for 30 rows"),
]


@pytest.mark.parametrize(("interventions", "options", "message"), BAD)
def test_bad_interventions_are_named(interventions, options, message):
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    tables = [np.random.default_rng(s).normal(size=(30, 3)) for s in range(2)]
    frames = [pd.DataFrame(table, columns=list("abc")) for table in tables]
    with pytest.raises(cl.InputError, match=message):
        cl.fit(graph, frames, interventions=interventions, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: t.drop(columns="a"),
            "table 2: the names of the data and of the first table do not match",
        ),
        (lambda t: t[:0], "table 2: it contains no rows"),
        (lambda t: t.assign(b=np.inf), "table 2: column 'b'"),
    ],
)
def test_bad_tables_are_named(change, message):
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc"))
    with pytest.raises(cl.InputError, match=message):
        cl.fit(graph, [table, change(table)], interventions=[[], ["a"]])


def test_too_few_rows_of_one_node_are_named():
    graph = cl.DirectedGraph.from_edges([("a", "c"), ("b", "c")])
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc")) for n in (3, 40)]
    with pytest.raises(
        cl.InputError, match="'c' has 2 parents but only 3 rows without an intervention"
    ):
        cl.fit(graph, tables, interventions=[[], ["c"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"intervention_kind": "noise"}, "it has 1 row, .* a noise variance of its own"),
        ({"intercepts": "table"}, "it has 1 row, .* an intercept of its own"),
    ],
)
def test_a_single_row_with_parameters_of_its_own_is_refused(options, message):
    observed = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc"))
    with pytest.raises(cl.InputError, match=message):
        as_tables([observed, observed[:1] + 1], interventions=[[], ["a"]], **options)


def test_a_screen_is_read_from_a_matrix_and_from_a_column():
    rng = np.random.default_rng(0)
    screen = pd.DataFrame(np.exp(rng.normal(size=(3, 3))), columns=list("abc"))
    wild = pd.DataFrame(np.exp(rng.normal(size=(10, 3))), columns=list("abc"))
    labelled = pd.concat([screen.assign(out=list("abc")), wild.assign(out="")])
    by_row = as_tables([screen, wild], interventions="rows", margins="log")
    by_column = as_tables(labelled, interventions="out", margins="log")
    assert [table.targets for table in by_row] == [("a",), ("b",), ("c",), ()]
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    fits = [cl.fit(graph, tables) for tables in (by_row, by_column)]
    assert fits[0].log_likelihood == pytest.approx(fits[1].log_likelihood)
    np.testing.assert_allclose(by_row.tables[0].moments.mean, np.log(screen.iloc[0]))
    unnamed = as_tables([screen.to_numpy(), wild.to_numpy()], interventions="rows")
    assert [table.targets for table in unnamed] == [("X1",), ("X2",), ("X3",), ()]
    named = screen.set_axis(list("abc"), axis=0).loc[["c", "a", "b"]]
    by_label = as_tables([named, wild], interventions="rows", margins="log")
    assert cl.fit(graph, by_label).log_likelihood == pytest.approx(fits[0].log_likelihood)
    ranked = as_tables([screen, wild], interventions="rows", margins="rank")
    together = np.concatenate([table.rows for table in ranked])
    np.testing.assert_allclose(together, normal_scores(pd.concat([screen, wild]).to_numpy()))


def test_residuals_say_where_interventions_are_not_answered_linearly():
    model = cl.LinearGaussianModel([[0, 0.8, 0], [0, 0, 0.7], [0, 0, 0]], [1, 1, 1], list("abc"))
    observed = model.sample(200, random_state=0)
    # b follows a up to a point: pushed to 10, a moves it by less than it would.
    bent = pd.DataFrame([[10.0, 2.0, 1.4]], columns=list("abc"))
    tables = as_tables([bent, observed], interventions=[["a"], []])
    fitted = cl.fit(model.graph, tables)
    left = fitted.intervention_residuals()
    assert list(left.index) == ["a", "none"]
    assert np.isnan(left.loc["a", "a"])
    assert left.loc["a", "b"] < -3
    assert abs(left.loc["a", "c"]) < 2
    X = np.vstack([bent, observed])
    design = np.column_stack([np.ones(len(X)), X[:, 0]])
    rest = X[:, 1] - design @ np.linalg.lstsq(design, X[:, 1])[0]
    assert left.loc["a", "b"] == pytest.approx(rest[0] / rest.std(), rel=1e-6)
    with pytest.raises(cl.InputError, match="shared intercepts"):
        cl.fit(model.graph, observed).intervention_residuals()

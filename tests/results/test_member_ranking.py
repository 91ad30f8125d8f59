import json

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.data.reading import as_tables
from cyclearn.graphs import random_graph
from cyclearn.models import random_model
from cyclearn.models.noise_shape import noise_gains
from cyclearn.results.member_ranking import rank_members
from cyclearn.results.noise_rows import _Rotated, noise_answers, noise_rows


def rows_of(model, noise):
    """Rows of a model with standardised noise of any shape."""
    return (noise * np.sqrt(model.noise_variances)) @ np.linalg.inv(
        np.eye(model.n_variables) - model.B
    )


def a_member(graph, X, seed=0):
    """The fit of a member that was chosen without looking at the noise."""
    (member,) = cl.equivalence_class(graph).sample(1, random_state=seed)
    return [cl.fit(member, X).model]


def laplace(rng, shape):
    return rng.laplace(size=shape) / np.sqrt(2)


@pytest.mark.parametrize(
    ("name", "draw", "negentropy"),
    [
        ("normal", lambda rng, n: rng.normal(3, 2, n), 0.0),
        ("laplace", lambda rng, n: rng.laplace(size=n), 0.0724),
        ("uniform", lambda rng, n: rng.uniform(size=n), 0.1765),
        ("exponential", lambda rng, n: -rng.exponential(size=n), 0.4189),
    ],
)
def test_noise_shapes_gain_the_negentropy(name, draw, negentropy):
    values = draw(np.random.default_rng(0), 20_000)
    gain = noise_gains(values).sum()
    assert gain / len(values) == pytest.approx(negentropy, abs=0.012), name
    # Location, scale and sign do not matter.
    assert noise_gains(5 - 2 * values).sum() == pytest.approx(gain, rel=0.02, abs=5)


def test_the_true_member_is_first():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        graph = random_graph(5, random_state=seed).reduced()
        model = random_model(graph, random_state=seed)
        X = rows_of(model, rng.uniform(-np.sqrt(3), np.sqrt(3), (2000, 5)))
        ranking = rank_members([graph], X, a_member(graph, X))
        tied = [m.graph for m in ranking.members() if m.ties_with_first]
        assert graph in tied
        if ranking.is_open:
            assert ranking.answered
            assert ranking.members()[0].weight * len(tied) > 0.9


def test_a_turned_cycle_ties_and_stability_tells():
    B = np.zeros((4, 4))
    B[0, 1], B[1, 2], B[2, 3], B[3, 1] = 0.9, 0.8, 0.7, -0.6
    model = cl.LinearGaussianModel(B, np.ones(4))
    X = rows_of(model, laplace(np.random.default_rng(0), (3000, 4)))
    result = cl.learn(X)
    ranking = result.rank_members(X)
    first, second = ranking.members(2)
    assert first.graph == model.graph
    assert first.stable
    assert first.ties_with_first
    assert second.ties_with_first
    assert not second.stable
    assert second.graph != first.graph
    # Columns of I − B are the same up to order and scale.
    one, other = (
        (np.eye(4) - m.model.B) / np.linalg.norm(np.eye(4) - m.model.B, axis=0)
        for m in (first, second)
    )
    assert np.abs(one.T @ other).max(axis=0) == pytest.approx(np.ones(4), abs=1e-6)
    alone = result.rank_members(X, stable_only=True)
    assert all(m.stable for m in alone.members())
    assert alone.best.graph == model.graph
    assert pytest.approx(cl.fit(model.graph, X).B, abs=1e-6) == first.model.B


def test_weights_sum_to_one_and_blocks_multiply():
    rng = np.random.default_rng(1)
    # Two pairs that nothing joins: two blocks of two fillings.
    model = cl.LinearGaussianModel(
        [[0, 0.3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.3], [0, 0, 0, 0]], [1, 1, 1, 1], list("abcd")
    )
    X = rows_of(model, laplace(rng, (400, 4)))
    ranking = rank_members([model.graph], X, a_member(model.graph, X))
    members = ranking.members(10)
    assert len(members) == 4
    assert sum(m.weight for m in members) == pytest.approx(1)
    assert [m.behind for m in members] == sorted(m.behind for m in members)
    blocks = ranking.classes[0].blocks
    assert members[0].weight == pytest.approx(np.prod([b.weights[0] for b in blocks]))
    json.dumps(ranking.to_dict(), allow_nan=False)
    assert list(ranking.table.columns) == ["weight", "behind", "stable", "ties", "edges"]


def test_gaussian_noise_gets_no_answer():
    answered = 0
    for seed in range(40):
        graph = cl.DirectedGraph.from_edges([(0, 1), (1, 2), (2, 3)])
        model = random_model(graph, random_state=seed)
        X = model.sample(500, random_state=seed)
        ranking = rank_members([graph], X, [cl.fit(graph, X).model])
        answered += ranking.answered
        if not ranking.answered:
            assert "the noise looks Gaussian: no answer" in str(ranking)
            assert ranking.members() == ()
            assert ranking.best is None
    # At most one in a hundred is expected.
    assert answered <= 4


def test_one_block_answers_and_another_does_not():
    rng = np.random.default_rng(4)
    model = cl.LinearGaussianModel(
        [[0, 0.7, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.7], [0, 0, 0, 0]], [1, 1, 1, 1], list("abcd")
    )
    noise = rng.normal(size=(2000, 4))
    noise[:, :2] = laplace(rng, (2000, 2))
    X = rows_of(model, noise)
    ranking = rank_members([model.graph], X, a_member(model.graph, X))
    assert ranking.answered
    assert "Among c, d the noise looks Gaussian" in ranking.message
    assert not ranking.is_clear
    first, second = ranking.members(2)
    assert first.graph.has_edge(0, 1)
    assert second.graph.has_edge(0, 1)
    assert first.behind == second.behind == 0


def test_knowledge_and_nothing_to_choose():
    rng = np.random.default_rng(0)
    model = cl.LinearGaussianModel([[0, 0.7], [0, 0]], [1, 1], ["a", "b"])
    X = rows_of(model, laplace(rng, (500, 2)))
    only = rank_members([model.graph], X, [model], knowledge=cl.Knowledge(forbidden=[("a", "b")]))
    assert not only.is_open
    assert only.best.graph.edges == (("b", "a"),)
    assert "nothing to choose" in only.message


def test_bad_input():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    result = cl.learn(cl.Moments([[2.0, 1.0], [1.0, 2.0]], 200))
    with pytest.raises(cl.InputError, match="Moments"):
        result.rank_members(cl.Moments([[2.0, 1.0], [1.0, 2.0]], 200))
    with pytest.raises(cl.InputError, match="at least 30"):
        result.rank_members(X[:20])
    with pytest.raises(cl.InputError, match="level"):
        result.rank_members(X, level=2)
    X[3, 1] = np.nan
    with pytest.raises(cl.InputError, match="missing"):
        result.rank_members(X)
    ranks = cl.learn(rng.normal(size=(200, 2)), margins="rank")
    with pytest.raises(cl.InputError, match="margins='rank'"):
        ranks.rank_members(rng.normal(size=(200, 2)))


def test_rotated_rows_keep_moments_and_what_is_given():
    """Gaussian rows are equally likely in all rotations that keep means and covariances."""
    rng = np.random.default_rng(0)
    E = rng.exponential(size=(40, 4))
    is_given = np.array([False, True, False, False])
    for drawn in _Rotated(E, is_given).draw(rng, 3):
        assert drawn.mean(axis=0) == pytest.approx(E.mean(axis=0))
        assert drawn.T @ drawn == pytest.approx(E.T @ E)
        assert drawn[:, 1] == pytest.approx(E[:, 1])
        assert np.abs(drawn - E)[:, ~is_given].max() > 0.1
    # Fewer rows than columns: what is left to turn is a sign.
    few = _Rotated(E[:2], np.zeros(4, dtype=bool)).draw(rng, 8)
    ends = np.abs(few - E[:2]).max(axis=(1, 2)), np.abs(few - E[1::-1]).max(axis=(1, 2))
    assert np.minimum(*ends).max() < 1e-9


def test_p_values_of_gaussian_rows_are_uniform_with_few_rows():
    model = random_model(cl.DirectedGraph.from_edges([(0, 1), (1, 2)]), random_state=0)
    found = []
    for seed in range(40):
        X = model.sample(30, random_state=seed)
        rows = noise_rows(as_tables(X))
        shown = [cl.fit(model.graph, X).model]
        ((p_value, is_answered),) = noise_answers(rows, shown, [[0, 1, 2]], 0.2)
        assert is_answered == (p_value <= 0.2 + 1e-9)
        found.append(is_answered)
    # 8 are expected; in 99.9% of cases 1 to 17.
    assert 1 <= sum(found) <= 17


def test_groups_are_ranked_by_all_of_their_rows():
    rng = np.random.default_rng(3)
    groups = {}
    for name, weight in (("s", 0.8), ("t", -0.5), ("u", 0.4)):
        model = cl.LinearGaussianModel([[0, weight], [0, 0]], [1, 2], ["a", "b"])
        groups[name] = pd.DataFrame(rows_of(model, laplace(rng, (150, 2))), columns=["a", "b"])
    result = cl.learn(groups, n_starts=1)
    ranking = result.rank_members(groups)
    assert ranking.n_rows == 450
    assert ranking.best.graph.edges == (("a", "b"),)
    best = ranking.best.models
    assert [float(np.sign(best[name].B[0, 1])) for name in "stu"] == [1, -1, 1]
    alone = [cl.learn(rows, n_starts=1).rank_members(rows) for rows in groups.values()]
    behind = [each.classes[0].blocks[0].behind for each in alone]
    # What is far behind with all rows is less so in each group.
    assert ranking.members()[1].behind > max(abs(each).max() for each in behind)
    json.dumps(ranking.to_dict(), allow_nan=False)
    with pytest.raises(cl.InputError, match="there are several groups"):
        _ = ranking.best.model
    with pytest.raises(cl.InputError, match="the groups of these rows are"):
        result.rank_members({"s": groups["s"], "t": groups["t"]})


def test_tables_with_interventions_are_ranked_by_rows_that_nobody_set():
    rng = np.random.default_rng(5)

    def rows(draw, n):
        a, noise, c = (draw(rng, n) for _ in range(3))
        return pd.DataFrame({"a": a, "b": 0.7 * a + noise, "c": c})

    targets = [[], ["c"]]
    data = [rows(laplace, 300), rows(laplace, 100).assign(c=1.0)]
    result = cl.learn(data, interventions=targets, n_starts=1)
    ranking = result.rank_members(data)
    assert ranking.is_open
    assert ranking.n_rows == 400
    best = ranking.best
    assert best.graph.edges == (("a", "b"),)
    fitted = cl.fit(best.graph, data, interventions=targets)
    assert pytest.approx(fitted.model.B) == best.model.B
    assert best.model.mean == pytest.approx(fitted.model.mean)
    normal = [rows(np.random.Generator.standard_normal, n) for n in (300, 100)]
    assert not result.rank_members([normal[0], normal[1].assign(c=1.0)]).answered

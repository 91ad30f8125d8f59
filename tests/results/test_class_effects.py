import numpy as np
import pytest

from cyclearn import (
    DirectedGraph,
    InputError,
    Knowledge,
    LinearGaussianModel,
    Moments,
    class_effects,
    equivalence_class,
    learn,
)
from cyclearn.graphs import random_graph
from cyclearn.models import random_model

MARKET = LinearGaussianModel(
    [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]],
    [1, 1, 1, 1],
    names=["costs", "income", "price", "quantity"],
)


def population(model, n=1_000):
    return Moments(model.covariance, n, model.mean, names=model.names)


def slope(S, target, on):
    """Coefficients of a regression, from a covariance."""
    on = list(on)
    return np.linalg.solve(S[np.ix_(on, on)], S[on, target])


def test_a_class_of_a_stable_and_an_unstable_member():
    # Turning the cycle makes price → quantity 1/0.5 and quantity → price 1/−0.6, gain −3.33.
    found = class_effects(MARKET.graph, population(MARKET), "price", "quantity")
    assert (found.listed.size, found.listed.n_looked_at, found.listed.n_faulty("unstable")) == (
        2,
        2,
        1,
    )
    (effect,) = found.effects
    assert effect.graph == MARKET.graph
    # Around the loop once more each time: −0.6 (1 − 0.3 + 0.09 − …); held, only −0.6.
    assert effect.total_effect == pytest.approx(-0.6 / 1.3, abs=1e-6)
    assert effect.do_effect == pytest.approx(-0.6, abs=1e-6)
    assert "1 without a stable best fit" in str(found)
    costs = class_effects(MARKET.graph, population(MARKET), "costs", "quantity")
    assert costs.distinct.to_numpy() == pytest.approx(
        np.array([[0.7 * -0.6 / 1.3, 0.7 * -0.6 / 1.3, 1.0]]), abs=1e-6
    )


def test_a_longer_loop_with_an_outside_cause():
    # One way round the gain is −0.336, the other way round its inverse.
    weights = np.zeros((4, 4))
    weights[0, 1], weights[1, 2], weights[2, 3], weights[3, 1] = 0.9, 0.8, 0.7, -0.6
    model = LinearGaussianModel(weights, np.ones(4))
    found = class_effects(model.graph, population(model), 1, 3)
    assert found.listed.size == 2
    (effect,) = found.effects
    gain = 0.8 * 0.7 * -0.6
    assert effect.total_effect == pytest.approx(0.8 * 0.7 / (1 - gain), abs=1e-5)
    assert effect.do_effect == pytest.approx(0.8 * 0.7, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_acyclic_classes_give_the_numbers_of_ida(seed):
    """Regression of the target on the source and its parents, member by member."""
    model = random_model(random_graph(5, max_component=1, random_state=seed), random_state=seed)
    S = model.covariance
    for source, target in ((0, 4), (4, 0), (1, 2)):
        found = class_effects(model.graph, population(model), source, target)
        by_graph = {effect.graph: effect for effect in found.effects}
        for member in equivalence_class(model.graph):
            if not member.is_acyclic:
                continue
            parents = np.flatnonzero(member.adjacency[:, source])
            ida = 0.0 if target in parents else slope(S, target, [source, *parents])[0]
            assert by_graph[member].total_effect == pytest.approx(ida, abs=1e-8)
            assert by_graph[member].do_effect == pytest.approx(ida, abs=1e-8)


def test_a_chain_from_data_has_the_products_of_its_regressions():
    model = LinearGaussianModel([[0, 0.9, 0], [0, 0, -0.7], [0, 0, 0]], [1, 2, 1], list("abc"))
    data = model.sample(200, random_state=0)
    S = np.cov(data.to_numpy().T, bias=True)
    found = class_effects(model.graph, data, "a", "c")
    expected = [slope(S, 1, [0])[0] * slope(S, 2, [1])[0], 0.0]
    assert found.distinct["total_effect"].tolist() == pytest.approx(expected, abs=1e-9)
    assert found.distinct["share"].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert found.interval == pytest.approx((expected[0], 0.0), abs=1e-9)
    # Held at two, a moves c by twice its effect around the mean that a had.
    moved = found.do(2.0)
    mean = data.mean()
    centre = mean["c"] + expected[0] * (2.0 - mean["a"])
    assert moved["mean"].tolist().count(pytest.approx(mean["c"])) == 2
    assert moved["mean"].tolist().count(pytest.approx(centre)) == 1
    # What a does not explain of b, and b not of c, still varies.
    rest_b = S[1, 1] - S[0, 1] ** 2 / S[0, 0]
    rest_c = S[2, 2] - S[1, 2] ** 2 / S[1, 1]
    spread = np.sqrt(rest_c + slope(S, 2, [1])[0] ** 2 * rest_b)
    assert moved.loc[moved["mean"].sub(centre).abs() < 1e-9, "sd"].tolist() == [
        pytest.approx(spread)
    ]


def test_total_effects_are_those_of_the_models():
    model = random_model(random_graph(5, max_degree=5, random_state=4), random_state=1)
    found = class_effects(model.graph, population(model), 0, 3)
    assert found.listed.n_looked_at == equivalence_class(model.graph).size
    for effect in found.effects:
        assert effect.model.is_stable
        M = sum(np.linalg.matrix_power(effect.model.B, k) for k in range(3_000))
        if np.abs(np.linalg.eigvals(effect.model.B)).max() < 0.99:
            assert effect.total_effect == pytest.approx(M[0, 3], abs=1e-5)
        # All members fit as well as the truth, whose covariance it is.
        assert np.allclose(effect.model.covariance, model.covariance, rtol=1e-4, atol=1e-4)
        if not np.isnan(effect.do_effect):
            low, high = (effect.model.do({"X1": value}).mean[3] for value in (0.0, 1.0))
            assert effect.do_effect == pytest.approx(high - low, abs=1e-9)


def test_large_classes_are_sampled_and_say_so():
    graph = DirectedGraph.from_edges([(i, i + 1) for i in range(9)])
    model = LinearGaussianModel(0.5 * graph.adjacency, np.ones(10))
    everything = class_effects(graph, population(model), 0, 1)
    assert everything.listed.selection == "all"
    assert everything.listed.n_looked_at == everything.listed.size == 10
    some = class_effects(graph, population(model), 0, 1, max_members=8, random_state=1)
    assert (some.listed.selection, some.listed.n_looked_at, some.listed.size) == ("sampled", 8, 10)
    assert "8 graphs drawn at random from 10" in str(some)
    assert sum(effect.weight for effect in some.effects) == pytest.approx(1)
    # X1 is the first cause in one member of ten, and in no other it has an effect.
    shares = class_effects(graph, population(model), 0, 1).distinct["share"].tolist()
    assert shares == pytest.approx([0.9, 0.1])


def test_a_class_that_cannot_be_counted_is_listed_in_part():
    graph = random_graph(5, max_degree=6, random_state=0)
    model = random_model(graph, random_state=0)
    members = equivalence_class(graph, max_states=1)
    found = class_effects(members, population(model), 0, 1, max_members=3)
    assert (found.listed.selection, found.listed.n_looked_at, found.listed.size) == (
        "first",
        3,
        None,
    )
    assert "not a random sample" in str(found)


def test_knowledge_leaves_members_out():
    model = LinearGaussianModel([[0, 0.5, 0], [0, 0, 0.5], [0, 0, 0]], [1, 1, 1], list("abc"))
    known = Knowledge(exogenous=["a"])
    found = class_effects(model.graph, population(model), "a", "c", knowledge=known)
    assert (found.listed.size, found.listed.n_excluded, len(found.effects)) == (1, 2, 1)
    assert found.interval == pytest.approx((0.25, 0.25))
    result = learn(model.sample(500, random_state=0), method="hill-climbing", knowledge=known)
    assert result.effects("a", "c").listed.n_excluded == 2
    required = Knowledge(required=[("a", "b"), ("b", "a")])
    loop = DirectedGraph.from_edges([("a", "b"), ("b", "a"), ("b", "c")])
    found = class_effects(loop, population(model), "a", "c", knowledge=required)
    assert (found.listed.n_excluded, found.listed.n_looked_at) == (3, 1)
    assert {effect.graph for effect in found.effects} <= {loop}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "price"}, "both 'price'"),
        ({"target": "weather"}, "no node 'weather'"),
        ({"max_members": 0}, "max_members is 0"),
        ({"knowledge": Knowledge(exogenous=["weather"])}, "weather"),
    ],
)
def test_input_that_cannot_be_used_is_named(options, message):
    arguments = {"source": "price", "target": "quantity", **options}
    with pytest.raises(InputError, match=message):
        class_effects(MARKET.graph, population(MARKET), **arguments)


def test_the_picture_shows_every_different_effect():
    model = LinearGaussianModel([[0, 0.5, 0], [0, 0, 0.5], [0, 0, 0]], [1, 1, 1], list("abc"))
    ax = class_effects(model.graph, population(model), "a", "c").plot()
    (points,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert sorted(points.get_xdata()) == pytest.approx([0, 0.25], abs=1e-8)
    assert sorted(points.get_ydata()) == pytest.approx([1 / 3, 2 / 3])
    assert ax.get_xlabel() == "effect of a on c"
    assert ax.get_title() == "3 stable of 3 members"
    ax = class_effects(MARKET.graph, population(MARKET), "price", "quantity").plot()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["total effect", "do(price)"]
    ax.figure.canvas.draw()

import naive
import pytest
from hypothesis import given

from cyclearn import DirectedGraph, InputError, equivalent
from cyclearn.classes import CycleReversion, ParentExchange, ParentReduction, replay
from strategies import graphs, iter_exchanges, iter_reductions, iter_reversions, walks

PAPER = DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 0), (3, 2)])


@given(graphs(max_nodes=4))
def test_steps_are_those_of_the_definition(g):
    single = {s.apply(g) for s in [*iter_reductions(g), *iter_exchanges(g)]}
    turned = {s.apply(g) for s in iter_reversions(g)}
    allowed = {
        naive.as_graph(naive.support_of(code, g.n_nodes)) for code in naive.steps_once(g.support)
    }
    assert single | turned <= allowed
    # What the definition makes in one step without permuting columns is found in one step.
    by_rotation = {h for h in allowed if sorted(h.columns) != sorted(g.columns)}
    assert by_rotation <= single


@given(graphs(max_nodes=5))
def test_exchanges_and_reversions_are_undone_by_their_inverse(g):
    for step in [*iter_exchanges(g), *iter_reversions(g)]:
        changed = step.apply(g)
        assert changed.n_edges == g.n_edges
        assert step.inverse().apply(changed) == g
        assert step.inverse().inverse().apply(g) == changed


@given(graphs(max_nodes=5))
def test_words_say_what_changed(g):
    for step in iter_exchanges(g):
        changed = step.apply(g)
        (gone,) = set(g.edges) - set(changed.edges)
        (new,) = set(changed.edges) - set(g.edges)
        words = step.describe(g.names)
        assert f"drop {gone[0]} -> {gone[1]}, add {new[0]} -> {new[1]}" in words
    for step in iter_reductions(g):
        (gone,) = set(g.edges) - set(step.apply(g).edges)
        assert step.describe(g.names).endswith(f"drop {gone[0]} -> {gone[1]}")


@given(walks())
def test_steps_keep_the_class(pair):
    start, end = pair
    assert equivalent(start, end)


def test_the_steps_of_the_papers_example():
    g2 = CycleReversion.of(PAPER, "X2", "X4", "X3").apply(PAPER)
    g3 = CycleReversion.of(PAPER, "X1", "X3", "X2", "X4").apply(PAPER)
    exchange = ParentExchange.of(PAPER, "X1", "X3", drop="X4")
    assert exchange.describe(PAPER.names) == (
        "exchange parents of X1 and X3: drop X4 -> X1, add X3 -> X1"
    )
    g4 = exchange.apply(PAPER)
    g8 = ParentExchange.of(PAPER, "X3", "X1", drop="X1").apply(PAPER)
    for other in (g2, g3, g4, g8):
        assert other != PAPER
        assert equivalent(PAPER, other)
    assert set(g8.edges) - set(PAPER.edges) == {("X3", "X1")}
    assert set(PAPER.edges) - set(g8.edges) == {("X1", "X3")}


def test_direction_of_cycles():
    """Proposition 4: edges from elsewhere follow to the preceder."""
    g = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("d", "b"), ("e", "a")])
    turned = CycleReversion.of(g, "a", "b", "c").apply(g)
    assert set(turned.edges) == {("b", "a"), ("c", "b"), ("a", "c"), ("d", "a"), ("e", "c")}
    assert equivalent(g, turned)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g: ParentReduction(0, 1, 2).apply(g), "not parent reducible"),
        (lambda _: ParentReduction(0, 1, 2).inverse(), "no inverse"),
        (lambda g: ParentExchange.of(g, "X1", "X2", drop="X4"), "not parent exchangeable"),
        (lambda g: ParentExchange.of(g, 0, 2, drop=1).apply(g), "X2 -> X1 is not an edge"),
        (lambda g: ParentExchange.of(g, 0, 2, drop=0).apply(g), "X1 -> X1 is not an edge"),
        (lambda g: ParentExchange(0, 2, 3, 1, 0).apply(g), "does not allow"),
        (lambda g: CycleReversion.of(g, "X1", "X2").apply(g), "X1 -> X2 is not an edge"),
        (lambda g: CycleReversion.of(g, "X1").apply(g), "two or more nodes"),
        (lambda g: CycleReversion((0, 9)).apply(g), "no node 9"),
    ],
)
def test_steps_that_a_graph_does_not_allow(make, message):
    with pytest.raises(InputError, match=message):
        make(PAPER)


def test_replay_of_nothing_is_the_graph():
    assert replay(PAPER, ()) is PAPER

"""What is said about an edge is the same in every place, and about equally good graphs only."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import cyclearn as cl
from cyclearn.classes.class_statements import edge_verdict, pair_verdict
from cyclearn.results.bootstrap_result import Resample
from cyclearn.results.result_text import with_evidence

WAYS = [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize("chosen", [c for c in product([False, True], repeat=4) if any(c[1:])])
def test_verdicts_follow_from_the_ways_a_pair_is_joined(chosen):
    """Every set of ways in which graphs join a pair: none, a → b, b → a, both."""
    ways = [way for way, is_there in zip(WAYS, chosen, strict=True) if is_there]
    possible = tuple(any(way[n] for way in ways) for n in (0, 1))
    compelled = tuple(all(way[n] for way in ways) for n in (0, 1))
    adjacent = all(any(way) for way in ways)
    pair = pair_verdict(possible, compelled, always_adjacent=adjacent)
    assert (pair == "in every equally good graph") == (len(ways) == 1)
    assert (pair == "direction differs") == (len(ways) > 1 and adjacent and not any(compelled))
    for n in (0, 1):
        if possible[n]:
            verdict = edge_verdict(
                compelled=compelled[n], back_compelled=compelled[1 - n], always_adjacent=adjacent
            )
            assert (verdict == "in every equally good graph") == compelled[n]
            assert compelled[n] or verdict == pair


def learned(seed):
    graph = cl.simulate.random_graph(5, max_component=4, random_state=seed)
    truth = cl.simulate.random_model(graph, random_state=seed)
    return cl.learn(cl.Moments(truth.covariance, 2_000), method="hill-climbing")


@pytest.mark.parametrize("seed", range(8))
def test_table_print_and_class_say_the_same(seed):
    result = learned(seed)
    classes = [result.equivalence_class, *map(cl.equivalence_class, result.alternatives)]
    members = [set(member.edges) for each in classes for member in each]
    table = result.edge_table().set_index(["source", "target"])
    assert set(table.index) == set.union(*members)
    assert list(table.index[table["in_graph"]]) == list(result.graph.edges)
    shared = set.intersection(*members)
    assert set(table.index[table["verdict"] == "in every equally good graph"]) == shared
    assert table["n_graphs"].tolist() == [sum(e in m for m in members) for e in table.index]
    text = str(result)
    for edge in result.graph.edges:
        (line,) = [each for each in text.splitlines() if each.startswith(f"  {' -> '.join(edge)} ")]
        assert line.endswith(table.loc[edge, "verdict"])
    if not result.alternatives:
        of_class = result.equivalence_class.edge_table().set_index(["a", "b"])["verdict"]
        for pair in result.verdicts:
            assert of_class[pair.a, pair.b] == pair.verdict


def test_weights_are_those_of_the_model():
    result = learned(1)
    table = result.edge_table()
    shown = table[table["in_graph"]]
    i = [result.graph.index(name) for name in shown["source"]]
    j = [result.graph.index(name) for name in shown["target"]]
    assert np.array_equal(shown["weight"], result.model.B[i, j])
    scale = np.sqrt(result.model.covariance.diagonal())
    assert np.allclose(shown["standardised"], shown["weight"] * scale[i] / scale[j])
    assert table.loc[~table["in_graph"], "weight"].isna().all()
    drawn = result.to_networkx()
    assert [drawn.edges[e]["weight"] for e in result.graph.edges] == shown["weight"].tolist()


def test_probabilities_stand_beside_edges_when_asked_for():
    truth = cl.LinearGaussianModel([[0, 0, 0.8], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1], list("abc"))
    data = truth.sample(300, random_state=0)
    options = {"n_samples": 400, "effective_size": 200}
    result = cl.learn(data, posterior=options, bootstrap=3)
    table = result.edge_table().set_index(["source", "target"])
    for a, b in result.graph.edges:
        assert table.loc[(a, b), "probability"] == result.posterior.edge_probabilities().loc[a, b]
        frequency = result.bootstrap.edge_frequencies["abc".index(a), "abc".index(b)]
        assert table.loc[(a, b), "resamples"] == frequency
        words = f"probability {table.loc[(a, b), 'probability']:.2f}"
        assert words in str(result)
    assert f"of {result.graph.n_edges} edges have a probability of at least 0.9" in str(result)
    # The same knowledge and limits as in the search, and columns in another order.
    bound = cl.learn(data, knowledge=cl.Knowledge(forbidden=[("a", "c")]), posterior=options)
    assert bound.posterior.edge_probabilities().loc["a", "c"] == 0
    other = cl.learn(data[["c", "a", "b"]])
    turned = with_evidence(other, posterior=result.posterior).edge_table()
    turned = turned.set_index(["source", "target"])["probability"]
    assert all(turned[edge] == table.loc[edge, "probability"] for edge in result.graph.edges)


def test_evidence_is_about_the_same_variables():
    result = learned(1)
    other = cl.BootstrapResult(("a", "b"), (Resample(0, ((0, 1),)),), "rows", {})
    with pytest.raises(cl.InputError, match="other variables"):
        with_evidence(result, bootstrap=other)
    with pytest.raises(cl.InputError, match="give the result of"):
        with_evidence(result, posterior=other)


def test_ties_count_in_words_and_verdicts():
    result = learned(0)
    other = cl.DirectedGraph.from_edges([(0, 1)], names=result.graph.names)
    tied = replace(result, alternatives=(other,))
    n = result.n_equally_good + cl.equivalence_class(other).size
    assert tied.n_equally_good == n
    assert f"{n} graphs fit these data equally well" in str(tied)
    assert "They include those of another class" in str(tied)

from collections import Counter

import pytest
from scipy.stats import chisquare

from cyclearn.classes import equivalence_class
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph, random_graph

GRAPHS = [
    *(random_graph(5, max_degree=5, random_state=seed) for seed in (0, 4)),
    DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 0), (3, 2)]),
    DirectedGraph.from_edges([(0, 1), (0, 2), (1, 2), (3, 4), (4, 5)]),
]


@pytest.mark.parametrize("reducible", [False, True])
@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: f"{g.n_nodes}-{g.n_edges}")
def test_every_member_is_drawn_equally_often(graph, reducible):
    members = equivalence_class(graph, reducible=reducible)
    everyone = list(members)
    if len(everyone) > 300:
        pytest.skip("too many members to count their draws")
    drawn = Counter(members.sample(30 * len(everyone), random_state=0))
    assert set(drawn) == set(everyone)
    assert chisquare([drawn[member] for member in everyone]).pvalue > 1e-3


def test_members_of_a_class_beyond_counting_by_hand_are_members():
    graph = random_graph(40, max_degree=3, random_state=5)
    members = equivalence_class(graph)
    assert members.size > 10_000
    drawn = members.sample(20, random_state=1)
    assert all(member in members and member.n_edges == drawn[0].n_edges for member in drawn)
    assert len(set(drawn)) > 10
    assert drawn == members.sample(20, random_state=1)
    assert drawn != members.sample(20, random_state=2)


def test_what_cannot_be_drawn_is_named():
    members = equivalence_class(GRAPHS[0])
    with pytest.raises(InputError, match="n is -1"):
        members.sample(-1)
    assert members.sample(0) == ()
    entangled = random_graph(5, max_degree=6, random_state=0)
    with pytest.raises(LimitError):
        equivalence_class(entangled, max_states=1).sample(1)

"""Where ties are looked for: what is left out is equivalent to what was looked at."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings

from cyclearn import equivalence_class, simulate
from cyclearn.classes.territories import territories
from cyclearn.graphs.bitsets import columns_to_support, support_to_columns
from cyclearn.search.answer import ColumnKeys, members_by_block
from cyclearn.search.redrawn_triples import redrawn_pairs, toggled
from strategies import graphs


def support(columns):
    A = columns_to_support(columns).astype(np.uint8)
    np.fill_diagonal(A, 0)
    return A


def columns_of(A):
    return support_to_columns(A.astype(bool) | np.eye(len(A), dtype=bool))


def listed(graph, most=30):
    """The first members; whatever is said of all of them is true of the first ones too."""
    free = ~np.eye(graph.n_nodes, dtype=bool)
    members = members_by_block(graph, equivalence_class(graph), free, ~free & free)
    return list(islice(members, most))


def sparse(p, seed):
    return simulate.random_graph(p, max_component=3, random_state=seed).reduced()


def classes_around(members):
    drawn = ((support(columns), near) for columns, near in members)
    return {
        territories(columns_of(toggled(A, pairs)))
        for A, near in drawn
        for pairs in redrawn_pairs(A, near)
    }


@pytest.mark.parametrize("seed", range(10))
def test_triples_away_from_a_block_lead_to_no_other_class(seed):
    members = listed(sparse(8, seed))
    everywhere = [(columns, -1) for columns, _ in members]
    assert classes_around(members) == classes_around(everywhere)


@settings(max_examples=15)
@given(graphs(min_nodes=3, max_nodes=5))
def test_members_by_block_are_members(graph):
    graph = graph.reduced()
    members = [tuple(columns) for columns, _ in listed(graph)]
    assert members[0] == graph.columns or len(equivalence_class(graph).rotation_classes) > 1
    assert len(set(members)) == len(members)
    keys = {each.territories for each in equivalence_class(graph).rotation_classes}
    assert {territories(columns) for columns in members} <= keys


@settings(max_examples=15)
@given(graphs(min_nodes=3, max_nodes=5))
def test_graphs_with_the_same_columns_have_one_key(graph):
    rows = np.random.default_rng(0).integers(1, 2**63, size=graph.n_nodes).tolist()
    found = {}
    for columns, _ in listed(graph.reduced(), 10):
        A = support(columns)
        keys = ColumnKeys(rows, columns)
        for pairs in redrawn_pairs(A):
            changed = tuple(sorted(columns_of(toggled(A, pairs))))
            assert found.setdefault(changed, keys.changed(pairs)) == keys.changed(pairs)
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize("near", [0b1, 0b1000])
def test_triples_near_a_node_have_it(near):
    A = np.triu(np.ones((4, 4), dtype=np.uint8), 1)
    found = [pairs for pairs in redrawn_pairs(A, near) if pairs]
    everywhere = [pairs for pairs in redrawn_pairs(A) if pairs]
    assert 0 < len(found) < len(everywhere)

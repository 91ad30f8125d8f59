"""The classes of the library against the closure of few equalities, on all graphs at once."""

from itertools import combinations_with_replacement

import naive_rules
import pytest
from naive_closure import Closure

from cyclearn.classes.chordal_growth import is_perfect_orientation
from cyclearn.classes.rule_search import linked_classes
from cyclearn.classes.territories import territories


def classes(p, label):
    """Multisets that are the columns of a graph, by a label."""
    found = {}
    for columns in combinations_with_replacement(range(1, 1 << p), p):
        if naive_rules.seatings(columns):
            found.setdefault(label(columns), set()).add(columns)
    return {frozenset(members) for members in found.values()}


@pytest.mark.parametrize(("p", "n_classes"), [(3, 12), (4, 320)])
def test_the_classes_are_those_of_the_closure(p, n_classes):
    """Every graph up to four nodes: the search finds exactly what the closure finds."""
    closure = Closure(p)
    by_search = {}

    def key(columns):
        start = territories(columns)
        if start not in by_search:
            by_search[start] = min(linked_classes(start).links)
        return by_search[start]

    expected = classes(p, closure.label)
    assert classes(p, key) == expected
    assert len(expected) == n_classes


def test_perfect_orientations_are_told_as_by_their_definition():
    """Every multiset of up to three columns with up to four nodes."""
    found = 0
    for n in range(1, 4):
        for columns in combinations_with_replacement(range(1, 1 << 4), n):
            expected = naive_rules.is_chordal_orientation(columns)
            assert is_perfect_orientation(columns) == expected, columns
            found += expected
    assert found

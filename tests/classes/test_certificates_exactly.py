"""Whole proofs of equality carried out on random points, in exact arithmetic (``exact_steps``)."""

from collections import Counter
from fractions import Fraction
from random import Random

import exact_steps
import pytest
from exact_steps import carried, is_point, matrix_of
from real_roots import Root
from test_whole_class import GROWING, LARGEST, graph_of

from cyclearn import equivalence_class
from cyclearn.classes import RuleStep


def drawn(columns, random):
    """Weight one and small whole numbers on the columns."""
    p = len(columns)
    return [
        (
            Fraction(1),
            [Fraction(random.choice([-3, -2, -1, 1, 2, 3])) * (c >> v & 1) for v in range(p)],
        )
        for c in columns
    ]


def plain(step, graph):
    """What a step claims, as numbers and one word."""
    if not isinstance(step, RuleStep):
        return {}
    return {
        "rule": step.rule.name.lower(),
        "core": step.core,
        "witness": [graph.columns[v] for v in step.witness],
    }


def check(before, after, claim, random, point=None):
    """Carry a point over a step, or another one where a number of it is zero by accident.

    Returns the point after the step, and whether it is the one given that was carried.
    """
    start = drawn(before, random) if point is None else point
    while True:
        try:
            found = carried(start, before, after, **claim)
        except exact_steps.DegenerateError:
            start = drawn(before, random)
            continue
        assert is_point(found, after)
        assert matrix_of(found) == matrix_of(start)
        return found, start is point


def is_rational(point):
    return all(isinstance(x, Fraction) for d, q in point for x in (d, *q))


def walk(proof, random):
    """Every step of a proof, there and back: the rules used, and whether one point went all along.

    A root of a root is not taken: there another point is drawn.
    """
    graph, rules, is_whole = proof.first, Counter(), True
    point = drawn(graph.columns, random)
    for step in proof.forward:
        following = step.apply(graph)
        claim = plain(step, graph)
        rule = claim.get("rule", "rotation")
        rules[rule] += 1
        before, after = list(graph.columns), list(following.columns)
        if rule in ("scaling", "facet") and not is_rational(point):
            point = None
        point, is_same = check(before, after, claim, random, point)
        is_whole &= is_same
        check(after, before, claim, random)
        graph = following
    return rules, is_whole


@pytest.mark.parametrize("text", [*GROWING, LARGEST])
def test_every_step_of_a_proof_is_carried_out(text):
    """To a graph of every class of rotations, and to members drawn at random."""
    random = Random(0)
    members = equivalence_class(graph_of(text))
    goals = [next(iter(part), None) for part in members.rotation_classes]
    rules, n_whole = Counter(), 0
    for goal in [*filter(None, goals), *members.sample(2, random_state=1)]:
        used, is_whole = walk(members.certificate(goal), random)
        rules += used
        n_whole += is_whole and bool(set(used) - {"rotation"})
    assert set(rules) - {"rotation"}
    assert n_whole


def test_a_wrong_step_is_not_carried_out():
    """A column of one block becomes one of another, and no column links the two."""
    witness = [0b0011, 0b1100, 0b1100]
    before, after = [0b0001, *witness], [0b0100, *witness]
    with pytest.raises(AssertionError):
        carried(drawn(before, Random(0)), before, after, rule="block", witness=witness)


def test_numbers_with_a_root():
    two = Root([-2, 0, 1], 1, 2).number
    assert two * two == 2
    assert two > Fraction(7, 5)
    assert not two > Fraction(3, 2)
    assert 1 / (two - 1) == two + 1
    # A polynomial with other roots: (t² − 1)(t² − 2).
    mixed = Root([2, 0, -3, 0, 1], Fraction(5, 4), 2).number
    assert mixed * mixed - 1 == 1
    assert (mixed - 1).inverse() * (mixed - 1) == 1

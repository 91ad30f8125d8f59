"""The same answer on every machine: last digits, order and units of the columns change nothing."""

import json
from pathlib import Path

import pytest
from perturbed_problems import SIZES, differences, perturbed, problem, statement

from cyclearn import Knowledge, learn
from slow_tests import few

GOLDEN = Path(__file__).parent / "golden_answers.json"
N_PROBLEMS = 200
N_GOLDEN = 18


def same(moments, other, **options):
    return differences(statement(moments, **options), statement(other, **options))


@pytest.mark.parametrize("tenth", few(3, range(10)))
def test_last_digits_order_and_units_change_nothing(tenth):
    # As many seeds as there are sizes: no part has more of the large problems than another.
    for seed in range(tenth * N_PROBLEMS // 10, (tenth + 1) * N_PROBLEMS // 10):
        moments = problem(seed)
        other = perturbed(moments, seed)
        # One start of several: where that is the same, all are.
        assert same(moments, other, n_starts=1) == [], seed


@pytest.mark.parametrize("method", ["tabu", "hill-climbing", "exact"])
def test_the_same_for_every_method(method):
    small = [seed for seed in range(20) if SIZES[seed % len(SIZES)] <= 5]
    for seed in small[:4]:
        moments = problem(seed)
        other = perturbed(moments, seed)
        assert same(moments, other, method=method) == [], seed


def test_the_same_with_knowledge():
    for seed in range(0, 40, 3):
        moments = problem(seed)
        a, b, c, *_ = sorted(moments.names)
        knowledge = Knowledge(required=[(a, b)], forbidden=[(b, c)])
        other = perturbed(moments, seed)
        assert same(moments, other, knowledge=knowledge, n_starts=1) == [], seed


def test_json_differs_in_last_digits_only():
    for seed in range(10):
        moments = problem(seed)
        other = perturbed(moments, seed, permute=False, rescale=False)
        records = (json.loads(learn(each, n_starts=1).to_json()) for each in (moments, other))
        assert differences(*records) == [], seed


def test_golden_answers():
    """Graphs that every processor and every BLAS must come to; made by ``make_golden.py``."""
    for seed, expected in json.loads(GOLDEN.read_text()).items():
        found = statement(problem(int(seed)), penalty="bic", n_starts=2)
        assert {key: found[key] for key in expected} == expected, seed

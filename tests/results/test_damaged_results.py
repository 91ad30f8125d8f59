"""Results that somebody has changed by hand, or a disk has: refused in one line, or read."""

import json
import random

import pytest

from cyclearn import InputError, LearnResult, LinearGaussianModel, Posterior, learn, posterior

MODEL = LinearGaussianModel([[0, 0.8, 0], [0, 0, 0.5], [0, 0, 0]], [1, 1, 1], ["a", "b", "c"])
TABLES = [MODEL.sample(60, random_state=n) for n in (1, 2)]
QUICK = {"method": "hill-climbing"}
ODD = [None, True, -1, 0.5, 1e100, "", "a", [], {}, [[]], {"a": 1}, "\ud800", 10**400, [None], 0]


@pytest.fixture(scope="module")
def saved():
    found = {
        "one": learn(TABLES[0], bootstrap=2, **QUICK),
        "groups": learn({"x": TABLES[0], "y": TABLES[1]}, **QUICK),
        "interventions": learn(TABLES, interventions=[[], ["b"]], **QUICK),
        "lags": learn(TABLES[0], lags=1, **QUICK),
    }
    return {name: result.to_json(timings=True) for name, result in found.items()}


@pytest.mark.parametrize(
    ("which", "change"),
    [
        ("one", lambda record: record["tables"][0]["moments"].update(mean=[10**400, 0, 0])),
        ("one", lambda record: record.update(score=10**400)),
        ("one", lambda record: record["bootstrap"].update(names=["x", "y", "z"])),
        ("groups", lambda record: record.update(tables=[])),
        (
            "interventions",
            lambda record: record["tables"][0]["moments"].update(covariance=[[1, 0], [0, 1]]),
        ),
        ("interventions", lambda record: record["tables"][0]["moments"]["covariance"][0].reverse()),
        ("interventions", lambda record: record["tables"][0]["moments"].update(mean=["a", 0, 0])),
        ("interventions", lambda record: record["tables"][1]["moments"].update(n_samples=-5)),
        (
            "interventions",
            lambda record: record["tables"][1]["moments"].update(names=["a", "a", "c"]),
        ),
        ("lags", lambda record: record["tables"][0]["moments"].update(exogenous=["a"])),
        ("lags", lambda record: record["tables"][0]["moments"]["exogenous"].pop()),
        ("lags", lambda record: record["options"].update(lags=10**9)),
    ],
)
def test_what_no_result_can_hold_is_refused(saved, which, change):
    record = json.loads(saved[which])
    change(record)
    with pytest.raises(InputError, match="damaged"):
        LearnResult.from_dict(record)


@pytest.fixture(scope="module")
def sampled():
    return posterior(TABLES[0], n_samples=20, effective_size=20, random_state=0)


@pytest.mark.parametrize("name", ["weights", "edges", "both", "r_hat", "effective_size", "graphs"])
def test_posteriors_of_which_a_part_is_missing_are_refused(sampled, name):
    record = sampled.to_dict()
    record[name] = record[name][:-1]
    with pytest.raises(InputError, match="damaged"):
        Posterior.from_dict(record)


@pytest.fixture(scope="module")
def warned():
    walks = TABLES[0].cumsum()
    return learn(walks, **QUICK), posterior(walks, n_samples=20, effective_size=20)


@pytest.mark.parametrize(
    "change", [{"code": "unknown"}, {"n_rows": "a"}, {"more": 1}, {"group": 3}]
)
def test_warnings_that_are_none_are_refused(warned, change):
    for found in warned:
        record = found.to_dict()
        assert record["warnings"][0]["code"] == "dependent_rows"
        record["warnings"][0] |= change
        with pytest.raises(InputError, match="damaged"):
            type(found).from_dict(record)


@pytest.mark.parametrize(("of", "name"), [(LearnResult, "learn"), (Posterior, "posterior")])
def test_files_of_an_older_version_are_refused_in_one_sentence(of, name):
    words = rf"another version of cyclearn \(cyclearn.{of.__name__}/2\); .*: run {name} again"
    with pytest.raises(InputError, match=words):
        of.from_dict({"schema": f"cyclearn.{of.__name__}/2"})
    with pytest.raises(InputError, match=f"not a result of {name}"):
        of.from_dict({"schema": "something else"})


def places(value):
    """Every place in a record, as what holds it and its key there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in pairs:
        yield value, key
        if isinstance(part, (dict, list)):
            yield from places(part)


@pytest.mark.parametrize("which", ["one", "groups", "interventions", "lags"])
def test_whatever_stands_somewhere_is_read_or_refused(saved, which):
    rng = random.Random(0)
    n_read = 0
    for _ in range(60):
        record = json.loads(saved[which])
        holder, key = rng.choice(list(places(record)))
        holder[key] = rng.choice(ODD)
        try:
            result = LearnResult.from_dict(record)
        except InputError:
            continue
        n_read += 1
        assert str(result)
        assert len(result.edge_table()) >= result.graph.n_edges
    assert 0 < n_read < 60

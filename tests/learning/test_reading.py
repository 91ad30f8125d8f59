"""Every call on data reads it in the same way: options are honoured, or refused in words."""

import inspect

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.data.reading import as_tables

NAMES = ["a", "b", "c"]
GRAPH = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c")], NAMES)


def rows(n=120, seed=0):
    """A chain with a heavy tail, rows that depend on the row before them, and some holes."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, 3)) ** 3
    X = np.zeros((n, 3))
    for t in range(n):
        before = X[t - 1] if t else 0.0
        X[t] = 0.6 * before + noise[t]
        X[t, 1] += 0.7 * X[t, 0]
        X[t, 2] += 0.7 * X[t, 1]
    return pd.DataFrame(X, columns=NAMES)


PLAIN = rows()
LABELLED = PLAIN.assign(who=np.repeat(["x", "y"], 60))
TARGETED = PLAIN.assign(done=np.repeat(["", "a"], 60))
WITH_HOLES = PLAIN.mask(np.random.default_rng(1).random(PLAIN.shape) < 0.1)

# One value of each field of Reading that is not its default, and the table that it is for.
READINGS = {
    "groups": ({"groups": "who"}, LABELLED),
    "interventions": ({"interventions": "done"}, TARGETED),
    "intervention_kind": ({"interventions": "done", "intervention_kind": "noise"}, TARGETED),
    "intercepts": ({"interventions": "done", "intercepts": "table"}, TARGETED),
    "n_effective": ({"n_effective": 30}, PLAIN),
    "missing": ({"missing": "em"}, WITH_HOLES),
    "margins": ({"margins": "rank"}, PLAIN),
    "lags": ({"lags": 1}, PLAIN),
    "exogenous": ({"exogenous": ["a"]}, PLAIN),
    "categories": ({"categories": ["kind"]}, PLAIN.assign(kind=np.resize([0.0, 1.0, 2.0], 120))),
    "ordered": ({"ordered": ["a"]}, PLAIN.assign(a=pd.qcut(PLAIN["a"], 9, labels=False))),
    "continuous": ({"continuous": ["a"]}, PLAIN.assign(a=np.digitize(PLAIN["a"], [-1.0, 0.5]))),
    "weights": ({"weights": "w"}, PLAIN.assign(w=np.resize([1.0, 2.0, 4.0], 120))),
    "within": ({"within": "who"}, LABELLED),
    "se": ({"se": "standard"}, PLAIN),
    "covariance": ({"covariance": "shrunk"}, PLAIN),
}
# The same call without the option; a table with missing cells cannot do without one.
WITHOUT = {
    "intervention_kind": {"interventions": "done"},
    "intercepts": {"interventions": "done"},
    "missing": {"missing": "rows"},
}
QUICK = {"n_starts": 1, "method": "hill-climbing"}
SHORT = {"effective_size": 20, "max_steps": 5_000, "n_samples": 50}


def learned(data, **reading):
    result = cl.learn(data, **QUICK, **reading)
    return result.tables, round(result.score, 9)


def fitted(data, **reading):
    found = cl.fit(GRAPH, data, **reading)
    return found.n_effective, round(found.log_likelihood, 9)


def resampled(data, **reading):
    return cl.bootstrap(data, 4, **QUICK, **reading).to_dict()


def sampled(data, **reading):
    # Resamples, which many robust probabilities need, are read in the bootstrap.
    found = cl.posterior(data, robust=False, **SHORT, **reading)
    assert found.is_determined
    return found.n_effective, found.edge_probabilities().to_numpy().round(9).tolist()


def estimated(data, **reading):
    learner = cl.CyclicGraphLearner(**QUICK, **reading).fit(data)
    return learner.score_, learner.coef_.tolist()


def checked(data, **reading):
    return cl.check_data(data, **reading)


CALLS = {
    "learn": learned,
    "fit": fitted,
    "bootstrap": resampled,
    "posterior": sampled,
    "CyclicGraphLearner": estimated,
    "check_data": checked,
}


def said(call, data, reading):
    """What a call answers, or the error that it raises."""
    try:
        return repr(call(data, **reading)) if call is not learned else str(call(data, **reading)[1])
    except cl.InputError as error:
        return f"refused: {error}"


def said_once(name, data, reading, known={}):  # noqa: B006 - shared by all tests
    """The same where many options are compared with one answer."""
    key = name, data.to_json(), str(reading)
    if key not in known:
        known[key] = said(CALLS[name], data, reading)
    return known[key]


@pytest.mark.filterwarnings("ignore::cyclearn.SamplingWarning")
@pytest.mark.parametrize("option", READINGS)
@pytest.mark.parametrize("name", CALLS)
def test_an_option_of_reading_is_honoured_or_refused(name, option):
    reading, data = READINGS[option]
    found = said(CALLS[name], data, reading)
    assert not found.startswith("refused: ")
    if name == "check_data" and option in ("intercepts", "intervention_kind"):
        # What rows look like does not depend on these.
        return
    if option == "se" and name != "check_data":
        # Errors of a model and its test alone depend on it.
        return
    plain = data.drop(columns=["who", "done"], errors="ignore")
    without = WITHOUT.get(option, {})
    other = said_once(name, data if without.get("interventions") else plain, without)
    assert found != other


@pytest.mark.parametrize("option", READINGS)
def test_fields_are_the_options_of_every_call(option):
    for function in (cl.learn, cl.fit, cl.bootstrap, cl.posterior, cl.check_data, as_tables):
        assert option in inspect.signature(function).parameters
    assert option in cl.CyclicGraphLearner().get_params()


def test_every_field_of_reading_is_tested_here():
    assert set(READINGS) == set(cl.Reading.names())


@pytest.mark.filterwarnings("ignore::cyclearn.SamplingWarning")
@pytest.mark.parametrize("option", ["n_effective", "margins", "lags", "covariance"])
def test_options_given_to_an_inner_call_count_there(option):
    reading, data = READINGS[option]
    alone = cl.posterior(data, **SHORT, **reading)
    inside = cl.learn(data, **QUICK, posterior={**SHORT, **reading}).posterior
    assert inside.edge_probabilities().equals(alone.edge_probabilities())
    resampled_alone = cl.bootstrap(data, 3, **QUICK, **reading)
    resampled_inside = cl.learn(data, **QUICK, bootstrap={"n_resamples": 3, **reading}).bootstrap
    assert resampled_inside.resamples == resampled_alone.resamples


def test_options_given_to_an_inner_call_are_checked():
    with pytest.raises(cl.InputError, match="groups is 'nonsense', but there is no such column"):
        cl.learn(PLAIN, **QUICK, posterior={"groups": "nonsense"})
    with pytest.raises(
        cl.InputError, match="posterior: there is no option 'lag'; did you mean 'lags"
    ):
        cl.learn(PLAIN, posterior={"lag": 1})
    with pytest.raises(cl.InputError, match="bootstrap: there is no option 'margin'"):
        cl.learn(PLAIN, bootstrap={"margin": "rank"})
    with pytest.raises(cl.InputError, match="there is no option 'margin'; did you mean 'margins'"):
        cl.fit(GRAPH, PLAIN, margin="rank")


@pytest.mark.filterwarnings("ignore::cyclearn.SamplingWarning")
def test_warnings_are_the_same_wherever_a_table_is_read():
    found = cl.check_data(PLAIN)
    assert found
    assert cl.learn(PLAIN, **QUICK).warnings == found
    # What is too weak to be seen depends on the penalty, which a posterior has of its own.
    own = cl.posterior(PLAIN, **SHORT).warnings
    assert own[:-1] == found[:-1] == as_tables(PLAIN).warnings
    assert own[-1].code == found[-1].code == "low_power"
    assert own[-1].weakest < found[-1].weakest
    assert cl.learn(PLAIN, **QUICK, posterior=SHORT).posterior.warnings == own


def test_tables_with_interventions_have_warnings(tmp_path):
    result = cl.learn(TARGETED, interventions="done", **QUICK)
    assert result.warnings
    assert result.warnings == cl.check_data(TARGETED, interventions="done")
    page = result.report(tmp_path / "page.html", data=TARGETED).read_text()
    assert result.warnings[0].message.split(":")[1][:40].strip() in page


def test_effects_after_interventions_check_their_options():
    result = cl.learn(TARGETED, interventions="done", **QUICK)
    with pytest.raises(cl.InputError, match="there is no option 'bogus'"):
        result.effects("a", "b", bogus=1)
    with pytest.raises(cl.InputError, match="group is 'nope'"):
        result.effects("a", "b", group="nope")
    with pytest.raises(cl.InputError, match="max_members is -3"):
        result.effects("a", "b", max_members=-3)
    with pytest.raises(cl.InputError, match="knowledge is 3; give a Knowledge"):
        result.effects("a", "b", knowledge=3)
    forbidden = cl.Knowledge(forbidden=result.graph.edges[:1])
    assert result.graph.n_edges
    assert result.effects("a", "b", knowledge=forbidden).listed.n_excluded >= 1


@pytest.mark.parametrize("option", [name for name in READINGS if name != "groups"])
def test_the_fit_of_a_result_is_that_of_fit(option):
    reading, data = READINGS[option]
    result = cl.learn(data, **QUICK, **reading)
    same = cl.fit(result.graph, data, **reading)
    assert result.fitted.to_dict() == same.to_dict()
    read = cl.LearnResult.from_json(result.to_json())
    assert read.fitted.log_likelihood == pytest.approx(same.log_likelihood, rel=1e-9)
    assert read == result


def test_a_report_of_groups_without_edges_is_written(tmp_path):
    noise = [np.random.default_rng(seed).normal(size=(200, 3)) for seed in (0, 1)]
    result = cl.learn(noise, **QUICK)
    assert result.graph.n_edges == 0
    assert "no variable has an effect" in result.report(tmp_path / "page.html").read_text().lower()


def test_brief_probabilities_take_few_steps():
    brief = cl.learn(PLAIN, posterior="brief", **QUICK).posterior
    assert brief is not None
    assert brief.n_steps <= 100_000
    with pytest.raises(cl.InputError, match="posterior is 'brif'; give True, False, 'brief'"):
        cl.learn(PLAIN, posterior="brif")

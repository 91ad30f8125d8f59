"""Whatever the data: print, tables and report tell one story."""

import html
import re

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.classes.class_statements import SAME
from cyclearn.report.page import report_html

RING = cl.LinearGaussianModel(np.roll(np.eye(4), 1, axis=1) * 0.8, np.ones(4))
PAIR = cl.LinearGaussianModel(
    [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]], np.ones(4)
)


def _hidden():
    h, y, z, e, f = np.random.default_rng(0).standard_normal((5, 2000))
    return pd.DataFrame({"a": h + 0.8 * z + e, "b": h + 0.7 * y + f, "y": y, "z": z})


def _groups():
    tables = [PAIR.sample(200, random_state=n).assign(who=f"g{n}") for n in range(2)]
    return pd.concat(tables, ignore_index=True)


def _held():
    B = np.array(PAIR.B)
    B[:, 2] = 0
    return [PAIR.sample(300, random_state=0), cl.LinearGaussianModel(B, np.ones(4)).sample(300)]


NOISE = np.random.default_rng(1).standard_normal((200, 4))
KNOWN = cl.Knowledge(required=[("X4", "X2")])
CASES = {
    "feedback": (PAIR.sample(500, random_state=0), {}),
    "a ring, one way of two stable": (RING.sample(1000, random_state=0), {}),
    "noise": (NOISE, {}),
    "few rows": (RING.sample(7, random_state=1), {}),
    "walks": (NOISE.cumsum(axis=0), {}),
    "lags": (NOISE.cumsum(axis=0), {"lags": 1}),
    "a hidden cause": (_hidden(), {}),
    "bent": (np.exp(PAIR.sample(300, random_state=2)), {}),
    "ranks": (np.exp(PAIR.sample(300, random_state=2)), {"margins": "rank"}),
    "holes": (PAIR.sample(200, random_state=3).mask(NOISE > 1), {"missing": "em"}),
    "groups": (_groups(), {"groups": "who"}),
    "experiments": (_held(), {"interventions": [[], ["X3"]]}),
    "moments": (cl.Moments([[1, 0.5, 0.3], [0.5, 1, 0.4], [0.3, 0.4, 1]], 120), {}),
    "knowledge": (PAIR.sample(400, random_state=4), {"knowledge": KNOWN}),
}


@pytest.fixture(scope="module", params=CASES)
def told(request):
    """A result, and the words of its report."""
    data, options = CASES[request.param]
    result = cl.learn(data, **options)
    page = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>", "", report_html(result, data=data))
    lines = re.sub(r"</(p|li|h\d|tr|caption)>", "\n", page)
    return result, html.unescape(re.sub(r"<[^>]+>", "", lines))


def test_one_number_of_edges_that_are_the_same_in_all(told):
    result, words = told
    table = result.edge_table()
    number = int((table[table.in_graph]["verdict"] == SAME).sum())
    lines = [line for line in str(result).splitlines() if line.startswith("  ")]
    assert sum(f"  {SAME}" in line for line in lines) == number
    listed = re.search(r"In every equally good graph \((\d+)\)", words)
    assert listed is None or int(listed[1]) == number
    for text in (str(result), words):
        for said in re.findall(r"(\d+) of \d+ edges (?:is|are) in every one", text):
            assert int(said) == number
        assert ("no edge is in every one" not in text) or number == 0


def test_one_number_of_graphs(told):
    result, words = told
    size = result.n_equally_good
    for text in (str(result), words):
        for said in re.findall(r"([\d,]+) graphs(?: that agree with the knowledge)? fit", text):
            assert int(said.replace(",", "")) == size
        if "No other graph" in text:
            assert size == 1
    opened = re.search(r"([\d,]+) graphs remain(?: \(([\d,]+) more)?", words)
    if opened and result.experiments is None:
        assert sum(int(n.replace(",", "")) for n in opened.groups() if n) == size
    settled = re.search(r"Only one graph is open: (?:of ([\d,]+) that fit|there)", words)
    assert settled is None or int(settled[1] or 1) == size


def test_the_fit_is_judged_once(told):
    result, words = told
    is_good = "reproduces the covariances of the data well" in words
    assert ("with the data or the fit" not in words) or is_good
    if is_good and not result.groups:
        assert re.search("data poorly|fairly well|not exactly", words) is None


def test_warnings_are_the_same_everywhere(told):
    result, words = told
    for warning in result.warnings:
        assert warning.message in words
        assert f"Warning: {warning}" in str(result)
    if result.warnings:
        assert "Before you rely on this" in words
        assert "No problems were found" not in words


def test_feedback_is_the_same_everywhere(told):
    result, words = told
    loops = [", ".join(nodes) for nodes in result.graph.components if len(nodes) > 1]
    assert ("No feedback." in str(result).splitlines()) == (not loops)
    assert ("No feedback was found" in words) == (not loops)
    for loop in loops:
        assert f"Feedback among: {loop}" in str(result)
    if len(loops) == 1:
        said = f"Feedback was found among {loops[0]}"
        assert said.replace(", ", " and ") in words.replace(", ", " and ")


def test_nobody_is_sent_to_a_posterior_that_would_be_refused(told):
    result, words = told
    takes_one = not result.options.is_unknown
    assert ("posterior=True" in words) == takes_one
    assert takes_one or "ask for the posterior" not in str(result)

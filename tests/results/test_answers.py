"""What every call returns can be handed on: as JSON, as a file, in a notebook."""

import inspect
import json
import sys
import typing

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.data.reading import as_tables
from cyclearn.foundation.answers import Answer
from cyclearn.metrics import evaluate
from cyclearn.models.projection import Projection
from cyclearn.posterior.posterior_effects import PosteriorEffects
from cyclearn.posterior.sample_quality import SampleQuality
from cyclearn.results.rivals import Rivals

LOOP = cl.DirectedGraph.from_edges([("a", "<b>"), ("<b>", "c"), ("c", "<b>")])
CHAIN = cl.DirectedGraph.from_edges([("a", "<b>"), ("<b>", "c")])
RETURNED = (
    *(cl.LearnResult, cl.Posterior, cl.BootstrapResult, cl.FittedModel, cl.FittedGroups, Rivals),
    *(cl.ClassEffects, cl.MemberRanking, cl.NextExperiment, Projection, PosteriorEffects),
    *(cl.EquivalenceClass, cl.InterventionalClass, cl.Equivalence, cl.Comparison),
    *(cl.QuasiEquivalence, cl.DirectedGraph, cl.LinearGaussianModel, cl.Knowledge),
)


@pytest.mark.parametrize("kind", RETURNED, ids=lambda kind: kind.__name__)
def test_what_calls_return_is_an_answer(kind):
    assert issubclass(kind, Answer)
    assert kind.to_dict is not Answer.to_dict


# What public calls return that is a number or a list of parts, and what is an error.
NOT_ANSWERS = {"ClassDistance", "SuccessRate", "DataWarning", "HardConstraint", "MultiDomainOutput"}


def returned_classes(annotation):
    """The classes of this library in what a call returns."""
    if isinstance(annotation, type) and annotation.__module__.startswith("cyclearn"):
        yield annotation
    for part in typing.get_args(annotation):
        yield from returned_classes(part)


def public_calls():
    for module in (cl, cl.metrics, cl.simulate):
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                yield pytest.param(getattr(module, name), id=name)


@pytest.mark.parametrize("call", list(public_calls()))
def test_every_public_call_returns_answers(call):
    call = inspect.unwrap(call)
    names = {name: getattr(cl, name) for name in cl.__all__} | {"pd": pd}
    annotation = eval(call.__annotations__["return"], names | vars(sys.modules[call.__module__]))
    for kind in returned_classes(annotation):
        assert issubclass(kind, Answer) or kind.__name__ in NOT_ANSWERS


@pytest.fixture(scope="module")
def sampled():
    """A posterior over two graphs, as if it had been sampled."""
    adjacencies = np.array([CHAIN.adjacency, LOOP.adjacency], dtype=np.uint8)
    weights = np.array([0.75, 0.25])
    edges = np.tensordot(weights, adjacencies, axes=1)
    return cl.Posterior(
        names=CHAIN.names,
        adjacencies=adjacencies,
        weights=weights,
        n_samples=400,
        share_left=1.0,
        edges=edges,
        both=edges * edges.T,
        quality=SampleQuality(np.full((3, 3), 1.01), np.full((3, 3), 400.0)),
        wanted_size=300,
        tables=as_tables(cl.Moments(np.eye(3), 100, names=CHAIN.names)),
        penalty=2.3,
        options={"n_chains": 4},
        n_steps=1_000,
        is_cut=False,
        n_resamples=0,
        is_parametric=False,
    )


@pytest.fixture(scope="module")
def answers(sampled):
    data = cl.simulate.random_model(CHAIN, random_state=0).sample(100, random_state=0)
    result = cl.learn(data, n_starts=1)
    return [
        *(LOOP, cl.Knowledge(required=[("a", "c")]), cl.fit(CHAIN, data), result, sampled),
        *(cl.fit(CHAIN, [data, data * 2]), result.equivalence_class, cl.equivalent(LOOP, CHAIN)),
        *(cl.equivalent(CHAIN, CHAIN), cl.compare(LOOP, CHAIN), evaluate(LOOP, CHAIN)),
        *(cl.project(LOOP, result.model.model), result.model.model, result.effects("a", "c")),
        *(cl.equivalence_class(LOOP, interventions=[[], ["a"]]), cl.next_experiment(LOOP)),
        cl.equivalence_class(CHAIN).certificate(CHAIN),
        PosteriorEffects("a", "<b>", np.array([0.5, np.nan]), np.array([True, True]), 0),
        *(cl.l1_learn(data), cl.metrics.structure_scores(CHAIN, LOOP), result.model.fit_indices),
    ]


def test_answers_become_json_files_and_notebook_cells(answers, tmp_path):
    for answer in answers:
        record = json.loads(answer.to_json())
        assert record
        file = json.loads(answer.save(tmp_path / "answer.json").read_text(encoding="utf-8"))
        assert record.items() <= file.items()
        assert "<b>c" not in answer._repr_html_().replace("<p><b>", "")
        assert answer._repr_html_().startswith("<")


def test_a_posterior_becomes_draws_for_arviz(sampled):
    pytest.importorskip("arviz")
    draws = sampled.to_arviz()["posterior"]
    assert draws["edge"].dims == ("chain", "draw", "source", "target")
    shares = draws["edge"].mean(("chain", "draw"))
    np.testing.assert_allclose(shares, sampled.edges, atol=1 / 400)
    assert float(shares.sel(source="c", target="<b>")) == 0.25
    assert draws.attrs["r_hat"] == pytest.approx(1.01)


def test_without_arviz_an_error_says_what_to_install(sampled, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(cl.InputError, match="pip install arviz"):
        sampled.to_arviz()

"""What is found out about a learned graph: the same as the library says, and repeatable."""

import json

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.app.views import FORMS
from cyclearn.report.exports import exported

# One server for all: where tests run in several processes, these run in one of them.
pytestmark = pytest.mark.xdist_group("app")


@pytest.fixture(scope="module")
def result(client, example):
    content = client.file(f"/api/jobs/{example[1]}/files/result.json")
    return cl.LearnResult.from_json(content.decode())


@pytest.fixture(scope="module")
def small(client, example):
    """A graph of three variables, about which questions are answered soon."""
    job = client.start("learn", example[0], reading={"columns": ["costs", "price", "profit"]})
    client.wait(job)
    return example[0], job


def done(client, kind, example, **request):
    job = client.start(kind, example[0], of=example[1], **request)
    client.wait(job)
    return job, client.get(f"/api/jobs/{job}")["view"]


def test_effects_are_those_of_the_library(client, example, result):
    job, view = done(client, "effects", example, source="price")
    assert [each["name"] for each in view["targets"]] == [
        name for name in result.graph.names if name != "price"
    ]
    for target in view["targets"]:
        distinct = result.effects("price", target["name"]).distinct
        expected = distinct[["do_effect", "share"]].to_numpy()
        assert target["effects"] == [pytest.approx(row) for row in expected]
    table = client.file(f"/api/jobs/{job}/files/effects.csv").decode()
    assert table.startswith("source,target,total_effect,do_effect,share\nprice,")


def predicted(view, target, size):
    """What the page makes of its five numbers a variable, as ``LearnResult.do`` names it."""

    def at(level, effect, a, b, c):
        mean, half = level + effect * size, view["z"] * (a + b * size + c * size**2) ** 0.5
        return mean, mean - half, mean + half

    every = [at(*line) for line in target["lines"]]
    own = dict(zip(("mean", "lower", "upper"), at(*target["own"]), strict=True))
    means, lows, highs = zip(*every, strict=True)
    return own | {
        "smallest": min(means), "largest": max(means), "lowest": min(lows), "highest": max(highs),
    }  # fmt: skip


@pytest.mark.parametrize("how", ["hold", "push"])
def test_predictions_at_any_value_are_those_of_the_library(client, example, result, how):
    job, view = done(client, "effects", example, source="price", how=how)
    for size in (-1.7 * view["sd"], 0.4 * view["sd"]):
        changed = {"price": size + (view["mean"] if how == "hold" else 0)}
        expected = result.do(**{"values" if how == "hold" else "shift": changed})
        for target in view["targets"]:
            row = expected.loc[target["name"]]
            for name, value in predicted(view, target, size).items():
                assert value == pytest.approx(row[name], rel=1e-6), (target["name"], name)
    table = client.file(f"/api/jobs/{job}/files/predictions.csv").decode()
    assert table.startswith("variable,now,mean,lower,upper,smallest,largest,lowest,highest,sd\n")


def test_every_file_that_is_offered_is_made(client, example, result, tmp_path):
    view = client.get(f"/api/jobs/{example[1]}")["view"]
    assert view["lacking"] == []
    for name in FORMS:
        content = client.file(f"/api/jobs/{example[1]}/files/{name}").decode()
        assert content == exported(result, f".{name.partition('.')[2]}")
    whole = tmp_path / "result.json"
    whole.write_bytes(client.file(f"/api/jobs/{example[1]}/files/result.json"))
    assert cl.load(whole) == result
    (tmp_path / "graph.tetrad").write_bytes(
        client.file(f"/api/jobs/{example[1]}/files/graph.tetrad")
    )
    assert cl.read_graph(tmp_path / "graph.tetrad") == result.graph


@pytest.fixture(scope="module")
def intervened(client):
    """A graph of an experiment: in some rows b was intervened on."""
    model = cl.LinearGaussianModel([[0, 0.9, 0], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1], list("abc"))
    cut = cl.LinearGaussianModel([[0, 0, 0], [0, 0, 0.8], [0, 0, 0]], [1, 4, 1], list("abc"))
    parts = [
        each.sample(200, random_state=n).assign(target=target)
        for n, (each, target) in enumerate([(model, ""), (cut, "b")])
    ]
    content = pd.concat(parts).to_csv(index=False).encode()
    table = client.upload("experiment.csv", content).json()["id"]
    reading = {"columns": ["a", "b", "c"], "labels": ["target"]}
    job = client.start("learn", table, reading=reading, options={"interventions": "target"})
    client.wait(job)
    return table, job


def test_interventions(client, intervened, tmp_path, monkeypatch):
    view = client.get(f"/api/jobs/{intervened[1]}")["view"]
    shown = [(each["source"], each["target"]) for each in view["edges"]]
    assert shown == [("a", "b"), ("b", "c")]
    assert view["interventions"]
    page = client.file(f"/api/jobs/{intervened[1]}/files/report.html").decode()
    assert "tables with interventions" in page
    assert "no saturated model" in view["fit"][0]["verdict"]
    content = client.file(f"/api/jobs/{intervened[1]}/files/result.json")
    result = cl.LearnResult.from_json(content.decode())
    assert result.experiments is not None
    # What if; what to do next; resamples, in which the experiment stays one.
    _, found = done(client, "effects", intervened, source="a")
    size = 1.3 * found["sd"]
    expected = result.do({"a": found["mean"] + size})
    for target in found["targets"]:
        for name, value in predicted(found, target, size).items():
            assert value == pytest.approx(expected.loc[target["name"], name])
    _, advice = done(client, "experiment", intervened)
    assert advice["is_settled"]
    _, resampled = done(client, "bootstrap", intervened, n_resamples=2)
    assert resampled["n_resamples"] == 2
    job = client.start("compare", intervened[0], of=intervened[1], text="a -> b")
    assert "interventions" in client.wait(job, "failed")["message"]
    (tmp_path / "experiment.csv").write_bytes(client.file(f"/api/tables/{intervened[0]}/file"))
    monkeypatch.chdir(tmp_path)
    script = client.file(f"/api/script?job={intervened[1]}").decode()
    exec(compile(script, "repeat.py", "exec"), {"__name__": "__main__"})
    graph = tmp_path / f"graph{intervened[1][1:]}.json"
    assert graph.read_bytes() == client.file(f"/api/jobs/{intervened[1]}/files/graph.json")


def test_a_noise_intervention_is_resampled_as_one(client, intervened):
    reading = {"columns": ["a", "b", "c"], "labels": ["target"]}
    options = {"interventions": "target", "intervention_kind": "noise"}
    job = client.start("learn", intervened[0], reading=reading, options=options)
    client.wait(job)
    assert "class.csv" in client.get(f"/api/jobs/{job}")["view"]["lacking"]
    resamples, _ = done(client, "bootstrap", (intervened[0], job), n_resamples=1)
    script = client.file(f"/api/script?job={resamples}").decode()
    assert "cl.bootstrap(data, 1, interventions='target', intervention_kind='noise')" in script


def test_resamples_are_those_of_the_library(client, small, tmp_path):
    job, view = done(client, "bootstrap", small, n_resamples=3)
    (tmp_path / "market.csv").write_bytes(client.file(f"/api/tables/{small[0]}/file"))
    data = cl.read_table(tmp_path / "market.csv", columns=["costs", "price", "profit"])
    found = cl.bootstrap(data, 3)
    assert json.loads(client.file(f"/api/jobs/{job}/files/result.json")) == found.to_dict()
    assert view["n_resamples"] == 3
    # The report has them too.
    assert b"3 resamples" in client.file(f"/api/jobs/{small[1]}/files/report.html")
    table = client.file(f"/api/jobs/{job}/files/bootstrap.csv").splitlines()
    assert len(table) == 1 + len(view["edges"]) == 1 + len(found.edges)


def test_a_stopped_bootstrap_keeps_what_it_has(client, small):
    job = client.start("bootstrap", small[0], of=small[1], n_resamples=10_000)
    client.wait_for_kept(job)
    client.post(f"/api/jobs/{job}/stop")
    assert client.wait(job)["is_kept"]
    view = client.get(f"/api/jobs/{job}")["view"]
    assert 1 <= view["n_resamples"] < 10_000
    script = client.file(f"/api/script?job={job}").decode()
    assert f"cl.bootstrap(data, {view['n_resamples']})" in script
    assert "stopped" in script


def test_probabilities(client, small):
    job, view = done(client, "posterior", small, effective_size=1)
    assert all(0 <= each["probability"] <= 1 for each in view["edges"])
    found = cl.Posterior.from_json(client.file(f"/api/jobs/{job}/files/result.json").decode())
    assert found.moments.names == ("costs", "price", "profit")
    script = client.file(f"/api/script?job={job}").decode()
    assert "cl.posterior(data, effective_size=1)" in script


def test_another_penalty_beside_a_graph(client, small):
    """The same search but for its penalty; it belongs to the graph."""
    edges = {}
    for penalty in ("bic", "900 bic"):
        job, view = done(client, "learn", small, penalty=penalty)
        assert client.job(job)["of"] == small[1]
        assert view["names"] == ["costs", "price", "profit"]
        assert f"penalty={penalty!r}" in view["options"]
        edges[penalty] = len(view["members"][0]["edges"])
    assert edges["bic"] > edges["900 bic"]


def test_experiments_are_those_of_the_library(client, example, result):
    job, view = done(client, "experiment", example, size=1)
    advice = cl.next_experiment(result, size=1, max_predicted=5)
    assert view["words"] == advice.in_words()
    assert [each["targets"] for each in view["candidates"]] == [
        list(each.targets) for each in advice.candidates
    ]
    table = client.file(f"/api/jobs/{job}/files/experiments.csv").decode()
    assert table.startswith("targets,classes,expected_left")
    script = client.file(f"/api/script?job={job}").decode()
    assert f"cl.next_experiment(result{example[1][1:]}, size=1" in script


@pytest.fixture(scope="module")
def grouped(client):
    """A graph of two groups, named by a column of text."""
    model = cl.LinearGaussianModel([[0, 0.8, 0], [0, 0, 0.7], [0, 0, 0]], [1, 1, 1], list("abc"))
    parts = [model.sample(200, random_state=n).assign(site=f"site {n}") for n in (1, 2)]
    content = pd.concat(parts).to_csv(index=False).encode()
    table = client.upload("sites.csv", content).json()["id"]
    reading = {"columns": ["a", "b", "c"], "labels": ["site"]}
    job = client.start("learn", table, reading=reading, options={"groups": "site"})
    client.wait(job)
    return table, job


def test_groups_share_the_graph_and_not_the_weights(client, grouped, tmp_path, monkeypatch):
    view = client.get(f"/api/jobs/{grouped[1]}")["view"]
    assert view["groups"] == ["site 1", "site 2"]
    by_group = [[row["weight"] for row in view["coefficients"] if row["group"] == name]
                for name in view["groups"]]  # fmt: skip
    means = [sum(pair) / 2 for pair in zip(*by_group, strict=True)]
    assert view["members"][0]["weights"] == pytest.approx(means)
    assert [each["group"] for each in view["fit"]] == view["groups"]
    (tmp_path / "sites.csv").write_bytes(client.file(f"/api/tables/{grouped[0]}/file"))
    monkeypatch.chdir(tmp_path)
    script = client.file(f"/api/script?job={grouped[1]}").decode()
    scope = {"__name__": "__main__"}
    exec(compile(script, "repeat.py", "exec"), scope)
    graph = tmp_path / f"graph{grouped[1][1:]}.json"
    assert graph.read_bytes() == client.file(f"/api/jobs/{grouped[1]}/files/graph.json")
    assert set(view["lacking"]) >= {"model.lav", "model.dagitty"}
    for name in ("report.html", "picture.svg", "coefficients.csv", "class.csv", "edges.csv"):
        assert client.file(f"/api/jobs/{grouped[1]}/files/{name}")
    _, found = done(client, "effects", grouped, source="a", group="site 2")
    result = scope[f"result{grouped[1][1:]}"]
    expected = result.effects("a", "b", group="site 2").distinct["do_effect"]
    effects = {each["name"]: each["effects"] for each in found["targets"]}
    assert [effect for effect, _ in effects["b"]] == pytest.approx(expected.tolist())
    _, resampled = done(client, "bootstrap", grouped, n_resamples=2)
    assert resampled["n_resamples"] == 2
    sampled, _ = done(client, "posterior", grouped, effective_size=1)
    script = client.file(f"/api/script?job={sampled}").decode()
    assert "cl.posterior(data, groups='site', effective_size=1)" in script
    job = client.start("compare", grouped[0], of=grouped[1], text="a -> b")
    assert "groups" in client.wait(job, "failed")["message"]


def test_groups_with_shrunk_correlations_have_probabilities(client, grouped):
    options = {"groups": "site", "covariance": "shrunk"}
    reading = {"columns": ["a", "b", "c"], "labels": ["site"]}
    about = grouped[0], client.start("learn", grouped[0], reading=reading, options=options)
    client.wait(about[1])
    job, view = done(client, "posterior", about, effective_size=1)
    assert all(0 <= each["probability"] <= 1 for each in view["edges"])
    script = client.file(f"/api/script?job={job}").decode()
    assert "groups='site', covariance='shrunk', effective_size=1)" in script


def test_a_series_given_its_past(client, tmp_path, monkeypatch):
    rng, rows = np.random.default_rng(0), np.zeros((300, 2))
    for t in range(1, 300):
        rows[t] = rows[t - 1] @ [[0.5, 0], [0.4, 0.3]] + rng.normal(size=2)
    content = pd.DataFrame(rows, columns=["gdp", "rate"]).to_csv(index=False).encode()
    table = client.upload("series.csv", content).json()["id"]
    about = table, client.start("learn", table, options={"lags": 1, "covariance": "shrunk"})
    client.wait(about[1])
    view = client.get(f"/api/jobs/{about[1]}")["view"]
    assert view["names"] == ["gdp", "rate", "gdp[t-1]", "rate[t-1]"]
    assert any("Ledoit and Wolf" in each["message"] for each in view["warnings"])
    _, found = done(client, "effects", about, source="rate[t-1]")
    (gdp, *_) = found["targets"]
    assert None not in gdp["own"]
    done(client, "posterior", about, effective_size=1)
    done(client, "bootstrap", about, n_resamples=2)
    _, compared = done(client, "compare", about, text="rate[t-1] -> gdp")
    assert compared["words"]
    refused = client.start("experiment", table, of=about[1])
    assert "lags=1" in client.wait(refused, "failed")["message"]
    (tmp_path / "series.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    script = client.file(f"/api/script?job={about[1]}").decode()
    assert "lags=1, covariance='shrunk'" in script
    exec(compile(script, "repeat.py", "exec"), {"__name__": "__main__"})
    graph = tmp_path / f"graph{about[1][1:]}.json"
    assert graph.read_bytes() == client.file(f"/api/jobs/{about[1]}/files/graph.json")
    page = client.file(f"/api/jobs/{about[1]}/files/report.html").decode()
    assert "Edges over time" in page
    assert "graphs were sampled in proportion to their probability" in page


def test_a_member_of_the_class_is_equivalent_and_no_worse(client, example, result):
    other = next(graph for graph in result.equivalence_class if graph != result.graph)
    _, view = done(client, "compare", example, graph=other.to_dict())
    assert view["words"][0].startswith("Equivalent, proved")
    assert any("0 to the nearest graph" in line for line in view["words"])
    assert view["fit"]["indices"][0][1] == view["fit"]["indices"][0][2]


def test_a_part_of_the_learned_graph_is_tested_against_it(client, example, result):
    (a, b), *others = result.graph.edges
    text = "\n".join(f"{x} -> {y}" for x, y in others)
    job, view = done(client, "compare", example, text=text)
    assert [a, b] not in view["graph"]["edges"]
    assert any("on 1 degree of freedom: p-value below 0.001" in line for line in view["words"])
    assert any("worse" in line for line in view["words"])
    own = json.loads(client.file(f"/api/jobs/{job}/files/graph.json"))
    assert own["edges"] == view["graph"]["edges"]
    # The learned graph is what it was.
    learned = json.loads(client.file(f"/api/jobs/{example[1]}/files/graph.json"))
    assert learned == result.graph.to_dict()


@pytest.mark.parametrize(
    ("kind", "request_"),
    [
        ("effects", {"source": "nobody"}),
        ("effects", {"source": "price", "group": "nobody"}),
        ("effects", {"source": "price", "how": "shout"}),
        ("experiment", {"size": 99}),
        ("experiment", {"size": "all"}),
        ("bootstrap", {"n_resamples": 0}),
        ("bootstrap", {"n_resamples": 10**9}),
        ("compare", {"text": "price -> nobody"}),
        ("compare", {"text": ""}),
        ("compare", {"graph": {"nodes": ["price"]}}),
        ("compare", {}),
    ],
)
def test_questions_that_make_no_sense_fail_in_words(client, example, kind, request_):
    job = client.start(kind, example[0], of=example[1], **request_)
    message = client.wait(job, "failed")["message"]
    assert message
    assert "defect" not in message


def test_a_question_needs_a_graph(client, example):
    for of in (None, "j999"):
        asked = {"kind": "effects", "table": example[0], "of": of, "request": {}}
        assert client.post("/api/jobs", asked).status_code == 400


def test_the_script_of_everything_runs(client, example, tmp_path, monkeypatch, capsys):
    job, _ = done(client, "compare", example, text="price -> quantity")
    effects, _ = done(client, "effects", example, source="price")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "market.csv").write_bytes(client.file(f"/api/tables/{example[0]}/file"))
    for name in (job, effects):
        script = client.file(f"/api/script?job={name}").decode()
        exec(compile(script, "repeat.py", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert "Effect of price on profit" in printed
    assert "smallest" in printed
    assert "log-likelihood" in printed
    everything = client.file("/api/script").decode()
    compile(everything, "repeat.py", "exec")
    assert everything.count("cl.learn(") >= 1

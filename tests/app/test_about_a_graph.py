"""What is found out about a learned graph: the same as the library says, and repeatable."""

import json

import pytest

import cyclearn as cl


@pytest.fixture(scope="module")
def result(client, example):
    content = client.file(f"/api/jobs/{example[1]}/files/result.json")
    return cl.LearnResult.from_json(content.decode())


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


def test_resamples_are_those_of_the_library(client, example, result):
    job, view = done(client, "bootstrap", example, n_resamples=3)
    found = cl.bootstrap(result.model.moments, 3, kind="parametric")
    assert view["n_resamples"] == found.n_resamples
    kept = cl.BootstrapResult.from_dict(
        json.loads(client.file(f"/api/jobs/{job}/files/result.json"))
    )
    assert kept.kind == "rows"
    assert len(client.file(f"/api/jobs/{job}/files/bootstrap.csv").splitlines()) == 1 + len(
        view["edges"]
    )


def test_a_stopped_bootstrap_keeps_what_it_has(client, example):
    job = client.start("bootstrap", example[0], of=example[1], n_resamples=10_000)
    client.wait_for_kept(job)
    client.post(f"/api/jobs/{job}/stop")
    assert client.wait(job)["is_kept"]
    view = client.get(f"/api/jobs/{job}")["view"]
    assert 1 <= view["n_resamples"] < 10_000
    script = client.file(f"/api/script?job={job}").decode()
    assert f"cl.bootstrap(data, {view['n_resamples']})" in script
    assert "stopped" in script


def test_probabilities(client, example):
    job, view = done(client, "posterior", example, effective_size=1)
    assert all(0 <= each["probability"] <= 1 for each in view["edges"])
    assert view["edges"][0]["probability"] > 0.9
    found = cl.Posterior.from_json(client.file(f"/api/jobs/{job}/files/result.json").decode())
    assert found.moments.names == ("costs", "income", "price", "quantity", "stock", "profit")
    assert "cl.posterior(result1.model.moments" in client.file(f"/api/script?job={job}").decode()


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
    assert "log-likelihood" in printed
    everything = client.file("/api/script").decode()
    compile(everything, "repeat.py", "exec")
    assert everything.count("cl.learn(") >= 1

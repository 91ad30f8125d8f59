"""A result in a file: what its name says, and what other programs and we read again."""

import json
from io import StringIO

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.graphs.formats import parse_graph, tetrad_text
from cyclearn.models.syntax import lavaan_names
from cyclearn.report.exports import SUFFIXES, downloads, exported
from cyclearn.report.page import report_html

NAMES = ["costs", "in-come", "price_1", "quantity"]
MARKET = cl.LinearGaussianModel(
    [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]], [1, 1, 1, 1], NAMES
)


@pytest.fixture(scope="module")
def result():
    return cl.learn(MARKET.sample(2_000, random_state=0))


def test_results_are_saved_and_read_again(tmp_path, result):
    path = result.save(tmp_path / "result.json")
    again = cl.load(path)
    assert again == result
    assert again.n_starts_agreeing == result.n_starts_agreeing
    assert again.edge_table().equals(result.edge_table())
    # A result without timings can be saved too.
    short = cl.LearnResult.from_json(result.to_json())
    assert cl.load(short.save(tmp_path / "short.json")) == result


def test_posteriors_and_bootstraps_are_saved_and_read_again(tmp_path, result):
    rows = MARKET.sample(200, random_state=0)
    sampled = cl.posterior(rows, n_samples=200, effective_size=50)
    again = cl.load(sampled.save(tmp_path / "p.json"))
    assert again.to_dict() == sampled.to_dict()
    resampled = cl.bootstrap(rows, n_resamples=2, method="hill-climbing")
    assert cl.load(resampled.save(tmp_path / "b.json")) == resampled
    page = result.report(tmp_path / "r.html", posterior=again, bootstrap=resampled)
    words = page.read_text()
    probability = sampled.edge_probabilities().loc["costs", "price_1"]
    assert f"probability {probability:.2f}" in words
    assert "learned again from 2 resamples" in words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "not a saved result"),
        ("[1]", "not a saved result"),
        ('{"schema": "cyclearn.LearnResult/99"}', "another version of cyclearn"),
        ('{"schema": "cyclearn.LearnResult/5", "graph": {}}', "damaged"),
        ('{"schema": "cyclearn.BootstrapResult/1"}', "damaged"),
        ('{"schema": "cyclearn.Posterior/5", "names": 3}', "damaged"),
        ("{", "JSON"),
    ],
)
def test_what_is_no_result_is_refused(tmp_path, text, message):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(cl.InputError, match=message):
        cl.load(path)


@pytest.mark.parametrize("suffix", ["", ".pickle", ".html", ".txt"])
def test_a_result_is_saved_as_json_only(tmp_path, result, suffix):
    with pytest.raises(cl.InputError, match=r"name the file \.json"):
        result.save(tmp_path / f"result{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_suffix_is_honoured(tmp_path, result, suffix):
    path = result.export(tmp_path / f"result{suffix}")
    content = path.read_bytes()
    first = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml", ".html": b"<!DOCTYPE"}
    assert content.startswith(first.get(suffix, b""))
    if suffix in {".json", ".dot", ".gv", ".txt", ".tetrad"}:
        assert cl.read_graph(path) == result.graph
    # The same result, the same file.
    assert result.export(path).read_bytes() == content


@pytest.mark.parametrize("name", ["g.foo", "g", "g.xlsx"])
def test_other_suffixes_are_refused(tmp_path, result, name):
    with pytest.raises(cl.InputError, match="name the file"):
        result.export(tmp_path / name)
    with pytest.raises(cl.InputError, match="pictures and reports only"):
        result.export(tmp_path / "g.csv", labels=True)
    assert not list(tmp_path.iterdir())


def test_other_readers_find_the_weights(tmp_path, result):
    path = result.export(tmp_path / "g.graphml")
    drawn = nx.read_graphml(path)
    assert list(drawn.nodes) == NAMES
    assert {edge: drawn.edges[edge]["weight"] for edge in drawn.edges} == {
        (a, b): result.model.B[NAMES.index(a), NAMES.index(b)] for a, b in result.graph.edges
    }
    table = pd.read_csv(StringIO(exported(result, ".csv")))
    assert np.allclose(table["weight"], result.edge_table()["weight"], equal_nan=True)
    record = json.loads(exported(result, ".json"))
    assert record["graph"] == result.graph.to_dict()


def test_lavaan_has_one_equation_for_each_effect(result):
    lines = exported(result, ".lav").splitlines()
    words = dict(zip(NAMES, lavaan_names(tuple(NAMES)), strict=True))
    assert words == {"costs": "costs", "in-come": "in_come", "price_1": "price_1"} | {
        "quantity": "quantity"
    }
    assert '# "in-come" is called in_come' in lines
    for name, word in words.items():
        causes = [line for line in lines if line.startswith(f"{word} ~ ")]
        parents = result.graph.parents(name)
        assert len(causes) == bool(parents)
        if parents:
            terms = causes[0].split(" ~ ")[1].split(" + ")
            assert [term.split("*")[1] for term in terms] == [words[p] for p in parents]
        assert sum(line.startswith(f"{word} ~~ ") for line in lines) == 1


def test_lavaan_names_are_words_and_different():
    odd = ("a b", "a_b", "a-b", "start", "1", "é", "a.b", "_x", "function", "NULL", "vNULL")
    words = lavaan_names(odd)
    assert len(set(words)) == len(odd)
    assert all(word.isascii() and word[0].isalpha() for word in words)
    assert {"start", "function", "NULL"}.isdisjoint(words)
    assert (words[1], words[6]) == ("a_b", "a.b")


def test_latex_names_are_text(result):
    for suffix in (".tikz", ".tex"):
        text = exported(result, suffix)
        assert r"price\_1" in text
        assert text.count(r"\begin{") == text.count(r"\end{")
    assert exported(result, ".tikz").count(r"\draw[causal edge") == result.graph.n_edges
    assert exported(result, ".tex").count(r"$\to$") == result.graph.n_edges


def test_downloads_leave_out_what_cannot_hold_a_name():
    names = ["a;b", "c -> d"]
    odd = cl.learn(cl.Moments([[2.0, 1.0], [1.0, 2.0]], 100, names=names))
    assert {"Tetrad", "edge list"}.isdisjoint(downloads(odd))
    assert {"the whole result", "GraphML", "lavaan"} <= set(downloads(odd))
    with pytest.raises(cl.InputError, match="Tetrad format cannot represent the name 'c -> d'"):
        exported(odd, ".tetrad")


def test_tetrad_reads_back():
    for seed in range(5):
        graph = cl.simulate.random_graph(6, random_state=seed)
        assert cl.graphs.formats.parse_graph(tetrad_text(graph)) == graph


HOSTILE = ["a_{$x$}%&#\\input{f}", "</text><script>alert(1)</script>", '"];evil [label="\\n']


def test_names_are_text_in_every_form():
    """No name ends what it stands in, in TikZ, LaTeX, DOT, GraphML or HTML."""
    graph = cl.DirectedGraph.from_edges([(HOSTILE[0], HOSTILE[1]), (HOSTILE[1], HOSTILE[2])])
    model = cl.simulate.random_model(graph, random_state=0)
    result = cl.learn(model.sample(300, random_state=0), n_starts=1)
    for suffix in (".tikz", ".tex"):
        text = exported(result, suffix)
        assert "\\input" not in text
        assert "\\_\\{\\$x\\$\\}\\%\\&\\#" in text
    assert set(parse_graph(exported(result, ".dot")).names) == set(HOSTILE)
    assert "<script>alert" not in exported(result, ".graphml")
    assert "<script>alert" not in report_html(result)

import json

import pytest
from hypothesis import given
from strategies import graphs

from cyclearn import DirectedGraph, InputError, read_graph, write_graph
from cyclearn.graphs.formats import edge_list, parse_graph

AB = DirectedGraph.from_edges([("a", "b"), ("b", "a")], names=["a", "b", "c"])


@given(graphs())
def test_texts_round_trip(g):
    assert parse_graph(json.dumps(g.to_dict())) == g
    assert parse_graph(g.to_dot()) == g
    assert parse_graph(edge_list(g)) == g


@pytest.mark.parametrize(
    "text",
    [
        '{"nodes": ["a", "b", "c"], "edges": [["a", "b"], ["b", "a"]]}',
        "digraph { a; b; c; a -> b -> a }",
        'digraph "my graph" { node [shape=box]; "a" -> "b" [label="x"]; b -> a; c }',
        "// a comment\ndigraph { a -> {b}; b -> a; c }",
        "Graph Nodes:\na;b;c\n\nGraph Edges:\n1. a --> b\n2. b --> a\n",
        "Graph Nodes:\na,b,c\n\nGraph Edges:\n1. a --> b\n2. a <-- b pd nl\n\nGraph Attributes:\n",
        "a -> b # first\nb -> a\nc\n",
        "a --> b\n\nb->a\nc",
    ],
)
def test_all_forms(text):
    assert parse_graph(text) == AB


def test_odd_names_survive_dot_and_json():
    g = DirectedGraph.from_edges([('say "hi"', "back\\slash"), ("back\\slash", "µ <b>")])
    assert parse_graph(g.to_dot()) == g
    assert parse_graph(json.dumps(g.to_dict())) == g


@pytest.mark.parametrize("name", ["g.json", "g.dot", "g.gv", "g.txt", "g"])
def test_files(tmp_path, name):
    write_graph(AB, tmp_path / name)
    assert read_graph(tmp_path / name) == AB


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ('{"nodes": ["a"]}', "a graph is"),
        ('{"nodes": ["a"', "not valid JSON"),
        ('{"nodes": ["a"], "edges": [["a", "b"]]}', "no node 'b'"),
        ('{"nodes": ["a", "a"], "edges": []}', "twice"),
        ("digraph { a -> ", "not valid DOT"),
        ("graph { a -- b }", "undirected"),
        ("Graph Nodes:\na;b\n\nGraph Edges:\n1. a --- b\n", "not a directed edge"),
        ("a <-> b", "not an edge"),
        ("a -> ", "not an edge"),
        ("a -> a", "self-loops"),
    ],
)
def test_unreadable_graphs(tmp_path, text, message):
    path = tmp_path / "graph"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_graph(path)
    assert "\n" not in str(caught.value)


def test_missing_and_binary_files(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_graph(tmp_path / "absent.json")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot read"):
        read_graph(tmp_path / "binary")

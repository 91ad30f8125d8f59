import contextlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclearn import DirectedGraph, InputError, read_graph, write_graph
from cyclearn.graphs.formats import edge_list, parse_graph
from strategies import graphs

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
        "# made by hand\nDIGRAPH G\n{ a; b; c; a -> b -> a }",
        "/* a */ Digraph { a -> b; subgraph s { b -> a }; c }",
        'digraph { "a":n -> b:"p q":s; b -> "a"; rankdir = LR; edge [dir=forward]; c }',
        'digraph { a -> "b"; "b" -> "a" + ""; c [label=<<b>bold</b>>, shape=box][color=red] }',
        "GRAPH NODES:\na b c\n\nGRAPH EDGES:\na --> b\nb --> a\n",
    ],
)
def test_all_forms(text):
    assert parse_graph(text) == AB


def test_odd_names_survive_dot_and_json():
    g = DirectedGraph.from_edges([('say "hi"', "back\\slash"), ("back\\slash", "µ <b>")])
    assert parse_graph(g.to_dot()) == g
    assert parse_graph(json.dumps(g.to_dict())) == g


@pytest.mark.parametrize("name", ["g.json", "g.dot", "g.gv", "g.txt", "g.tetrad", "g"])
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
        ("x,y,z\n1,2,3\n", "not a node or an edge"),
        ("Dear reader,\nthis is a letter.", "not a node or an edge"),
        ("a[1]\nb", "not a node or an edge"),
        ("a -> b;\n", "not an edge"),
        ("a -> {b}", "not an edge"),
        ("a → b\nb -> c", "not an edge"),
        ("digraph { a -- b }", "-- has no direction"),
        ("digraph { a -> b [dir=back] }", "dir=back"),
        ("digraph { edge [dir=none]; a -> b }", "dir=none"),
        ("digraph { a -> b } digraph { b -> a }", "one digraph per file"),
        ("digraph { a -> b = c }", "not valid DOT"),
        ("digraph { a.b -> c }", "unexpected '.'"),
        ("digraph { a -> <b }", "never closed"),
        ("digraph { a -> b [color=] }", "a value is expected"),
        ("digraph " + "{" * 5000 + "}" * 5000, "nested too deeply"),
        ('{"nodes": 3, "edges": []}', '"nodes" is 3'),
        ('{"nodes": null, "edges": []}', '"nodes" is None'),
        ('{"nodes": ["a"], "edges": null}', '"edges" is None'),
        ('{"nodes": ["a"], "edges": 3}', '"edges" is 3'),
        ('{"nodes": ["a"], "edges": [3]}', "3 is not an edge"),
        ('{"nodes": ["a"], "edges": ["ab"]}', "'ab' is not an edge"),
        ('{"nodes": [{}], "edges": []}', "not the name of a node"),
        ('{"nodes": [true], "edges": []}', "not the name of a node"),
        ('{"nodes": ["a", "b"], "edges": [["a", null]]}', "not the name of a node"),
        ('{"nodes": [1], "edges": [[1, 0]]}', "no node '0'"),
        ("[" * 100_000, "nested too deeply"),
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


def test_numbers_in_json_are_labels():
    g = parse_graph('{"nodes": [1, 2, 3], "edges": [[1, 2]]}')
    assert (g.names, g.edges) == (("1", "2", "3"), (("1", "2"),))
    g = parse_graph('{"nodes": [10, "20"], "edges": [["10", 20]]}')
    assert g.edges == (("10", "20"),)


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("subgraph s { a -> b } -> c", [("a", "b"), ("a", "c"), ("b", "c")]),
        ("a -> {b; c -> d}", [("a", "b"), ("a", "c"), ("a", "d"), ("c", "d")]),
        ("{a b} -> {{c} d}", [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]),
        ('"a b":"p q" -> c', [("a b", "c")]),
        (r'"a\nb" -> "c\"d\\e"', [(r"a\nb", r'c"d\e')]),
        ("-1.5 -> µ", [("-1.5", "µ")]),
    ],
)
def test_dot_ends(text, edges):
    assert set(parse_graph(f"digraph {{ {text} }}").edges) == set(edges)


def test_nothing_is_printed_about_bad_dot(capfd):
    with pytest.raises(InputError, match="not valid DOT: found the end of the text where"):
        parse_graph("digraph { a -> ")
    assert capfd.readouterr() == ("", "")


def test_a_comment_needs_a_space_before_it():
    assert parse_graph("x#y -> b # why\n# all\n").edges == (("x#y", "b"),)


def test_tetrad_names_with_spaces_and_later_sections():
    text = (
        "Graph Nodes:\nblood flow;b c,b\n\n"
        "Graph Edges:\n1. blood flow --> b c pd nl\n2. b <-- b c\n"
    )
    edges = (("blood flow", "b c"), ("b c", "b"))
    for end in ("", "\nAmbiguous triples (those not settled): \n", "\nGraph Attributes:\nBIC: 3\n"):
        assert parse_graph(text + end).edges == edges


ODD_NAMES = [
    "a->b", "x#y", "x #y", " sp ", "a\nb", "", "#", "a--b", "-", "a,b", "{", "→", "graph", "a\rb",
    "digraph {", "Graph Nodes:", "\\", '"', "\\\n", "a\u2028b", "\ufeff", "<b>", "// a", "[",
]  # fmt: skip


@given(
    st.sampled_from(["", "digraph {", '{"nodes": ', "Graph Nodes:\n"]),
    st.text(alphabet='ab1"{}[]-><;,=:+\\ \n#/*.', max_size=25),
    st.sampled_from(["", "}", "\nGraph Edges:\na --> b"]),
)
def test_any_text_is_a_graph_or_an_input_error(start, middle, end):
    with contextlib.suppress(InputError):
        assert isinstance(parse_graph(start + middle + end), DirectedGraph)


@pytest.mark.parametrize("suffix", [".txt", ".dot", ".json"])
@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("others", [["z", "y"], []])
def test_what_is_written_reads_back_or_is_refused(tmp_path, name, suffix, others):
    path = tmp_path / f"g{suffix}"
    names = [name, *others]
    g = DirectedGraph(np.eye(len(names), k=1), names)
    try:
        write_graph(g, path)
    except InputError as error:
        message = str(error)
        assert suffix == ".txt"
        assert repr(name) in message
        assert "write .json or .dot" in message
    else:
        assert read_graph(path) == g


def test_unknown_suffixes_and_texts_are_not_written(tmp_path):
    with pytest.raises(InputError, match=r"as \.png"):
        write_graph(AB, tmp_path / "g.png")
    with pytest.raises(InputError, match="not UTF-8"):
        write_graph(DirectedGraph([[0]], names=["\ud800"]), tmp_path / "g.json")
    assert list(tmp_path.iterdir()) == []


# Each took from seconds to ages when its length was squared or worse.
@pytest.mark.parametrize(
    "text",
    [
        "// c\n" * 3000 + "a -> b",
        "/* c */ " * 3000 + "a -> b",
        "digraph" + " " * 100_000 + "x",
        "digraph " + "/**/" * 20_000,
        "/*" * 50_000,
        '"' * 50_001 + " -> b",
        "digraph { " + '"' + "\\" * 50_001 + " }",
        "digraph { " + "a + " * 50_000 + "a }",
        "digraph { " + "<" * 50_000,
        "a" + " " * 100_000 + "b\na -> b",
        "a" + "-" * 100_000 + "b",
        "a" + " -" * 50_000 + "b",
        "Graph Nodes:\na;b\nGraph Edges:\n1. a" + " " * 100_000 + "--> b",
        "Graph Nodes:\na;b\nGraph Edges:\n1. a" + " " * 100_000 + "b: x",
        "Graph Nodes:\n" + ";".join(f"n{i}" for i in range(5000)) + "\nGraph Edges:\n"
        + "".join(f"{i}. n{i} --> n{i + 1} pd\n" for i in range(4999)),
        '{"nodes": [' + "9" * 1_000_000 + '], "edges": []}',
        '{"nodes": ' + "[" * 100_000,
        "digraph { {" + " ".join(f"a{i}" for i in range(3000)) + "} -> {"
        + " ".join(f"b{i}" for i in range(3000)) + "} }",
        '{"nodes": ' + json.dumps([str(i) for i in range(30_000)]) + ', "edges": []}',
    ],
)  # fmt: skip
def test_long_texts_are_read_or_refused_in_time_that_grows_with_them(text):
    with contextlib.suppress(InputError):
        assert isinstance(parse_graph(text), DirectedGraph)


def test_names_are_quoted_in_dot():
    evil = 'x"]; y -> z; "\\'
    g = DirectedGraph.from_edges([(evil, "b")])
    assert parse_graph(g.to_dot()) == g
    assert parse_graph(g.to_dot({(evil, "b"): {"label": 'a"; c -> d; "'}})) == g


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["nodes", "edges", "graph", "a"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_any_json_is_a_graph_or_an_input_error(value):
    with contextlib.suppress(InputError):
        assert isinstance(parse_graph(json.dumps(value)), DirectedGraph)

"""What is exported, with awkward names too, opened by the programs that it is for."""

import csv
import json
import re
import shutil
import subprocess
from functools import cache
from io import StringIO

import networkx as nx
import pytest

import cyclearn as cl
from cyclearn.models.syntax import lavaan_names
from cyclearn.report.exports import exported

NAMES = {
    "plain": ["costs", "income", "price", "quantity"],
    "blanks": ["a b", "a  b", "a_b", "a-b"],
    "quotes": ['q"u', "q'u", "it''s", '"'],
    "formulas": ["=cmd|' /C calc'!A0", "+1", "-x", "@SUM(A1)"],
    "arrows": ["a->b", "a --> b", "a;b", "x ~ y"],
    "words of R": ["NA", "c", "function", "NULL"],
    "words of DOT": ["node", "graph", "edge", "digraph"],
    "LaTeX": ["$x_1^2$", "50%", "#h&{~}", "[opt]"],
    "signs": ["<b>", "a|b", "--a", "a\\"],
}


@cache
def learned(kind):
    """A result whose variables have names of some kind."""
    B = [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]]
    system = cl.LinearGaussianModel(B, [1, 1, 1, 1], NAMES[kind])
    return cl.learn(system.sample(400, random_state=1))


@pytest.fixture(params=NAMES)
def result(request):
    return learned(request.param)


def carried_out(*command, **options):
    """What a program says, if it ends well."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_graphml(tmp_path, result):
    drawn = nx.read_graphml(result.export(tmp_path / "g.graphml"))
    assert set(drawn.edges) == set(result.graph.edges)
    assert nx.get_node_attributes(drawn, "name") == {name: name for name in result.graph.names}


def test_csv(result):
    rows = csv.DictReader(StringIO(exported(result, ".csv")))
    found = {(row["source"], row["target"]) for row in rows if row["in_graph"] == "True"}
    assert found == set(result.graph.edges)


def test_tetrad(tmp_path, result):
    path = tmp_path / "g.tetrad"
    if any(set(" ;,(") & set(name) or name == "[opt]" for name in result.graph.names):
        with pytest.raises(cl.InputError, match="cannot represent the name"):
            result.export(path)
        return
    result.export(path)
    # As Tetrad does: what is between blanks, after the number of the line.
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[1].split(";") == list(result.graph.names)
    assert [tuple(line.split()[1:]) for line in lines[4:]] == [
        (a, "-->", b) for a, b in result.graph.edges
    ]


def test_dagitty(result):
    """By the rules of its language: a string ends at a quotation mark, and a backslash is none."""
    text = exported(result, ".dagitty")
    string = r'"[^"\\\x00-\x1f]+"'
    word = rf"(?:-?[0-9a-zA-Z_.]+|{string})"
    edge = re.compile(rf"({string}) -> ({string}) \[beta={word}\]")
    first, *lines, last = text.splitlines()
    assert (first.split()[1], last) == ("{", "}")
    nodes = [line for line in lines if re.fullmatch(string, line)]
    edges = [edge.fullmatch(line) for line in lines[len(nodes) :]]
    assert len(set(nodes)) == result.graph.n_nodes
    assert [(nodes.index(e[1]), nodes.index(e[2])) for e in edges] == [
        (result.graph.index(a), result.graph.index(b)) for a, b in result.graph.edges
    ]


def test_dagitty_reads_small_weights():
    B = [[0, 1e-7], [0, 0]]
    fitted = cl.fit(
        cl.DirectedGraph.from_edges([("a", "b")]),
        cl.Moments(cl.LinearGaussianModel(B, [1, 1]).covariance, 100, names=["a", "b"]),
    )
    assert '[beta="1.00e-07"]' in cl.models.syntax.dagitty_syntax(fitted)


@pytest.mark.crosscheck
@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
def test_graphviz(tmp_path, result):
    found = json.loads(carried_out("dot", "-Tdot_json", result.export(tmp_path / "g.dot")))
    # Graphviz keeps a backslash before a backslash in a name, and takes one away when it draws.
    names = [node["name"].replace("\\\\", "\\") for node in found["objects"]]
    assert names == list(result.graph.names)
    edges = [(names[edge["tail"]], names[edge["head"]]) for edge in found["edges"]]
    assert set(edges) == set(result.graph.edges)


@pytest.mark.crosscheck
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_latex(tmp_path):
    parts = [exported(learned(kind), suffix) for kind in NAMES for suffix in (".tikz", ".tex")]
    head = r"\documentclass{article}\usepackage{booktabs,tikz}\usetikzlibrary{arrows.meta}"
    document = [head, r"\begin{document}", *parts, r"\end{document}"]
    (tmp_path / "d.tex").write_text("\n".join(document))
    carried_out("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "d.tex", cwd=tmp_path)


def has_lavaan():
    """Whether R can be asked, and knows lavaan."""
    if shutil.which("Rscript") is None:
        return False
    asked = ["Rscript", "-e", "quit(status = !requireNamespace('lavaan', quietly = TRUE))"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


@pytest.mark.crosscheck
def test_lavaan(tmp_path):
    if not has_lavaan():
        pytest.skip("R with lavaan is not installed")
    asked = []
    for number, kind in enumerate(NAMES):
        result = learned(kind)
        result.export(tmp_path / f"m{number}.lav")
        rows = [",".join(lavaan_names(result.graph.names))]
        rows += [",".join(map(repr, row)) for row in result.model.moments.covariance.tolist()]
        (tmp_path / f"S{number}.csv").write_text("\n".join(rows) + "\n")
        asked.append(
            f"S <- as.matrix(read.csv('S{number}.csv', check.names = FALSE)); "
            f"rownames(S) <- colnames(S); fit <- lavaan::lavaan(readLines('m{number}.lav'), "
            "sample.cov = S, sample.nobs = 400, sample.cov.rescale = FALSE, fixed.x = FALSE); "
            "cat(sprintf('%.6f\\n', as.numeric(lavaan::fitMeasures(fit, 'logl'))))"
        )
    (tmp_path / "ask.R").write_text("\n".join(asked))
    said = carried_out("Rscript", "ask.R", cwd=tmp_path).split()
    own = [learned(kind).model.log_likelihood for kind in NAMES]
    assert list(map(float, said)) == pytest.approx(own, abs=1e-4)

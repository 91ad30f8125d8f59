import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Polygon

from cyclearn import (
    BootstrapResult,
    DirectedGraph,
    InputError,
    LinearGaussianModel,
    equivalence_class,
    fit,
    learn,
    read_graph,
)
from cyclearn.graphs import random_graph
from cyclearn.results.bootstrap_result import Resample

MARKET = LinearGaussianModel(
    [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]],
    [1, 1, 1, 1],
    names=["costs", "income", "price", "quantity"],
)


def test_the_legend_fits_into_the_figure():
    figure = equivalence_class(MARKET.graph).plot().figure
    FigureCanvasAgg(figure).draw()
    legend_box = figure.axes[0].get_legend().get_window_extent()
    assert figure.bbox.x0 <= legend_box.x0
    assert legend_box.x1 <= figure.bbox.x1


def lines(ax):
    return [patch for patch in ax.patches if isinstance(patch, PathPatch)]


def heads(ax):
    return [patch for patch in ax.patches if isinstance(patch, Polygon)]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_graph_has_one_headed_line_an_edge_and_one_label_a_node():
    graph = random_graph(12, random_state=0)
    ax = graph.plot()
    assert len(lines(ax)) == len(heads(ax)) == graph.n_edges
    assert sorted(texts(ax)) == sorted(graph.names)


def test_given_axes_are_used_and_returned():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert MARKET.graph.plot(ax=left) is left
    assert len(lines(left)) == 4
    assert not right.patches


def test_pyplot_is_left_alone():
    code = (
        "import sys, cyclearn as cl; g = cl.DirectedGraph.from_edges([(0, 1), (1, 0)]);"
        "g.plot(); cl.equivalence_class(g).plot(); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_sign_shows_in_colour_and_dashes_and_strength_in_width():
    model = fit(MARKET.graph, MARKET.sample(2_000, random_state=0))
    ax = model.plot()
    drawn = dict(zip(model.graph.edges, lines(ax), strict=True))
    signs = {
        edge: np.sign(model.B[MARKET.graph.index(edge[0]), MARKET.graph.index(edge[1])])
        for edge in drawn
    }
    looks = {
        sign: {
            (to_hex(line.get_edgecolor()), str(line.get_linestyle()))
            for edge, line in drawn.items()
            if signs[edge] == sign
        }
        for sign in (-1, 1)
    }
    (negative,), (positive,) = looks[-1], looks[1]
    assert negative[0] != positive[0]
    assert negative[1] != positive[1]
    assert legend(ax) == ["positive", "negative"]
    assert sum(text.startswith("−0.") for text in texts(ax)) == 1
    assert len(texts(model.plot(labels=False))) == 4
    strong = LinearGaussianModel([[0, 5.0, 0.1], [0, 0, 0], [0, 0, 0]], [1, 1, 1])
    ax = fit(strong.graph, strong.sample(500, random_state=0)).plot()
    assert lines(ax)[0].get_linewidth() > 2 * lines(ax)[1].get_linewidth()


def test_a_class_tells_what_stays_from_what_turns_from_what_is_optional():
    # Turning c → d would make a collider, and the one at c is visible; f → g is free to turn.
    graph = DirectedGraph.from_edges([("a", "c"), ("b", "c"), ("c", "d"), ("f", "g")])
    ax = equivalence_class(graph).plot()
    assert len(lines(ax)) == 4
    assert len(heads(ax)) == 3 + 2
    assert legend(ax) == ["in every equally good graph", "direction differs"]
    ax = equivalence_class(MARKET.graph).plot()
    # Price and quantity both ways in every member; costs and income on either of the two.
    assert legend(ax) == ["in every equally good graph", "in some"]
    assert len(lines(ax)) == len(heads(ax)) == 2 + 4


@pytest.mark.parametrize("seed", range(6))
def test_heads_of_a_class_stand_where_some_member_has_them(seed):
    graph = random_graph(5, max_degree=5, random_state=seed)
    members = equivalence_class(graph)
    possible = np.any([member.adjacency for member in members], axis=0)
    assert len(heads(members.plot())) == possible.sum()


def test_a_result_is_drawn_with_its_weights():
    result = learn(MARKET.sample(2_000, random_state=0), method="tabu")
    assert len(lines(result.plot())) == result.graph.n_edges


def test_names_are_not_mathematics():
    ax = DirectedGraph.from_edges([("$x^2", "a_1$")]).plot()
    ax.figure.savefig(BytesIO(), format="png")
    assert texts(ax) == [r"\$x^2", r"a_1\$"]


def test_a_bootstrap_shows_what_came_out_often():
    # a → c ← b: in every member; d - e: joined three times, each way less often.
    edges = [((0, 2), (1, 2), (3, 4)), ((0, 2), (1, 2), (4, 3)), ((0, 2), (1, 2), (4, 3))]
    resamples = tuple(Resample(n, chosen) for n, chosen in enumerate(edges))
    found = BootstrapResult(tuple("abcde"), resamples, "rows", {})
    ax = found.plot(threshold=0.7)
    assert legend(ax) == ["in all equivalent graphs", "adjacent"]
    assert (len(lines(ax)), len(heads(ax))) == (3, 2)
    assert texts(ax).count("100%") == 3
    ax = found.plot()
    assert legend(ax) == ["in all equivalent graphs", "in some of them"]
    assert sorted(texts(ax))[:3] == ["100%", "100%", "67%"]
    # Either way at a third or more, never both: joined, but no feedback.
    assert legend(found.plot(threshold=0.3)) == ["in all equivalent graphs", "adjacent"]
    with pytest.raises(InputError, match="threshold"):
        found.plot(threshold=0)


@pytest.mark.parametrize("n_edges", [0, 1])
def test_small_graphs_can_be_drawn(n_edges):
    edges = [("a", "b")][:n_edges]
    graph = DirectedGraph.from_edges(edges, names=["a", "b"])
    assert len(lines(graph.plot())) == n_edges
    assert len(lines(equivalence_class(graph).plot())) == n_edges


def test_nothing_can_be_drawn():
    ax = DirectedGraph.from_edges([]).plot()
    assert not ax.patches


def test_dot_carries_weights_and_two_cycles(tmp_path):
    model = fit(MARKET.graph, MARKET.sample(2_000, random_state=0))
    text = model.to_dot()
    weight = f"{model.B[2, 3]:.3g}"
    assert f'"price" -> "quantity" [label="{weight}", style="dashed"];' in text
    assert '"quantity" -> "price" [label=' in text
    path = tmp_path / "graph.dot"
    path.write_text(text)
    assert read_graph(path) == MARKET.graph

"""Labels keep off heads, nodes and each other; no two edges end in one point."""

from itertools import combinations

import numpy as np
import pytest

import cyclearn as cl
from cyclearn.drawing import lay_out
from cyclearn.drawing.label_places import label_places

FONT = 0.35


def graphs():
    market = [("costs", "price"), ("income", "quantity"), ("price", "quantity")]
    yield cl.DirectedGraph.from_edges([*market, ("quantity", "price")])
    yield cl.DirectedGraph.from_edges([(f"c{n}", "hub") for n in range(6)] + [("hub", "c0")])
    for seed in range(8):
        yield cl.simulate.random_graph(9, max_component=5, random_state=seed)


@pytest.mark.parametrize("graph", list(graphs()))
def test_labels_cover_no_head_node_or_label(graph):
    layout = lay_out(graph)
    texts = ["−0.61 (50%)" if n % 2 else "0.5" for n in range(graph.n_edges)]
    places = label_places(layout, list(zip(graph.edges, texts, strict=True)), FONT)
    halves = [FONT * np.array([0.27 * len(text), 0.45]) for text in texts]
    for place, half in zip(places, halves, strict=True):
        assert (place - half > -0.05).all()
        assert (place + half < (layout.width + 0.05, layout.height + 0.05)).all()
        for route in layout.routes.values():
            # The tip, and the middle of the head behind it.
            back = route[-1] - 0.2 * (route[-1] - route[-2]) / np.hypot(*(route[-1] - route[-2]))
            for point in (route[-1], back):
                assert (np.abs(point - place) > half).any()
        for name, centre in layout.positions.items():
            room = half + np.array([layout.widths[name] / 2, 0.5])
            assert (np.abs(np.array(centre) - place) > 0.9 * room).any()
    for (p, half), (q, other) in combinations(list(zip(places, halves, strict=True)), 2):
        assert (np.abs(p - q) > 0.9 * (half + other)).any()


@pytest.mark.parametrize("graph", list(graphs()))
def test_no_two_edges_share_an_anchor(graph):
    layout = lay_out(graph)
    for name in graph.names:
        ends = [route[0] for (a, _), route in layout.routes.items() if a == name]
        ends += [route[-1] for (_, b), route in layout.routes.items() if b == name]
        centre, half = np.array(layout.positions[name]), np.array([layout.widths[name] / 2, 0.5])
        for end in ends:
            # Still on the border, but for the gap before the tip of an arrow.
            assert np.max(np.abs(end - centre) - half) == pytest.approx(0.03, abs=0.1)
        for p, q in combinations(ends, 2):
            assert np.hypot(*(p - q)) > 0.1


def test_nothing_to_place():
    assert label_places(lay_out(cl.DirectedGraph.from_edges([("a", "b")])), [], FONT) == []

from itertools import combinations
from time import process_time

import numpy as np
import pytest

from cyclearn import DirectedGraph, InputError
from cyclearn.drawing import lay_out
from cyclearn.drawing.curves import headed
from cyclearn.drawing.layout import backbone, is_thicket
from cyclearn.graphs import random_graph


def bezier_points(route, n=40):
    """Points on a chain of cubic curves, by de Casteljau's construction."""
    found = []
    for k in range(0, len(route) - 1, 3):
        for u in np.linspace(0, 1, n):
            points = route[k : k + 4]
            while len(points) > 1:
                points = (1 - u) * points[:-1] + u * points[1:]
            found.append(points[0])
    return np.array(found)


def depth_in(point, centre, width):
    """How deep a point lies in the rectangle of a node; negative outside."""
    return min(width / 2 - abs(point[0] - centre[0]), 0.5 - abs(point[1] - centre[1]))


GRAPHS = [
    *(
        random_graph(p, max_degree=4, max_component=c, random_state=seed)
        for p, c in ((3, 3), (5, 5), (12, 6), (20, 5), (50, 10))
        for seed in range(4)
    ),
    random_graph(20, max_degree=8, random_state=0),
    DirectedGraph(~np.eye(6, dtype=bool)),
    DirectedGraph.from_edges([(i, 12) for i in range(12)]),
    DirectedGraph.from_edges([(i, (i + 1) % 9) for i in range(9)]),
    DirectedGraph.from_edges([], names=list("abcdefg")),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: f"{g.n_nodes}-{g.n_edges}")
def test_nodes_stand_apart_and_edges_touch_only_their_ends(graph):
    layout = lay_out(graph)
    assert set(layout.positions) == set(graph.names)
    assert set(layout.routes) == set(graph.edges)
    for a, b in combinations(graph.names, 2):
        dx, dy = np.abs(np.subtract(layout.positions[a], layout.positions[b]))
        assert dx > (layout.widths[a] + layout.widths[b]) / 2 or dy > 1, (a, b)
    for (a, b), route in layout.routes.items():
        points = bezier_points(route)
        for name in graph.names:
            depth = max(depth_in(p, layout.positions[name], layout.widths[name]) for p in points)
            assert depth < 0.02, (a, b, name)
        for name, end in ((a, points[0]), (b, points[-1])):
            assert abs(depth_in(end, layout.positions[name], layout.widths[name])) < 0.15
        assert points.min() >= 0
        assert (points <= (layout.width, layout.height)).all()


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: f"{g.n_nodes}-{g.n_edges}")
def test_causes_stand_above_effects_and_groups_are_the_feedback_components(graph):
    layout = lay_out(graph)
    component = {v: c for c, nodes in enumerate(graph.components) for v in nodes}
    for a, b in graph.edges:
        if component[a] != component[b]:
            above = min(layout.positions[v][1] for v in graph.components[component[a]])
            below = max(layout.positions[v][1] for v in graph.components[component[b]])
            assert above < below, (a, b)
    assert {frozenset(group.nodes) for group in layout.groups} == {
        frozenset(nodes) for nodes in graph.components if len(nodes) > 1
    }
    for group in layout.groups:
        for name in graph.names:
            x, y = layout.positions[name]
            inside = (
                group.left < x < group.left + group.width
                and group.top < y < group.top + group.height
            )
            assert inside == (name in group.nodes), (group.nodes, name)


def test_the_same_graph_looks_the_same():
    first, second = (lay_out(random_graph(20, random_state=3)) for _ in range(2))
    assert first.positions == second.positions
    assert all(np.array_equal(first.routes[e], second.routes[e]) for e in first.routes)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: f"{g.n_nodes}-{g.n_edges}")
def test_the_edges_of_a_two_cycle_run_apart(graph):
    layout = lay_out(graph)
    for a, b in graph.edges:
        if a < b and graph.has_edge(b, a):
            there, back = (bezier_points(layout.routes[edge]) for edge in ((a, b), (b, a)))
            apart = np.linalg.norm(there[:, None] - back, axis=2).min(axis=1)
            assert apart.max() > 0.3, (a, b)


def test_further_pairs_get_routes_and_move_nothing():
    g = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    plain, more = lay_out(g), lay_out(g, also=[("a", "c"), ("a", "b")])
    assert set(more.routes) == {("a", "b"), ("b", "c"), ("a", "c")}
    distances = np.subtract(plain.positions["a"], plain.positions["c"])
    assert np.allclose(np.subtract(more.positions["a"], more.positions["c"]), distances)
    b = more.positions["b"]
    assert all(depth_in(p, b, more.widths["b"]) < 0 for p in bezier_points(more.routes["a", "c"]))
    with pytest.raises(InputError, match="joins two nodes"):
        lay_out(g, also=[("a", "a")])


def test_long_and_broken_names_are_shortened():
    name = "a very long\nname that nobody would want in a picture"
    layout = lay_out(DirectedGraph.from_edges([(name, "b")]))
    assert layout.labels[name] == "a very long name …"
    assert layout.widths[name] > layout.widths["b"]


def test_fifty_nodes_take_a_moment():
    graph = random_graph(50, max_component=10, random_state=1)
    lay_out(graph)
    begun = process_time()
    lay_out(graph)
    # 0.1 to 0.2 s; the rest is for a slower machine.
    assert process_time() - begun < 0.9


def test_a_thicket_is_a_circle_with_every_edge():
    names = [f"v{i:02d}" for i in range(40)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    graph = DirectedGraph.from_edges(pairs, names)
    assert is_thicket(graph)
    layout = lay_out(graph)
    assert set(layout.routes) == set(pairs)
    boxes = [(x, y, layout.widths[name]) for name, (x, y) in layout.positions.items()]
    for i, (x, y, width) in enumerate(boxes):
        for u, v, other in boxes[:i]:
            assert abs(x - u) >= (width + other) / 2 or abs(y - v) >= 1


def test_a_line_ends_within_its_head():
    graph = random_graph(20, max_component=5, random_state=0)
    for route in lay_out(graph).routes.values():
        line, corners = headed(route, 0.5)
        assert np.hypot(*(line[-1] - route[-1])) == pytest.approx(0.4, abs=0.01)
        np.testing.assert_allclose(line[0], route[0])
        np.testing.assert_allclose(corners[0], route[-1])
        np.testing.assert_allclose(line[-1], corners[2], atol=0.02)
    tiny = np.linspace([0, 0], [0.1, 0], 4)
    line, corners = headed(tiny, 0.4)
    assert 0 < line[-1, 0] < 0.1
    assert np.isfinite(corners).all()


def test_the_backbone_has_the_strongest_edges():
    names = [f"v{n}" for n in range(13)]
    pairs = [(a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
    graph = DirectedGraph.from_edges(pairs, names)
    strength = np.arange(169.0).reshape(13, 13) * np.where(np.arange(13) % 2, 1, -1)
    kept = backbone(graph, strength)
    assert kept.names == graph.names
    assert kept.n_edges == 60
    size = [abs(strength[graph.index(a), graph.index(b)]) for a, b in pairs]
    assert set(kept.edges) == {pairs[n] for n in np.argsort(size)[-60:]}

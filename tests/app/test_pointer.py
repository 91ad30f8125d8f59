"""A large picture under a real pointer: what dragging and zooming cost."""

from itertools import pairwise

import numpy as np
import pytest
from browsing import browser_context, program, silent_page

from chromium import needs_browser
from cyclearn import DirectedGraph
from cyclearn.drawing.layout import backbone, lay_out
from cyclearn.drawing.svg_graph import DrawnEdge, graph_svg

pytestmark = [needs_browser, pytest.mark.xdist_group("page")]


def large_graph():
    """80 variables and 200 edges."""
    names = [f"v{n}" for n in range(80)]
    rng = np.random.default_rng(0)
    pairs = list(pairwise(names))
    while len(pairs) < 200:
        a, b = sorted(rng.choice(80, 2, replace=False))
        if (names[a], names[b]) not in pairs:
            pairs.append((names[a], names[b]))
    return DirectedGraph.from_edges(pairs, names)


CANVAS = """async ([text, edges]) => {
  const { Canvas } = await import("/static/picture.js");
  const box = document.createElement("div");
  box.id = "large";
  box.className = "canvas";
  box.style.cssText = "position: fixed; inset: 0; z-index: 9; height: 100vh; background: white";
  document.body.append(box);
  const canvas = new Canvas(box, text, edges, { pressed: () => {} });
  canvas.show(() => ({ weight: 0.5, label: "0.50 (97%)", change: "" }), true);
  await new Promise(requestAnimationFrame);
  window.changed = new Set();
  new MutationObserver((all) => all.forEach(({ target }) => {
    const group = target.closest("[data-edge]");
    if (group) window.changed.add(Number(group.dataset.edge));
  })).observe(canvas.svg, { attributes: true, attributeFilter: ["d", "points"], subtree: true });
}"""


def spent(session):
    """Milliseconds of scripts, styles and layout so far."""
    metrics = {
        each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]
    }
    return 1_000 * sum(metrics[f"{part}Duration"] for part in ("Script", "RecalcStyle", "Layout"))


def costs(session, move, times):
    """What each of some events costs."""
    found = []
    for n in range(times):
        before = spent(session)
        move(n)
        found.append(spent(session) - before)
    return found


def test_a_large_picture_follows_the_pointer(tmp_path):
    """A drag draws again what it touches, and every event is done within half a frame."""
    graph = large_graph()
    drawn = graph_svg(
        graph,
        lay_out(backbone(graph, np.ones((80, 80))), also=graph.edges),
        [
            DrawnEdge(*e, label="0.50 (97%)" * (n < 60), attributes={"data_edge": n})
            for n, e in enumerate(graph.edges)
        ],
        identifier="large", title="large", description="large", sized=False,
    )  # fmt: skip
    edges = [{"source": a, "target": b} for a, b in graph.edges]
    with (
        program(tmp_path / "w") as (_, address),
        browser_context(address) as context,
        silent_page(context, address) as page,
    ):
        page.wait_for_selector("#example")
        page.evaluate(CANVAS, [str(drawn), edges])
        session = context.new_cdp_session(page)
        session.send("Performance.enable")
        name = graph.edges[0][0]
        box = page.locator(f"#large g.node[data-node='{name}']").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        dragging = costs(session, lambda n: page.mouse.move(x + 3 * n, y + 2 * n), 40)
        changed = page.evaluate("[...window.changed]")
        page.mouse.up()
        zooming = costs(session, lambda n: page.mouse.wheel(0, -20 if n % 2 else 20), 20)
    touching = {n for n, edge in enumerate(graph.edges) if name in edge}
    assert set(changed) == touching
    for times in (dragging, zooming):
        assert np.median(times) < 8
        assert np.quantile(times, 0.95) < 16

"""Large pictures under a real pointer, and a page that answers while searches run."""

import os
import re

import numpy as np
import pandas as pd
import pytest
from browsing import go, opened, unfold

import cyclearn as cl
from chromium import needs_browser
from slow_tests import few

pytestmark = [needs_browser, pytest.mark.xdist_group("page")]

# As many searches run at a time as there are processors.
AT_ONCE = max(2, os.cpu_count() or 1)
START = """async ([table, options]) => {
  const body = JSON.stringify({ kind: "learn", table, request: { options } });
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch("/api/jobs", { method: "POST", headers, body });
  if (!answer.ok) throw new Error((await answer.json()).error);
}"""


def learned_from(page, path, graph):
    """Open a table, and let the search start and end at a graph."""
    opened(page, path)
    options = {"start": [graph.to_dict()], "max_evaluations": 1}
    page.evaluate(START, [page.input_value("#tables"), options])
    go(page, "graph")
    page.wait_for_selector("#graph-canvas svg")


# What is seen: pixels of the height of names, and sizes of edges that are shown and hidden.
VIEW = """async () => {
  // The first view is chosen once the picture has a size.
  for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame);
  const { store } = await import("/static/store.js");
  const svg = document.querySelector("#graph-canvas svg");
  const unit = svg.clientWidth / Number(svg.getAttribute("viewBox").split(" ")[2]);
  const { edges: numbers, standardised } = store.result.view.members[0];
  const isShown = (n) =>
    document.querySelector(`#graph-canvas [data-edge="${n}"]:not(.absent)`) !== null;
  const sizes = (wanted) => numbers.flatMap((n, at) =>
    (isShown(n) === wanted ? [Math.abs(standardised[at])] : []));
  const box = document.getElementById("graph-canvas").getBoundingClientRect();
  const inside = [...document.querySelectorAll("#graph-canvas .node")].filter((node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    return left >= box.left && right <= box.right && top >= box.top && bottom <= box.bottom;
  }).map((node) => node.dataset.node);
  const pairs = store.result.view.edges.map(({ source, target }) => [source, target]);
  const learned = numbers.map((n) => pairs[n]);
  return { name: unit / 2, shown: sizes(true), hidden: sizes(false), inside, pairs, learned };
}"""
# How many edges have a line of some length with a head.
LINES = """() => {
  const isDrawn = (edge) => edge.querySelector("path").getTotalLength() > 0.1
    && edge.querySelector("polygon").points.length === 4;
  return [...document.querySelectorAll("#graph-canvas g.edge:not(.absent)")].filter(isDrawn).length;
}"""
OBSERVE = """() => {
  window.changed = new Set();
  new MutationObserver((all) => all.forEach(({ target }) => {
    const group = target.closest("[data-edge]");
    if (group) window.changed.add(group.dataset.name);
  })).observe(document.querySelector("#graph-canvas svg"),
              { attributes: true, attributeFilter: ["d", "points"], subtree: true });
}"""


@pytest.mark.parametrize(("n_variables", "n_edges"), few(1, [(80, 200), (50, 120)]))
def test_many_variables_can_be_read_and_moved(page, tmp_path, n_variables, n_edges):
    rng, names = np.random.default_rng(0), [f"v{n}" for n in range(n_variables)]
    B = np.zeros((n_variables, n_variables))
    # Places above the diagonal: no cycles.
    above = np.transpose(np.triu_indices(n_variables, 1))
    for i, j in rng.choice(above, n_edges, replace=False):
        B[i, j] = rng.uniform(0.3, 0.9) * rng.choice([-1, 1])
    X = rng.standard_normal((400, n_variables)) @ np.linalg.inv(np.eye(n_variables) - B)
    path = tmp_path / f"large{n_variables}.csv"
    pd.DataFrame(X, columns=names).round(4).to_csv(path, index=False)
    pairs = [(names[i], names[j]) for i, j in zip(*np.nonzero(B), strict=True)]
    graph = cl.DirectedGraph.from_edges(pairs, names)
    learned_from(page, path, graph)
    # The strongest first, in letters that can be read.
    seen = page.evaluate(VIEW)
    assert seen["name"] >= 8
    assert len(seen["inside"]) > 10
    assert 0 < len(seen["shown"]) <= 60
    assert min(seen["shown"]) >= max(seen["hidden"])
    n_learned = len(seen["shown"]) + len(seen["hidden"])
    assert n_learned > 0.8 * n_edges
    words = page.text_content("#shown")
    assert words == f"{len(seen['shown'])} of {n_learned} edges are shown."
    # Rows out of sight come after the picture.
    page.wait_for_function(
        "n => document.querySelectorAll('#edge-list tr').length === n", arg=n_learned
    )
    # The rest on request.
    page.fill("#least", "0")
    assert page.text_content("#shown") == f"All {n_learned} edges are shown."
    # The page draws those that the server left out.
    assert page.evaluate(LINES) == n_learned
    # A pointer that drags a variable draws its edges again, and no others; zooming draws none.
    name = seen["inside"][0]
    page.evaluate(OBSERVE)
    box = page.locator(f"#graph-canvas g.node[data-node='{name}']").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40, steps=5)
    page.mouse.up()
    changed = page.evaluate("[...window.changed]")
    touching = {f"{a} → {b}" for a, b in seen["pairs"] if name in (a, b)}
    assert {f"{a} → {b}" for a, b in seen["learned"] if name in (a, b)} <= set(changed) <= touching
    page.evaluate("window.changed.clear()")
    before = page.get_attribute("#graph-canvas svg", "viewBox")
    page.mouse.wheel(0, 200)
    page.wait_for_function(
        "before => document.querySelector('#graph-canvas svg').getAttribute('viewBox') !== before",
        arg=before,
    )
    assert page.evaluate("window.changed.size") == 0
    page.click("button[aria-label='Fit']")


def cancel_all(page):
    """Nothing goes on after a test."""
    page.evaluate(
        """async () => {
          const { jobs } = await (await fetch("/api/state")).json();
          for (const { id, state } of jobs) {
            if (["waiting", "running"].includes(state)) {
              await fetch(`/api/jobs/${id}/cancel`, { method: "POST" });
            }
          }
        }"""
    )


def states(page):
    """States of the jobs that have not ended."""
    jobs = page.evaluate("fetch('/api/state').then((a) => a.json()).then((s) => s.jobs)")
    return [each["state"] for each in jobs if each["ended"] is None and each["state"] != "done"]


def test_searches_leave_the_page_free(page, long_table, chains_table, chains, tmp_path):
    roots = [edge for a, b, c in chains for edge in ((a, b), (b, c))]
    names = [name for each in chains for name in each]
    learned_from(page, chains_table, cl.DirectedGraph.from_edges(roots, names))
    opened(page, long_table)
    go(page, "learn")
    unfold(page, "#learn summary:text('More options')")
    page.fill("#n_starts", "1000")
    page.press("#n_starts", "Tab")
    page.uncheck("#probabilities")
    try:
        for _ in range(AT_ONCE + 1):
            page.click("#start")
        # The queue, the time, the phase, the best score, and the best graph so far.
        page.wait_for_selector(f"[id^='stop-'] >> nth={AT_ONCE - 1}")
        page.wait_for_selector(".job.waiting p:text('Place 1 of 1 in the queue.')")
        page.wait_for_selector(".job.running:has-text('best score')")
        running = page.locator(".job.running:has-text('best score')").first
        assert re.search(r"Searching, \d+:\d\d", running.text_content())
        assert re.search(r"best score [\d.,]+ with \d+ edges", running.text_content())
        assert "long.csv; Independent starts: 1000" in running.text_content()
        page.wait_for_selector("#sketch g.edge")
        # A small table and a page of a class do not wait for them.
        six = tmp_path / "six.csv"
        six.write_text("a,b\n1,2\n2,3\n3,5\n4,4\n5,7\n6,5\n")
        opened(page, six)
        chains_ = page.locator("#tables option:has-text('chains.csv')").last
        page.select_option("#tables", chains_.get_attribute("value"))
        page.wait_for_selector("#page-first", state="attached")
        go(page, "graph")
        page.click("#page-first")
        page.wait_for_selector("#pages p:text('1 to 200')")
        assert sorted(states(page)) == ["running"] * AT_ONCE + ["waiting"]
        # Stop keeps the best graph, and says why the search ended.
        long = page.locator("#tables option:has-text('long.csv')").last
        page.select_option("#tables", long.get_attribute("value"))
        go(page, "learn")
        page.locator("[id^='stop-']").first.click()
        page.wait_for_selector("#graph.shown .warning:text('This search was stopped')")
        assert "Ended: the search was stopped" in page.text_content("#search")
    finally:
        cancel_all(page)

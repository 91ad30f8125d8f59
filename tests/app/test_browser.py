"""The whole way in a real browser: silent, safe, and the same as the library."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pandas as pd
import pytest
from browsing import (
    browser_context,
    drag,
    everything_has_a_name,
    go,
    is_heard,
    learn,
    learned,
    program,
    silent_page,
)

from chromium import needs_browser

HOSTILE = [
    "<img src=x onerror=hacked=1>",
    "</script><script>hacked=1</script>",
    "\"' onclick=hacked=1 x='",
    "a&amp;b",
]

pytestmark = needs_browser


@pytest.fixture
def server(tmp_path):
    """The program as a user starts it: its process and the address that it prints."""
    with program(tmp_path / "w") as started:
        yield started


@pytest.fixture
def context(server):
    with browser_context(server[1]) as opened:
        yield opened


@pytest.fixture
def page(context, server):
    with silent_page(context, server[1]) as opened:
        yield opened


def downloaded(page, words, path):
    go(page, "take")
    with page.expect_download() as download:
        page.click(f"#take a:text-is('{words}')")
    download.value.save_as(path)
    return path.read_bytes()


def from_the_example_to_the_same_graph_in_python(page, tmp_path, monkeypatch):
    page.click("#example")
    page.wait_for_selector("table.columns tbody tr >> nth=5")
    # Knowledge by keyboard and by mouse: a tier, an edge that is forbidden.
    # Whatever is drawn again or goes away, the keyboard goes on from where it was.
    page.focus("#use-none")
    for pressed in ("Enter", "Shift+Tab", "Enter"):
        page.keyboard.press(pressed)
    assert page.evaluate("document.activeElement.id") == "use-all"
    go(page, "knowledge")
    page.click("#sources summary")
    page.focus("#source-0")
    for is_one in (True, False):
        page.keyboard.press("Space")
        assert page.evaluate("document.activeElement.id") == "source-0"
        assert page.is_checked("#source-0") == is_one
    page.click("#add-tier")
    page.focus("#drop-tier")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "knowledge"
    page.click("#add-tier")
    page.click("#chip-0")
    is_heard(page, "costs is in tier 1.")
    page.keyboard.press("ArrowLeft")
    assert "no tier" in page.get_attribute("#chip-0", "aria-label")
    page.keyboard.press("ArrowRight")
    assert "tier 1" in page.get_attribute("#chip-0", "aria-label")
    page.click("button[aria-label='price → profit: free']")
    assert page.locator("button[aria-label='price → profit: forbidden']").count() == 1
    is_heard(page, "price → profit: forbidden")
    # Left at once, the page still keeps what was said last.
    page.reload()
    page.wait_for_selector("button[aria-label='price → profit: forbidden']")
    learn(page, probabilities=True)
    assert learned(page, "") == "Graph 1"
    # The answer comes first, and its doubt with it.
    page.wait_for_selector("#graph.shown #conclusion p:text('have a probability of at least 0.9')")
    assert (
        page.locator("#graph-canvas text.weight:text-matches('0.* \\\\([0-9]+%\\\\)')").count() > 3
    )
    assert page.text_content("#edge-table th:nth-child(4)") == "probability"
    # What was chosen and what was learned survive a reload.
    page.reload()
    page.wait_for_selector("#graph svg", state="attached")
    assert page.locator("button[aria-label='price → profit: forbidden']").count() == 1
    assert "tier 1" in page.get_attribute("#chip-0", "aria-label")
    graph = json.loads(downloaded(page, "JSON", tmp_path / "graph.json"))
    assert ["price", "profit"] not in graph["edges"]
    script = downloaded(page, "script that repeats this graph", tmp_path / "repeat.py")
    downloaded(page, "the table that it reads", tmp_path / "market.csv")
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "repeat.py", "exec"), {"__name__": "__main__"})
    assert (tmp_path / "graph1.json").read_bytes() == (tmp_path / "graph.json").read_bytes()


def the_graph_and_its_class(page):
    go(page, "knowledge")
    page.click("#forget")
    learn(page)
    assert learned(page, "Graph 1") == "Graph 3"
    # An edge, by mouse in the picture and by keyboard in the list.
    page.focus("#edge-list button >> nth=0")
    page.keyboard.press("Enter")
    assert "Standard error" in page.text_content("#about-edge")
    is_heard(page, "Standard error")
    page.focus("g.edge:not(.absent) >> nth=1")
    page.keyboard.press("Enter")
    assert page.locator("g.edge.chosen").count() == 1
    # The members, one by one: nodes stay where they are, edges change.
    places = "[...document.querySelectorAll('.node rect')].map(r => r.getAttribute('x'))"
    before = page.evaluate(places)
    first = page.text_content("#edge-list")
    page.click("#class > summary")
    page.focus("#member-next")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#member-number") == "2"
    assert page.text_content("#edge-list") != first
    assert page.evaluate(places) == before
    page.click("summary:text('Sort and filter')")
    page.select_option("#filter-source", "income")
    page.select_option("#filter-target", "price")
    assert page.text_content("#member-count") == " of 2"
    assert "income → price" in page.text_content("#edge-list")
    # From an edge of the picture to knowledge.
    page.click("#edge-list button:text-is('income → price')")
    page.click("#about-edge button:text-is('Forbid it')")
    assert page.locator("button[aria-label='income → price: forbidden']").count() == 1


def a_picture_one_can_read(page):
    go(page, "graph")
    canvas = page.locator("#graph-canvas")
    view = "document.querySelector('#graph-canvas svg').getAttribute('viewBox')"
    whole = page.evaluate(view)
    # Zoom by button and wheel, pan on the background, fit.
    page.click("button[aria-label='Zoom in']")
    nearer = page.evaluate(view)
    assert float(nearer.split()[2]) < float(whole.split()[2])
    canvas.hover(position={"x": 15, "y": 15})
    page.mouse.wheel(0, -200)
    assert float(page.evaluate(view).split()[2]) < float(nearer.split()[2])
    corner = canvas.bounding_box() | {"width": 20, "height": 20}
    before = page.evaluate(view)
    drag(page, corner, 40, 30)
    assert page.evaluate(view) != before
    page.click("button[aria-label='Fit']")
    assert page.evaluate(view) == whole
    # A node that is dragged takes its edges along, and stays there.
    node = page.locator("g.node[data-node='profit']")
    line = page.locator("g.edge[data-name='price → profit'] path >> nth=0")
    other = page.locator("g.edge[data-name='costs → price'] path >> nth=0")
    at, drawn, untouched = node.bounding_box(), *(each.get_attribute("d") for each in (line, other))
    drag(page, at, 120, 40)
    assert node.bounding_box()["x"] == pytest.approx(at["x"] + 120, abs=3)
    assert line.get_attribute("d") != drawn
    assert other.get_attribute("d") == untouched
    page.reload()
    page.wait_for_selector("g.node[data-node='profit'][transform]")
    assert node.bounding_box()["x"] == pytest.approx(at["x"] + 120, abs=3)
    # A slider hides what is weak; weights go and come.
    shown = "#graph-canvas g.edge:not(.absent)"
    n_edges = page.locator(shown).count()
    page.fill("#least", "0.6")
    assert 0 < page.locator(shown).count() < n_edges
    assert f"of {n_edges} edges are shown" in page.text_content("#shown")
    page.fill("#least", "0")
    page.uncheck("#weights")
    assert page.locator("text.weight:text-matches('[0-9]')").count() == 0
    page.check("#weights")
    # One variable and its neighbours: by press, and by search.
    page.locator("g.node[data-node='profit'] rect").click()
    assert "Causes" in page.text_content("#about-edge")
    assert page.locator("g.node.dim").count() == 3
    page.fill("#find", "costs")
    page.keyboard.press("Enter")
    assert page.text_content("#about-edge h3") == "costs"
    page.click("#unfocus")
    assert page.locator(".dim").count() == 0
    # What hovers says what it is.
    assert (
        "price → profit: "
        in page.locator("g.edge[data-name='price → profit'] title").text_content()
    )
    # The table of edges is sorted by what is pressed.
    weights = "[...document.querySelectorAll('#edge-list td:nth-child(3)')].map(e => e.textContent)"
    page.click("#edge-table th button:text-is('weight')")
    falling = [float(each.replace("−", "-")) for each in page.evaluate(weights)]
    assert falling == sorted(falling, reverse=True)
    page.click("#edge-table th button:text-is('weight')")
    assert [float(each.replace("−", "-")) for each in page.evaluate(weights)] == falling[::-1]


def questions_about_the_graph(page):
    # What if: the predictions follow the slider.
    go(page, "effects")
    page.select_option("#effect-source", "price")
    page.wait_for_selector("#value")
    row = page.locator("#effects tbody tr", has_text="quantity")
    before = row.text_content()
    page.focus("#value")
    page.keyboard.press("Home")
    assert row.text_content() != before
    page.select_option("#effect-how", "push")
    page.wait_for_selector("label[for='value']:text('Push price by')")
    # How sure: resamples, which then stand beside every edge.
    go(page, "sure")
    page.fill("#n-resamples", "2")
    page.click("#ask-bootstrap")
    page.wait_for_selector("#sure table")
    go(page, "graph")
    page.click("#edge-list button >> nth=0")
    assert "In resamples" in page.text_content("#about-edge")
    # What would settle it.
    go(page, "sure")
    page.click("#ask-experiment")
    page.wait_for_selector("#experiment-found p:text('remain')")
    # A graph of one's own: a copy is changed, fitted and compared at once, the learned one is not.
    learned_edges = page.text_content("#edge-list")
    go(page, "compare")
    page.click("#copy")
    page.locator("#own-canvas g.edge[data-name='price → profit']").press("Enter")
    page.wait_for_selector("#comparison svg")
    assert "on 1 degree of freedom" in page.text_content("#comparison")
    assert page.text_content("#edge-list") == learned_edges
    page.click("summary:text-is('Paste one')")
    page.fill("#own-text", "price -> nobody")
    page.click("#compare-text")
    page.wait_for_selector("#comparison .failed")
    assert "'nobody'" in page.text_content("#comparison")
    assert "'nobody'" in page.text_content("#status")
    # Two results side by side.
    page.select_option("#compare-with", "j1")
    page.wait_for_selector("#comparison li:text('to the learned graph')")
    assert page.locator("#comparison .canvas svg").count() == 2
    for step in ("table", "knowledge", "graph", "sure"):
        go(page, step)
        everything_has_a_name(page)


def results_are_named_and_removed(page):
    go(page, "graph")
    page.fill("#result-name", "Second try")
    with page.expect_response(lambda answer: "Without tiers" in (answer.request.post_data or "")):
        page.fill("#result-note", "Without tiers.")
        page.focus("#result-name")
    page.wait_for_selector("#results h3:text-is('Second try')")
    page.reload()
    page.wait_for_selector("#graph .side > h3:text-is('Second try')")
    assert page.input_value("#result-note") == "Without tiers."
    page.click("#remove")
    page.wait_for_selector("#graph .side > h3:text-is('Graph 1')")
    assert page.locator("#results .job").count() == 1
    page.click("#undo")
    page.wait_for_selector("#graph .side > h3:text-is('Second try')")


def stop_and_a_killed_worker(page, server, long_table):
    go(page, "table")
    page.set_input_files("#file", long_table)
    page.wait_for_selector("caption:text('long.csv')")
    # Results belong to tables: of this one there is none.
    assert page.locator("#results .job").count() == 0
    learn(page)
    page.wait_for_selector("#sketch svg")
    # A button stays itself from press to release, though the score beside it falls.
    page.click("[id^='stop-']", delay=700)
    stopped = learned(page, "")
    assert "stopped" in page.text_content("#graph .warning")
    assert "Ended: the search was stopped" in page.text_content("#search")
    learn(page)
    page.wait_for_selector("[id^='stop-']")
    # Elsewhere no picture of the running search is asked for, which a kill would interrupt.
    go(page, "graph")
    page.wait_for_timeout(1000)
    # The others, for what takes little time, are no part of a search.
    for worker in server[0].children():
        if worker.nice() > 0:
            worker.kill()
    page.wait_for_selector(".job.lost")
    page.reload()
    page.click(".job.lost button")
    assert learned(page, stopped) != stopped


def hostile_names(page, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, len(HOSTILE)))
    X[:, 1:] += X[:, :-1]
    path = tmp_path / "<img src=x onerror=hacked=1>.csv"
    pd.DataFrame(X, columns=HOSTILE).to_csv(path, index=False)
    go(page, "table")
    page.set_input_files("#file", path)
    page.wait_for_selector(".columns caption:text('onerror')")
    learn(page)
    page.wait_for_selector("#graph .canvas:has-text('onclick')")
    shown = page.text_content("main")
    assert all(name in shown for name in HOSTILE)
    go(page, "table")
    page.set_input_files("#file", __file__)
    page.wait_for_selector("#trouble:not([hidden])")
    assert "a format that the application cannot open" in page.text_content("#trouble")
    page.click("#put-away")


def several_tables_in_one(page):
    go(page, "table")
    page.select_option("#interventions", "stock")
    page.select_option("#intervention_kind", "noise")
    assert page.locator("#knowledge button[aria-label^='stock → ']").count() == 0
    # A column has one role.
    page.select_option("#groups", "stock")
    assert page.input_value("#interventions") == ""
    assert page.locator("#intervention_kind").count() == 0
    page.select_option("#groups", "")
    assert page.locator("#knowledge button[aria-label^='stock → ']").count() > 0


def a_class_page_by_page(page, chains_table):
    go(page, "table")
    page.set_input_files("#file", chains_table)
    page.wait_for_selector("caption:text('chains.csv')")
    learn(page)
    page.click("#page-first")
    page.click("#page-next:not([aria-disabled='true'])")
    page.wait_for_selector("#pages p:text('201 to 243')")
    assert page.text_content("#member-count") == " of 43"
    page.click("#page-previous")
    page.wait_for_selector("#pages p:text('1 to 200')")
    page.click("summary:text('Sort and filter')")
    # An answer that is late must not take the place of one to a later question.
    held = []

    def hold_the_first(route):
        asked = route.request.post_data_json
        held.append(route) if asked["source"] and not asked["target"] else route.continue_()

    page.route("**/members", hold_the_first)
    page.select_option("#filter-source", "a0")
    page.select_option("#filter-target", "a1")
    page.wait_for_selector("#pages p:text('a0 drives a1')")
    with page.expect_response("**/members"):
        held.pop().continue_()
    page.unroute("**/members")
    page.wait_for_timeout(300)  # in which it would be shown
    assert "a0 drives a1" in page.text_content("#pages")
    assert page.text_content("#member-count") == " of 81"
    assert "a0 → a1" in page.text_content("#edge-list")


def nothing_is_cut_off(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    for step in ("table", "knowledge", "learn", "graph", "effects", "sure", "compare", "take"):
        go(page, step)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, step


def another_page_gets_nothing(context, server):
    """A page of another origin in the same browser, which has the cookie."""
    own = server[1].partition("?")[0]

    class Evil(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>evil</title>")

        def log_message(self, *arguments):
            pass

    evil = HTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=evil.serve_forever, daemon=True).start()
    try:
        foreign = context.new_page()
        foreign.goto(f"http://127.0.0.1:{evil.server_port}/")
        answers = foreign.evaluate(
            """async own => Promise.all([
                fetch(own + 'api/state', {credentials: 'include'}),
                fetch(own + 'api/tables/example', {method: 'POST', credentials: 'include'}),
                fetch(own + 'api/tables/example',
                      {method: 'POST', credentials: 'include', mode: 'no-cors'}),
            ].map(each => each.then(answer => answer.type, () => 'refused')))""",
            own,
        )
        assert answers == ["refused"] * 3
        framed = foreign.evaluate(
            """own => new Promise(done => {
                const frame = document.createElement('iframe');
                frame.onload = () => done(!frame.contentDocument?.title);
                frame.src = own;
                document.body.append(frame);
            })""",
            own,
        )
        assert framed
        foreign.close()
        own_page = context.new_page()
        own_page.goto(own)
        # None of it has opened a table.
        names = own_page.evaluate(
            "fetch('/api/state').then(a => a.json()).then(s => s.tables.map(t => t.name))"
        )
        assert names.count("market.csv") == 1
        own_page.close()
    finally:
        evil.shutdown()
        evil.server_close()


def stepping_through_the_class_asks_nothing_of_the_server(page):
    asked = []
    page.on("request", lambda each: "/api/state" in each.url or asked.append(each.url))
    page.select_option("#tables", "t1")
    page.wait_for_selector("#show-j3")
    go(page, "graph")
    page.wait_for_selector("#graph h3:text-is('Second try')")
    # What was found out about it before is shown again.
    for part in ("#effects #value", "#sure table", "#comparison svg"):
        page.wait_for_selector(part, state="attached")
    page.click("#class > summary")
    asked.clear()
    for _ in range(2):
        page.click("#member-next")
    assert asked == []


def two_windows(context, page, server):
    """What one window does the other sees; neither disturbs the other."""
    other = context.new_page()
    other.goto(server[1].partition("?")[0])
    other.wait_for_selector("#graph svg", state="attached")
    other.select_option("#tables", "t1")
    other.wait_for_selector("#show-j3")
    assert other.locator(".job.done").count() == page.locator(".job.done").count()
    other.close()


def work_is_a_file(page, tmp_path):
    go(page, "take")
    with page.expect_download() as download:
        page.click("#work")
    download.value.save_as(tmp_path / "work.cyclearn")
    before = page.locator("#tables option").count()
    go(page, "table")
    page.set_input_files("#file", tmp_path / "work.cyclearn")
    page.wait_for_selector(f"#tables option >> nth={2 * before - 1}", state="attached")
    assert page.locator("#tables option").count() == 2 * before
    page.wait_for_selector("#results .job.done")


def test_the_whole_way(context, page, server, long_table, chains_table, tmp_path, monkeypatch):
    """One walk, since each part needs what those before it have made."""
    from_the_example_to_the_same_graph_in_python(page, tmp_path, monkeypatch)
    several_tables_in_one(page)
    the_graph_and_its_class(page)
    a_picture_one_can_read(page)
    questions_about_the_graph(page)
    results_are_named_and_removed(page)
    stop_and_a_killed_worker(page, server, long_table)
    a_class_page_by_page(page, chains_table)
    hostile_names(page, tmp_path)
    for width in (400, 1600):
        nothing_is_cut_off(page, width)
    another_page_gets_nothing(context, server)
    stepping_through_the_class_asks_nothing_of_the_server(page)
    two_windows(context, page, server)
    work_is_a_file(page, tmp_path)

"""The report in a real browser: it works, it is silent, and names in it are text."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

import cyclearn as cl
from chromium import needs_browser, open_browser

NAMES = [
    "<b>bold</b>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=hacked=1>",
    "a&amp;b",
]

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def learned():
    B = [[0, 0, 0.7, 0], [0, 0, 0, 0.6], [0, -0.7, 0, 0], [0.6, 0, 0.5, 0]]
    truth = cl.LinearGaussianModel(B, [1, 1, 1, 1], NAMES)
    moments = cl.Moments(truth.covariance, 5_000, names=NAMES)
    result = cl.learn(moments, method="hill-climbing", start=truth.graph)
    # Of the class with eight members, whatever ties with it.
    model = cl.fit(truth.graph, moments)
    result = replace(result, graph=truth.graph, fitted=model, alternatives=())
    assert result.equivalence_class.size == 8
    return result


@pytest.fixture(scope="module")
def report(learned, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return learned.report(path, title="<script>hacked = 1</script>")


@pytest.fixture
def page(browser, report):
    """The report opened from a file; whatever it says or asks for is a failure."""
    context = browser.new_context()
    context.set_default_timeout(10_000)
    opened = context.new_page()
    troubles = []
    opened.on("console", lambda message: troubles.append(message.text))
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("request", lambda request: troubles.append(request.url))
    opened.goto(report.as_uri())
    yield opened
    # The page itself is the only thing that was ever asked for.
    assert troubles == [report.as_uri()]
    context.close()


def shown_edges(page, names):
    """The edges of the member on show, by the titles of the lines that can be seen."""
    titles = page.eval_on_selector_all(
        "#member-graph .edge.same, #member-graph .edge.added",
        "edges => edges.filter(e => getComputedStyle(e).display !== 'none')"
        ".map(e => e.querySelector('title').textContent)",
    )
    edges = [tuple(title.split(" → ")) for title in titles]
    return cl.DirectedGraph.from_edges(edges, names=list(names))


def test_members_by_button(page, learned):
    seen = [shown_edges(page, NAMES)]
    assert seen[0] == learned.graph
    previous, following = page.get_by_text("← Previous"), page.get_by_text("Next →")
    assert previous.get_attribute("aria-disabled") == "true"
    words = page.locator("#member-words")
    size = learned.equivalence_class.size
    for _ in range(size - 1):
        before = words.inner_text()
        following.click()
        assert words.inner_text() != before
        seen.append(shown_edges(page, NAMES))
    assert set(seen) == set(learned.equivalence_class)
    assert page.locator("#member-number").input_value() == str(size)
    assert following.get_attribute("aria-disabled") == "true"
    following.click(force=True)
    assert shown_edges(page, NAMES) == seen[-1]
    previous.click()
    assert shown_edges(page, NAMES) == seen[-2]


def test_members_by_keyboard(page, learned):
    size = learned.equivalence_class.size
    page.focus("#member-next")
    keys = {"Enter": 2, "ArrowRight": 3, "ArrowLeft": 2, "End": size, "Home": 1}
    for key, number in keys.items():
        page.keyboard.press(key)
        assert page.locator("#member-number").input_value() == str(number)
    page.focus("#member-number")
    page.keyboard.press("Control+A")
    page.keyboard.type("999")
    page.keyboard.press("Enter")
    assert page.locator("#member-number").input_value() == str(size)
    assert shown_edges(page, NAMES) in learned.equivalence_class


def test_members_are_filtered_and_have_weights(page, learned):
    members = list(learned.equivalence_class)
    union = sorted({edge for member in members for edge in member.edges})
    count = page.locator("#member-count")
    for n, edge in enumerate(union[:4]):
        page.select_option("#member-with", str(n))
        assert count.inner_text() == str(sum(edge in m.edges for m in members))
        assert edge in shown_edges(page, NAMES).edges
        page.select_option("#member-with", "")
        page.select_option("#member-without", str(n))
        assert count.inner_text() == str(sum(edge not in m.edges for m in members))
        assert edge not in shown_edges(page, NAMES).edges
        page.select_option("#member-without", "")
    page.select_option("#member-with", "0")
    page.select_option("#member-without", "0")
    assert page.locator("#member-words").inner_text() == "No listed graph matches."
    page.select_option("#member-with", "")
    page.select_option("#member-without", "")
    page.check("#member-stable")
    stable = [m for m in members if cl.fit(m, learned.model.moments).is_stable]
    assert count.inner_text() == str(len(stable))
    shown = [text for text in page.locator("#member-graph .weight").all_text_contents() if text]
    assert len(shown) == shown_edges(page, NAMES).n_edges


def test_what_is_saved_is_the_result(page, learned, tmp_path):
    with page.expect_download() as started:
        page.get_by_role("button", name="The whole result").click()
    started.value.save_as(tmp_path / "saved.json")
    assert cl.load(tmp_path / "saved.json") == learned
    with page.expect_download() as started:
        page.get_by_role("button", name="Picture (SVG)").click()
    started.value.save_as(tmp_path / "saved.svg")
    root = ElementTree.parse(tmp_path / "saved.svg").getroot()
    assert root.tag.endswith("svg")


def test_the_first_stop_of_the_tab_key_skips_the_menu(page):
    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    assert skip.inner_text() == "Skip to the learned graph"
    assert skip.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "graph"


def test_names_are_shown_as_text(page):
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").inner_text() == "<script>hacked = 1</script>"
    assert page.locator("b, img").count() == 0
    rows = page.locator("#coefficients tbody th").all_inner_texts()
    shown = {name for row in rows for name in row.split(" → ")}
    assert set(NAMES) <= shown
    page.get_by_text("Next →").click()
    assert any(name in page.locator("#member-words").inner_text() for name in NAMES)


def test_nothing_sticks_out_of_a_narrow_screen(page):
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_prints_without_controls(page):
    page.emulate_media(media="print")
    assert not page.get_by_text("Next →").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("#learned-graph").is_visible()
    # As wide as a sheet of A4 with the usual margins.
    page.set_viewport_size({"width": 700, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


def test_without_scripts_members_are_a_list(browser, learned, report):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert not page.get_by_text("Next →").is_visible()
    page.get_by_text("All listed graphs as text").click()
    assert page.locator("#member-list li").count() == learned.equivalence_class.size
    context.close()

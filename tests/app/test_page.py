"""What the page offers beyond the walk: all kinds of tables, layouts, an own graph, saved work."""

import json
import re
import zipfile
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from browsing import drag, go, learn, opened, unfold, wait_until_kept

import cyclearn as cl
from chromium import needs_browser

pytestmark = [needs_browser, pytest.mark.xdist_group("page")]
STEPS = ("table", "knowledge", "learn", "graph", "effects", "sure", "compare", "take")


def open_example(page, file):
    go(page, "table")
    if not page.locator("#examples").get_attribute("open"):
        page.evaluate("document.getElementById('examples').open = true")
    page.click(f"[data-example='{file}']")
    page.wait_for_selector(f"caption:text('{file}')")
    # The list of tables follows.
    page.wait_for_selector(f"#tables option:checked:has-text('{file}')", state="attached")


def asked(page):
    """What the page asks of the server when a search is started, which is refused."""
    requests = []

    def refuse(route):
        requests.append(route.request.post_data_json["request"])
        route.fulfill(status=400, json={"error": "Enough."})

    page.route("**/api/jobs", refuse)
    learn(page)
    page.wait_for_selector("#trouble:text('Enough.')")
    page.click("#put-away")
    page.unroute("**/api/jobs")
    return requests[0]


def test_every_control_has_help(page, market):
    market()
    for step in STEPS:
        go(page, step)
        for details in page.locator(f"#{step} details > summary").all():
            if details.is_visible() and details.locator("..").get_attribute("open") is None:
                details.click()
    lacking = page.evaluate(
        """() => [...document.querySelectorAll("main :is(select, input, textarea)[id]")]
             .filter((each) => !each.getAttribute("aria-describedby") && each.type !== "file")
             .map((each) => each.id).filter((id) => !/^source-/.test(id) && id !== "least")"""
    )
    assert lacking == []
    # The field's own words, also in help and in what is folded.
    words = page.evaluate("document.body.textContent")
    for wrong in ("What to mind", "Drop", "Take away", "comes and goes", "so it goes"):
        assert wrong not in words
    assert not re.search(r"n_effective|\bmargins\b", words)
    go(page, "learn")
    page.click("button[aria-label='Help: Penalty per edge']")
    assert "one more edge" in page.text_content("#penalty-help:visible")


def test_the_tour_leads_through_all_steps(page, market):
    market()
    go(page, "table")
    page.click("#tour-start")
    for step in STEPS:
        page.wait_for_selector(f"#{step}.shown")
        page.keyboard.press("Enter")
    page.wait_for_selector("#tour", state="hidden")


def test_columns_rows_and_values_of_a_survey(page):
    open_example(page, "survey.csv")
    # It is read again with the code of this example.
    page.wait_for_function("() => document.getElementById('codes')?.value === '-9'")
    unfold(page, "#rows summary")
    page.select_option("#where-column", "region")
    page.select_option("#where-comparison", "≠")
    page.fill("#where-value", "west")
    page.click("#where-add")
    page.wait_for_selector("caption:not(:text('600 rows'))")
    unfold(page, "#recoding summary")
    page.select_option("#recode-column", "mood")
    for level, code in (("very low", 1), ("low", 1), ("middling", 2), ("good", 3)):
        page.fill(f"input[aria-label='Number for {level}']", str(code))
    page.fill("input[aria-label='Number for very good']", "3")
    page.click("#recode")
    page.wait_for_selector("input[aria-label='Use mood']:checked")
    page.select_option("select[aria-label='Type of region']", "categories")
    page.select_option("select[aria-label='Type of stress']", "ordered")
    request = asked(page)
    reading, options = request["reading"], request["options"]
    assert reading["where"] == [["region", "≠", "west"]]
    assert ["very low", 1] in reading["recode"]["mood"]
    assert "mood" in reading["columns"]
    assert reading["missing_codes"] == ["-9"]
    assert options["weights"] == "people"
    assert options["categories"] == ["region"]
    assert options["ordered"] == ["stress"]
    go(page, "table")
    page.click("button[aria-label='Remove the condition region ≠ west']")
    page.wait_for_selector("caption:text('600 rows')")


def test_all_options_reach_the_search(page):
    open_example(page, "panel.csv")
    go(page, "knowledge")
    unfold(page, "#sources summary")
    page.check("#source-0")
    go(page, "learn")
    page.select_option("#se", "robust")
    unfold(page, "#learn summary:text('More options')")
    page.select_option("#effort", "high")
    page.uncheck("#stable")
    page.fill("#max_edges", "7")
    options = asked(page)["options"]
    assert options["knowledge"]["exogenous"] == ["wages"]
    assert {name: options[name] for name in ("within", "se", "effort", "stable", "max_edges")} == {
        "within": "firm", "se": "robust", "effort": "high", "stable": False, "max_edges": 7
    }  # fmt: skip


def test_columns_that_others_determine_are_left_out_with_one_click(page, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=list("abc"))
    frame = frame.assign(total=frame.sum(axis=1), twice=2 * frame["a"], same=1.0)
    frame.to_csv(tmp_path / "total.csv", index=False)
    go(page, "table")
    page.set_input_files("#file", tmp_path / "total.csv")
    page.wait_for_selector("caption:text('total.csv')")
    page.click("#leave-out:text('Leave out same')")
    page.click("#leave-out:text('these 2 columns')")
    page.wait_for_selector("#opened :text('cannot be used yet')", state="detached")
    assert page.locator("input.use:checked").count() == 3


def test_missing_codes_are_read_with_one_click(page, tmp_path):
    rows = [f"{n * n % 31},{3 * n % 7},{5 * n % 9}" for n in range(30)]
    coded = ["a,b,c", *rows, "30,*,4", "31,*,2", "-999,4,1", "-999,1,2"]
    (tmp_path / "coded.csv").write_text("\n".join(coded))
    opened(page, tmp_path / "coded.csv")
    assert page.locator("#use-codes").count() == 1
    page.click("#use-codes:text('Read *, -999 as missing')")
    page.wait_for_selector("input[aria-label='Use b']:checked")
    assert page.input_value("#codes") == "*, -999"
    assert page.locator("#use-codes").count() == 0


def test_a_matrix_and_a_file_without_names(page, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=list("abc"))
    frame.cov().to_csv(tmp_path / "s.csv", index=False)
    frame.round(2).to_csv(tmp_path / "plain.csv", index=False, header=["1", "2", "3"])
    go(page, "table")
    page.set_input_files("#file", tmp_path / "s.csv")
    page.wait_for_selector("caption:text('s.csv')")
    page.fill("#n-rows", "60")
    page.click("#read-again")
    page.wait_for_selector("caption:text('60 rows')")
    learn(page)
    page.wait_for_selector("#graph.shown #graph-canvas svg")
    go(page, "table")
    page.set_input_files("#file", tmp_path / "plain.csv")
    page.wait_for_selector("caption:text('plain.csv')")
    page.uncheck("#header")
    page.wait_for_selector("input[aria-label='Use X1']:checked")
    assert page.locator("caption:text('61 rows')").count() == 1
    page.check("#header")
    page.wait_for_selector("input[aria-label='Use 1']:checked")


def refusal(data, options):
    """What the library says against a search, if anything."""
    try:
        cl.learn(data, **options)
    except cl.InputError as error:
        return str(error)
    return None


def test_no_sentence_names_what_the_page_does_not_have(page):
    """Messages of the library, as the page says them."""
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=list("abc"))
    holed = frame.mask(frame > 2)
    land = frame.assign(land=np.resize(["x", "y", "z"], 60))
    searches = (
        (holed, {}), (holed, {"lags": 1, "missing": "em"}), (land, {}),
        (frame, {"margins": "log"}), (holed, {"covariance": "shrunk", "missing": "em"}),
        (frame, {"ordered": ["a"], "lags": 1}), (frame, {"weights": "a", "within": "b"}),
        (frame, {"margins": "no"}), (frame, {"penalty": "no"}), (frame, {"groups": "no"}),
        (frame, {"se": "robust", "margins": "rank"}), (frame.iloc[:2], {}),
        (frame, {"categories": ["a"]}), (frame, {"ordered": ["a"], "margins": "rank"}),
    )  # fmt: skip
    messages = [words for each in searches if (words := refusal(*each))]
    assert len(messages) >= 8
    said = page.evaluate(
        """async (all) => (await import("/static/words.js").then(({ plain }) => all.map(plain)))""",
        messages,
    )
    wrong = [(a, b) for a, b in zip(messages, said, strict=True) if "=" in b or "--" in b]
    assert wrong == []


TOUCHING = """() => {
  const box = (each) => each.getBoundingClientRect();
  const nodes = [...document.querySelectorAll("#graph-canvas .node:not(.folded) rect")].map(box);
  return [...document.querySelectorAll("#graph-canvas text.weight")].filter((label) => {
    const { left, right, top, bottom, width } = box(label), high = (bottom - top) / 4;
    return width && nodes.some((node) => left < node.right - 1 && right > node.left + 1
      && top + high < node.bottom - 1 && bottom - high > node.top + 1);
  }).map((label) => label.textContent);
}"""


def test_layouts_are_kept_and_labels_touch_no_node(page, market):
    market()
    # As after a search with probabilities: labels are long.
    page.evaluate(
        """async () => {
          const { store } = await import("/static/store.js");
          const { setSure } = await import("/static/graph.js");
          const edges = store.result.view.edges.map((e) => ({ ...e, probability: 0.97 }));
          setSure({ is_determined: true, edges, conclusion: [] });
        }"""
    )
    assert page.locator("text.weight:text('(97%)')").count() > 4
    places = "[...document.querySelectorAll('#graph-canvas .node')].map(n => n.outerHTML)"
    seen = set()
    for layout in ("ring", "force", ""):
        page.select_option("#layout", layout)
        assert page.evaluate(TOUCHING) == [], layout
        seen.add(json.dumps(page.evaluate(places)))
        box = page.locator("g.node[data-node='profit']").bounding_box()
        drag(page, box, -60, -90)
        assert page.evaluate(TOUCHING) == [], layout
    assert len(seen) == 3
    page.select_option("#layout", "ring")
    page.check("#fold")
    assert page.locator("#graph-canvas .node.loop").count() == 1
    assert page.locator("#graph-canvas .node.folded").count() == 3
    assert page.evaluate(TOUCHING) == []
    page.locator("#graph-canvas .node.loop").press("Enter")
    assert "price, quantity, stock" in page.text_content("#about-edge")
    wait_until_kept(page, "fold", True)
    page.reload()
    page.wait_for_selector("#graph-canvas .node.loop")
    assert page.input_value("#layout") == "ring"
    page.locator("#graph-canvas .node.loop").press("Enter")
    page.click("#about-edge button")
    assert page.locator("#graph-canvas .node.folded").count() == 0
    page.select_option("#layout", "")


def test_the_picture_is_saved_and_the_table_copied_as_they_are_shown(served, market, tmp_path):
    context, page = served
    market()
    drag(page, page.locator("g.node[data-node='profit']").bounding_box(), 150, 0)
    page.uncheck("#weights")
    with page.expect_download() as download:
        page.click("#save-picture")
    page.check("#weights")
    download.value.save_as(tmp_path / "graph.svg")
    tree = ElementTree.parse(tmp_path / "graph.svg")
    drawn = {each.get("data-node"): each for each in tree.iter() if each.get("data-node")}
    assert set(drawn) == {"costs", "income", "price", "quantity", "stock", "profit"}
    assert "translate" in drawn["profit"].get("transform")
    lines = [each for each in tree.iter() if each.tag.endswith("path")]
    assert {each.get("fill") for each in lines} == {"none"}
    assert all(each.get("stroke").startswith("rgb") for each in lines)
    assert not [each for each in tree.iter() if "weight" in (each.get("class") or "") and each.text]
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy-edges")
    page.wait_for_selector("#status:text('The table is copied.')")
    rows = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert rows[0].split("\t")[:3] == ["edge", "standardised", "weight"]
    assert len(rows) == 1 + page.locator("#edge-list tr").count()


def test_what_is_not_determined_says_so(page, market):
    """Chains that do not agree: no percentages anywhere."""
    market()
    job = {"id": "j999", "kind": "posterior", "state": "done", "message": "", "is_removed": False}
    job |= {"of": page.evaluate("sessionStorage.getItem('result')"), "name": "", "note": ""}
    warning = {"message": "The chains do not agree.", "remedy": "Sample longer."}
    view = {"is_determined": False, "words": [], "conclusion": ["Not determined."], "edges": []}

    def with_that_job(route):
        answer = route.fetch()
        state = answer.json()
        route.fulfill(response=answer, json=state | {"jobs": [*state["jobs"], job]})

    answer = job | {"view": view | {"warning": warning, "classes": []}}
    page.route("**/api/jobs/j999", lambda route: route.fulfill(json=answer))
    page.route("**/api/state", with_that_job)
    go(page, "sure")
    page.wait_for_selector("#posterior-found .warning:has-text('do not agree')")
    go(page, "graph")
    cells = page.locator("#edge-table td:text-is('not determined')").count()
    assert cells == page.locator("#edge-list tr").count() > 0
    assert page.locator("text.weight:text('%')").count() == 0
    page.click("#edge-list button >> nth=0")
    assert "not determined" in page.text_content("#about-edge")
    assert "Not determined." in page.text_content("#conclusion")
    page.unroute("**/api/state")
    page.reload()
    page.wait_for_selector("#graph svg", state="attached")


def test_other_penalties_along_a_slider(page, market):
    market()
    unfold(page, "#path summary")
    page.click("#path-start")
    page.wait_for_selector("#path-at")
    # They are no results of their own.
    assert page.locator("#results .job").count() == 1
    edges = []
    for at in range(7):
        page.fill("#path-at", str(at))
        edges.append(page.locator("#path g.edge:not(.absent)").count())
        assert f"{edges[-1]} edge" in page.text_content("#path-words")
    assert edges == sorted(edges, reverse=True)
    assert edges[-1] > 0
    assert "16 × BIC" in page.text_content("#path-words")


def test_an_own_graph_is_drawn_and_kept(page, market):
    market()
    go(page, "compare")
    page.click("#draw")

    def press(name):
        page.locator(f"#own-canvas g.node[data-node='{name}'] rect").click()

    drawn = "#own-canvas g.edge"
    for cause, effect in (("costs", "price"), ("price", "quantity"), ("quantity", "price")):
        press(cause)
        press(effect)
    assert page.locator(drawn).count() == 3
    # An edge that is pressed goes away, also by keyboard.
    page.locator(f"{drawn}[data-name='quantity → price']").press("Enter")
    assert page.locator(drawn).count() == 2
    page.wait_for_selector("#comparison svg >> nth=1")
    # Looking elsewhere loses nothing, nor does a reload.
    open_example(page, "states.csv")
    market()
    go(page, "compare")
    assert page.locator(drawn).count() == 2
    page.reload()
    page.wait_for_selector(f"{drawn} >> nth=1")
    unfold(page, "summary:text-is('Paste one')")
    page.fill("#own-text", 'dag {\nbb="0,0,1,1"\ncosts [pos="0,0"]\ncosts -> price <- quantity\n}')
    page.click("#compare-text")
    page.wait_for_selector("#comparison table th:text-is('quantity → price')")
    assert page.locator(drawn).count() == 2
    page.fill("#own-text", "dag { costs <-> price }")
    page.click("#compare-text")
    page.wait_for_selector("#trouble:text('has no direction')")
    page.click("#put-away")


def test_sheets_of_an_excel_file(page, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=list("abc"))
    with pd.ExcelWriter(tmp_path / "book.xlsx") as writer:
        frame.to_excel(writer, sheet_name="one", index=False)
        frame.rename(columns={"a": "z"}).to_excel(writer, sheet_name="two", index=False)
    opened(page, tmp_path / "book.xlsx")
    page.select_option("#sheet", "two")
    page.wait_for_selector("input[aria-label='Use z']:checked")
    page.wait_for_selector("#sheet option:checked[value='two']", state="attached")
    assert asked(page)["reading"]["sheet"] == "two"


def test_real_examples_are_among_those_offered(page):
    go(page, "table")
    unfold(page, "#examples summary")
    files = page.evaluate(
        "[...document.querySelectorAll('[data-example]')].map((each) => each.dataset.example)"
    )
    assert len(files) >= 6
    assert {"penguins.csv", "economy.csv", "states.csv"} <= set(files)
    assert "Gorman, Williams and Fraser" in page.text_content("#examples")


def test_what_is_pressed_or_hovered_says_what_it_is(page, market):
    market()
    title = page.locator("#graph-canvas g.node[data-node='profit'] title").text_content()
    assert title.startswith("profit; causes: ")
    assert title.endswith("; effects: none")
    page.click("#edge-list button >> nth=0")
    about = page.text_content("#about-edge")
    for part in ("Standard error", "Equally good graphs", "learned from market.csv, 2,000 rows"):
        assert part in about
    assert "market.csv; default options" in page.text_content("#results")


def test_nothing_scrolls_a_person_away(page, market):
    """Not even results that arrive meanwhile."""
    market()
    page.evaluate("window.scrollTo(0, 500)")
    before = page.evaluate("window.scrollY")
    assert before > 100
    page.evaluate(
        """async () => {
          const of = sessionStorage.getItem("result");
          const request = { source: "price" };
          const body = JSON.stringify({ kind: "effects", table: "t1", of, request });
          const headers = { "Content-Type": "application/json" };
          await fetch("/api/jobs", { method: "POST", headers, body });
        }"""
    )
    page.wait_for_selector("#effects-found table", state="attached")
    assert page.evaluate("window.scrollY") == before
    assert page.locator("#graph.shown").count() == 1


# Text whose contrast is too low, its sizes, and what has too long lines.
LOOKS = """() => {
  const parts = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const back = (each) => {
    for (let box = each; box; box = box.parentElement) {
      const found = parts(getComputedStyle(box).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return parts(getComputedStyle(document.body).backgroundColor);
  };
  const light = (colour) => colour.slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
  const texts = [...document.querySelectorAll("body *:not(svg *):not(script)")].filter((each) =>
    each.checkVisibility() && !each.disabled
    && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  const pale = texts.filter((each) => {
    const [a, b] = [light(parts(getComputedStyle(each).color)), light(back(each))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
  });
  const long = texts.filter((each) => each.matches("p") && each.clientWidth > 46 * 16
    && each.textContent.length > 120);
  return {
    pale: pale.map((each) => each.outerHTML.slice(0, 80)),
    long: long.map((each) => each.textContent.slice(0, 80)),
    sizes: [...new Set(texts.map((each) => parseFloat(getComputedStyle(each).fontSize)))],
  };
}"""


def test_one_scale_of_type_and_enough_contrast(page, market):
    market()
    page.set_viewport_size({"width": 1600, "height": 900})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for step in STEPS:
            go(page, step)
            page.wait_for_selector(f"#{step}.shown")
            looks = page.evaluate(LOOKS)
            assert looks["pale"] == looks["long"] == [], (scheme, step)
            sizes = {size / 16 for size in looks["sizes"]}
            assert {0.875, 1} <= sizes <= {0.75, 0.875, 1, 1.125, 1.375}
    page.emulate_media(color_scheme=None)
    # The picture is the largest thing, and no half is left empty.
    go(page, "graph")
    for width, least in ((1200, 0.6), (400, 0.9)):
        page.set_viewport_size({"width": width, "height": 900})
        sizes = page.evaluate(
            """() => ["#graph-canvas", "#graph .side", "main"].map((each) => {
              const { width, height } = document.querySelector(each).getBoundingClientRect();
              return [width, height];
            })"""
        )
        (wide, high), (side, _), (main, _) = sizes
        assert wide >= least * main
        assert high >= 0.6 * 900
        assert wide + side >= 0.9 * main
        # The table of edges does not flow sideways.
        across = "document.querySelector('#edge-table .scroll')"
        assert page.evaluate(f"{across}.scrollWidth <= 1.5 * {across}.clientWidth")
    page.set_viewport_size({"width": 1200, "height": 900})


def test_saved_work_of_a_stranger_is_shown_as_text(page, market, tmp_path):
    """Names, looks and options that no page has saved."""
    market()
    job, table = (
        page.evaluate(f"sessionStorage.getItem('{each}')") for each in ("result", "table")
    )
    go(page, "take")
    with page.expect_download() as download:
        page.click("#work")
    name = "<img src=x onerror=hacked=1>"
    look = {"layout": "constructor", "places": {"price": "x", "nobody": [0, 0]}, "own": [3, ["a"]]}
    look |= {"least": {"by": "constructor", "weight": "x"}, "fold": "yes", "weights": 7}
    options = {"constructor": 1, "toString": {"a": [1]}, "knowledge": {"required": 3}}
    with (
        zipfile.ZipFile(download.value.path()) as old,
        zipfile.ZipFile(tmp_path / "strange.cyclearn", "w") as new,
    ):
        contents = json.loads(old.read("work.json"))
        contents["tables"] = [each for each in contents["tables"] if each["id"] == table]
        contents["jobs"] = [each for each in contents["jobs"] if each["id"] == job]
        contents["jobs"][0] |= {"name": name, "look": look, "request": {"options": options}}
        new.writestr("work.json", json.dumps(contents))
        for part in (f"{job}.json", f"{table}-{contents['tables'][0]['file']}"):
            new.writestr(part, old.read(part))
    go(page, "table")
    page.set_input_files("#file", tmp_path / "strange.cyclearn")
    page.wait_for_selector("#results h3:has-text('<img')")
    go(page, "graph")
    page.wait_for_selector("#graph-canvas svg")
    page.click("#edge-list button >> nth=0")
    assert "learned from market.csv" in page.text_content("#about-edge")
    assert "constructor: 1" in page.text_content("#results")
    assert not page.evaluate("'hacked' in window")


def test_two_tabs_keep_both_settings(served, market):
    context, page = served
    market()
    other = context.new_page()
    other.goto(page.url.partition("#")[0])
    other.wait_for_selector("#knowledge .matrix", state="attached")
    # It begins with the table that was opened last.
    if other.input_value("#tables") != page.input_value("#tables"):
        other.select_option("#tables", page.input_value("#tables"))
        other.wait_for_selector("caption:text('market.csv')", state="attached")
    go(page, "learn")
    page.select_option("#penalty", "bic")
    go(other, "learn")
    other.wait_for_selector("#penalty:has(option[value='bic']:checked)")
    other.fill("#lags", "2")
    other.press("#lags", "Tab")
    page.wait_for_function("() => document.getElementById('lags').value === '2'")
    page.wait_for_function(
        """async (table) => {
          const { draft } = await (await fetch(`/api/tables/${table}`)).json();
          return draft.options?.lags === 2 && draft.options?.penalty === "bic";
        }""",
        arg=page.input_value("#tables"),
    )
    other.reload()
    other.wait_for_selector("#penalty", state="attached")
    other.wait_for_function("() => document.getElementById('lags').value === '2'")
    assert other.input_value("#penalty") == "bic"
    # What is changed in one while the other waits for the table is in both.
    held = []
    table = page.input_value("#tables")
    other.route(f"**/api/tables/{table}", lambda route: held.append((route, route.fetch())))
    page.fill("#lags", "3")
    page.press("#lags", "Tab")
    other.reload(wait_until="commit")
    while not held:
        page.wait_for_timeout(20)
    page.select_option("#penalty", "2 bic")
    ((route, answer),) = held
    route.fulfill(response=answer)
    other.wait_for_selector("#penalty:has(option[value='2 bic']:checked)")
    assert other.input_value("#lags") == "3"
    other.close()


def test_another_browser_joins(served, market):
    context, page = served
    market()
    go(page, "take")
    page.click("#new-link")
    address = page.text_content("#link code")
    joined = context.browser.new_context()
    there = joined.new_page()
    assert there.goto(address).status == 200
    there.wait_for_selector("#graph svg", state="attached")
    joined.close()


def test_work_that_is_opened_again_looks_the_same(page, market, tmp_path):
    market()
    drawn = page.locator("#own-canvas g.edge").count()
    page.select_option("#layout", "force")
    wait_until_kept(page, "layout", "force")
    before = page.evaluate(
        "[...document.querySelectorAll('#graph-canvas .node')].map(n => n.outerHTML)"
    )
    go(page, "take")
    page.uncheck("#with-tables")
    with page.expect_download() as slim:
        page.click("#work")
    page.check("#with-tables")
    with page.expect_download() as whole:
        page.click("#work")
    whole.value.save_as(tmp_path / "work.cyclearn")
    assert whole.value.path().stat().st_size > slim.value.path().stat().st_size
    count = page.locator("#tables option").count()
    # What is opened comes after what was there, in the same order.
    markets = page.locator("#tables option:text-matches('market')")
    first = markets.count()
    go(page, "table")
    page.set_input_files("#file", tmp_path / "work.cyclearn")
    page.wait_for_selector(f"#tables option >> nth={2 * count - 1}", state="attached")
    # The page looks at the last of its tables, and must have done so before another is chosen.
    page.wait_for_function(
        """() => {
          const { selectedIndex, options } = document.getElementById("tables");
          return selectedIndex === options.length - 1;
        }"""
    )
    again = markets.nth(first).get_attribute("value")
    page.select_option("#tables", again)
    page.wait_for_function("value => document.getElementById('tables').value === value", arg=again)
    page.wait_for_selector("#layout option:checked[value='force']", state="attached")
    go(page, "graph")
    page.wait_for_function(
        """before => JSON.stringify(before) === JSON.stringify(
             [...document.querySelectorAll("#graph-canvas .node")].map((n) => n.outerHTML))""",
        arg=before,
    )
    # What was drawn beside it, if a test before this one did.
    page.wait_for_function(
        "n => document.querySelectorAll('#own-canvas g.edge').length === n", arg=drawn
    )

"""How fast the application is: its start, its answers beside two searches, and large pictures.

Needs playwright and Chromium: ``python benchmarks/app_speed.py``. Prints the tables of
``benchmarks/results/app_speed.md``; the browser is open before the command is given.
"""

import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
import pandas as pd
from hard_tables import not_collinear
from playwright.sync_api import sync_playwright

import cyclearn as cl

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# From the press of the button to the end of the frame that shows the next graph.
STEP = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const times = [];
  const next = document.getElementById("member-next");
  const previous = document.getElementById("member-previous");
  for (let n = 0; n < 20; n += 1) {
    await frame();
    const begun = performance.now();
    (next.getAttribute("aria-disabled") === "true" ? previous : next).click();
    await frame();
    times.push(performance.now() - begun);
  }
  return times;
}"""
# From the press of a cell of the matrix of edges to the end of the frame.
CELL = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const times = [];
  for (const cell of [...document.querySelectorAll("#knowledge .matrix button")].slice(0, 20)) {
    await frame();
    const begun = performance.now();
    cell.click();
    await frame();
    times.push(performance.now() - begun);
  }
  return times;
}"""


def started(folder, *arguments):
    """The program, its address, and when it was started."""
    begun = perf_counter()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "cyclearn",
            "app",
            "--no-browser",
            "--workspace",
            folder,
            *arguments,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    return process, re.search(r"http://\S+", process.stdout.readline())[0], begun


def ended(process):
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def page_of(browser):
    """An empty tab of a browser that is open already."""
    page = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    page.set_default_timeout(600_000)
    page.goto("about:blank")
    return page


def start(browser, folder, table):
    """Seconds from the command to the page that can be used, and to the table on it."""
    page = page_of(browser)
    process, address, begun = started(folder, *table)
    page.goto(address, wait_until="commit")
    page.wait_for_selector("#example")
    to_page = perf_counter() - begun
    if table:
        page.wait_for_selector("#knowledge .matrix")
    to_table = perf_counter() - begun
    ended(process)
    page.context.close()
    return to_page, to_table


def table_of(folder, p):
    graph = cl.simulate.random_graph(p, max_degree=4, max_component=6, random_state=3)
    data = cl.simulate.random_model(graph, random_state=3).sample(1_000, random_state=3)
    path = folder / f"{p}.csv"
    data.to_csv(path, index=False)
    return str(path)


def measured(browser, folder, p):
    """Milliseconds of a step through the class and of a cell."""
    page = page_of(browser)
    process, address, _ = started(folder / f"w{p}", table_of(folder, p))
    page.goto(address)
    page.wait_for_selector("#knowledge .matrix")
    page.click("#start")
    page.wait_for_selector("#graph svg")
    steps, cells = page.evaluate(STEP), page.evaluate(CELL)
    members = page.text_content("#member-count")
    ended(process)
    return members, steps, cells


def print_starts(browser, folder, n):
    print("| table | starts | page, s | table, s |")
    print("|---|---|---|---|")
    for name, table in (("none", ()), ("20 variables, 1,000 rows", (table_of(folder, 20),))):
        # The first start on a machine reads everything from the disk.
        times = [start(browser, folder / f"s{len(table)}-{n_}", table) for n_ in range(n + 1)][1:]
        to_page, to_table = (
            f"{statistics.median(each):.2f}, {max(each):.2f}" for each in zip(*times, strict=True)
        )
        print(f"| {name} | {n} | {to_page} | {to_table if table else '–'} |")


def print_clicks(browser, folder):
    print("\n| variables | graphs listed | step, ms | cell, ms |")
    print("|---|---|---|---|")
    for p in (6, 20, 50):
        members, *times = measured(browser, folder, p)
        shown = [f"{statistics.median(t):.0f}, {max(t):.0f}" for t in times]
        print(f"| {' | '.join(map(str, (p, members.removeprefix(' of '), *shown)))} |")


# What is asked while two searches run: seconds from the click to the frame that shows the answer.
FRAME = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
SIX_ROWS = "a,b\n1,2\n2,3\n3,5\n4,4\n5,7\n6,5\n"
# Variables of the searches that run meanwhile, and of the class that is paged through.
N_LONG, N_CHAINS = 22, 5


def chains(folder):
    """A table whose class has 243 graphs: more than one page."""
    model = cl.LinearGaussianModel([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [1, 1, 1])
    parts = [model.sample(300, random_state=n).to_numpy() for n in range(N_CHAINS)]
    names = [f"{letter}{n}" for letter in "abcde" for n in range(3)]
    path = folder / "chains.csv"
    np.savetxt(path, np.hstack(parts), "%.4f", ",", header=",".join(names), comments="")
    return path


def long_table(folder):
    """A table whose search takes minutes."""
    graph = cl.simulate.random_graph(N_LONG, max_degree=5, random_state=1)
    path = folder / "long.csv"
    data = cl.simulate.random_model(graph, random_state=1).sample(300, random_state=1)
    data.round(3).to_csv(path, index=False)
    return path


def seconds(page, act, selector, state="visible"):
    """Seconds from an action until something is on the page and drawn."""
    begun = perf_counter()
    act()
    page.wait_for_selector(selector, state=state)
    page.evaluate(FRAME)
    return perf_counter() - begun


def look_at(page, name):
    """Look at a table that is open, and at its graph."""
    value = page.locator(f"#tables option:has-text('{name}')").first.get_attribute("value")
    page.select_option("#tables", value)
    page.wait_for_selector(f"caption:text('{name}')", state="attached")


def opened(page, path):
    page.click("nav a[href='#table']")
    page.set_input_files("#file", path)
    page.wait_for_selector(f"caption:text('{path.name}')")


def searching(page, seed):
    """Start one more search of the table that is looked at, and wait until it has found a graph."""
    page.click("nav a[href='#learn']")
    page.evaluate("document.querySelector('#learn details').open = true")
    for name, value in (("random_state", seed), ("n_starts", 1_000)):
        page.fill(f"#{name}", str(value))
        page.press(f"#{name}", "Tab")
    running = page.locator("[id^='stop-']").count()
    page.set_checked("#probabilities", False)
    page.click("#start")
    page.wait_for_selector(f"[id^='stop-'] >> nth={running}")


def beside_searches(browser, folder, n):
    """Seconds of opening a table, of a page of a class and of Stop, while two searches run."""
    page = page_of(browser)
    process, address, _ = started(folder / "beside")
    page.goto(address)
    opened(page, chains(folder))
    page.click("nav a[href='#learn']")
    page.set_checked("#probabilities", False)
    page.click("#start")
    page.wait_for_selector("#graph.shown #graph-canvas svg")
    opened(page, long_table(folder))
    for seed in range(2):
        searching(page, seed)
    six = folder / "six.csv"
    six.write_text(SIX_ROWS)
    times = {"a table of six rows": [], "the first page of a class": [], "Stop": []}
    for number in range(n):
        page.click("nav a[href='#table']")
        opening = seconds(
            page, lambda: page.set_input_files("#file", six), "caption:text('six.csv')"
        )
        times["a table of six rows"].append(opening)
        look_at(page, "chains.csv")
        page.click("nav a[href='#graph']")
        # The page remembers pages of a class until it is loaded again.
        page.reload()
        page.wait_for_selector("#page-first")
        paging = seconds(page, lambda: page.click("#page-first"), "#pages p:text('1 to 200')")
        times["the first page of a class"].append(paging)
        look_at(page, "long.csv")
        page.click("nav a[href='#learn']")
        title = page.locator("#graph .side > h3").all_text_contents()
        ended_ = f"#graph.shown .side > h3:not(:text-is('{(title or ['none'])[0]}'))"
        # The last one: cards list the newest first.
        stop = page.locator("[id^='stop-']").first
        times["Stop"].append(seconds(page, stop.click, ended_))
        searching(page, 2 + number)
    ended(process)
    page.context.close()
    return times


def print_beside(browser, folder, n):
    print("\n| while two searches run | times | median, s | slowest, s |")
    print("|---|---|---|---|")
    load = os.getloadavg()[0]
    for name, times in beside_searches(browser, folder, n).items():
        print(f"| {name} | {n} | {statistics.median(times):.2f} | {max(times):.2f} |")
    print(f"\nLoad average before and after: {load:.1f}, {os.getloadavg()[0]:.1f}.")


N_LARGE, EDGES_LARGE = 80, 200


def large_table(folder):
    """80 variables and 200 edges: rows, and the graph."""
    rng = np.random.default_rng(0)
    names = [f"v{n}" for n in range(N_LARGE)]
    B = np.zeros((N_LARGE, N_LARGE))
    for i, j in rng.choice(np.transpose(np.triu_indices(N_LARGE, 1)), EDGES_LARGE, replace=False):
        B[i, j] = rng.uniform(0.3, 0.9) * rng.choice([-1, 1])
    X = rng.standard_normal((3_000, N_LARGE)) @ np.linalg.inv(np.eye(N_LARGE) - B)
    path = folder / "large.csv"
    np.savetxt(path, X, "%.4f", ",", header=",".join(names), comments="")
    pairs = [(names[i], names[j]) for i, j in zip(*np.nonzero(B), strict=True)]
    return path, cl.DirectedGraph.from_edges(pairs, names)


# A search that begins at the graph and ends there; what follows it is what is measured.
START = """async (options) => {
  const { start } = await import("/static/store.js");
  await start("learn", null, { options });
}"""
# When the page hears that the search is done, and when its picture is drawn.
WATCH = """() => {
  window.seen = {};
  const asked = window.fetch;
  window.fetch = async (...given) => {
    const answer = await asked(...given);
    if (String(given[0]) === "/api/state") {
      const state = await answer.clone().json();
      if (state.jobs.some((job) => job.state === "done")) window.seen.told ??= Date.now();
      window.seen.ended = state.jobs.find((job) => job.state === "done")?.ended;
    }
    return answer;
  };
  const look = () => {
    if (document.querySelector("#graph.shown #graph-canvas svg")) {
      setTimeout(() => { window.seen.drawn = Date.now(); });
    } else requestAnimationFrame(look);
  };
  look();
}"""


def spent(session):
    """Milliseconds so far of scripts, styles and layout, and of everything the page does."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    found = {each["name"]: 1_000 * each["value"] for each in metrics if "Duration" in each["name"]}
    parts = sum(found[f"{part}Duration"] for part in ("Script", "RecalcStyle", "Layout"))
    return np.array([parts, found["TaskDuration"]])


def events(session, move, times):
    """Milliseconds of each of some pointer events."""
    found = []
    for number in range(times):
        before = spent(session)
        move(number)
        found.append(spent(session) - before)
    return found


def large(browser, folder):
    """The first picture of a large graph, and what dragging and zooming it cost."""
    page = page_of(browser)
    path, graph = large_table(folder)
    process, address, _ = started(folder / "large", str(path))
    page.goto(address)
    page.wait_for_selector("#knowledge .matrix", state="attached")
    page.click("nav a[href='#learn']")
    page.evaluate(WATCH)
    page.evaluate(START, {"start": [graph.to_dict()], "max_evaluations": 1})
    page.wait_for_function("() => window.seen.drawn")
    seen = page.evaluate("window.seen")
    n_edges = all_rows(page)
    page.fill("#least", "0")
    page.click("button[aria-label='Fit']")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    name = page.evaluate("""() => {
      const box = document.getElementById("graph-canvas").getBoundingClientRect();
      const inside = ({ x, y, width, height }) => x > box.x && y > box.y
        && x + width < box.right && y + height < box.bottom;
      const edges = [...document.querySelectorAll("#graph-canvas .edge")]
        .map((edge) => edge.dataset.name.split(" → "));
      const touching = (name) => edges.filter((pair) => pair.includes(name)).length;
      return [...document.querySelectorAll("#graph-canvas .node")]
        .filter((node) => inside(node.getBoundingClientRect())).map((node) => node.dataset.node)
        .sort((a, b) => touching(b) - touching(a))[0];
    }""")
    box = page.locator(f"#graph-canvas g.node[data-node='{name}']").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    dragging = events(session, lambda n: page.mouse.move(x + 3 * n, y + 2 * n), 60)
    page.mouse.up()
    zooming = events(session, lambda n: page.mouse.wheel(0, -40 if n % 4 < 2 else 40), 40)
    ended(process)
    page.context.close()
    return n_edges, seen, {"dragging a variable": dragging, "zooming": zooming}


def print_large(browser, folder):
    n_edges, seen, times = large(browser, folder)
    drawn = seen["drawn"] / 1_000 - seen["ended"]
    print(
        f"\n{N_LARGE} variables, {n_edges} edges: the picture is on the page {drawn:.2f} s after "
        f"the result, {(seen['drawn'] - seen['told']) / 1_000:.2f} s after the page hears of it.\n"
    )
    print("| event | events | script and layout: median, 95%, ms | all, with painting |")
    print("|---|---|---|---|")
    for name, each in times.items():
        middle, most = np.median(each, axis=0), np.quantile(each, 0.95, axis=0)
        shown = " | ".join(f"{a:.1f}, {b:.1f}" for a, b in zip(middle, most, strict=True))
        print(f"| {name} | {len(each)} | {shown} |")


# When a button was pressed, and when the answer was drawn, by the clock of the page.
PRESSED = """() => {
  document.addEventListener("click", () => { window.pressed ??= performance.now(); }, true);
  const look = () => {
    if (document.querySelector("#graph.shown #graph-canvas svg")) {
      setTimeout(() => { window.answered = performance.now(); });
    } else setTimeout(look, 20);
  };
  look();
}"""


def all_rows(page):
    """The length of the list of edges, whose end comes after the picture."""
    page.wait_for_timeout(500)
    return page.locator("#edge-list tr").count()


def stopped_wide(browser, folder, data, after):
    """Seconds from Stop to the picture of a measured table with many columns, and its edges."""
    path = folder / "residential.csv"
    not_collinear(pd.read_csv(data / "real/residential-building.txt", sep="\t")).to_csv(
        path, index=False
    )
    page = page_of(browser)
    process, address, _ = started(folder / f"wide{after}")
    page.goto(address)
    opened(page, path)
    page.click("nav a[href='#learn']")
    page.set_checked("#probabilities", False)
    page.click("#start")
    page.wait_for_selector("[id^='stop-']")
    sleep(after)
    page.evaluate(PRESSED)
    page.locator("[id^='stop-']").click()
    page.wait_for_function("() => window.answered", polling=500)
    found = page.evaluate("(window.answered - window.pressed) / 1000")
    n_edges = all_rows(page)
    ended(process)
    page.context.close()
    return found, n_edges


def print_wide(browser, folder, data):
    print("\nStop, residential-building, 77 variables, from the click to the picture:")
    for after in (15, 20, 25, 30, 35):
        found, n_edges = stopped_wide(browser, folder, data, after)
        print(f"- after {after} s, {n_edges} edges: {found:.2f} s; load {os.getloadavg()[0]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=15)
    parser.add_argument("--beside", type=int, default=10, help="questions beside searches")
    parser.add_argument("--only", choices=("start", "clicks", "beside", "large", "wide"))
    parser.add_argument("--data", type=Path, help="folder with real/residential-building.txt")
    arguments = parser.parse_args()
    data = arguments.data or Path(os.environ.get("CYCLEARN_DATA", "."))
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit(f"none of {', '.join(BROWSERS)} is on this machine")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path)
        parts = {
            "start": lambda: print_starts(browser, Path(name), arguments.starts),
            "clicks": lambda: print_clicks(browser, Path(name)),
            "beside": lambda: print_beside(browser, Path(name), arguments.beside),
            "large": lambda: print_large(browser, Path(name)),
            "wide": lambda: print_wide(browser, Path(name), data),
        }
        for part, measure in parts.items():
            if arguments.only in (None, part):
                measure()
        browser.close()


if __name__ == "__main__":
    main()

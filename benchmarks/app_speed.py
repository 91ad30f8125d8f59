"""How fast the application is: from the command to the page, and from a click to the next graph.

Needs playwright and Chromium: ``python benchmarks/app_speed.py``. Prints the tables of
``benchmarks/results/app_speed.md``; the browser is open before the command is given.
"""

import argparse
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=15)
    arguments = parser.parse_args()
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit(f"none of {', '.join(BROWSERS)} is on this machine")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path)
        print_starts(browser, Path(name), arguments.starts)
        print_clicks(browser, Path(name))
        browser.close()


if __name__ == "__main__":
    main()

"""How fast the application is: from the command to the page, and from a click to the next graph.

Needs playwright and Chromium: ``python benchmarks/app_speed.py``. Prints the table of
``benchmarks/results/app_speed.md``.
"""

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


def measured(browser, folder, p):
    """Seconds to the page; milliseconds of a step through the class and of a cell."""
    graph = cl.simulate.random_graph(p, max_degree=4, max_component=6, random_state=3)
    data = cl.simulate.random_model(graph, random_state=3).sample(1_000, random_state=3)
    table = folder / f"{p}.csv"
    data.to_csv(table, index=False)
    process, address, begun = started(folder / f"w{p}", str(table))
    page = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    page.set_default_timeout(600_000)
    page.goto(address)
    page.wait_for_selector("#example")
    to_page = perf_counter() - begun
    page.wait_for_selector("#knowledge .matrix")
    page.click("#start")
    page.wait_for_selector("#graph svg")
    steps, cells = page.evaluate(STEP), page.evaluate(CELL)
    members = page.text_content("#member-count")
    ended(process)
    return to_page, members, steps, cells


def main():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit(f"none of {', '.join(BROWSERS)} is on this machine")
    columns = ("variables", "start to page, s", "graphs listed", "step, ms", "cell, ms")
    print(f"| {' | '.join(columns)} |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path)
        for p in (6, 20, 50):
            to_page, members, steps, cells = measured(browser, Path(name), p)
            shown = [f"{statistics.median(t):.0f}, {max(t):.0f}" for t in (steps, cells)]
            row = (p, f"{to_page:.2f}", members.removeprefix(" of "), *shown)
            print(f"| {' | '.join(map(str, row))} |")
        browser.close()


if __name__ == "__main__":
    main()

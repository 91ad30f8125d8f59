"""Make ``docs/images/app_*.png``: the page of ``cyclearn app``, stage by stage.

Needs playwright, Chromium and the extra ``cyclearn[app]``: ``python docs/make_app_screenshots.py``.
"""

import io
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from chromium import chromium_path

IMAGES = Path(__file__).parent / "images"
WIDTH, TALLEST = 1300, 850
# Few colours keep the files small, and the page has few.
COLOURS = 64


def go(page: Page, step: str) -> None:
    """Show a step of the page."""
    page.click(f"nav a[href='#{step}']")


def take(page: Page, step: str, name: str) -> None:
    """A picture of one step."""
    go(page, step)
    page.evaluate("document.activeElement.blur(); document.getElementById('status').hidden = true")
    taken = Image.open(io.BytesIO(page.screenshot()))
    IMAGES.mkdir(exist_ok=True)
    taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        IMAGES / f"app_{name}.png", optimize=True
    )


def walk(page: Page) -> None:
    """The way through the example, with a picture at every stage."""
    page.click("#example")
    page.wait_for_selector("table.columns")
    take(page, "table", "table")
    go(page, "knowledge")
    for _ in range(2):
        page.click("#add-tier")
    for number, tier in ((0, 1), (1, 1), (2, 2), (3, 2), (4, 2)):
        page.focus(f"#chip-{number}")
        for _ in range(tier):
            page.keyboard.press("ArrowRight")
    page.click("button[aria-label='stock → profit: free']")
    take(page, "knowledge", "knowledge")
    go(page, "learn")
    page.click("#start")
    page.wait_for_selector("#conclusion p:text('have a probability of at least 0.9')")
    take(page, "learn", "learn")
    go(page, "graph")
    page.click("#edge-list button:text-is('price → quantity')")
    take(page, "graph", "graph")
    go(page, "effects")
    page.select_option("#effect-source", "price")
    page.wait_for_selector("#value")
    take(page, "effects", "effects")
    go(page, "sure")
    page.fill("#n-resamples", "20")
    page.click("#ask-bootstrap")
    page.click("#ask-experiment")
    page.wait_for_selector("#bootstrap-found table")
    page.wait_for_selector("#sure .job", state="detached")
    take(page, "sure", "sure")
    go(page, "compare")
    page.click("#copy")
    page.locator("#own-canvas g.edge[data-name='price → profit']").press("Enter")
    page.wait_for_selector("#comparison svg")
    page.locator("#own-canvas").scroll_into_view_if_needed()
    take(page, "compare", "compare")
    take(page, "take", "take")


def main() -> None:
    """Start the application in an empty folder and walk through it."""
    path = chromium_path()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        command = [sys.executable, "-m", "cyclearn", "app", "--no-browser", "--workspace", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address is not None
        browser = running.chromium.launch(executable_path=path)
        page = browser.new_page(viewport={"width": WIDTH, "height": TALLEST})
        page.set_default_timeout(600_000)
        page.goto(address[0])
        walk(page)
        browser.close()
        process.send_signal(signal.SIGINT)
        process.wait()


if __name__ == "__main__":
    main()

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
WIDTH, TALLEST = 1000, 900
# Few colours keep the files small, and the page has few.
COLOURS = 64


def take(page: Page, section: str, name: str, top: str = "h2") -> None:
    """A picture of one section, from an element of it on, as tall as is useful."""
    y, height = page.evaluate(
        """([section, top]) => {
          document.activeElement.blur();
          document.querySelector("nav").hidden = true;
          document.getElementById("status").hidden = true;
          const whole = document.getElementById(section);
          const begin = whole.querySelector(top).getBoundingClientRect().top;
          return [begin + window.scrollY, whole.getBoundingClientRect().bottom - begin];
        }""",
        [section, top],
    )
    area = {"x": 0, "y": y - 8, "width": WIDTH, "height": min(height, TALLEST) + 8}
    taken = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=area)))
    IMAGES.mkdir(exist_ok=True)
    taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        IMAGES / f"app_{name}.png", optimize=True
    )


def walk(page: Page) -> None:
    """The way through the example, with a picture at every stage."""
    page.click("#example")
    page.wait_for_selector("table.columns")
    take(page, "table", "table")
    for _ in range(2):
        page.click("#add-tier")
    for number, tier in ((0, 1), (1, 1), (2, 2), (3, 2), (4, 2)):
        page.focus(f"#chip-{number}")
        for _ in range(tier):
            page.keyboard.press("ArrowRight")
    page.click("button[aria-label='stock → profit: free']")
    take(page, "knowledge", "knowledge")
    page.click("#start")
    page.wait_for_selector("#graph svg")
    take(page, "learn", "learn")
    page.click("#edge-list button:text-is('price → quantity')")
    take(page, "graph", "graph", ".buttons")
    page.select_option("#effect-source", "price")
    page.wait_for_selector("#value")
    take(page, "effects", "effects")
    page.fill("#n-resamples", "20")
    page.click("#ask-bootstrap")
    page.click("#ask-posterior")
    page.click("#ask-experiment")
    for number in (2, 3):
        page.wait_for_selector(f"#sure .pair > div:nth-child({number}) table")
    page.wait_for_function("() => !document.querySelector('#sure .job')")
    take(page, "sure", "sure")
    page.click("#copy")
    page.click("#compare button[aria-label='price → profit: there']")
    page.wait_for_selector("#comparison svg")
    take(page, "compare", "compare", "#editor")
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

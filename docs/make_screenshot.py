"""Make ``docs/images/report.png``: the upper part of the report of ``cyclearn demo``.

Needs playwright and Chromium: ``python docs/make_screenshot.py``.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from chromium import chromium_path

TARGET = Path(__file__).parent / "images" / "report.png"
SIZE = {"width": 1000, "height": 870}


def main() -> None:
    """Run the demo in an empty folder and take a picture of its page."""
    path = chromium_path()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        subprocess.run([sys.executable, "-m", "cyclearn", "demo", "-o", folder], check=True)
        browser = running.chromium.launch(executable_path=path)
        page = browser.new_page(viewport=SIZE)
        page.goto((Path(folder) / "report.html").as_uri())
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=TARGET)
        browser.close()


if __name__ == "__main__":
    main()

"""Take the pictures of reports: ``docs/images/report*.png``, the upper part of each page.

``report.png`` is that of ``cyclearn demo``. Those of real data are taken where ``CYCLEARN_DATA``
names the folder with ``hippocampus/`` and ``sachs/``. Needs playwright and Chromium:
``python docs/make_screenshot.py``.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from playwright.sync_api import sync_playwright

import cyclearn as cl
from chromium import chromium_path

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1000, "height": 870}


def demo(folder: Path) -> Path:
    """The page of ``cyclearn demo``."""
    subprocess.run([sys.executable, "-m", "cyclearn", "demo", "-o", str(folder)], check=True)
    return folder / "report.html"


def hippocampus(folder: Path) -> Path:
    """One person's regions around the hippocampus, rows counted for what they are worth."""
    rows = cl.read_table(Path(os.environ["CYCLEARN_DATA"]) / "hippocampus" / "subject1_left.csv")
    result = cl.learn(rows)
    title = "What drives what around the hippocampus (subject 1)"
    return result.report(folder / "hippocampus.html", data=rows, title=title)


def sachs(folder: Path) -> Path:
    """Proteins of cells that were only stimulated, by their ranks."""
    path = Path(os.environ["CYCLEARN_DATA"]) / "sachs" / "sachs.experiments.txt"
    cells = pd.read_csv(path, sep="\t")
    is_plain = (cells["cd3_cd28"] == 1) & (cells.iloc[:, 12:].sum(axis=1) == 0)
    rows = cells.loc[is_plain, cells.columns[:11]]
    result = cl.learn(rows, margins="rank")
    title = "What drives what among eleven proteins"
    return result.report(folder / "sachs.html", data=rows, title=title)


def main() -> None:
    """Make every page in an empty folder and take a picture of it."""
    path = chromium_path()
    pages: dict[str, Callable[[Path], Path]] = {"report": demo}
    if "CYCLEARN_DATA" in os.environ:
        pages |= {"report_hippocampus": hippocampus, "report_sachs": sachs}
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path)
        for name, make in pages.items():
            page = browser.new_page(viewport=SIZE)
            page.goto(make(Path(folder)).as_uri())
            page.screenshot(path=IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()

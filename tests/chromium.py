"""The real browser in which pages are tried, where there is one."""

import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATH = next(filter(None, map(shutil.which, NAMES)), None)
# Nothing that a test has not asked for, least of all over the network.
OPTIONS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

needs_browser = pytest.mark.skipif(
    PATH is None, reason=f"none of {', '.join(NAMES)} is on this machine"
)


@contextmanager
def open_browser():
    """A browser of its own, closed in the end."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=PATH, args=OPTIONS)
        yield browser
        browser.close()

"""Where the browser is that takes the pictures of pages."""

import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium_path() -> str:
    """The first browser of this machine; without any the script ends."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        sys.exit(f"none of {', '.join(NAMES)} is on this machine")
    return path

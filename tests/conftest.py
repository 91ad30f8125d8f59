"""Settings that all tests share, and the command line as a user runs it."""

import os
import subprocess
import sys

import pytest
from hypothesis import settings

# Shared machines are slow at times, so no example has a deadline; where tests decide about a
# change they draw the same examples every time.
settings.register_profile("default", deadline=None, max_examples=60)
settings.register_profile("ci", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture
def cyclearn(tmp_path):
    """Run ``cyclearn`` in an empty folder and return what came of it."""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "cyclearn", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )

    return run


@pytest.fixture
def refused(cyclearn):
    """Assert that a command ends with exit code 2 and one clear line on stderr."""

    def check(*arguments):
        result = cyclearn(*arguments)
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr.startswith("cyclearn: ")
        assert result.stderr.count("\n") == 1

    return check

"""Settings that all tests share, and the command line as a user types it."""

import os

import pytest
from hypothesis import settings

from command_line import run_cyclearn

# Shared machines are slow at times, so no example has a deadline; where tests decide about a
# change they draw the same examples every time.
settings.register_profile("default", deadline=None, max_examples=60)
settings.register_profile("ci", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Doctests are looked for in every module, and two of this name cannot be imported as such.
collect_ignore = ["conftest.py", "app/conftest.py"]


def pytest_collection_modifyitems(items):
    """The longest test first, so that no core waits for it in the end."""
    items.sort(key=lambda item: "test_other_machines" not in item.nodeid)


@pytest.fixture
def cyclearn(tmp_path, monkeypatch, capsys):
    """Run ``cyclearn`` in an empty folder, in this process, and return what came of it."""

    def run(*arguments):
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            return run_cyclearn(arguments, capsys)

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
        return result.stderr

    return check

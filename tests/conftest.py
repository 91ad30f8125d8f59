"""Settings that all tests share, and the command line as a user types it."""

import itertools
import os

import pytest
from hypothesis import settings
from numba.core import config as numba_config

from command_line import run_cyclearn

# Shared machines are slow at times, so no example has a deadline; where tests decide about a
# change they draw the same examples every time.
settings.register_profile("default", deadline=None, max_examples=25)
settings.register_profile("ci", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Doctests are looked for in every module, and two of this name cannot be imported as such.
collect_ignore = ["conftest.py", "app/conftest.py"]


# Those that take longest, or are kept together in one process.
LONGEST = ("test_other_machines", "tests/app/", "test_cluster", "test_docs")


def is_for_python(item):
    """Whether a test calls kernels that Python calls nowhere else: compiled they are other code."""
    marker = item.get_closest_marker("uncompiled")
    return marker is not None and marker.kwargs.get("only", False)


# Before xdist looks for groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """The longest tests first, so that no core waits for them in the end.

    Those of one file run in one process: what they share is made once.
    """
    if not numba_config.DISABLE_JIT:
        config.hook.pytest_deselected(items=[*filter(is_for_python, items)])
        items[:] = itertools.filterfalse(is_for_python, items)

    def place(item):
        found = (n for n, name in enumerate(LONGEST) if name in item.nodeid)
        return next(found, len(LONGEST))

    items.sort(key=place)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


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

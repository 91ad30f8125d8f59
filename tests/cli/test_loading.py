"""What is loaded, and when: nobody waits for what a command does not need."""

import subprocess
import sys

import pytest

HEAVY = "{'numpy', 'scipy', 'numba', 'pandas', 'networkx', 'sklearn', 'matplotlib'}"


def loaded(code):
    """The heavy libraries that a new Python has loaded after some lines."""
    line = f"{code}\nimport sys\nprint(sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "code",
    [
        "import cyclearn",
        "from cyclearn.cli.commands import Commands; Commands().get_command(None, 'app')",
        "import cyclearn.app.server",
    ],
)
def test_nothing_heavy(code):
    if "server" in code:
        pytest.importorskip("starlette")
    assert loaded(code) == "[]"


def test_the_page_is_served_without_anything_heavy():
    pytest.importorskip("starlette")
    code = (
        "from cyclearn.app.server import _asset\n"
        "for name in ('index.html', 'main.js', 'app.css', 'report.css', 'icon.svg'):\n"
        "    assert _asset(name).status_code == 200"
    )
    assert loaded(code) == "[]"


def test_a_search_is_loaded_without_what_it_does_not_need():
    # What a search needs is loaded before its time is counted.
    assert loaded("import cyclearn; cyclearn.learn") == "['numpy', 'scipy']"


def test_a_look_at_gaussian_rows_needs_no_tests_of_shape():
    """scipy.stats takes more than a second to load."""
    code = (
        "import sys, numpy, cyclearn\n"
        "cyclearn.check_data(numpy.random.default_rng(0).normal(size=(100, 3)))\n"
        "print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

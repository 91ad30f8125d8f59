"""The wheel, installed where nothing is compiled yet and nothing can be written.

With it run the golden answers and, among what is slow, the documentation, as on a plain processor
with another BLAS.
"""

import os
import platform
import site
import subprocess
import sys
import venv
from email import message_from_string
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest

# One process builds the wheel for all: it compiles every kernel.
pytestmark = pytest.mark.xdist_group("wheel")
ROOT = Path(__file__).parents[1]
DOCUMENTS = "tests/test_docs.py::test_blocks_run"
GOLDEN = "tests/learning/test_same_answer.py::test_golden_answers"
# Kernels of another family for the linear algebra of numpy and scipy.
OTHER_FAMILY = {"x86_64": "Prescott", "AMD64": "Prescott", "aarch64": "ARMV8", "arm64": "ARMV8"}


def run(command, **variables):
    """What a command printed, in the environment of this process but for what steers numba."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "PYTHONPATH"))}
    done = subprocess.run(command, env=kept | variables, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-1_000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    # Kept between runs, or made by `make test`: compiling takes longer than all that is compared.
    cache = request.config.cache.mkdir("compiled_for_a_wheel")
    kept = os.environ.get("CYCLEARN_COMPILED", str(cache))
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    run([*build, "--directory", str(folder)], CYCLEARN_COMPILED=kept)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The Python of an environment with the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    run([*install, "--disable-pip-version-check", "--no-index", "--no-deps", str(wheel)])
    (package,) = folder.rglob("site-packages/cyclearn")
    # The packages, without what their own .pth files name: the sources are among that.
    (package.parent / "packages.pth").write_text("\n".join(site.getsitepackages()))
    for path in (package, *package.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    return str(python)


def test_the_wheel_is_for_this_platform_python_and_numba(wheel):
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        (info,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
        metadata, about = (
            message_from_string(archive.read(f"{info}/{name}").decode())
            for name in ("METADATA", "WHEEL")
        )
    assert about["Root-Is-Purelib"] == "false"
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    for tag in about.get_all("Tag"):
        assert tag.startswith(f"{python}-{python}-")
        assert tag.split("-")[2] in wheel.name
        assert tag.endswith((platform.machine().lower(), "universal2"))
    assert f"numba=={version('numba')}" in metadata.get_all("Requires-Dist")
    compiled = [name for name in names if name.endswith(".nbc")]
    assert compiled
    assert {Path(name).parent.as_posix() for name in compiled} == {
        f"cyclearn/_kernels/numba-{version('numba')}"
    }


# What the golden answers call least of.
SEARCHES = """
import numpy as np, cyclearn as cl
assert cl.__file__.startswith(PLACE), cl.__file__
rows = np.random.default_rng(0).standard_normal((100, 3))
result = cl.learn(rows, n_starts=1)
result.report("report.html")
cl.learn({"a": rows, "b": rows + 1}, n_starts=1)
cl.learn([rows, 2 * rows], interventions=[[], ["X1"]], n_starts=1)
cl.learn(rows, method="hill-climbing", knowledge=cl.Knowledge(forbidden=[("X1", "X2")]))
cl.fit(cl.DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0)]), rows)
cl.posterior(rows, n_samples=100, time_limit=5)
"""


def run_installed(python, arguments, **variables):
    """Run where code that was compiled could not be kept, of which the warning is an error."""
    family = OTHER_FAMILY.get(platform.machine())
    if family is None:
        pytest.skip(f"no other family is known for {platform.machine()}")
    nowhere = {"NUMBA_CACHE_DIR": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
    run([python, *arguments], OPENBLAS_CORETYPE=family, **nowhere, **variables)


def test_the_wheel_compiles_nothing(python, tmp_path):
    code = SEARCHES.replace("PLACE", repr(str(Path(python).parents[1])))
    code = code.replace("report.html", (tmp_path / "report.html").as_posix())
    refused = "error:compiled code cannot be kept:RuntimeWarning"
    run_installed(python, ["-W", "ignore", "-W", refused, "-c", code])
    assert (tmp_path / "report.html").stat().st_size > 10_000


TESTS = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]


def test_the_wheel_gives_the_same_answers_with_another_blas(python):
    run_installed(python, [*TESTS, GOLDEN])


@pytest.mark.slow
def test_the_documentation_runs_with_another_blas(python):
    run_installed(python, [*TESTS, DOCUMENTS])

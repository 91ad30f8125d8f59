"""Compiled code on disk: edits are noticed, and nothing that happens to the disk stops a call."""

import ast
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core import config

import cyclearn
from cyclearn._kernels import compilation, first_use
from cyclearn._kernels.compilation import kernel
from cyclearn._kernels.held_signals import held
from cyclearn.foundation.deadlines import now

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

SOURCE = Path(cyclearn.__file__).parent


def one_more(n):
    return n + 1


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder of its own for compiled code, and nothing said yet."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compilation, "_warned", False)
    return tmp_path


@pytest.fixture
def package(tmp_path):
    """A copy of the package with two kernels, one of which calls the other."""
    room = tmp_path / "cyclearn" / "_kernels"
    room.mkdir(parents=True)
    (room.parent / "__init__.py").touch()
    for name in ("deadlines.py", "errors.py"):
        shutil.copy(SOURCE / name, room.parent)
    for name in ("__init__.py", "compilation.py", "first_use.py", "held_signals.py"):
        shutil.copy(SOURCE / "_kernels" / name, room)
    head = "from cyclearn._kernels.compilation import kernel\n"
    (room / "called.py").write_text(f"{head}@kernel\ndef called(n):\n    return n + 1\n")
    (room / "caller.py").write_text(
        f"{head}from cyclearn._kernels.called import called\n"
        "@kernel\ndef caller(n):\n    return 10 * called(n)\n"
    )
    return tmp_path


def run_caller(package, **variables):
    """The answer of the caller, how often the disk had its code, and what was said."""
    code = (
        "from cyclearn._kernels.caller import caller\n"
        "print(caller(1), sum(caller.stats.cache_hits.values()))"
    )
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment, cwd=package, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer, hits = map(int, done.stdout.split())
    return answer, hits, done.stderr


def test_an_edit_of_a_kernel_that_is_called_is_noticed(package):
    assert run_caller(package) == (20, 0, "")
    called = package / "cyclearn" / "_kernels" / "called.py"
    called.write_text(called.read_text().replace("n + 1", "n + 2"))
    files = set((called.parent / "__pycache__").iterdir())
    assert run_caller(package) == (30, 0, "")
    assert run_caller(package) == (30, 1, "")
    assert set((called.parent / "__pycache__").iterdir()) == files


def test_without_any_folder_to_write_to_a_warning_says_so_once(package):
    (package / "no_folder").touch()
    (package / "cyclearn" / "_kernels" / "__pycache__").touch()
    nowhere = str(package / "no_folder" / "below")
    answer, _, said = run_caller(
        package, NUMBA_CACHE_DIR=nowhere, XDG_CACHE_HOME=nowhere, HOME=nowhere
    )
    assert answer == 20
    assert said.count("RuntimeWarning") == 1
    assert "compiles in memory" in said


def test_a_full_disk_is_said_once_and_the_call_goes_on(cache, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    first, second = kernel(one_more), kernel(one_more)
    for each in (first, second):
        monkeypatch.setattr(each._for_python._cache._cache_file, "_save_data", full)
    with pytest.warns(RuntimeWarning, match=f"cannot be kept in {cache}.*No space left") as said:
        assert (first(1), first(1.5), second(1)) == (2, 2.5, 2)
    assert len(said) == 1


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"damaged", b"\x80\x05"])
@pytest.mark.usefixtures("cache")
def test_damaged_files_are_compiled_again(ending, content, tmp_path):
    assert kernel(one_more)(1) == 2
    for file in tmp_path.rglob(f"*.{ending}"):
        file.write_bytes(content)
    with pytest.warns(RuntimeWarning, match="cannot be read"):
        assert kernel(one_more)(1) == 2
    mended = kernel(one_more)
    assert mended(1) == 2
    assert sum(mended.stats.cache_hits.values()) == 1


@pytest.mark.usefixtures("cache")
def test_compiling_is_told_once_to_whoever_asked():
    told = []
    first_use.when_compiling(lambda: told.append("compiling"))
    compiled = kernel(one_more)
    assert (compiled(1), compiled(1.5)) == (2, 2.5)
    assert told == ["compiling"]
    first_use.when_compiling(lambda: told.append("again"))
    assert kernel(one_more)(1) == 2
    first_use.when_compiling(None)
    assert kernel(one_more)(True) == 2
    assert told == ["compiling"]


def test_after_the_command_nothing_is_compiled(cyclearn):
    said = cyclearn("compile").stdout
    assert "no search or fit has to compile" in said
    code = (
        "import numpy as np, cyclearn as cl\n"
        "from cyclearn._kernels.first_use import when_compiling\n"
        "when_compiling(lambda: print('compiling'))\n"
        "rows = np.random.default_rng(0).standard_normal((100, 3))\n"
        "cl.learn({'a': rows, 'b': rows + 1}, n_starts=1)\n"
        "cl.learn([rows, 2 * rows], interventions=[[], ['X1']], n_starts=1)\n"
        "cl.learn(rows, method='hill-climbing', knowledge=cl.Knowledge(forbidden=[('X1', 'X2')]))\n"
        "cl.fit(cl.DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0)]), rows)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stdout


def test_kernels_start_no_process():
    """A child in the folder of the user would run a numpy.py that lies there."""
    for path in (SOURCE / "_kernels").glob("*.py"):
        assert not {"subprocess", "multiprocessing"} & set(path.read_text().split()), path


def test_an_interrupt_in_the_middle_of_machine_code_comes_after_it():
    """LLVM calls back into Python, where what a signal raises would be lost."""
    namespace = {"__name__": "llvmlite.binding.executionengine", "press": signal.raise_signal}
    exec("def call_back():\n    press(2)\n", namespace)
    exec("def load_overload():\n    press(2)\n", namespace)

    @held()
    def compile_with(press, done):
        press()
        done.append(press)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    done, told = [], []
    first_use.when_held(lambda: told.append("waiting"))
    try:
        for press in (
            namespace["call_back"],
            namespace["load_overload"],
            lambda: signal.raise_signal(signal.SIGINT),
        ):
            with pytest.raises(KeyboardInterrupt):
                compile_with(press, done)
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
        first_use.when_held(None)
    assert done == [namespace["call_back"], namespace["load_overload"]]
    assert told == ["waiting"]  # what is read from disk is there at once


@pytest.mark.usefixtures("cache")
def test_the_time_to_compile_does_not_count():
    """An empty cache and two seconds gave a graph without edges."""
    compiled = kernel(one_more)
    begun, counted = time.monotonic(), now()
    compiled(1)
    assert now() - counted < (time.monotonic() - begun) / 2


def test_lean_kernels_return_numbers_and_get_no_arrays():
    """An array that a kernel gets from another would never be let go; numba says nothing."""
    kernels, is_lean = {}, {}
    for path in (SOURCE / "_kernels").glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                decorator = ast.unparse(node.decorator_list[0])
                if decorator in ("kernel", "lean_kernel"):
                    kernels[path.stem, node.name] = node
                    is_lean[path.stem, node.name] = decorator == "lean_kernel"
    returning = {
        name
        for (_, name), node in kernels.items()
        if set(re.findall(r"[\w.]+", ast.unparse(node.returns)))
        - {"tuple", "int", "float", "bool", "None", "np.uint64"}
    }
    assert "parents_of" in returning
    assert sum(is_lean.values()) > 50
    for place, node in kernels.items():
        if is_lean[place]:
            assert node.name not in returning, place
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                    assert call.func.id not in returning, (place, call.func.id)

"""What is promised of compiled code, one test or more for each promise.

They fail where a new version of numba works in another way.
"""

import ast
import errno
import hashlib
import logging
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import config

import cyclearn
from cyclearn._kernels import compilation
from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn.foundation.deadlines import now
from cyclearn.foundation.interruption import held

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

SOURCE = Path(cyclearn.__file__).parent


def one_more(n):
    return n + 1


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder of its own for compiled code, and nothing said yet."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compilation, "_is_told", False)
    compilation._warn_once.cache_clear()
    return tmp_path


@pytest.fixture
def n_compiled(caplog):
    """How many kernels were compiled since it was asked last."""
    caplog.set_level(logging.DEBUG, "cyclearn")

    def count():
        found = sum("compiling" in record.getMessage() for record in caplog.records)
        caplog.clear()
        return found

    return count


@pytest.fixture
def package(tmp_path):
    """A copy of the package with two kernels, one of which calls the other."""
    copied = tmp_path / "cyclearn"
    shutil.copytree(SOURCE / "foundation", copied / "foundation")
    (copied / "_kernels").mkdir()
    for name in ("__init__.py", "compilation.py"):
        shutil.copy(SOURCE / "_kernels" / name, copied / "_kernels" / name)
    (copied / "__init__.py").touch()
    head = "from cyclearn._kernels.compilation import kernel\n"
    (copied / "_kernels/called.py").write_text(f"{head}@kernel\ndef called(n):\n    return n + 1\n")
    (copied / "_kernels/caller.py").write_text(
        f"{head}from cyclearn._kernels.called import called\n"
        "@kernel\ndef caller(n):\n    return 10 * called(n)\n"
    )
    return tmp_path


def run_caller(package, first="", **variables):
    """The answer of the caller, how many kernels were compiled for it, and what was said."""
    code = (
        f"{first}\n"
        "import logging, sys\n"
        "log = logging.getLogger('cyclearn')\n"
        "log.setLevel(logging.DEBUG)\n"
        "log.addHandler(logging.StreamHandler(sys.stdout))\n"
        "from cyclearn._kernels.caller import caller\n"
        "print(caller(1))"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment, cwd=package, capture_output=True, text=True, check=True,
    )  # fmt: skip
    *told, answer = done.stdout.splitlines()
    return int(answer), len(told), done.stderr


def test_an_edit_of_a_kernel_that_is_called_is_noticed(package):
    assert run_caller(package) == (20, 1, "")
    assert run_caller(package) == (20, 0, "")
    called = package / "cyclearn" / "_kernels" / "called.py"
    called.write_text(called.read_text().replace("n + 1", "n + 2"))
    files = set((called.parent / "__pycache__").iterdir())
    assert run_caller(package) == (30, 1, "")
    assert run_caller(package) == (30, 0, "")
    assert set((called.parent / "__pycache__").iterdir()) == files


def test_without_any_folder_to_write_to_a_warning_says_so_once(package):
    (package / "no_folder").touch()
    (package / "cyclearn" / "_kernels" / "__pycache__").touch()
    nowhere = str(package / "no_folder" / "below")
    for variables in ({"NUMBA_CACHE_DIR": nowhere}, {"XDG_CACHE_HOME": nowhere, "HOME": nowhere}):
        answer, n_compiled, said = run_caller(package, **variables)
        assert (answer, n_compiled) == (20, 1)
        assert said.count("RuntimeWarning") == 1
        assert "compiles in memory" in said


def test_a_full_disk_is_said_once_and_the_call_goes_on(cache, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    first, second = kernel(one_more), kernel(one_more)
    with pytest.warns(RuntimeWarning, match=f"cannot be kept in {cache}.*No space left") as said:
        assert (first(1), first(1.5), second(1)) == (2, 2.5, 2)
    assert len(said) == 1
    assert not [path for path in cache.rglob("*") if path.is_file()]


def with_a_wrong_pickle(content):
    content = content[32:64] + pickle.dumps(("another", "pickle"))
    return hashlib.sha256(content).digest() + content


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda _: b"damaged",
        lambda content: content[:-1],
        lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
        with_a_wrong_pickle,
    ],
    ids=["empty", "garbage", "truncated", "one bit", "another pickle"],
)
def test_damaged_files_are_replaced(damage, cache, n_compiled):
    assert kernel(one_more)(1) == 2
    (file,) = cache.rglob("*.nbc")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    n_compiled()
    with pytest.warns(RuntimeWarning, match="is damaged; it is compiled again"):
        assert kernel(one_more)(1) == 2
    assert n_compiled() == 1
    assert len(file.read_bytes()) > len(whole) / 2
    assert kernel(one_more)(1) == 2
    assert n_compiled() == 0


def test_damaged_files_are_replaced_for_the_next_process(package):
    assert run_caller(package) == (20, 1, "")
    for file in package.rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:500])
    answer, n_compiled, said = run_caller(package)
    assert (answer, n_compiled) == (20, 1)
    assert said.count("RuntimeWarning") == 1
    assert run_caller(package) == (20, 0, "")


def test_where_damaged_files_cannot_be_replaced_another_folder_is_taken(package, tmp_path):
    """As an administrator's installation is for everybody else."""
    own = {"XDG_CACHE_HOME": str(tmp_path / "own"), "HOME": str(tmp_path / "own")}
    run_caller(package, **own)
    for file in package.rglob("*.nbc"):
        file.unlink()
        file.mkdir()
    assert run_caller(package, **own) == (20, 1, "")
    assert run_caller(package, **own) == (20, 0, "")


@pytest.fixture
def shipped(package):
    """The package as in a wheel, with code for any processor."""
    folder = package / "compiled"
    run_caller(package, NUMBA_CPU_NAME="generic", NUMBA_CACHE_DIR=str(folder))
    place = package / "cyclearn" / "_kernels" / f"numba-{numba.__version__}"
    place.mkdir()
    (entry,) = folder.rglob("*.nbc")
    entry.rename(place / entry.name)
    return place / entry.name


def test_shipped_code_is_used_on_any_processor_and_only_read(package, shipped):
    (package / "cyclearn" / "_kernels" / "__pycache__").touch()
    before = shipped.read_bytes()
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null"}
    assert run_caller(package, **nowhere) == (20, 0, "")
    assert run_caller(package, NUMBA_CACHE_DIR="/dev/null") == (20, 0, "")
    assert shipped.read_bytes() == before


def test_code_for_this_processor_comes_before_shipped_code(package, shipped):
    native = "import cyclearn._kernels.compilation as c; c.compile_for_this_processor()"
    assert run_caller(package, native) == (20, 1, "")
    shipped.write_bytes(b"damaged")
    assert run_caller(package) == (20, 0, "")
    shutil.rmtree(package / "cyclearn" / "_kernels" / "__pycache__")
    answer, n_compiled, said = run_caller(package)
    assert (answer, n_compiled) == (20, 1)
    assert f"{shipped.parent} is damaged" in said
    assert run_caller(package) == (20, 0, "")


@pytest.mark.usefixtures("cache")
def test_code_shipped_for_another_numba_is_named(tmp_path, caplog, monkeypatch):
    (tmp_path / "numba-0.1").mkdir()
    monkeypatch.setattr(compilation, "__file__", str(tmp_path / "compilation.py"))
    caplog.set_level(logging.INFO, "cyclearn")
    assert kernel(one_more)(1) == 2
    words = f"compiled for numba-0.1 and finds numba-{numba.__version__}: compiling"
    assert words in caplog.text


@pytest.mark.usefixtures("cache")
def test_compiling_is_told_once_and_loading_is_not(caplog, monkeypatch):
    words = "first use on this machine: compiling, about two minutes"
    caplog.set_level(logging.INFO, "cyclearn")
    compiled = kernel(one_more)
    assert (compiled(1), compiled(1.5)) == (2, 2.5)
    assert caplog.record_tuples == [("cyclearn", logging.INFO, words)]
    monkeypatch.setattr(compilation, "_is_told", False)
    assert kernel(one_more)(1) == 2
    assert len(caplog.records) == 1
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert kernel(one_more)(True) == 2
    assert caplog.record_tuples[1:] == [("cyclearn", logging.WARNING, words)]


def test_kernels_start_no_process():
    """A child in the folder of the user would run a numpy.py that lies there."""
    for path in (SOURCE / "_kernels").glob("*.py"):
        assert not {"subprocess", "multiprocessing"} & set(path.read_text().split()), path


@pytest.fixture
def listening():
    """Ctrl-C raises, also where the tests themselves run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listening")
def test_an_interrupt_waits_for_the_end_of_the_kernel_at_hand():
    done, told = [], []
    hold = held(lambda: told.append("waiting"))

    @hold
    def compile_called():
        signal.raise_signal(signal.SIGINT)
        done.append("called")

    @hold
    def compile_caller():
        compile_called()
        done.append("caller")

    with pytest.raises(KeyboardInterrupt):
        compile_caller()
    assert (done, told) == (["called"], ["waiting"])
    with pytest.raises(ZeroDivisionError):
        hold(lambda: 1 / 0)()


def test_a_handler_that_raises_nothing_lets_the_kernel_be_compiled():
    met = []
    before = signal.signal(signal.SIGINT, lambda *_: met.append("met"))

    @held(lambda: None)
    def compile_kernel():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert not met
        return 7

    try:
        assert compile_kernel() == 7
    finally:
        signal.signal(signal.SIGINT, before)
    assert met == ["met", "met"]


@pytest.mark.usefixtures("cache", "listening")
def test_an_interrupt_while_a_kernel_is_compiled_leaves_it_whole(n_compiled):
    """LLVM calls back into Python, where what a signal raises would be lost."""

    def middle(values):
        return np.sort(values)[len(values) // 2]

    def repeat(compiled):
        while True:
            compiled(np.arange(5.0))

    for seconds in (0.05, 0.1, 0.3, 0.8):
        compiled = kernel(middle)
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            repeat(compiled)
        timer.join()
        assert compiled(np.arange(5.0)) == 2
    n_compiled()
    assert kernel(middle)(np.arange(5.0)) == 2
    assert n_compiled() == 0


@pytest.mark.usefixtures("listening")
def test_an_interrupt_that_comes_with_a_result_is_one():
    """As it does when a signal has arrived while compiled code ran."""
    compiled = kernel(one_more)

    def run(_):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    vars(compiled)["_for_python"] = run
    with pytest.raises(KeyboardInterrupt):
        compiled(1)
    vars(compiled)["_for_python"] = lambda _: (_ for _ in ()).throw(SystemError("by itself"))
    with pytest.raises(SystemError, match="by itself"):
        compiled(1)


@pytest.mark.usefixtures("cache")
def test_the_time_to_compile_does_not_count():
    """An empty cache and two seconds gave a graph without edges."""
    compiled = kernel(one_more)
    begun, counted = time.monotonic(), now()
    compiled(1)
    assert now() - counted < (time.monotonic() - begun) / 2


def code_of(dispatcher):
    (code,) = dispatcher.inspect_llvm().values()
    return code


@pytest.mark.usefixtures("cache")
def test_kernels_have_only_the_wrappers_that_somebody_calls():
    called = kernel(one_more)

    def calling(n):
        return called(n)

    caller = kernel(calling)
    assert caller(1) == 2
    assert "@_ZN7cpython" in code_of(caller._for_python)
    assert "@_ZN7cpython" not in code_of(called._for_kernels)
    for dispatcher in (caller._for_python, called._for_kernels):
        assert "@cfunc" not in code_of(dispatcher)


def test_what_a_called_kernel_raises_is_raised(cache, n_compiled):
    """Numba keeps what it raises in objects of Python, which machine code must find."""
    n_compiled()

    @kernel
    def called(n):
        if n > 1:
            raise ValueError("too large")
        return n

    def calling(n):
        return called(n) + 1

    for n_new in (1, 0):
        caller = kernel(calling)
        assert caller(1) == 2
        with pytest.raises(ValueError, match="too large"):
            caller(2)
        assert n_compiled() == n_new
    assert len([*cache.rglob("*.nbc")]) == 1


@pytest.mark.usefixtures("cache")
def test_lean_kernels_count_no_references():
    def total(rows):
        found = 0.0
        for row in rows:
            found += row[0]
        return found

    for make, counts in ((kernel, True), (lean_kernel, False)):
        compiled = make(total)
        assert compiled((np.ones(2), np.ones(2))) == 2
        assert ("NRT_incref" in code_of(compiled._for_python)) == counts


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

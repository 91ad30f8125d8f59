"""How kernels are compiled and where the code is stored: all that depends on how numba works.

Numba stores compiled code beside the source and checks only the file of the function itself, not
the files of the kernels that it calls. Here compiled code contains the digest of all kernel
sources, so that a change of any kernel is detected, and a checksum, so that damaged files are
detected and replaced. If no folder is writable, kernels are compiled for this process alone, and
one warning says so.

A wheel contains code for any processor of its platform, in a folder that is never written to. Code
that was compiled for this processor takes precedence.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import platform
import secrets
import sys
import warnings
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import numba
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import user_cache_dir

from cyclearn.foundation.deadlines import uncounted
from cyclearn.foundation.interruption import held, underlying

Function = TypeVar("Function", bound=Callable[..., Any])

_config: Any = config
_log = logging.getLogger("cyclearn")
_is_told = False
_is_shipped_code_used = True
# The folder of compiled code in a wheel: numba loads no code of another numba version.
_NUMBA = f"numba-{numba.__version__}"
# The processor and the features, in numba's notation, that the code in a wheel is for.
_ANY_PROCESSOR = ("generic", "")


def kernel(function: Function) -> Function:
    """Compile a function when it is first called, and store the code for other processes.

    With ``NUMBA_DISABLE_JIT=1`` the function is returned unchanged, for debuggers and coverage.
    """
    # Explicit: kernels would otherwise inherit from their callers whether references are counted.
    return function if _config.DISABLE_JIT else cast(Function, Kernel(function, _nrt=True))


def lean_kernel(function: Function) -> Function:
    """A kernel that creates no arrays and gets none from kernels that it calls.

    References to its arrays are not counted. Numba counts the references to every array in a tuple
    at every call, with one locked instruction each. In small functions with tuples of dozens of
    arrays, most of the time is spent on this.
    """
    return function if _config.DISABLE_JIT else cast(Function, Kernel(function, _nrt=False))


class Kernel:
    """A function that is compiled when it is first called, by Python or by another kernel.

    For a call from Python, the machine code contains everything that the function calls. For a call
    from another kernel, only a part is compiled, without the wrapper that unpacks Python objects.
    This takes a quarter less time than compiling machine code for every kernel.
    """

    def __init__(self, function: Callable[..., Any], **options: bool) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        # Without the wrapper for callers in C: nobody calls it, and it takes time to compile.
        self._options: Any = {
            "nogil": True,
            "error_model": "numpy",
            "no_cfunc_wrapper": True,
            **options,
        }

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self._for_python(*arguments)
        except SystemError as error:
            # Compiled code cannot be interrupted. An exception that a signal handler raised
            # meanwhile arrives with the result, and Python reports it as a SystemError.
            interrupt = underlying(error)
            if interrupt is None:
                raise
            raise interrupt.with_traceback(None) from None

    def __reduce__(self) -> str:
        return str(self._function.__qualname__)

    @functools.cached_property
    def _for_python(self) -> Any:
        compiled = self._compiled()
        compiled._cache = _Files(self._function, repr(self._options))
        return compiled

    @functools.cached_property
    def _for_kernels(self) -> Any:
        return self._compiled(no_cpython_wrapper=True, pipeline_class=_PartCompiler)

    @property
    def _numba_type_(self) -> Any:
        """The type that numba gives it in another kernel; code that exists already is reused."""
        is_there = "_for_python" in vars(self) and self._for_python.overloads
        return (self._for_python if is_there else self._for_kernels)._numba_type_

    def _compiled(self, **options: Any) -> Any:
        compiled: Any = numba.njit(**self._options, **options)(self._function)
        # LLVM calls back into Python. An exception that a signal handler raises there is lost, or
        # leaves machine code half loaded.
        compiled.compile = uncounted()(held(_tell_held)(compiled.compile))
        return compiled


class _Part(JITCodeLibrary):
    """Code that becomes machine code only as a part of other code, and is optimised there."""

    # Numba writes the addresses of its objects into machine code; a part has no machine code.
    codegen = SimpleNamespace(set_env=lambda *_: None)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCompiler(Compiler):
    """Numba's compiler, changed to produce a part."""

    def __init__(self, typing: Any, target: Any, _library: Any, *others: Any) -> None:
        super().__init__(typing, target, _Part(target.codegen(), "part"), *others)


class _Files:
    """Stored code of one kernel, one file per signature, with the methods that numba expects.

    A file consists of a checksum, the digest of the sources, and numba's serialised code.
    """

    def __init__(self, function: Callable[..., Any], options: str) -> None:
        self._name, self._options = function.__name__, options
        self._source = Path(function.__code__.co_filename).absolute()

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code of a signature; None if it must be compiled."""
        target.refresh()
        damaged = None
        processor = target.codegen().magic_tuple()[1:]
        for path in [*self._paths(signature, processor), *self._shipped(signature)]:
            try:
                content = path.read_bytes()
            except OSError:
                continue
            checksum, stamp, code = content[:32], content[32:64], content[64:]
            try:
                if checksum != hashlib.sha256(stamp + code).digest():
                    damaged = path
                elif stamp == sources_digest():
                    return CompileResult._rebuild(target, *pickle.loads(code))
            except Exception:  # unpickling a damaged file can raise any error
                damaged = path
        if damaged:
            _warn_once(f"compiled code in {damaged.parent} is damaged; it is compiled again")
        _tell_compiling()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store compiled code in the first folder that is writable."""
        for objects in compiled._find_referenced_environments():
            # The objects of its parts; numba does this itself with code that it loads.
            compiled.codegen.set_env(objects.env_name, objects)
        if compiled.library.has_dynamic_globals:
            return  # addresses in this process
        content = sources_digest() + dumps(compiled._reduce())
        content = hashlib.sha256(content).digest() + content
        for path in self._paths(signature, compiled.codegen.magic_tuple()[1:]):
            problem = _problem_writing(path, content)
            if problem is None:
                return
        _warn_once(
            f"compiled code cannot be kept in {path.parent} ({problem}); cyclearn compiles in "
            "memory instead, which can take a minute in every new process. Set NUMBA_CACHE_DIR to "
            "a folder that can be written, or make room in that one"
        )

    def _paths(self, signature: Any, processor: tuple[str, str]) -> list[Path]:
        """The paths of code for this signature, caller, processor and Python."""
        name = self._file_name(signature, processor)
        return [folder / name for folder in self._folders()]

    def _shipped(self, signature: Any) -> list[Path]:
        """The paths at which the installation itself may have such code, for any processor."""
        folder = self._source.parent / _NUMBA
        return [folder / self._file_name(signature, _ANY_PROCESSOR)] * _is_shipped_code_used

    def _file_name(self, signature: Any, processor: tuple[str, str]) -> str:
        system = sys.platform, platform.machine(), sys.implementation.cache_tag
        key = signature, self._options, *processor, *system
        return f"{self._source.stem}.{self._name}-{_short_digest(repr(key))}.nbc"

    def _folders(self) -> list[Path]:
        """NUMBA_CACHE_DIR, or the folder beside the source followed by a folder of the user."""
        folder = self._source.parent
        own = f"{folder.name}-{_short_digest(str(folder))}"
        if _config.CACHE_DIR:
            return [Path(_config.CACHE_DIR, own)]
        # An application packed into one file has no folder for its sources.
        beside = [folder / "__pycache__"] if self._source.is_file() else []
        return [*beside, Path(user_cache_dir("cyclearn", appauthor=False), own)]


@functools.cache
def sources_digest() -> bytes:
    """Digest of numba's version and of the sources of all kernels."""
    files = [file for file in resources.files(__package__).iterdir() if file.name.endswith(".py")]
    digest = hashlib.sha256(numba.__version__.encode())
    # An application that is distributed without sources is one file.
    for file in sorted(files, key=lambda file: file.name) or [Path(sys.executable)]:
        digest.update(f"{file.name}\n".encode())
        digest.update(file.read_bytes())
    return digest.digest()


def compile_for_this_processor() -> None:
    """From now on, ignore the code of the installation in this process."""
    global _is_shipped_code_used
    _is_shipped_code_used = False


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _problem_writing(path: Path, content: bytes) -> str | None:
    """Write a whole file, atomically; return the reason if that fails."""
    beside = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        os.replace(beside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        return error.strerror
    return None


@functools.cache
def _warn_once(words: str) -> None:
    warnings.warn(words, RuntimeWarning, stacklevel=2)


def _tell_compiling() -> None:
    """Say once why the user has to wait: loudly if somebody uses this Python interactively."""
    global _is_told
    aloud = logging.WARNING if hasattr(sys, "ps1") else logging.INFO
    why = "first use on this machine"
    shipped = [path.name for path in Path(__file__).parent.glob("numba-*")]
    if shipped and _NUMBA not in shipped:
        why = f"cyclearn was compiled for {shipped[0]} and finds {_NUMBA}"
    _log.log(logging.DEBUG if _is_told else aloud, f"{why}: compiling, about two minutes")
    _is_told = True


def _tell_held() -> None:
    if _is_told:
        _log.warning("stopping as soon as the kernel at hand is compiled, some seconds")

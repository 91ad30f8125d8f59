"""How kernels are compiled, and where compiled code is kept.

Numba keeps compiled code beside the source and looks only at the file of the function itself, not
at the files of the kernels that it calls. Here the stamp of every function is the digest of all
kernel sources, so that any edit of any kernel is noticed. Where nothing can be kept or read,
because every folder is read-only, the disk is full or its content is damaged, kernels are compiled
for this process alone, and one warning says so.
"""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections.abc import Callable
from importlib import resources
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import caching, config

from cyclearn._kernels import first_use
from cyclearn._kernels.held_signals import held
from cyclearn.foundation.deadlines import uncounted

Function = TypeVar("Function", bound=Callable[..., Any])

# Without the wrapper for callers in C, which nobody calls and which takes time to compile. That
# references are counted is said aloud: kernels that are called would take it over from callers.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": True,
}


@functools.cache
def sources_digest() -> str:
    """Digest of the sources of all kernels, empty where an application comes without sources."""
    files = [file for file in resources.files(__package__).iterdir() if file.name.endswith(".py")]
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.name):
        digest.update(f"{file.name}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest() if files else ""


class _AllSources:
    """Where numba would keep a function, with the stamp of all kernels."""

    _caller: str

    def get_source_stamp(self) -> Any:
        return sources_digest() or super().get_source_stamp()  # type: ignore[misc]

    def get_disambiguator(self) -> str:
        # Names are unique in a file; numba's line numbers would leave old files behind. Processes
        # that compile at the same time number their files alike, so callers have their own ones.
        return self._caller


def _place(caller: str) -> type[caching.CompileResultCacheImpl]:
    """Files of one kernel: in NUMBA_CACHE_DIR, beside the source, or in the user's cache folder."""
    locators = [
        type(locator.__name__, (_AllSources, locator), {"_caller": caller})
        for locator in (
            caching.UserProvidedCacheLocator,
            caching.InTreeCacheLocator,
            caching.UserWideCacheLocator,
        )
    ]
    return type("_Place", (caching.CompileResultCacheImpl,), {"_locator_classes": locators})


class KernelCache(caching.FunctionCache):
    """Numba's files of one kernel; where they fail it is compiled in memory."""

    _impl_class = _place("kernel")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code of a signature, None where it must be compiled."""
        found, problem = None, None
        try:
            found = super().load_overload(sig, target_context)
        except Exception as error:  # what a damaged pickle raises can be anything
            problem = error
        if problem is not None:
            _warn_once(f"compiled code in {self.cache_path} cannot be read", problem)
            try:
                self.flush()
            except OSError:
                self.disable()
        if found is None:
            first_use.announce()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, where that is possible."""
        problem = None
        try:
            super().save_overload(sig, data)
        except Exception as error:  # as above: saving reads the index first
            problem = error
        if problem is not None:
            self.disable()
            _warn_once(f"compiled code cannot be kept in {self.cache_path}", problem)


class _InnerCache(KernelCache):
    """The same, for callers that are kernels."""

    _impl_class = _place("inner")


class Kernel:
    """A function, compiled when it is first called, by Python or by another kernel.

    For another kernel without the wrapper that unpacks Python's objects: with dozens of arrays for
    arguments, all wrappers together are a sixth of what there is to compile.
    """

    def __init__(self, function: Callable[..., Any], **options: bool) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._options = options

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)

    def __reduce__(self) -> str:
        return str(self._function.__qualname__)

    @functools.cached_property
    def _for_python(self) -> Any:
        return _dispatcher(self._function, KernelCache, **self._options)

    @functools.cached_property
    def _for_kernels(self) -> Any:
        options = {**self._options, "no_cpython_wrapper": True}
        return _dispatcher(self._function, _InnerCache, **options)

    @property
    def stats(self) -> Any:
        """How often its code was found on disk, and how often it was compiled, for Python."""
        return self._for_python.stats

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for in another kernel; code that is there already serves too."""
        is_there = "_for_python" in vars(self) and self._for_python.overloads
        return (self._for_python if is_there else self._for_kernels)._numba_type_


def kernel(function: Function) -> Function:
    """Compile a function when it is first called, and keep the code for other processes.

    With ``NUMBA_DISABLE_JIT=1`` it stays what it is, for debuggers and coverage.
    """
    if getattr(config, "DISABLE_JIT", False):
        return function
    return cast(Function, Kernel(function))


def lean_kernel(function: Function) -> Function:
    """A kernel that makes no arrays and is given none by kernels that it calls.

    References to its arrays are not counted. Numba counts those of every array in a tuple at every
    call, one locked instruction each: for small functions with tuples of dozens of arrays that is
    most of their time.
    """
    if getattr(config, "DISABLE_JIT", False):
        return function
    return cast(Function, Kernel(function, _nrt=False))


def _dispatcher(function: Callable[..., Any], cache: type[KernelCache], **options: bool) -> Any:
    compiled: Any = njit(**{**_OPTIONS, **options})(function)
    compiled.compile = uncounted()(held()(compiled.compile))
    try:
        compiled._cache = cache(function)
    except (RuntimeError, OSError) as error:
        _warn_once("there is no folder in which compiled code could be kept", error)
    return compiled


_warned = False


def _warn_once(problem: str, error: Exception) -> None:
    global _warned
    if _warned:
        return
    _warned = True
    warnings.warn(
        f"{problem} ({type(error).__name__}: {error}); cyclearn compiles in memory instead, which "
        "can take a minute in every new process. Set NUMBA_CACHE_DIR to a folder that can be "
        "written, or make room in that one",
        RuntimeWarning,
        stacklevel=2,
    )

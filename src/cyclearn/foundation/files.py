"""User files: read completely, written to a temporary file and renamed.

An existing file is kept until the new content is on the disk: a full disk, a missing permission or
an interruption leaves it unchanged.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cyclearn.foundation.errors import InputError

# A complete graph of 1,000 nodes has 20 MB; much larger files are mistakes.
MAX_BYTES = 256_000_000


def read_text(path: str | Path, what: str = "file", max_bytes: int = MAX_BYTES) -> str:
    """The text of a file in UTF-8, with or without a byte order mark.

    Read as bytes, because reading as text would turn a carriage return in a name into a newline.

    Parameters
    ----------
    path : path
    what : str
        A description of the file, for messages: ``"graph file"``.
    max_bytes : int
        A larger file is refused without reading it into memory: a device may never end.

    Raises
    ------
    InputError
        If the file does not exist, is a folder, cannot be read, is too large or is not text.
    """
    check_path(path)
    try:
        with open(path, "rb") as file:
            content = file.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise InputError(
                f"the {what} {shown(path)} has more than {max_bytes:,} bytes; name another"
            )
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"cannot read the {what} {shown(path)}: it is not UTF-8 text (byte {error.start}); "
            "save it as UTF-8"
        ) from None
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read the {what} {shown(path)}: {why(error)}") from None


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8 atomically; see :func:`replacing`."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        wrong = text[error.start : error.end]
        raise InputError(
            f"cannot write {shown(path)}: {wrong!r} is not UTF-8 text; rename it"
        ) from None
    write_bytes(path, content)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write bytes atomically; see :func:`replacing`."""
    with replacing(path) as beside:
        beside.write_bytes(content)


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A new file next to ``path`` to write to, which replaces it when the block succeeds.

    The new file has the same suffix and the permissions of an existing file. If the block fails or
    is interrupted, the new file is removed, and ``path`` is unchanged.

    Raises
    ------
    InputError
        For a folder, a device, a missing folder, a missing permission, or a full disk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answer.txt"
    ...     with replacing(path) as beside:
    ...         _ = beside.write_text("42")
    ...     path.read_text()
    '42'
    """
    try:
        place = _checked_place(path)
        beside = _new_file(place)
    except (OSError, ValueError) as error:
        raise _cannot_write(path, error) from None
    try:
        yield beside
        # The content first, then the name: otherwise a crash could leave an empty file.
        _sync(beside)
        with contextlib.suppress(FileNotFoundError):
            os.chmod(beside, stat.S_IMODE(os.stat(place).st_mode))
        os.replace(beside, place)
        _sync(place.parent)
    except OSError as error:
        raise _cannot_write(path, error) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def write_new(path: str | Path, content: bytes) -> bool:
    """Create a file with this content atomically; return false if it exists already.

    If several processes create the same file, exactly one succeeds.
    """
    place = _checked_place(path)
    if place.exists():
        return False
    beside = _new_file(place)
    try:
        beside.write_bytes(content)
        _sync(beside)
        try:
            os.link(beside, place)
        except FileExistsError:
            return False
        except OSError:
            # On a file system without links, creating the name decides which process was first.
            try:
                with open(place, "xb") as file:
                    file.write(content)
            except FileExistsError:
                return False
        _sync(place.parent)
        return True
    finally:
        beside.unlink(missing_ok=True)


def save(record: dict[str, Any], path: str | Path) -> Path:
    """Write the plain values of a result as JSON; the file name must end in ``.json``."""
    checked_suffix(path, (".json",), "a result")
    write_text(path, json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    return Path(path)


def check_schema(record: object, schema: str, made_by: str) -> None:
    """Reject plain values with a schema other than this, such as ``"cyclearn.LearnResult/5"``.

    ``made_by`` names the function whose results have this schema.

    Examples
    --------
    >>> check_schema({"schema": "cyclearn.LearnResult/1"}, "cyclearn.LearnResult/2", "learn")
    Traceback (most recent call last):
    cyclearn.foundation.errors.InputError: written by another version of cyclearn \
(cyclearn.LearnResult/1); this version reads cyclearn.LearnResult/2: run learn again
    """
    found = record.get("schema") if isinstance(record, Mapping) else None
    if found == schema:
        return
    if str(found).partition("/")[0] == schema.partition("/")[0]:
        raise InputError(
            f"written by another version of cyclearn ({found}); this version reads {schema}: run "
            f"{made_by} again"
        )
    raise InputError(f"not a result of {made_by}; its schema would be {schema!r}")


def checked_suffix(path: str | Path, suffixes: Iterable[str], what: str) -> str:
    """The suffix of a file to be written, in lower case, which determines its format.

    Raises
    ------
    InputError
        For any other suffix, so that no file has content that contradicts its name.

    Examples
    --------
    >>> checked_suffix("graph.SVG", (".png", ".svg"), "a picture")
    '.svg'
    """
    check_path(path)
    suffix = Path(path).suffix.lower()
    known = list(suffixes)
    if suffix not in known:
        named = f"as {suffix}" if suffix else "without a suffix"
        listed = " or ".join(filter(None, [", ".join(known[:-1]), known[-1]]))
        raise InputError(f"cannot write {what} {named}: {shown(path)}; name the file {listed}")
    return suffix


def check_output(path: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise now if writing to ``path`` would fail after long work, or overwrite an input.

    A full disk cannot be foreseen.

    Parameters
    ----------
    path : path
        Where a result will be written.
    inputs : paths
        Input files of the result; None is skipped.

    Raises
    ------
    InputError
        If ``path`` is one of the inputs, or as in :func:`replacing`.
    """
    check_path(path)
    for source in inputs:
        if source is not None and _is_same_file(path, source):
            raise InputError(
                f"{shown(path)} is an input, and writing there would destroy it; name another file"
            )
    try:
        _new_file(_checked_place(path)).unlink()
    except (OSError, ValueError) as error:
        raise _cannot_write(path, error) from None


def why(error: OSError | ValueError) -> str:
    """The message of the operating system for an error."""
    if isinstance(error, IsADirectoryError):
        return "it is a folder; name a file"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def shown(path: str | Path) -> str:
    """A file name for a message, shortened in the middle if it is long.

    Examples
    --------
    >>> shown("data.csv")
    'data.csv'
    >>> len(shown("a" * 5000 + ".csv"))
    201
    """
    name = str(path)
    return name if len(name) <= 200 else f"{name[:100]}…{name[-100:]}"


def check_path(path: object) -> None:
    """Raise for anything but a file name: a number would mean an open file."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(
            f"the file is of type {type(path).__name__}; give its name, a str or a Path"
        )


def _cannot_write(path: str | Path, error: OSError | ValueError) -> InputError:
    if isinstance(error, InputError):
        return error
    return InputError(f"cannot write {shown(path)}: {why(error)}")


def _checked_place(path: str | Path) -> Path:
    """The path of the file with links resolved."""
    check_path(path)
    place = Path(os.path.realpath(path))
    if place.is_dir() or not place.name:
        raise InputError(f"cannot write {shown(path)}: it is a folder; name a file in it")
    if not place.parent.is_dir():
        raise InputError(
            f"cannot write {shown(path)}: there is no folder {shown(place.parent)}; create it first"
        )
    if place.exists():
        if not place.is_file():
            raise InputError(f"cannot write {shown(path)}: it is a device or a pipe; name a file")
        if not os.access(place, os.W_OK):
            raise InputError(
                f"cannot write {shown(path)}: it is write-protected; name another file"
            )
    return place


def _new_file(place: Path) -> Path:
    """An empty file next to ``place``, with the permissions that new files get."""
    beside = place.with_name(f".cyclearn-{secrets.token_hex(6)}{place.suffix}")
    os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return beside


def _sync(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    try:
        number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    except OSError:
        # Some systems cannot open folders.
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _is_same_file(first: str | Path, second: str | Path) -> bool:
    try:
        return os.path.samefile(first, second)
    except (OSError, ValueError):
        return False

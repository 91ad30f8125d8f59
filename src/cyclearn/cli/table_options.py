"""The table on the command line: its file, how it is written, and which columns are data."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cyclearn.cli.output import complain
from cyclearn.errors import InputError
from cyclearn.files import check_output

if TYPE_CHECKING:
    from cyclearn.models import Moments
    from cyclearn.models.table_files import TableFile

# How each option of ``read_table_file`` is written, and its default.
_WRITTEN: dict[str, tuple[Any, Any, Any]] = {
    "sep": (str | None, None, typer.Option(help="Separator of cells; told from the file.")),
    "decimal": (str | None, None, typer.Option(help="Decimal mark: . or ,")),
    "encoding": (str | None, None, typer.Option(help="Encoding of the text.")),
    "header": (
        bool,
        True,
        typer.Option("--header/--no-header", help="The first line holds names."),
    ),
    "columns": (str | None, None, typer.Option(help="Columns to use, separated by commas.")),
    "drop": (str | None, None, typer.Option(help="Columns to leave out.")),
    "index": (str | None, None, typer.Option(help="Column with names of rows, by name or number.")),
    "missing_codes": (
        str | None,
        None,
        typer.Option(help="What stands for a missing value, such as -999; several by commas."),
    ),
}
_MATRIX: dict[str, tuple[Any, Any, Any]] = {
    "covariance": (
        bool,
        False,
        typer.Option("--covariance", help="The file holds a covariance matrix; give --n."),
    ),
    "n": (int | None, None, typer.Option("--n", min=2, help="Rows behind a covariance matrix.")),
}

Path_ = Annotated[
    Path, typer.Argument(help="Table with a header: CSV, TSV, Parquet, Feather, Stata, Excel.")
]
Missing = Annotated[
    Literal["error", "em", "rows", "pairwise"],
    typer.Option(help="Missing values: refuse them, maximum likelihood, whole rows, or pairs."),
]
Margins = Annotated[
    Literal["raw", "rank"], typer.Option(help="Columns as they are, or normal scores of ranks.")
]


def takes_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a file and how to read it in place of its parameter ``data``.

    The command gets a DataFrame, or Moments where the file holds a covariance matrix.
    """
    return _with_options(command, _WRITTEN | _MATRIX, _read)


def takes_table_or_result(command: Callable[..., None]) -> Callable[..., None]:
    """As :func:`takes_table`, or a result in a ``.json`` file, which the command gets as it is."""
    return _with_options(command, _WRITTEN | _MATRIX, _read_or_load)


def takes_rows(command: Callable[..., None]) -> Callable[..., None]:
    """As :func:`takes_table`, with the ``TableFile`` and what was decided about it."""
    return _with_options(command, _WRITTEN, _read_file)


def _with_options(
    command: Callable[..., None],
    written: dict[str, tuple[Any, Any, Any]],
    read: Callable[[Path, dict[str, Any]], Any],
) -> Callable[..., None]:
    own = inspect.signature(command, eval_str=True)
    reading = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[kind, option],
        )
        for name, (kind, default, option) in written.items()
    ]

    @functools.wraps(command)
    def with_table(**arguments: Any) -> None:
        options = {name: arguments.pop(name) for name in written}
        if arguments.get("out") is not None:
            # A search can take long; what would fail after it fails before it.
            check_output(arguments["out"], [arguments["data"]])
        command(**(arguments | {"data": read(arguments["data"], options)}))

    parameters = [
        parameter.replace(
            kind=inspect.Parameter.KEYWORD_ONLY,
            annotation=Path_ if name == "data" else parameter.annotation,
        )
        for name, parameter in own.parameters.items()
    ]
    parameters += reading
    with_table.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_table.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_table


def _read(path: Path, options: dict[str, Any]) -> Any:
    """Rows or moments; what was decided about the file goes to standard error."""
    is_matrix, n = options.pop("covariance"), options.pop("n")
    if is_matrix:
        return _read_matrix(path, n, options)
    if n is not None:
        raise InputError("--n is the number of rows behind a covariance matrix; add --covariance")
    found = _read_file(path, options)
    for note in found.notes:
        complain(f"cyclearn: {path.name}: {note}")
    # For the report, which names the file and its digest.
    found.frame.attrs["file"] = str(path)
    return found.frame


def _read_or_load(path: Path, options: dict[str, Any]) -> Any:
    """A saved result, or what :func:`_read` gives."""
    if path.suffix.lower() != ".json":
        return _read(path, options)
    from cyclearn.learning import LearnResult, load

    for name, (_, default, _) in (_WRITTEN | _MATRIX).items():
        if options[name] != default:
            raise InputError(
                f"--{name.replace('_', '-')} is about a table, and {path} is a saved result; leave "
                "it out"
            )
    found = load(path)
    if not isinstance(found, LearnResult):
        raise InputError(
            f"{path} is a saved {type(found).__name__}, no result of learn; name that, and add "
            "this one by --with"
        )
    return found


def _read_matrix(path: Path, n: int | None, options: dict[str, Any]) -> Moments:
    from cyclearn.models import read_moments

    return read_moments(path, covariance=True, n_samples=n, **_parsed(options))


def _read_file(path: Path, options: dict[str, Any]) -> TableFile:
    from cyclearn.models.table_files import read_table_file

    return read_table_file(path, **_parsed(options))


def _parsed(options: dict[str, Any]) -> dict[str, Any]:
    """Lists made of texts with commas."""
    for name in ("columns", "drop", "missing_codes"):
        if options[name] is not None:
            options[name] = [part.strip() for part in options[name].split(",") if part.strip()]
    options["missing_codes"] = options["missing_codes"] or ()
    return options

"""The table on the command line: its file, how it is written, and which columns are data."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli.documented_options import documented, names_by_commas, with_signature
from cyclearn.cli.output import complain
from cyclearn.data.intervened_tables import ROWS, UNKNOWN
from cyclearn.data.moments import read_moments
from cyclearn.data.table_files import TableFile, read_table_file, tetrad_matrix
from cyclearn.foundation import InputError, check_output
from cyclearn.graphs import read_graph

# Options that name a column with information about the rows.
_LABELS = ("groups", "interventions")
_FILE = "Table with a header: CSV, TSV, Parquet, Feather, Stata, Excel."
Path_ = Annotated[Path, typer.Argument(help=_FILE)]
Paths = Annotated[
    list[Path], typer.Argument(help=f"{_FILE} Several files are groups that share one graph.")
]


@documented
def _text(
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: Annotated[bool, typer.Option("--header/--no-header")] = True,
) -> None:
    """How a file is written, for ``read_table_file``.

    Parameters
    ----------
    sep
        Separator of cells; detected by default.
    decimal
        Decimal mark: . or ,
    encoding
        Encoding of the text.
    header
        Whether the first line contains column names.
    """


@documented
def _choice(
    columns: str | None = None,
    drop: str | None = None,
    index: str | None = None,
    sheet: str | None = None,
    missing_codes: str | None = None,
) -> None:
    """Which columns of a file are data, for ``read_table_file``.

    Parameters
    ----------
    columns
        Columns to use, separated by commas.
    drop
        Columns to leave out.
    index
        Column with names of rows, by name or number.
    sheet
        Sheet of an Excel file, by name or number.
    missing_codes
        Codes for missing values, such as -999, separated by commas.
    """


@documented
def _matrix(
    covariance: bool = False, n: Annotated[int | None, typer.Option("--n", min=2)] = None
) -> None:
    """Options of a file that holds a covariance matrix.

    Parameters
    ----------
    covariance
        The file contains a covariance matrix; also give --n.
    n
        Number of rows from which the covariance matrix was computed.
    """


def _parameters(*functions: Callable[..., None]) -> list[inspect.Parameter]:
    return [each for one in functions for each in inspect.signature(one).parameters.values()]


_ROWS = _parameters(_text, _choice)
_ALL = _parameters(_text, _choice, _matrix)


def takes_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command files and how to read them in place of its parameter ``data``.

    The command receives a DataFrame, or Moments if the file contains a covariance matrix; for
    several files, a mapping from their names to these.
    """
    return _with_options(command, _ALL, _read_all, Paths)


def takes_table_or_result(command: Callable[..., None]) -> Callable[..., None]:
    """Like :func:`takes_table`, but also accepts a saved result in a ``.json`` file."""
    return _with_options(command, _ALL, _read_or_load, Paths)


def takes_rows(command: Callable[..., None]) -> Callable[..., None]:
    """Like :func:`takes_table`, with the ``TableFile`` and its notes."""
    return _with_options(command, _ROWS, _read_file)


def _with_options(
    command: Callable[..., None],
    reading: list[inspect.Parameter],
    read: Callable[[Any, dict[str, Any], list[str]], Any],
    argument: Any = Path_,
) -> Callable[..., None]:
    own = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def with_table(**arguments: Any) -> None:
        options = {each.name: arguments.pop(each.name) for each in reading}
        if arguments.get("out") is not None:
            # A search can take long, so check the output path first.
            given = arguments["data"]
            check_output(arguments["out"], given if isinstance(given, list) else [given])
        named = [arguments.get(name) for name in _LABELS]
        labels = [name for name in named if name not in (None, ROWS, UNKNOWN)]
        # Ordinal and nominal columns may contain text, in one file or in several.
        texts = [arguments.get(name) or "" for name in ("ordered", "categories", "within")]
        options["labels"] = names_by_commas(",".join(texts))
        command(**(arguments | {"data": read(arguments["data"], options, labels)}))

    parameters = [
        parameter.replace(annotation=argument) if name == "data" else parameter
        for name, parameter in own.parameters.items()
    ]
    return with_signature(with_table, own, parameters + reading)


def _read_all(paths: list[Path], options: dict[str, Any], labels: list[str]) -> Any:
    """One table, or several by name, or by number if files have the same name."""
    tables = [_read(path, dict(options), labels) for path in paths]
    if len(tables) == 1:
        return tables[0]
    if labels:
        raise InputError(
            f"{labels[0]!r} names a column of one table, but {len(tables)} files were given; give "
            "one file with all rows"
        )
    stems = [path.stem for path in paths]
    names = stems if len(set(stems)) == len(stems) else map(str, range(1, len(stems) + 1))
    return dict(zip(names, tables, strict=True))


def _read(path: Path, options: dict[str, Any], labels: list[str]) -> Any:
    """Rows or moments; notes about the file go to standard error."""
    try:
        return _rows_or_moments(path, options, labels)
    except InputError:
        if _is_graph(path):
            raise InputError(
                f"{path} contains a graph, not a table; the table is the first argument"
            ) from None
        raise


def _rows_or_moments(path: Path, options: dict[str, Any], labels: list[str]) -> Any:
    is_matrix, n = options.pop("covariance"), options.pop("n")
    if is_matrix or tetrad_matrix(path, options["encoding"]) is not None:
        return read_moments(path, covariance=True, n_samples=n, **_parsed(options))
    if n is not None:
        raise InputError("--n applies to covariance matrices only; add --covariance")
    found = _read_file(path, options, labels)
    for note in found.notes:
        complain(f"cyclearn: {path.name}: {note}")
    # For the report, which names the file and its digest.
    found.frame.attrs["file"] = str(path)
    return found.frame


def _is_graph(path: Path) -> bool:
    try:
        return read_graph(path).n_edges > 0
    except InputError:
        return False


def _read_or_load(paths: list[Path], options: dict[str, Any], labels: list[str]) -> Any:
    """A saved result, or the tables from :func:`_read_all`."""
    saved = [path for path in paths if path.suffix.lower() == ".json"]
    if not saved:
        return _read_all(paths, options, labels)
    path = saved[0]
    if len(paths) > 1:
        raise InputError(f"{path} is a saved result, but {len(paths)} files were given; give one")
    from cyclearn.learning import load
    from cyclearn.results import LearnResult

    for each in _ALL:
        if options[each.name] != each.default:
            raise InputError(
                f"--{each.name.replace('_', '-')} applies to tables, but {path} is a saved "
                "result; omit it"
            )
    found = load(path)
    if not isinstance(found, LearnResult):
        raise InputError(
            f"{path} is a saved {type(found).__name__}, not a result of learn; give the result of "
            "learn, and add this file with --with"
        )
    return found


def _read_file(path: Path, options: dict[str, Any], labels: list[str]) -> TableFile:
    return read_table_file(path, **_parsed(options | {"labels": [*labels, *options["labels"]]}))


def _parsed(options: dict[str, Any]) -> dict[str, Any]:
    """Split comma-separated texts into lists."""
    for name in ("columns", "drop", "missing_codes"):
        if options[name] is not None:
            options[name] = names_by_commas(options[name])
    options["missing_codes"] = options["missing_codes"] or ()
    return options

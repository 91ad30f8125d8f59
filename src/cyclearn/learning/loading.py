"""Reading results from files, which name their schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from cyclearn.foundation import InputError, load_json, read_text
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.results.bootstrap_result import BootstrapResult
from cyclearn.results.result import LearnResult
from cyclearn.results.result_record import DAMAGE

Saved: TypeAlias = LearnResult | BootstrapResult | Posterior


def load(path: str | Path) -> Saved:
    """Read a saved result of ``learn``, ``bootstrap`` or ``posterior``.

    Parameters
    ----------
    path : path
        A file written by ``result.save`` or by a command such as ``cyclearn learn --out``.

    Returns
    -------
    LearnResult, BootstrapResult or Posterior

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or contains something else.

    Examples
    --------
    >>> import tempfile
    >>> from cyclearn import Moments, learn
    >>> result = learn(Moments([[2.0, 1.0], [1.0, 2.0]], 100, names=["a", "b"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(result.save(Path(folder) / "result.json")) == result
    True
    """
    record = load_json(read_text(path, "result file"), f"the result file {path}")
    schema = record.get("schema", "") if isinstance(record, dict) else ""
    kind, _, version = str(schema).partition("/")
    readers: dict[str, Any] = {
        "cyclearn.LearnResult": LearnResult.from_dict,
        "cyclearn.BootstrapResult": BootstrapResult.from_dict,
        "cyclearn.Posterior": Posterior.from_dict,
    }
    if kind not in readers or not version:
        raise InputError(
            f"{path} is not a saved result: it does not name a schema such as "
            "'cyclearn.LearnResult/5'; give a file written by result.save or by "
            "cyclearn learn --out result.json"
        )
    try:
        found: Saved = readers[kind](record)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except DAMAGE as error:
        raise InputError(
            f"{path}: the result is damaged ({type(error).__name__}: {error}); compute it again"
        ) from None
    return found

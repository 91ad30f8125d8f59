"""A result as plain values, and back: what stands in a saved file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.data import Moments
from cyclearn.data.data_warnings import warnings_of
from cyclearn.data.input_checks import check_names, checked_matrix, whole_number
from cyclearn.data.moments import checked_mean
from cyclearn.data.tables import Design, Table, Tables, as_tables
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.saving import check_schema
from cyclearn.graphs import DirectedGraph
from cyclearn.models import fit
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.results.bootstrap_result import BootstrapResult
from cyclearn.results.trace import SearchCost, TracedMove
from cyclearn.search.exact import Certificate
from cyclearn.search.options import SearchOptions
from cyclearn.search.over_time import check_past
from cyclearn.search.runs import SearchStatus

if TYPE_CHECKING:
    from cyclearn.results.result import LearnResult

SCHEMA = "cyclearn.LearnResult/3"


def plain_values(result: LearnResult, *, timings: bool) -> dict[str, Any]:
    """The result as plain values; how the run went only with ``timings``."""
    certificate = None
    moments = {
        name: _moments_record(model.moments, model.n_effective)
        for name, model in result.models.items()
    }
    if result.certificate is not None:
        certificate = result.certificate.to_dict(timings=timings)
    record = {
        "schema": SCHEMA,
        "graph": result.graph.to_dict(),
        "score": result.score,
        "penalty": result.penalty,
        "status": result.status.name,
        "limits": list(result.limits),
        "alternatives": [graph.to_dict() for graph in result.alternatives],
        "has_more_alternatives": result.has_more_alternatives,
        "starts": list(result.n_starts_agreeing),
        "options": result.options.to_dict(),
        "certificate": certificate,
        "warnings": [warning.to_dict() for warning in result.warnings],
        "bootstrap": None if result.bootstrap is None else result.bootstrap.to_dict(),
        "posterior": None if result.posterior is None else result.posterior.to_dict(),
        "model": result.fitted.to_dict(),
        "moments": moments if result.groups else moments[""],
        "tables": None if result.experiments is None else _tables_record(result.experiments.tables),
    }
    if timings:
        record["run"] = {
            # Nobody knows how long a result took that was read from a file without timings.
            "cost": {k: v for k, v in asdict(result.cost).items() if v == v},
            "trace": [move.to_dict() for move in result.moves],
        }
    return record


def read_values(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a result out of its plain values; the model is fitted again.

    Raises
    ------
    InputError
        Where these are not those of a result, or damaged.
    """
    check_schema(record, SCHEMA, "learn")
    try:
        return _fields(record)
    except InputError as error:
        raise InputError(f"the result is damaged: {error}") from None
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise InputError(
            f"the result is damaged ({type(error).__name__}: {error}); learn it again"
        ) from None


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    graph = DirectedGraph.from_dict(record["graph"])
    tables = _tables_of(record["moments"])
    options = SearchOptions.from_dict(record["options"])
    if record.get("tables") is not None:
        tables = _intervened_tables_of(record["tables"], options)
    check_past(graph, tables.past, options.lags)
    certificate, resampled = record["certificate"], record["bootstrap"]
    probable = record.get("posterior")
    for about in (resampled, probable):
        if about and set(about["names"]) != set(graph.names):
            raise InputError("what is said about its edges is about other variables")
    run = record.get("run") or {"cost": {}, "trace": ()}
    # Older files have it with the timings, if at all.
    agreeing, starts = record.get("starts") or run.get("starts") or (0, 0)
    unknown = {"n_moves": 0, "n_evaluations": 0, "n_refused": 0, "seconds": np.nan}
    return {
        "graph": graph,
        "fitted": fit(graph, tables),
        "score": float(record["score"]),
        "penalty": float(record["penalty"]),
        "status": SearchStatus[record["status"]],
        "limits": tuple(map(str, record["limits"])),
        "alternatives": tuple(map(DirectedGraph.from_dict, record["alternatives"])),
        "has_more_alternatives": bool(record["has_more_alternatives"]),
        "moves": tuple(map(TracedMove.from_dict, run["trace"])),
        "cost": SearchCost(**(unknown | run["cost"])),
        "n_starts_agreeing": (int(agreeing), int(starts)),
        "options": options,
        "certificate": Certificate(**certificate) if certificate else None,
        "bootstrap": BootstrapResult.from_dict(resampled) if resampled else None,
        "posterior": Posterior.from_dict(probable) if probable else None,
        "warnings": warnings_of(record["warnings"]),
    }


def _moments_record(moments: Moments, n_effective: float) -> dict[str, Any]:
    return {
        "covariance": moments.covariance.tolist(),
        "n_samples": moments.n_samples,
        "n_effective": n_effective,
        "mean": None if moments.mean is None else moments.mean.tolist(),
        "names": None if moments.has_default_names else list(moments.names),
        **({"past": list(moments.past)} if moments.past else {}),
    }


def _tables_record(tables: Tables) -> list[dict[str, Any]]:
    """Every table with what was set in it."""
    return [
        {**_moments_record(t.moments, t.n_effective), "targets": list(t.targets)} for t in tables
    ]


def _intervened_tables_of(record: Sequence[Any], options: SearchOptions) -> Tables:
    tables = []
    for each in record:
        # What was held at one value varies in no other way, which moments elsewhere may not.
        S = checked_matrix(each["covariance"], "covariance")
        if S.shape[0] != S.shape[1] or not np.array_equal(S, S.T):
            raise InputError(f"a covariance of shape {S.shape} that is not symmetric")
        names = check_names(each["names"], len(S))
        moments = Moments._unchecked(
            S,
            whole_number("n_samples", each["n_samples"], 2),
            None if each["mean"] is None else checked_mean(each["mean"], names),
            names,
            each["names"] is None,
        )
        worth = float(each.get("n_effective", moments.n_samples))
        tables.append(Table(moments, worth, targets=tuple(each["targets"])))
    return Tables(tuple(tables), Design(options.kind, options.intercepts))


def _tables_of(record: Mapping[str, Any]) -> Tables:
    """The moments of one table, or of every group by name."""
    if "covariance" in record:
        rows = dict(record)
        n_effective = rows.pop("n_effective")
        return as_tables(Moments(**rows), n_effective=n_effective)
    if not record:
        raise InputError("no table")
    return Tables.of_groups({name: _tables_of(rows) for name, rows in record.items()})

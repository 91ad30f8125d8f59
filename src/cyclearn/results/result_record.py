"""A result as plain values, and back: the content of a saved file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.data.data_warnings import warnings_of
from cyclearn.data.moments import Moments
from cyclearn.data.table_records import moments_record, table_of, table_record
from cyclearn.data.tables import Tables
from cyclearn.foundation import InputError, check_schema
from cyclearn.graphs import DirectedGraph
from cyclearn.models import FittedGroups, FittedModel, fit
from cyclearn.models.observed_fit import ObservedLikelihood
from cyclearn.models.sandwich import Sandwich
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.results.bootstrap_result import BootstrapResult
from cyclearn.results.trace import SearchCost, TracedMove
from cyclearn.search.exact import Certificate
from cyclearn.search.options import SearchOptions
from cyclearn.search.over_time import check_past
from cyclearn.search.runs import SearchStatus

if TYPE_CHECKING:
    from cyclearn.results.result import LearnResult

SCHEMA = "cyclearn.LearnResult/5"
# Errors that edited or truncated plain values can raise.
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def plain_values(result: LearnResult, *, timings: bool = False) -> dict[str, Any]:
    """The result as plain values; details of the run, which may differ, only if requested.

    With ``timings`` there is also ``run``: moves, evaluations, agreeing starts and seconds.
    """
    certificate = None
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
        "tables": [table_record(table) for table in result.tables],
        "observed": {
            name: {"moments": moments_record(fitted.moments), "likelihood": likelihood.to_dict()}
            for name, fitted in result.models.items()
            if (likelihood := fitted.observed) is not None
        },
        "sandwich": {
            name: sandwich.to_dict()
            for name, fitted in result.models.items()
            if (sandwich := fitted.sandwich) is not None
        },
    }
    if timings:
        record["run"] = {
            # For a file without timings, the time that the search took is unknown.
            "cost": {k: v for k, v in asdict(result.cost).items() if v == v},
            "trace": [move.to_dict() for move in result.moves],
        }
    return record


def read_values(record: Mapping[str, Any]) -> dict[str, Any]:
    """Restore the fields of a result from plain values; the model is fitted again.

    Raises
    ------
    InputError
        If these are not the values of a result, or damaged.
    """
    check_schema(record, SCHEMA, "learn")
    try:
        return _fields(record)
    except InputError as error:
        raise InputError(f"the result is damaged: {error}") from None
    except DAMAGE as error:
        raise InputError(
            f"the result is damaged ({type(error).__name__}: {error}); learn it again"
        ) from None


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    graph = DirectedGraph.from_dict(record["graph"])
    options = SearchOptions.from_dict(record["options"])
    is_designed = options.interventions is not None
    tables = Tables(
        tuple(table_of(each, is_designed=is_designed) for each in record["tables"]),
        options.design if is_designed else None,
    )
    if not len(tables):
        raise InputError("no table")
    check_past(graph, tables.exogenous, options.lags)
    certificate, resampled = record["certificate"], record["bootstrap"]
    probable = record.get("posterior")
    for about in (resampled, probable):
        if about and set(about["names"]) != set(graph.names):
            raise InputError("the statements about its edges refer to other variables")
    run = record.get("run") or {"cost": {}, "trace": ()}
    # Older files keep it with the timings, or not at all.
    agreeing, starts = record.get("starts") or run.get("starts") or (0, 0)
    unknown = {"n_moves": 0, "n_evaluations": 0, "n_refused": 0, "seconds": np.nan}
    return {
        "graph": graph,
        "fitted": _fitted(graph, tables, record["observed"], record.get("sandwich") or {}),
        "tables": tables,
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


def _fitted(
    graph: DirectedGraph, tables: Tables, observed: Mapping[str, Any], sandwiches: Mapping[str, Any]
) -> FittedModel | FittedGroups:
    """The fit to the tables; values that require the rows are taken from the record."""
    fitted: FittedModel | FittedGroups = fit(graph, tables)
    if not observed and not sandwiches:
        return fitted
    models = dict(fitted.models) if isinstance(fitted, FittedGroups) else {"": fitted}
    for name, each in observed.items():
        likelihood = ObservedLikelihood.from_dict(each["likelihood"])
        expected = fit(graph, Moments(**each["moments"])).observed_by(likelihood)
        models[name] = replace(expected, counting=models[name].counting)
    for name, each in sandwiches.items():
        models[name] = replace(models[name], sandwich=Sandwich.from_dict(each))
    return FittedGroups(graph, models) if isinstance(fitted, FittedGroups) else models[""]

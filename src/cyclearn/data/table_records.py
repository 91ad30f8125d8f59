"""Tables as plain values, and back; only their moments are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from cyclearn.data.effective_rows import COUNTINGS
from cyclearn.data.input_checks import checked_exogenous, checked_matrix, whole_number
from cyclearn.data.moments import Moments, checked_mean
from cyclearn.data.tables import InterventionKind, Table
from cyclearn.foundation.arguments import one_of
from cyclearn.foundation.errors import InputError
from cyclearn.graphs.graph_input import checked_names


def moments_record(moments: Moments) -> dict[str, Any]:
    """Moments as plain values."""
    return {
        "covariance": moments.covariance.tolist(),
        "n_samples": moments.n_samples,
        "mean": None if moments.mean is None else moments.mean.tolist(),
        "names": None if moments.has_default_names else list(moments.names),
        "exogenous": list(moments.exogenous),
        "ordered": {name: dict(shares) for name, shares in moments.levels.items()},
    }


def table_record(table: Table) -> dict[str, Any]:
    """A table as plain values, without its rows."""
    return {
        "group": table.group,
        "targets": list(table.targets),
        "kind": table.kind,
        "n_effective": table.n_effective,
        "counting": table.counting,
        "shrinkage": table.shrinkage,
        "moments": moments_record(table.moments),
    }


def table_of(record: Mapping[str, Any], *, is_designed: bool) -> Table:
    """Restore a table from :func:`table_record`."""
    moments = record["moments"]
    n_effective = float(record["n_effective"])
    if not min(2, moments["n_samples"]) <= n_effective <= moments["n_samples"]:
        raise InputError(
            f"an effective sample size of {n_effective} of {moments['n_samples']} rows"
        )
    return Table(
        _intervened_moments(moments) if is_designed else Moments(**moments),
        n_effective,
        group=_readable(record["group"]),
        targets=tuple(map(str, record["targets"])),
        kind=one_of("kind", record["kind"], get_args(InterventionKind)),  # type: ignore[arg-type]
        shrinkage=float(record["shrinkage"]),
        counting=one_of("counting", record["counting"], COUNTINGS),  # type: ignore[arg-type]
    )


def _readable(group: Any) -> str:
    """The name of a group, which must be text that can be written to a file."""
    str(group).encode()
    return str(group)


def _intervened_moments(record: Mapping[str, Any]) -> Moments:
    """Moments in which a target that was held constant may have variance zero."""
    S = checked_matrix(record["covariance"], "covariance")
    if S.shape[0] != S.shape[1] or not np.array_equal(S, S.T):
        raise InputError(f"a covariance of shape {S.shape} that is not symmetric")
    names = checked_names(record["names"], len(S), "column")
    return Moments._unchecked(
        S,
        whole_number("n_samples", record["n_samples"], 1),
        None if record["mean"] is None else checked_mean(record["mean"], names),
        names,
        record["names"] is None,
        checked_exogenous(record["exogenous"], names),
    )

"""A result with lags: edges within a row and edges over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cyclearn.data.lagged_rows import past_name, past_of
from cyclearn.foundation import InputError, count_of, pd
from cyclearn.graphs import DirectedGraph
from cyclearn.models import FittedModel


def lag_of(source: str, past: Sequence[str]) -> int:
    """The lag of each variable of a result, in rows.

    Examples
    --------
    >>> [lag_of(name, ["gdp[t-1]", "gdp[t-2]"]) for name in ("gdp", "gdp[t-1]", "gdp[t-2]")]
    [0, 1, 2]
    """
    return int(source[source.rindex("[t-") + 3 : -1]) if source in past else 0


def check_past(graph: DirectedGraph, exogenous: Sequence[str], lags: int) -> None:
    """Raise if the lagged columns of a result do not match its variables."""
    past = set(past_of(graph.names, lags)) & set(exogenous)
    present = [name for name in graph.names if name not in past]
    is_whole = len(past) == lags * len(present) and set(past) == {
        past_name(name, lag) for name in present for lag in range(1, lags + 1)
    }
    if lags and not is_whole:
        raise InputError(f"its lagged columns do not match {count_of(len(present), 'variable')}")


def within_graph(graph: DirectedGraph, past: Sequence[str]) -> DirectedGraph:
    """The edges among the variables that are not lagged."""
    present = [name for name in graph.names if name not in past]
    inside = [edge for edge in graph.edges if not set(edge) & set(past)]
    return DirectedGraph.from_edges(inside, present)


def lag_weights(model: FittedModel, lag: int, lags: int) -> pd.DataFrame:
    """Weights at a given lag; see :meth:`cyclearn.LearnResult.lag_weights`."""
    if isinstance(lag, bool) or lag not in range(lags + 1):
        raise InputError(f"lag is {lag!r}, and the result has lags 0 to {lags}")
    graph = model.graph
    present = [name for name in graph.names if name not in past_of(graph.names, lags)]
    sources = [past_name(name, lag) for name in present] if lag else present
    rows = [graph.index(name) for name in sources]
    columns = [graph.index(name) for name in present]
    return pd.DataFrame(model.B[np.ix_(rows, columns)], index=present, columns=present)

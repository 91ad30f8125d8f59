"""A graph of the user compared with the learned one: equivalence, distance, difference in fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cyclearn.app.learning_tasks import learned
from cyclearn.app.views import weight_rows
from cyclearn.app.workspace import write_json
from cyclearn.classes.equivalence import equivalent
from cyclearn.drawing.markup import number
from cyclearn.evaluation import shd
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.formats import parse_graph
from cyclearn.identifiability import compare as compare_graphs
from cyclearn.models import FittedModel, fit
from cyclearn.report.fit_words import index_rows, verdict
from cyclearn.results.result import LearnResult

# With more variables the full comparison can take minutes; rotations and rules are fast.
_COMPARED = 8
_SAME = 1e-6
_SECONDS = 10.0
_LONGEST = 1_000_000


def compare(*, folder: str, of: str, request: dict[str, Any], **_: Any) -> None:
    """Fit the user's own graph, and compare it with the learned one."""
    result = learned(of)
    if result.groups or result.experiments is not None:
        what = "groups" if result.groups else "interventions"
        raise InputError(
            f"your own graph can be compared only with a graph learned without {what}; learn from "
            f"one table, or use cl.fit(graph, data, {what}=…) in Python"
        )
    own = own_graph(request, result.graph.names)
    fitted = fit(own, result.tables)
    view = {
        "graph": own.to_dict(),
        "words": [*_same(own, result), *_distance(own, result), *_likelihoods(fitted, result)],
        "fit": {
            "verdict": verdict(fitted.fit_indices),
            "indices": [
                [mine[0], mine[1], theirs[1], mine[3]]
                for mine, theirs in zip(
                    index_rows(fitted.fit_indices),
                    index_rows(result.model.fit_indices),
                    strict=True,
                )
            ],
        },
        "edges": weight_rows(fitted),
        "learned_edges": weight_rows(result.model),
    }
    write_json(Path(folder) / "view.json", view)
    write_json(Path(folder) / "result.json", {"graph": own.to_dict(), "fit": fitted.to_dict()})


def own_graph(request: dict[str, Any], names: tuple[str, ...]) -> DirectedGraph:
    """The graph that was drawn or pasted, on all variables; missing variables have no edges."""
    text, record = request.get("text"), request.get("graph")
    if isinstance(text, str) and len(text) <= _LONGEST:
        given = parse_graph(text)
    elif isinstance(record, dict):
        given = DirectedGraph.from_dict(record)
    else:
        raise InputError("give a graph: as text, or as nodes and edges")
    unknown = [name for name in given.names if name not in names]
    if unknown:
        raise InputError(
            f"the graph has {short(unknown[0])}, which is not a variable of the learned graph; "
            f"its variables are {', '.join(names[:10])}{' …' if len(names) > 10 else ''}"
        )
    return DirectedGraph.from_edges(list(given.edges), list(names))


def is_compared(names: tuple[str, ...]) -> bool:
    """Whether there are few enough variables for the full comparison."""
    return len(names) <= _COMPARED


def _same(own: DirectedGraph, result: LearnResult) -> list[str]:
    if own == result.graph:
        return ["This is the learned graph."]
    if is_compared(own.names):
        lines = compare_graphs(own, result.graph).explain().splitlines()
        return [line.removeprefix("- ") for line in lines]
    if equivalent(own, result.graph) or own in result.equivalence_class:
        return ["Equivalent, proved: both generate the same distributions."]
    return ["Most likely not equivalent: no rotations or rules link it to the learned graph."]


def _distance(own: DirectedGraph, result: LearnResult) -> list[str]:
    nearest = result.equivalence_class.nearest(own, time_limit=_SECONDS)
    exact = f"{nearest.distance}"
    if not nearest.is_exact:
        exact = f"between {nearest.lower_bound} and {nearest.distance}"
    return [
        f"Edges to add, remove or reverse: {shd(own, result.graph)} to the learned graph, "
        f"{exact} to the nearest graph of its class."
    ]


def _likelihoods(fitted: FittedModel, result: LearnResult) -> list[str]:
    model = result.model
    lines = []
    if not fitted.converged and (problem := fitted.status.warning) is not None:
        lines.append(f"{problem.message} {problem.page_remedy}")
    if not fitted.is_stable:
        lines.append("Its best fit is unstable: a shock would grow without limit.")
    gap = fitted.bic - model.bic
    # Equivalent graphs differ only by rounding.
    if abs(gap) < _SAME:
        lines.append(f"BIC {number(fitted.bic, 2)}, the same as that of the learned graph.")
    else:
        how = "better" if gap < 0 else "worse"
        lines.append(
            f"BIC {number(fitted.bic, 2)}, {number(abs(gap), 2)} {how} (smaller is better)."
        )
    # A graph is not tested against itself.
    return lines if fitted.graph == model.graph else lines + _ratio(fitted, model)


def _ratio(own: FittedModel, learned_: FittedModel) -> list[str]:
    """The likelihood ratio, with a test if one graph contains the other."""
    ratio = 2 * (learned_.log_likelihood - own.log_likelihood)
    words = f"Likelihood ratio (twice the difference of log-likelihoods): {number(ratio, 2)}"
    pairs = ((own, learned_, ratio), (learned_, own, -ratio))
    for small, large, statistic in pairs:
        degrees = large.fit_indices.dimension - small.fit_indices.dimension
        if small.graph.is_subgraph_of(large.graph) and degrees > 0:
            from scipy.special import chdtrc

            p = float(chdtrc(degrees, max(statistic, 0.0)))
            shown = "below 0.001" if p < 0.001 else number(p)
            return [
                f"{words}, on {degrees} degree{'s' * (degrees != 1)} of freedom: p-value "
                f"{shown}. The learned graph was chosen with these data, so the test favours it."
            ]
    return [f"{words}. Neither graph contains the other, so there is no test."]

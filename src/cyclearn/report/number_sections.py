"""Sections of numbers: coefficients, fit, total effects."""

from __future__ import annotations

from math import isnan

import numpy as np

from cyclearn.drawing.markup import Markup, fixed, folded, join, number, table, tag
from cyclearn.models import FittedModel
from cyclearn.report.findings import Findings
from cyclearn.report.fit_words import chi_square_in_words, fit_in_words, known_rows
from cyclearn.report.graph_section import arrow

# A square table with more variables is hard to read, so the strongest effects come first.
_MAX_SQUARE = 12
_MAX_EFFECTS = 40
# Their time grows with the cube of the number of edges.
_MAX_INDEXED = 400
_MAX_LEFT_OVER = 15
_CHANGES = {"add": "add ", "reverse": "reverse into ", "correlate": "correlate the noises of "}


def coefficients(found: Findings) -> Markup:
    """Every edge with its weight and standard error, the strongest first."""
    graph, model = found.graph, found.result.model
    if not graph.n_edges:
        return tag("p", "The learned graph has no edges, so there are no coefficients.")
    intervals = model.summary()
    rows = []
    for row in (row for row in found.result.edge_rows if row.in_graph):
        test = intervals.loc[f"{row.source} -> {row.target}"]
        cells = [
            arrow(row.edge),
            number(row.weight),
            number(row.std_error, 2),
            interval(test["lower"], test["upper"]),
            p_value(test["p_value"]),
            number(row.standardised, 2),
            row.verdict,
        ]
        if row.probability is not None:
            cells.append(fixed(row.probability, 2))
        if row.resamples is not None:
            cells.append(f"{row.resamples:.0%}")
        rows.append((abs(row.standardised), bool(row.lag), cells))
    rows.sort(key=lambda each: -each[0])
    columns = ["edge", "weight", "standard error", "95% interval", "p-value", "standardised"]
    columns.append("equally good graphs")
    if found.result.posterior is not None:
        columns.append("probability")
    if found.result.bootstrap is not None:
        columns.append("resamples")
    captions = {False: "Coefficients, strongest first"}
    if found.result.lags:
        captions = {False: "Edges within a row, strongest first"}
        captions[True] = "Edges over time, strongest first"
    tables = [
        table(
            caption,
            columns,
            [cells for _, is_over_time, cells in rows if is_over_time == kind],
        )
        for kind, caption in captions.items()
        if any(is_over_time == kind for _, is_over_time, _ in rows)
    ]
    words = (
        "A weight is the change of the effect, in its own units, when the cause changes by one "
        "unit and all other causes are fixed. Standard errors and p-values are conditional on "
        "the graph: they do not account for its selection with the same data."
    )
    robust = [tag("p", f"{model.errors_in_words}.")] * (model.sandwich is not None)
    return join([tag("p", words), *robust, *tables, _unexplained(model)])


def _unexplained(model: FittedModel) -> Markup:
    explained = model.r_squared
    errors = zip(model.names, model.noise_variances, model.noise_variance_errors, strict=True)
    rows = [
        (name, number(v), number(e, 2), fixed(explained[name]))
        for name, v, e in errors
        if name in explained.index
    ]
    grid = table(
        "Variance that the causes in the graph do not explain, and R², the share that they "
        "explain (negative if feedback reduces the variance of a variable below that of its "
        "noise)",
        ("variable", "noise variance", "standard error", "R²"),
        rows,
    )
    return folded("Noise variances and R²", grid)


def p_value(value: float) -> str:
    """A p-value, or an upper bound for a small one."""
    if isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else fixed(value)


def interval(low: float, high: float) -> str:
    """Two ends of an interval; one number if they look the same, a dash if there is no interval."""
    if isnan(low) or isnan(high):
        return "–"
    return f"{number(low)} to {number(high)}" if number(low) != number(high) else number(low)


def fit_quality(found: Findings) -> Markup:
    """How well the graph fits, in words and numbers."""
    model = found.result.model
    indices = model.fit_indices
    words = [tag("p", tag("strong", fit_in_words(model)))]
    if test := chi_square_in_words(indices):
        words.append(tag("p", test))
    if indices.note and indices.degrees_of_freedom and model.experiments is None:
        words.append(tag("p", indices.note[:1].upper() + indices.note[1:] + "."))
    head = ("index", "value", "rule of thumb", "meaning")
    grid = table("Fit indices", head, known_rows(model))
    return join([*words, grid, *([] if model.experiments else _left_over(found))])


def _left_over(found: Findings) -> list[Markup]:
    """The largest residual correlations, and the most helpful changes of the graph."""
    model, names = found.result.model, found.graph.names
    residuals = model.residual_correlations().to_numpy()
    pairs = sorted(
        ((i, j) for j in range(len(names)) for i in range(j)),
        key=lambda pair: (-round(abs(residuals[pair]), 9), pair),
    )
    parts = []
    if pairs:
        grid = table(
            "Correlations in the data minus those implied by the graph, largest first",
            ("pair", "residual correlation"),
            [
                (f"{names[i]}, {names[j]}", fixed(residuals[i, j]))
                for i, j in pairs[:_MAX_LEFT_OVER]
            ],
        )
        parts.append(folded("Residual correlations", grid))
    if found.graph.n_edges > _MAX_INDEXED:
        words = (
            f"Modification indices were omitted because the graph has more than {_MAX_INDEXED} "
            "edges; result.model.modification_indices() computes them."
        )
        parts.append(tag("p", words))
    elif model.observed is None and model.converged:
        indices = model.modification_indices().dropna(subset="index").head(_MAX_LEFT_OVER)
        grid = table(
            "Changes of the graph: how much each would decrease −2 log-likelihood "
            "(approximately), and the weight or noise covariance it would have. Among many "
            "candidates, some look useful by chance",
            ("change", "modification index", "expected weight", "standardised"),
            [
                (
                    join([_CHANGES[row.change], arrow((row.source, row.target))])
                    if row.change != "correlate"
                    else f"{_CHANGES[row.change]}{row.source}, {row.target}",
                    fixed(row.index_, 2),
                    number(row.expected),
                    number(row.standardised, 2),
                )
                for row in indices.rename(columns={"index": "index_"}).itertuples()
            ],
        )
        if len(indices):
            parts.append(folded("Modification indices", grid))
    return parts


def total_effects(found: Findings, group: str | None = None) -> Markup:
    """Effects summed over all paths and all feedback, for one group if there are several."""
    model = found.result.model if group is None else found.result.models[group]
    if not model.is_stable:
        return tag("p", "The fitted feedback grows without limit, so total effects do not exist.")
    from scipy.sparse.csgraph import shortest_path

    graph = found.graph
    if not graph.n_edges:
        return tag("p", "The learned graph has no edges, so no variable has an effect.")
    effects = model.model.total_effects().to_numpy()
    p = graph.n_nodes
    reach = np.isfinite(shortest_path(graph.adjacency.astype(float), unweighted=True))
    intro = tag(
        "p",
        "The change of the effect at equilibrium, in its own units, when the cause is shifted by "
        "one unit, along all paths and through all feedback. A dash means that there is no path. "
        "These are the effects in the learned graph; other graphs of its class may differ.",
    )
    square = table(
        "Total effects of the variable in the row on the variable in the column",
        ("cause", *graph.names),
        [
            (
                graph.names[i],
                *(number(effects[i, j]) if reach[i, j] and i != j else "–" for j in range(p)),
            )
            for i in range(p)
        ],
        class_="square",
    )
    if p <= _MAX_SQUARE:
        return join([intro, square])
    scale = model.moments.scale
    standard = effects * scale[:, None] / scale
    standard[np.eye(p, dtype=bool) | ~reach] = 0
    order = np.argsort(-np.abs(standard), axis=None, kind="stable")[:_MAX_EFFECTS]
    pairs = [(int(n) // p, int(n) % p) for n in order if standard.flat[n]]
    strongest = table(
        f"The {len(pairs)} strongest total effects",
        ("cause and effect", "total effect", "standardised", "in the graph"),
        [
            (
                arrow((graph.names[i], graph.names[j])),
                number(effects[i, j]),
                number(standard[i, j], 2),
                "edge" if graph.adjacency[i, j] else "through others",
            )
            for i, j in pairs
        ],
    )
    return join([intro, strongest, folded(f"All total effects ({p} × {p})", square)])

"""Fit indices in words, by the usual rules of thumb."""

from __future__ import annotations

from math import isnan

from cyclearn.drawing.markup import fixed, number
from cyclearn.models import FitIndices, FittedModel

# Hu and Bentler (1999) and Browne and Cudeck (1993): upper or lower limits of good and fair.
_RULES = {
    "rmsea": (0.05, 0.08, "misfit per degree of freedom; below 0.05 is good, above 0.08 poor"),
    "srmr": (0.05, 0.08, "typical error of a correlation; below 0.05 is good, above 0.08 poor"),
    "cfi": (
        0.95,
        0.90,
        "improvement over a model of independent variables; above 0.95 is good, below 0.90 poor",
    ),
    "tli": (
        0.95,
        0.90,
        "like CFI, but rewards graphs with few edges; above 0.95 is good, below 0.90 poor",
    ),
}
# Significance level of the test of fit.
_CLEAR = 0.01
_WORDS = ("good", "fair", "poor")


def grade(name: str, value: float) -> str:
    """Good, fair or poor; empty if there is no value.

    Examples
    --------
    >>> grade("rmsea", 0.03), grade("rmsea", 0.2), grade("cfi", 0.92), grade("cfi", float("nan"))
    ('good', 'poor', 'fair', '')
    """
    if isnan(value):
        return ""
    good, fair, _ = _RULES[name]
    if good > fair:
        # Large is good: the same with reversed signs.
        value, good, fair = -value, -good, -fair
    return _WORDS[0] if value <= good else _WORDS[1] if value <= fair else _WORDS[2]


def verdict(indices: FitIndices) -> str:
    """One sentence: how well the graph reproduces the covariances.

    Indices measure the misfit, and the test whether it may be due to chance; one sentence covers
    both, so that there cannot be a contradiction.
    """
    if indices.degrees_of_freedom == 0:
        return (
            "The graph can generate every covariance matrix, so it fits perfectly and nothing "
            "about it is tested."
        )
    known = _grades(indices)
    if isnan(indices.rmsea):
        return f"Only the typical error of a correlation is known; it is {known[0]}."
    worst = max(known, key=_WORDS.index)
    if worst == "good":
        if indices.p_value < _CLEAR:
            return (
                "The graph reproduces the covariances of the data closely, but not exactly: "
                "the remaining misfit is small but larger than chance."
            )
        return "The graph reproduces the covariances of the data well."
    how = "poorly" if worst == "poor" else "fairly well"
    if not indices.p_value < _CLEAR:
        return (
            f"The graph reproduces the covariances of the data {how}, which may be due to chance, "
            "because there are few rows."
        )
    return (
        f"The graph reproduces the covariances of the data {how}. Possible reasons for the misfit "
        "are hidden causes, nonlinear relations or a search that ended early."
    )


def _grades(indices: FitIndices) -> list[str]:
    """Grades of the indices that decide, as far as they are known."""
    grades = [grade(name, getattr(indices, name)) for name in ("rmsea", "cfi", "srmr")]
    return [word for word in grades if word]


def is_tested_and_good(model: FittedModel) -> bool:
    """Whether the fit was tested and not rejected."""
    if model.experiments is not None or model.fit_indices.degrees_of_freedom == 0:
        return False
    indices = model.fit_indices
    return set(_grades(indices)) == {_WORDS[0]} and not indices.p_value < _CLEAR


def fit_in_words(model: FittedModel) -> str:
    """One sentence on the fit of a model to tables of any kind."""
    if model.experiments is not None:
        return "Tables with interventions have no saturated model for comparison."
    return verdict(model.fit_indices)


def chi_square_in_words(indices: FitIndices) -> str:
    """The test against the saturated model."""
    if isnan(indices.p_value):
        return ""
    p = indices.p_value
    shown = "below 0.001" if p < 0.001 else fixed(p)
    evidence = (
        "chance alone is very unlikely to explain this misfit"
        if p < _CLEAR
        else "chance alone would explain this misfit in fewer than 5 of 100 tables"
        if p < 0.05
        else "chance alone would explain this misfit"
    )
    return (
        f"Chi-square test of the misfit: {number(indices.chi_square)} on "
        f"{indices.degrees_of_freedom:,} degree{'s' * (indices.degrees_of_freedom != 1)} of "
        f"freedom{' (rescaled: robust)' * (indices.scaling != 1)}, "
        f"p-value {shown}: {evidence}. With many rows, even a negligible misfit is significant, "
        "and a graph chosen with the same data appears to fit better than it does."
    )


def index_rows(indices: FitIndices) -> list[tuple[str, str, str, str]]:
    """Name, value, grade and meaning of each index."""
    rows = [
        (
            name.upper(),
            fixed(getattr(indices, name)),
            grade(name, getattr(indices, name)) or "–",
            meaning,
        )
        for name, (_, _, meaning) in _RULES.items()
    ]
    for label in ("log-likelihood", "AIC", "BIC"):
        value = getattr(indices, label.lower().replace("-", "_"))
        rows.append((label, f"{value:,.2f}".replace("-", "−"), "–", "for comparing graphs"))
    return rows


def known_rows(model: FittedModel) -> list[tuple[str, str, str, str]]:
    """The rows of a model; of tables with interventions only the likelihood is known."""
    rows = index_rows(model.fit_indices)
    return rows if model.experiments is None else rows[len(_RULES) :]

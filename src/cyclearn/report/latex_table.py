"""The edges of a result as a LaTeX table."""

from __future__ import annotations

from cyclearn.drawing.tikz import latex_text, needed_packages
from cyclearn.foundation.readable import significant
from cyclearn.results import LearnResult


def latex_table(result: LearnResult) -> str:
    r"""Edges with weights, standard errors and verdicts; needs ``booktabs``.

    Examples
    --------
    >>> from cyclearn import Moments, learn
    >>> result = learn(Moments([[2.0, 1.0], [1.0, 2.0]], 100, names=["a_1", "b"]))
    >>> r"a\_1 $\to$ b & $0.500$ & $0.087$" in latex_table(result)
    True
    """
    rows = [row for row in result.edge_rows if row.in_graph]
    head = ["Edge", "Weight", "Std.\\ error", "Standardised", "Equally good graphs"]
    columns = "lrrrl"
    if result.posterior is not None:
        head, columns = [*head, "Probability"], columns + "r"
    if result.bootstrap is not None:
        head, columns = [*head, "Resamples"], columns + "r"
    lines = [
        needed_packages(r"\usepackage{booktabs}", result.graph.names),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(head) + r" \\",
        r"\midrule",
    ]
    for row in rows:
        cells = [
            rf"{latex_text(row.source)} $\to$ {latex_text(row.target)}",
            _number(row.weight),
            _number(row.std_error, 2),
            _number(row.standardised, 2),
            row.verdict,
        ]
        if row.probability is not None:
            cells.append(f"{row.probability:.2f}")
        if row.resamples is not None:
            cells.append(rf"{100 * row.resamples:.0f}\%")
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _number(value: float, digits: int = 3) -> str:
    if value != value:
        return "--"
    size, _, power = significant(value, digits).partition("e")
    return f"${size} \\cdot 10^{{{int(power)}}}$" if power else f"${size}$"

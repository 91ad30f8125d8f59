"""Markdown tables of results with confidence intervals, one kind per study."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cyclearn.experiments.runner import ResultsFile
from cyclearn.foundation import InputError, short
from cyclearn.identifiability.numerics.numerical_overlap import wilson_interval


@dataclass(frozen=True)
class Share:
    """A share with Wilson's 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.0%} [{self.low:.0%}, {self.high:.0%}]"


def share(successes: Sequence[bool], groups: Sequence[Hashable]) -> Share:
    """Share of successes, with an interval that accounts for clustered outputs.

    Outputs of one true graph resemble each other, so their effective number is smaller: Wilson's
    interval is computed for the number of independent outputs that would give the variance observed
    between groups, at least the number of groups and at most that of outputs.

    Examples
    --------
    Ten identical outputs of one graph carry no more information than one:

    >>> print(share([True] * 10 + [False] * 10, [1] * 10 + [2] * 10))
    50% [9%, 91%]
    >>> print(share([True, False] * 10, range(20)))
    50% [30%, 70%]
    """
    values = np.asarray(successes, dtype=float)
    n = len(values)
    _, index = np.unique(np.asarray([str(group) for group in groups]), return_inverse=True)
    sizes = np.bincount(index)
    n_groups = len(sizes)
    p = float(values.mean())
    effective = float(n_groups)
    if n_groups > 1 and 0 < p < 1:
        # The variance of a ratio of sums over groups.
        residual = np.bincount(index, weights=values) - p * sizes
        variance = n_groups / (n_groups - 1) * float(residual @ residual) / n**2
        effective = min(max(p * (1 - p) / variance, n_groups), n) if variance > 0 else n
    return Share(p, *wilson_interval(p * effective, effective))


_ORDER = ("hill-climbing", "tabu", "tabu-2bic", "auto", "default", "exact", "l1")
# Parts of a configuration that may differ between files in one table.
_OF_SETTINGS = {"nodes", "samples", "domains"}
# What the paper and its reference code report for the virtual-edge operator, without and with it.
_REPORTED = {"(a)": (("0%", "89%"), ("30%", "77%")), "(b)": (("45%", "83%"), ("23%", "97%"))}


def result_table(results: Sequence[ResultsFile]) -> str:
    """The table of one study in Markdown, from one or several results files."""
    study = results[0].configuration["study"]
    # Checked first, because files of figures are named after the study.
    if study not in _TABLES:
        raise InputError(
            f"there is no table for the study {short(study)}; ResultsFile({str(results[0].path)!r})"
            ".table() has its outputs"
        )
    frame = pooled(results)
    if frame.empty:
        return "No instance is finished.\n"
    with of_the_study(results):
        return _TABLES[study](frame)


@contextmanager
def of_the_study(results: Sequence[ResultsFile]) -> Iterator[None]:
    """Report an edited file as damaged, whichever error it causes."""
    try:
        yield
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        paths = ", ".join(str(file.path) for file in results)
        raise InputError(
            f"the outputs in {paths} are not those of the study {results[0].configuration['study']}"
            f" ({type(error).__name__}: {short(str(error))}); run it into a new file"
        ) from error


def pooled(results: Sequence[ResultsFile], *, timings: bool = False) -> pd.DataFrame:
    """The outputs of files of one study, which must belong together and have different settings."""
    first, wanted = results[0], results[0].configuration
    frames: list[pd.DataFrame] = []
    seen: dict[str, ResultsFile] = {}
    for file in results:
        held = file.configuration
        differing = {
            name for name in {*wanted, *held} - _OF_SETTINGS if wanted.get(name) != held.get(name)
        }
        if differing:
            raise InputError(
                f"{first.path} and {file.path} differ in {', '.join(sorted(differing))}, so "
                "they are not parts of one run; give them one at a time"
            )
        frames.append(file.table(timings=timings))
        for setting in () if frames[-1].empty else frames[-1]["setting"].unique():
            if setting in seen:
                raise InputError(
                    f"{seen[setting].path} and {file.path} both contain {setting!r}; give one "
                    "of them"
                )
            seen[setting] = file
    return pd.concat(frames, ignore_index=True)


def groups(frame: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Settings (small ones first) and methods, with their rows."""
    for setting in sorted(frame["setting"].unique(), key=_numbers_in):
        rows = frame[frame["setting"] == setting]
        for method in sorted(rows["method"].unique(), key=_place):
            yield setting, method, rows[rows["method"] == method]


def _place(method: str) -> tuple[int, str]:
    """Methods, starting with the simplest search, then others by name."""
    return (_ORDER.index(method) if method in _ORDER else len(_ORDER), method)


def _numbers_in(setting: str) -> tuple[Any, ...]:
    """A key that sorts p=5 before p=20, and names as they are."""
    parts = setting.split(", ")
    return tuple(int(part.split("=")[1]) if "=" in part else part for part in parts)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [" | ".join(head), "|".join(["---"] * len(head))]
    lines += [" | ".join(str(cell) for cell in row) for row in rows]
    return "".join(f"| {line} |\n" if n != 1 else f"|{line}|\n" for n, line in enumerate(lines))


def _share_of(rows: pd.DataFrame, condition: Any) -> Share:
    return share(np.asarray(condition, dtype=bool).tolist(), rows["instance"].tolist())


def _mean(values: Any, digits: int = 2) -> str:
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[~np.isnan(numbers)]
    return f"{numbers.mean():.{digits}f}" if numbers.size else "–"


def _pair(rows: pd.DataFrame, name: str) -> str:
    return f"{_mean(rows[name + '_precision'])}, {_mean(rows[name + '_recall'])}"


# Table cells for the rows of one setting and method, by heading.
Columns = dict[str, Callable[["pd.DataFrame"], object]]


def _described(parts: Iterable[pd.DataFrame], columns: Columns) -> str:
    rows = [[describe(part) for describe in columns.values()] for part in parts]
    return markdown_table(list(columns), rows)


def _the(name: str) -> Callable[[pd.DataFrame], object]:
    """The values that all rows share."""
    return lambda part: part[name].iloc[0]


_PAIRS: Columns = {name: partial(_pair, name=name) for name in ("adjacency", "arrowhead", "cycle")}
_GROUP: Columns = {"setting": _the("setting"), "method": _the("method")}
_SIMULATED: Columns = _GROUP | {
    "graphs": lambda part: part["instance"].nunique(),
    "outputs": len,
    "success > 25%": lambda part: _share_of(part, part["success"] > 0.25),
    "success 100%": lambda part: _share_of(part, part["success"] == 1),
    "mean success": lambda part: _mean(part["success"]),
    "equivalent": lambda part: _share_of(part, part["equivalent"]),
    "mean distance": lambda part: (
        _mean(part["class_distance"], 1) + ("" if part["distance_is_exact"].all() else "*")
    ),
    "median": lambda part: f"{part['class_distance'].median():g}",
    "at least the true score": lambda part: _share_reached(part),
}


def _share_reached(part: pd.DataFrame) -> object:
    reached = part["reached"].dropna() if "reached" in part else part["success"][:0]
    return _share_of(part.loc[reached.index], reached) if len(reached) else "–"


def _simulated(frame: pd.DataFrame) -> str:
    parts = [part for _, _, part in groups(frame)]
    text = _described(parts, _SIMULATED)
    if not frame["distance_is_exact"].all():
        text += "\n\\* some distances are upper bounds.\n"
    text += "\nMean precision and recall against the true class:\n\n"
    return text + _described(parts, _GROUP | _PAIRS)


_CONSISTENCY: Columns = {
    "setting": _the("setting"),
    "graphs": len,
    "equivalent": lambda part: _share_of(part, part["equivalent"]),
    "quasi equivalent": lambda part: _share_of(part, part["quasi_equivalent"]),
    "better score than the truth": lambda part: _share_of(part, part["better_than_truth"]),
    "mean distance": lambda part: _mean(part["class_distance"]),
    "edges, learned and true": lambda part: (
        f"{_mean(part['n_edges'])}, {_mean(part['n_true_edges'])}"
    ),
}


def _consistency(frame: pd.DataFrame) -> str:
    return _described([part for _, _, part in groups(frame)], _CONSISTENCY)


def _virtual_edges(frame: pd.DataFrame) -> str:
    head = ["example", "length, patience", "operator", "equivalent", "at least the true score",
            "paper", "its code"]  # fmt: skip
    rows: list[list[Any]] = []
    for setting, method, part in groups(frame):
        search, operator = method.rsplit(", ", 1)
        paper, code = (reported[operator == "with"] for reported in _REPORTED[setting[:3]])
        found = _share_of(part, part["equivalent"]), _share_of(part, part["reached"])
        rows.append([setting, search, operator, *found, paper, code])
    return markdown_table(
        head, sorted(rows, key=lambda row: (row[0], -len(str(row[1])), -len(str(row[2]))))
    )


def _hippocampus(frame: pd.DataFrame) -> str:
    learned = frame[frame["method"] == "learned"]
    numbers = dict.fromkeys(("n_samples", "class_size", "class_distance"), int)
    shown = ["setting", "n_samples", "edges", "class_size", "class_distance", "starts_agreeing"]
    rows = learned[shown].astype(numbers).to_numpy(dtype=object).tolist()
    head = ["subject", "rows", "learned graph", "graphs in its class", "distance", "starts agree"]
    text = "The learned graphs and their classes:\n\n" + markdown_table(head, rows)
    members = frame[frame["method"] == "anatomical"]
    subjects = sorted(members["setting"].unique())
    cells = members.pivot(index="number", columns="setting")
    rows = [
        [
            members[members["number"] == number]["edges"].iloc[0],
            *(_optimum(cells.loc[number].xs(name, level="setting")) for name in subjects),
        ]
        for number in cells.index
    ]
    gaps = [f"{cells['gap'][name].min():.1f}" for name in subjects]
    rows.append(["score above the best found", *gaps])
    text += (
        "\nThe next table shows the structures equivalent to the anatomical graph, with the gain "
        "of the best move. A gain shows that the structure is not a local optimum; brackets mark "
        "unstable fits. All structures have the same score, and the last line shows by how much it "
        "is above the best found:\n\n" + markdown_table(["structure", *subjects], rows)
    )
    counts = [int(members[name].sum()) for name in ("is_optimum", "is_optimum_of_single_edges")]
    return text + (
        f"\n{counts[0]} of {len(members)} pairs of a structure and a subject are local optima, and "
        f"{counts[1]} if only moves of single edges are tried.\n"
    )


def _optimum(structure: Any) -> str:
    text = "optimum" if structure["is_optimum"] else f"{structure['first_gain']:.1f}"
    return text if structure["is_stable"] else f"({text})"


_FEEDBACK: Columns = {
    "network": _the("setting"),
    "nodes": _the("n_nodes"),
    "edges": _the("n_true_edges"),
    "method": _the("method"),
    "data sets": len,
    "distance": lambda part: _mean(part["class_distance"], 1),
    "edges found": lambda part: _mean(part["n_edges"], 1),
    **{name: partial(_pair, name=f"graph_{name}") for name in _PAIRS},
    **{f"{name}, class": partial(_pair, name=f"class_{name}") for name in _PAIRS},
}


def _feedback(frame: pd.DataFrame) -> str:
    of_all = frame.assign(setting="all", n_nodes="", n_true_edges="")
    everything = [part for _, part in of_all.groupby("method", sort=False)]
    return (
        "Each cell is a mean; precision and recall are for the true graph, then for its class:\n\n"
        + _described([*(part for _, _, part in groups(frame)), *everything], _FEEDBACK)
    )


_TABLES: dict[str, Callable[[pd.DataFrame], str]] = {
    "paper": _simulated,
    "sample-size": _simulated,
    "consistency": _consistency,
    "virtual-edges": _virtual_edges,
    "hippocampus": _hippocampus,
    "feedback": _feedback,
}

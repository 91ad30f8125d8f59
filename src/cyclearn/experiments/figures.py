"""Figures like the paper's, from results files; the same results give the same files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cyclearn.experiments.result_tables import groups, of_the_study, pooled, result_table, share
from cyclearn.experiments.runner import ResultsFile
from cyclearn.foundation import Axes, InputError, replacing, why, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours that colour-blind readers can distinguish, and dashes for print without colour.
_STYLES: dict[str, tuple[str, Any, str]] = {
    "auto": ("#0072B2", "-", "cyclearn (auto, BIC)"),
    "default": ("#CC79A7", (0, (3, 1)), "cyclearn (default penalty)"),
    "tabu": ("#D55E00", (0, (5, 1.5)), "tabu search"),
    "hill-climbing": ("#009E73", (0, (1.5, 1.2)), "hill climbing"),
    "l1": ("#7F7F7F", (0, (6, 1.5, 1.5, 1.5)), "l1-regularised likelihood"),
    "exact": ("#0072B2", "-", "exact"),
}
_OTHER = ("#E69F00", "-")
_SETTINGS: Any = {
    # Without these, every SVG has random identifiers.
    "svg.hashsalt": "cyclearn",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
}


def write_figures(
    results: Sequence[ResultsFile], folder: Path | str, *, outputs: bool = False
) -> list[Path]:
    """Write the table of every study in the files, and its figures if it has any.

    Files of one study, such as runs of several sizes, go into one table and one figure.

    Parameters
    ----------
    results : sequence of ResultsFile
    folder : path
        Created if it does not exist.
    outputs : bool
        Write every output as CSV too.

    Returns
    -------
    list of Path
        The files written.
    """
    if not results:
        raise InputError("no results files were given; name at least one")
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {why(error)}") from None
    written = []
    studies: dict[str, list[ResultsFile]] = {}
    for file in results:
        studies.setdefault(file.configuration["study"], []).append(file)
    for study, files in studies.items():
        table = target / f"{study}.md"
        write_text(table, result_table(files))
        written.append(table)
        frame = pooled(files)
        if outputs:
            written.append(target / f"{study}.csv")
            with replacing(written[-1]) as beside:
                frame.to_csv(beside, index=False)
        draw = {"paper": _curves, "sample-size": _curves, "consistency": _consistency}.get(study)
        if draw is not None and not frame.empty:
            with of_the_study(files):
                written += _saved(draw, frame, target / study)
    return written


def _saved(draw: Any, frame: pd.DataFrame, path: Path) -> list[Path]:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with mpl.rc_context(_SETTINGS):
        figure = draw(frame)
        FigureCanvasAgg(figure)
        svg, png = path.with_suffix(".svg"), path.with_suffix(".png")
        with replacing(svg) as beside:
            figure.savefig(beside, metadata={"Date": None, "Creator": None})
        with replacing(png) as beside:
            figure.savefig(beside, dpi=150, metadata={"Software": None})
    return [svg, png]


def _curves(frame: pd.DataFrame) -> Figure:
    """Per setting: outputs with a success rate above x, and with a distance of at most x."""
    from matplotlib.figure import Figure

    parts: dict[str, list[tuple[str, pd.DataFrame]]] = {}
    for setting, method, rows in groups(frame):
        parts.setdefault(setting, []).append((method, rows))
    figure = Figure(figsize=(8, 2.5 * len(parts) + 0.7), layout="constrained")
    axes = figure.subplots(len(parts), 2, squeeze=False)
    for (setting, methods), (left, right) in zip(parts.items(), axes, strict=True):
        # Large distances of one method would squeeze all others.
        distances = [rows["class_distance"].to_numpy() for _, rows in methods]
        last = int(max(np.quantile(found, 0.95) for found in distances)) + 1
        for (method, rows), found in zip(methods, distances, strict=True):
            success = rows["success"].to_numpy()
            # A step function that drops at each rate; no rate is above 1.
            rates = np.unique(np.concatenate([[0.0], success[success < 1]]))
            above = [100 * float(np.mean(success > rate)) for rate in rates]
            left.step([*(100 * rates), 100], [*above, above[-1]], where="post", **_style(method))
            within = [100 * float(np.mean(found <= bound)) for bound in range(last + 1)]
            right.step(range(last + 1), within, where="post", **_style(method))
        left.set(
            xlim=(0, 100), ylim=(-2, 102), ylabel=f"{_row_label(setting, parts)}\n% of outputs"
        )
        right.set(xlim=(0, last), ylim=(-2, 102))
        right.xaxis.get_major_locator().set_params(integer=True)
    axes[0, 0].set_title("% of outputs with a success rate above x", fontsize=10)
    axes[0, 1].set_title("% with a distance to the true class of at most x", fontsize=10)
    axes[-1, 0].set_xlabel("success rate x, in % of the domains")
    axes[-1, 1].set_xlabel("structural Hamming distance x")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _row_label(setting: str, settings: Collection[str]) -> str:
    """The parts of a setting, p and n, that differ from other settings; p if there is only one."""
    parts = [(int(p[2:]), int(n[2:])) for p, n in (other.split(", ") for other in settings)]
    p, n = (int(part[2:]) for part in setting.split(", "))
    has_sizes, has_samples = (len({part[k] for part in parts}) > 1 for k in (0, 1))
    labels = [f"p = {p}"] if has_sizes or not has_samples else []
    return ", ".join([*labels, f"n = {n:,}"] if has_samples else labels)


def _style(method: str) -> dict[str, Any]:
    colour, dashes, label = _STYLES.get(method, (*_OTHER, method))
    # Wide and at the bottom, so that coinciding curves stay visible.
    below = {"linewidth": 3.0, "zorder": 2} if method == "auto" else {"linewidth": 1.6, "zorder": 3}
    return {"color": colour, "linestyle": dashes, "label": label, "alpha": 0.9, **below}


def _consistency(frame: pd.DataFrame) -> Figure:
    """Share of equivalent and quasi equivalent optima by sample size, with intervals."""
    from matplotlib.figure import Figure

    sizes = frame["setting"].str.split(", ").str[0]
    found = sorted(sizes.unique(), key=lambda size: int(size[2:]))
    figure = Figure(figsize=(6, 3.4 * len(found)), layout="constrained")
    for size, axes in zip(found, figure.subplots(len(found), squeeze=False)[:, 0], strict=True):
        _consistency_curves(axes, frame[sizes == size])
        axes.set(xscale="log", ylim=(0, 103), xlabel="samples", ylabel="% of graphs")
        axes.legend(loc="lower right", frameon=False)
        if len(found) > 1:
            axes.set_title(size.replace("=", " = "), fontsize=10)
    return figure


def _consistency_curves(axes: Axes, frame: pd.DataFrame) -> None:
    # Side by side, because the shares are often equal.
    for column, colour, marker, label, shift in (
        ("quasi_equivalent", "#0072B2", "o", "quasi equivalent to the truth", 0.95),
        ("equivalent", "#D55E00", "s", "equivalent to the truth", 1.05),
    ):
        sizes, shares = [], []
        for setting, _, rows in groups(frame):
            sizes.append(int(setting.split("=")[-1]))
            shares.append(share(rows[column].astype(bool).tolist(), rows["instance"].tolist()))
        values = np.array([found.value for found in shares])
        spread = [values - [s.low for s in shares], [s.high for s in shares] - values]
        axes.errorbar(
            np.array(sizes) * shift,
            100 * values,
            yerr=100 * np.array(spread),
            color=colour,
            marker=marker,
            capsize=3,
            label=label,
        )

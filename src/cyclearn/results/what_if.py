"""Predictions of interventions by name, over all graphs that fit equally well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cyclearn.data.margins import SCALES
from cyclearn.data.moments import Levels
from cyclearn.foundation import InputError, pd
from cyclearn.foundation.arguments import between
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs.directed_graph import Node
from cyclearn.models.linear_gaussian import LinearGaussianModel, values_by_index
from cyclearn.models.predictions import EstimatedModel, Prediction, SharedEstimate

if TYPE_CHECKING:
    from cyclearn.models import FittedModel
    from cyclearn.results.result import LearnResult


# Means below this share of a standard deviation are zero up to rounding.
_ROUNDING = 1e-12


@checks_names
def what_if(
    result: LearnResult,
    values: Mapping[Node, float] | None = None,
    *,
    shift: Mapping[Node, float] | None = None,
    group: str | None = None,
    level: float = 0.95,
    max_members: int = 500,
    random_state: RandomState = 0,
) -> pd.DataFrame:
    """Predict every variable under an intervention on some of them.

    Parameters
    ----------
    values : mapping, optional
        Variables to hold, with their values: their causes no longer affect them.
    shift : mapping, optional
        Variables to shift, with the amounts: they still respond to their causes, so feedback on
        them has an effect.
    group : str, optional
        The group whose weights and means are used, if there are several.
    level : float
        Level of the intervals.
    max_members, random_state
        As in :func:`cyclearn.class_effects`.

    Returns
    -------
    pandas.DataFrame
        A row for each variable. ``now``: its mean in the data. ``mean``, ``lower``, ``upper``:
        the mean under the intervention and its interval, from the graph shown. ``smallest``,
        ``largest``: the mean over all graphs that fit equally well; ``lowest``, ``highest``: the
        interval that covers the intervals of all of them. ``sd``: standard deviation under the
        intervention, from the graph shown. Values are NaN if the system has no equilibrium;
        intervals are NaN if the data do not determine the weights. Intervals are conditional on the
        graph and on the exogenous variables (including lagged ones), which are at their average in
        these data or at the values set. Ordinal variables, including values given for them, are on
        the scale of the underlying normal variables (mean 0, standard deviation 1 in the data);
        ``levels`` has the probabilities of their levels under the intervention, from the graph
        shown, and ``attrs["levels"]`` has them as numbers. ``attrs`` says how many graphs were
        examined, and how many of their parameter sets have no equilibrium.
    """
    model = result.model_of(group)
    held = values_by_index(result.graph, {} if values is None else values, "do")
    shifted = values_by_index(result.graph, {} if shift is None else shift, "shift")
    if not held and not shifted:
        raise InputError("no variable is held or shifted; give values: result.do({'a': 1.0})")
    for s in set(held) & set(shifted):
        raise InputError(f"{result.graph.names[s]!r} is both held and shifted; choose one")
    listed = result.listed(group, max_members=max_members, random_state=random_state)
    models = [each for member in listed.members for each in member.models]
    (shown,) = estimated(model, [model.model])
    table = prediction_table(shown, estimated(model, models), held, shifted, level)
    table.attrs |= {
        "n_looked_at": listed.n_looked_at,
        "n_unstable": sum(member.times for member in listed.members if not member.is_stable),
        "selection": listed.selection,
    }
    if result.options.margins in SCALES:
        table.attrs["scale"] = SCALES[result.options.margins]
    if result.tables.ordered:
        table.attrs["scale"] = "latent normal variables of ordinal columns"
        table.attrs["levels"] = add_levels(table, model.moments.levels)
    return table


def add_levels(table: pd.DataFrame, levels: Levels) -> dict[str, dict[str, float]]:
    """The probability of each level under the intervention, and in words in column ``levels``."""
    from scipy.special import ndtr, ndtri

    found: dict[str, dict[str, float]] = {}
    for name, shares in levels.items():
        mean, sd = table.loc[name, ["mean", "sd"]]
        with np.errstate(divide="ignore", invalid="ignore"):
            below = ndtr((ndtri(np.cumsum([*shares.values()])[:-1]) - mean) / sd)
        if not np.isnan(below).any():
            found[name] = dict(zip(shares, np.diff([0, *below, 1]).tolist(), strict=True))
    words = {name: ", ".join(f"{k}: {v:.0%}" for k, v in p.items()) for name, p in found.items()}
    table["levels"] = [words.get(name, "") for name in table.index]
    return found


def estimated(
    fitted: FittedModel, models: Sequence[LinearGaussianModel]
) -> tuple[EstimatedModel, ...]:
    """Models with the data from which they, and the fitted one, were estimated."""
    S, mean, experiments = fitted.moments.covariance, fitted.moments.mean, fitted.experiments
    given = tuple(np.flatnonzero(fitted.moments.is_exogenous).tolist())
    if experiments is None:
        known, n = mean is None, fitted.n_effective
        return tuple(EstimatedModel(model, S, n, known, given) for model in models)
    known = any(table.moments.mean is None for table in experiments.tables)
    n = experiments.tables.n_samples
    return tuple(
        SharedEstimate(model, S, n, known, given, experiments=experiments) for model in models
    )


def prediction_table(
    shown: EstimatedModel,
    models: Sequence[EstimatedModel],
    held: Mapping[int, float],
    shifted: Mapping[int, float],
    level: float = 0.95,
) -> pd.DataFrame:
    """Predictions by variable: from the graph shown, and over all models with an equilibrium."""
    from scipy.special import ndtri

    between("level", level, 0, 1, 0.95)
    z = float(ndtri(0.5 + level / 2))
    own = shown.predict(held, shifted) if shown.model.is_stable else None
    every = [model.predict(held, shifted) for model in models]
    settling = [each for each in every if each.settles]
    names = shown.model.names
    nothing = np.full(len(names), np.nan)
    own = own or Prediction(nothing, nothing, nothing)
    means = np.array([each.means for each in settling] or [nothing])
    errors = np.array([each.errors for each in settling] or [nothing])
    table = pd.DataFrame(
        {
            "now": shown.model.mean,
            "mean": own.means,
            "lower": own.means - z * own.errors,
            "upper": own.means + z * own.errors,
            "smallest": means.min(axis=0),
            "largest": means.max(axis=0),
            "lowest": (means - z * errors).min(axis=0),
            "highest": (means + z * errors).max(axis=0),
            "sd": own.deviations,
        },
        index=pd.Index(names, name="variable"),
    )
    # Set rounding errors to zero, but not requested values.
    tiny = np.abs(table) < _ROUNDING * np.sqrt(shown.covariance.diagonal())[:, None]
    tiny.iloc[list(held), 1:] = False
    table = table.mask(tiny, 0.0)
    table.attrs = {"n_models": len(every), "n_unsettled": len(every) - len(settling)}
    return table

"""The effect of one variable on another, over graphs and parameters together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cyclearn.data.parametric_draws import draw_covariance
from cyclearn.data.tables import Tables
from cyclearn.foundation.answers import Answer
from cyclearn.foundation.arguments import between
from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.bitsets import reached
from cyclearn.models import fit


@dataclass(frozen=True, eq=False)
class PosteriorEffects(Answer):
    """Draws of the total effect of one variable on another; made by ``Posterior.effects``.

    Attributes
    ----------
    source, target : str
    draws : array
        One total effect for each draw of a graph and its parameters: the change of the target per
        unit increase of the source; zero if there is no directed path.
    has_path : bool array
        Whether the drawn graph has a directed path from the source to the target.
    n_unstable : int
        Number of draws omitted because their parameters were not stable.
    """

    source: str
    target: str
    draws: FloatArray
    has_path: BoolArray
    n_unstable: int

    @property
    def probability(self) -> float:
        """Probability that the source has any effect on the target."""
        return float(self.has_path.mean())

    @property
    def mean(self) -> float:
        """Mean total effect, zeros included."""
        return float(self.draws.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of the total effect."""
        return float(self.draws.std())

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The central interval that contains a share ``level`` of the draws."""
        between("level", level, 0, 1, 0.95)
        low, high = np.quantile(self.draws, [0.5 - level / 2, 0.5 + level / 2])
        return float(low), float(high)

    def to_dict(self) -> dict[str, Any]:
        """A summary of the draws, and the draws, as plain values for JSON."""
        low, high = self.interval()
        return {
            "source": self.source,
            "target": self.target,
            "probability": self.probability,
            "mean": self.mean,
            "sd": self.sd,
            "interval": [low, high],
            "draws": self.draws.tolist(),
            "n_unstable": self.n_unstable,
        }

    def __str__(self) -> str:
        low, high = self.interval()
        text = (
            f"Total effect of {self.source} on {self.target}: {self.mean:.3g} on average, 95% of "
            f"the draws in [{low:.3g}, {high:.3g}]. Probability of any effect "
            f"{self.probability:.2f}, of a positive one {(self.draws > 0).mean():.2f}, of a "
            f"negative one {(self.draws < 0).mean():.2f} ({len(self.draws)} draws)."
        )
        if self.n_unstable:
            text += f" Omitted: {self.n_unstable} draws with unstable parameters."
        return text


def draw_effects(
    graphs: Sequence[DirectedGraph],
    weights: FloatArray,
    tables: Tables,
    source: int,
    target: int,
    *,
    n_draws: int,
    seed: int,
) -> PosteriorEffects:
    """Effects under graphs drawn by weight, with parameters drawn for each.

    Parameters are fitted to a random covariance around the observed one (Wishart, with the
    effective sample size), which gives them the spread of their standard errors, also if feedback
    makes these hard to compute. For tables that share their weights, means are drawn too, and
    tables of one row get a random weight.
    """
    names = tables.names
    drawn = systematic(weights, n_draws, seed)
    reach = [bool(reached(graph.columns, 1 << target) >> source & 1) for graph in graphs]
    draws, paths, n_unstable = [], [], 0
    for number, which in enumerate(drawn.tolist()):
        effect = 0.0
        if reach[which]:
            generator = np.random.default_rng([seed, number])
            model = fit(graphs[which], _drawn(tables, generator)).model
            if not model.is_stable:
                n_unstable += 1
                continue
            effect = float(model.total_effects().iat[source, target])
        draws.append(effect)
        paths.append(reach[which])
    if not draws:
        raise InputError("no draw of the parameters is stable, so the effect does not exist")
    return PosteriorEffects(
        names[source], names[target], np.array(draws), np.array(paths), n_unstable
    )


def _drawn(tables: Tables, generator: np.random.Generator) -> Tables:
    """Draw tables around the given ones, with their sampling variation."""
    drawn = []
    for table in tables:
        moments, n = table.moments, table.n_effective
        if moments.n_samples == 1:
            drawn.append(replace(table, n_effective=n * generator.exponential()))
            continue
        covariance, mean = draw_covariance(moments, n, generator), moments.mean
        if tables.design is not None and mean is not None:
            S = moments.covariance / n
            mean = generator.multivariate_normal(mean, S, method="eigh")
        drawn.append(replace(table, moments=moments._changed(covariance=covariance, mean=mean)))
    return replace(tables, tables=tuple(drawn))


def systematic(weights: FloatArray, n: int, seed: int) -> IntArray:
    """Systematic sampling: counts are as close to the weights as whole numbers allow."""
    places = (np.random.default_rng(seed).random() + np.arange(n)) / n
    found = np.searchsorted(np.cumsum(weights) / weights.sum(), places, side="right")
    return np.minimum(found, len(weights) - 1)

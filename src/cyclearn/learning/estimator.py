"""The scikit-learn estimator over :func:`cyclearn.learn`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from cyclearn.data.grouped_tables import labelled_rows
from cyclearn.foundation import InputError, check_name, takes_options
from cyclearn.foundation.arguments import processes
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.graphs import DirectedGraph
from cyclearn.learning.run import learn_with
from cyclearn.results.result import LearnResult
from cyclearn.search.options import SearchOptions


class CyclicGraphLearner(BaseEstimator):  # type: ignore[misc]
    """Learn a directed graph with feedback loops.

    Parameters
    ----------
    **options
        The fields of :class:`cyclearn.SearchOptions`, as in :func:`cyclearn.learn`.
    n_jobs : int, optional
        Number of processes for several starts.

    Attributes
    ----------
    graph_ : DirectedGraph
    adjacency_ : array of shape (p, p)
        ``adjacency_[i, j]`` is true if i → j. With ``lags``, the columns of X come first, then the
        same columns one row earlier, and so on; ``graph_.names`` gives their names.
    coef_ : array of shape (p, p)
        ``coef_[i, j]`` is the weight of i → j; with ``groups``, of shape (groups, p, p).
    noise_variances_ : array of shape (p,)
        With ``groups``, of shape (groups, p).
    score_ : float
        Negative log-likelihood + λ·|E| of the training data; smaller is better.
    result_ : LearnResult
    n_features_in_, feature_names_in_
        As in all scikit-learn estimators.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> CyclicGraphLearner().fit(X).adjacency_.sum()
    np.int64(0)
    """

    graph_: DirectedGraph
    adjacency_: BoolArray
    coef_: FloatArray
    noise_variances_: FloatArray
    score_: float
    result_: LearnResult

    @takes_options(SearchOptions)
    def __init__(self, *, n_jobs: int | None = None, **options: Any) -> None:
        for each in fields(SearchOptions):
            setattr(self, each.name, options.pop(each.name, each.default))
        for name in options:
            check_name(name, (*SearchOptions.names(), "n_jobs"))
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> CyclicGraphLearner:  # noqa: ARG002
        """Learn the graph of the columns of X; y is ignored.

        With ``groups``, ``interventions``, ``within`` or ``weights``, X is a DataFrame with that
        column among the others.
        """
        arguments = self.get_params(deep=False)
        n_jobs = processes(arguments.pop("n_jobs"))
        options = SearchOptions(**arguments)
        self.result_ = learn_with(options, self._labelled_table(X), n_jobs=n_jobs)
        self.graph_ = self.result_.graph
        self.adjacency_ = self.graph_.adjacency
        models = list(self.result_.models.values())
        coef, variances = [m.B for m in models], [m.noise_variances for m in models]
        self.coef_ = coef[0] if self.groups is None else np.array(coef)
        self.noise_variances_ = variances[0] if self.groups is None else np.array(variances)
        self.score_ = self.result_.score
        return self

    def score(self, X: ArrayLike, y: Any = None) -> float:  # noqa: ARG002
        """Mean log-likelihood of the rows of X under the learned model; larger is better."""
        check_is_fitted(self)
        if self.groups is not None or self.interventions is not None:
            raise InputError(
                "rows with groups or interventions have no common density; to score rows, use "
                "groups=None and interventions=None"
            )
        if self.margins != "raw":
            raise InputError(
                f"margins is {self.margins!r}, so the model has no density on the scale of the "
                "data; to score rows, use margins='raw'"
            )
        if ordinal := self.result_.tables.ordered:
            raise InputError(
                "rows with ordinal columns cannot be scored, because their latent values are "
                f"unknown; learn with continuous={list(ordinal)!r}"
            )
        if self.lags:
            raise InputError(
                f"lags is {self.lags}, and rows of a time series cannot be scored one by one; to "
                "score rows, use lags=0"
            )
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        model = self.result_.model
        # Rows are scored at the mean of the training data, like new data.
        centred = rows - model.moments.mean
        # The density is conditional on the exogenous variables.
        own = ~model.moments.is_exogenous
        C, variances = np.eye(len(own)) - model.B, model.noise_variances[own]
        log_det = 2 * np.linalg.slogdet(C)[1] - np.log(variances).sum()
        squares = ((centred @ C)[:, own] ** 2 / variances).sum(axis=1).mean()
        return float(0.5 * (log_det - squares - own.sum() * np.log(2 * np.pi)))

    def _labelled_table(self, X: ArrayLike) -> pd.DataFrame | FloatArray:
        """The table with its label columns restored after the numeric columns were checked."""
        frame, labels = X, {}
        for option in ("groups", "interventions", "within", "weights"):
            label = getattr(self, option)
            if label is None:
                continue
            if not isinstance(label, str):
                raise InputError(f"{option} of an estimator must be the name of a column of X")
            labelled = labelled_rows(frame, [label], option)
            frame, labels[label] = labelled.drop(columns=label), labelled[label].to_numpy()
        return pd.DataFrame(self._table(frame)).assign(**labels) if labels else self._table(X)

    def _table(self, X: ArrayLike) -> pd.DataFrame | FloatArray:
        matrix = validate_data(
            self,
            X,
            dtype=np.float64,
            ensure_all_finite=True if self.missing == "error" else "allow-nan",
            ensure_min_samples=3,
            ensure_min_features=1,
        )
        names = getattr(self, "feature_names_in_", None)
        return matrix if names is None else pd.DataFrame(matrix, columns=list(map(str, names)))

"""Which experiment to do next: the graphs each would leave, and the rows it needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from cyclearn.classes.graph_class import GraphClass
from cyclearn.classes.interventional_class import InterventionDesign, class_key
from cyclearn.foundation.arguments import at_least, between, check_state, whole
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.foundation.json_input import short
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs.directed_graph import DirectedGraph, Node
from cyclearn.identifiability.settling_rows import Rival, rows_to_settle, scaled_columns, wins_with
from cyclearn.models import FittedModel, LinearGaussianModel
from cyclearn.results.next_experiment_result import Candidate, NextExperiment, as_targets
from cyclearn.results.open_graphs import Listed, OpenGraphs, list_open
from cyclearn.search.members import Member

_MAX_CANDIDATES = 1000
# Fits that tie differ by less than this, in standard units.
_SAME = 1e-3


@checks_names
def next_experiment(
    result_or_class: OpenGraphs,
    targets: Iterable[Sequence[Node] | Node] | None = None,
    size: int = 1,
    model: LinearGaussianModel | FittedModel | None = None,
    *,
    confidence: float = 0.9,
    max_members: int = 200,
    max_truths: int = 6,
    max_predicted: int | None = None,
    batch: int = 1,
    rows: int | None = None,
    random_state: RandomState = 0,
) -> NextExperiment:
    """Count the graphs that each experiment would leave, and the rows it would need.

    An experiment is a perfect intervention on some variables. By the theorem on interventions, it
    divides the remaining graphs into classes that it can distinguish. The number of graphs left
    depends on which graph is true.

    Parameters
    ----------
    result_or_class : LearnResult, EquivalenceClass, InterventionalClass or DirectedGraph
        The remaining graphs. For a result, these are the members of its class, and of the classes
        that tie with it, that respect the knowledge; a graph represents its class. With a model,
        graphs without a stable fit are omitted. If a result has a posterior whose chains agree,
        experiments are ranked by the probability they leave over all of its graphs. A class under
        interventions includes the tables already available; otherwise there are only observational
        data.
    targets : list of targets, optional
        The feasible experiments: names, or lists of names to intervene on together. By default all
        sets of ``size`` variables.
    size : int
        Number of variables to intervene on in one experiment.
    model : LinearGaussianModel or FittedModel, optional
        Weights, to predict how many rows an experiment needs; those of a result by default. For a
        fitted model, the observational data have as many rows as it was fitted to; for any other,
        the observational distribution is taken as known.
    confidence : float
        How often the true graph must have the best likelihood (with ½ log n per edge).
    max_members : int
        If there are more graphs than this, they are sampled, and the result reports it.
    max_truths : int
        For the prediction of rows, the number of classes of graphs that are taken to be true, one
        after another: those with the most members.
    max_predicted : int, optional
        Number of candidates for which rows are predicted, those that leave the fewest graphs; by
        default all.
    batch : int
        Number of experiments to plan together: each is the one that leaves least after the previous
        ones (``advice.batch``).
    rows : int, optional
        Rows of each experiment, 1 for a knockout that is measured once. Experiments are then ranked
        by how often the true graph would be found: the frequency with which it has the best score
        with this number of rows, divided by the number of graphs left. Requires weights.
    random_state : int, Generator or None
        For sampling graphs.

    Returns
    -------
    NextExperiment

    Notes
    -----
    Rows are predicted for targets that are set at random, independently, with the variances that
    they have in observed data; with larger variances fewer rows suffice. The prediction compares
    the divergence of the true graph from its nearest rivals, minimised over their weights with both
    tables, to the spread of the log-likelihood ratio.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    >>> advice = next_experiment(chain)
    >>> advice.table[["targets", "classes", "expected_left", "largest_left"]]
      targets  classes  expected_left  largest_left
    0       b        3            1.5             2
    1       c        3            1.5             2
    2       a        2            2.5             3
    3       d        2            2.5             3
    >>> print(advice.in_words())
    4 graphs remain. Intervening on b leaves 1.5 on average and 2 at most.
    """
    whole("max_members", max_members, 2)
    whole("max_truths", max_truths, 1)
    whole("batch", batch, 1)
    at_least("max_predicted", max_predicted, 0)
    at_least("rows", rows, 1)
    between("confidence", confidence, 0.5, 1, 0.9)
    check_state(random_state)
    if model is not None and not isinstance(model, (LinearGaussianModel, FittedModel)):
        raise InputError(
            f"the model is a {type(model).__name__}; give a LinearGaussianModel or a result of fit"
        )
    found = list_open(result_or_class, model, max_members, random_state)
    found = replace(found, probable=_probable(result_or_class, max_members))
    if rows is not None and not found.has_model:
        raise InputError(f"rows={rows} needs weights: give a model, or a result of learn")
    graph = found.members[0].graph
    possible = _candidates(graph, targets, size)
    judged = [_judged(found, (chosen,)) for chosen in possible]
    judged.sort(key=lambda each: each[0].preference())
    candidates = [
        _with_rows(candidate, classes, found, max_truths, confidence, rows)
        if max_predicted is None or n < max_predicted
        else candidate
        for n, (candidate, classes) in enumerate(judged)
    ]
    candidates.sort(key=Candidate.preference)
    return NextExperiment(
        tuple(candidates),
        tuple(member.graph for member in found.members for _ in range(member.times)),
        found.size,
        found.selection,
        tuple(tuple(graph.names[j] for j in table) for table in found.tables),
        confidence,
        found.n_observed,
        max_truths,
        found.n_unstable,
        _batch(found, possible, candidates[0], batch),
        rows,
    )


def _batch(
    found: Listed, possible: Sequence[tuple[int, ...]], best: Candidate, size: int
) -> tuple[Candidate, ...]:
    """The best experiment, and greedily those that leave least together; empty for a batch of one.

    The batch ends when no further experiment changes what is left.
    """
    if size == 1:
        return ()
    batch = [best]
    while len(batch) < size:
        chosen = [as_targets(each.targets, found.members[0].graph) for each in batch]
        others = [_judged(found, (*chosen, each))[0] for each in possible if each not in chosen]
        best = min(others, key=Candidate.preference, default=best)
        if best.left == batch[-1].left:
            break
        batch.append(best)
    return tuple(batch)


def _candidates(
    graph: DirectedGraph, targets: Iterable[Sequence[Node] | Node] | None, size: int
) -> list[tuple[int, ...]]:
    if targets is not None:
        if isinstance(targets, str) or not isinstance(targets, Iterable):
            raise InputError(
                f"targets are {short(targets)}; give a list of experiments: ['a'] or [['a', 'b']]"
            )
        chosen = list(dict.fromkeys(as_targets(each, graph) for each in targets))
        if not chosen:
            raise InputError("targets are empty; name at least one experiment")
        if size != 1:
            raise InputError(f"size={size} and targets both say what to intervene on; give one")
        return chosen
    whole("size", size, 1)
    if size >= graph.n_nodes:
        raise InputError(
            f"size is {size}, and there are {graph.n_nodes} variables; an experiment must leave "
            "at least one of them free"
        )
    if comb(graph.n_nodes, size) > _MAX_CANDIDATES:
        raise LimitError(
            f"{comb(graph.n_nodes, size):,} sets of {size} variables are more than "
            f"{_MAX_CANDIDATES:,}; list the feasible experiments with targets (--targets)"
        )
    return list(combinations(range(graph.n_nodes), size))


def _probable(given: OpenGraphs, max_members: int) -> list[tuple[DirectedGraph, float]]:
    """The most probable graphs of a posterior with their probabilities; empty without one."""
    if isinstance(given, (GraphClass, DirectedGraph)) or given.posterior is None:
        return []
    found = given.posterior
    if not found.is_determined:
        return []
    order, names = np.argsort(-found.weights, kind="stable")[:max_members], given.graph.names
    return [(found.graphs[k].reordered(names), float(found.weights[k])) for k in order]


def _probability_left(found: Listed, design: InterventionDesign) -> float:
    """The average probability of the graphs that an experiment would not tell from the true one."""
    if not found.probable:
        return float("nan")
    shares: dict[object, float] = {}
    for graph, weight in found.probable:
        key = class_key(graph, design)
        shares[key] = shares.get(key, 0.0) + weight
    each = np.array(list(shares.values()))
    return float((each**2).sum() / each.sum() ** 2)


def _judged(
    found: Listed, experiments: tuple[tuple[int, ...], ...]
) -> tuple[Candidate, list[list[Member]]]:
    """The last of several experiments given the others, and the classes that all distinguish."""
    graph = found.members[0].graph
    design = InterventionDesign(graph.n_nodes, (*found.tables, *experiments))
    classes: dict[object, list[Member]] = {}
    for member in found.members:
        classes.setdefault(class_key(member.graph, design), []).append(member)
    if found.has_ties:
        classes = _joined_where_equal(classes, experiments)
    counts = np.array([sum(m.times for m in members) for members in classes.values()])
    n = int(counts.sum())
    if found.selection == "all" or found.size is None or n < 2:
        expected = float((counts**2).sum() / n)
    else:
        # The fraction of pairs that stay together, without the pairs of a graph with itself.
        together = float((counts * (counts - 1)).sum()) / (n * (n - 1))
        expected = 1 + (found.size - 1) * together
    names = tuple(graph.names[j] for j in experiments[-1])
    left = _probability_left(found, design)
    most = int(counts.max())
    candidate = Candidate(names, len(classes), expected, most, probability_left=left)
    return candidate, list(classes.values())


def _joined_where_equal(
    classes: dict[object, list[Member]], experiments: tuple[tuple[int, ...], ...]
) -> dict[object, list[Member]]:
    """Join classes whose parameters for these data give the same experiments.

    Different classes that tie both generate the observed distribution. By the theorem an
    experiment distinguishes them in general, but it need not do so with these parameters.
    """
    joined: dict[object, list[Member]] = {}
    seen: list[tuple[object, list[FloatArray]]] = []
    for key, members in classes.items():
        told = [_told(model, experiments) for member in members for model in member.models]
        same = [
            other
            for other, known in seen
            if any(np.allclose(a, b, rtol=_SAME, atol=_SAME) for a in told for b in known)
        ]
        joined.setdefault(same[0] if same else key, []).extend(members)
        seen.append((same[0] if same else key, told))
    return joined


def _told(model: LinearGaussianModel, experiments: tuple[tuple[int, ...], ...]) -> FloatArray:
    """The experiments' matrices Σ q qᵀ over untargeted nodes, for variables of unit variance."""
    Q = scaled_columns(model) * np.sqrt(model.covariance.diagonal())[:, None]
    free = [np.delete(Q, targets, axis=1) for targets in experiments]
    return np.array([each @ each.T for each in free])


def _with_rows(
    candidate: Candidate,
    classes: Sequence[Sequence[Member]],
    found: Listed,
    max_truths: int,
    confidence: float,
    n: int | None,
) -> Candidate:
    """Add the rows for the worst and the typical true graph, or its wins with n rows, if known."""
    if not found.has_model or len(classes) < 2:
        return replace(candidate, wins=float("nan") if n is None else 1.0)
    targets = as_targets(candidate.targets, classes[0][0].graph)
    # Members of a class generate the same tables, so one of them represents all.
    ordered = sorted(classes, key=lambda members: -sum(m.times for m in members))
    rivals = [Rival(members[0].graph, members[0].models) for members in ordered]
    races = [
        (truth.models[0], [rival for rival in rivals if rival is not truth], targets)
        for truth in rivals[:max_truths]
    ]
    if n is not None:
        shares = [wins_with(n, *each, found.n_observed) for each in races]
        return replace(candidate, wins=float(np.mean(shares)))
    needed = [
        rows_to_settle(*each, n_observed=found.n_observed, confidence=confidence) for each in races
    ]
    needed = [rows for rows in needed if not np.isnan(rows)]
    if not needed:
        return candidate
    return replace(candidate, rows=max(needed), rows_typical=float(np.median(needed)))

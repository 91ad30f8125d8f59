"""Random parameters on a graph: the generator of the paper's experiments."""

from __future__ import annotations

import numpy as np

from cyclearn.data.input_checks import checked_range, whole_number
from cyclearn.foundation import InputError, LimitError, check_deadline, deadline_after
from cyclearn.foundation.arguments import seconds
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.models.linear_gaussian import LinearGaussianModel


@checks_names
def random_model(
    graph: DirectedGraph,
    *,
    weights: tuple[float, float] = (0.2, 0.8),
    variances: tuple[float, float] = (1.0, 3.0),
    stable: bool = True,
    max_draws: int = 10_000,
    time_limit: float | None = None,
    random_state: RandomState = None,
) -> LinearGaussianModel:
    """Draw weights, in absolute value uniform on ``weights``, and noise variances.

    Signs are random, and noise variances uniform on ``variances``.

    With ``stable``, a draw (signs included) is repeated until every eigenvalue of B has modulus
    below one. The eigenvalues are those of the strongly connected components, and components
    are drawn independently, so each is repeated on its own: the distribution is that of
    repeating the whole draw, at a fraction of the draws.

    Parameters
    ----------
    graph : DirectedGraph
    weights, variances : pair of float
        Range of the absolute weights and range of the noise variances.
    stable : bool
        Accept only stable models.
    max_draws : int
        Limit on the draws of one component.
    time_limit : float, optional
        Limit in seconds.
    random_state : int, Generator, RandomState or None

    Raises
    ------
    LimitError
        If a component has no stable draw among ``max_draws``, or within the time limit.

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "a")])
    >>> random_model(g, random_state=0).is_stable
    True
    """
    graph = as_graph(graph)
    for what, given, least in (("weights", weights, 0.0), ("variances", variances, 1e-300)):
        low, high = checked_range(what, given)
        if not (np.isfinite([low, high]).all() and least <= low <= high):
            raise InputError(
                f"{what}=({low}, {high}): give a range (low, high), low not above high and "
                + ("not negative" if what == "weights" else "positive")
            )
    whole_number("max_draws", max_draws, 1)
    deadline = deadline_after(seconds("time_limit", time_limit))
    rng = generator(random_state)
    B = np.zeros((graph.n_nodes, graph.n_nodes))
    for nodes in graph.component_indices:
        into = np.array(nodes)
        mask = graph.adjacency[:, into]
        for _ in range(max_draws):
            check_deadline(deadline)
            signs = rng.choice([-1.0, 1.0], size=mask.sum())
            B[np.nonzero(mask)[0], into[np.nonzero(mask)[1]]] = signs * rng.uniform(
                *weights, size=mask.sum()
            )
            block = B[np.ix_(nodes, nodes)]
            if not stable or len(nodes) == 1 or np.abs(np.linalg.eigvals(block)).max() < 1:
                break
        else:
            raise LimitError(
                f"none of {max_draws} draws was stable on the component "
                f"{{{', '.join(graph.names[v] for v in nodes[:10])}}} with weights in "
                f"±[{weights[0]}, {weights[1]}]; use smaller weights, raise max_draws, or pass "
                "stable=False"
            )
    return LinearGaussianModel(B, rng.uniform(*variances, size=graph.n_nodes), graph.names)

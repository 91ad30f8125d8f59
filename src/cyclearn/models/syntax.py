"""A fitted model in the languages of other programs: lavaan and dagitty."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclearn.readable import significant

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel

# Words that lavaan's parser takes for its own.
_RESERVED = {"start", "equal", "prior", "lower", "upper", "rv", "c", "NA", "TRUE", "FALSE", "if"}


def lavaan_syntax(fitted: FittedModel) -> str:
    """The same model for lavaan, with the estimates as starting values.

    Exactly the equations of the graph: no covariances among causes or noises, which ``sem`` would
    add, so that ``lavaan(model, data, fixed.x = FALSE)`` has the same likelihood. Names that
    lavaan cannot read are changed, and a comment says how. Variables of the past are given:
    ``fixed.x = TRUE``, without variances.

    Examples
    --------
    >>> from cyclearn import DirectedGraph, Moments, fit
    >>> chain = DirectedGraph.from_edges([("a", "b c")])
    >>> print(lavaan_syntax(fit(chain, Moments([[1, 0.5], [0.5, 1]], 100, names=["a", "b c"]))))
    # fit <- lavaan::lavaan(model, data, fixed.x = FALSE)
    # "b c" is called b_c
    b_c ~ start(0.500)*a
    a ~~ start(1.00)*a
    b_c ~~ start(0.750)*b_c
    <BLANKLINE>
    """
    graph = fitted.graph
    words = lavaan_names(graph.names)
    fixed = "TRUE" if fitted.past else "FALSE"
    lines = [f"# fit <- lavaan::lavaan(model, data, fixed.x = {fixed})"]
    for name, word in zip(graph.names, words, strict=True):
        if name != word:
            lines.append(f'# "{" ".join(name.split())}" is called {word}')
    for j, word in enumerate(words):
        causes = [i for i in range(len(words)) if graph.adjacency[i, j]]
        if causes:
            terms = [f"start({significant(float(fitted.B[i, j]))})*{words[i]}" for i in causes]
            lines.append(f"{word} ~ {' + '.join(terms)}")
    lines += [
        f"{word} ~~ start({significant(float(variance))})*{word}"
        for name, word, variance in zip(graph.names, words, fitted.noise_variances, strict=True)
        if name not in fitted.past
    ]
    return "\n".join(lines) + "\n"


def lavaan_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that lavaan can read, each different; those that are so already stay.

    Examples
    --------
    >>> lavaan_names(("price", "x 1", "x.1", "1st", "x_1"))
    ('price', 'x_1_2', 'x.1', 'v1st', 'x_1')
    """
    taken = {name for name in names if _is_word(name)}
    words = []
    for name in names:
        if not _is_word(name):
            base = re.sub(r"[^A-Za-z0-9._]", "_", name)
            base = base if re.match(r"[A-Za-z]", base) and base not in _RESERVED else f"v{base}"
            name, number = base, 1
            while name in taken:
                number += 1
                name = f"{base}_{number}"
            taken.add(name)
        words.append(name)
    return tuple(words)


def _is_word(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9._]*", name) is not None and name not in _RESERVED


def dagitty_syntax(fitted: FittedModel) -> str:
    """The graph for dagitty, with standardised weights as its ``beta``.

    ``dag`` without feedback, ``digraph`` with it: dagitty knows no other graphs with cycles.

    Examples
    --------
    >>> from cyclearn import DirectedGraph, Moments, fit
    >>> chain = DirectedGraph.from_edges([("a", "b")])
    >>> print(dagitty_syntax(fit(chain, Moments([[1, 0.5], [0.5, 1]], 100, names=["a", "b"]))))
    dag {
    "a"
    "b"
    "a" -> "b" [beta=0.500]
    }
    <BLANKLINE>
    """
    graph, weights = fitted.graph, fitted.standardised_weights
    # dagitty has no escape for a quotation mark.
    words = ['"' + " ".join(name.replace('"', "'").split()) + '"' for name in graph.names]
    lines = ["dag {" if graph.is_acyclic else "digraph {", *words]
    for a, b in graph.edges:
        i, j = graph.index(a), graph.index(b)
        lines.append(f"{words[i]} -> {words[j]} [beta={significant(float(weights[i, j]))}]")
    return "\n".join([*lines, "}"]) + "\n"

"""A fitted model in the languages of other programs: lavaan and dagitty."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from cyclearn.foundation.readable import significant

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel

# Reserved words of lavaan's parser and of R.
_RESERVED = {"start", "equal", "prior", "lower", "upper", "rv", "label", "efa", "c"} | {
    *("if", "else", "repeat", "while", "function", "for", "next", "break", "in"),
    *("TRUE", "FALSE", "NULL", "Inf", "NaN", "NA"),
    *("NA_integer_", "NA_real_", "NA_complex_", "NA_character_"),
}


def lavaan_syntax(fitted: FittedModel) -> str:
    """The same model for lavaan, with the estimates as starting values.

    Exactly the equations of the graph: no covariances among causes or noises, which ``sem`` would
    add, so that ``lavaan(model, data, fixed.x = FALSE)`` has the same likelihood. Names that
    lavaan cannot read are changed, and a comment says how. With exogenous variables it is ``fixed.x
    = TRUE``, and these have no variances; with ordinal variables, the model is fitted to lavaan's
    polychoric correlations. The same line names weights, subjects and robust errors.

    Examples
    --------
    >>> from cyclearn import DirectedGraph, Moments, fit
    >>> chain = DirectedGraph.from_edges([("a", "b c")])
    >>> print(lavaan_syntax(fit(chain, Moments([[1, 0.5], [0.5, 1]], 100, names=["a", "b c"]))))
    # fit with lavaan(model, data, fixed.x = FALSE)
    # "b c" is called b_c
    b_c ~ start(0.500)*a
    a ~~ start(1.00)*a
    b_c ~~ start(0.750)*b_c
    <BLANKLINE>
    """
    graph = fitted.graph
    words = lavaan_names(graph.names)
    fixed = "TRUE" if fitted.exogenous else "FALSE"
    # Rows with weights or subjects are counted by them, unless they resemble each other.
    own = {"weights": "data, sampling.weights = COLUMN", "subjects": "data less subject means"}
    data = own.get(fitted.counting, "data")
    if fitted.sandwich is not None:
        data += ', estimator = "MLR"'
    if fitted.ordered:
        listed = ", ".join(f'"{words[graph.index(name)]}"' for name in fitted.ordered)
        data = (
            f'sample.cov = lavCor(data, ordered = c({listed}), output = "cov"), '
            f"sample.nobs = {fitted.n_samples}, sample.cov.rescale = FALSE"
        )
    # lavaan reads comment lines (readLines) as equations if they contain operators, and text
    # between quotation marks as a word.
    lines = [f"# fit with lavaan(model, {data}, fixed.x = {fixed})"]
    for name, word in zip(graph.names, words, strict=True):
        if name != word:
            quoted = " ".join(name.replace('"', "'").split())
            lines.append(f'# "{quoted}" is called {word}')
    for j, word in enumerate(words):
        causes = [i for i in range(len(words)) if graph.adjacency[i, j]]
        if causes:
            terms = [f"start({significant(float(fitted.B[i, j]))})*{words[i]}" for i in causes]
            lines.append(f"{word} ~ {' + '.join(terms)}")
    lines += [
        f"{word} ~~ start({significant(float(variance))})*{word}"
        for name, word, variance in zip(graph.names, words, fitted.noise_variances, strict=True)
        if name not in fitted.exogenous
    ]
    return "\n".join(lines) + "\n"


def lavaan_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Distinct names that lavaan can read; valid names are kept.

    Examples
    --------
    >>> lavaan_names(("price", "x 1", "x.1", "1st", "x_1"))
    ('price', 'x_1_2', 'x.1', 'v1st', 'x_1')
    """
    return _all_different(names, _lavaan_name)


def _lavaan_name(name: str) -> str:
    word = re.sub(r"[^A-Za-z0-9._]", "_", name)
    return word if re.match(r"[A-Za-z]", word) and word not in _RESERVED else f"v{word}"


def _all_different(names: tuple[str, ...], spell: Callable[[str], str]) -> tuple[str, ...]:
    """Names that another program can read; valid names are kept."""
    taken = {name for name in names if spell(name) == name}
    words = []
    for name in names:
        word = base = spell(name)
        number = 1
        while word != name and word in taken:
            number += 1
            word = f"{base}_{number}"
        taken.add(word)
        words.append(word)
    return tuple(words)


def dagitty_syntax(fitted: FittedModel) -> str:
    """The graph for dagitty, with standardised weights as its ``beta``.

    ``dag`` without feedback, ``digraph`` with it: dagitty has no other type of graph with cycles.
    Characters that its language does not allow are replaced in names, and names that would then
    coincide are made distinct.

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
    words = [f'"{word}"' for word in _dagitty_names(graph.names)]
    lines = ["dag {" if graph.is_acyclic else "digraph {", *words]
    for a, b in graph.edges:
        i, j = graph.index(a), graph.index(b)
        # Quoted if there is an exponent, whose sign would end the number.
        beta = significant(float(weights[i, j]))
        beta = f'"{beta}"' if "e" in beta else beta
        lines.append(f"{words[i]} -> {words[j]} [beta={beta}]")
    return "\n".join([*lines, "}"]) + "\n"


def _dagitty_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names without quotation marks, backslashes and control characters, each different."""
    plain = str.maketrans({'"': "'", "\\": "/"})
    return _all_different(
        names,
        lambda name: "".join(filter(str.isprintable, " ".join(name.translate(plain).split()))),
    )

"""How a result was obtained, so that it can be reproduced."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version

from cyclearn.drawing.markup import Markup, folded, join, table, tag
from cyclearn.report.findings import Findings
from cyclearn.search import SearchOptions

# By name, because importing the package here would be circular.
VERSION: str = import_module("cyclearn").__version__


@dataclass(frozen=True)
class Source:
    """The source of the data, as far as known: a name, a digest, the command."""

    name: str | None = None
    digest: str | None = None
    command: str | None = None


def how_it_was_made(found: Findings, source: Source) -> Markup:
    """Version, data, options, seed, command, and how the search went."""
    packages = ", ".join(map(version, ("numpy", "scipy", "numba")))
    result = found.result
    agreeing, n_starts = result.n_starts_agreeing
    n_resamples = 0 if result.bootstrap is None else len(result.bootstrap.resamples)
    facts: list[tuple[str, object]] = [
        ("cyclearn", VERSION),
        ("numpy, scipy, numba", f"{packages}; Python {platform.python_version()}"),
        ("data", source.name or "a table in memory"),
        ("rows and variables", f"{result.tables.n_samples:,} and {found.graph.n_nodes:,}"),
        ("search ended", result.status.value),
        ("penalty per edge", f"{result.penalty:.4f}"),
    ]
    if n_starts:
        facts.append(("starts that reached this score", f"{agreeing} of {n_starts}"))
    if result.groups:
        facts.insert(4, ("groups", ", ".join(result.groups)))
    if source.digest:
        facts.insert(3, ("SHA-256 of the data file", tag("code", source.digest)))
    if result.limits:
        facts.append(("limits reached", ", ".join(result.limits)))
    if result.bootstrap is not None:
        drawn = result.bootstrap
        seed = drawn.options.get("seed")
        facts.append(("resamples", f"{n_resamples:,}, drawn by {drawn.resampling!r}, seed {seed}"))
    if result.certificate is not None:
        facts.append(("certificate", result.certificate.explain()))
    options = [(key, "–" if v is None else str(v)) for key, v in result.options.to_dict().items()]
    parts = [table("The run", ("what", "value"), facts)]
    if source.command:
        parts += [tag("h3", "The command"), tag("pre", source.command, tabindex="0")]
    parts += [
        tag("h3", "The same in Python"),
        tag("pre", call(result.options, n_resamples), tabindex="0"),
        folded("All options", table("Options of the search", ("option", "value"), options)),
        tag(
            "p",
            "The same data, options and version give the same graph"
            + (
                ", except that this search had a time limit."
                if result.options.time_limit is not None
                else ", whatever the number of processes."
            ),
        ),
    ]
    return join(parts)


def call(options: SearchOptions, n_resamples: int = 0) -> str:
    """The call of ``learn`` that reproduces the result.

    Examples
    --------
    >>> print(call(SearchOptions(max_parents=3), n_resamples=100))
    import cyclearn as cl
    <BLANKLINE>
    result = cl.learn(data, max_parents=3, bootstrap=100)
    """
    more = {"bootstrap": n_resamples} if n_resamples else {}
    return f"import cyclearn as cl\n\nresult = {options.call('learn', 'data', **more)}"

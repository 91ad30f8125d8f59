"""How probable edges are, given the data: a posterior or a bootstrap beside a result, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cyclearn.foundation.errors import InputError
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.results.bootstrap_result import BootstrapResult

if TYPE_CHECKING:
    from cyclearn.results.result import LearnResult

# An edge that is this probable, or came out this often, is counted in the headline.
OFTEN = 0.9


def with_evidence(
    result: LearnResult,
    *,
    bootstrap: BootstrapResult | None = None,
    posterior: Posterior | None = None,
) -> LearnResult:
    """The result with a finished bootstrap or posterior of the same variables beside it."""
    for what, kind, found in (
        ("bootstrap", BootstrapResult, bootstrap),
        ("posterior", Posterior, posterior),
    ):
        if found is None:
            continue
        if not isinstance(found, kind):
            raise InputError(
                f"{what} is a {type(found).__name__}; give what cyclearn.{what} returned"
            )
        if set(found.names) != set(result.graph.names):
            other = sorted(set(found.names) ^ set(result.graph.names))[0]
            raise InputError(
                f"the {what} is about other variables than the result ({other!r} is in one of "
                "them only); give that of the same table"
            )
    return replace(
        result,
        bootstrap=bootstrap or result.bootstrap,
        posterior=posterior or result.posterior,
    )


def evidence_in_words(result: LearnResult) -> str:
    """What stands beside the edges about their probability, or how to have it."""
    rows = [row for row in result.edge_rows if row.in_graph]
    parts = []
    if result.posterior is not None:
        likely = sum(row.probability is not None and row.probability >= OFTEN for row in rows)
        parts.append(
            f"Given these data, {likely} of {len(rows)} edges have a probability of at least "
            f"{OFTEN:g}."
        )
    if result.bootstrap is not None:
        often = sum(row.resamples is not None and row.resamples >= OFTEN for row in rows)
        parts.append(
            f"{often} of {len(rows)} edges came out of at least {OFTEN:.0%} of "
            f"{result.bootstrap.n_resamples:,} resamples."
        )
    # A posterior takes observed tables.
    ask = "the posterior" if result.experiments is None else "a bootstrap"
    return " ".join(parts) or (
        f"How probable an edge is, given these data, is another question: ask for {ask}."
    )

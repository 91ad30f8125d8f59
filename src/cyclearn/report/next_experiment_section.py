"""The experiments that distinguish the graphs that fit equally well."""

from __future__ import annotations

import numpy as np

from cyclearn.drawing.markup import Markup, fill, number, table, tag
from cyclearn.report.findings import Findings
from cyclearn.results.next_experiment import next_experiment
from cyclearn.results.next_experiment_result import NextExperiment, settled_in_words

_MAX_TARGETS = 20
_MAX_MEMBERS = 30
# A report should take no more than a second after a search.
_MAX_TRUTHS = 2
_MAX_PREDICTED = 2
# With more variables, comparing experiments takes minutes.
_MAX_VARIABLES = 50


def next_experiment_section(found: Findings) -> Markup:
    """Candidate experiments on the variables about whose causes the open graphs disagree."""
    listed = found.listing.found
    open_graphs = [member.graph for member in listed.members if member.is_stable]
    names = found.graph.names
    varying = [
        names[j] for j in range(len(names)) if len({graph.columns[j] for graph in open_graphs}) > 1
    ]
    if len(varying) == 0 or len(names) < 2:
        if listed.selection != "all":
            return tag("p", "The listed graphs do not differ, because too few were listed.")
        n_unstable = sum(member.times for member in listed.members if not member.is_stable)
        return tag("p", settled_in_words(n_unstable))
    if len(names) > _MAX_VARIABLES:
        return fill(
            "<p>The remaining graphs disagree about the causes of $varying of $all variables. "
            "Comparing experiments takes a while with this many variables; "
            "<code>cl.next_experiment(result, targets=[...])</code> does so for the experiments "
            "that are feasible.</p>",
            varying=len(varying),
            all=len(names),
        )
    advice = next_experiment(
        found.result,
        varying[:_MAX_TARGETS],
        max_members=_MAX_MEMBERS,
        max_truths=_MAX_TRUTHS,
        max_predicted=_MAX_PREDICTED,
    )
    return fill(
        "<p>Interventions distinguish graphs that observational data cannot. $advice</p>$table<p "
        'class="note">Graphs left: the mean and the maximum number of graphs that remain. Rows: '
        "the size of the new table at which the true graph has the best likelihood in $share of "
        "repeats, if the variable is set to random values with its present variance; predicted "
        "for the first experiments only. Probability left: the posterior probability of the "
        "graphs that remain. For experiments on several variables: "
        "<code>cl.next_experiment(result, size=2)</code>.</p>",
        advice=advice.in_words(),
        table=_table(advice),
        share=f"{advice.confidence:.0%}",
    )


def _table(advice: NextExperiment) -> Markup:
    rows = [
        (
            " and ".join(c.targets),
            f"{c.n_classes}",
            number(c.expected_left),
            f"{c.largest_left}",
            *(f"{n:,.0f}" if np.isfinite(n) else "–" for n in list(c.numbers().values())[3:5]),
            *(f"{share:.0%}" for share in [c.probability_left] if np.isfinite(share)),
        )
        for c in advice.candidates
    ]
    columns = ("targets", "classes distinguished", "graphs left on average", "at most", "rows")
    shown = (*columns, "rows, typically", "probability left")[: len(rows[0])]
    caption = "What an intervention on one variable would show"
    return table(caption, shown, rows)

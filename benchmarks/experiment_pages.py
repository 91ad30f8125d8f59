"""Pages and figures of finished experiments, from their results files.

python benchmarks/experiment_pages.py RESULTS.jsonl ... writes benchmarks/results/STUDY.md and, for
studies with figures, benchmarks/results/figures/STUDY.svg and .png. Files of one study, such as
`paper` runs of several sizes, go into one page.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import pandas as pd

from cyclearn.experiments import ResultsFile
from cyclearn.experiments.figures import write_figures
from cyclearn.experiments.result_tables import groups, markdown_table, pooled, result_table, share

RESULTS = Path(__file__).parent / "results"
TITLES = {
    "paper": "The paper's experiments",
    "sample-size": "The effect of the sample size",
    "consistency": "Consistency of the l0 score",
    "virtual-edges": "The virtual-edge operator on the supplement's two examples",
    "hippocampus": "Hippocampus: the anatomical graph and six subjects",
    "feedback": "Networks with feedback",
}
SUCCESS = """\
Every output is projected onto all domains of its true graph; its *success* rate is the share of
domains with a KL divergence below η = p·10⁻³. *Distance* is the smallest structural Hamming
distance to a graph equivalent to the true one, exact unless marked. *Equivalent* means by
rotations. *At least the true score* means that the output scores no worse than the true graph,
which is all that a search can achieve. Success should be read together with the distance, because
a graph with too many edges generates more distributions. Intervals are Wilson's at 95%, with a
reduced effective number of outputs, because outputs for one true graph resemble each other.
"""
TEXTS = {
    "paper": """\
The random graphs come from the paper's generator. They are stable and have degree at most 4. Their
strongly connected components have at most 5, 5 and 10 nodes for p = 5, 20 and 50; weights are
uniform on ±[0.2, 0.8] and variances on [1, 3]. From each true graph, distributions (domains) are
drawn with 10,000 samples each, and a graph is learned from each of them. The methods are:

- *hill climbing and tabu search*, with the virtual-edge operator; tabu search has the paper's
  length (5 for p = 5, otherwise 10) and patience (5);
- *l1*, with the coefficient 0.1 and the threshold 0.05;
- *`auto`*, the default search with BIC, and *`default`*, the same search with its default penalty.

"""
    + SUCCESS,
    "sample-size": """\
The experiment is that of the paper for p = 5, with growing samples from the same distributions.
"""
    + SUCCESS,
    "consistency": """\
The exact method finds the globally best stable graph, with a certificate. It was run on random
graphs of four nodes, with one distribution each and samples of growing size from it. Theorem 3
says that the optimum becomes quasi equivalent to the truth, which means that both share a set of
distributions of positive measure; `cl.quasi_equivalent` decides this by proof or numerically. If
the learned graph has a better score than the truth, the sample prefers it, so an error is not due
to the search.
""",
    "virtual-edges": """\
For each example, parameters are drawn repeatedly and tabu search starts from the empty graph,
with n = 10,000. *Equivalent* means that the output is in the class of the true graph. *At least
the true score* is all that a search can achieve: in the draws that reach it without being
equivalent, another class scores better. The last two columns show what the paper and its code
report. Intervals are Wilson's at 95%.
""",
    "hippocampus": """\
The paper examines for one resting-state series whether the eight structures that are equivalent
to the anatomical graph (PRC → ERC, PHC → ERC, ERC → CA3, ERC → CA1, CA3 → CA1, CA1 → Sub, Sub →
ERC) are local optima of the score, and finds that two are. That series is not available. The data
used here are the same regions, in the left hemisphere, of six subjects of another study (Shah et
al. 2018), so this page answers the question for other data and does not reproduce the paper's
number. The score is the negative log-likelihood plus ½ log n per edge. The best score found is
that of 40 starts of the default search and of hill climbing from each of the eight structures. A
structure is a local optimum if no move of the search (adding, removing or reversing an edge, or
the virtual-edge operator) improves on its own best fit from 100 starts.
""",
    "feedback": """\
The data come from simulated fMRI-like networks with feedback (Sanchez-Romero et al. 2019), with
500 rows per data set.
""",
}


def command(file: ResultsFile) -> str:
    """The command that makes the results, from the configuration."""
    configuration = dict(file.configuration)
    words = ["cyclearn experiment", configuration.pop("study")]
    if "data" in configuration:
        words.append("--data DIR")
    for name in ("cyclearn", "data", "networks"):
        configuration.pop(name, None)
    n_instances = file.table().groupby("setting")["instance"].nunique().max()
    for name, value in configuration.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        words.append(f"--{name} {json.dumps(text) if ' ' in text else text}")
    if file.configuration["study"] not in ("hippocampus", "feedback"):
        words.append(f"--instances {n_instances}")
    return " ".join(words)


def environment(file: ResultsFile) -> str:
    found = file.environment
    return (
        f"{found['date']}, cyclearn {found['cyclearn']}, Python {found['python']}, numpy "
        f"{found['numpy']}, {found['system']}, {found['cores']} cores; "
        f"{file.total_seconds() / 60:.1f} minutes on one core, with other work on the machine."
    )


def statements(files: list[ResultsFile]) -> str:
    """The paper's statements beside what was found."""
    frame = pd.concat([file.table() for file in files], ignore_index=True)
    lines = ["## Comparison with the paper's statements\n"]
    quarters = [
        [method, str(share((part["success"] > 0.25).tolist(), part["instance"].tolist()))]
        for _, method, part in groups(frame[frame["setting"].str.startswith("p=20,")])
    ]
    if quarters:
        lines.append(
            "*“For p = 20, 80% of the outputs could generate more than 25% of the distributions "
            "generated by their corresponding ground truth.”* Here:\n"
        )
        lines.append(markdown_table(["method", "outputs that generate more than 25%"], quarters))
    lines.append(
        "*“While the SHD evaluation shows that the outputs are not always distribution "
        "equivalent, the multi-domain evaluation provides evidence that many are quasi "
        "equivalent to the ground truth.”* The table shows the number of outputs that are not "
        "equivalent to the true graph, the share of these that generate more than a "
        "quarter of its domains, and the share that generate all:\n"
    )
    rows = []
    for setting, method, part in groups(frame):
        others = part[~part["equivalent"].astype(bool)]
        found = ["", ""]
        if len(others):
            from_one = others["instance"].tolist()
            found = [
                str(share((others["success"] > 0.25).tolist(), from_one)),
                str(share((others["success"] == 1).tolist(), from_one)),
            ]
        rows.append([setting, method, str(len(others)), *found])
    lines.append(
        markdown_table(
            ["setting", "method", "not equivalent", "more than a quarter", "all domains"], rows
        )
    )
    lines.append(
        "Not every failure is due to the search: if an output that generates at most a quarter "
        "scores at least as well as the true graph, the sample itself prefers it. The table shows "
        "the share of these, and the share of failures with fewer edges than the true graph:\n"
    )
    rows = []
    for setting, method, part in groups(frame[frame["reached"].notna()]):
        missed = part[part["success"] <= 0.25]
        if len(missed):
            preferred = share(missed["reached"].astype(bool).tolist(), missed["instance"].tolist())
            fewer = float((missed["n_edges"] < missed["n_true_edges"]).mean())
            rows.append([setting, method, str(len(missed)), str(preferred), f"{fewer:.0%}"])
    lines.append(
        markdown_table(
            ["setting", "method", "failures", "score at least the true one", "fewer edges"], rows
        )
    )
    lines.append(
        "A success does not prove quasi equivalence: η grows with p, and an edge of "
        "weight 0.2 can contribute less than η, so that a graph without it counts as a "
        "success for p = 20 and 50.\n"
    )
    return "\n".join(lines) + "\n"


def time_table(results: list[ResultsFile]) -> str:
    """Seconds to learn one graph, which differ from run to run."""
    frame = pooled(results, timings=True)
    return markdown_table(
        ["setting", "method", "median s", "slowest s", "all, minutes"],
        [
            [
                setting,
                method,
                f"{part['seconds'].median():.3f}",
                f"{part['seconds'].max():.2f}",
                f"{part['seconds'].sum() / 60:.1f}",
            ]
            for setting, method, part in groups(frame)
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+", type=Path)
    arguments = parser.parse_args()
    studies: dict[str, list[ResultsFile]] = {}
    for path in arguments.results:
        file = ResultsFile(path)
        studies.setdefault(file.configuration["study"], []).append(file)
    for study, files in studies.items():
        text = [f"# {TITLES[study]}\n"]
        text += [f"`{command(file)}`, {environment(file)}\n" for file in files]
        text.append(TEXTS[study])
        with tempfile.TemporaryDirectory() as folder:
            for path in write_figures(files, folder):
                if path.suffix != ".md":
                    (RESULTS / "figures").mkdir(exist_ok=True)
                    shutil.copy(path, RESULTS / "figures" / path.name)
                if path.suffix == ".svg":
                    text.append(f"![{TITLES[study]}](figures/{path.name})\n")
        text.append(result_table(files))
        if study in ("paper", "sample-size"):
            if study == "paper":
                text.append(statements(files))
            text.append(
                "## Times\n\nThe table shows seconds to learn one graph, on a busy machine.\n"
            )
            text.append(time_table(files))
        page = RESULTS / f"{study.replace('-', '_')}.md"
        page.write_text("\n".join(text), encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()

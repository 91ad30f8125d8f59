"""Knockouts and knockdowns of gene networks (DREAM4): edges ranked by posterior probability.

python benchmarks/dream4.py --data DIR > benchmarks/results/dream4.md

DIR/dream4 holds, for every network, a row for the knockout and one for the knockdown of each gene,
multifactorial rows with ten genes, time series, whose first rows are the wild type, and the truth.
gies (PyPI) is compared with ten genes where it can be imported.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from environment import describe_run
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import average_precision_score, roc_auc_score

import cyclearn as cl

FloatArray = NDArray[np.float64]
# Rows of one time series; the first is before the perturbation.
SERIES = 21
MARGINS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "as they are": lambda rows: rows,
    "square roots": np.sqrt,
    "log(x + 0.1)": lambda rows: np.log(rows + 0.1),
}


@dataclass(frozen=True)
class Network:
    """Rows of one network, and its true edges."""

    knockouts: pd.DataFrame
    knockdowns: pd.DataFrame
    observed: pd.DataFrame
    wild: pd.DataFrame
    truth: NDArray[np.bool_]

    @classmethod
    def read(cls, folder: Path, size: int, number: int) -> Network:
        """The files of one network."""

        def table(name: str, header: int | None = 0) -> pd.DataFrame:
            (path,) = folder.glob(f"insilico_size{size}_{number}_{name}.tsv*")
            rows = pd.read_csv(path, sep="\t", header=header)
            return rows.rename(columns=lambda name: str(name).strip(' "'))

        knockouts, wild = table("knockouts"), table("timeseries").iloc[::SERIES]
        observed = wild
        if size == 10:
            observed = pd.concat([wild, table("multifactorial")])
        genes = list(knockouts.columns)
        truth = np.zeros((size, size), dtype=bool)
        for source, target, present in table("goldstandard", None).itertuples(index=False):
            truth[genes.index(source), genes.index(target)] = present
        return cls(knockouts, table("knockdowns"), observed, wild, truth)

    def quality(self, worth: FloatArray) -> tuple[float, float]:
        """Average precision and area under the ROC curve of a ranking of edges."""
        off = ~np.eye(len(worth), dtype=bool)
        known, ranked = self.truth[off], worth[off]
        return average_precision_score(known, ranked), roc_auc_score(known, ranked)

    @property
    def loops(self) -> list[tuple[str, ...]]:
        """The true feedback loops."""
        graph = cl.DirectedGraph(self.truth, tuple(self.knockouts.columns))
        return [each for each in graph.components if len(each) > 1]

    def probable(
        self, margins: str, *, knockdowns: str = "shift", **options: object
    ) -> cl.Posterior:
        """The posterior: knockouts are set, knockdowns shifted, other rows observed."""
        parts = [self.knockouts, self.knockdowns, self.observed]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cl.SamplingWarning)
            return cl.posterior(
                [MARGINS[margins](part) for part in parts],
                interventions=["rows", "rows", []],
                intervention_kind=["perfect", knockdowns, "perfect"],
                **options,
            )

    def evidence(self, margins: str) -> float:
        """The score of the best graph as a density of the expressions themselves; no truth enters.

        That of transformed values times the slope of the transformation, at the cells that are
        modelled.
        """
        parts = [self.knockouts, self.knockdowns, self.observed]
        found = cl.learn(
            [MARGINS[margins](part) for part in parts],
            interventions=["rows", "rows", []],
            intervention_kind=["perfect", "shift", "perfect"],
            n_starts=1,
        )
        slope = 0.0
        for number, part in enumerate(parts):
            X = part.to_numpy(float)
            free = ~np.eye(len(X), dtype=bool) if number < 2 else np.ones_like(X, dtype=bool)
            steps = MARGINS[margins](X[free] + 1e-6) - MARGINS[margins](X[free])
            slope += float(np.log(steps / 1e-6).sum())
        return found.score - slope

    def limits(self, margins: str) -> dict[str, str]:
        """What keeps edges from being seen: effects within the noise, and bent answers."""
        wild = self.wild.to_numpy(float)
        moved = np.abs(self.knockouts.to_numpy(float) - wild.mean(axis=0)) > 3 * wild.std(axis=0)
        off = ~np.eye(len(moved), dtype=bool)
        parts = [self.knockouts, self.knockdowns, self.observed]
        X = MARGINS[margins](pd.concat(parts)).to_numpy(float)
        p, far = len(moved), 0
        for j in range(p):
            free = np.flatnonzero(np.arange(len(X)) != j)
            design = np.column_stack([np.ones(len(free)), X[np.ix_(free, self.truth[:, j])]])
            left = X[free, j] - design @ np.linalg.lstsq(design, X[free, j], rcond=None)[0]
            far += int((np.abs(left[: p - 1]) > 3 * left.std()).sum())
        return {
            "knockouts of a true cause that move the gene": f"{moved[self.truth].mean():.0%}",
            "other knockouts that do": f"{moved[off & ~self.truth].mean():.0%}",
            "residuals beyond three standard deviations": f"{far / (p * (p - 1)):.1%}",
        }


def z_scores(network: Network) -> FloatArray:
    """How far the knockout of a gene moves the others, in standard deviations of each."""
    return _deviations(network.knockouts)


def both_z_scores(network: Network) -> FloatArray:
    """The mean of those of knockouts and knockdowns, in standard deviations over both."""
    p = len(network.knockouts)
    both = _deviations(pd.concat([network.knockouts, network.knockdowns]))
    return np.asarray((both[:p] + both[p:]) / 2)


def _deviations(rows: pd.DataFrame) -> FloatArray:
    X = rows.to_numpy(float)
    return np.asarray(np.abs(X - X.mean(axis=0)) / X.std(axis=0))


def forests(network: Network) -> FloatArray:
    """GENIE3: how much each gene matters in a random forest that predicts another."""
    parts = [network.knockouts, network.knockdowns, network.observed]
    rows = np.vstack([part.to_numpy(float) for part in parts])
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    p = rows.shape[1]
    n_trees = 1000 if p <= 10 else 100
    worth = np.zeros((p, p))
    for j in range(p):
        free = np.arange(len(rows)) != j
        others = np.arange(p) != j
        forest = RandomForestRegressor(n_trees, max_features="sqrt", random_state=0)
        forest.fit(rows[np.ix_(free, others)], rows[free, j])
        worth[others, j] = forest.feature_importances_
    return worth


def llc(network: Network) -> FloatArray:
    """LLC (Hyttinen, Eberhardt and Hoyer 2012) from the total effects that knockouts show."""
    change = network.knockouts.to_numpy(float) - network.wild.to_numpy(float).mean(axis=0)
    effects = change / change.diagonal()[:, None]
    p = len(effects)
    B = np.zeros((p, p))
    for j in range(p):
        others = np.arange(p) != j
        system = effects[np.ix_(others, others)]
        B[others, j] = np.linalg.lstsq(system, effects[others, j], rcond=None)[0]
    scale = network.knockouts.to_numpy(float).std(axis=0)
    return np.abs(B * scale[:, None] / scale)


def gies(network: Network) -> FloatArray:
    """Weights of the graph that GIES finds, halved where it leaves a direction open.

    It centres every table, after which a single row is zero. So each row is given as a deviation
    from the wild type, with its mirror image: centring then changes nothing, log-likelihoods are
    doubled, and so is the penalty. Knockdowns are taken for knockouts.
    """
    from gies import fit
    from gies.scores import GaussIntL0Pen
    from gies.utils import pdag_to_dag

    parts = [network.knockouts, network.knockdowns, network.observed]
    rows = [MARGINS["square roots"](part).to_numpy(float) for part in parts]
    rows = [
        part - MARGINS["square roots"](network.wild).to_numpy(float).mean(axis=0) for part in rows
    ]
    single = np.vstack(rows[:2])
    tables = [np.vstack([row, -row]) for row in (rows[2], *single[:, None])]
    p = len(rows[0])
    targets = [[], *([j] for j in range(p)), *([j] for j in range(p))]
    score = GaussIntL0Pen(tables, targets, lmbda=np.log(sum(map(len, rows))))
    found, _ = fit(score)
    dag = np.asarray(pdag_to_dag(found))
    scale = np.vstack(rows).std(axis=0)
    worth = np.abs(score._mle_full(dag)[0] * scale[:, None] / scale)
    return np.where((found != 0) & (found.T != 0), (worth + worth.T) / 2, worth)


RANKINGS: dict[str, Callable[[Network], FloatArray]] = {
    "z-scores of knockouts": z_scores,
    "z-scores of knockouts and knockdowns": both_z_scores,
    "forests as in GENIE3, all rows": forests,
    "LLC, knockouts and wild type": llc,
}


def loops_found(found: cl.Posterior, truth: NDArray[np.bool_]) -> dict[str, str]:
    """How well probabilities of being in one loop rank the pairs that are."""
    pairs = np.triu_indices(len(truth), 1)
    together = np.array([graph.in_one_component[pairs] for graph in found.graphs])
    shares = np.asarray(found.weights @ together)
    known = cl.DirectedGraph(truth).in_one_component[pairs]
    likely = shares >= 0.5
    return {
        "pairs of genes in one loop": f"{known.sum()} of {len(known)}",
        "pairs with a probability of this of 0.5 or more": f"{likely.sum()}",
        "of which true": f"{(known & likely).sum()}",
        "ranking of pairs by this probability": (
            f"{average_precision_score(known, shares):.2f}, {roc_auc_score(known, shares):.2f}"
        ),
    }


def rank(networks: dict[str, Network], margins: str, options: dict[str, object]) -> None:
    """A row for every ranking: quality in every network, and on average."""
    print("| edges ranked by | " + " | ".join(networks) + " | mean | s of CPU |")
    print("|---" * (len(networks) + 3) + "|")
    found: dict[str, cl.Posterior] = {}

    def probabilities(name: str) -> FloatArray:
        found[name] = networks[name].probable(margins, **options)
        return np.asarray(found[name].edges)

    rows = {"**posterior probability**": probabilities}
    for words, ranking in RANKINGS.items():
        rows[words] = lambda name, ranking=ranking: ranking(networks[name])  # type: ignore[misc]
    for words, ranking in rows.items():
        begun = process_time()
        reached = [networks[name].quality(ranking(name)) for name in networks]
        seconds = (process_time() - begun) / len(networks)
        cells = [f"{precision:.2f}, {area:.2f}" for precision, area in reached]
        mean = np.mean(reached, axis=0)
        means = f"{mean[0]:.2f}, {mean[1]:.2f}"
        print(f"| {words} | {' | '.join(cells)} | {means} | {seconds:.0f} |", flush=True)
    describe({name: facts(found[name], networks[name], margins) for name in found})


def describe(columns: dict[str, dict[str, str]]) -> None:
    """What was found in every network, and what its data allow."""
    print(
        "\n*Limits of the data*: a knockout moves a gene if this changes by more than three "
        "standard deviations of the wild type; knockouts of other genes do so through the genes "
        "between or by chance. The residuals in knockouts are those of a regression "
        "on the true causes; 0.3% of them would lie beyond three standard deviations if they were "
        "Gaussian. The ranking of pairs has its average precision and the area under its ROC "
        "curve.\n"
    )
    print("| | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
    for fact in next(iter(columns.values())):
        print(f"| {fact} | " + " | ".join(column[fact] for column in columns.values()) + " |")


def facts(found: cl.Posterior, network: Network, margins: str) -> dict[str, str]:
    """One column of that table."""
    likely = found.graph(0.5) if found.is_determined else cl.DirectedGraph(found.edges >= 0.5)
    loops = [
        _in_words(nodes) + f" ({found.loop_probability(nodes):.2f})" * found.is_determined
        for nodes in network.loops
    ]
    return {
        "R̂": f"{found.r_hat:.2f}" + ", the chains do not agree" * (not found.is_determined),
        "effective sample size": f"{found.effective_size:.0f}",
        "edges with a probability of 0.5 or more": f"{likely.n_edges}",
        "of them true": f"{(likely.adjacency & network.truth).sum()}",
        "true edges": f"{network.truth.sum()}",
        "true loops (probability that all are in one)": "; ".join(loops),
        **loops_found(found, network.truth),
        **network.limits(margins),
    }


def _in_words(genes: tuple[str, ...]) -> str:
    return f"{len(genes)} genes" if len(genes) > 10 else ", ".join(genes)


def compare_margins(networks: dict[str, Network], chosen: str) -> None:
    """What the data alone say about scales, and what each would have reached."""
    print(
        f"\n## The scale of the expressions\n\n{chosen.capitalize()}, used above, were chosen "
        "among three scales by the results on these networks, so the choice used the truth; "
        "networks of a hundred genes were not used. *Score* is the score of the best graph as "
        "a density of the expressions themselves, summed over the networks (smaller is "
        "better), which does not use the truth. The other columns show the average precision "
        "of the plain posterior (short chains), and its mean with knockdowns treated as "
        "knockouts:\n\n| scale | score | network by network | mean | mean, knockdowns as "
        "knockouts |\n|---|---|---|---|---|"
    )
    brief = {"robust": False, "effective_size": 100, "max_steps": 40_000}
    for margins in MARGINS:
        score = sum(network.evidence(margins) for network in networks.values())
        reached = [
            [
                each.quality(each.probable(margins, knockdowns=kind, **brief).edges)[0]
                for each in networks.values()
            ]
            for kind in ("shift", "perfect")
        ]
        cells = ", ".join(f"{each:.2f}" for each in reached[0])
        means = " | ".join(f"{np.mean(each):.2f}" for each in reached)
        print(f"| {margins} | {score:.1f} | {cells} | {means} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("CYCLEARN_DATA"))
    parser.add_argument("--margins", choices=tuple(MARGINS), default="square roots")
    parser.add_argument("--hundred", type=float, default=300.0, help="seconds with 100 genes")
    parser.add_argument("--parts", default="ten,scales,hundred")
    arguments = parser.parse_args()
    folder = Path(arguments.data) / "dream4"
    ten = {f"network {k}": Network.read(folder, 10, k) for k in (1, 2, 3)}
    print("# Knockout screens: DREAM4\n")
    print(describe_run("benchmarks/dream4.py --data DIR"))
    parts = arguments.parts.split(",")
    print(
        "Edges are ranked by their posterior probability alone. The data are one row for the "
        "knockout of each gene (a perfect intervention), one for each knockdown (a shift, "
        "which keeps causes and noise), and observed rows: the wild type (first rows of the "
        "time series) and multifactorial rows. Expressions are analysed as "
        f"{arguments.margins}. Each cell shows the average precision and the area under the ROC "
        "curve. GIES returns one penalised graph without a ranking, so that all edges outside "
        "it tie.\n"
    )
    if "ten" in parts:
        print("## Ten genes\n")
        with suppress(ImportError):
            import gies as _  # noqa: F401

            RANKINGS["GIES, all rows, square roots"] = gies
        rank(ten, arguments.margins, {"max_steps": 150_000, "effective_size": 100})
        RANKINGS.pop("GIES, all rows, square roots", None)
    if "scales" in parts:
        compare_margins(ten, arguments.margins)
    if "hundred" in parts:
        print("\n## A hundred genes\n")
        hundred = {f"network {k}": Network.read(folder, 100, k) for k in (1, 2)}
        rank(hundred, arguments.margins, {"robust": False, "time_limit": arguments.hundred})


if __name__ == "__main__":
    main()

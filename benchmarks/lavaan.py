"""Robust errors, tests, indirect effects and modification indices compared with lavaan.

    python benchmarks/lavaan.py > benchmarks/results/lavaan.md

R and its package lavaan must be there (Debian: r-cran-lavaan). Every row of the tables counts on
both sides.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from environment import describe_run

import cyclearn as cl
from cyclearn.data.latent_correlations import thresholds

# Edges that are fitted, edges of the truth that the fit leaves out, and a total effect as lavaan
# takes it. An edge is cause then effect, and its weight has the same name.
MODELS = {
    "two-cycle": ("ab cd bd db", "", "a d ab*bd/(1-bd*db)"),
    "three-cycle": ("ax by cz xy yz zx", "", "a z ax*xy*yz/(1-xy*yz*zx)"),
    "four-cycle with chord": (
        "aw wx xy yz zw wy zq",
        "",
        "a q aw*(wx*xy+wy)*yz*zq/(1-(wx*xy+wy)*yz*zw)",
    ),
    "nested loops": (
        "aw bx cz wx xw xy yz zw zq",
        "",
        "a q aw*wx*xy*yz*zq/(1-wx*xw-wx*xy*yz*zw)",
    ),
    "two loops in a row": (
        "ab bc cb cd de ed ef af ae",
        "",
        "a d (ab*bc*cd/(1-bc*cb)+ae*ed)/(1-de*ed)",
    ),
    "three-cycle, edges missing": ("ax xy yz zx", "by cz az", "a z ax*xy*yz/(1-xy*yz*zx)"),
    "acyclic": ("ab ac bd cd de ae", "", "a d ab*bd+ac*cd"),
    "survey weights": ("ab cd bd db", "", "a d ab*bd/(1-bd*db)"),
    "subject effects": ("ab cd bd db", "", "a d ab*bd/(1-bd*db)"),
    "missing cells": ("ax by cz xy yz zx", "", "a z ax*xy*yz/(1-xy*yz*zx)"),
}
# Edges, and where columns are cut; the others are numbers.
ORDINAL = {
    "ordinal, two-cycle": ("ab cd bd db", {"a": [0.2], "b": [-0.5, 0.5], "d": [-1, 0, 0.7]}),
    "ordinal, three-cycle": ("ax by cz xy yz zx", {v: [-0.7, 0.1, 0.8] for v in "abcxyz"}),
}
N_ROWS, N_SUBJECTS, SHARE_MISSING, N_ORDINAL = 600, 60, 0.1, 20_000

LAVAAN = r"""
suppressPackageStartupMessages({library(lavaan); library(jsonlite)})
folder <- commandArgs(trailingOnly = TRUE)[1]
long <- list(iter.max = 10000, eval.max = 20000)
ordinal <- function(case) {
  data <- read.csv(file.path(folder, case$file))
  names <- unlist(case$names)
  ordered <- unlist(case$ordered)
  pairs <- combn(names, 2)
  free <- paste(c(paste(pairs[1, ], "~~", pairs[2, ])), collapse = "\n")
  all <- sem(free, data = data[, names], ordered = ordered, estimator = "WLSMV")
  own <- lavNames(all, "ov")
  R <- lavInspect(all, "sampstat")$cov[names, names]
  # Influences on variances and covariances; ordinal columns have a variance of one.
  place <- matrix("", length(names), length(names), dimnames = list(own, own))
  for (i in own) for (j in own) place[i, j] <- paste(sort(c(i, j)), collapse = " ")
  numbers <- setdiff(own, ordered)
  labels <- c(diag(place[numbers, numbers, drop = FALSE]), lav_matrix_vech(place, diagonal = FALSE))
  G <- all@SampleStats@NACOV[[1]]
  G <- G[nrow(G) - rev(seq_along(labels)) + 1, nrow(G) - rev(seq_along(labels)) + 1]
  dimnames(G) <- list(labels, labels)
  S <- matrix(unlist(case$covariance), length(names), dimnames = list(names, names))
  fit <- suppressWarnings(lavaan(case$model, sample.cov = S, sample.nobs = case$n, fixed.x = FALSE,
                                 sample.cov.rescale = FALSE, likelihood = "normal",
                                 information = "observed", control = long))
  ov <- lavNames(fit, "ov")
  wanted <- lav_matrix_vech(place[ov, ov])
  Gamma <- matrix(0, length(wanted), length(wanted), dimnames = list(wanted, wanted))
  Gamma[labels, labels] <- G
  D <- lav_matrix_duplication(length(ov))
  K <- solve(fitted(fit)$cov[ov, ov])
  V <- 0.5 * t(D) %*% (K %x% K) %*% D
  delta <- lavInspect(fit, "delta")
  inverse <- solve(lavInspect(fit, "information.observed"))
  errors <- sqrt(diag(inverse %*% t(delta) %*% V %*% Gamma %*% V %*% delta %*% inverse) / case$n)
  table <- parameterEstimates(fit)
  table <- table[table$op != ":=", c("lhs", "op", "rhs", "est")]
  table$se <- as.numeric(errors)
  list(parameters = table, thresholds = as.list(lavInspect(all, "sampstat")$th), covariance = R)
}
one <- function(case) {
  if (!is.null(case$ordered)) return(ordinal(case))
  data <- read.csv(file.path(folder, case$file))
  names <- unlist(case$names)
  once <- function(...) suppressWarnings(lavaan(case$model, fixed.x = FALSE, control = long, ...))
  steepest <- function(fit) max(abs(lavInspect(fit, "gradient")))
  call <- function(...) {
    fitted <- once(...)
    for (restart in 1:10) {
      if (lavInspect(fitted, "converged") && steepest(fitted) < 1e-7) break
      again <- once(..., start = fitted)
      if (lavInspect(again, "converged") && steepest(again) < steepest(fitted)) fitted <- again
    }
    fitted
  }
  if (case$kind == "subject effects") {
    S <- crossprod(as.matrix(data[, names])) / case$n
    robust <- NULL
    plain <- call(sample.cov = S, sample.nobs = case$n, sample.cov.rescale = FALSE,
                  likelihood = "normal", information = "observed")
    scaled <- plain
  } else if (case$kind == "survey weights") {
    scaled <- robust <- call(data = data, estimator = "MLR", sampling.weights = "weight",
                             meanstructure = TRUE, int.ov.free = TRUE)
    plain <- NULL
  } else if (case$kind == "missing cells") {
    scaled <- robust <- call(data = data, estimator = "MLR", missing = "fiml", int.ov.free = TRUE,
                             em.h1.tol = 1e-12, em.h1.iter.max = 100000)
    plain <- NULL
  } else {
    robust <- call(data = data, estimator = "MLR")
    scaled <- call(data = data, estimator = "MLM")
    plain <- call(data = data)
  }
  shown <- if (is.null(robust)) plain else robust
  table <- parameterEstimates(shown)
  table <- table[table$op != "~1", c("lhs", "op", "rhs", "est", "se")]
  measures <- as.list(unclass(fitMeasures(scaled)))
  found <- list(parameters = table, measures = measures, r2 = as.list(lavInspect(shown, "r2")))
  if (!is.null(plain)) {
    pairs <- combn(sort(names), 2, paste, collapse = " ~~ ")
    left <- modindices(plain)
    found$indices <- left[left$op == "~", c("lhs", "rhs", "mi", "epc", "sepc.all")]
    found$pairs <- pairs
    test <- function(pair) tryCatch(
      lavTestScore(plain, add = pair)$test$X2, error = function(e) NaN, warning = function(w) NaN
    )
    found$correlated <- vapply(pairs, test, 0)
  }
  found
}
cases <- fromJSON(file.path(folder, "cases.json"), simplifyVector = FALSE)
versions <- list(lavaan = as.character(packageVersion("lavaan")), R = R.version$version.string)
write_json(list(versions = versions, cases = lapply(cases, one)),
           file.path(folder, "found.json"), digits = NA, na = "null", auto_unbox = TRUE)
"""


def simulated(name: str, seed: int) -> tuple[cl.DirectedGraph, pd.DataFrame, dict[str, Any]]:
    """The graph, a table with noises that are not Gaussian, and how it is read."""
    edges, more, _ = MODELS[name]
    graph = cl.DirectedGraph.from_edges([tuple(edge) for edge in edges.split()])
    truth = [tuple(edge) for edge in f"{edges} {more}".split()]
    whole = cl.DirectedGraph.from_edges(truth, sorted({node for edge in truth for node in edge}))
    graph = cl.DirectedGraph.from_edges(graph.edges, whole.names)
    model = cl.simulate.random_model(whole, random_state=seed)
    rng = np.random.default_rng(seed)
    noise = (rng.gamma(2.0, size=(N_ROWS, whole.n_nodes)) - 2) / np.sqrt(2)
    rows = noise * np.sqrt(model.noise_variances) @ np.linalg.inv(np.eye(whole.n_nodes) - model.B)
    table = pd.DataFrame(rows, columns=list(whole.names))
    if name == "survey weights":
        return graph, table.assign(weight=rng.uniform(0.2, 3, N_ROWS)), {"weights": "weight"}
    if name == "subject effects":
        subject = np.arange(N_ROWS) % N_SUBJECTS
        levels = 2 * rng.standard_normal((N_SUBJECTS, whole.n_nodes))
        return graph, (table + levels[subject]).assign(subject=subject), {"within": "subject"}
    if name == "missing cells":
        return graph, table.mask(rng.random(table.shape) < SHARE_MISSING), {"missing": "em"}
    return graph, table, {}


def case(name: str, graph: cl.DirectedGraph, table: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """The model in the words of lavaan, its table in a file."""
    lines = [f"{b} ~ {a}{b} * {a}" for a, b in graph.edges]
    lines += [f"{v} ~~ {v}" for v in graph.names]
    lines.append(f"total := {MODELS[name][2].split()[2]}")
    n = N_ROWS
    if name == "subject effects":
        own = table.drop(columns="subject")
        table, n = own - own.groupby(table["subject"]).transform("mean"), N_ROWS - N_SUBJECTS + 1
    file = f"{name}.csv"
    table.to_csv(folder / file, index=False, na_rep="NA")
    model = "\n".join(lines)
    return {"kind": name, "file": file, "model": model, "names": list(graph.names), "n": n}


def ordinal_case(
    name: str, seed: int, folder: Path
) -> tuple[cl.FittedModel, pd.DataFrame, dict[str, Any]]:
    """A fit to columns of which some are cut, these, and the same for lavaan."""
    edges, cuts = ORDINAL[name]
    graph = cl.DirectedGraph.from_edges([tuple(edge) for edge in edges.split()])
    rows = cl.simulate.random_model(graph, random_state=seed).sample(N_ORDINAL, random_state=seed)
    rows = rows / rows.std()
    table = rows.assign(**{v: np.digitize(rows[v], at) for v, at in cuts.items()})
    fitted = cl.fit(graph, table, ordered=list(cuts), n_effective="all")
    table.to_csv(folder / f"{name}.csv", index=False)
    lines = [f"{b} ~ {a}{b} * {a}" for a, b in graph.edges] + [f"{v} ~~ {v}" for v in graph.names]
    words = {"kind": name, "file": f"{name}.csv", "model": "\n".join(lines), "n": N_ORDINAL}
    S = fitted.moments.covariance.ravel().tolist()
    return fitted, table, words | {"names": graph.names, "ordered": list(cuts), "covariance": S}


def ordinal_differences(
    fitted: cl.FittedModel, table: pd.DataFrame, found: dict[str, Any]
) -> list[float]:
    """Largest differences: of thresholds, covariances, estimates and, relative ones, of errors."""
    cuts = [
        abs(thresholds(table[name].to_numpy(dtype=float))[int(number)] - value)
        for label, value in found["thresholds"].items()
        for name, number in [label.split("|t")]
    ]
    covariances = np.abs(fitted.moments.covariance - np.array(found["covariance"])).max()
    summary, estimates, errors = fitted.summary(), [], []
    for row in found["parameters"]:
        label = f"{row['rhs']} -> {row['lhs']}" if row["op"] == "~" else f"var({row['lhs']})"
        estimates.append(abs(summary.loc[label, "estimate"] - row["est"]))
        if summary.loc[label, "std_error"] > 0:
            errors.append(abs(summary.loc[label, "std_error"] / row["se"] - 1))
    return [max(cuts), covariances, max(estimates), max(errors)]


def differences(name: str, fitted: cl.FittedModel, found: dict[str, Any]) -> dict[str, float]:
    """The largest relative difference of each kind of number."""
    summary = fitted.summary()
    source, target, _ = MODELS[name][2].split()
    total = fitted.indirect_effects(source, target).loc["total"]
    measures, indices = found["measures"], fitted.fit_indices
    worst = dict.fromkeys(("estimates", "errors", "indirect", "chi-square", "R²", "indices"), 0.0)

    def add(kind: str, ours: float, theirs: float, unit: float = 0.0) -> None:
        worst[kind] = max(worst[kind], abs(ours - theirs) / max(abs(theirs), unit))

    for row in found["parameters"]:
        if row["op"] == ":=":
            add("indirect", total["estimate"], row["est"])
            add("indirect", total["std_error"], row["se"])
            continue
        label = f"{row['rhs']} -> {row['lhs']}" if row["op"] == "~" else f"var({row['lhs']})"
        add("estimates", summary.loc[label, "estimate"], row["est"])
        add("errors", summary.loc[label, "std_error"], row["se"])
    for variable, value in found["r2"].items():
        add("R²", fitted.r_squared[variable], value, 1e-2)
    if name == "survey weights":
        worst["chi-square"] = np.nan
    elif name == "subject effects":
        add("chi-square", indices.chi_square, measures["chisq"])
    else:
        add("chi-square", indices.chi_square, measures["chisq.scaled"])
        add("chi-square", indices.scaling, measures["chisq.scaling.factor"])
        if name != "missing cells":
            for own in ("rmsea", "cfi", "tli"):
                add("chi-square", getattr(indices, own), measures[f"{own}.robust"], 1e-2)
    compare_indices(fitted, found, add)
    if "indices" not in found:
        worst["indices"] = np.nan
    return worst


def compare_indices(fitted: cl.FittedModel, found: dict[str, Any], add: Any) -> None:
    """Modification indices; what other edges can imitate has none on one side or on both."""
    if "indices" not in found:
        return
    table = fitted.modification_indices().set_index(["change", "source", "target"])
    for row in found["indices"]:
        own = table.loc["add", row["rhs"], row["lhs"]]
        if np.isfinite(own["index"]) and own["index"] > 1e-3:
            add("indices", own["index"], row["mi"])
            add("indices", own["expected"], row["epc"])
            add("indices", own["standardised"], row["sepc.all"])
    for pair, value in zip(found["pairs"], found["correlated"], strict=True):
        own = table.loc[("correlate", *pair.split(" ~~ "))]
        if value is not None and np.isfinite(own["index"]) and own["index"] > 1e-3:
            add("indices", own["index"], value)


def main() -> None:
    """Print a table in Markdown."""
    cases, fits = [], {}
    ordinal: dict[str, Any] = {kind: [] for kind in ORDINAL}
    with TemporaryDirectory() as name:
        folder = Path(name)
        for seed, kind in enumerate(MODELS):
            graph, table, reading = simulated(kind, seed)
            se = "standard" if kind == "subject effects" else "robust"
            fits[kind] = cl.fit(graph, table, n_effective="all", se=se, **reading)
            cases.append(case(kind, graph, table, folder))
        for seed, kind in enumerate(ORDINAL):
            *ordinal[kind], words = ordinal_case(kind, seed, folder)
            cases.append(words)
        (folder / "cases.json").write_text(json.dumps(cases))
        (folder / "lavaan.R").write_text(LAVAAN)
        subprocess.run(["Rscript", folder / "lavaan.R", folder], check=True)
        found = json.loads((folder / "found.json").read_text())
    print("# Comparison with lavaan: robust errors, indirect effects, indices\n")
    print(describe_run("benchmarks/lavaan.py"))
    versions = found["versions"]
    print(
        f"The fits are compared with lavaan {versions['lavaan']} in {versions['R']}. The tables "
        f"have {N_ROWS} rows with gamma noise.\n"
    )
    kinds = ["estimates", "errors", "indirect", "chi-square", "R²", "indices"]
    print(f"| model | edges | {' | '.join(kinds)} |")
    print(f"|---|---:|{'---:|' * len(kinds)}")
    for kind, each in zip(MODELS, found["cases"], strict=False):
        worst = differences(kind, fits[kind], each)
        shown = ["–" if np.isnan(worst[k]) else f"{worst[k]:.0e}" for k in kinds]
        print(f"| {kind} | {fits[kind].graph.n_edges} | {' | '.join(shown)} |")
    print(
        "\nThe table shows the largest relative differences:\n\n"
        '- *Errors* are standard errors of `estimator = "MLR"`, the sandwich.\n'
        "- *Chi-square* includes its scaling factor and the robust RMSEA, CFI and TLI. lavaan's "
        'are those of `"MLM"`; with missing cells, the chi-square and its factor are those of '
        '`"MLR"`. With survey weights, lavaan reports another chi-square than that of Satorra '
        "and Bentler.\n"
        "- *Indirect* is a total effect through feedback with its error by the delta method.\n"
        "- *Indices* are those of added edges (with the expected change) and of correlated noise "
        "terms, where they are not zero.\n\n"
        "With subject effects, lavaan is given the covariance within subjects, and both programs "
        "assume Gaussian rows."
    )
    print(
        f"\n**Ordinal columns**, with {N_ORDINAL:,} rows. The table shows the largest differences "
        "of thresholds and latent covariances (`sampstat`) and of estimates from "
        "cyclearn's covariances, and the largest relative differences of standard errors. The "
        "latter are the sandwich estimator computed in R from lavaan's parts: the covariance of "
        "latent correlations (`NACOV`), the Jacobian and the observed information. For the "
        "information about latent correlations, lavaan uses mean squares of scores and "
        "cyclearn uses expected derivatives; the difference vanishes as the number of rows "
        "grows.\n"
    )
    print("| model | edges | ordinal | thresholds | covariances | estimates | errors |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for kind, each in zip(ORDINAL, found["cases"][len(MODELS) :], strict=True):
        fitted, table = ordinal[kind]
        cells = [f"{d:.0e}" for d in ordinal_differences(fitted, table, each)]
        sizes = [str(fitted.graph.n_edges), f"{len(fitted.ordered)} of {fitted.graph.n_nodes}"]
        print(f"| {kind} | {' | '.join([*sizes, *cells])} |")


if __name__ == "__main__":
    main()

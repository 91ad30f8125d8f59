# Maximum likelihood of every case by lavaan: Rscript lavaan_golden.R cases.json lavaan_golden.json
# (and correlated_cases.json lavaan_correlated.json).
#
# The model is spelled out for lavaan(), which adds nothing of its own: no covariances between
# variables without parents or without children, no fixed exogenous variables, no means. The
# covariances are already with the divisor n, so they are not rescaled. Noises of the "pairs" of a
# case, where it has any, correlate.

suppressPackageStartupMessages({
  library(lavaan)
  library(jsonlite)
})

arguments <- commandArgs(trailingOnly = TRUE)
cases <- fromJSON(arguments[1], simplifyVector = FALSE)

syntax <- function(names, edges, pairs) {
  all <- combn(names, 2)
  is_free <- paste(all[1, ], all[2, ]) %in% vapply(pairs, paste, "", collapse = " ")
  c(
    vapply(edges, function(edge) paste(edge[[2]], "~", edge[[1]]), ""),
    paste(names, "~~", names),
    paste0(all[1, ], " ~~ ", ifelse(is_free, "", "0*"), all[2, ])
  )
}

steepest <- function(fitted) max(abs(lavInspect(fitted, "gradient")))

golden <- function(case) {
  names <- unlist(case$names)
  p <- length(names)
  S <- matrix(unlist(case$covariance), p, p, byrow = TRUE, dimnames = list(names, names))
  fit_from <- function(start) {
    lavaan(
      paste(syntax(names, case$edges, case$pairs), collapse = "\n"),
      sample.cov = S, sample.nobs = case$n, sample.cov.rescale = FALSE,
      estimator = "ML", likelihood = "normal", meanstructure = FALSE, fixed.x = FALSE,
      se = "standard", information = "observed", start = start,
      control = list(iter.max = 10000, eval.max = 20000)
    )
  }
  # Smaller tolerances make nlminb report false convergence; starting again where it stopped,
  # with a fresh approximation of the Hessian, brings the gradient down instead.
  fitted <- suppressWarnings(fit_from("default"))
  for (restart in 1:10) {
    if (lavInspect(fitted, "converged") && steepest(fitted) < 1e-6) break
    again <- suppressWarnings(fit_from(fitted))
    if (lavInspect(again, "converged") && steepest(again) < steepest(fitted)) fitted <- again
  }
  converged <- lavInspect(fitted, "converged")
  table <- parTable(fitted)
  free <- table[table$free > 0, ]
  stopifnot(
    nrow(free) == length(case$edges) + length(case$pairs) + p,
    sum(free$op == "~~" & free$lhs != free$rhs) == length(case$pairs)
  )
  kept <- c(
    "npar", "logl", "unrestricted.logl", "aic", "bic", "chisq", "df", "pvalue",
    "baseline.chisq", "baseline.df", "rmsea", "cfi", "tli", "srmr"
  )
  measures <- if (converged) unclass(fitMeasures(fitted))[kept] else rep(NA_real_, length(kept))
  label <- ifelse(free$op == "~", paste(free$rhs, "->", free$lhs), paste0("var(", free$lhs, ")"))
  is_pair <- free$op == "~~" & free$lhs != free$rhs
  label[is_pair] <- paste(free$lhs, "<->", free$rhs)[is_pair]
  se <- if (is.null(free$se)) rep(NA_real_, nrow(free)) else free$se
  named <- function(values, keys) lapply(setNames(as.list(values), keys), unbox)
  list(
    name = unbox(case$name),
    converged = unbox(converged),
    largest_gradient = unbox(steepest(fitted)),
    implied = unclass(lavInspect(fitted, "cov.ov"))[names, names],
    measures = named(measures, kept),
    estimates = named(free$est, label),
    standard_errors = named(se, label)
  )
}

write_json(
  list(
    versions = list(
      R = unbox(paste(R.version$major, R.version$minor, sep = ".")),
      lavaan = unbox(as.character(packageVersion("lavaan"))),
      jsonlite = unbox(as.character(packageVersion("jsonlite")))
    ),
    cases = lapply(cases, golden)
  ),
  arguments[2],
  digits = NA, pretty = 1, na = "null", null = "null"
)

# Maximum likelihood with variables taken as given, by lavaan with fixed.x = TRUE:
# Rscript lavaan_exogenous.R exogenous_cases.json lavaan_exogenous.json
#
# The model is spelled out for lavaan(), which adds the covariances of exogenous variables alone.

suppressPackageStartupMessages({
  library(lavaan)
  library(jsonlite)
})

arguments <- commandArgs(trailingOnly = TRUE)
cases <- fromJSON(arguments[1], simplifyVector = FALSE)

golden <- function(case) {
  names <- unlist(case$names)
  own <- setdiff(names, unlist(case$exogenous))
  has_holes <- !is.null(case$rows)
  model <- c(
    vapply(case$edges, function(edge) paste(edge[[2]], "~", edge[[1]]), ""),
    paste(own, "~~", own),
    if (has_holes) paste(own, "~ 1")
  )
  p <- length(names)
  options <- list(
    paste(model, collapse = "\n"), estimator = "ML", fixed.x = TRUE, se = "standard",
    information = "observed", meanstructure = has_holes,
    control = list(iter.max = 10000, eval.max = 20000)
  )
  if (has_holes) {
    cells <- lapply(case$rows, function(row) vapply(row, function(x) if (is.null(x)) NA_real_ else x, 0))
    data <- as.data.frame(do.call(rbind, cells))
    colnames(data) <- names
    options <- c(options, list(data = data, missing = "fiml", em.h1.iter.max = 100000, em.h1.tol = 1e-10))
  } else {
    S <- matrix(unlist(case$covariance), p, p, byrow = TRUE, dimnames = list(names, names))
    options <- c(options, list(sample.cov = S, sample.nobs = case$n, sample.cov.rescale = FALSE, likelihood = "normal"))
  }
  fit_from <- function(start) suppressWarnings(do.call(lavaan, c(options, list(start = start))))
  steepest <- function(fitted) max(abs(lavInspect(fitted, "gradient")))
  fitted <- fit_from("default")
  for (restart in 1:10) {
    if (lavInspect(fitted, "converged") && steepest(fitted) < 1e-6) break
    again <- fit_from(fitted)
    if (lavInspect(again, "converged") && steepest(again) < steepest(fitted)) fitted <- again
  }
  table <- parTable(fitted)
  free <- table[table$free > 0 & table$op != "~1", ]
  label <- ifelse(free$op == "~", paste(free$rhs, "->", free$lhs), paste0("var(", free$lhs, ")"))
  kept <- c("logl", "unrestricted.logl", "chisq", "df", "pvalue", "baseline.chisq", "baseline.df",
            "rmsea", "cfi", "tli", if (!has_holes) c("npar", "aic", "bic", "srmr"))
  list(
    name = case$name,
    converged = lavInspect(fitted, "converged"),
    measures = as.list(unclass(fitMeasures(fitted))[kept]),
    estimates = as.list(setNames(free$est, label)),
    standard_errors = as.list(setNames(free$se, label)),
    r_squared = as.list(lavInspect(fitted, "r2")),
    implied = unclass(lavInspect(fitted, "cov.ov"))[names, names]
  )
}

result <- list(
  versions = list(
    R = paste(R.version$major, R.version$minor, sep = "."),
    lavaan = as.character(packageVersion("lavaan"))
  ),
  cases = lapply(cases, golden)
)
write(toJSON(result, auto_unbox = TRUE, digits = 15, pretty = 1), arguments[2])

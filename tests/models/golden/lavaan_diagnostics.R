# Modification indices, explained variances, residual correlations and standardised weights of
# every case by lavaan: Rscript lavaan_diagnostics.R cases.json lavaan_diagnostics.json
#
# The model is the one of lavaan_golden.R, with lavaan's default, the expected information.

suppressPackageStartupMessages({
  library(lavaan)
  library(jsonlite)
})

arguments <- commandArgs(trailingOnly = TRUE)
cases <- fromJSON(arguments[1], simplifyVector = FALSE)

syntax <- function(names, edges) {
  pairs <- combn(names, 2)
  c(
    vapply(edges, function(edge) paste(edge[[2]], "~", edge[[1]]), ""),
    paste(names, "~~", names),
    paste0(pairs[1, ], " ~~ 0*", pairs[2, ])
  )
}

steepest <- function(fitted) max(abs(lavInspect(fitted, "gradient")))

golden <- function(case) {
  names <- unlist(case$names)
  p <- length(names)
  S <- matrix(unlist(case$covariance), p, p, byrow = TRUE, dimnames = list(names, names))
  fit_from <- function(start) {
    lavaan(
      paste(syntax(names, case$edges), collapse = "\n"),
      sample.cov = S, sample.nobs = case$n, sample.cov.rescale = FALSE,
      estimator = "ML", likelihood = "normal", meanstructure = FALSE, fixed.x = FALSE,
      start = start, control = list(iter.max = 10000, eval.max = 20000)
    )
  }
  fitted <- suppressWarnings(fit_from("default"))
  for (restart in 1:10) {
    if (lavInspect(fitted, "converged") && steepest(fitted) < 1e-6) break
    again <- suppressWarnings(fit_from(fitted))
    if (lavInspect(again, "converged") && steepest(again) < steepest(fitted)) fitted <- again
  }
  if (!lavInspect(fitted, "converged")) return(list(name = unbox(case$name), converged = unbox(FALSE)))
  found <- tryCatch(modindices(fitted, op = "~"), error = function(e) NULL)
  indices <- if (is.null(found)) list() else lapply(seq_len(nrow(found)), function(i) list(
    source = unbox(found$rhs[i]), target = unbox(found$lhs[i]), index = unbox(found$mi[i]),
    expected = unbox(found$epc[i]), standardised = unbox(found$sepc.all[i])
  ))
  table <- standardizedSolution(fitted)
  table <- table[table$op == "~", ]
  explained <- lavInspect(fitted, "rsquare")
  list(
    name = unbox(case$name),
    converged = unbox(TRUE),
    indices = indices,
    r_squared = lapply(as.list(explained), unbox),
    residuals = unclass(resid(fitted, type = "cor.bollen")$cov)[names, names],
    standardised = lapply(seq_len(nrow(table)), function(i) list(
      source = unbox(table$rhs[i]), target = unbox(table$lhs[i]), value = unbox(table$est.std[i])
    ))
  )
}

write_json(
  list(
    versions = list(
      R = unbox(paste(R.version$major, R.version$minor, sep = ".")),
      lavaan = unbox(as.character(packageVersion("lavaan")))
    ),
    cases = lapply(cases, golden)
  ),
  arguments[2],
  digits = NA, pretty = 1, na = "null", null = "null"
)

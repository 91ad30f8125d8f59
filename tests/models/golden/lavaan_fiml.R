# Full information maximum likelihood of every case by lavaan:
# Rscript lavaan_fiml.R fiml_cases.json lavaan_fiml.json
#
# The model is spelled out for lavaan(), which adds nothing of its own but free means.

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
    paste(names, "~ 1"),
    paste0(pairs[1, ], " ~~ 0*", pairs[2, ])
  )
}

golden <- function(case) {
  names <- unlist(case$names)
  cells <- lapply(case$rows, function(row) vapply(row, function(x) if (is.null(x)) NA_real_ else x, 0))
  data <- as.data.frame(do.call(rbind, cells))
  colnames(data) <- names
  fit_from <- function(start) {
    lavaan(
      paste(syntax(names, case$edges), collapse = "\n"),
      data = data, missing = "fiml", estimator = "ML", meanstructure = TRUE, fixed.x = FALSE,
      se = "standard", information = "observed", start = start,
      em.h1.iter.max = 100000, em.h1.tol = 1e-10,
      control = list(iter.max = 10000, eval.max = 20000)
    )
  }
  fitted <- suppressWarnings(fit_from("default"))
  # Starting again where it stopped, with a fresh approximation of the Hessian, brings the gradient
  # down where smaller tolerances would only make nlminb report false convergence.
  steepest <- function(fitted) max(abs(lavInspect(fitted, "gradient")))
  for (restart in 1:10) {
    if (lavInspect(fitted, "converged") && steepest(fitted) < 1e-6) break
    again <- suppressWarnings(fit_from(fitted))
    if (lavInspect(again, "converged") && steepest(again) < steepest(fitted)) fitted <- again
  }
  table <- parameterEstimates(fitted)
  edges <- table[table$op == "~", ]
  variances <- table[table$op == "~~" & table$lhs == table$rhs, ]
  list(
    name = case$name,
    converged = lavInspect(fitted, "converged"),
    log_likelihood = fitMeasures(fitted, "logl")[[1]],
    saturated_log_likelihood = fitMeasures(fitted, "unrestricted.logl")[[1]],
    chi_square = fitMeasures(fitted, "chisq")[[1]],
    degrees_of_freedom = fitMeasures(fitted, "df")[[1]],
    baseline_chi_square = fitMeasures(fitted, "baseline.chisq")[[1]],
    implied = lavInspect(fitted, "implied")$cov[names, names],
    edges = lapply(seq_len(nrow(edges)), function(i) {
      list(source = edges$rhs[i], target = edges$lhs[i], estimate = edges$est[i], error = edges$se[i])
    }),
    variances = lapply(seq_len(nrow(variances)), function(i) {
      list(node = variances$lhs[i], estimate = variances$est[i], error = variances$se[i])
    })
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

// The options of a search as the page offers them: menus and numbers, each with its default first.

/** By name: the label, and pairs [value, words]. An empty value leaves the option to the library. */
export const MENUS = {
  penalty: ["Penalty per edge", [["", "extended BIC (default)"], ["bic", "BIC: more edges"], ["2 bic", "twice BIC"], ["ebic 1", "extended BIC, γ = 1: fewer edges"]]],
  margins: ["Columns", [["", "as they are"], ["log", "logarithms"], ["rank", "ranks, for outliers and monotone transformations"]]],
  n_effective: ["Rows", [["", "effective sample size (default)"], ["all", "independent: all count"]]],
  covariance: ["Correlations", [["", "as they are"], ["shrunk", "shrunk, for few rows"]]],
  se: ["Standard errors", [["", "robust where columns are not Gaussian"], ["standard", "of Gaussian rows"], ["robust", "robust"]]],
  missing: ["How to treat missing values", [["em", "use all rows (maximum likelihood)"], ["rows", "use complete rows only"], ["pairwise", "use the rows that each pair has"]]],
  intervention_kind: ["The intervention", [["perfect", "removes the causes of its target"], ["noise", "keeps the causes, with other noise"], ["shift", "keeps causes and noise, and shifts the mean"]]],
  intercepts: ["Shifts of means between tables", [["shared", "count"], ["table", "do not count"]]],
  method: ["Search", [["", "automatic"], ["exact", "exact, for few variables"], ["tabu", "tabu search"], ["hill-climbing", "hill climbing"]]],
  effort: ["Length of the search", [["", "default"], ["high", "longer"]]],
};

/** Whole numbers: name, label, the least that makes sense. */
export const NUMBERS = [
  ["max_parents", "Maximum number of parents", 0],
  ["max_component", "Maximum number of variables in a feedback loop", 1],
  ["max_cycle_length", "Longest feedback loop", 1],
  ["max_edges", "Maximum number of edges", 0],
  ["n_starts", "Independent starts", 1],
  ["random_state", "Seed", 0],
  ["time_limit", "Time limit, in seconds", 1],
  ["max_evaluations", "Maximum number of fits", 1],
  ["tabu_length", "Recent graphs not to revisit", 0],
  ["patience", "Moves without a better graph", 1],
];

/** Yes or no: name, label, whether it is so by default. */
export const TICKS = [
  ["stable", "Only stable graphs", true],
  ["virtual_edges", "Virtual edges", true],
  ["first_improvement", "First improving move", false],
];

/** What the page calls each option. */
export const LABELS = {
  ...Object.fromEntries([...Object.entries(MENUS).map(([name, [label]]) => [name, label]), ...[...NUMBERS, ...TICKS].map(([name, label]) => [name, label])]),
  groups: "Groups", interventions: "Experiments", weights: "Weights of rows", within: "Subjects", lags: "Earlier rows that act on a row",
  ordered: "ordinal", continuous: "measurement", categories: "nominal", exogenous: "Exogenous variables", knowledge: "Knowledge",
};

/** Options that were chosen, as [label, value] for people. */
export function chosenOptions(options) {
  // Saved work can name anything.
  const of = (list, name) => (Object.hasOwn(list, name) ? list[name] : undefined);
  const plain = (value) => (typeof value === "boolean" ? (value ? "yes" : "no") : [value].flat().join(", "));
  const words = (name, value) => of(MENUS, name)?.[1].find(([each]) => each === value)?.[1] ?? plain(value);
  return Object.entries(options ?? {}).map(([name, value]) => [of(LABELS, name) ?? name, name === "knowledge" ? "as entered" : words(name, value)]);
}

/** How a column is read: the option that lists it, and the words. */
export const TYPES = [["", "as detected"], ["continuous", "measurement"], ["ordered", "ordinal"], ["categories", "nominal"]];

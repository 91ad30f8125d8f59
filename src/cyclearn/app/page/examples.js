// Tables to try the page with: what each shows, where it is from, and what is chosen when it is opened.

import { h } from "./dom.js";

export const EXAMPLES = [
  { file: "market.csv", title: "A market", what: "Price and quantity drive each other, and what is sold leaves the stock, which moves the price again.", source: "Simulated, 2,000 rows; public domain.", draft: {} },
  { file: "penguins.csv", title: "Penguins", what: "Measurements of 344 penguins of three species: groups that share one graph. Some values are missing.", source: "Palmer Station, Antarctica (Gorman, Williams and Fraser, 2014; palmerpenguins); CC0.", draft: { columns: ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"], groups: "species" } },
  { file: "economy.csv", title: "An economy over time", what: "Changes from quarter to quarter in the United States, 1959 to 2009: a row may act on the next one.", source: "Federal Reserve Bank of St. Louis and Bureau of Labor Statistics; public domain.", draft: { columns: ["consumption", "investment", "inflation", "rate", "unemployment"], options: { lags: 1 } } },
  { file: "states.csv", title: "Crime in 51 states", what: "Crime, schooling, poverty and families in the United States in 2009. Few rows leave much open.", source: "Statistical Abstract of the United States and American Community Survey; public domain.", draft: {} },
  { file: "experiments.csv", title: "Experiments on genes", what: "Five genes, observed and after an intervention on each of three. The column target says which.", source: "Simulated, 600 rows; public domain.", draft: { interventions: "target" } },
  { file: "survey.csv", title: "A survey", what: "Answers with five levels, one of them as text, a region, weights of people, and −9 for no answer.", source: "Simulated, 600 rows; public domain.", draft: { columns: ["stress", "sleep", "activity", "appetite", "pain"], weights: "people" }, reading: { missing_codes: ["-9"] } },
  { file: "panel.csv", title: "Firms over years", what: "100 firms over eight years. Constant differences between firms are removed.", source: "Simulated, 800 rows; public domain.", draft: { columns: ["wages", "effort", "sales", "prices"], within: "firm" } },
  { file: "matrix.txt", title: "A covariance matrix", what: "Eight variables of well-being, as a published matrix gives them. No rows are needed.", source: "Simulated, 500 rows; public domain.", draft: {} },
];

/** All examples, each with a button; ``open`` gets the one that is wanted. */
export const gallery = (open) => h("details", { id: "examples" }, h("summary", {}, `Examples (${EXAMPLES.length})`),
  h("ul", { class: "examples" }, EXAMPLES.map((each) => h("li", {},
    h("button", { type: "button", class: "link", "data-example": each.file, onclick: () => open(each) }, each.title),
    h("p", {}, each.what), h("p", { class: "note" }, each.source)))));

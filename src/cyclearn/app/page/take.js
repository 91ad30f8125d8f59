// Files to download.

import * as api from "./api.js";
import { fill, h, place } from "./dom.js";
import { jobsAbout, store, watch } from "./store.js";

const FILES = [
  ["Report", [["report.html", "one page (HTML)"]]],
  ["Picture", [["picture.svg", "SVG"], ["picture.pdf", "PDF"], ["picture.png", "PNG"], ["picture.tikz", "TikZ"]]],
  ["Graph", [["graph.json", "JSON"], ["graph.dot", "DOT"], ["graph.txt", "list of edges"], ["graph.tetrad", "Tetrad"], ["graph.graphml", "GraphML"]]],
  ["Model", [["model.lav", "lavaan"], ["model.dagitty", "dagitty"]]],
  ["Tables", [["edges.csv", "edges"], ["edges.tex", "edges (LaTeX)"], ["coefficients.csv", "coefficients"], ["class.csv", "pairs over the class"], ["search.csv", "moves of the search"]]],
  ["Everything", [["result.json", "the result for cyclearn (JSON)"]]],
];

const MORE = {
  effects: [["predictions.csv", "predictions"], ["effects.csv", "effects"]],
  experiment: [["experiments.csv", "experiments"]],
  bootstrap: [["bootstrap.csv", "bootstrap"]],
  posterior: [["posterior.csv", "posterior"]],
  compare: [["graph.json", "own graph"]],
};

/** Files of effects, probabilities and resamples of the graph. */
const further = () => Object.entries(MORE).flatMap(([kind, files]) =>
  jobsAbout(kind).filter((job) => job.state === "done").flatMap((job) =>
    files.map(([name, words]) => [api.fileOf(job.id, name), `${words} ${job.id.slice(1)}`])));

const listed = (title, links) => links.map(([address, words], n) => [n ? ", " : "", link(address, words, `${title}: ${words}`)]);

// A screen reader that goes from link to link does not read their heading.
const link = (address, words, label) => h("a", { href: address, download: true, "aria-label": label }, words);

/** The files that there are of this result: some forms cannot hold every name or several groups. */
function offered({ id, view }) {
  const without = new Set(view.lacking ?? []);
  return FILES.map(([title, files]) => [title, files.filter(([name]) => !without.has(name)).map(([name, words]) => [api.fileOf(id, name), words])])
    .filter(([, links]) => links.length);
}

function render() {
  const { result, state } = store;
  const done = state?.jobs.some((job) => job.state === "done");
  fill(place("take"),
    result ? h("dl", { class: "files" }, offered(result).map(([title, links]) => [h("dt", {}, title), h("dd", {}, listed(title, links))]),
      further().length ? [h("dt", {}, "About it"), h("dd", {}, listed("About it", further()))] : null,
      h("dt", {}, "Python"), h("dd", {}, link(api.scriptOf(result.id), "script that repeats this graph"), ", ", link(api.scriptOf(null), "script of everything done here"), ", ", link(api.tableFile(result.table), "the table that it reads")),
      h("dt", {}, "Work"), h("dd", {}, link("/api/work", "all tables, graphs, probabilities and notes in one file, which you can open here or elsewhere"))) : h("p", { class: "note" }, "Nothing has been learned from this table yet."),
    done ? h("p", { class: "note" }, "The script gives the same graphs as this page.") : null);
}

let shown = "";
watch(["result", "state"], () => {
  const key = `${store.result?.id} ${store.state?.jobs.map((job) => job.state)}`;
  if (key !== shown) render();
  shown = key;
});
render();

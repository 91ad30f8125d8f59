// Files to download.

import * as api from "./api.js";
import { fill, h, place, tick } from "./dom.js";
import { attempt, jobsAbout, store, watch } from "./store.js";

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

let hasRows = true;

/** The whole work as one file, with the rows of tables or without. */
function work() {
  const file = link(api.workFile(hasRows), "your work as one file", "Work: your work as one file");
  file.id = "work";
  return [h("h3", {}, "Work"),
    h("p", {}, "All tables, graphs, probabilities, resamples, predictions, your own graphs, layouts and notes: ", file, ". It can be opened here or on another machine, like a table."),
    h("p", {}, tick("with-tables", "with the rows of the tables", hasRows, (isOn) => { hasRows = isOn; file.href = api.workFile(isOn); }))];
}

function anotherBrowser() {
  const found = h("p", { id: "link", role: "status" });
  const ask = async () => {
    const answer = await attempt(() => api.newLink());
    if (answer) fill(found, "Open this address in another browser on this machine; it works once: ", h("code", {}, answer.address));
  };
  return [h("h3", {}, "Another browser"), h("p", {}, h("button", { type: "button", id: "new-link", onclick: ask }, "Make an address")), found];
}

function render() {
  const { result, state } = store;
  const done = state?.jobs.some((job) => job.state === "done");
  fill(place("take"),
    result ? h("dl", { class: "files" }, offered(result).map(([title, links]) => [h("dt", {}, title), h("dd", {}, listed(title, links))]),
      further().length ? [h("dt", {}, "About it"), h("dd", {}, listed("About it", further()))] : null,
      h("dt", {}, "Python"), h("dd", {}, link(api.scriptOf(result.id), "script that repeats this graph"), ", ", link(api.scriptOf(null), "script of everything done here"), ", ", link(api.tableFile(result.table), "the table that it reads")),
    ) : h("p", { class: "note" }, "Nothing has been learned from this table yet."),
    done ? h("p", { class: "note" }, "The script gives the same graphs as this page.") : null,
    done || state?.tables.length ? work() : null, anotherBrowser());
}

let shown = "";
watch(["result", "state"], () => {
  const key = `${store.result?.id} ${store.state?.jobs.map((job) => job.state)}`;
  if (key !== shown) render();
  shown = key;
});
render();

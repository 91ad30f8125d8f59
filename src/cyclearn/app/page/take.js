// What can be taken away.

import * as api from "./api.js";
import { fill, h, place } from "./dom.js";
import { store, watch } from "./store.js";

const FILES = [
  ["Report", [["report.html", "one page (HTML)"]]],
  ["Picture", [["picture.svg", "SVG"], ["picture.pdf", "PDF"], ["picture.png", "PNG"]]],
  ["Graph", [["graph.json", "JSON"], ["graph.dot", "DOT"], ["graph.txt", "list of edges"]]],
  ["Tables", [["coefficients.csv", "coefficients"], ["class.csv", "pairs over the class"], ["search.csv", "moves of the search"]]],
  ["Everything", [["result.json", "the result for cyclearn (JSON)"]]],
];

const link = (address, words) => h("a", { href: address, download: true }, words);

function render() {
  const { result, state } = store;
  const done = state?.jobs.some((job) => job.state === "done");
  fill(place("take"),
    result ? h("dl", { class: "files" }, FILES.map(([title, files]) => [
      h("dt", {}, title),
      h("dd", {}, files.map(([name, words], n) => [n ? ", " : "", link(api.fileOf(result.id, name), words)])),
    ]),
    h("dt", {}, "Python"), h("dd", {}, link(api.scriptOf(result.id), "script that repeats this graph"), ", ", link(api.scriptOf(null), "script of everything done here"), ", ", link(api.tableFile(result.table), "the table that it reads"))) : h("p", { class: "note" }, "Nothing has been learned yet."),
    done ? h("p", { class: "note" }, "The script gives the same graphs as this page.") : null);
}

let shown = "";
watch(["result", "state"], () => {
  const key = `${store.result?.id} ${store.state?.jobs.map((job) => job.state)}`;
  if (key !== shown) render();
  shown = key;
});
render();

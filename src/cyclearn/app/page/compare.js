// A graph of one's own: drawn or pasted, or a copy of the learned one. It is fitted and compared at once.

import { arrow, fill, h, number, place, table } from "./dom.js";
import { pairGrid } from "./grid.js";
import { showJob } from "./learn.js";
import { picture } from "./picture.js";
import { ask, jobsAbout, onlyTheLast, quietly, store, viewOf, watch } from "./store.js";

let edges = null, timer, shown = "", about = "";

const latest = () => jobsAbout("compare").filter((job) => job.state !== "cancelled").pop();
const has = (a, b) => edges.some(([x, y]) => x === a && y === b);

function changed() {
  clearTimeout(timer);
  // Several edges are often changed one after the other.
  timer = setTimeout(() => ask("compare", { graph: { nodes: store.result.view.names, edges } }), 700);
}

const look = (a, b) => (has(a, b) ? ["→", "on", "there"] : ["", "", "not there"]);

function press(a, b) {
  edges = has(a, b) ? edges.filter(([x, y]) => x !== a || y !== b) : [...edges, [a, b]];
  changed();
}

function edit(list) {
  edges = list;
  renderEditor();
  changed();
}

function copy() {
  const { members, edges: all } = store.result.view;
  edit(members[0].edges.map((n) => [all[n].source, all[n].target]));
}

function renderEditor() {
  const box = document.getElementById("editor");
  if (box) fill(box, edges ? [h("p", { class: "note" }, "Press a cell to draw or to take away an edge. This is a copy: the learned graph stays as it is."), pairGrid(store.result.view.names, "Your own graph", look, press).element] : []);
}

function comparison(view) {
  const svg = picture(view.picture);
  return [
    h("ul", {}, view.words.map((line) => h("li", {}, line))),
    h("div", { class: "canvas", tabindex: "0", role: "group", "aria-label": "Your own graph" }, svg),
    h("p", {}, view.fit.verdict),
    table("Fit of both", ["index", "your graph", "learned graph", "meaning"], view.fit.indices),
    table("Edges of your graph", ["edge", "weight", "standard error"], view.edges.map((each) => [arrow(each.source, each.target), number(each.weight), number(each.standard_error)])),
  ];
}

function render() {
  if (!store.result) return fill(place("compare"), h("p", { class: "note" }, "Nothing has been learned yet."));
  if (about !== store.result.id) {
    // What was drawn a moment ago is about another graph.
    clearTimeout(timer);
    [about, edges, shown] = [store.result.id, null, ""];
    const text = h("textarea", { id: "own-text", "aria-label": "A graph as text", placeholder: "price -> quantity\nquantity -> price", spellcheck: "false" });
    fill(place("compare"),
      h("p", {}, "Is it equivalent to the learned graph? How far from it, and how much worse does it fit?"),
      h("p", { class: "buttons" },
        h("button", { type: "button", id: "copy", onclick: copy }, "Edit a copy of the learned graph"),
        h("button", { type: "button", id: "draw", onclick: () => edit([]) }, "Draw one from nothing")),
      h("div", { id: "editor" }),
      h("details", {}, h("summary", {}, "Paste one"),
        h("p", { class: "note" }, "Lines a -> b, JSON, DOT, or Tetrad's form."), text,
        h("p", {}, h("button", { type: "button", id: "compare-text", onclick: () => ask("compare", { text: text.value }) }, "Fit and compare"))),
      h("div", { id: "comparison" }));
  }
  return renderComparison();
}

const lastView = onlyTheLast();

async function renderComparison() {
  const job = latest();
  const key = JSON.stringify([about, job]);
  if (key === shown) return;
  shown = key;
  const found = await lastView(async () => ({ view: job?.state === "done" ? await quietly(() => viewOf(job.id)) : null }));
  if (!found) return;
  const box = document.getElementById("comparison");
  if (found.view) fill(box, comparison(found.view));
  else if (job) showJob(box, job, "Your own graph");
  else fill(box);
}

watch(["result", "state"], render);
render();

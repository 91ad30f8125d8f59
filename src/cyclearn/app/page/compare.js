// Another graph next to the learned one: drawn, pasted, a copy, or another result. It is fitted and compared at once.

import { arrow, fill, h, menu, number, place, table } from "./dom.js";
import { pairGrid } from "./grid.js";
import { showJob } from "./learn.js";
import { Canvas } from "./picture.js";
import { ask, jobsAbout, learnedFrom, onlyTheLast, quietly, store, titleOf, viewOf, watch } from "./store.js";

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

const edgesOf = ({ members, edges: all }) => members[0].edges.map((n) => [all[n].source, all[n].target]);

const copy = () => edit(edgesOf(store.result.view));

async function withResult(id) {
  const other = id && (await quietly(() => viewOf(id)));
  if (other) ask("compare", { graph: { nodes: other.names, edges: edgesOf(other) } });
}

function renderEditor() {
  const box = document.getElementById("editor");
  if (box) fill(box, edges ? [h("p", { class: "note" }, "Press a cell to draw or to remove an edge. This is a copy; the learned graph does not change."), pairGrid(store.result.view.names, "Your own graph", look, press).element] : []);
}

/** Two graphs side by side, the words about both, and their numbers. */
function comparison(box, view) {
  const titles = [titleOf(store.result), "The other graph"];
  const canvases = titles.map((title) => h("div", { class: "canvas", tabindex: "0", role: "group", "aria-label": title }));
  fill(box,
    h("ul", {}, view.words.map((line) => h("li", {}, line))),
    h("div", { class: "pair" }, titles.map((title, n) => h("div", {}, h("h3", {}, title), canvases[n]))),
    h("p", {}, view.fit.verdict),
    table("Fit of both", ["index", "other graph", "learned graph", "meaning"], view.fit.indices),
    table("Edges of the other graph", ["edge", "weight", "standard error"], view.edges.map((each) => [arrow(each.source, each.target), number(each.weight), number(each.standard_error)])));
  [view.learned, view].forEach((each, n) => new Canvas(canvases[n], each.picture, each.edges));
}

function render() {
  if (!store.result) return fill(place("compare"), h("p", { class: "note" }, "Nothing has been learned from this table yet."));
  if (about !== store.result.id) {
    // What was drawn a moment ago is about another graph.
    clearTimeout(timer);
    [about, edges, shown] = [store.result.id, null, ""];
    const text = h("textarea", { id: "own-text", "aria-label": "A graph as text", placeholder: "price -> quantity\nquantity -> price", spellcheck: "false" });
    fill(place("compare"),
      h("p", {}, "Is it equivalent to the learned graph? How far is it, and how much worse does it fit?"),
      h("p", { class: "buttons" },
        h("button", { type: "button", id: "copy", onclick: copy }, "Edit a copy of the learned graph"),
        h("button", { type: "button", id: "draw", onclick: () => edit([]) }, "Draw a new graph"),
        menu("compare-with", "or use another result", [["", "choose"], ...learnedFrom(store.result.table).filter((job) => job.id !== store.result.id).map((job) => [job.id, titleOf(job)])], "", withResult)),
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
  if (found.view) comparison(box, found.view);
  else if (job) showJob(box, job, "The other graph");
  else fill(box);
}

watch(["result", "state"], render);
render();

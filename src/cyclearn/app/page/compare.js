// A graph of one's own: drawn or pasted, or a copy of the learned one. It is fitted and compared at once.

import * as api from "./api.js";
import { arrow, fill, h, number, place, table } from "./dom.js";
import { pairGrid } from "./grid.js";
import { jobCard } from "./learn.js";
import { picture } from "./picture.js";
import { attempt, jobsAbout, quietly, start, store, viewOf, watch } from "./store.js";

let edges = null, timer, shown = "", about = "";

const latest = () => jobsAbout("compare").filter((job) => job.state !== "cancelled").pop();
const has = (a, b) => edges.some(([x, y]) => x === a && y === b);

async function run(request) {
  const before = latest();
  if (before && !["done", "failed", "lost"].includes(before.state)) await attempt(() => api.cancelJob(before.id));
  await start("compare", store.result.id, request);
}

function changed() {
  clearTimeout(timer);
  // Several edges are often changed one after the other.
  timer = setTimeout(() => run({ graph: { nodes: store.result.view.names, edges } }), 700);
}

function show(cell, a, b) {
  cell.textContent = has(a, b) ? "→" : "";
  cell.className = has(a, b) ? "on" : "";
  cell.setAttribute("aria-label", `${arrow(a, b)}: ${has(a, b) ? "there" : "not there"}`);
}

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
  if (box) fill(box, edges ? [h("p", { class: "note" }, "Press a cell to draw or to take away an edge. This is a copy: the learned graph stays as it is."), pairGrid(store.result.view.names, "Your own graph", show, press)] : []);
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
    about = store.result.id;
    edges = null;
    shown = "";
    const text = h("textarea", { id: "own-text", "aria-label": "A graph as text", placeholder: "price -> quantity\nquantity -> price", spellcheck: "false" });
    fill(place("compare"),
      h("p", {}, "Is it equivalent to the learned graph? How far from it, and how much worse does it fit?"),
      h("p", { class: "buttons" },
        h("button", { type: "button", id: "copy", onclick: copy }, "Edit a copy of the learned graph"),
        h("button", { type: "button", id: "draw", onclick: () => edit([]) }, "Draw one from nothing")),
      h("div", { id: "editor" }),
      h("details", {}, h("summary", {}, "Paste one"),
        h("p", { class: "note" }, "Lines a -> b, JSON, DOT, or Tetrad's form."), text,
        h("p", {}, h("button", { type: "button", id: "compare-text", onclick: () => run({ text: text.value }) }, "Fit and compare"))),
      h("div", { id: "comparison" }));
  }
  return renderComparison();
}

async function renderComparison() {
  const job = latest();
  const key = JSON.stringify(job ?? null);
  if (key === shown) return;
  shown = key;
  const view = job?.state === "done" ? await quietly(() => viewOf(job.id)) : null;
  const box = document.getElementById("comparison");
  if (box) fill(box, job && !view ? h("ul", { class: "jobs" }, jobCard(job, "Your own graph")) : [], view ? comparison(view) : []);
}

watch(["result", "state"], render);
render();

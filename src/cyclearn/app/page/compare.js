// Another graph next to the learned one: drawn, pasted, a copy, or another result. It is fitted and compared at once.

import { fromDagitty } from "./dagitty.js";
import { arrow, field, fill, h, menu, number, place, table } from "./dom.js";
import { draw, nodesOf } from "./drawing.js";
import { pairGrid } from "./grid.js";
import { showJob } from "./learn.js";
import { Canvas, picture, zoomButtons } from "./picture.js";
import { aloud, ask, attempt, changeLook, jobsAbout, learnedFrom, onlyTheLast, quietly, store, titleOf, viewOf, watch } from "./store.js";

let edges = null, timer, shown = "", about = "", from = null, canvas = null;

const latest = () => jobsAbout("compare").filter((job) => job.state !== "cancelled").pop();
const has = (a, b) => edges.some(([x, y]) => x === a && y === b);

/** Where the variables are in the picture of the learned graph. */
const nodes = () => nodesOf(picture(store.result.view.picture));

function changed() {
  changeLook({ own: edges });
  clearTimeout(timer);
  // Several edges are often changed one after the other.
  timer = setTimeout(() => ask("compare", { graph: { nodes: store.result.view.names, edges } }), 700);
}

const look = (a, b) => (has(a, b) ? ["→", "on", "there"] : ["", "", "not there"]);

function press(a, b) {
  edges = has(a, b) ? edges.filter(([x, y]) => x !== a || y !== b) : [...edges, [a, b]];
  aloud(`${arrow(a, b)} was ${has(a, b) ? "added" : "removed"}.`);
  drawOwn();
  grid?.refresh();
  changed();
}

function edit(list) {
  [edges, from] = [list, null];
  renderEditor();
  changed();
}

/** A variable was pressed: the first one is the cause, the second one the effect. */
function pressed({ node, edge }) {
  if (edge !== undefined) return press(...edges[edge]);
  if (from !== null && from !== node) {
    const cause = from;
    from = null;
    return press(cause, node);
  }
  from = from === node ? null : node;
  canvas.mark(null, null);
  for (const [name, { group }] of canvas.nodes) group.classList.toggle("chosen", name === from);
  return aloud(from === null ? "No cause is chosen." : `${from} is the cause; press its effect.`);
}

/** The own graph on the places of the learned one; what was zoomed and panned stays. */
function drawOwn() {
  const box = document.getElementById("own-canvas");
  if (!box) return;
  const focused = document.activeElement?.closest?.("#own-canvas [data-node]")?.dataset.node;
  const pairs = edges.map(([source, target]) => ({ source, target })), view = canvas?.box === box ? [canvas.view, canvas.scale] : null;
  canvas = new Canvas(box, draw(nodes(), pairs, { title: "Your own graph" }), pairs, { pressed });
  canvas.show(() => ({ weight: null, change: "" }), false);
  if (view?.[0]) canvas.look(view[0][0] + view[0][2] / 2, view[0][1] + view[0][3] / 2, view[1]);
  if (focused) canvas.nodes.get(focused)?.group.focus();
}

const edgesOf = ({ members, edges: all }) => members[0].edges.map((n) => [all[n].source, all[n].target]);

const copy = () => edit(edgesOf(store.result.view));

async function withResult(id) {
  const other = id && (await quietly(() => viewOf(id)));
  if (other) ask("compare", { graph: { nodes: other.names, edges: edgesOf(other) } });
}

let grid = null;

function renderEditor() {
  const box = document.getElementById("editor");
  if (!box) return;
  grid = edges && pairGrid(store.result.view.names, "Your own graph", look, press);
  fill(box, edges ? [
    h("p", { class: "note" }, "Press a cause and then its effect to draw an edge, and an edge to remove it. The graph is kept with this result; the learned graph does not change."),
    h("div", { class: "toolbar" }, zoomButtons(() => canvas)),
    h("div", { class: "canvas", id: "own-canvas", tabindex: "0", role: "group", "aria-label": "Your own graph" }),
    h("details", {}, h("summary", {}, "As a table"), grid.element)] : []);
  if (edges) drawOwn();
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
  [view.learned_edges, view.edges].forEach((each, n) => {
    const pairs = each.map(({ source, target, standardised }) => ({ source, target, weight: standardised }));
    new Canvas(canvases[n], draw(nodes(), pairs, { title: titles[n] }), pairs).show((m) => ({ weight: pairs[m].weight, change: "" }), true);
  });
}

/** A graph that was kept, as far as it is one of these variables. */
function keptGraph() {
  const { look: { own }, view: { names } } = store.result;
  const isEdge = (each) => Array.isArray(each) && each.length === 2 && each[0] !== each[1] && each.every((name) => names.includes(name));
  return Array.isArray(own) ? own.filter(isEdge) : null;
}

/** Compare with a text; dagitty's is read here, the others by the library. */
const paste = (text) => attempt(async () => {
  const graph = fromDagitty(text);
  await ask("compare", graph ? { graph } : { text });
});

function render() {
  if (!store.result) {
    about = "";
    return fill(place("compare"), h("p", { class: "note" }, "Nothing has been learned from this table yet."));
  }
  if (about !== store.result.id) {
    // What was drawn a moment ago is about another graph.
    clearTimeout(timer);
    [about, edges, shown, from] = [store.result.id, keptGraph(), "", null];
    const text = h("textarea", { id: "own-text", placeholder: "price -> quantity\nquantity -> price", spellcheck: "false" });
    fill(place("compare"),
      h("p", {}, "Is it equivalent to the learned graph? How far is it, and how much worse does it fit?"),
      h("p", { class: "buttons" },
        h("button", { type: "button", id: "copy", onclick: copy }, "Edit a copy of the learned graph"),
        h("button", { type: "button", id: "draw", onclick: () => edit([]) }, "Draw a new graph")),
      h("p", { class: "fields" }, menu("compare-with", "Or use another result", [["", "choose"], ...learnedFrom(store.result.table).filter((job) => job.id !== store.result.id).map((job) => [job.id, titleOf(job)])], "", withResult)),
      h("div", { id: "editor" }),
      h("details", {}, h("summary", {}, "Paste one"), field("A graph as text", text),
        h("p", {}, h("button", { type: "button", id: "compare-text", onclick: () => paste(text.value) }, "Fit and compare"))),
      h("div", { id: "comparison" }));
    renderEditor();
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

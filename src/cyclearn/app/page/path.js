// The graphs that other penalties lead to, along a slider: edges that stay over a wide range do not depend on it.

import { startJob } from "./api.js";
import { field, fill, h, number } from "./dom.js";
import { draw, nodesOf } from "./drawing.js";
import { Canvas, picture } from "./picture.js";
import { attempt, poll, quietly, store, viewOf, watch } from "./store.js";

// Multiples of the penalty of BIC, from many edges to few.
const PENALTIES = ["0.25 bic", "0.5 bic", "bic", "2 bic", "4 bic", "8 bic", "16 bic"];
const words = (penalty) => (penalty === "bic" ? "1 × BIC" : `${penalty.split(" ")[0]} × BIC`);

const searches = () => store.state.jobs.filter((job) => job.kind === "learn" && job.of === store.result?.id && job.state !== "cancelled");

async function begin() {
  const of = store.result.id, { table } = store.result;
  for (const penalty of PENALTIES) await attempt(() => startJob("learn", table, of, { penalty }));
  await poll(true);
}

/** A place for all of it; it is filled as soon as it is opened. */
export const otherPenalties = () => {
  shown = "";
  return h("details", { id: "path", ontoggle: render }, h("summary", {}, "Other penalties"), h("div", { id: "path-found" }));
};

let shown = "", at = 0;

async function render() {
  const box = document.getElementById("path-found");
  if (!box || !document.getElementById("path").open) return;
  const jobs = searches(), id = store.result.id, key = JSON.stringify([id, jobs.map((job) => [job.id, job.state])]);
  if (key === shown) return;
  shown = key;
  const running = jobs.filter((job) => ["waiting", "running", "stopping"].includes(job.state)).length;
  if (!jobs.length) {
    fill(box, h("p", {}, "Learn again with seven penalties, from a quarter to sixteen times that of BIC, and go through the graphs."), h("p", {}, h("button", { type: "button", id: "path-start", onclick: begin }, "Learn with other penalties")));
    return;
  }
  if (running) {
    fill(box, h("p", {}, `${jobs.length - running} of ${jobs.length} graphs are learned.`), h("progress", { max: jobs.length, value: jobs.length - running, "aria-label": "Graphs with other penalties" }));
    return;
  }
  const views = await Promise.all(jobs.filter((job) => job.state === "done").map((job) => quietly(() => viewOf(job.id))));
  if (store.result?.id === id) along(box, views.filter(Boolean));
}

const edgesOf = (view) => view.members[0].edges.map((n) => view.edges[n]);

/** A slider over the graphs, drawn on the same places. */
function along(box, views) {
  if (!views.length) return fill(box, h("p", {}, "None of these searches found a graph."));
  const key = ({ source, target }) => JSON.stringify([source, target]);
  const all = [...new Map(views.flatMap(edgesOf).map((each) => [key(each), each])).values()];
  const graphs = views.map((view) => new Map(edgesOf(view).map((each, n) => [key(each), view.members[0].standardised?.[n] ?? null])));
  const counts = all.map((each) => graphs.filter((graph) => graph.has(key(each))).length);
  const pictured = h("div", { class: "canvas", role: "img", "aria-label": "The graph at this penalty" });
  const output = h("output", { id: "path-words", for: "path-at" });
  const slider = h("input", { type: "range", id: "path-at", min: 0, max: views.length - 1, step: 1, value: Math.min(at, views.length - 1), oninput: () => show(Number(slider.value)) });
  fill(box, field("Penalty per edge", slider), h("p", {}, output), pictured, h("p", { class: "note" }, `Wide edges are in all ${views.length} graphs.`));
  const svg = draw(nodesOf(picture(store.result.view.picture)), all.map((each) => ({ ...each, weight: 0.5 })), { title: "The graph at this penalty" });
  const canvas = new Canvas(pictured, svg, all);
  const show = (n) => {
    at = n;
    const { options } = views[n], edges = graphs[n].size;
    const penalty = /penalty=['"]([^'"]*)/.exec(options)?.[1] ?? PENALTIES[n];
    output.textContent = `${words(penalty)}: ${edges} edge${edges === 1 ? "" : "s"}, ${counts.filter((count, m) => count === views.length && graphs[n].has(key(all[m]))).length} of them at every penalty.`;
    slider.setAttribute("aria-valuetext", output.textContent);
    canvas.show((m) => (graphs[n].has(key(all[m])) ? { weight: Math.sign(graphs[n].get(key(all[m])) ?? 1) * (counts[m] === views.length ? 1 : 0.2), label: number(graphs[n].get(key(all[m])), 2), change: "" } : null), true);
  };
  return show(Number(slider.value));
}

watch(["state"], () => store.result && render());

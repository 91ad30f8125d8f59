// How sure: how often edges come out of resamples, and how probable they are.

import { arrow, fill, h, menu, place, table } from "./dom.js";
import { addFacts, renderAbout } from "./graph.js";
import { jobCard } from "./learn.js";
import { attempt, jobsAbout, start, store, viewOf, watch } from "./store.js";

const percent = (share) => `${Math.round(100 * share)}%`;
let found = { bootstrap: null, posterior: null };

addFacts((source, target) => {
  const of = (view) => view?.edges.find((each) => each.source === source && each.target === target);
  const facts = [];
  if (found.posterior) facts.push(["Probability", percent(of(found.posterior)?.probability ?? 0)]);
  if (found.bootstrap) facts.push(["In resamples", percent(of(found.bootstrap)?.frequency ?? 0)]);
  return facts;
});

function resamples(view) {
  return [
    h("p", {}, view.words),
    table("How often each edge comes out", ["edge", "in the learned graph", "in every graph of the class", "in some graph of the class"],
      view.edges.map((each) => [arrow(each.source, each.target), percent(each.frequency), percent(each.compelled), percent(each.possible)])),
  ];
}

function probabilities(view) {
  return [
    view.warning ? h("p", { class: "mind" }, view.warning) : null,
    view.words.map((line) => h("p", {}, line)),
    h("p", {}, `The most probable classes: ${view.classes.map(percent).join(", ")}.`),
    table("How probable each edge is", ["edge", "probability", "joined either way", "in one feedback group"],
      view.edges.map((each) => [arrow(each.source, each.target), percent(each.probability), percent(each.adjacent), percent(each.feedback)])),
  ];
}

const SECTIONS = {
  posterior: ["Probabilities", "Graphs are drawn in proportion to how probable they are, given the data.", "Sample", probabilities],
  bootstrap: ["Resamples", "The same search on resamples of the rows: how often does each edge come out?", "Resample", resamples],
};
let wanted = 100, precision = "200", shown = "";

function asked(kind) {
  if (kind === "bootstrap") return { n_resamples: wanted };
  return precision ? { effective_size: Number(precision) } : {};
}

async function render() {
  if (!store.result) return fill(place("sure"), h("p", { class: "note" }, "Nothing has been learned yet."));
  const latest = (kind) => jobsAbout(kind).filter((job) => job.state !== "cancelled").pop();
  const jobs = { bootstrap: latest("bootstrap"), posterior: latest("posterior") };
  const key = JSON.stringify([store.result.id, jobs]);
  if (key === shown) return undefined;
  shown = key;
  const views = {};
  for (const [kind, job] of Object.entries(jobs)) views[kind] = job?.state === "done" ? await attempt(() => viewOf(job.id)) : null;
  found = views;
  renderAbout();
  return fill(place("sure"), h("div", { class: "pair" }, Object.entries(SECTIONS).map(([kind, [title, words, button, show]]) => h("div", {},
    h("h3", {}, title), h("p", {}, words),
    h("p", { class: "fields" },
      kind === "bootstrap" ? h("label", { class: "field" }, h("span", {}, "Resamples"), h("input", { type: "number", id: "n-resamples", min: 1, max: 10000, value: wanted, onchange: (event) => { wanted = Number.parseInt(event.target.value, 10) || 100; } })) : null,
      kind === "posterior" ? menu("precision", "Precision", [[200, "rough: within some percent"], ["", "fine: takes longer"]], precision, (value) => { precision = value; }) : null,
      h("button", { type: "button", id: `ask-${kind}`, onclick: () => start(kind, store.result.id, asked(kind)) }, button)),
    jobs[kind] && !views[kind] ? h("ul", { class: "jobs" }, jobCard(jobs[kind], title)) : null,
    views[kind] ? show(views[kind]) : null))));
}

watch(["result", "state"], render);
render();

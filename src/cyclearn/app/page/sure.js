// How sure: how often edges come out of resamples, how probable they are, and what would settle the rest.

import { arrow, field, fill, h, menu, number, percent, place, table } from "./dom.js";
import { addFacts, renderAbout, setSure } from "./graph.js";
import { showJob } from "./learn.js";
import { ask, jobsAbout, onlyTheLast, quietly, store, viewOf, watch } from "./store.js";

let found = {};

addFacts((source, target) => {
  const of = (view) => view?.edges.find((each) => each.source === source && each.target === target);
  const facts = [];
  if (found.posterior) facts.push(["Probability", found.posterior.is_determined ? percent(of(found.posterior)?.probability ?? 0) : "not determined"]);
  if (found.bootstrap) facts.push(["In resamples", percent(of(found.bootstrap)?.frequency ?? 0)]);
  return facts;
});

function resamples(view) {
  return [
    h("p", {}, view.words),
    table("How often each edge occurs", ["edge", "in the learned graph", "in every graph of the class", "in some graph of the class"],
      view.edges.map((each) => [arrow(each.source, each.target), percent(each.frequency), percent(each.compelled), percent(each.possible)])),
  ];
}

function probabilities(view) {
  return [
    view.warning ? h("p", { class: "warning" }, h("strong", {}, view.warning.message), " ", view.warning.remedy) : null,
    view.words.map((line) => h("p", {}, line)),
    ...(view.is_determined ? probable(view) : []),
  ];
}

function probable(view) {
  return [
    h("p", {}, `The most probable classes: ${view.classes.map(percent).join(", ")}.`),
    table("How probable each edge is", ["edge", "probability", "adjacent", "in one feedback loop"],
      view.edges.map((each) => [arrow(each.source, each.target), percent(each.probability), percent(each.adjacent), percent(each.feedback)])),
  ];
}

function experiments(view) {
  const rows = (count) => (count === null ? "–" : Math.round(count).toLocaleString("en"));
  return [
    h("p", {}, view.words),
    view.is_settled ? null : table("Experiments, the best first", ["targets", "graphs left on average", "at most", "rows needed", "typically"],
      view.candidates.map((each) => [each.targets.join(" and "), number(each.expected_left, 1), rows(each.largest_left), rows(each.rows), rows(each.rows_typical)])),
  ];
}

const SECTIONS = {
  posterior: ["Probabilities", "Graphs are sampled in proportion to their probability, given the data.", "Sample", probabilities],
  bootstrap: ["Resamples", "The same search on resamples of the rows: how often does each edge occur?", "Resample", resamples],
  experiment: ["Which experiment would help", "An intervention distinguishes graphs that observed data cannot.", "Which experiment?", experiments],
};
let wanted = 100, precision = "200", together = "1", shown = "", about = "";
const lastViews = onlyTheLast();

function asked(kind) {
  if (kind === "experiment") return { size: Number(together) };
  if (kind === "bootstrap") return { n_resamples: wanted };
  return precision ? { effective_size: Number(precision) } : {};
}

/** What can be asked, and places for the answers; fields stay as they are while work goes on. */
function frame() {
  [about, shown, found] = [store.result.id, "", {}];
  fill(place("sure"), h("div", { class: "pair" }, Object.entries(SECTIONS).map(([kind, [title, words, button]]) => h("div", {},
    h("h3", {}, title), h("p", {}, words),
    h("p", { class: "fields" },
      kind === "bootstrap" ? field("Resamples", h("input", { type: "number", id: "n-resamples", min: 1, max: 10000, value: wanted, onchange: (event) => { wanted = Number.parseInt(event.target.value, 10) || 100; } })) : null,
      kind === "experiment" ? menu("together", "Variables intervened on together", [[1, "one"], [2, "two"], [3, "three"]], together, (value) => { together = value; }) : null,
      kind === "posterior" ? menu("precision", "Precision", [[200, "rough: within some percent"], ["", "fine: takes longer"]], precision, (value) => { precision = value; }) : null,
      h("button", { type: "button", id: `ask-${kind}`, onclick: () => ask(kind, asked(kind)) }, button)),
    h("div", { id: `${kind}-found` })))));
}

async function render() {
  if (!store.result) {
    about = "";
    return fill(place("sure"), h("p", { class: "note" }, "Nothing has been learned from this table yet."));
  }
  if (about !== store.result.id) frame();
  const latest = (kind) => jobsAbout(kind).filter((job) => job.state !== "cancelled").pop();
  const jobs = Object.fromEntries(Object.keys(SECTIONS).map((kind) => [kind, latest(kind)]));
  const key = JSON.stringify([about, jobs]);
  if (key === shown) return undefined;
  shown = key;
  const views = await lastViews(async () => {
    const each = async ([kind, job]) => [kind, job?.state === "done" ? await quietly(() => viewOf(job.id)) : null];
    return Object.fromEntries(await Promise.all(Object.entries(jobs).map(each)));
  });
  if (!views) return undefined;
  for (const [kind, [title, , , show]] of Object.entries(SECTIONS)) {
    const box = document.getElementById(`${kind}-found`);
    if (views[kind] && views[kind] === found[kind]) continue;
    if (views[kind]) fill(box, show(views[kind]));
    else if (jobs[kind]) showJob(box, jobs[kind], title);
    else fill(box);
  }
  found = views;
  setSure(found.posterior);
  return renderAbout();
}

watch(["result", "state"], render);
render();

// Starting searches, and following them.

import * as api from "./api.js";
import { fill, h, menu, number, place, sparkline } from "./dom.js";
import { attempt, awaitJob, change, chosen, knowledge, lookAt, poll, reading, start, store, watch } from "./store.js";

// Whole numbers: name, words, the least that makes sense.
const NUMBERS = [
  ["max_parents", "Most causes of a variable", 0],
  ["max_component", "Most variables in a feedback loop", 1],
  ["max_cycle_length", "Longest feedback loop", 1],
  ["max_edges", "Most edges", 0],
  ["n_starts", "Independent starts", 1],
  ["random_state", "Seed", 0],
];
const LAGS = ["lags", "Earlier rows that act on a row (lags)", 0];

function option(name, value) {
  const options = { ...store.draft.options };
  if (value === "" || value === undefined) delete options[name];
  else options[name] = value;
  change({ options });
}

/** Names that are separated by commas; nothing where there are none. */
function listed(text) {
  const names = text.split(",").map((name) => name.trim()).filter(Boolean);
  return names.length ? names : "";
}

function interventions() {
  const { interventions: column, intervention_kind, intercepts } = store.draft;
  if (!column) return {};
  return {
    interventions: column,
    ...(intervention_kind === "perfect" ? {} : { intervention_kind }),
    ...(intercepts === "shared" ? {} : { intercepts }),
  };
}

/** The options of a search, for the server. */
export function options() {
  const { missing, ...others } = store.draft.options;
  const known = knowledge();
  const isKnown = Object.values(known).some((part) => part.length);
  return {
    ...others,
    ...(store.table.has_holes ? { missing: missing || "em" } : {}),
    ...(isKnown ? { knowledge: known } : {}),
    ...(store.draft.groups ? { groups: store.draft.groups } : {}),
    ...interventions(),
  };
}

async function learn() {
  if (chosen().length < 2) {
    await attempt(() => Promise.reject(new Error("Choose at least two columns in the table.")));
    return;
  }
  await start("learn", null, { reading: reading(), options: options() });
}

function form() {
  const { options: given } = store.draft;
  const whole = ([name, label, least], without = "default") => h("label", { class: "field" }, h("span", {}, label),
    h("input", { type: "number", id: name, min: least, value: given[name] ?? "", placeholder: without,
      onchange: (event) => option(name, event.target.value === "" ? "" : Number.parseInt(event.target.value, 10)) }));
  const names = (name, label) => h("label", { class: "field" }, h("span", {}, label),
    h("input", { type: "text", id: name, value: (given[name] || []).join(", "), placeholder: "none",
      onchange: (event) => option(name, listed(event.target.value)) }));
  return h("div", {},
    h("p", { class: "fields" },
      menu("penalty", "An edge costs (penalty)", [["", "extended BIC (default)"], ["bic", "BIC: more edges"], ["2 bic", "twice BIC"], ["ebic 1", "extended BIC, γ = 1: fewer edges"]], given.penalty || "", (value) => option("penalty", value)),
      menu("margins", "Columns (margins)", [["raw", "as they are"], ["rank", "ranks, for outliers and bends"]], given.margins || "raw", (value) => option("margins", value === "raw" ? "" : value)),
      menu("rows", "Rows (n_effective)", [["", "count for less where neighbours resemble each other"], ["all", "independent: all count"]], given.n_effective || "", (value) => option("n_effective", value)),
      whole(LAGS, "none"),
      names("ordered", "Ordinal columns (ordered), by commas"),
      names("categories", "Columns of categories, taken as given (categories), by commas"),
      menu("covariance", "Correlations (covariance)", [["sample", "as they are"], ["shrunk", "shrunk, for few rows"]], given.covariance || "sample", (value) => option("covariance", value === "sample" ? "" : value))),
    h("details", {}, h("summary", {}, "More options"),
      h("p", { class: "fields" },
        menu("method", "Search", [["auto", "automatic"], ["exact", "exact, for few variables"], ["tabu", "tabu search"], ["hill-climbing", "hill climbing"]], given.method || "auto", (value) => option("method", value === "auto" ? "" : value)),
        NUMBERS.map((each) => whole(each)))),
    h("p", { class: "buttons" }, h("button", { type: "button", class: "main", id: "start", onclick: learn }, "Learn")));
}

const STATES = { waiting: "Waiting for a free process.", running: "Running.", stopping: "Stopping; what was found is kept.", failed: "Refused: ", lost: "", cancelled: "Dropped." };

const cards = new Map();

/** A job in words, with what can be done about it; the same element while only its progress changes. */
export function jobCard(job, title, { onshow } = {}) {
  const { progress, ...rest } = job;
  const looks = JSON.stringify([rest, title, store.result?.id === job.id]);
  if (cards.get(job.id)?.looks !== looks) cards.set(job.id, { looks, ...newCard(job, title, onshow) });
  const { card, news } = cards.get(job.id);
  fill(news, ["waiting", "running", "stopping"].includes(job.state) ? howFar(progress || {}, title) : []);
  return card;
}

/** Put the card of a job into a box, and leave it there while it stays the same. */
export function showJob(box, job, title) {
  const card = jobCard(job, title);
  if (card.parentNode?.parentNode !== box) fill(box, h("ul", { class: "jobs" }, card));
}

const howFar = (progress, title) => [
  progress.words ? h("p", {}, progress.words) : null,
  progress.total ? h("progress", { max: progress.total, value: progress.done, "aria-label": title }) : null,
  progress.scores ? sparkline(progress.scores, `Score, falling to ${number(progress.best, 2)}`) : null,
];

function newCard(job, title, onshow) {
  const act = (action) => async () => {
    awaitJob(job.id);
    await attempt(() => action(job.id));
    await poll(true);
  };
  const words = job.state === "done" ? (job.is_kept ? "Stopped; the best so far was kept." : "Done.") : STATES[job.state] + job.message;
  const runs = ["waiting", "running", "stopping"].includes(job.state);
  const news = h("div", {});
  const card = h("li", { class: `job ${job.state}`, "data-job": job.id },
    // News below the buttons: what grows there does not move a button that is being pressed.
    h("h3", {}, title), h("p", {}, words),
    h("p", { class: "buttons" },
      job.state === "done" && onshow ? h("button", { type: "button", id: `show-${job.id}`, "aria-pressed": String(store.result?.id === job.id), onclick: onshow }, "Show") : null,
      (job.state === "running" || job.state === "lost") && job.can_keep ? h("button", { type: "button", id: `stop-${job.id}`, onclick: act(api.stopJob) }, job.state === "lost" ? "Keep the best so far" : "Stop, keep the best so far") : null,
      runs ? h("button", { type: "button", id: `cancel-${job.id}`, onclick: act(api.cancelJob) }, "Drop") : null),
    news);
  return { card, news };
}

function jobs() {
  const searches = store.state.jobs.filter((job) => job.kind === "learn" && job.state !== "cancelled");
  const named = (id) => store.state.tables.find((table) => table.id === id)?.name ?? id;
  return searches.reverse().map((job) =>
    jobCard(job, `Graph ${job.id.slice(1)}, ${named(job.table)}`, { onshow: () => attempt(() => lookAt(job.id)) }));
}

function renderForm() {
  if (!store.draft) return fill(place("learn"), h("p", { class: "note" }, "Open a table first."));
  fill(place("learn"), form(), h("ul", { id: "searches", class: "jobs" }));
  return renderJobs();
}

function renderJobs() {
  const box = document.getElementById("searches");
  if (box && store.state) fill(box, jobs());
}

watch(["table"], renderForm);
watch(["state", "result"], renderJobs);
renderForm();

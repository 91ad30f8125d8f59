// Starting searches, and following them.

import * as api from "./api.js";
import { fill, h, menu, number, place, sparkline } from "./dom.js";
import { picture } from "./picture.js";
import { attempt, awaitJob, change, chosen, knowledge, lookAt, poll, quietly, reading, start, store, titleOf, watch } from "./store.js";

// Whole numbers: name, words, the least that makes sense.
const NUMBERS = [
  ["max_parents", "Maximum number of parents", 0],
  ["max_component", "Maximum number of variables in a feedback loop", 1],
  ["max_cycle_length", "Longest feedback loop", 1],
  ["max_edges", "Maximum number of edges", 0],
  ["n_starts", "Independent starts", 1],
  ["random_state", "Seed", 0],
];
const LAGS = ["lags", "Earlier rows that act on a row", 0];

function option(name, value) {
  const options = { ...store.draft.options };
  if (value === "" || value === undefined) delete options[name];
  else options[name] = value;
  change({ options });
}

/** Names that are separated by commas; empty if there are none. */
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
  await start("learn", null, { reading: reading(), options: options(), probabilities: store.draft.probabilities ?? true });
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
      menu("penalty", "Penalty per edge", [["", "extended BIC (default)"], ["bic", "BIC: more edges"], ["2 bic", "twice BIC"], ["ebic 1", "extended BIC, γ = 1: fewer edges"]], given.penalty || "", (value) => option("penalty", value)),
      menu("margins", "Columns", [["raw", "as they are"], ["log", "logarithms"], ["rank", "ranks, for outliers and monotone transformations"]], given.margins || "raw", (value) => option("margins", value === "raw" ? "" : value)),
      menu("rows", "Rows", [["", "effective sample size, if neighbouring rows are alike"], ["all", "independent: all count"]], given.n_effective || "", (value) => option("n_effective", value)),
      whole(LAGS, "none"),
      names("ordered", "Ordinal columns, separated by commas"),
      names("continuous", "Columns of few values that are measurements"),
      names("categories", "Nominal columns, as exogenous indicators"),
      menu("covariance", "Correlations", [["sample", "as they are"], ["shrunk", "shrunk, for few rows"]], given.covariance || "sample", (value) => option("covariance", value === "sample" ? "" : value))),
    h("details", {}, h("summary", {}, "More options"),
      h("p", { class: "fields" },
        menu("method", "Search", [["auto", "automatic"], ["exact", "exact, for few variables"], ["tabu", "tabu search"], ["hill-climbing", "hill climbing"]], given.method || "auto", (value) => option("method", value === "auto" ? "" : value)),
        NUMBERS.map((each) => whole(each)))),
    h("p", {}, h("label", {}, h("input", { type: "checkbox", id: "probabilities", checked: store.draft.probabilities ?? true, onchange: (event) => change({ probabilities: event.target.checked }) }), " Compute how probable each edge is, for up to 50 variables")),
    h("p", { class: "buttons" }, h("button", { type: "button", class: "main", id: "start", onclick: learn }, "Learn")),
    h("div", { id: "sketch" }));
}

const STATES = { waiting: "Waiting.", running: "Running.", stopping: "Stopping; the best graph so far is kept.", failed: "Refused: ", lost: "", cancelled: "Cancelled." };

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

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

const howFar = (progress, title) => [
  progress.place ? h("p", {}, `Place ${progress.place} of ${progress.queue} in the queue.`) : null,
  progress.phase ? h("p", {}, `${progress.phase}, ${clock(progress.seconds ?? 0)}`) : null,
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
      job.state === "done" && onshow ? h("button", { type: "button", id: `show-${job.id}`, "aria-pressed": String(store.result?.id === job.id), "aria-label": `Show ${title}`, onclick: onshow }, "Show") : null,
      (job.state === "running" || job.state === "lost") && job.can_keep ? h("button", { type: "button", id: `stop-${job.id}`, onclick: act(api.stopJob) }, job.state === "lost" ? "Keep the best so far" : "Stop") : null,
      runs ? h("button", { type: "button", id: `cancel-${job.id}`, onclick: act(api.cancelJob) }, "Cancel") : null),
    news);
  return { card, news };
}

const searches = () => store.state.jobs.filter((job) => job.kind === "learn" && job.state !== "cancelled" && !job.is_removed && job.table === store.table?.id);

const jobs = () => searches().reverse().map((job) => jobCard(job, titleOf(job), { onshow: () => attempt(() => lookAt(job.id)) }));

function renderForm() {
  if (!store.draft) return fill(place("learn"), h("p", { class: "note" }, "Open a table first."));
  fill(place("learn"), form());
  return renderJobs();
}

let drawn = "", isDrawing = false;

/** The best graph of the search that runs, where the page shows the search. */
async function renderSketch() {
  const box = document.getElementById("sketch"), job = searches().find((each) => each.state === "running" && each.can_keep);
  if (!job) {
    drawn = "";
    return fill(box);
  }
  const key = `${job.id} ${job.progress?.best}`;
  if (isDrawing || key === drawn || window.location.hash !== "#learn") return undefined;
  [isDrawing, drawn] = [true, key];
  const found = await quietly(() => api.getSketch(job.id));
  isDrawing = false;
  return found && fill(box, h("h3", {}, "The best graph so far"), h("div", { class: "canvas" }, picture(found.picture)));
}

function renderJobs() {
  if (!store.state || !store.table) return;
  const box = document.getElementById("results");
  if (!document.getElementById("searches")) fill(box, h("h2", {}, "Results"), h("ul", { id: "searches", class: "jobs" }));
  const cards_ = jobs();
  box.hidden = !cards_.length;
  fill(document.getElementById("searches"), cards_);
  if (document.getElementById("sketch")) renderSketch();
}

watch(["table"], renderForm);
watch(["state", "result", "table"], renderJobs);
renderForm();

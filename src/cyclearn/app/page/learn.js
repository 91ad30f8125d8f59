// Starting searches, and following them.

import * as api from "./api.js";
import { field, fill, h, menu, number, place, sparkline, tick } from "./dom.js";
import { draw, placed, unplaced } from "./drawing.js";
import { force } from "./layouts.js";
import { MENUS, NUMBERS, TICKS, chosenOptions } from "./options.js";
import { Canvas } from "./picture.js";
import { attempt, awaitJob, change, chosen, isOwn, knowledge, lookAt, poll, quietly, reading, start, store, titleOf, watch } from "./store.js";
import { plain } from "./words.js";

const LAGS = ["lags", "Earlier rows that act on a row", 0];

function option(name, value) {
  const options = { ...store.draft.options };
  if (value === "" || value === undefined) delete options[name];
  else options[name] = value;
  change({ options });
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
    ...Object.fromEntries(["groups", "weights", "within"].filter((name) => store.draft[name]).map((name) => [name, store.draft[name]])),
    ...interventions(),
  };
}

async function learn() {
  if (chosen().length + (store.draft.options.categories ?? []).length < 2) {
    await attempt(() => Promise.reject(new Error("Choose at least two columns in the table.")));
    return;
  }
  await start("learn", null, { reading: reading(), options: options(), probabilities: store.draft.probabilities ?? true });
}

function form() {
  const { options: given } = store.draft;
  const whole = ([name, label, least], without = "default") => field(label,
    h("input", { type: "number", id: name, min: least, value: given[name] ?? "", placeholder: without,
      onchange: (event) => option(name, event.target.value === "" ? "" : Number.parseInt(event.target.value, 10)) }));
  const choice = (name, id = name) => menu(id, ...MENUS[name], given[name] ?? "", (value) => option(name, value));
  return h("div", {},
    h("p", { class: "fields" },
      choice("penalty"), choice("margins"), choice("n_effective", "rows"), whole(LAGS, "none"), choice("covariance"), choice("se")),
    h("details", {}, h("summary", {}, "More options"),
      h("p", { class: "fields" }, choice("method"), choice("effort"), NUMBERS.map((each) => whole(each)),
        TICKS.map(([name, label, usual]) => tick(name, label, given[name] ?? usual, (value) => option(name, value === usual ? "" : value))))),
    h("p", {}, tick("probabilities", "Compute how probable each edge is, for up to 50 variables", store.draft.probabilities ?? true, (probabilities) => change({ probabilities }))),
    h("p", { class: "buttons" }, h("button", { type: "button", class: "main", id: "start", onclick: learn }, "Learn")),
    h("div", { id: "sketch" }));
}

const STATES = { waiting: "Waiting.", running: "Running.", stopping: "Stopped. The answer for the best graph so far is being prepared.", failed: "Refused: ", lost: "", cancelled: "Cancelled." };

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

/** The table and the options of a search. */
function asked({ table: of, options }) {
  const given = chosenOptions(options), name = store.state.tables.find(({ id }) => id === of)?.name ?? "";
  return h("p", { class: "note asked" }, [name, ...(given.length ? given.map((each) => each.join(": ")) : ["default options"])].join("; "));
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
  const words = job.state === "done" ? (job.is_kept ? "Stopped; the best so far was kept." : "Done.") : STATES[job.state] + plain(job.message);
  const runs = ["waiting", "running", "stopping"].includes(job.state);
  const news = h("div", {});
  const card = h("li", { class: `job ${job.state}`, "data-job": job.id },
    // News below the buttons: what grows there does not move a button that is being pressed.
    h("h3", {}, title), h("p", {}, words), onshow ? asked(job) : null,
    h("p", { class: "buttons" },
      job.state === "done" && onshow ? h("button", { type: "button", id: `show-${job.id}`, "aria-pressed": String(store.result?.id === job.id), "aria-label": `Show ${title}`, onclick: onshow }, "Show") : null,
      (job.state === "running" || job.state === "lost") && job.can_keep ? h("button", { type: "button", id: `stop-${job.id}`, onclick: act(api.stopJob) }, job.state === "lost" ? "Keep the best so far" : "Stop") : null,
      runs ? h("button", { type: "button", id: `cancel-${job.id}`, onclick: act(api.cancelJob) }, "Cancel") : null),
    news);
  return { card, news };
}

const searches = () => store.state.jobs.filter((job) => isOwn(job) && job.state !== "cancelled" && !job.is_removed && job.table === store.table?.id);

const jobs = () => searches().reverse().map((job) => jobCard(job, titleOf(job), { onshow: () => attempt(() => lookAt(job.id)) }));

function renderForm() {
  if (!store.draft) return fill(place("learn"), h("p", { class: "note" }, "Open a table first."));
  fill(place("learn"), form());
  return renderJobs();
}

let drawn = "", isDrawing = false, sketched = { job: "", places: null };

/** The best graph so far; variables stay where they were when the first one was drawn. */
function sketch(job, { nodes, edges }) {
  if (sketched.job !== job) sketched = { job, places: force(unplaced(nodes), edges) };
  const pairs = edges.map(([source, target]) => ({ source, target }));
  const box = h("div", { class: "canvas", role: "img", "aria-label": `The best graph so far has ${edges.length} edges` });
  fill(document.getElementById("sketch"), h("h3", {}, "The best graph so far"), box);
  new Canvas(box, draw(placed(sketched.places), pairs, { title: "The best graph so far" }), pairs);
}

/** The best graph of the search that runs or is being stopped, where the page shows the search. */
async function renderSketch() {
  const box = document.getElementById("sketch"), job = searches().find((each) => ["running", "stopping"].includes(each.state) && each.can_keep);
  if (!job) {
    drawn = "";
    return fill(box);
  }
  const key = `${job.id} ${job.progress?.best}`;
  if (isDrawing || job.state === "stopping" || key === drawn || window.location.hash !== "#learn") return undefined;
  [isDrawing, drawn] = [true, key];
  const found = await quietly(() => api.getSketch(job.id));
  isDrawing = false;
  return found && sketch(job.id, found);
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

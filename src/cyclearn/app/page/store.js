// What the page knows: the state of the server, the table and the graph that are looked at, and what
// was chosen. What is looked at belongs to this window, what was chosen to the table.

import * as api from "./api.js";
import { difference, merged } from "./changes.js";
import { fill, go, h } from "./dom.js";
import { plain } from "./words.js";

export const store = { state: null, table: null, result: null, draft: null };

const watchers = [];

/** Call a function whenever one of these parts has changed: "state", "table", "draft", "result". */
export function watch(parts, changed) {
  watchers.push([parts, changed]);
}

function tell(...parts) {
  for (const [wanted, changed] of watchers) if (wanted.some((part) => parts.includes(part))) changed();
}

let silence;

/** Say something that goes away by itself; ``lasts`` until something else is said. */
export function say(words, lasts = false) {
  fill(document.getElementById("status"), typeof words === "string" ? plain(words) : words || []);
  clearTimeout(silence);
  if (words && !lasts) silence = setTimeout(() => say(""), 8000);
}

/** Tell those who do not see the page what a press has done. */
export function aloud(words) {
  const box = document.getElementById("aloud");
  box.textContent = "";
  // What is said twice in a row is heard only where something changes.
  requestAnimationFrame(() => { box.textContent = words; });
}

/** Say what went wrong; it stays until it is put away or something works. */
export function complain(words) {
  const box = document.getElementById("trouble");
  box.hidden = !words;
  fill(box, words ? [plain(words), " ", h("button", { type: "button", id: "put-away", onclick: () => complain("") }, "Close")] : []);
}

/** Run something that may fail, and say so where it does. */
export async function attempt(action, words = "") {
  if (words) say(words, true);
  try {
    const value = await action();
    complain("");
    if (words) say("");
    return value;
  } catch (error) {
    say("");
    complain(error.message);
    return undefined;
  }
}

/** The same for what happens by itself: success does not clear an earlier error. */
export async function quietly(action) {
  try {
    return await action();
  } catch (error) {
    complain(error.message);
    return undefined;
  }
}

/** Of answers that overtake each other only the one to the last question counts; others are undefined. */
export function onlyTheLast() {
  let asked = 0;
  return async (action) => {
    const mine = ++asked;
    const value = await action();
    return mine === asked ? value : undefined;
  };
}

function freshDraft(table) {
  return {
    columns: table.columns.filter((column) => !column.problem).map((column) => column.name),
    groups: "",
    interventions: "",
    intervention_kind: "perfect",
    intercepts: "shared",
    weights: "",
    within: "",
    knowledge: { required: [], forbidden: [], tiers: [], exogenous: [] },
    options: {},
  };
}

const labels = () => [store.draft.groups, store.draft.interventions, store.draft.weights, store.draft.within].filter(Boolean);

/** The columns that are chosen and still there, in the order of the table. */
export function chosen() {
  const wanted = new Set(store.draft.columns);
  // What names the groups, or what was intervened on, is not a measurement; categories become indicators.
  for (const label of [...labels(), ...(store.draft.options.categories || [])]) wanted.delete(label);
  return store.table.columns.filter((column) => !column.problem && wanted.has(column.name)).map((column) => column.name);
}

/** Columns that can be used as numbers, by name. */
export const usable = (table = store.table) => table.columns.filter((column) => !column.problem).map((column) => column.name);

/** What is known about the chosen columns. */
export function knowledge() {
  const names = new Set(chosen());
  const kept = (edges) => edges.filter(([a, b]) => names.has(a) && names.has(b));
  const { required, forbidden, tiers, exogenous } = store.draft.knowledge;
  return {
    required: kept(required),
    forbidden: kept(forbidden),
    tiers: tiers.map((tier) => tier.filter((name) => names.has(name))),
    exogenous: exogenous.filter((name) => names.has(name)),
  };
}

/** Columns that may hold text: labels of rows, ordinal ones, and categories. */
const texts = () => [...labels(), ...(store.draft.options.ordered || []), ...(store.draft.options.categories || [])];

/** What a job needs to read the same table again. */
export function reading() {
  const columns = chosen(), { reading: read } = store.table, isChanged = read.where || read.recode;
  return {
    ...read,
    ...(columns.length === store.table.columns.length && !isChanged ? {} : { columns }),
    ...(texts().length ? { labels: texts() } : {}),
  };
}

/** Read the table again in another way; columns that can be used only now are used. */
export async function readAgain(changes) {
  const before = new Set(usable());
  await save();
  const table = await attempt(() => api.readAgain(store.table.id, { ...store.table.reading, ...changes }), `Reading ${store.table.name} …`);
  // What was refused is not shown as chosen.
  if (!table) return tell("table");
  const now = usable(table), kept = now.filter((name) => store.draft.columns.includes(name) || !before.has(name));
  change({ columns: kept.length > 1 ? kept : now });
  await save();
  await attempt(() => lookAtTable(table.id));
  return poll(true);
}

let saving, unsaved = null, saves = Promise.resolve();
// What is on its way to the server, the earliest first.
const sending = [];
// What another tab on the same table changes is changed here, too.
const tabs = new BroadcastChannel("cyclearn");
// The table that is being loaded, and what other tabs have changed in it since: the answer may lack that.
let loading = null;

/** Save what was chosen, one after the other: none overtakes a later one. */
export function save() {
  clearTimeout(saving);
  if (unsaved) {
    const mine = unsaved;
    unsaved = null;
    sending.push(mine);
    saves = saves.then(() => quietly(() => api.saveDraft(...mine))).then(() => sending.shift());
  }
  return saves;
}

/** Change what was chosen; the server keeps it for the next time. Only what changed is sent: there may be two windows. */
export function change(changes) {
  const before = store.draft;
  store.draft = { ...before, ...changes };
  const changed = difference(before, store.draft);
  if (unsaved && unsaved[0] !== store.table.id) save();
  unsaved = [store.table.id, merged(unsaved?.[1] ?? {}, changed, true)];
  tabs.postMessage({ table: store.table.id, changed });
  clearTimeout(saving);
  saving = setTimeout(save, 300);
  tell("draft");
}

tabs.onmessage = ({ data: { table, changed, asked } }) => {
  if (asked) {
    for (const each of [...sending, unsaved]) if (each?.[0] === asked) tabs.postMessage({ table: asked, changed: each[1] });
    return;
  }
  if (table === loading?.id) loading.changed = merged(loading.changed, changed, true);
  if (table !== store.table?.id) return;
  store.draft = merged(freshDraft(store.table), merged(store.draft, changed));
  tell("table", "draft");
};

let keeping, unkept = null, keeps = Promise.resolve();

/** Save how a result looks: where its nodes are, its layout, the graph that was drawn beside it. */
function keep() {
  clearTimeout(keeping);
  if (unkept) {
    const [job, look] = unkept;
    unkept = null;
    keeps = keeps.then(() => quietly(() => api.changeJob(job, { look })));
  }
  return keeps;
}

/** Change how the result looks; it is kept with it. */
export function changeLook(changes) {
  store.result.look = { ...store.result.look, ...changes };
  if (unkept && unkept[0] !== store.result.id) keep();
  unkept = [store.result.id, store.result.look];
  clearTimeout(keeping);
  keeping = setTimeout(keep, 300);
}

window.addEventListener("pagehide", () => { save(); keep(); });

const lastLook = onlyTheLast();

/** The name of a result. */
export const titleOf = (job) => job.name || `Graph ${job.id.slice(1)}`;

/** Graphs that were learned from a table and are there to be looked at. */
export const learnedFrom = (table, state = store.state) =>
  state.jobs.filter((job) => isOwn(job) && job.state === "done" && !job.is_removed && job.table === table);

/** Whether a job is a search by itself, and not one with another penalty beside a result. */
export const isOwn = (job) => job.kind === "learn" && !job.of;

function showTable({ draft, ...record }) {
  store.table = record;
  store.draft = merged(freshDraft(record), draft ?? {});
  sessionStorage.setItem("table", record.id);
  tell("table", "draft");
}

async function tableFor(id) {
  // What was chosen a moment ago is part of the answer.
  await save();
  const mine = loading = { id, changed: {} };
  tabs.postMessage({ asked: id });
  const table = await api.getTable(id);
  return { ...table, draft: merged(table.draft ?? {}, mine.changed) };
}

/** Look at a table, and at the last graph that was learned from it. */
export async function lookAtTable(id) {
  const last = store.state ? learnedFrom(id).pop() : null;
  if (last) return lookAt(last.id);
  const table = await lastLook(() => tableFor(id));
  if (!table) return undefined;
  store.result = null;
  sessionStorage.removeItem("result");
  showTable(table);
  return tell("result");
}

export async function lookAt(id) {
  const found = await lastLook(async () => {
    await keep();
    const job = await api.getJob(id);
    return { job, table: store.table?.id === job.table ? null : await tableFor(job.table) };
  });
  if (!found) return;
  store.result = found.job;
  sessionStorage.setItem("result", id);
  if (found.table) showTable(found.table);
  tell("result");
}

/** The view of a job that is done; asked for once. */
export async function viewOf(job) {
  if (!views.has(job)) views.set(job, (await api.getJob(job)).view);
  return views.get(job);
}

const views = new Map();

/** Jobs of a kind about the graph that is looked at. */
export const jobsAbout = (kind) =>
  store.state.jobs.filter((job) => job.kind === kind && store.result && job.of === store.result.id);

let seen = "";
const lastState = onlyTheLast();

let refreshing;

/** Ask for the state; whoever waits has one that is no older than the question. */
const refresh = () => (refreshing = newState());

async function newState() {
  const state = await lastState(api.getState);
  // A later question has overtaken this one, and its answer serves both.
  if (!state) return refreshing;
  const written = JSON.stringify(state);
  if (written === seen) return undefined;
  const before = store.state;
  seen = written;
  store.state = state;
  if (state.trouble && (!before || before.trouble !== state.trouble)) complain(state.trouble);
  await follow(before, state);
  return tell("state");
}

// What is said aloud when something that was asked for about a graph is there.
const READY = {
  effects: "The predictions are ready under What if.",
  experiment: "The experiments are ready under How sure.",
  posterior: "The probabilities are ready next to the edges.",
  bootstrap: "The resamples are ready under How sure.",
  compare: "The comparison is ready under Compare.",
};

/** Look at a table or a graph that this window waited for. */
async function follow(before, state) {
  const known = (id, list) => list.some((each) => each.id === id);
  if (!before) {
    const result = sessionStorage.getItem("result");
    const table = sessionStorage.getItem("table");
    const done = state.tables.flatMap((each) => learnedFrom(each.id, state));
    if (state.first && !table) await lookAtTable(state.first);
    else if (state.opening && !table) return;
    else if (done.some((job) => job.id === result)) await lookAt(result);
    else if (known(table, state.tables)) await lookAtTable(table);
    else if (done.length) await lookAt(done[done.length - 1].id);
    else if (state.tables.length) await lookAtTable(state.tables[state.tables.length - 1].id);
    return;
  }
  if (state.first && !before.first) {
    await lookAtTable(state.first);
    sayOpen();
  }
  if (!store.table && !state.opening && state.tables.length) await lookAtTable(state.tables[state.tables.length - 1].id);
  for (const job of state.jobs) {
    const earlier = before.jobs.find((each) => each.id === job.id);
    if (earlier?.state === job.state) continue;
    if (["failed", "lost"].includes(job.state) && isAwaited(job.id)) say(`${job.kind === "learn" ? `Graph ${job.id.slice(1)}` : "It"} could not be done: ${job.message}`);
    if (job.state !== "done") continue;
    if (isOwn(job) && (isAwaited(job.id) ? job.table === store.table?.id : !store.result)) {
      await lookAt(job.id);
      say(`${titleOf(job)} is done.`);
      // Whoever looks elsewhere meanwhile stays there.
      if (window.location.hash === "#learn") go("graph");
    } else if (job.kind in READY && isAwaited(job.id)) say(READY[job.kind]);
  }
}

/** Say that the table is there. */
export function sayOpen() {
  if (store.table) say(`${store.table.name} is open: ${store.table.n_rows.toLocaleString("en")} rows, ${store.table.columns.length} columns.`);
}

const awaited = () => JSON.parse(sessionStorage.getItem("awaited") || "[]");
const isAwaited = (id) => awaited().includes(id);

/** Look at a graph as soon as it is done, also after a reload. */
export function awaitJob(id) {
  sessionStorage.setItem("awaited", JSON.stringify([...awaited().filter((each) => each !== id), id].slice(-20)));
}

/** Start a job, and show its graph when it is done. */
export async function start(kind, of, request) {
  const job = await attempt(() => api.startJob(kind, store.table.id, of, request));
  if (job) {
    awaitJob(job.id);
    say(kind === "learn" ? `Graph ${job.id.slice(1)} is being learned.` : "Working on it …");
  }
  await poll(true);
  return job;
}

const askedFor = new Map();
let asking = Promise.resolve();

/** Start a job about the graph, in place of the one of its kind that this window asked for before. */
export function ask(kind, request) {
  const of = store.result.id, key = `${kind} ${of}`;
  asking = asking.then(async () => {
    // One that has ended stays as it is.
    if (askedFor.has(key)) await quietly(() => api.cancelJob(askedFor.get(key)));
    const job = await start(kind, of, request);
    if (job) askedFor.set(key, job.id);
  });
  return asking;
}

let timer, isPolling = false;

/** Ask the server what is new: often while something runs, seldom otherwise. */
export async function poll(atOnce = false) {
  clearTimeout(timer);
  if (isPolling && !atOnce) return;
  isPolling = true;
  try {
    await refresh();
  } catch (error) {
    complain(error.message);
  }
  isPolling = false;
  const isBusy = store.state?.opening || store.state?.jobs.some((job) => ["waiting", "running", "stopping"].includes(job.state));
  clearTimeout(timer);
  // Whoever has stopped something waits for what is left of it.
  const isWaitedFor = store.state?.opening || store.state?.jobs.some((job) => job.state === "stopping");
  timer = setTimeout(poll, isWaitedFor ? 100 : isBusy ? 300 : 2500);
}

// The answer: the picture, what it says in words and how sure that is, and the graphs that fit equally well.

import { getMembers } from "./api.js";
import { arrow, field, fill, h, menu, number, percent, place, s, sortable, table, tick } from "./dom.js";
import { decide } from "./knowledge.js";
import { LAYOUTS, loopsOf } from "./layouts.js";
import { notes } from "./notes.js";
import { otherPenalties } from "./path.js";
import { Canvas, zoomButtons } from "./picture.js";
import { copyTable, savePicture } from "./saving.js";
import { aloud, attempt, changeLook, jobsAbout, onlyTheLast, say, store, titleOf, watch } from "./store.js";

let canvas = null, current = 0, order = [], edge = null, focus = null;
let least = { by: "weight", weight: 0, probability: 0 }, hasWeights = true;
const sorting = [1, true];
let filter = { source: "", target: "", how: "directly", sort: "nearest", stable: false };

// A page of a class that is too large for one list, in place of its first graphs; where pages began.
let part = null, trail = [];

const view = () => part ?? store.result.view;
const isLarge = () => store.result.view.listing.selection !== "all";
const member = () => view().members[order[current]];

const SORTS = {
  nearest: (one) => one.n_changes,
  edges: (one) => one.edges.length,
  feedback: (one) => one.n_in_feedback,
};

function drives(one, { source, target, how }) {
  if (!source || !target) return true;
  const edges = one.edges.map((n) => view().edges[n]);
  if (how === "directly") return edges.some((each) => each.source === source && each.target === target);
  const reached = new Set(), front = [source];
  while (front.length) {
    const from = front.pop();
    for (const each of edges) {
      if (each.source === from && !reached.has(each.target)) {
        reached.add(each.target);
        front.push(each.target);
      }
    }
  }
  return reached.has(target);
}

function select() {
  const { members } = view();
  const isListed = (n) => n > 0 || !part || part.has_learned;
  order = members.map((_, n) => n).filter((n) => isListed(n) && drives(members[n], filter) && (!filter.stable || members[n].stable));
  const by = SORTS[filter.sort];
  order.sort((a, b) => by(members[a]) - by(members[b]) || a - b);
  current = 0;
}

/** What an edge rests on: what was entered, or the rows of the table. */
function origin(source, target) {
  const required = store.result.request.options?.knowledge?.required;
  if (Array.isArray(required) && required.some((pair) => pair[0] === source && pair[1] === target)) return "required under Knowledge";
  const { name, n_rows } = store.table;
  return `learned from ${name}, ${n_rows.toLocaleString("en")} rows`;
}

/** What is known of an edge, as pairs [name, words]. */
function factsOf(number_) {
  const { edges, coefficients, groups } = view();
  const { source, target, members, shared } = edges[number_];
  const place_ = member() ? member().edges.indexOf(number_) : -1;
  const isLearned = order[current] === 0;
  const rows = coefficients.filter((each) => each.source === source && each.target === target);
  const row = groups.length ? null : rows[0];
  const facts = [];
  if (place_ < 0) facts.push(["In this graph", "no"]);
  else if (member().weights) {
    facts.push([groups.length ? "Mean weight" : "Weight", number(member().weights[place_])]);
    facts.push(["Standardised", number(member().standardised[place_], 2)]);
  }
  if (isLearned && row && place_ >= 0) {
    facts.push(["Standard error", number(row.standard_error)]);
    facts.push(["95% interval", row.lower === null ? "–" : `${number(row.lower)} to ${number(row.upper)}`]);
    facts.push(["p-value", row.p_value !== null && row.p_value < 0.001 ? "below 0.001" : number(row.p_value)]);
  }
  if (isLearned && groups.length) for (const each of rows) facts.push([`In ${each.group}`, `${number(each.weight)}, standard error ${number(each.standard_error)}`]);
  facts.push(["Equally good graphs", shared ? "in every one" : members.replace(" graphs that fit equally well", "")]);
  facts.push(["Where from", origin(source, target)]);
  return [...facts, ...known.flatMap((each) => each(source, target))];
}

const probability = (n) => (sure?.is_determined ? probable.get(n) ?? 0 : null);

/** How an edge looks in the graph shown; null where it is hidden. */
function look(n) {
  const one = member(), at = one.edges.indexOf(n), learned = view().members[0].edges.includes(n);
  if (at < 0 && !learned) return null;
  const weight = at < 0 ? null : one.standardised?.[at] ?? null, chance = probability(n);
  const size = least.by === "weight" ? Math.abs(weight ?? 1) : chance ?? 1;
  if (size < least[least.by] && n !== edge && !touches(n)) return null;
  const label = weight !== null && chance !== null ? `${number(weight, 2)} (${percent(chance)})` : undefined;
  const words = [at < 0 ? "not in this graph" : weight !== null && number(weight, 2), chance !== null && `probability ${percent(chance)}`, view().edges[n].shared && "in every equally good graph"].filter(Boolean).join(", ");
  return { weight, change: at < 0 ? "removed" : learned ? "" : "new", words, label };
}

// All edges of the variable in focus are shown.
const touches = (n) => focus !== null && [view().edges[n].source, view().edges[n].target].includes(focus);

function redraw() {
  if (!member()) return;
  canvas.show(look, hasWeights);
  canvas.mark(edge, focus);
  for (const box of document.querySelectorAll("#fold")) box.disabled = !loops().length;
  const shown = member().edges.filter((n) => look(n)).length, all = member().edges.length;
  document.getElementById("shown").textContent = shown === all ? `All ${all} edges are shown.` : `${shown} of ${all} edges are shown.`;
}

function about(number_, facts) {
  const { source, target } = view().edges[number_];
  const say_ = (word, words) => h("button", { type: "button", onclick: () => { decide(source, target, word); say(`${arrow(source, target)} is ${words} from the next search on.`); } }, `${word === "required" ? "Require" : "Forbid"} it`);
  return [
    h("h3", {}, arrow(source, target)),
    h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h("p", { class: "buttons" }, say_("required", "required"), say_("forbidden", "forbidden")),
  ];
}

const known = [];

/** Let another section add what it knows about an edge: a function to pairs [name, words]. */
export function addFacts(facts) {
  known.push(facts);
}

let sure = null, probable = new Map();

/** Take the probabilities of the edges, once they are there: the conclusion and the picture say them. */
export function setSure(found) {
  if (found === sure || !store.result) return;
  sure = found;
  placeProbabilities();
  renderConclusion();
  step(current);
}

function placeProbabilities() {
  const names = new Map(view().edges.map(({ source, target }, n) => [JSON.stringify([source, target]), n]));
  probable = new Map((sure?.edges ?? []).map((each) => [names.get(JSON.stringify([each.source, each.target])), each.probability]));
}

function pressed({ node, edge: number_, loop }) {
  if (loop) aboutLoop(loop);
  else if (node !== undefined) focusOn(focus === node ? null : node);
  else press(number_);
}

function focusOn(name) {
  [focus, edge] = [name, null];
  redraw();
  renderAbout();
  document.getElementById("find").value = name ?? "";
  aloud(name === null ? "No variable is in focus." : `${name} is in focus.`);
}

function press(number_) {
  edge = number_;
  redraw();
  renderAbout();
  const { source, target } = view().edges[edge];
  aloud(`${arrow(source, target)}. ${factsOf(edge).map((fact) => fact.join(": ")).join(". ")}.`);
}

let written = "";

export function renderAbout() {
  const box = document.getElementById("about-edge");
  const facts = edge === null ? [] : factsOf(edge);
  const key = JSON.stringify([store.result?.id, edge, focus, current, facts]);
  if (!box || (key === written && box.hasChildNodes())) return;
  written = key;
  if (edge !== null) fill(box, about(edge, facts));
  else if (focus !== null) fill(box, aboutNode(focus));
  else fill(box, h("p", { class: "note" }, "Press an edge or a variable for details."));
}

function aboutNode(name) {
  const edges = member()?.edges.map((n) => view().edges[n]) ?? [];
  const listed = (words, names) => [h("dt", {}, words), h("dd", {}, names.join(", ") || "none")];
  return [h("h3", {}, name), h("dl", { class: "facts" },
    listed("Causes", edges.filter((each) => each.target === name).map((each) => each.source)),
    listed("Effects", edges.filter((each) => each.source === name).map((each) => each.target))),
  h("p", {}, h("button", { type: "button", id: "unfocus", onclick: () => focusOn(null) }, "Show all variables"))];
}

/** Feedback loops of the graph that is shown. */
const loops = () => loopsOf(view().names, member()?.edges.map((n) => [view().edges[n].source, view().edges[n].target]) ?? []);

function aboutLoop(names) {
  [edge, focus] = [null, null];
  written = "";
  fill(document.getElementById("about-edge"), h("h3", {}, "Feedback loop"), h("p", {}, names.join(", ")),
    h("p", {}, h("button", { type: "button", onclick: () => fold(false) }, "Show its variables")));
  aloud(`Feedback loop of ${names.join(", ")}.`);
}

function fold(isFolded) {
  changeLook({ fold: isFolded });
  document.getElementById("fold").checked = isFolded;
  canvas.fold(isFolded ? loops() : []);
  redraw();
}

function step(to) {
  const last = order.length - 1;
  current = Math.min(Math.max(to, 0), Math.max(last, 0));
  const one = member();
  const count = document.getElementById("member-count"), words = document.getElementById("member-words");
  if (store.result.look.fold) canvas.fold(loops());
  redraw();
  document.getElementById("member-number").value = order.length ? String(current + 1) : "";
  count.textContent = ` of ${order.length.toLocaleString("en")}`;
  fill(words, one ? [h("span", { class: "unseen" }, `Graph ${current + 1} of ${order.length}. `), one.words] : "No listed graph matches.");
  // Not "disabled": a button that loses the focus throws keyboard users back to the top.
  document.getElementById("member-previous").setAttribute("aria-disabled", String(current <= 0));
  document.getElementById("member-next").setAttribute("aria-disabled", String(current >= last));
  renderEdges();
  renderAbout();
}

function renderEdges() {
  const one = member(), box = document.getElementById("edge-table");
  if (!one) return fill(box);
  const places = new Map(one.edges.map((n, at) => [n, at]));
  const of = (values) => (n) => values?.[places.get(n)] ?? null;
  const name = (n) => arrow(view().edges[n].source, view().edges[n].target);
  const columns = [
    { name: "edge", key: name, show: (n) => h("button", { type: "button", class: "link", id: `edge-${n}`, onclick: () => press(n) }, name(n)) },
    { name: "standardised", isNumber: true, key: (n) => { const value = of(one.standardised)(n); return value === null ? null : Math.abs(value); }, show: (n) => number(of(one.standardised)(n), 2) },
    { name: "weight", isNumber: true, key: of(one.weights), show: (n) => number(of(one.weights)(n)) },
    ...(sure ? [{ name: "probability", isNumber: true, key: probability, show: (n) => (sure.is_determined ? percent(probability(n)) : "not determined") }] : []),
    { name: "in equally good graphs", key: (n) => (view().edges[n].shared ? "every" : view().edges[n].members), show: (n) => (view().edges[n].shared ? "every" : view().edges[n].members.replace(" graphs that fit equally well", "").replace("in ", "")) },
  ];
  return fill(box, sortable("edge-list", "Edges of this graph", columns, one.edges, sorting));
}

const lastPage = onlyTheLast();
// Pages that were asked for: going back asks nothing, and the next one is asked for while this one is looked at.
const pages = new Map(), MOST_PAGES = 12;

function pageOf(of, asked) {
  const key = JSON.stringify([of, asked]);
  if (!pages.has(key)) pages.set(key, getMembers(of, asked));
  const page = pages.get(key);
  page.catch(() => pages.delete(key));
  if (pages.size > MOST_PAGES) pages.delete(pages.keys().next().value);
  return page;
}

/** Look through the whole class on the server, from a place on. */
async function turn(at, before) {
  const { source, target, how, stable } = filter;
  const of = store.result.id;
  const found = await lastPage(() => attempt(() => pageOf(of, { at, source, target, how, stable }), "Looking through the class …"));
  if (!found || store.result.id !== of) return;
  if (found.next !== null) pageOf(of, { at: found.next, source, target, how, stable });
  part = { ...store.result.view, ...found };
  trail = [...before, at];
  edge = null;
  placeProbabilities();
  draw();
  select();
  step(0);
  renderPages();
}

/** Which graphs of a large class a page holds. */
function pageWords() {
  const { at, next, found, size } = part, { source, target, how, stable } = filter;
  const hasPair = source && target && source !== target, count = (n) => n.toLocaleString("en");
  let like = hasPair ? ` in which ${source} drives ${target}${how === "directly" ? " directly" : ", directly or through others"}` : "";
  if (stable) like += `${like ? "," : ""} that are stable with these data`;
  const last = next ?? size;
  if (last === "0") return `There is no graph${like} that fits equally well.`;
  const looked = last === null ? `those from number ${count(at + 1)} on` : `numbers ${count(at + 1)} to ${typeof last === "number" ? count(last) : last}`;
  const some = hasPair && how === "directly" ? " in which that edge is" : "";
  return `${count(found)} graphs${like}, among ${looked} of ${size ?? "an unknown number"}${some}, in the order of the list; on this page, the graphs closest to the learned one come first.`;
}

function renderPages() {
  const box = document.getElementById("pages");
  if (!box) return;
  const button = (id, words, off, press_) => h("button", { type: "button", id, "aria-disabled": String(off), onclick: () => off || press_() }, words);
  fill(box,
    h("p", {}, part ? pageWords() : store.result.view.listing.words),
    h("p", { class: "buttons" },
      part ? [
        button("page-previous", "← Earlier graphs", trail.length < 2, () => turn(trail[trail.length - 2], trail.slice(0, -2))),
        button("page-next", "Further graphs →", part.next === null, () => turn(part.next, trail)),
      ] : button("page-first", "Go through the whole class", false, () => turn(0, []))));
}

function changed(changes) {
  filter = { ...filter, ...changes };
  if (isLarge() && !("sort" in changes)) return turn(0, []);
  select();
  step(0);
  return say(`${order.length} of the listed graphs are shown.`);
}

function browser() {
  const { names, members, listing } = view();
  if (members.length === 1 && !isLarge()) return [h("p", {}, listing.words), hiddenControls()];
  const variables = (words) => [["", words], ...names.map((name) => [name, name])];
  return [
    isLarge() ? h("div", { id: "pages" }) : h("p", {}, listing.words),
    h("details", {}, h("summary", {}, "Sort and filter"),
      h("p", { class: "fields" },
        menu("filter-source", "Show graphs in which", variables("any"), filter.source, (source) => changed({ source })),
        menu("filter-how", "drives", [["directly", "directly"], ["somehow", "directly or through others"]], filter.how, (how) => changed({ how })),
        menu("filter-target", "the variable", variables("any"), filter.target, (target) => changed({ target })),
        menu("sort", "Sorted by", [["nearest", "closest to the learned one"], ["edges", "fewest edges"], ["feedback", "fewest variables in feedback"]], filter.sort, (sort) => changed({ sort })),
        tick("only-stable", "only stable ones", filter.stable, (stable) => changed({ stable })))),
    controls(false),
  ];
}

const hiddenControls = () => controls(true);

function controls(hidden) {
  const box = h("div", { class: "buttons", hidden },
    h("button", { type: "button", id: "member-previous", onclick: () => step(current - 1) }, "← Previous"),
    h("span", {}, h("label", { for: "member-number" }, "Graph "),
      h("input", { id: "member-number", type: "number", min: 1, "aria-describedby": "member-count", onchange: (event) => step((Number.parseInt(event.target.value, 10) || 1) - 1) }),
      h("span", { id: "member-count" })),
    h("button", { type: "button", id: "member-next", onclick: () => step(current + 1) }, "Next →"));
  return [box, h("p", { id: "member-words", role: "status", "aria-live": "polite" })];
}

function keys(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || !["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
  if (event.target.matches("input, select")) return;
  event.preventDefault();
  step({ ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: order.length - 1 }[event.key]);
}

/** A line as in the picture. */
const sample = (classes, width = 0.09, head = "") => s("svg", { class: "graph sample", viewBox: "0 0 2.4 1", "aria-hidden": "true" },
  s("g", { class: `edge ${classes}` }, s("path", { d: "M.1 .5H1.9", "stroke-width": width }), s("polygon", { points: "2.3,.5 1.8,.28 1.8,.72", class: head })));

const legend = () => h("ul", { class: "legend" }, [
  ...(view().groups.length ? [["numbers: means over the groups"]] : []),
  [sample("positive"), " positive"], [sample("negative"), " negative"], [sample("positive", 0.25), " strong"],
  [sample("positive", 0.09, "open"), " not in every equally good graph"], [sample("removed"), " only in the learned graph"],
  [sample(""), " no stable fit, hence no weights"], [h("span", { class: "swatch" }), " feedback loop"],
].map((parts) => h("li", {}, parts)));

function numbers() {
  const { coefficients, fit, groups, search } = view();
  const named = groups.length > 0;
  return [
    h("details", {}, h("summary", {}, "Coefficients"),
      table("Coefficients of the learned graph", ["edge", ...(named ? ["group"] : []), "weight", "standard error", "standardised", "in equally good graphs"],
        coefficients.map((row) => [arrow(row.source, row.target), ...(named ? [row.group] : []), number(row.weight), number(row.standard_error), number(row.standardised, 2), row.standing]))),
    h("details", {}, h("summary", {}, "How well it fits"), fit.map((each) => [
      named ? h("h3", {}, each.group) : null, h("p", {}, each.verdict), each.test ? h("p", {}, each.test) : null,
      table(named ? `Fit in ${each.group}` : "Fit", ["index", "value", "grade", "meaning"], each.indices)])),
    h("details", { id: "search" }, h("summary", {}, "The search"), search.map((line) => h("p", {}, line))),
  ];
}

// A sentence with more characters lists many variables.
const LONG = 240;

/** A sentence of the conclusion; the end of a long list is folded. */
function said(line) {
  const cut = line.length > LONG ? line.lastIndexOf(",", LONG / 2) : -1;
  return cut < 0 ? h("p", {}, line) : h("details", { class: "long" }, h("summary", {}, `${line.slice(0, cut)}, …`), h("p", {}, line));
}

let concluded = "";

/** What was found and how sure it is; while probabilities are being computed, that they are. */
function renderConclusion() {
  const box = document.getElementById("conclusion");
  if (!box) return;
  const { conclusion, warnings } = store.result.view;
  const last = jobsAbout("posterior").filter((job) => job.state !== "cancelled").pop();
  const runs = last && !["done", "failed", "lost"].includes(last.state);
  const lacking = runs ? "The probabilities of the edges are being computed." : "The probabilities of the edges were not computed; see How sure.";
  const all = [...(sure?.warning ? [sure.warning] : []), ...warnings];
  // What was unfolded stays so while nothing new is said.
  const key = JSON.stringify([store.result.id, sure?.conclusion ?? lacking, all]);
  if (key === concluded && box.hasChildNodes()) return;
  concluded = key;
  fill(box,
    store.result.is_kept ? h("p", { class: "warning" }, "This search was stopped. The graph is the best one found until then; a longer search may find a better one.") : null,
    (sure?.conclusion ?? [...conclusion, lacking]).map(said));
  fill(document.getElementById("warned"),
    all.length ? [h("h3", {}, `Warnings (${all.length})`), h("ul", { class: "warnings" }, all.map((each) => h("li", {}, h("details", {}, h("summary", {}, each.message), each.remedy))))] : null);
}

/** As other programs do: a table that can be pasted into a text or a sheet. */
const copying = h("p", { class: "buttons" }, h("button", { type: "button", id: "copy-edges", onclick: () => attempt(async () => {
  await copyTable(document.querySelector("#edge-table table"));
  say("The table is copied.");
}) }, "Copy the table"));

function toolbar() {
  const { names } = view();
  const range = h("input", { type: "range", id: "least", min: 0, max: most(), step: 0.01, value: least[least.by], "aria-label": "Hide edges below", oninput: (event) => { least[least.by] = Number(event.target.value); shownLeast(); redraw(); }, onchange: () => changeLook({ least }) });
  return h("div", { class: "toolbar" }, h("span", { class: "buttons" }, zoomButtons(() => canvas)),
    menu("layout", "Layout", [["", "layers"], ["ring", "ring"], ["force", "forces"]], store.result.look.layout, arrange),
    tick("fold", "fold loops", store.result.look.fold === true, fold),
    field("Find", h("input", { id: "find", list: "variables", type: "search", onchange: ({ target: { value } }) => {
      focusOn(names.includes(value) ? value : null);
      if (names.includes(value)) canvas.lookAt(value);
    } })), h("datalist", { id: "variables" }, names.map((value) => h("option", { value }))),
    h("button", { type: "button", id: "save-picture", onclick: () => savePicture(document.querySelector("#graph-canvas svg"), titleOf(store.result)) }, "Save this picture"),
    h("span", { class: "slider" }, menu("least-by", "Hide edges below", [["weight", "standardised weight"], ["probability", "probability"]], least.by, (by) => { least.by = by; range.max = most(); range.value = least[by]; shownLeast(); redraw(); changeLook({ least }); }),
      range, h("output", { id: "least-words", for: "least" })),
    tick("weights", "weights", hasWeights, (isOn) => { hasWeights = isOn; redraw(); changeLook({ weights: isOn }); }),
    h("span", { id: "shown", class: "note", role: "status" }));
}

/** As far as the slider goes: standardised weights in loops can be larger than one. */
const most = () => (least.by === "probability" ? 1 : Math.ceil(Math.max(1, ...(view().members[0].standardised ?? []).map(Math.abs))));

/** Another layout; places that were chosen by hand belong to the one before. */
function arrange(layout) {
  changeLook({ layout, places: {} });
  draw();
  redraw();
}

const shownLeast = () => { document.getElementById("least-words").textContent = number(least[least.by], 2); };

/** Show the strongest edges first, where there are too many for one picture; or as it was left. */
function firstView() {
  const { standardised, edges } = view().members[0], kept = store.result.look;
  const sizes = (standardised ?? []).map(Math.abs).sort((a, b) => b - a), first = view().n_first;
  least = { by: "weight", weight: edges.length > first && sizes.length ? Math.ceil(100 * sizes[first - 1]) / 100 : 0, probability: 0 };
  if (["weight", "probability"].every((name) => Number.isFinite(kept.least?.[name]))) least = { ...kept.least, by: kept.least.by === "probability" ? "probability" : "weight" };
  hasWeights = kept.weights !== false;
}

function draw() {
  const { look: kept, id } = store.result;
  const moved = (name, x, y) => store.result.id === id && changeLook({ places: { ...store.result.look.places, [name]: [x, y] } });
  canvas = new Canvas(document.getElementById("graph-canvas"), view().picture, view().edges, { pressed, moved });
  // By the edges of the learned graph, so that only edges change from one graph of the class to the next.
  const edges = view().members[0].edges.map((n) => [view().edges[n].source, view().edges[n].target]);
  if (Object.hasOwn(LAYOUTS, kept.layout ?? "")) canvas.arrange(LAYOUTS[kept.layout](canvas.nodes, edges));
  for (const [name, spot] of Object.entries(kept.places ?? {})) if (canvas.nodes.has(name) && Array.isArray(spot) && spot.every(Number.isFinite)) canvas.move(name, ...spot);
  if (kept.fold) canvas.fold(loops());
}

function render() {
  if (!store.result) return fill(place("graph"), h("p", { class: "note" }, "Nothing has been learned from this table yet."));
  filter = { source: "", target: "", how: "directly", sort: "nearest", stable: false };
  [edge, focus, part, trail, sure] = [null, null, null, [], null];
  select();
  firstView();
  placeProbabilities();
  fill(place("graph"),
    h("div", { class: "browse" },
      toolbar(), h("div", {}, h("div", { class: "canvas", id: "graph-canvas", tabindex: "0", role: "group", "aria-label": "Graph" }), legend()),
      h("div", { class: "side" }, h("h3", {}, titleOf(store.result)), h("div", { id: "conclusion", "aria-live": "polite" }), h("div", { id: "about-edge" }), h("div", { id: "warned", "aria-live": "polite" }))),
    h("details", { open: true }, h("summary", {}, "Edges"), h("div", { id: "edge-table" }), copying),
    h("details", { open: isLarge(), id: "class" }, h("summary", {}, "Graphs that fit equally well"), h("div", { onkeydown: keys }, browser())),
    otherPenalties(), numbers(), notes());
  shownLeast();
  draw();
  renderConclusion();
  renderPages();
  return step(0);
}

watch(["result"], render);
watch(["state"], () => store.result && renderConclusion());
render();

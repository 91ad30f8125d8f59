// The learned graph, and the graphs that no data of this kind can tell from it.

import { getMembers } from "./api.js";
import { arrow, fill, h, menu, number, place, table } from "./dom.js";
import { decide } from "./knowledge.js";
import { choose, picture, pressable, showMember } from "./picture.js";
import { aloud, attempt, onlyTheLast, say, store, watch } from "./store.js";

let svg = null, current = 0, order = [], edge = null;
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
  facts.push(["Equally good graphs", shared ? "in every one" : members]);
  return [...facts, ...probabilities(source, target)];
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

const probabilities = (source, target) => known.flatMap((facts) => facts(source, target));

function press(number_) {
  edge = number_;
  choose(svg, edge);
  renderAbout();
  const { source, target } = view().edges[edge];
  aloud(`${arrow(source, target)}. ${factsOf(edge).map((fact) => fact.join(": ")).join(". ")}.`);
}

let written = "";

export function renderAbout() {
  const box = document.getElementById("about-edge");
  const facts = edge === null ? [] : factsOf(edge);
  const key = JSON.stringify([store.result?.id, edge, facts]);
  if (!box || (key === written && box.hasChildNodes())) return;
  written = key;
  fill(box, edge === null ? h("p", { class: "note" }, "Press an edge in the picture or in the list to read about it.") : about(edge, facts));
}

function step(to) {
  const last = order.length - 1;
  current = Math.min(Math.max(to, 0), Math.max(last, 0));
  const one = member();
  const count = document.getElementById("member-count"), words = document.getElementById("member-words");
  if (one) {
    showMember(svg, one, view().members[0]);
    if (edge !== null) choose(svg, edge);
  }
  document.getElementById("member-number").value = order.length ? String(current + 1) : "";
  count.textContent = ` of ${order.length.toLocaleString("en")}`;
  fill(words, one ? [h("span", { class: "unseen" }, `Graph ${current + 1} of ${order.length}. `), one.words] : "No listed graph is like this.");
  // Not "disabled": a button that loses the focus throws keyboard users back to the top.
  document.getElementById("member-previous").setAttribute("aria-disabled", String(current <= 0));
  document.getElementById("member-next").setAttribute("aria-disabled", String(current >= last));
  renderEdges();
  renderAbout();
}

function renderEdges() {
  const one = member();
  const list = document.getElementById("edge-list");
  fill(list, one ? one.edges.map((n, place_) => {
    const { source, target, shared } = view().edges[n];
    const more = [one.standardised && number(one.standardised[place_], 2), shared && "in every equally good graph"].filter(Boolean).join(", ");
    return h("li", {}, h("button", { type: "button", class: "link", id: `edge-${n}`, "aria-label": `${arrow(source, target)}${more && ": "}${more}`, onclick: () => press(n) }, arrow(source, target)), more && ` ${more}`);
  }) : []);
}

const lastPage = onlyTheLast();

/** Look through the whole class on the server, from a place on. */
async function turn(at, before) {
  const { source, target, how, stable } = filter;
  const of = store.result.id;
  const found = await lastPage(() => attempt(() => getMembers(of, { at, source, target, how, stable }), "Looking through the class …"));
  if (!found || store.result.id !== of) return;
  part = { ...store.result.view, ...found };
  trail = [...before, at];
  edge = null;
  draw();
  select();
  step(0);
  renderPages();
}

function renderPages() {
  const box = document.getElementById("pages");
  if (!box) return;
  const button = (id, words, off, press_) => h("button", { type: "button", id, "aria-disabled": String(off), onclick: () => off || press_() }, words);
  fill(box,
    h("p", {}, part ? part.words : store.result.view.listing.words),
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
  if (members.length === 1) return [h("p", {}, listing.words), hiddenControls()];
  const variables = (words) => [["", words], ...names.map((name) => [name, name])];
  return [
    isLarge() ? h("div", { id: "pages" }) : h("p", {}, listing.words),
    h("details", {}, h("summary", {}, "Sort and filter"),
      h("p", { class: "fields" },
        menu("filter-source", "Show graphs in which", variables("any"), filter.source, (source) => changed({ source })),
        menu("filter-how", "drives", [["directly", "directly"], ["somehow", "directly or through others"]], filter.how, (how) => changed({ how })),
        menu("filter-target", "the variable", variables("any"), filter.target, (target) => changed({ target })),
        menu("sort", "Sorted by", [["nearest", "nearest to the learned one"], ["edges", "fewest edges"], ["feedback", "fewest variables in feedback"]], filter.sort, (sort) => changed({ sort })),
        h("label", {}, h("input", { type: "checkbox", id: "only-stable", checked: filter.stable, onchange: (event) => changed({ stable: event.target.checked }) }), " only stable ones"))),
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
  const canvas = event.currentTarget.querySelector(".canvas");
  // A wide picture needs the arrow keys itself.
  if (event.target === canvas && canvas.scrollWidth > canvas.clientWidth) return;
  event.preventDefault();
  step({ ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: order.length - 1 }[event.key]);
}

const legend = () => h("ul", { class: "legend" }, [
  "solid blue: positive", "dashed red: negative", "wide: strong", "open head: not in every graph of the class",
  "dotted grey: only in the learned graph", "plain: no fit is stable, so without weights", "shaded: feedback loop",
].map((words) => h("li", {}, words)));

function numbers() {
  const { coefficients, fit, warnings, groups } = view();
  const named = groups.length > 0;
  return [
    table("Coefficients of the learned graph", ["edge", ...(named ? ["group"] : []), "weight", "standard error", "standardised", "in the class"],
      coefficients.map((row) => [arrow(row.source, row.target), ...(named ? [row.group] : []), number(row.weight), number(row.standard_error), number(row.standardised, 2), row.standing])),
    h("details", {}, h("summary", {}, "How well it fits"), fit.map((each) => [
      named ? h("h3", {}, each.group) : null, h("p", {}, each.verdict), each.test ? h("p", {}, each.test) : null,
      table(named ? `Fit in ${each.group}` : "Fit", ["index", "value", "grade", "meaning"], each.indices)])),
    warnings.length ? h("details", { open: true }, h("summary", {}, `Warnings (${warnings.length})`), h("ul", { class: "warnings" }, warnings.map((each) => h("li", {}, h("strong", {}, each.message), " ", each.remedy)))) : null,
  ];
}

function draw() {
  svg = picture(view().picture);
  pressable(svg, view().edges, press);
  fill(document.getElementById("graph-canvas"), svg);
}

function render() {
  if (!store.result) return fill(place("graph"), h("p", { class: "note" }, "Nothing has been learned yet."));
  filter = { source: "", target: "", how: "directly", sort: "nearest", stable: false };
  [edge, part, trail] = [null, null, []];
  select();
  const kept = store.result.is_kept ? [h("p", { class: "warning" }, "This search was stopped. The graph is the best that was found until then; a longer search may find a better one.")] : [];
  const box = h("div", { class: "browse" },
    h("div", {}, h("div", { class: "canvas", id: "graph-canvas", tabindex: "0", role: "group", "aria-label": "Graph" }), legend()),
    h("div", { class: "side" }, h("div", { id: "about-edge" }), h("h3", {}, "Edges of this graph"), h("ul", { id: "edge-list", class: "edges" })));
  const all = h("div", { onkeydown: keys }, browser(), box);
  const note = h("p", { class: "note" }, "A learned graph is never changed here. To try another, make a copy under 7.");
  fill(place("graph"), h("h3", {}, `Graph ${store.result.id.slice(1)}`), kept, view().summary.map((line) => h("p", {}, line)), note, all, numbers());
  draw();
  renderPages();
  return step(0);
}

watch(["result"], render);
render();

// What is known before looking at the data: tiers, required and forbidden edges.

import { fill, h, place } from "./dom.js";
import { pairGrid } from "./grid.js";
import { aloud, change, chosen, store, watch } from "./store.js";

const same = (a, b) => ([x, y]) => x === a && y === b;
const MARKS = { free: "", forbidden: "×", required: "✓", excluded: "·" };
const WORDS = { free: "free", forbidden: "forbidden", required: "required", excluded: "excluded by tiers or as a source" };

const known = () => store.draft.knowledge;

function set(changes) {
  change({ knowledge: { ...known(), ...changes } });
}

function tierOf(name) {
  return known().tiers.findIndex((tier) => tier.includes(name));
}

/** The state of an edge: what was entered for the pair, then what tiers imply. */
export function standing(a, b) {
  if (known().required.some(same(a, b))) return "required";
  if (known().forbidden.some(same(a, b))) return "forbidden";
  const [i, j] = [tierOf(a), tierOf(b)];
  return (i > j && j >= 0) || known().exogenous.includes(b) ? "excluded" : "free";
}

/** Say of an edge that it is "required", "forbidden" or "free". */
export function decide(a, b, word) {
  const without = (edges) => edges.filter((edge) => !same(a, b)(edge));
  const required = without(known().required), forbidden = without(known().forbidden);
  if (word === "required") required.push([a, b]);
  if (word === "forbidden") forbidden.push([a, b]);
  set({ required, forbidden });
}

function move(name, tier) {
  const most = known().tiers.length - 1;
  const tiers = known().tiers.map((names) => names.filter((each) => each !== name));
  if (tier >= 0) tiers[Math.min(tier, most)].push(name);
  set({ tiers });
  aloud(`${name} is ${where(tier)}.`);
}

const where = (tier) => (tier < 0 ? "in no tier" : `in tier ${tier + 1}`);

function chip(name, tier) {
  return h("button", {
    type: "button", class: "chip", draggable: "true", id: `chip-${chosen().indexOf(name)}`,
    "aria-label": `${name}, ${where(tier)}. Press it to move it to the next tier.`,
    // Fingers cannot drag, and a screen reader has the arrow keys for itself.
    onclick: () => move(name, tier + 1 < known().tiers.length ? tier + 1 : -1),
    ondragstart: (event) => event.dataTransfer.setData("text/plain", name),
    onkeydown: (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      const next = tier + (step || 0);
      if (!step || next < -1 || next >= known().tiers.length) return;
      event.preventDefault();
      move(name, next);
    },
  }, name);
}

function box(title, names, tier) {
  const element = h("div", { class: "tier", role: "group", "aria-label": title }, h("h4", {}, title), names.map((name) => chip(name, tier)));
  element.addEventListener("dragover", (event) => { event.preventDefault(); element.classList.add("over"); });
  element.addEventListener("dragleave", () => element.classList.remove("over"));
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    const name = event.dataTransfer.getData("text/plain");
    if (chosen().includes(name)) move(name, tier);
  });
  return element;
}

function count(tiers) {
  set({ tiers });
  aloud(`${tiers.length} tier${tiers.length === 1 ? "" : "s"}.`);
}

function tiers() {
  const names = chosen();
  const { tiers: all, exogenous } = known();
  const free = names.filter((name) => tierOf(name) < 0);
  return [
    h("h3", {}, "Tiers"),
    h("p", {}, "Nothing in a later tier causes anything in an earlier one. Drag variables into tiers, or press them to move them to the next tier; arrow keys work, too."),
    h("p", { class: "buttons" },
      h("button", { type: "button", id: "add-tier", onclick: () => count([...all, []]) }, "Add a tier"),
      all.length ? h("button", { type: "button", id: "drop-tier", onclick: () => count(all.slice(0, -1)) }, "Remove the last tier") : null),
    all.length ? h("div", { class: "tiers" }, box("In no tier", free, -1),
      all.map((tier, n) => box(`Tier ${n + 1}${n === 0 ? " (earliest)" : ""}`, tier.filter((name) => names.includes(name)), n))) : null,
    h("details", { id: "sources", open: exogenous.length > 0 || document.getElementById("sources")?.open }, h("summary", {}, "Exogenous variables: nothing in the table causes them, and their covariance is unrestricted"),
      h("p", { class: "checks" }, names.map((name, n) => h("label", {}, h("input", { type: "checkbox", id: `source-${n}`, checked: exogenous.includes(name), onchange: (event) => {
        const others = exogenous.filter((each) => each !== name);
        set({ exogenous: event.target.checked ? [...others, name] : others });
      } }), " ", name)))),
  ];
}

function look(a, b) {
  const word = standing(a, b);
  return [MARKS[word], word, WORDS[word]];
}

const AFTER = { free: "forbidden", excluded: "required", forbidden: "required", required: "free" };
const press = (a, b) => decide(a, b, AFTER[standing(a, b)]);

let grid = null, about = "", drawn = "";

/** What stays while the same columns are chosen: with many of them the matrix takes a while to make. */
function frame(names) {
  grid = names.length > 1 ? pairGrid(names, "Single edges", look, press) : null;
  fill(place("knowledge"),
    h("p", {}, "Optional. The search never violates what you enter."),
    h("div", { id: "tiers" }),
    h("h3", {}, "Single edges"),
    h("p", {}, "Press a cell to forbid an edge (×), again to require it (✓), again to allow it. A dot is excluded by tiers."),
    grid ? grid.element : h("p", {}, "Choose two columns or more."),
    h("div", { id: "forgetting" }));
}

function render() {
  if (!store.draft) return fill(place("knowledge"), h("p", { class: "note" }, "Open a table first."));
  const names = chosen(), { required, forbidden, tiers: all, exogenous } = known();
  const key = JSON.stringify([store.table.id, names]);
  if (key !== about) frame(names);
  else grid?.refresh();
  const said = required.length + forbidden.length + all.length + exogenous.length;
  const now = JSON.stringify([key, all, exogenous, said > 0]);
  if (now === drawn) return undefined;
  [about, drawn] = [key, now];
  fill(document.getElementById("tiers"), tiers());
  return fill(document.getElementById("forgetting"),
    said ? h("p", {}, h("button", { type: "button", id: "forget", onclick: () => set({ required: [], forbidden: [], tiers: [], exogenous: [] }) }, "Delete all of this")) : null);
}

watch(["table", "draft"], render);
render();

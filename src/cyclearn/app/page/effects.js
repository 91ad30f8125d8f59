// What setting one variable does to the others, over all graphs that fit equally well.

import { fill, h, menu, number, place, s } from "./dom.js";
import { jobCard } from "./learn.js";
import { attempt, jobsAbout, start, store, viewOf, watch } from "./store.js";

let source = "", group = "", value = null, unit = 1;

const latest = () => jobsAbout("effects").filter((job) => job.state !== "cancelled").pop();

/** A line from the lowest to the highest prediction, on which the mean of today is marked. */
function bar(low, high, mean, sd) {
  const reach = Math.max(4 * sd, Math.abs(low - mean), Math.abs(high - mean)) * 1.05;
  const x = (at) => 100 + ((at - mean) / reach) * 98;
  return s("svg", { class: "bar", viewBox: "0 0 200 20", role: "img", "aria-label": `from ${number(low)} to ${number(high)}`, preserveAspectRatio: "none" },
    s("line", { x1: 0, x2: 200, y1: 10, y2: 10 }),
    s("line", { x1: 100, x2: 100, y1: 2, y2: 18 }),
    s("rect", { x: x(low) - 1, y: 5, width: Math.max(x(high) - x(low), 0) + 2, height: 10 }));
}

function verdict(effects) {
  const known = effects.filter(([effect]) => effect !== null);
  if (!known.length) return "the system does not settle";
  const size = Math.max(...known.map(([effect]) => Math.abs(effect))), none = 1e-9 * Math.max(size, 1e-300);
  const low = Math.min(...known.map(([effect]) => effect)), high = Math.max(...known.map(([effect]) => effect));
  if (size < 1e-9) return "no effect";
  if (low > none) return "up in all";
  if (high < -none) return "down in all";
  if (low >= -none) return "up or none";
  return high <= none ? "down or none" : "of open sign";
}

function row(view, target) {
  const shift = value - view.mean;
  const ends = [target.low, target.high].map((effect) => (effect === null ? null : target.mean + effect * shift)).sort((a, b) => a - b);
  const settled = target.low !== null;
  return h("tr", {},
    h("th", { scope: "row" }, target.name),
    h("td", { class: "number" }, number(target.mean)),
    h("td", { class: "number" }, settled ? (Math.abs(ends[1] - ends[0]) < 1e-9 * target.sd ? number(ends[0]) : `${number(ends[0])} to ${number(ends[1])}`) : "–"),
    h("td", {}, settled ? bar(ends[0], ends[1], target.mean, target.sd) : ""),
    h("td", { class: "number" }, settled ? (target.low === target.high ? number(target.low) : `${number(target.low)} to ${number(target.high)}`) : "–"),
    h("td", {}, verdict(target.effects)));
}

function predictions(view) {
  const body = h("tbody", {});
  const shown = h("output", { for: "value", id: "value-words" });
  const update = () => {
    shown.textContent = `${number(value)} (mean ${number(view.mean)}, standard deviation ${number(view.sd)})`;
    body.replaceChildren(...view.targets.map((target) => row(view, target)));
  };
  const slider = h("input", { type: "range", id: "value", min: view.mean - 3 * view.sd, max: view.mean + 3 * view.sd, step: view.sd / 20, oninput: (event) => { value = Number(event.target.value); update(); } });
  value = view.mean + unit * view.sd;
  slider.value = value;
  update();
  return [
    h("p", {}, h("label", { for: "value" }, `Set ${view.source} to `), shown),
    slider,
    h("p", {}, view.words, view.is_rank ? " On the scale of normal scores of ranks." : ""),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Predictions" },
      h("table", {}, h("caption", {}, `Where the others are predicted to be on average if ${view.source} is held there`),
        h("thead", {}, h("tr", {}, ["variable", "mean now", "mean then", "range over the class", "effect of one unit", "so it goes"].map((name, n) => h("th", { scope: "col", class: [1, 2, 4].includes(n) && "number" }, name)))),
        body)),
  ];
}

let shown = "";

async function render() {
  if (!store.result) return fill(place("effects"), h("p", { class: "note" }, "Nothing has been learned yet."));
  const job = latest();
  const key = JSON.stringify([store.result.id, job, source]);
  if (key === shown) return undefined;
  shown = key;
  const { names, groups } = store.result.view;
  if (!groups.includes(group)) group = groups[0] ?? "";
  if (!names.includes(source)) [source] = names;
  const view = job?.state === "done" ? await attempt(() => viewOf(job.id)) : null;
  if (view) [source, group] = [view.source, view.group];
  return fill(place("effects"),
    h("p", {}, "What would happen if a variable were held at a value, in every graph that fits equally well."),
    h("p", { class: "fields" },
      menu("effect-source", "Set the variable", names.map((name) => [name, name]), source, (name) => { source = name; ask(); }),
      groups.length ? menu("effect-group", "In the group", groups.map((name) => [name, name]), group, (name) => { group = name; ask(); }) : null,
      h("button", { type: "button", id: "ask-effects", onclick: ask }, "Predict")),
    job && !view ? h("ul", { class: "jobs" }, jobCard(job, `Setting ${source}`)) : null,
    view ? predictions(view) : null);
}

async function ask() {
  await start("effects", store.result.id, group ? { source, group } : { source });
}

watch(["result", "state"], render);
render();

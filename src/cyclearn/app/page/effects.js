// What changing one variable does to the others, over all graphs that fit equally well.

import { fill, h, menu, number, place, s } from "./dom.js";
import { showJob } from "./learn.js";
import { ask, jobsAbout, onlyTheLast, quietly, store, viewOf, watch } from "./store.js";

let source = "", group = "", how = "hold", value = null, unit = 1;

const latest = () => jobsAbout("effects").filter((job) => job.state !== "cancelled").pop();

/** Means over all graphs as a bar, with their intervals as a thin one; the mean of today is marked. */
function bar({ smallest, largest, lowest, highest }, mean, sd) {
  const ends = [smallest, largest, lowest ?? smallest, highest ?? largest];
  const reach = Math.max(4 * sd, ...ends.map((end) => Math.abs(end - mean))) * 1.05;
  const x = (at) => 100 + ((at - mean) / reach) * 98;
  const box = (low, high, y, height) => s("rect", { x: x(low) - 1, y, width: Math.max(x(high) - x(low), 0) + 2, height });
  return s("svg", { class: "bar", viewBox: "0 0 200 20", role: "img", "aria-label": `from ${number(smallest)} to ${number(largest)}`, preserveAspectRatio: "none" },
    s("line", { x1: 0, x2: 200, y1: 10, y2: 10 }),
    s("line", { x1: 100, x2: 100, y1: 2, y2: 18 }),
    box(ends[2], ends[3], 8, 4), box(smallest, largest, 5, 10));
}

const span = (low, high, sd) => (low === null || high === null ? "–" : Math.abs(high - low) < 1e-9 * sd ? number(low) : `${number(low)} to ${number(high)}`);

/** What a change of this size leads to: the mean by the learned graph, and over all graphs. */
function predicted(view, target) {
  const size = view.how === "hold" ? value - view.mean : value;
  const at = ([level, effect, a, b, c]) => {
    const mean = level + effect * size;
    const half = a === null || c === null ? null : view.z * Math.sqrt(Math.max(a + b * size + c * size * size, 0));
    return { mean, low: half === null ? null : mean - half, high: half === null ? null : mean + half };
  };
  const all = target.lines.map(at);
  const known = all.every((each) => each.low !== null);
  return {
    own: target.own && at(target.own),
    smallest: Math.min(...all.map((each) => each.mean)),
    largest: Math.max(...all.map((each) => each.mean)),
    lowest: known ? Math.min(...all.map((each) => each.low)) : null,
    highest: known ? Math.max(...all.map((each) => each.high)) : null,
  };
}

function verdict(effects) {
  const known = effects.filter(([effect]) => effect !== null);
  if (!known.length) return "the system is not stable";
  const size = Math.max(...known.map(([effect]) => Math.abs(effect))), none = 1e-9 * Math.max(size, 1e-300);
  const low = Math.min(...known.map(([effect]) => effect)), high = Math.max(...known.map(([effect]) => effect));
  if (size < 1e-9) return "no effect";
  if (low > none) return "up in every graph";
  if (high < -none) return "down in every graph";
  if (low >= -none) return "up or none";
  return high <= none ? "down or none" : "sign differs";
}

/** One variable, as a row of the table and a function that updates it for another value. */
function row(view, target) {
  const settled = target.lines.length > 0;
  const [then, interval, all, whole] = Array.from({ length: 4 }, () => h("td", { class: "number" }, "–")), drawn = h("td", {});
  const update = () => {
    if (!settled) return;
    const found = predicted(view, target);
    if (found.own) [then.textContent, interval.textContent] = [number(found.own.mean), span(found.own.low, found.own.high, target.sd)];
    all.textContent = span(found.smallest, found.largest, target.sd);
    whole.textContent = span(found.lowest, found.highest, target.sd);
    drawn.replaceChildren(bar(found, target.mean, target.sd));
  };
  const element = h("tr", {},
    h("th", { scope: "row" }, target.name),
    h("td", {}, verdict(target.effects)),
    h("td", { class: "number" }, number(target.mean)),
    then, interval, all, whole,
    h("td", { class: "number" }, span(target.low, target.high, target.sd / view.sd)), drawn);
  return { element, update };
}

function predictions(view) {
  const rows = view.targets.map((target) => row(view, target));
  const isHeld = view.how === "hold", middle = isHeld ? view.mean : 0;
  const interval = `${Math.round(100 * view.level)}% interval`;
  const columns = ["variable", "direction", "mean now", "mean then", interval, "over all graphs", "with intervals", "effect of one unit", ""];
  // The slider itself says it.
  const shown = h("output", { for: "value", id: "value-words", "aria-live": "off" });
  const update = () => {
    shown.textContent = `${number(value)} (${isHeld ? `mean ${number(view.mean)}, ` : ""}standard deviation ${number(view.sd)})`;
    slider.setAttribute("aria-valuetext", shown.textContent);
    for (const each of rows) each.update();
  };
  const slider = h("input", { type: "range", id: "value", min: middle - 3 * view.sd, max: middle + 3 * view.sd, step: view.sd / 20, oninput: (event) => { value = Number(event.target.value); update(); } });
  value = middle + unit * view.sd;
  slider.value = value;
  update();
  return [
    h("p", {}, h("label", { for: "value" }, isHeld ? `Hold ${view.source} at ` : `Push ${view.source} by `), shown),
    slider,
    h("p", {}, "Means then and their intervals are by the learned graph; over all graphs: the smallest and the largest mean, and the interval that covers those of all. ", view.words, view.is_rank ? " On the scale of normal scores of ranks." : ""),
    view.targets.every((target) => !target.own || target.own[2] === null) ? h("p", { class: "note" }, "These data do not determine the weights, so there are no intervals.") : null,
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Predictions" },
      h("table", {}, h("caption", {}, `Where the others are predicted to be on average if ${view.source} is ${isHeld ? "held there" : "shifted by this amount and still responds to its causes"}`),
        h("thead", {}, h("tr", {}, columns.map((name, n) => h("th", { scope: "col", class: n > 1 && n < 8 && "number" }, name || h("span", { class: "unseen" }, "range"))))),
        h("tbody", {}, rows.map((each) => each.element)))),
  ];
}

let shown = "", about = "", asking = 0;
const lastView = onlyTheLast();

/** What is asked, and a place for the answer; menus stay as they are while work goes on. */
function frame() {
  const { names, groups } = store.result.view;
  [about, shown] = [store.result.id, ""];
  if (!groups.includes(group)) group = groups[0] ?? "";
  if (!names.includes(source)) [source] = names;
  fill(place("effects"),
    h("p", {}, "What would happen if a variable were held at a value, or shifted, in every graph that fits equally well."),
    h("p", { class: "fields" },
      menu("effect-how", "Do this", [["hold", "hold it at a value"], ["push", "shift it; it still responds to its causes"]], how, (word) => { how = word; predict(); }),
      menu("effect-source", "to the variable", names.map((name) => [name, name]), source, (name) => { source = name; predict(); }),
      groups.length ? menu("effect-group", "In the group", groups.map((name) => [name, name]), group, (name) => { group = name; predict(); }) : null,
      h("button", { type: "button", id: "ask-effects", onclick: predict }, "Predict")),
    h("div", { id: "effects-found" }));
}

async function render() {
  if (!store.result) {
    about = "";
    return fill(place("effects"), h("p", { class: "note" }, "Nothing has been learned from this table yet."));
  }
  if (about !== store.result.id) frame();
  const job = latest(), key = JSON.stringify([about, job]);
  // The answer to an earlier question is of no interest any more.
  if (asking || key === shown) return undefined;
  shown = key;
  const found = await lastView(async () => ({ view: job?.state === "done" ? await quietly(() => viewOf(job.id)) : null }));
  if (!found || asking) return undefined;
  const box = document.getElementById("effects-found"), { view } = found;
  if (view) {
    [source, group, how] = [view.source, view.group, view.how];
    for (const [id, chosen] of [["source", source], ["how", how], ["group", group]]) {
      const field = document.getElementById(`effect-${id}`);
      if (field) field.value = chosen;
    }
    return fill(box, predictions(view));
  }
  return job ? showJob(box, job, `Changing ${source}`) : fill(box);
}

async function predict() {
  asking += 1;
  await ask("effects", group ? { source, how, group } : { source, how });
  asking -= 1;
  shown = "";
  await render();
}

watch(["result", "state"], render);
render();

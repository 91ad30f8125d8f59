// A matrix of pairs, causes in rows and effects in columns, in which every cell can be pressed. One
// cell can be reached by the tab key, the others from it by the arrow keys.

import { h } from "./dom.js";

/** ``show(cell, a, b)`` says how a cell looks, ``press(a, b)`` what pressing it does. */
export function pairGrid(names, label, show, press) {
  const cells = names.map((a) => names.map((b) => (a === b ? null : h("button", { type: "button", tabindex: "-1" }))));
  const first = cells[0]?.find(Boolean);
  if (first) first.tabIndex = 0;
  names.forEach((a, i) => names.forEach((b, j) => cells[i][j] && show(cells[i][j], a, b)));
  const at = (target) => {
    for (let i = 0; i < names.length; i += 1) {
      const j = cells[i].indexOf(target);
      if (j >= 0) return [i, j];
    }
    return null;
  };
  const pressed = (event) => {
    const spot = event.target instanceof HTMLButtonElement && at(event.target);
    if (!spot) return;
    press(names[spot[0]], names[spot[1]]);
    show(event.target, names[spot[0]], names[spot[1]]);
  };
  const moved = (event) => {
    const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
    const spot = step && at(event.target);
    if (!spot) return;
    event.preventDefault();
    let [i, j] = spot;
    // The diagonal has no cells.
    do { i += step[0]; j += step[1]; } while (cells[i] && j >= 0 && j < names.length && !cells[i][j]);
    const next = cells[i]?.[j];
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };
  return h("div", { class: "scroll", role: "region", "aria-label": label },
    h("table", { class: "matrix", role: "grid", "aria-label": `${label}: causes in rows, effects in columns`, onclick: pressed, onkeydown: moved },
      h("thead", {}, h("tr", {}, h("td", {}, "cause ↓ effect →"), names.map((name) => h("th", { scope: "col", title: name }, h("span", {}, name))))),
      h("tbody", {}, names.map((a, i) => h("tr", {}, h("th", { scope: "row", title: a }, a), names.map((_, j) => h("td", {}, cells[i][j])))))));
}

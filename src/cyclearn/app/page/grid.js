// A matrix of pairs, causes in rows and effects in columns, in which every cell can be pressed. One
// cell can be reached by the tab key, the others from it by the arrow keys.

import { arrow, h } from "./dom.js";
import { aloud } from "./store.js";

/**
 * The matrix, and a function that looks at every pair again. ``look(a, b)`` gives the mark, the class
 * and the words of a cell, ``press(a, b)`` does what pressing it does.
 */
export function pairGrid(names, label, look, press) {
  const cells = names.map((a) => names.map((b) => (a === b ? null : h("button", { type: "button", tabindex: "-1" }))));
  const first = cells[0]?.find(Boolean);
  if (first) first.tabIndex = 0;
  const refresh = () => names.forEach((a, i) => names.forEach((b, j) => {
    const cell = cells[i][j];
    if (!cell) return;
    const [mark, kind, words] = look(a, b), whole = `${arrow(a, b)}: ${words}`;
    if (cell.getAttribute("aria-label") === whole) return;
    cell.textContent = mark;
    cell.className = kind;
    cell.setAttribute("aria-label", whole);
  }));
  refresh();
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
    refresh();
    aloud(event.target.getAttribute("aria-label"));
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
  const element = h("div", { class: "scroll", role: "region", "aria-label": label },
    h("table", { class: "matrix", role: "grid", "aria-label": `${label}: causes in rows, effects in columns`, onclick: pressed, onkeydown: moved },
      h("thead", {}, h("tr", {}, h("td", {}, "cause ↓ effect →"), names.map((name) => h("th", { scope: "col", title: name }, h("span", {}, name))))),
      h("tbody", {}, names.map((a, i) => h("tr", {}, h("th", { scope: "row", title: a }, a), names.map((_, j) => h("td", {}, cells[i][j])))))));
  return { element, refresh };
}

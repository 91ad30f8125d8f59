// Elements, and numbers for people. Text is always set as text: no name can become markup.

import { HELP } from "./help.js";

const SVG = "http://www.w3.org/2000/svg";

function filled(element, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "checked" || key === "value" || key === "disabled" || key === "selected") element[key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child);
  }
  return element;
}

/** An HTML element: h("p", {class: "note"}, "text", other). */
export const h = (name, properties = {}, ...children) =>
  filled(document.createElement(name), properties, children);

/** An SVG element. */
export const s = (name, properties = {}, ...children) =>
  filled(document.createElementNS(SVG, name), properties, children);

/** The place in a section that its script fills. */
export const place = (id) => document.querySelector(`#${id} > div`);

/**
 * Replace what an element holds, and keep the focus where an element with the same id had it. Where
 * there is none any more the section has it, so that a keyboard goes on from here, not from the top.
 */
export function fill(element, ...children) {
  const wanted = children.flat(3).filter((child) => child !== null && child !== undefined && child !== false);
  // A button that is taken out and put back between the two halves of a click is not clicked.
  if (wanted.length === element.childNodes.length && wanted.every((child, n) => child === element.childNodes[n])) return;
  const had = element.contains(document.activeElement) ? document.activeElement : null;
  element.replaceChildren();
  element.append(...wanted);
  if (!had) return;
  const again = had.id && document.getElementById(had.id);
  (again || element.closest("section"))?.focus({ preventScroll: !again });
}

/** A number for people, with a true minus sign and a dash where there is none. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  let shown;
  if (size >= 1e7 || size < 0.5 * 10 ** -digits) shown = value.toExponential(1);
  else shown = size >= 1e4 ? Math.round(value).toLocaleString("en") : value.toFixed(digits);
  return shown.replace("-", "−");
}

/** A value of a column with as many decimals as its standard deviation needs. */
export function brief(value, sd) {
  if (value === null || value === undefined) return "–";
  const digits = sd > 0 ? Math.min(Math.max(2 - Math.floor(Math.log10(sd)), 0), 6) : 3;
  if (Math.abs(value) >= 1e7 || sd < 1e-4) return number(value);
  return value.toLocaleString("en", { minimumFractionDigits: Number.isInteger(value) ? 0 : digits, maximumFractionDigits: digits }).replace("-", "−");
}

export const percent = (share) => `${Math.round(100 * share)}%`;
export const arrow = (source, target) => `${source} → ${target}`;

/** A table whose first column names its rows; columns of numbers are told by their first cell. */
export function table(caption, columns, rows) {
  const kind = (value) => isNumber(value) && "number";
  const cell = (value, n) => (n === 0 ? h("th", { scope: "row" }, value) : h("td", { class: kind(value) || (isLong(value) && "sentence") }, value));
  const body = h("tbody");
  fillRows(body, rows, (row) => row.map(cell));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((name, n) => h("th", { scope: "col", class: rows.length > 0 && kind(rows[0][n]) }, name)))),
      body));
}

// Rows that are there at once, more than a screen shows; and after how many milliseconds the others are.
const AT_ONCE = 60, LATER = 200;

/** Fill the body of a table. Nobody waits for the rows of a long one that are out of sight. */
function fillRows(body, rows, cells) {
  const made = (some) => some.map((row) => h("tr", {}, cells(row)));
  body.replaceChildren(...made(rows.slice(0, AT_ONCE)));
  const last = body.lastElementChild;
  // Unless it was filled anew.
  if (rows.length > AT_ONCE) setTimeout(() => body.lastElementChild === last && body.append(...made(rows.slice(AT_ONCE))), LATER);
}

/**
 * A table that is sorted by the column whose head is pressed. Columns are {name, key, show}: what a row is sorted
 * by, and its cell; ``order`` is [number of the column, whether it falls] and remembers what was pressed.
 */
export function sortable(id, caption, columns, rows, order) {
  const body = h("tbody", { id });
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  const arranged = () => {
    const { key } = columns[order[0]], sign = order[1] ? -1 : 1;
    const sorted = [...rows].sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      return a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b);
    });
    heads.forEach((head, n) => head.setAttribute("aria-sort", n !== order[0] ? "none" : order[1] ? "descending" : "ascending"));
    fillRows(body, sorted, (row) => columns.map(({ show, isNumber: right }, n) => h(n ? "td" : "th", n ? { class: right && "number" } : { scope: "row" }, show(row))));
  };
  const press = (n) => { order.splice(0, 2, n, n === order[0] ? !order[1] : columns[n].isNumber ?? false); arranged(); };
  const heads = columns.map(({ name, isNumber: right }, n) => h("th", { scope: "col", class: right && "number" }, h("button", { type: "button", class: "link", onclick: () => press(n) }, name)));
  arranged();
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), body));
}

/** Show one step of the page. */
export const go = (step) => { window.location.hash = step; };

const isLong = (value) => typeof value === "string" && value.length > 30;
const isNumber = (value) => typeof value === "string" && /^[−\d.,e%–]+$/.test(value);

/** A control with its label, and with a button that explains it. */
export function field(label, control) {
  const { id } = control, words = HELP[id];
  if (!words) return h("span", { class: "field" }, h("label", { for: id }, label), control);
  const text = h("small", { id: `${id}-help`, class: "help-text", hidden: true }, words);
  const button = h("button", { type: "button", class: "help", "aria-label": `Help: ${label}`, "aria-expanded": "false", "aria-controls": text.id, title: words, onclick: () => {
    text.hidden = !text.hidden;
    button.setAttribute("aria-expanded", String(!text.hidden));
  } }, "?");
  control.setAttribute("aria-describedby", text.id);
  const head = h("span", { class: "label" }, h("label", { for: id }, label), button);
  // A box to be ticked comes before its words.
  if (control.type === "checkbox") return h("span", { class: "field tick" }, h("span", { class: "label" }, control, head), text);
  return h("span", { class: "field" }, head, control, text);
}

/** A menu with a label: pairs [value, words]. */
export function menu(id, label, options, value, onchange) {
  return field(label, h("select", { id, onchange: (event) => onchange(event.target.value) },
    options.map(([each, words]) => h("option", { value: each, selected: String(each) === String(value ?? "") }, words))));
}

/** A box to be ticked. */
export const tick = (id, label, checked, onchange) =>
  field(label, h("input", { type: "checkbox", id, checked, onchange: (event) => onchange(event.target.checked) }));

/** A line of scores, lower is better, as a small picture. */
export function sparkline(values, label) {
  const width = 240, height = 48;
  if (values.length < 2) return null;
  const low = Math.min(...values), high = Math.max(...values);
  const points = values.map((value, n) => {
    const x = 2 + (n / (values.length - 1)) * (width - 4);
    const y = 3 + (high === low ? 0 : (1 - (value - low) / (high - low)) * (height - 6));
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return s("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    s("polyline", { points: points.join(" ") }));
}

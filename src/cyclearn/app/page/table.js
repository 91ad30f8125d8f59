// The columns of a table: choosing them, saying how they are read, and looking at them.

import { brief, fill, h, menu, number, place, s } from "./dom.js";
import { opener } from "./opener.js";
import { MENUS, TYPES } from "./options.js";
import { readingForm } from "./reading.js";
import { aloud, attempt, change, lookAtTable, readAgain, store, usable, watch } from "./store.js";
import { plain } from "./words.js";

const SHOWN = 4;
let plotted = new Set();

const histogram = (counts, name) => {
  const most = Math.max(...counts, 1);
  return s("svg", { class: "histogram", viewBox: `0 0 ${counts.length * 4} 20`, role: "img", "aria-label": `Histogram of ${name}` },
    counts.map((count, n) => s("rect", { x: n * 4, y: 20 - (20 * count) / most, width: 3.4, height: (20 * count) / most })));
};

const LISTS = TYPES.map(([name]) => name).filter(Boolean);

/** How a column is read: one of the lists of options that name columns. */
function type(column) {
  const { options } = store.draft, now = LISTS.find((name) => options[name]?.includes(column.name)) ?? "";
  // Texts can be categories; two of them, or those that have got numbers, are numbers already.
  const offered = column.problem ? TYPES.filter(([name]) => !name || name === "categories").map(([name, words]) => [name, name ? words : "not used"]) : TYPES;
  const set = (wanted) => {
    const lists = Object.fromEntries(LISTS.map((name) => [name, (store.draft.options[name] ?? []).filter((each) => each !== column.name)]));
    if (wanted) lists[wanted].push(column.name);
    const { ordered, continuous, categories, ...others } = store.draft.options;
    change({ options: { ...others, ...Object.fromEntries(Object.entries(lists).filter(([, names]) => names.length)) } });
  };
  return h("select", { "aria-label": `Type of ${column.name}`, class: "type", onchange: (event) => set(event.target.value) }, offered.map(([value, words]) => h("option", { value, selected: value === now }, words)));
}

function columnRow(column) {
  if (column.problem) {
    return h("tr", { class: "unusable" }, h("td", {}), h("th", { scope: "row" }, column.name), h("td", { colspan: 5 }, `${plain(`Not used as numbers: it ${column.problem}`)}.`), h("td", {}, column.levels?.length > 1 ? type(column) : null), h("td", {}));
  }
  const isChosen = store.draft.columns.includes(column.name);
  const choose = (event) => {
    const others = store.draft.columns.filter((name) => name !== column.name);
    change({ columns: event.target.checked ? [...others, column.name] : others });
  };
  const plot = (event) => {
    if (event.target.checked) plotted.add(column.name);
    else plotted.delete(column.name);
    drawScatter();
  };
  return h("tr", {},
    h("td", {}, h("input", { type: "checkbox", class: "use", checked: isChosen, "aria-label": `Use ${column.name}`, onchange: choose })),
    h("th", { scope: "row" }, column.name),
    h("td", {}, histogram(column.histogram, column.name)),
    h("td", { class: "number" }, brief(column.mean, column.sd)),
    h("td", { class: "number" }, brief(column.sd, column.sd)),
    h("td", { class: "number" }, column.min === undefined ? "–" : `${brief(column.min, column.sd)} to ${brief(column.max, column.sd)}`),
    h("td", { class: "number" }, column.missing ? column.missing.toLocaleString("en") : "–"),
    h("td", {}, store.table.reading.covariance ? null : type(column)),
    h("td", {}, store.table.sample?.[column.name] && h("input", { type: "checkbox", checked: plotted.has(column.name), "aria-label": `Plot ${column.name}`, onchange: plot })));
}

function columns() {
  const { table } = store;
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Columns" },
    h("table", { class: "columns" },
      h("caption", {}, `${table.name}: ${table.n_rows.toLocaleString("en")} rows`),
      h("thead", {}, h("tr", {}, ["use", "column", "values", "mean", "sd", "range", "missing", "type", "plot"].map((name, n) => h("th", { scope: "col", class: n > 2 && n < 7 && "number" }, name)))),
      h("tbody", {}, table.columns.map(columnRow))));
}

function allOrNone() {
  const every = usable();
  const all = (names) => () => {
    change({ columns: names });
    for (const box of document.querySelectorAll("input.use")) box.checked = names.length > 0;
    aloud(`${names.length} columns are used.`);
  };
  return h("p", { class: "buttons" },
    h("button", { type: "button", id: "use-all", onclick: all(every) }, "Use all columns"),
    h("button", { type: "button", id: "use-none", onclick: all([]) }, "Use none"));
}

/** Columns that say something about rows. */
function roles() {
  const { table, draft } = store;
  if (table.reading.covariance) return null;
  const columns_ = (by) => [["", "none"], ...table.columns.map((column) => [column.name, `${by} ${column.name}`])];
  const chosen_ = (changes) => { change(changes); render(); };
  // A column has one role.
  const role = (name, others) => (column) => {
    const same = ["groups", "interventions", "weights", "within"].filter((each) => each !== name && draft[each] === column);
    chosen_({ [name]: column, ...(column ? Object.fromEntries([...others, ...same].map((each) => [each, ""])) : {}) });
  };
  return h("fieldset", {}, h("legend", {}, "What rows belong to"),
    h("p", { class: "fields" },
      menu("groups", "Groups: one graph for all, with weights for each", columns_("by"), draft.groups, role("groups", ["within"])),
      menu("interventions", "Experiments: the column that lists the targets of each row", columns_("by"), draft.interventions, role("interventions", ["weights", "within"])),
      draft.interventions && menu("intervention_kind", ...MENUS.intervention_kind, draft.intervention_kind, (intervention_kind) => chosen_({ intervention_kind })),
      draft.interventions && menu("intercepts", ...MENUS.intercepts, draft.intercepts, (intercepts) => chosen_({ intercepts })),
      menu("weights_column", "Weights of rows", columns_("by"), draft.weights, role("weights", ["within", "interventions"])),
      menu("within", "Subjects: remove the mean of each", columns_("by"), draft.within, role("within", ["weights", "groups", "interventions"]))),
    draft.interventions ? h("p", { class: "note" }, `Cells of ${draft.interventions} list the targets of that row, separated by commas; rows with an empty cell were only observed.`) : null);
}

/** Columns without which the others can be used: those that others determine, and constant ones. */
function leaveOut() {
  const { table, draft } = store;
  const constant = table.columns.filter((column) => !column.problem && column.sd === 0).map((column) => column.name);
  const names = [...new Set([...(table.drop ?? []), ...constant])].filter((name) => draft.columns.includes(name));
  if (!names.length) return null;
  return h("p", {}, h("button", { type: "button", id: "leave-out", onclick: () => { change({ columns: draft.columns.filter((name) => !names.includes(name)) }); readAgain({}); } }, names.length > 1 ? `Leave out these ${names.length} columns` : `Leave out ${names[0]}`), " ", h("span", { class: "note" }, names.join(", ")));
}

/** Codes of missing values in any column, proposed for the table as a whole. */
function missingCodes() {
  const { reading, codes = [] } = store.table;
  if (!codes.length) return null;
  const all = [...new Set([...(reading.missing_codes || []), ...codes])], listed = codes.join(", ");
  return h("li", {}, h("strong", {}, `${listed} may code missing values.`), " ",
    h("button", { type: "button", id: "use-codes", onclick: () => readAgain({ missing_codes: all }) }, `Read ${listed} as missing`));
}

function warnings() {
  const { table } = store, codes = missingCodes();
  const items = table.warnings.map((each) => h("li", {}, h("strong", {}, each.message), " ", plain(each.remedy)));
  if (codes) items.unshift(codes);
  if (table.trouble) items.unshift(h("li", {}, h("strong", {}, "It cannot be used yet: "), plain(table.trouble), leaveOut()));
  return [
    h("h3", {}, "Warnings"),
    items.length ? h("ul", { class: "warnings" }, items) : h("p", {}, "No problems found; this does not prove the data are fine."),
    table.notes.length ? h("p", { class: "note" }, `Read: ${table.notes.join("; ")}.`) : null,
  ];
}

function correlation(pairs) {
  const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const middle = [0, 1].map((n) => mean(pairs.map((pair) => pair[n])));
  const product = (i, j) => mean(pairs.map((pair) => (pair[i] - middle[i]) * (pair[j] - middle[j])));
  return product(0, 1) / Math.sqrt(product(0, 0) * product(1, 1));
}

function cell(across, down, label, colour) {
  const size = 96, scale = window.devicePixelRatio || 1;
  const pairs = across.map((x, n) => [x, down[n]]).filter(([x, y]) => x !== null && y !== null);
  const canvas = h("canvas", { class: "plot", width: size * scale, height: size * scale, role: "img", "aria-label": `${label}, correlation ${number(correlation(pairs), 2)} in the rows drawn` });
  const range = (values) => { const low = Math.min(...values), high = Math.max(...values); return [low, high > low ? high - low : 1]; };
  const [left, wide] = range(pairs.map(([x]) => x)), [low, high] = range(pairs.map(([, y]) => y));
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.fillStyle = colour;
  pen.globalAlpha = 0.45;
  for (const [x, y] of pairs) pen.fillRect(4 + ((x - left) / wide) * (size - 10), size - 6 - ((y - low) / high) * (size - 10), 2.2, 2.2);
  return canvas;
}

function drawScatter() {
  const box = document.getElementById("scatter");
  if (!box) return;
  const { sample } = store.table;
  const names = Object.keys(sample).filter((name) => plotted.has(name));
  const colour = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  if (names.length < 2) return fill(box, h("p", { class: "note" }, "Choose two columns or more to plot."));
  return fill(box, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scatter plots" },
    h("table", { class: "scatter" }, h("tbody", {}, names.map((down, row) => h("tr", {},
      names.map((across, column) => h("td", {}, row === column ? h("span", { class: "diagonal" }, down) : cell(sample[across], sample[down], `${down} against ${across}`, colour)))))))));
}

/** What there is to open; the table itself is not rebuilt with it. */
function renderOpening() {
  const { table, state } = store;
  if (!state) return;
  if (!document.getElementById("opened")) fill(place("table"), opener(), h("div", { id: "opened" }));
  fill(document.getElementById("opening"),
    state.opening ? h("p", {}, "Opening the table …") : null,
    state.tables.length ? menu("tables", "Table", state.tables.map((each) => [each.id, each.name]), table?.id, (id) => attempt(() => lookAtTable(id))) : null);
}

function render() {
  const hasRows = Object.keys(store.table.sample ?? {}).length > 1;
  fill(document.getElementById("opened"), allOrNone(), columns(), warnings(), roles(), readingForm(),
    hasRows ? h("details", { open: true }, h("summary", {}, "Scatter plots"), h("div", { id: "scatter" })) : null);
  drawScatter();
}

// The dots have the colour of the moment in which they are drawn.
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => store.table && drawScatter());

let shown = "";
watch(["table"], () => {
  plotted = new Set(Object.keys(store.table.sample ?? {}).slice(0, SHOWN));
  renderOpening();
  render();
});
watch(["state"], () => {
  const key = JSON.stringify([store.state.tables, store.state.opening]);
  if (key !== shown) renderOpening();
  shown = key;
});

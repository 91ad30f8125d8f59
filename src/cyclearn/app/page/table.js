// Opening a table, choosing columns, and looking at them.

import * as api from "./api.js";
import { fill, h, menu, number, place, s } from "./dom.js";
import { aloud, attempt, change, lookAtTable, poll, sayOpen, store, watch } from "./store.js";

const SHOWN = 4;
let plotted = new Set();

async function open(action, name) {
  const table = await attempt(action, `Opening ${name} …`);
  if (!table) return;
  await attempt(() => lookAtTable(table.id));
  sayOpen();
  await poll(true);
}

/** Open saved work, and look at the last of its tables. */
async function openWork(file) {
  if (!(await attempt(() => api.openWork(file), `Opening ${file.name} …`))) return;
  await poll(true);
  await attempt(() => lookAtTable(store.state.tables[store.state.tables.length - 1].id));
}

function openFiles(files) {
  const { max_bytes: most } = store.state.limits;
  for (const file of files) {
    if (file.size > most) {
      attempt(() => Promise.reject(new Error(`${file.name} has ${file.size.toLocaleString("en")} bytes; the application takes ${most.toLocaleString("en")} at most.`)));
    } else if (file.name.endsWith(".cyclearn")) openWork(file);
    else open(() => api.openFile(file), file.name);
  }
}

function opener() {
  const input = h("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.dat,.tab,.parquet,.feather,.dta,.xlsx,.cyclearn", onchange: () => { openFiles(input.files); input.value = ""; } });
  const drop = h("div", { class: "drop" },
    h("p", {}, h("label", { for: "file" }, "Open a table with a header (CSV, TSV, Excel, Parquet, Stata) or saved work, or drop one here: "), input),
    h("p", {}, h("button", { type: "button", id: "example", onclick: () => open(api.openExample, "the example") }, "Use the example data")));
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); drop.classList.remove("over"); openFiles(event.dataTransfer.files); });
  return drop;
}

const histogram = (counts, name) => {
  const most = Math.max(...counts, 1);
  return s("svg", { class: "histogram", viewBox: `0 0 ${counts.length * 4} 20`, role: "img", "aria-label": `Histogram of ${name}` },
    counts.map((count, n) => s("rect", { x: n * 4, y: 20 - (20 * count) / most, width: 3.4, height: (20 * count) / most })));
};

function columnRow(column) {
  if (column.problem) {
    return h("tr", { class: "unusable" }, h("td", {}), h("th", { scope: "row" }, column.name), h("td", { colspan: 6 }, `Cannot be used: it ${column.problem}.`));
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
    h("td", { class: "number" }, number(column.mean)),
    h("td", { class: "number" }, number(column.sd)),
    h("td", { class: "number" }, `${number(column.min)} to ${number(column.max)}`),
    h("td", { class: "number" }, column.missing ? column.missing.toLocaleString("en") : "–"),
    h("td", {}, store.table.sample[column.name] && h("input", { type: "checkbox", checked: plotted.has(column.name), "aria-label": `Plot ${column.name}`, onchange: plot })));
}

function columns() {
  const { table } = store;
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Columns" },
    h("table", { class: "columns" },
      h("caption", {}, `${table.name}: ${table.n_rows.toLocaleString("en")} rows`),
      h("thead", {}, h("tr", {}, ["use", "column", "values", "mean", "sd", "range", "missing", "plot"].map((name, n) => h("th", { scope: "col", class: n > 2 && n < 7 && "number" }, name)))),
      h("tbody", {}, table.columns.map(columnRow))));
}

function allOrNone() {
  const every = store.table.columns.filter((column) => !column.problem).map((column) => column.name);
  const all = (names) => () => {
    change({ columns: names });
    for (const box of document.querySelectorAll("input.use")) box.checked = names.length > 0;
    aloud(`${names.length} columns are used.`);
  };
  return h("p", { class: "buttons" },
    h("button", { type: "button", id: "use-all", onclick: all(every) }, "Use all columns"),
    h("button", { type: "button", id: "use-none", onclick: all([]) }, "Use none"));
}

function missing() {
  const { table, draft } = store;
  const codes = h("input", { id: "codes", type: "text", class: "wide", value: (table.reading.missing_codes || []).join(", "), placeholder: "-999, unknown" });
  const again = (sheet) => open(() => api.readAgain(table.id, codes.value.split(",").map((code) => code.trim()).filter(Boolean), sheet), table.name);
  return h("fieldset", {}, h("legend", {}, "How the file is read"),
    (table.sheets || []).length > 1 && menu("sheet", "Sheet", table.sheets.map((name) => [name, name]), table.reading.sheet || table.sheets[0], again),
    table.has_holes && menu("missing", "How to treat missing values", [["em", "use all rows (maximum likelihood)"], ["rows", "use complete rows only"], ["pairwise", "use the rows that each pair has"]],
      draft.options.missing || "em", (value) => change({ options: { ...draft.options, missing: value } })),
    h("p", { class: "fields" }, h("label", { class: "field" }, h("span", {}, "Codes for missing values, in addition to empty cells and NA"), codes), " ",
      h("button", { type: "button", id: "read-again", onclick: () => again(table.reading.sheet) }, "Apply")));
}

function groups() {
  const { table, draft } = store;
  const columns_ = [["", "none"], ...table.columns.map((column) => [column.name, `by ${column.name}`])];
  const chosen_ = (changes) => { change(changes); render(); };
  return h("fieldset", {}, h("legend", {}, "Several tables in one"),
    h("p", { class: "fields" },
      menu("groups", "Groups: one graph for all, with weights for each", columns_, draft.groups, (groups) => chosen_({ groups, interventions: groups ? "" : draft.interventions })),
      menu("interventions", "Experiments: the column that lists the targets of each row", columns_, draft.interventions, (interventions) => chosen_({ interventions, groups: interventions ? "" : draft.groups })),
      draft.interventions && menu("intervention_kind", "The intervention", [["perfect", "is cut off from its causes"], ["noise", "keeps its causes, with other noise"], ["shift", "keeps its causes and noise, and is shifted"]], draft.intervention_kind, (intervention_kind) => chosen_({ intervention_kind })),
      draft.interventions && menu("intercepts", "Shifts of means between tables", [["shared", "count"], ["table", "do not count"]], draft.intercepts, (intercepts) => chosen_({ intercepts }))),
    draft.interventions ? h("p", { class: "note" }, `Cells of ${draft.interventions} list the targets of that row, separated by commas; rows with an empty cell were only observed.`) : null);
}

function warnings() {
  const { table } = store;
  const items = table.warnings.map((each) => h("li", {}, h("strong", {}, each.message), " ", each.remedy));
  if (table.trouble) items.unshift(h("li", {}, h("strong", {}, "It cannot be used: "), table.trouble));
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
    state.tables.length ? menu("tables", "Table", state.tables.map((each) => [each.id, `${each.name} (${each.n_rows.toLocaleString("en")} rows)`]), table?.id, (id) => attempt(() => lookAtTable(id))) : null);
}

function render() {
  fill(document.getElementById("opened"), allOrNone(), columns(), groups(), missing(), warnings(),
    h("details", { open: true }, h("summary", {}, "Scatter plots"), h("div", { id: "scatter" })));
  drawScatter();
}

// The dots have the colour of the moment in which they are drawn.
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => store.table && drawScatter());

let shown = "";
watch(["table"], () => {
  plotted = new Set(Object.keys(store.table.sample).slice(0, SHOWN));
  renderOpening();
  render();
});
watch(["state"], () => {
  const key = JSON.stringify([store.state.tables, store.state.opening]);
  if (key !== shown) renderOpening();
  shown = key;
});

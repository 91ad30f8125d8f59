// How the file of a table is read: sheet, header, missing values, conditions on rows, numbers for the values of a column.

import { field, fill, h, menu, tick } from "./dom.js";
import { MENUS } from "./options.js";
import { change, readAgain, store } from "./store.js";

const COMPARISONS = ["=", "≠", "<", "≤", ">", "≥"];

/** The number that a text is, or the text. */
const valueOf = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);
const isText = (name) => Boolean(store.table.columns.find((column) => column.name === name)?.problem);

function conditions() {
  const { where = [] } = store.table.reading, { columns } = store.table;
  const column = h("select", { id: "where-column" }, columns.map(({ name }) => h("option", { value: name }, name)));
  const comparison = h("select", { id: "where-comparison" }, COMPARISONS.map((each) => h("option", { value: each }, each)));
  const value = h("input", { id: "where-value", type: "text" });
  const add = () => value.value.trim() && readAgain({ where: [...where, [column.value, comparison.value, isText(column.value) ? value.value.trim() : valueOf(value.value)]] });
  return [
    h("ul", { class: "conditions" }, where.map((each, n) => h("li", {}, each.join(" "), " ",
      h("button", { type: "button", "aria-label": `Remove the condition ${each.join(" ")}`, onclick: () => readAgain({ where: where.filter((_, m) => m !== n) }) }, "Remove")))),
    h("p", { class: "fields" }, field("Use only rows in which", column), field("is", comparison), field("the value", value),
      h("button", { type: "button", id: "where-add", onclick: add }, "Add the condition")),
  ];
}

/** The values of a column, as far as they are few. */
function levelsOf(name) {
  const { columns, sample, reading } = store.table;
  const known = reading.recode?.[name]?.map(([level]) => level) ?? columns.find((column) => column.name === name)?.levels;
  const seen = known ?? [...new Set((sample[name] ?? []).filter((each) => each !== null))].sort((a, b) => a - b);
  return seen.length <= 12 ? seen : [];
}

function recoding() {
  const { reading, columns } = store.table, { recode = {} } = reading;
  const names = columns.map(({ name }) => name).filter((name) => levelsOf(name).length > 1);
  if (!names.length) return null;
  const box = h("div", {});
  const show = (name) => fill(box, name ? codes(name) : []);
  const choose = h("select", { id: "recode-column", onchange: () => show(choose.value) }, [["", "none"], ...names.map((name) => [name, name])].map(([value, words]) => h("option", { value }, words)));
  const set = (name, pairs) => {
    const { [name]: _, ...others } = recode;
    return readAgain({ recode: pairs ? { ...others, [name]: pairs } : others });
  };
  const codes = (name) => {
    const now = new Map(recode[name] ?? []);
    const inputs = levelsOf(name).map((level, n) => [level, h("input", { type: "number", step: "any", class: "code", "aria-label": `Number for ${level}`, value: now.get(level) ?? (typeof level === "number" ? level : n) })]);
    return [
      h("dl", { class: "facts" }, inputs.map(([level, input]) => [h("dt", {}, String(level)), h("dd", {}, input)])),
      h("p", { class: "buttons" },
        h("button", { type: "button", id: "recode", onclick: () => set(name, inputs.filter(([, input]) => input.value !== "").map(([level, input]) => [level, Number(input.value)])) }, `Use these numbers for ${name}`),
        recode[name] ? h("button", { type: "button", id: "recode-undo", onclick: () => set(name, null) }, "As in the file") : null),
      h("p", { class: "note" }, "The same number for several values joins them; an empty field makes a value missing."),
    ];
  };
  return [h("p", { class: "fields" }, field("Give numbers to the values of", choose)),
    Object.keys(recode).length ? h("p", { class: "note" }, `With numbers of your own: ${Object.keys(recode).join(", ")}.`) : null, box];
}

/** Everything about the file, as one group of controls. */
export function readingForm() {
  const { table, draft } = store, { reading } = table;
  const codes = h("input", { id: "codes", type: "text", class: "wide", value: (reading.missing_codes || []).join(", "), placeholder: "-999, unknown" });
  const apply = () => readAgain({ missing_codes: codes.value.split(",").map((code) => code.trim()).filter(Boolean) });
  if (reading.covariance) {
    const n = h("input", { id: "n-rows", type: "number", min: 2, value: reading.n ?? (table.n_rows || "") });
    return h("fieldset", {}, h("legend", {}, "A covariance matrix"),
      h("p", { class: "fields" }, field("Number of rows from which it was computed", n), h("button", { type: "button", id: "read-again", onclick: () => readAgain({ n: Number.parseInt(n.value, 10) }) }, "Apply")));
  }
  return h("fieldset", {}, h("legend", {}, "How the file is read"),
    h("p", { class: "fields" },
      (table.sheets || []).length > 1 && menu("sheet", "Sheet", table.sheets.map((name) => [name, name]), reading.sheet || table.sheets[0], (sheet) => readAgain({ sheet, where: [], recode: {} })),
      tick("header", "The first line contains names", reading.header !== false, (header) => readAgain({ header: header ? undefined : false, where: [], recode: {} })),
      table.has_holes && menu("missing", ...MENUS.missing, draft.options.missing || "em", (missing) => change({ options: { ...draft.options, missing } })),
      field("Codes for missing values, in addition to empty cells and NA", codes),
      h("button", { type: "button", id: "read-again", onclick: apply }, "Apply")),
    h("details", { id: "rows", open: Boolean(reading.where?.length) }, h("summary", {}, reading.where?.length ? `Rows that are used (${reading.where.length})` : "Use only some rows"), conditions()),
    h("details", { id: "recoding", open: Boolean(Object.keys(reading.recode ?? {}).length) }, h("summary", {}, "Give numbers to values"), recoding() ?? h("p", { class: "note" }, "No column has few values.")));
}

// Opening tables and saved work: by file, by drop, from the examples.

import * as api from "./api.js";
import { field, h } from "./dom.js";
import { EXAMPLES, gallery } from "./examples.js";
import { attempt, lookAtTable, poll, sayOpen, store } from "./store.js";
import { tourButton } from "./tour.js";

async function open(action, name) {
  const table = await attempt(action, `Opening ${name} …`);
  if (!table) return;
  await attempt(() => lookAtTable(table.id));
  sayOpen();
  await poll(true);
}

const openExample = ({ file, title, draft, reading }) => open(async () => {
  document.getElementById("examples").open = false;
  const table = await api.openExample(file);
  await api.saveDraft(table.id, draft);
  return reading ? api.readAgain(table.id, reading) : table;
}, title);

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

/** Where files are opened and dropped. */
export function opener() {
  const input = h("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.dat,.tab,.parquet,.feather,.dta,.xlsx,.cyclearn", onchange: () => { openFiles(input.files); input.value = ""; } });
  const drop = h("div", { class: "drop" },
    h("p", {}, field("Open a table, a covariance matrix or saved work, or drop it here", input)),
    h("p", { class: "buttons" }, h("button", { type: "button", id: "example", onclick: () => openExample(EXAMPLES[0]) }, "Use the example data"), tourButton()));
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); drop.classList.remove("over"); openFiles(event.dataTransfer.files); });
  return [drop, gallery(openExample)];
}

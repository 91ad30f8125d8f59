// What the person calls a result and writes about it, and removing it.

import { changeJob } from "./api.js";
import { field, h } from "./dom.js";
import { attempt, lookAt, lookAtTable, poll, say, store, titleOf } from "./store.js";

export function notes() {
  const { id, table: of, name, note } = store.result;
  const save = async (changes) => {
    const job = await attempt(() => changeJob(id, changes));
    if (!job) return;
    if (store.result?.id === id) Object.assign(store.result, { name: job.name, note: job.note });
    await poll(true);
  };
  const remove = async (is_removed) => {
    await save({ is_removed });
    await attempt(() => (is_removed ? lookAtTable(of) : lookAt(id)));
    say(is_removed ? [`${titleOf({ id, name })} was removed. `, h("button", { type: "button", id: "undo", onclick: () => remove(false) }, "Undo")] : "");
  };
  return h("details", { id: "own", open: true }, h("summary", {}, "Name and notes"),
    h("p", { class: "fields" },
      field("Name", h("input", { id: "result-name", class: "wide", type: "text", maxlength: 200, value: name, placeholder: titleOf({ id }), onchange: async (event) => {
        await save({ name: event.target.value });
        document.querySelector("#graph .side > h3").textContent = titleOf(store.result);
      } })),
      h("button", { type: "button", id: "remove", onclick: () => remove(true) }, "Remove this result")),
    field("Notes", h("textarea", { id: "result-note", maxlength: 20000, onchange: (event) => save({ note: event.target.value }) }, note)));
}

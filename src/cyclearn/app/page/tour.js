// A short way through all steps, with a sentence on each; the example is opened where there is no table.

import { fill, go, h } from "./dom.js";
import { store } from "./store.js";

const STOPS = [
  ["table", "A table", "Open a file, or one of the examples. The page shows what is in each column and warns of problems. Choose the columns to use, conditions on rows, and how columns are read."],
  ["knowledge", "What you know", "Optional: put variables in temporal order, and forbid or require edges. The search never violates this."],
  ["learn", "Learn", "Learn starts the search. The question mark next to a control explains it. Most tables need no other options."],
  ["graph", "The answer", "The graph, a conclusion in words, warnings, and how probable each edge is. Press edges and variables, choose a layout, fold loops, hide weak edges."],
  ["effects", "What if", "Hold or shift one variable, and see how the others respond, over all graphs that fit equally well."],
  ["sure", "How sure", "Probabilities, resamples, and the most informative experiment."],
  ["compare", "Compare", "Draw your own graph, or paste one, and see whether it fits as well."],
  ["take", "Download", "Reports, pictures, models for other software, a script that repeats everything, and your whole work as one file."],
];

const box = h("div", { id: "tour", class: "tour", role: "dialog", "aria-label": "Tour", hidden: true });
document.body.append(box);

function show(n) {
  const [step, title, words] = STOPS[n];
  go(step);
  box.hidden = false;
  const button = (id, label, press) => h("button", { type: "button", id, onclick: press }, label);
  fill(box,
    h("h3", {}, `${n + 1} of ${STOPS.length}: ${title}`), h("p", {}, words),
    h("p", { class: "buttons" },
      n > 0 ? button("tour-back", "Back", () => show(n - 1)) : null,
      n < STOPS.length - 1 ? button("tour-next", "Next", () => show(n + 1)) : null,
      button("tour-end", n < STOPS.length - 1 ? "End the tour" : "Done", () => { box.hidden = true; document.getElementById("tour-start")?.focus(); })));
  document.getElementById(n < STOPS.length - 1 ? "tour-next" : "tour-end").focus();
}

box.addEventListener("keydown", (event) => { if (event.key === "Escape") document.getElementById("tour-end").click(); });

/** What begins the tour. */
export const tourButton = () => h("button", { type: "button", id: "tour-start", onclick: () => {
  if (!store.table) document.getElementById("example").click();
  show(0);
} }, "Take a tour");

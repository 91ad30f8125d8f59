// Every section fills its own place; the store tells them when something has changed. One is shown at a time.

import "./table.js";
import "./knowledge.js";
import "./learn.js";
import "./graph.js";
import "./effects.js";
import "./sure.js";
import "./compare.js";
import "./take.js";
import { poll, store, watch } from "./store.js";

function show() {
  const wanted = document.getElementById(window.location.hash.slice(1));
  const shown = wanted?.matches("main > section") ? wanted : document.getElementById("table");
  for (const section of document.querySelectorAll("main > section")) section.classList.toggle("shown", section === shown);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${shown.id}`) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  window.scrollTo(0, 0);
}

window.addEventListener("hashchange", show);
show();
watch(["state"], () => {
  document.getElementById("where").textContent =
    `Version ${store.state.version}. Everything stays on this machine, in ${store.state.workspace}.`;
});
document.addEventListener("visibilitychange", () => document.hidden || poll());
poll();

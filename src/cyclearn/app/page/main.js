// Every section fills its own place; the store tells them when something has changed.

import "./table.js";
import "./knowledge.js";
import "./learn.js";
import "./graph.js";
import "./effects.js";
import "./sure.js";
import "./compare.js";
import "./take.js";
import { poll, store, watch } from "./store.js";

watch(["state"], () => {
  document.getElementById("where").textContent =
    `Version ${store.state.version}. Everything stays on this machine, in ${store.state.workspace}.`;
});
document.addEventListener("visibilitychange", () => document.hidden || poll());
poll();

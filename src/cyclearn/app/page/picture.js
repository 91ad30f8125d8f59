// The library's own drawing, made clickable; one picture serves all graphs of a class.

import { arrow, number } from "./dom.js";

const UNIT = 38, LEAST = 21;

/** The drawing as an element, with a button for every edge. */
export function picture(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const svg = document.importNode(parsed, true);
  const [, , width] = svg.getAttribute("viewBox").split(" ").map(Number);
  svg.style.width = `${Math.round(width * UNIT)}px`;
  svg.style.minWidth = `${Math.round(width * LEAST)}px`;
  // Its parts can be pressed, so it is no mere image.
  svg.setAttribute("role", "group");
  return svg;
}

/** Let edges be pressed, by mouse and keyboard. */
export function pressable(svg, edges, pressed) {
  const groups = [...svg.querySelectorAll("[data-edge]")];
  for (const group of groups) {
    const edge = edges[Number(group.dataset.edge)];
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.dataset.name = arrow(edge.source, edge.target);
    // A thin line is hard to hit: a wide one lies over it.
    const line = group.querySelector("path");
    const wide = line.cloneNode();
    wide.setAttribute("class", "hit");
    wide.removeAttribute("stroke-width");
    group.append(wide);
    const press = () => pressed(Number(group.dataset.edge));
    group.addEventListener("click", press);
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press();
    });
  }
}

/** Show one member: its edges with their weights, and how it differs from the learned graph. */
export function showMember(svg, member, learned) {
  const present = new Map(member.edges.map((edge, n) => [edge, member.standardised ? member.standardised[n] : null]));
  const before = new Set(learned.edges);
  const groups = svg.querySelectorAll("[data-edge]");
  const labels = svg.querySelectorAll("text.weight");
  groups.forEach((group, n) => {
    const isHere = present.has(n), weight = present.get(n);
    const sign = weight === null ? "neutral" : weight < 0 ? "negative" : "positive";
    const change = isHere ? (before.has(n) ? "" : "new") : before.has(n) ? "removed" : "absent";
    const chosen = group.classList.contains("chosen") ? "chosen" : "";
    group.setAttribute("class", ["edge", isHere ? sign : "", change, chosen].filter(Boolean).join(" "));
    group.setAttribute("tabindex", change === "absent" ? "-1" : "0");
    const words = isHere ? weight !== null && number(weight, 2) : "not in this graph";
    group.setAttribute("aria-label", [group.dataset.name, words].filter(Boolean).join(": "));
    if (isHere) group.querySelector("path").setAttribute("stroke-width", (0.045 + 0.115 * Math.min(Math.abs(weight ?? 0.2), 1)).toFixed(3));
    if (labels[n]) {
      labels[n].textContent = isHere && weight !== null ? number(weight, 2) : "";
      labels[n].setAttribute("class", `weight ${isHere ? sign : ""}`);
    }
  });
}

/** Mark the edge that is looked at. */
export function choose(svg, edge) {
  for (const group of svg.querySelectorAll("[data-edge]")) group.classList.toggle("chosen", Number(group.dataset.edge) === edge);
}

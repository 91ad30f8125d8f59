// A graph drawn by the page itself, in the same language as the library's pictures.

import { arc, around, halfWidth, shortened } from "./geometry.js";
import { s } from "./dom.js";

/** How wide the line of a standardised weight is. */
export const lineWidth = (weight) => 0.045 + 0.115 * Math.min(Math.abs(weight), 1);

/** Places and sizes of the nodes of a picture, by name. */
export function nodesOf(svg) {
  return new Map([...svg.querySelectorAll("[data-node]")].map((group) => {
    const [x, y, width] = ["x", "y", "width"].map((name) => Number(group.querySelector("rect").getAttribute(name)));
    return [group.dataset.node, { x: x + width / 2, y: y + 0.5, half: width / 2 }];
  }));
}

/** Nodes at these places, [x, y] by name. */
export const placed = (places) => new Map([...places].map(([name, [x, y]]) => [name, { x, y, half: halfWidth(shortened(name)) }]));

/** Sizes of nodes that have no places yet. */
export const unplaced = (names) => new Map(names.map((name) => [name, { x: 0, y: 0, half: halfWidth(shortened(name)) }]));

/** A picture: nodes by name, edges as {source, target, weight}, of which those without a weight are plain. */
export function draw(nodes, edges, { title }) {
  const MARGIN = 0.7, frame = around([...nodes.values()], MARGIN);
  // Everything lies to the right of and below zero, as in the library's pictures.
  const at = new Map([...nodes].map(([name, node]) => [name, { ...node, x: node.x - frame.x, y: node.y - frame.y }]));
  const paired = new Set(edges.map(({ source, target }) => JSON.stringify([target, source])));
  const lines = edges.map(({ source, target, weight = null }, n) => {
    const width = weight === null ? 0.06 : lineWidth(weight);
    const { path, head, middle } = arc(at.get(source), at.get(target), { width, isPaired: paired.has(JSON.stringify([source, target])) });
    const sign = weight === null ? "neutral" : weight < 0 ? "negative" : "positive";
    return {
      line: s("g", { class: `edge ${sign}`, "data-edge": n }, s("path", { d: path, "stroke-width": width.toFixed(3) }), s("polygon", { points: head })),
      label: weight === null ? null : s("text", { class: `weight ${sign}`, "data-label": n, x: middle[0].toFixed(2), y: (middle[1] + 0.13).toFixed(2) }),
    };
  });
  return s("svg", { class: "graph", viewBox: `0 0 ${frame.width.toFixed(2)} ${frame.height.toFixed(2)}`, role: "group" },
    s("title", {}, title), lines.map(({ line }) => line),
    [...at].map(([name, { x, y, half }]) => s("g", { class: "node", "data-node": name }, s("title", {}, name),
      s("rect", { x: (x - half).toFixed(2), y: (y - 0.5).toFixed(2), width: (2 * half).toFixed(2), height: 1, rx: 0.22 }),
      s("text", { x: x.toFixed(2), y: (y + 0.18).toFixed(2) }, shortened(name)))),
    lines.map(({ label }) => label));
}

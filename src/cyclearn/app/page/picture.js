// A drawing as a canvas: zoom, pan, nodes that can be moved, edges that can be pressed, loops that can be folded. One
// picture serves all graphs of a class. No library for this is taken: those to be had draw on a bitmap, which a
// keyboard and a screen reader cannot reach, and would draw another picture than the report.

import { arrow, h, number, s } from "./dom.js";
import { lineWidth, nodesOf } from "./drawing.js";
import { arc, around, halfWidth, shortened } from "./geometry.js";
import { placeLabels } from "./labels.js";

// Pixels for the height of a node: as drawn, too small to be read, and just large enough.
const UNIT = 38, TINY = 16, LEGIBLE = 20;
const LARGEST = 3, PADDING = 0.45;
// The width of a line without a weight.
const PLAIN = 0.06;

/** The library's drawing as an element. */
export function picture(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const svg = document.importNode(parsed, true);
  // Its parts can be pressed, so it is not a mere image.
  svg.setAttribute("role", "group");
  return svg;
}

/**
 * A box around a drawing, with zoom, pan and drag. ``edges`` are pairs of names by number; ``pressed`` hears of
 * a node, an edge or a folded loop that is pressed, ``moved`` of nodes that were moved: [name, x, y].
 */
export class Canvas {
  constructor(box, svg, edges, { pressed, moved = () => {} } = {}) {
    this.svg = typeof svg === "string" ? picture(svg) : svg;
    this.edges = edges;
    this.groups = new Map([...this.svg.querySelectorAll("[data-edge]")].map((group) => [Number(group.dataset.edge), group]));
    this.labels = new Map([...this.svg.querySelectorAll("[data-label]")].map((label) => [Number(label.dataset.label), label]));
    this.nodes = new Map([...nodesOf(this.svg)].map(([name, node]) => [name, { ...node, left: node.x, top: node.y, touching: [] }]));
    for (const group of this.svg.querySelectorAll("[data-node]")) this.nodes.get(group.dataset.node).group = group;
    edges.forEach(({ source, target }, n) => { for (const name of [source, target]) this.nodes.get(name)?.touching.push(n); });
    this.frames = [...this.svg.querySelectorAll("rect.group")].map((frame) => ({ frame, names: JSON.parse(frame.dataset.nodes) }));
    const [, , width, height] = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.whole = { x: 0, y: 0, width, height };
    // By name, what stands in for a variable while its loop is folded.
    this.folded = new Map();
    this.box = box;
    this.pressed = pressed;
    this.moved = moved;
    box.replaceChildren(this.svg);
    this.listen();
    // A step that is not shown has no size; once it is, it has.
    new ResizeObserver(() => this.svg.isConnected && this.begin()).observe(box);
  }

  /** Of very many edges the library draws only those shown first; another gets its line when it is shown. */
  add(n) {
    const group = s("g", { class: "edge", "data-edge": n }, s("path", { "stroke-width": PLAIN }), s("polygon", this.edges[n].shared ? {} : { class: "open" }));
    this.groups.set(n, group);
    this.svg.insertBefore(group, this.svg.querySelector("[data-node]"));
    if (this.pressed) this.makeLine(n);
  }

  /** The first view: all of it, or where that could not be read, the surroundings of the node with the most edges shown. */
  begin() {
    this.fit();
    if (!this.scale || this.scale > TINY) return;
    const shown = (node) => node.touching.filter((n) => this.groups.get(n)?.classList.contains("absent") === false).length;
    const { x, y } = [...this.nodes.values()].reduce((one, other) => (shown(other) > shown(one) ? other : one));
    // Not beyond the border, where there is nothing to see.
    const inside = (at, from, size, seen) => (seen > size ? from + size / 2 : Math.min(Math.max(at, from + seen / 2), from + size - seen / 2));
    const { x: left, y: top, width, height } = this.whole, { clientWidth, clientHeight } = this.box;
    this.look(inside(x, left, width, clientWidth / LEGIBLE), inside(y, top, height, clientHeight / LEGIBLE), LEGIBLE);
    this.box.classList.add("part");
  }

  /** Show all of it, as large as it can be read well. */
  fit() {
    this.box.classList.remove("part");
    const { x, y, width, height } = this.whole, { clientWidth, clientHeight } = this.box;
    if (clientWidth) this.look(x + width / 2, y + height / 2, Math.min(clientWidth / width, clientHeight / height, UNIT * 1.2));
  }

  /** Put a point of the drawing into the middle, at a scale in pixels. */
  look(x, y, scale) {
    const least = Math.min(this.box.clientWidth / this.whole.width, this.box.clientHeight / this.whole.height, UNIT) / 2;
    this.scale = Math.min(Math.max(scale, least), UNIT * LARGEST);
    const width = this.box.clientWidth / this.scale, height = this.box.clientHeight / this.scale;
    this.view = [x - width / 2, y - height / 2, width, height];
    this.svg.setAttribute("viewBox", this.view.map((each) => each.toFixed(3)).join(" "));
  }

  zoom(factor, at = null) {
    const [x, y, width, height] = this.view;
    const [px, py] = at ?? [x + width / 2, y + height / 2];
    const before = this.scale;
    const after = Math.min(before * factor, UNIT * LARGEST);
    this.look(px + (x + width / 2 - px) * before / after, py + (y + height / 2 - py) * before / after, after);
  }

  point(event) {
    const { left, top } = this.box.getBoundingClientRect();
    return [this.view[0] + (event.clientX - left) / this.scale, this.view[1] + (event.clientY - top) / this.scale];
  }

  listen() {
    const { box, svg } = this;
    let held = null;
    box.onwheel = (event) => { event.preventDefault(); this.zoom(Math.exp(-event.deltaY / 500), this.point(event)); };
    svg.addEventListener("pointerdown", (event) => {
      const group = event.target.closest("[data-node], [data-edge]");
      held = { group, node: this.nodes.get(group?.dataset.node), at: this.point(event), from: [event.clientX, event.clientY], isMoved: false };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      held.isMoved ||= Math.hypot(event.clientX - held.from[0], event.clientY - held.from[1]) > 3;
      if (!held.isMoved) return;
      const [x, y] = this.point(event), [dx, dy] = [x - held.at[0], y - held.at[1]];
      if (held.node) {
        this.move(held.group.dataset.node, held.node.x + dx, held.node.y + dy);
        held.at = [x, y];
      } else this.look(this.view[0] + this.view[2] / 2 - dx, this.view[1] + this.view[3] / 2 - dy, this.scale);
    });
    svg.addEventListener("pointerup", () => {
      if (held?.isMoved && held.node) {
        this.placeLabels();
        if (!held.group.classList.contains("loop")) this.moved(held.group.dataset.node, held.node.x, held.node.y);
      } else if (held?.group && !held.isMoved) this.press(held.group);
      held = null;
    });
    svg.addEventListener("pointercancel", () => { held = null; });
    if (!this.pressed) return;
    for (const [name, { group }] of this.nodes) this.makeButton(group, name);
    for (const n of this.groups.keys()) this.makeLine(n);
  }

  /** Let the line of an edge be pressed. */
  makeLine(n) {
    const group = this.groups.get(n);
    group.dataset.name = arrow(this.edges[n].source, this.edges[n].target);
    this.makeButton(group, group.dataset.name);
    group.prepend(s("title"));
    // A thin line is hard to hit: a wide one lies over it.
    const wide = group.querySelector("path").cloneNode();
    wide.setAttribute("class", "hit");
    wide.removeAttribute("stroke-width");
    group.append(wide);
  }

  press(group) {
    if (!this.pressed) return;
    if (group.dataset.edge !== undefined) this.pressed({ edge: Number(group.dataset.edge) });
    else if (group.classList.contains("loop")) this.pressed({ loop: this.nodes.get(group.dataset.node).names });
    else this.pressed({ node: group.dataset.node });
  }

  makeButton(group, label) {
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", label);
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.press(group);
    });
  }

  /** Move a node, and draw again the edges that it touches and the frame of its loop. */
  move(name, x, y) {
    this.put(name, x, y);
    for (const n of this.nodes.get(name).touching) this.route(n);
    for (const each of this.frames) if (each.names.includes(name)) this.enclose(each);
  }

  put(name, x, y) {
    const node = this.nodes.get(name);
    [node.x, node.y] = [x, y];
    node.group.setAttribute("transform", `translate(${(x - node.left).toFixed(2)} ${(y - node.top).toFixed(2)})`);
  }

  enclose({ frame, names }) {
    for (const [side, size] of Object.entries(around(names.map((each) => this.nodes.get(each)), PADDING))) frame.setAttribute(side, size.toFixed(2));
  }

  /** Move all nodes to places by name. */
  arrange(places) {
    for (const [name, spot] of places) if (this.nodes.has(name)) this.put(name, ...spot);
    // Variables outside a loop may now be among those inside.
    for (const { frame } of this.frames) frame.remove();
    this.frames = [];
    this.routeAll();
    this.whole = around([...this.nodes.values()], 0.8);
    this.fit();
  }

  routeAll() {
    for (const n of this.groups.keys()) this.route(n);
    for (const each of this.frames) this.enclose(each);
    this.placeLabels();
  }

  /** The node at the end of an edge, or the folded loop that it is in. */
  end(name) {
    return this.folded.get(name) ?? this.nodes.get(name);
  }

  /** Draw one edge again: an arc, bent where another runs back. */
  route(n) {
    const group = this.groups.get(n);
    if (!group) return;
    const { source, target } = this.edges[n], a = this.end(source), b = this.end(target);
    if (a === b) return;
    const isPaired = a.touching.some((other) => this.end(this.edges[other].source) === b && this.end(this.edges[other].target) === a);
    const { path, head, middle } = arc(a, b, { width: Number(group.querySelector("path").getAttribute("stroke-width")), isPaired });
    for (const each of group.querySelectorAll("path")) each.setAttribute("d", path);
    group.querySelector("polygon").setAttribute("points", head);
    const label = this.labels.get(n);
    label?.setAttribute("x", middle[0].toFixed(2));
    label?.setAttribute("y", (middle[1] + 0.13).toFixed(2));
  }

  /** Show each of these loops, as lists of names, as one node; none to show all variables again. */
  fold(loops) {
    if (!loops.length && !this.folded.size) return;
    for (const [name, node] of [...this.nodes]) {
      if (!node.names) continue;
      node.group.remove();
      this.nodes.delete(name);
    }
    this.folded = new Map();
    for (const { frame } of this.frames) frame.classList.remove("folded");
    for (const { group } of this.nodes.values()) group.classList.remove("folded");
    loops.forEach((names, n) => this.foldOne(names, `loop ${n + 1}`));
    this.routeAll();
  }

  foldOne(names, key) {
    const inside = names.map((name) => this.nodes.get(name)), { x, y, width, height } = around(inside, 0);
    const centre = [x + width / 2, y + height / 2], words = `↻ ${shortened(names.join(", "))}`, half = halfWidth(words);
    const group = s("g", { class: "node feedback loop", "data-node": key }, s("title", {}, names.join(", ")),
      s("rect", { x: centre[0] - half, y: centre[1] - 0.5, width: 2 * half, height: 1, rx: 0.5 }), s("text", { x: centre[0], y: centre[1] + 0.18 }, words));
    const node = { x: centre[0], y: centre[1], left: centre[0], top: centre[1], half, group, names, touching: [...new Set(inside.flatMap((each) => each.touching))] };
    if (this.pressed) this.makeButton(group, `Feedback loop of ${names.join(", ")}, folded`);
    this.svg.append(group);
    this.nodes.set(key, node);
    for (const [n, name] of names.entries()) {
      this.folded.set(name, node);
      inside[n].group.classList.add("folded");
    }
    for (const each of this.frames) if (each.names.some((name) => names.includes(name))) each.frame.classList.add("folded");
  }

  /** Edges that are not drawn while loops are folded: those inside, and all but one between the same two. */
  insideFolds(looks) {
    const hidden = new Set(), seen = new Set();
    if (!this.folded.size) return hidden;
    const size = (n) => Math.abs(looks.get(n)?.weight ?? 0);
    for (const n of [...this.groups.keys()].filter((each) => looks.get(each)).sort((i, j) => size(j) - size(i) || i - j)) {
      const { source, target } = this.edges[n], ends = [this.folded.get(source)?.names[0] ?? source, this.folded.get(target)?.names[0] ?? target];
      const key = JSON.stringify(ends);
      if (ends[0] === ends[1] || seen.has(key)) hidden.add(n);
      seen.add(key);
    }
    return hidden;
  }

  /**
   * Show one graph: ``looks(n)`` gives of an edge null where it is hidden, or its weight (null without one),
   * its change ("", "new", "removed") and its words.
   */
  show(looks, hasWeights) {
    const all = new Map(this.edges.map((_, n) => [n, looks(n)])), isNew = (n) => all.get(n) && !this.groups.has(n);
    for (const n of [...all.keys()].filter(isNew)) this.add(n);
    const inside = this.insideFolds(all);
    for (const [n, group] of this.groups) {
      const look = inside.has(n) ? null : all.get(n), weight = look?.weight ?? null;
      const sign = weight === null ? "neutral" : weight < 0 ? "negative" : "positive";
      const chosen = group.classList.contains("chosen") && "chosen", dim = group.classList.contains("dim") && "dim";
      group.setAttribute("class", ["edge", look ? sign : "absent", look?.change, chosen, dim].filter(Boolean).join(" "));
      group.setAttribute("tabindex", look && this.pressed ? "0" : "-1");
      if (this.pressed) {
        group.setAttribute("aria-label", [group.dataset.name, look?.words].filter(Boolean).join(": "));
        group.querySelector("title").textContent = group.getAttribute("aria-label");
      }
      if (weight !== null) group.querySelector("path").setAttribute("stroke-width", lineWidth(weight).toFixed(3));
      if (look && !group.querySelector("path").hasAttribute("d")) this.route(n);
      const label = this.labels.get(n);
      if (!label) continue;
      label.dataset.words = look && hasWeights && look.change !== "removed" ? look.label ?? (weight === null ? "" : number(weight, 2)) : "";
      label.setAttribute("class", `weight ${look ? sign : ""}${dim ? " dim" : ""}`);
    }
    this.tell(all);
    this.placeLabels();
  }

  /** Say of every variable what acts on it and on what it acts, among the edges that are shown. */
  tell(looks) {
    const listed = (node, end, other) => node.touching.filter((n) => looks.get(n) && looks.get(n).change !== "removed" && this.edges[n][end] === node.group.dataset.node).map((n) => this.edges[n][other]).join(", ") || "none";
    for (const node of this.nodes.values()) {
      const title = node.group.querySelector("title");
      if (!title || node.names) continue;
      title.textContent = `${node.group.dataset.node}; causes: ${listed(node, "target", "source")}; effects: ${listed(node, "source", "target")}`;
    }
  }

  /** Place the labels that have words. */
  placeLabels() {
    for (const label of this.labels.values()) label.textContent = label.dataset.words ?? "";
    const labels = [...this.labels].filter(([, label]) => label.textContent);
    const nodes = [...this.nodes.values()].filter(({ group }) => !group.classList.contains("folded"));
    placeLabels(labels.map(([n, label]) => [label, this.groups.get(n).querySelector("path")]), nodes);
  }

  /** Mark the edge that is looked at, and where there is a variable, keep it and its neighbours bright. */
  mark(edge, focus) {
    const near = new Set([focus]);
    for (const [n, group] of this.groups) {
      group.classList.toggle("chosen", n === edge);
      const { source, target } = this.edges[n], isOff = focus !== null && source !== focus && target !== focus;
      group.classList.toggle("dim", isOff);
      this.labels.get(n)?.classList.toggle("dim", isOff);
      if (!isOff && !group.classList.contains("absent")) near.add(source).add(target);
    }
    for (const [name, { group, names }] of this.nodes) {
      const isNear = near.has(name) || names?.some((each) => near.has(each));
      group.classList.toggle("dim", focus !== null && !isNear);
      group.classList.toggle("chosen", name === focus);
    }
  }

  /** Bring a variable into the middle. */
  lookAt(name) {
    const { x, y } = this.end(name);
    this.look(x, y, Math.max(this.scale, 0.8 * UNIT));
  }
}

/** Buttons of a canvas. */
export const zoomButtons = (canvas) => [["Zoom in", "+", () => canvas().zoom(1.3)], ["Zoom out", "−", () => canvas().zoom(1 / 1.3)], ["Fit", "Fit", () => canvas().fit()]]
  .map(([label, words, onclick]) => h("button", { type: "button", "aria-label": label, onclick }, words));

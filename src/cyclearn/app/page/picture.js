// The library's own drawing as a canvas: zoom, pan, nodes that can be moved, edges that can be pressed. One
// picture serves all graphs of a class. No library for this is taken: those to be had draw on a bitmap, which a
// keyboard and a screen reader cannot reach, and would draw another picture than the report.

import { arrow, h, number } from "./dom.js";

const UNIT = 38, LARGEST = 3, PADDING = 0.45, GAP = 0.06;

/** The drawing as an element. */
export function picture(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const svg = document.importNode(parsed, true);
  // Its parts can be pressed, so it is not a mere image.
  svg.setAttribute("role", "group");
  return svg;
}

const numbers = (element, ...names) => names.map((name) => Number(element.getAttribute(name)));

/** Where a line from the centre of a node towards a point leaves its border. */
function border(node, [x, y], gap) {
  const dx = x - node.x, dy = y - node.y;
  const share = Math.min((node.half + gap) / Math.max(Math.abs(dx), 1e-9), (0.5 + gap) / Math.max(Math.abs(dy), 1e-9), 1);
  return [node.x + dx * share, node.y + dy * share];
}

/**
 * A box around a drawing, with zoom, pan and drag. ``edges`` are pairs of names by number; ``pressed`` hears of
 * a node or an edge that is pressed, ``moved`` of nodes that were moved: [name, x, y].
 */
export class Canvas {
  constructor(box, text, edges, { pressed, moved = () => {} } = {}) {
    this.svg = picture(text);
    this.edges = edges;
    this.groups = new Map([...this.svg.querySelectorAll("[data-edge]")].map((group) => [Number(group.dataset.edge), group]));
    this.labels = new Map([...this.svg.querySelectorAll("[data-label]")].map((label) => [Number(label.dataset.label), label]));
    this.nodes = new Map([...this.svg.querySelectorAll("[data-node]")].map((group) => {
      const [x, y, width] = numbers(group.querySelector("rect"), "x", "y", "width");
      return [group.dataset.node, { group, x: x + width / 2, y: y + 0.5, left: x + width / 2, top: y + 0.5, half: width / 2, touching: [] }];
    }));
    edges.forEach(({ source, target }, n) => { for (const name of [source, target]) this.nodes.get(name)?.touching.push(n); });
    this.frames = [...this.svg.querySelectorAll("rect.group")].map((frame) => ({ frame, names: JSON.parse(frame.dataset.nodes) }));
    this.whole = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.box = box;
    this.moved = moved;
    box.replaceChildren(this.svg);
    this.listen(pressed);
    // A step that is not shown has no size; once it is, it has.
    new ResizeObserver(() => this.svg.isConnected && this.fit()).observe(box);
  }

  /** Show all of it, as large as it can be read well. */
  fit() {
    const [, , width, height] = this.whole;
    const { clientWidth, clientHeight } = this.box;
    if (clientWidth) this.look(width / 2, height / 2, Math.min(clientWidth / width, clientHeight / height, UNIT * 1.2));
  }

  /** Put a point of the drawing into the middle, at a scale in pixels. */
  look(x, y, scale) {
    const least = Math.min(this.box.clientWidth / this.whole[2], this.box.clientHeight / this.whole[3], UNIT) / 2;
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

  listen(pressed) {
    const { box, svg } = this;
    let held = null;
    const press = (group) => (group.dataset.node === undefined ? pressed({ edge: Number(group.dataset.edge) }) : pressed({ node: group.dataset.node }));
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
      if (held?.isMoved && held.node) this.moved(held.group.dataset.node, held.node.x, held.node.y);
      else if (held?.group && !held.isMoved && pressed) press(held.group);
      held = null;
    });
    svg.addEventListener("pointercancel", () => { held = null; });
    if (!pressed) return;
    for (const group of [...this.groups.values(), ...[...this.nodes.values()].map((node) => node.group)]) {
      group.setAttribute("tabindex", "0");
      group.setAttribute("role", "button");
      group.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        press(group);
      });
    }
    for (const [name, { group }] of this.nodes) group.setAttribute("aria-label", name);
    for (const [n, group] of this.groups) {
      group.dataset.name = arrow(this.edges[n].source, this.edges[n].target);
      group.prepend(document.createElementNS(svg.namespaceURI, "title"));
      // A thin line is hard to hit: a wide one lies over it.
      const wide = group.querySelector("path").cloneNode();
      wide.setAttribute("class", "hit");
      wide.removeAttribute("stroke-width");
      group.append(wide);
    }
  }

  /** Move a node, and draw again the edges that it touches and the frame of its loop. */
  move(name, x, y) {
    const node = this.nodes.get(name);
    [node.x, node.y] = [x, y];
    node.group.setAttribute("transform", `translate(${(x - node.left).toFixed(2)} ${(y - node.top).toFixed(2)})`);
    for (const n of node.touching) this.route(n);
    for (const { frame, names } of this.frames) {
      if (!names.includes(name)) continue;
      const all = names.map((each) => this.nodes.get(each));
      const left = Math.min(...all.map((each) => each.x - each.half)) - PADDING, top = Math.min(...all.map((each) => each.y)) - 0.5 - PADDING;
      frame.setAttribute("x", left);
      frame.setAttribute("y", top);
      frame.setAttribute("width", Math.max(...all.map((each) => each.x + each.half)) + PADDING - left);
      frame.setAttribute("height", Math.max(...all.map((each) => each.y)) + 0.5 + PADDING - top);
    }
  }

  /** Draw one edge again: an arc, bent where another runs back. */
  route(n) {
    const group = this.groups.get(n);
    if (!group) return;
    const { source, target } = this.edges[n];
    const a = this.nodes.get(source), b = this.nodes.get(target);
    const isPaired = a.touching.some((other) => this.edges[other].source === target && this.edges[other].target === source);
    const bend = isPaired ? 0.16 : 0.04;
    const middle = [(a.x + b.x) / 2 + (b.y - a.y) * bend, (a.y + b.y) / 2 - (b.x - a.x) * bend];
    const [x1, y1] = border(a, middle, 0), [x2, y2] = border(b, middle, GAP);
    const [line] = group.querySelectorAll("path");
    const size = 0.26 + 1.6 * Number(line.getAttribute("stroke-width"));
    const length = Math.hypot(x2 - middle[0], y2 - middle[1]) || 1;
    const [ux, uy] = [(x2 - middle[0]) / length * size, (y2 - middle[1]) / length * size];
    const d = `M${x1.toFixed(2)} ${y1.toFixed(2)}Q${middle[0].toFixed(2)} ${middle[1].toFixed(2)} ${(x2 - 0.8 * ux).toFixed(2)} ${(y2 - 0.8 * uy).toFixed(2)}`;
    for (const path of group.querySelectorAll("path")) path.setAttribute("d", d);
    const corners = [[x2, y2], [x2 - ux - 0.4 * uy, y2 - uy + 0.4 * ux], [x2 - 0.8 * ux, y2 - 0.8 * uy], [x2 - ux + 0.4 * uy, y2 - uy - 0.4 * ux]];
    group.querySelector("polygon").setAttribute("points", corners.map((corner) => corner.map((each) => each.toFixed(2)).join(",")).join(" "));
    const label = this.labels.get(n);
    label?.setAttribute("x", (x1 + 2 * middle[0] + x2) / 4);
    label?.setAttribute("y", (y1 + 2 * middle[1] + y2) / 4 + 0.13);
  }

  /**
   * Show one graph: ``looks(n)`` gives of an edge null where it is hidden, or its weight (null without one),
   * its change ("", "new", "removed") and its words.
   */
  show(looks, hasWeights) {
    for (const [n, group] of this.groups) {
      const look = looks(n), weight = look?.weight ?? null;
      const sign = weight === null ? "neutral" : weight < 0 ? "negative" : "positive";
      const chosen = group.classList.contains("chosen") && "chosen", dim = group.classList.contains("dim") && "dim";
      group.setAttribute("class", ["edge", look ? sign : "absent", look?.change, chosen, dim].filter(Boolean).join(" "));
      group.setAttribute("tabindex", look ? "0" : "-1");
      group.setAttribute("aria-label", [group.dataset.name, look?.words].filter(Boolean).join(": "));
      group.querySelector("title").textContent = group.getAttribute("aria-label");
      if (weight !== null) group.querySelector("path").setAttribute("stroke-width", (0.045 + 0.115 * Math.min(Math.abs(weight), 1)).toFixed(3));
      const label = this.labels.get(n);
      if (!label) continue;
      label.textContent = look && hasWeights && look.change !== "removed" ? look.label ?? (weight === null ? "" : number(weight, 2)) : "";
      label.setAttribute("class", `weight ${look ? sign : ""}${dim ? " dim" : ""}`);
    }
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
    for (const [name, { group }] of this.nodes) {
      group.classList.toggle("dim", focus !== null && !near.has(name));
      group.classList.toggle("chosen", name === focus);
    }
  }

  /** Bring a variable into the middle. */
  lookAt(name) {
    const { x, y } = this.nodes.get(name);
    this.look(x, y, Math.max(this.scale, 0.8 * UNIT));
  }
}

/** Buttons of a canvas. */
export const zoomButtons = (canvas) => [["Zoom in", "+", () => canvas().zoom(1.3)], ["Zoom out", "−", () => canvas().zoom(1 / 1.3)], ["Fit", "Fit", () => canvas().fit()]]
  .map(([label, words, onclick]) => h("button", { type: "button", "aria-label": label, onclick }, words));

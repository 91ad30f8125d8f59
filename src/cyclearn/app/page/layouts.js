// Places of nodes beside the library's own layers: a ring and forces. Nothing is random, so that a graph looks the same again.

/** Strongly connected components of more than one node, as lists of names in the order given. */
export function loopsOf(names, edges) {
  const children = new Map(names.map((name) => [name, []])), parents = new Map(names.map((name) => [name, []]));
  for (const [a, b] of edges) {
    children.get(a)?.push(b);
    parents.get(b)?.push(a);
  }
  const reach = (next, from) => {
    const reached = new Set([from]), front = [from];
    while (front.length) for (const each of next.get(front.pop()) ?? []) if (!reached.has(each)) { reached.add(each); front.push(each); }
    return reached;
  };
  const done = new Set(), loops = [];
  for (const name of names) {
    if (done.has(name)) continue;
    const down = reach(children, name), up = reach(parents, name);
    const both = names.filter((each) => down.has(each) && up.has(each));
    for (const each of both) done.add(each);
    if (both.length > 1) loops.push(both);
  }
  return loops;
}

/** All nodes on a ring, neighbours next to each other: from each node on to the nearest that is not placed yet. */
export function ring(nodes, edges) {
  const names = [...nodes.keys()], near = neighbours(names, edges);
  const order = [], left = new Set(names);
  let name = names[0];
  while (name !== undefined) {
    order.push(name);
    left.delete(name);
    const from = name;
    name = near.get(from).find((each) => left.has(each)) ?? left.values().next().value;
  }
  const length = order.reduce((sum, each) => sum + 2 * nodes.get(each).half + 1.2, 0);
  const radius = Math.max(length / (2 * Math.PI), 2.5);
  let angle = -Math.PI / 2;
  const places = new Map();
  for (const each of order) {
    const share = (2 * nodes.get(each).half + 1.2) / length * Math.PI;
    angle += share;
    places.set(each, [radius * 1.15 * Math.cos(angle), radius * Math.sin(angle)]);
    angle += share;
  }
  return places;
}

function neighbours(names, edges) {
  const near = new Map(names.map((name) => [name, []]));
  for (const [a, b] of edges) {
    near.get(a)?.push(b);
    near.get(b)?.push(a);
  }
  return near;
}

/** Edges as springs between nodes that push each other apart (Fruchterman and Reingold), from the ring on. */
export function force(nodes, edges, steps = 300) {
  const names = [...nodes.keys()], start = ring(nodes, edges);
  const x = names.map((name) => start.get(name)[0]), y = names.map((name) => start.get(name)[1]);
  const half = names.map((name) => nodes.get(name).half), index = new Map(names.map((name, n) => [name, n]));
  const pairs = edges.map(([a, b]) => [index.get(a), index.get(b)]).filter(([a, b]) => a !== undefined && b !== undefined);
  const wide = 4.2, n = names.length;
  for (let step = 0; step < steps; step += 1) {
    const fx = new Float64Array(n), fy = new Float64Array(n), heat = 1.5 * (1 - step / steps) + 0.02;
    const pull = (i, j, size) => {
      // Nodes are wider than high.
      const dx = x[i] - x[j] || 0.01 * (i - j), dy = 1.4 * (y[i] - y[j]) || 0.01, distance = Math.hypot(dx, dy);
      const strength = size(Math.max(distance - 0.5 * (half[i] + half[j]), 0.3)) / distance;
      fx[i] += dx * strength;
      fy[i] += dy * strength;
      fx[j] -= dx * strength;
      fy[j] -= dy * strength;
    };
    for (let i = 0; i < n; i += 1) for (let j = 0; j < i; j += 1) pull(i, j, (distance) => wide * wide / distance);
    for (const [i, j] of pairs) pull(i, j, (distance) => -distance * distance / wide);
    for (let i = 0; i < n; i += 1) {
      // Parts that no edge joins stay near.
      fx[i] -= 0.05 * x[i];
      fy[i] -= 0.05 * y[i];
      const size = Math.hypot(fx[i], fy[i]) || 1, moved = Math.min(size, heat);
      x[i] += fx[i] / size * moved;
      y[i] += fy[i] / size * moved;
    }
  }
  return apart(names, x, y, half);
}

/** Push nodes apart that still overlap. */
function apart(names, x, y, half) {
  for (let round = 0; round < 60; round += 1) {
    let isClear = true;
    for (let i = 0; i < names.length; i += 1) {
      for (let j = 0; j < i; j += 1) {
        const across = half[i] + half[j] + 0.5 - Math.abs(x[i] - x[j]), down = 1.5 - Math.abs(y[i] - y[j]);
        if (across <= 0 || down <= 0) continue;
        isClear = false;
        if (across < down) {
          const sign = x[i] < x[j] ? -1 : 1;
          x[i] += sign * across / 2;
          x[j] -= sign * across / 2;
        } else {
          const sign = y[i] < y[j] ? -1 : 1;
          y[i] += sign * down / 2;
          y[j] -= sign * down / 2;
        }
      }
    }
    if (isClear) break;
  }
  return new Map(names.map((name, n) => [name, [x[n], y[n]]]));
}

export const LAYOUTS = { ring, force };

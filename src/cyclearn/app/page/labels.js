// Where the labels of edges are: off the nodes always, off each other and off heads where there is room.

// As wide as the characters of the style sheet can be, and half as high as a line of them.
const CHARACTER = 0.218, HALF_HEIGHT = 0.2, AIR = 0.03;
// Where a label is tried: along its line, and beside it.
const ALONG = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82], ASIDE = [0, 0.3, 0.6, 0.9, 1.2, 1.6];
// What it costs to be beside the line, away from its middle, to hide much of it, to lie on another label or on a head.
const BESIDE = 0.5, AWAY = 1, HIDING = 5, ON_LABEL = 3, ON_HEAD = 1.5;

const overlap = (a, b) => Math.abs(a.x - b.x) < a.half + b.half + AIR && Math.abs(a.y - b.y) < a.high + b.high + AIR;

const boxOf = (x, y, text) => ({ x, y, half: CHARACTER * text.length / 2, high: HALF_HEIGHT });

/**
 * Place labels near the middle of their lines, off all nodes. One that finds no place free of nodes loses its percentage
 * first, and is left out at last. Labels are pairs [text element, path of its edge]; all of them have their words.
 */
export function placeLabels(labels, nodes) {
  const boxes = [...nodes].map(({ x, y, half }) => ({ x, y, half, high: 0.5 })), placed = [];
  // All lines are measured before anything is written: what is measured after a change lays out the page again.
  const lines = labels.map(([, path]) => measured(path)), heads = lines.map(({ end: { x, y } }) => ({ x, y, half: 0.2, high: 0.2 }));
  const spots = labels.map(([label], n) => {
    const whole = label.textContent, brief = whole.replace(/ \(.*\)$/, "");
    const found = spot(lines[n], whole, boxes, placed, heads) ?? spot(lines[n], brief, boxes, placed, heads);
    if (found) placed.push(found.box);
    return found;
  });
  labels.forEach(([label], n) => {
    if (label.textContent !== (spots[n]?.text ?? "")) label.textContent = spots[n]?.text ?? "";
    if (!spots[n]) return;
    label.setAttribute("x", spots[n].box.x.toFixed(2));
    label.setAttribute("y", (spots[n].box.y + 0.13).toFixed(2));
  });
}

/** The length of a line, its end, and where labels are tried along it: points and directions. */
function measured(path) {
  const length = path.getTotalLength();
  const places = ALONG.map((along) => {
    const { x, y } = path.getPointAtLength(along * length), next = path.getPointAtLength(Math.min(along * length + 0.05, length));
    const size = Math.hypot(next.x - x, next.y - y) || 1;
    return { along, x, y, ahead: [(next.x - x) / size, (next.y - y) / size] };
  });
  return { length, places, end: path.getPointAtLength(length) };
}

/** The best place that no node touches. */
function spot({ length, places }, text, nodes, labels, heads) {
  const wide = CHARACTER * text.length / 2;
  let best = null, least = Infinity;
  for (const { along, x, y, ahead } of places) {
    // Far enough beside the line that the box clears it; on the line it hides this share of it.
    const clear = Math.abs(ahead[1]) * wide + Math.abs(ahead[0]) * HALF_HEIGHT;
    const hidden = Math.min(2 * wide / Math.max(Math.abs(ahead[0]), 1e-9), 2 * HALF_HEIGHT / Math.max(Math.abs(ahead[1]), 1e-9)) / length;
    for (const aside of ASIDE) {
      for (const sign of aside ? [1, -1] : [1]) {
        const away = sign * (aside ? clear + aside - 0.2 : 0), box = boxOf(x - away * ahead[1], y + away * ahead[0], text);
        const own = AWAY * Math.abs(along - 0.5) + (aside ? 0.1 + BESIDE * aside : HIDING * Math.max(hidden - 0.25, 0));
        if (own >= least || nodes.some((node) => overlap(box, node))) continue;
        const count = (others) => others.filter((other) => overlap(box, other)).length;
        const cost = own + ON_LABEL * count(labels) + ON_HEAD * count(heads);
        if (cost < least) [best, least] = [{ box, text }, cost];
      }
    }
  }
  return best;
}

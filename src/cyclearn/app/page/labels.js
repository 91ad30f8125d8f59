// Keeping the labels of edges off the nodes, and off each other where there is room.

// As wide as the characters of the style sheet can be, and half as high as a line of them.
const CHARACTER = 0.218, HALF_HEIGHT = 0.2, AIR = 0.03;
// Where a label is tried: along its line, and beside it.
const ALONG = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82], ASIDE = [0, 0.3, 0.6, 0.9, 1.2, 1.6];
// What it costs to be beside the line, away from its middle, or on another label.
const BESIDE = 0.5, AWAY = 1, ON_LABEL = 3;

const overlap = (a, b) => Math.abs(a.x - b.x) < a.half + b.half + AIR && Math.abs(a.y - b.y) < a.high + b.high + AIR;

const boxOf = (x, y, text) => ({ x, y, half: CHARACTER * text.length / 2, high: HALF_HEIGHT });

/**
 * Move labels that touch a node or another label. One that finds no place free of nodes loses its percentage first, and
 * is left out at last. Labels are pairs [text element, path of its edge]; all of them have their words.
 */
export function clearLabels(labels, nodes) {
  const boxes = [...nodes].map(({ x, y, half }) => ({ x, y, half, high: 0.5 })), placed = [];
  for (const [label, path] of labels) {
    const whole = label.textContent;
    const now = boxOf(Number(label.getAttribute("x")), Number(label.getAttribute("y")) - 0.13, whole);
    if (![...boxes, ...placed].some((other) => overlap(now, other))) {
      placed.push(now);
      continue;
    }
    const found = spot(path, whole, boxes, placed) ?? spot(path, whole.replace(/ \(.*\)$/, ""), boxes, placed);
    label.textContent = found?.text ?? "";
    if (!found) continue;
    label.setAttribute("x", found.box.x.toFixed(2));
    label.setAttribute("y", (found.box.y + 0.13).toFixed(2));
    placed.push(found.box);
  }
}

/** The best place that no node touches. */
function spot(path, text, nodes, labels) {
  const length = path.getTotalLength();
  let best = null, least = Infinity;
  for (const along of ALONG) {
    const { x, y } = path.getPointAtLength(along * length), next = path.getPointAtLength(Math.min(along * length + 0.05, length));
    const size = Math.hypot(next.x - x, next.y - y) || 1, across = [-(next.y - y) / size, (next.x - x) / size];
    // Far enough beside the line that the box clears it.
    const clear = Math.abs(across[0]) * CHARACTER * text.length / 2 + Math.abs(across[1]) * HALF_HEIGHT;
    for (const aside of ASIDE) {
      for (const sign of aside ? [1, -1] : [1]) {
        const away = sign * (aside ? clear + aside - 0.2 : 0), box = boxOf(x + away * across[0], y + away * across[1], text);
        const cost = BESIDE * aside + AWAY * Math.abs(along - 0.5) + (aside ? 0.1 : 0);
        if (cost >= least || nodes.some((node) => overlap(box, node))) continue;
        const whole = cost + ON_LABEL * labels.filter((other) => overlap(box, other)).length;
        if (whole < least) [best, least] = [{ box, text }, whole];
      }
    }
  }
  return best;
}

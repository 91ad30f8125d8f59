// Where a line leaves a node, how an edge bends, and where its head is. The unit is the height of a node.

const GAP = 0.06;

/** Where a line from the centre of a node towards a point leaves its border. */
function border(node, [x, y], gap) {
  const dx = x - node.x, dy = y - node.y;
  const share = Math.min((node.half + gap) / Math.max(Math.abs(dx), 1e-9), (0.5 + gap) / Math.max(Math.abs(dy), 1e-9), 1);
  return [node.x + dx * share, node.y + dy * share];
}

const shown = (...numbers) => numbers.map((each) => each.toFixed(2)).join(" ");

/** An edge from one node to another as an arc: its path, the corners of its head, and its middle. */
export function arc(a, b, { width, isPaired }) {
  const bend = isPaired ? 0.16 : 0.04;
  const middle = [(a.x + b.x) / 2 + (b.y - a.y) * bend, (a.y + b.y) / 2 - (b.x - a.x) * bend];
  const [x1, y1] = border(a, middle, 0), [x2, y2] = border(b, middle, GAP);
  const size = 0.26 + 1.6 * width;
  const length = Math.hypot(x2 - middle[0], y2 - middle[1]) || 1;
  const [ux, uy] = [(x2 - middle[0]) / length * size, (y2 - middle[1]) / length * size];
  const corners = [[x2, y2], [x2 - ux - 0.4 * uy, y2 - uy + 0.4 * ux], [x2 - 0.8 * ux, y2 - 0.8 * uy], [x2 - ux + 0.4 * uy, y2 - uy - 0.4 * ux]];
  return {
    path: `M${shown(x1, y1)}Q${shown(...middle)} ${shown(x2 - 0.8 * ux, y2 - 0.8 * uy)}`,
    head: corners.map((corner) => corner.map((each) => each.toFixed(2)).join(",")).join(" "),
    middle: [(x1 + 2 * middle[0] + x2) / 4, (y1 + 2 * middle[1] + y2) / 4],
  };
}

/** The rectangle around nodes. */
export function around(nodes, padding) {
  const left = Math.min(...nodes.map((each) => each.x - each.half)) - padding, top = Math.min(...nodes.map((each) => each.y)) - 0.5 - padding;
  const right = Math.max(...nodes.map((each) => each.x + each.half)) + padding, bottom = Math.max(...nodes.map((each) => each.y)) + 0.5 + padding;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Half the width of a node with a label of so many characters. */
export const halfWidth = (label) => Math.max(1.3, 0.31 * label.length + 0.7) / 2;

/** A name as it fits into a node. */
export const shortened = (name) => (name.length > 18 ? `${name.slice(0, 17)}…` : name);

// Text of dagitty: dag { a -> b <- c; "a b" [pos="0,0"] }.

const FRAME = /^\s*(?:dag|dg)\s*(?:"[^"]*"|\w*)\s*\{([\s\S]*)\}\s*$/;
// A quoted name, an arrow, the end of a statement, attributes in brackets, a plain name.
const TOKEN = /"((?:[^"\\]|\\.)*)"|(<->|->|<-|--)|([;,{}\n])|(\[(?:[^\]"]|"[^"]*")*\])|([^\s{};,"[\]<>-][^\s{};,"[\]<>]*?(?=->|--|\s|[{};,"[\]<>]|$))/g;

/** The graph as nodes and edges; null for text of another kind. Edges without one direction are an error. */
export function fromDagitty(text) {
  const body = FRAME.exec(text)?.[1];
  if (body === undefined) return null;
  const nodes = new Set(), edges = [];
  let last = null, arrow = null, isSetting = false;
  for (const [, quoted, sign, end, , plain] of body.matchAll(TOKEN)) {
    const name = quoted ?? plain;
    if (sign) arrow = sign;
    else if (end) {
      // An arrow may go on in the next line.
      if (!arrow) last = null;
    } else if (name !== undefined) {
      // Settings of the drawing, such as bb="0,0,1,1", are no variables.
      if (isSetting || plain?.includes("=")) {
        isSetting = !isSetting && plain.endsWith("=");
        continue;
      }
      nodes.add(name);
      if (arrow === "<->" || arrow === "--") throw new Error(`${last} ${arrow} ${name} has no direction; this page compares graphs of directed edges only.`);
      if (arrow && last !== null) edges.push(arrow === "->" ? [last, name] : [name, last]);
      [last, arrow] = [name, null];
    }
  }
  return { nodes: [...nodes], edges };
}

// What is taken from the page as it is shown: a picture as a file, a table into the clipboard.

import { h } from "./dom.js";

// Style sheets stay behind, so every element takes its own style along.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order"];

/** The whole picture with the places, colours and numbers of the moment, as SVG. */
export function pictureText(svg) {
  const copy = svg.cloneNode(true), copies = [...copy.querySelectorAll("*")];
  [...svg.querySelectorAll("*")].forEach((each, n) => {
    const style = getComputedStyle(each);
    if (style.display === "none" || each.matches(".hit")) copies[n].remove();
    else for (const name of STYLES) copies[n].setAttribute(name, style.getPropertyValue(name));
  });
  const { x, y, width, height } = svg.getBBox(), [left, top, wide, high] = [x - 0.5, y - 0.5, width + 1, height + 1];
  for (const [name, value] of Object.entries({ viewBox: [left, top, wide, high].join(" "), width: 40 * wide, height: 40 * high })) copy.setAttribute(name, value);
  const paper = getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x: left, y: top, width: wide, height: high, fill: paper })) rect.setAttribute(name, value);
  copy.prepend(rect);
  return new XMLSerializer().serializeToString(copy);
}

export function savePicture(svg, name) {
  const href = URL.createObjectURL(new Blob([pictureText(svg)], { type: "image/svg+xml" }));
  h("a", { href, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

/** A table as text and as a table, for whatever it is pasted into. */
export function copyTable(table) {
  const rows = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
  const plain = rows.map((row) => row.join("\t")).join("\n");
  const html = h("table", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell))))).outerHTML;
  return navigator.clipboard.write([new ClipboardItem({ "text/plain": new Blob([plain], { type: "text/plain" }), "text/html": new Blob([html], { type: "text/html" }) })]);
}

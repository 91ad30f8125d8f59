"use strict";
(function () {
  const box = document.getElementById("members");
  if (!box) return;
  const changes = JSON.parse(document.getElementById("member-data").textContent);
  const words = Array.from(document.querySelectorAll("#member-list > li"), (item) => item.textContent);
  const edges = Array.from(document.querySelectorAll("#member-graph [data-edge]"));
  const start = edges.map((edge) => (edge.classList.contains("same") ? "same" : "absent"));
  const previous = document.getElementById("member-previous");
  const next = document.getElementById("member-next");
  const number = document.getElementById("member-number");
  const status = document.getElementById("member-words");
  let current = 0;

  function show(wanted) {
    current = Math.min(Math.max(wanted, 0), changes.length - 1);
    const classes = start.slice();
    for (const edge of changes[current][0]) classes[edge] = "added";
    for (const edge of changes[current][1]) classes[edge] = "removed";
    edges.forEach((edge, n) => edge.setAttribute("class", "edge " + classes[n]));
    number.value = String(current + 1);
    status.textContent = words[current];
    // Not "disabled": a button that loses the focus throws keyboard users back to the top.
    previous.setAttribute("aria-disabled", String(current === 0));
    next.setAttribute("aria-disabled", String(current === changes.length - 1));
  }

  previous.addEventListener("click", () => show(current - 1));
  next.addEventListener("click", () => show(current + 1));
  number.addEventListener("change", () => show((Number.parseInt(number.value, 10) || 1) - 1));
  box.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === number) return;
    const step = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: changes.length - 1 };
    if (!(event.key in step)) return;
    // A wide picture needs the arrow keys itself.
    if (event.target.classList.contains("canvas") && event.target.scrollWidth > event.target.clientWidth) return;
    event.preventDefault();
    show(step[event.key]);
  });
  box.hidden = false;
  show(0);
})();

"use strict";
(function () {
  const box = document.getElementById("members");
  if (!box) return;
  const facts = JSON.parse(document.getElementById("member-data").textContent);
  const members = facts.members;
  const words = Array.from(document.querySelectorAll("#member-list > li"), (item) => item.textContent);
  const edges = Array.from(document.querySelectorAll("#member-graph [data-edge]"));
  const labels = facts.labelled ? Array.from(document.querySelectorAll("#member-graph .weight")) : [];
  const start = edges.map((edge) => (edge.classList.contains("same") ? "same" : "absent"));
  const previous = document.getElementById("member-previous");
  const next = document.getElementById("member-next");
  const number = document.getElementById("member-number");
  const count = document.getElementById("member-count");
  const status = document.getElementById("member-words");
  const stable = document.getElementById("member-stable");
  const having = document.getElementById("member-with");
  const lacking = document.getElementById("member-without");
  const present = members.map((member) => {
    const there = start.map((name) => name === "same");
    for (const edge of member.changes[0]) there[edge] = true;
    for (const edge of member.changes[1]) there[edge] = false;
    return there;
  });
  // Numbers of the members that the filters let through, and which of them is on show.
  let chosen = members.map((_, n) => n);
  let current = 0;

  function show(wanted) {
    const none = chosen.length === 0;
    current = Math.max(Math.min(wanted, chosen.length - 1), 0);
    const member = none ? null : members[chosen[current]];
    const classes = none ? start.map(() => "absent") : start.slice();
    if (member) {
      for (const edge of member.changes[0]) classes[edge] = "added";
      for (const edge of member.changes[1]) classes[edge] = "removed";
    }
    edges.forEach((edge, n) => edge.setAttribute("class", "edge " + classes[n]));
    labels.forEach((label, n) => { label.textContent = (member && member.weights[n]) || ""; });
    number.value = String(none ? 0 : current + 1);
    number.max = String(chosen.length);
    count.textContent = chosen.length.toLocaleString("en");
    status.textContent = none ? "No listed graph matches." : words[chosen[current]];
    // Not "disabled": a button that loses the focus throws keyboard users back to the top.
    previous.setAttribute("aria-disabled", String(current === 0));
    next.setAttribute("aria-disabled", String(none || current === chosen.length - 1));
  }

  function filter() {
    chosen = members.map((_, n) => n).filter((n) =>
      (!stable.checked || members[n].stable) &&
      (having.value === "" || present[n][Number(having.value)]) &&
      (lacking.value === "" || !present[n][Number(lacking.value)]));
    show(0);
  }

  previous.addEventListener("click", () => show(current - 1));
  next.addEventListener("click", () => show(current + 1));
  number.addEventListener("change", () => show((Number.parseInt(number.value, 10) || 1) - 1));
  for (const control of [stable, having, lacking]) control.addEventListener("change", filter);
  box.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    // Fields and lists need these keys themselves.
    if (["INPUT", "SELECT"].includes(event.target.tagName)) return;
    const step = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: chosen.length - 1 };
    if (!(event.key in step)) return;
    // A wide picture needs the arrow keys itself.
    if (event.target.classList.contains("canvas") && event.target.scrollWidth > event.target.clientWidth) return;
    event.preventDefault();
    show(step[event.key]);
  });
  box.hidden = false;
  show(0);
})();

"use strict";
(function () {
  const box = document.getElementById("downloads");
  const files = JSON.parse(document.getElementById("download-data").textContent);

  function save(name, text, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: type + ";charset=utf-8" }));
    link.download = name;
    link.click();
    // Some browsers read the file only after the click.
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // A picture outside the page has to carry the colours that the page gives it.
  function standalone(picture) {
    const copy = picture.cloneNode(true);
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = document.querySelector("style").textContent.replace(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "");
    copy.insertBefore(style, copy.firstChild);
    return new XMLSerializer().serializeToString(copy);
  }

  box.addEventListener("click", (event) => {
    const { file, picture } = event.target.dataset;
    if (file) save(file, files[file], "text/plain");
    if (picture) save("cyclearn.svg", standalone(document.getElementById(picture)), "image/svg+xml");
  });
  box.hidden = false;
})();

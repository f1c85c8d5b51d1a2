"use strict";
for (const box of document.querySelectorAll("nav input[type=checkbox]"))
  box.addEventListener("change", () => document.body.classList.toggle("no-" + box.name, !box.checked));
const search = document.querySelector("nav input[type=search]");
let waiting = 0;
search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const wanted = search.value.trim().toLowerCase();
    for (const section of document.querySelectorAll("section")) {
      let any = false;
      for (const item of section.querySelectorAll(".item")) {
        const found = !wanted || item.textContent.toLowerCase().includes(wanted);
        item.classList.toggle("unmatched", !found);
        any = any || found;
      }
      section.classList.toggle("unmatched", Boolean(wanted) && !any);
    }
  }, 150);
});
document.querySelector("nav button").addEventListener("click", (event) => {
  const open = event.target.dataset.open !== "yes";
  event.target.dataset.open = open ? "yes" : "no";
  event.target.textContent = open ? "Fold all" : "Unfold all";
  for (const part of document.querySelectorAll("details")) part.open = open;
});

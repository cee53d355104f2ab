// A page is complete without this. It adds sorting, filtering and the meaning of a word where the word is.
"use strict";

// A cell's value: numbers as numbers, text as text, nothing (missing, undefined, non-finite) as null.
function value(row, column) {
  const cell = row.cells[column];
  if (cell.classList.contains("text")) return text(cell);
  const number = Number(cell.dataset.sort ?? cell.textContent.replace("−", "-").replace(/[,%\s]/g, ""));
  return Number.isNaN(number) ? null : number;
}

// A text, without the sign before it.
function text(cell) {
  return cell.dataset.sort ?? cell.textContent.trim();
}

// Missing values stay last in both directions.
function order(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return direction * (a - b);
  return direction * String(a).localeCompare(String(b), "en", { numeric: true });
}

function sort(table, header) {
  const ascending = header.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const body = table.tBodies[0];
  const column = header.cellIndex;
  const rows = [...body.rows];
  rows.sort((a, b) => order(value(a, column), value(b, column), ascending ? 1 : -1));
  body.append(...rows);
}

for (const table of document.querySelectorAll("table[data-sortable]")) {
  for (const header of table.tHead.rows[0].cells) {
    if (header.dataset.fixed !== undefined) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(table, header));
    header.append(button);
  }
}

for (const filter of document.querySelectorAll(".filter")) {
  const rows = [...filter.parentElement.querySelector("tbody").rows];
  const input = filter.querySelector("input");
  const choice = filter.querySelector("select");
  const shown = filter.querySelector("output");
  filter.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const chosen = !choice?.value || text(row.cells[choice.dataset.column]) === choice.value;
      row.hidden = !chosen || !words.every((word) => row.textContent.toLowerCase().includes(word));
    }
    const count = rows.filter((row) => !row.hidden).length;
    shown.textContent = input.value || choice?.value ? `${count} of ${rows.length} rows` : "";
  });
  filter.hidden = false;
}

const tip = document.createElement("div");
tip.className = "tip";
tip.id = "tip";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);

function explain(term) {
  const entry = document.getElementById(term.hash.slice(1));
  tip.textContent = entry.querySelector("dd").textContent;
  tip.hidden = false;
  const box = term.getBoundingClientRect();
  const left = Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 16);
  tip.style.left = `${Math.max(16, left) + window.scrollX}px`;
  tip.style.top = `${box.bottom + window.scrollY + 8}px`;
  term.setAttribute("aria-describedby", "tip");
}

function hide() {
  tip.hidden = true;
}

for (const term of document.querySelectorAll("a.term")) {
  for (const event of ["mouseenter", "focus"]) term.addEventListener(event, () => explain(term));
  for (const event of ["mouseleave", "blur"]) term.addEventListener(event, hide);
}
document.addEventListener("keydown", (event) => event.key === "Escape" && hide());

// A link into a folded or filtered table shows its row.
function reveal() {
  const row = location.hash && document.getElementById(location.hash.slice(1));
  if (!row) return;
  row.hidden = false;
  for (let at = row; (at = at.parentElement?.closest("details")); ) at.open = true;
  row.scrollIntoView();
}

addEventListener("hashchange", reveal);
reveal();

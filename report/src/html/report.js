// Sorting and filtering of the tables. Everything else on the page works without JavaScript.
"use strict";

const UNITS = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };

// The first number in a cell, converted to the base unit; null if there is none.
function number(text) {
  const found = /^[≥≤]?\s*([-−]?)([\d,]*\.?\d+)\s*([a-zµA-Z]*)/.exec(text);
  if (!found) return null;
  const value = parseFloat(found[2].replace(/,/g, "")) * (UNITS[found[3]] || 1);
  return found[1] ? -value : value;
}

// Below 0: a comes first. Unknown values come last in either direction.
function compare(a, b, isNumber, way) {
  if (!isNumber) return way * a.localeCompare(b, "en", { numeric: true });
  const [x, y] = [number(a), number(b)];
  if (x === null || y === null) return (x === null) - (y === null);
  return way * (x - y);
}

function sort(table, heads, head) {
  const column = heads.indexOf(head);
  const isNumber = head.classList.contains("n");
  const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const body = table.tBodies[0];
  const text = (row) => row.cells[column].textContent.trim();
  const rows = [...body.rows].map((row) => [text(row), row]);
  rows.sort((a, b) => compare(a[0], b[0], isNumber, way));
  body.append(...rows.map((pair) => pair[1]));
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(table, heads, head));
  }
}

function makeFilterable(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 4) return;
  const label = document.createElement("label");
  const input = document.createElement("input");
  const shown = document.createElement("output");
  const line = document.createElement("p");
  line.className = "filter";
  input.type = "search";
  input.autocomplete = "off";
  input.id = table.id + "-filter";
  label.htmlFor = input.id;
  label.textContent = "Filter: " + table.caption.textContent;
  label.className = "heard";
  input.placeholder = "Filter rows";
  shown.htmlFor = input.id;
  const hint = document.createElement("span");
  hint.className = "hint";
  hint.textContent = "Click a column's title to sort.";
  line.append(label, input, shown, hint);
  table.parentElement.before(line);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      count += row.hidden ? 0 : 1;
    }
    shown.textContent = words.length ? count + " of " + rows.length + " rows" : "";
  });
}

for (const table of document.querySelectorAll("table.sortable")) {
  makeSortable(table);
  if (table.classList.contains("filterable")) makeFilterable(table);
}

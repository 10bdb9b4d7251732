"use strict";
// Sort, filter and fold the rows of the table of unknowns. Without this script all rows are there, in order.
(() => {
  const FOLDED = 8; // rows of one site that are shown before the others are asked for
  const table = document.getElementById("unknowns-table");
  if (table) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const heads = Array.from(table.tHead.rows[0].cells);
    const said = document.getElementById("unknowns-said");
    const box = document.getElementById("unknowns-filter");
    const all = document.getElementById("unknowns-all");
    const folds = new Map();
    let sorted = null;
    const number = (row, column) => {
      const text = row.cells[column].dataset.value;
      return text === undefined || text === "" ? null : Number(text);
    };
    const show = () => {
      const words = box.value.trim().toLowerCase();
      const folding = !sorted && !words && all.getAttribute("aria-pressed") === "false";
      const seen = new Map();
      let count = 0;
      for (const row of rows) {
        const site = row.dataset.site;
        const place = (seen.get(site) || 0) + 1;
        seen.set(site, place);
        const fits = row.cells[0].textContent.toLowerCase().includes(words);
        row.hidden = !fits || (folding && place > FOLDED);
        if (!row.hidden) count += 1;
      }
      for (const fold of folds.values()) fold.hidden = !folding;
      said.textContent = `${count} of ${rows.length} rows shown`;
    };
    const counts = new Map();
    for (const row of rows) counts.set(row.dataset.site, (counts.get(row.dataset.site) || 0) + 1);
    const toggle = () => {
      all.setAttribute("aria-pressed", all.getAttribute("aria-pressed") === "false" ? "true" : "false");
      show();
    };
    for (const [site, count] of counts) {
      if (count <= FOLDED + 1) continue;
      const own = rows.filter((row) => row.dataset.site === site);
      const fold = document.createElement("tr");
      const cell = document.createElement("td");
      const button = document.createElement("button");
      cell.colSpan = heads.length;
      cell.className = "text";
      button.type = "button";
      button.textContent = `Show ${count - FOLDED} more of ${site}`;
      button.addEventListener("click", toggle);
      cell.append(button);
      fold.append(cell);
      own[own.length - 1].after(fold);
      folds.set(site, fold);
    }
    all.hidden = folds.size === 0;
    heads.forEach((head, column) => {
      if (head.dataset.sort === undefined) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.textContent = "";
      head.append(button);
      button.addEventListener("click", () => {
        const last = head.getAttribute("aria-sort");
        const way = last ? (last === "descending" ? 1 : -1) : column === 0 ? 1 : -1;
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
        sorted = column;
        const order = rows.slice();
        order.sort((one, other) => {
          if (column === 0) return way * one.cells[0].textContent.localeCompare(other.cells[0].textContent, "en", { numeric: true });
          const a = number(one, column);
          const b = number(other, column);
          if (a === null || b === null) return (a === null) - (b === null);
          return way * (a - b);
        });
        body.append(...order);
        show();
      });
    });
    box.addEventListener("input", show);
    all.addEventListener("click", toggle);
    document.getElementById("unknowns-tools").hidden = false;
    show();
  }
  window.addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details")) each.open = true;
  });
})();

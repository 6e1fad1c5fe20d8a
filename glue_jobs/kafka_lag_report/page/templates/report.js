// SPDX-License-Identifier: Apache-2.0
// Search over all groups: the rows of the page are filtered, the others made from the JSON block.
"use strict";
(() => {
  const table = document.getElementById("groups-table");
  if (!table) return;
  const MOST = 200;
  const LONGEST_NAME = Number(table.dataset.longestName);
  const rest = JSON.parse(document.getElementById("rest").textContent);
  const body = table.tBodies[0];
  const [, ...heads] = table.tHead.rows[0].cells;
  const own = [...body.rows].map((row) => ({ row, text: row.cells[0].textContent.toLowerCase() }));
  const found = document.getElementById("found");
  const field = document.getElementById("find");
  const unsearched = document.getElementById("unsearched");

  function add(parent, tag, kind, text) {
    const made = parent.appendChild(document.createElement(tag));
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function addName(parent, kind, text) {
    const letters = [...text];
    const half = LONGEST_NAME / 2;
    if (letters.length <= LONGEST_NAME) {
      add(parent, "bdi", kind, text);
      return;
    }
    const made = add(parent, "bdi", kind, letters.slice(0, half).join(""));
    made.title = text;
    add(made, "span", "dots").setAttribute("aria-hidden", "true");
    add(made, "span", "cut", letters.slice(half, -half).join(""));
    made.append(letters.slice(-half).join(""));
  }

  function made(texts) {
    const [group, owner, level, word, ...numbers] = texts;
    const row = document.createElement("tr");
    row.className = "made";
    const head = add(row, "th");
    head.scope = "row";
    addName(head, "name", group);
    if (owner) addName(add(head, "span", "under"), "name plain", owner);
    const cells = heads.map((title) => add(row, "td", title.className));
    cells.forEach((cell, place) => { cell.dataset.label = heads[place].textContent; });
    add(cells[0], "span", "badge " + level, word);
    numbers.forEach((text, place) => { cells[place + 1].textContent = text; });
    return row;
  }

  function search() {
    const wanted = field.value.trim().toLowerCase();
    for (const row of body.querySelectorAll(".made")) row.remove();
    let hits = 0;
    for (const { row, text } of own) {
      const hit = text.includes(wanted);
      row.hidden = !hit;
      if (hit) hits += 1;
    }
    if (unsearched) unsearched.hidden = Boolean(wanted);
    if (!wanted) {
      found.textContent = "";
      return;
    }
    const others = rest.filter((cells) => (cells[0] + "\n" + cells[1]).toLowerCase().includes(wanted));
    const room = Math.max(0, MOST - hits);
    body.append(...others.slice(0, room).map(made));
    const all = hits + others.length;
    const only = others.length > room ? `, the ${hits + room} worst are shown` : "";
    found.textContent = `${all.toLocaleString("en")} of ${(own.length + rest.length).toLocaleString("en")} groups${only}`;
  }

  const form = document.getElementById("search");
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("input", search);
  search();
})();

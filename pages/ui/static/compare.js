// Groups of sentences, columns of segmenters; a claim that is pointed at lights its words. Follows nodes.js.
function fill(item, claim) {
  const text = item.querySelector(".text");
  item.className = `item ${claim.style}`;
  item.querySelector(".icon").textContent = claim.icon;
  item.querySelector(".hidden").textContent = `${claim.word}: `;
  text.textContent = claim.text;
  item.firstChild.title = claim.word;
  item.lastChild.replaceWith(build(claim.detail));
  item.shown = JSON.stringify(claim);
}

function cell(claim, pieces, key) {
  const item = make("details"), head = make("summary", "line"), icon = make("span", "icon"), text = make("span", "text");
  icon.setAttribute("aria-hidden", "true");
  text.dir = "auto";
  head.append(icon, make("span", "hidden"), text);
  item.append(head, make("div"));
  item.dataset.key = key;
  fill(item, claim);
  const light = (on) => claim.pieces.forEach((i) => pieces[i]?.classList.toggle("lit", on));
  item.addEventListener("mouseenter", () => light(true));
  item.addEventListener("mouseleave", () => { if (!item.contains(item.getRootNode().activeElement)) light(false); });
  item.addEventListener("focusin", () => light(true));
  item.addEventListener("focusout", () => light(false));
  return item;
}

// Each claim's place: the same while verdicts come, so that what is open or has the focus stays so.
function keys(row) {
  return row.cells.map((claims, column) => claims.map((claim) => `${row.key}/${column}/${claim.id}`));
}

function line(row, names) {
  const section = make("section", "row"), sentence = make("p", "sentence");
  sentence.dir = "auto";
  const pieces = row.pieces.map((text) => make("span", "piece", text));
  sentence.append(...pieces);
  const whole = row.pieces.join("").replace(/\s+/g, " ").trim(), said = row.cells[0];
  if (row.cells.length === 1 && said.length === 1 && said[0].text === whole) sentence.hidden = true;
  if (row.bare) sentence.hidden = true;
  else if (!whole) sentence.replaceChildren(make("em", "", "Claims without a place in the answer"));
  const columns = make("div", "columns"), places = keys(row);
  columns.style.setProperty("--n", row.cells.length);
  row.cells.forEach((claims, index) => {
    const column = make("div", "column");
    if (row.cells.length > 1) column.append(make("h4", "", names[index]));
    column.append(...claims.map((claim, i) => cell(claim, pieces, places[index][i])));
    if (!claims.length) column.append(make("p", "none", "no claim"));
    columns.append(column);
  });
  section.append(sentence, columns);
  return section;
}

function draw(root, data) {
  const open = new Set([...root.querySelectorAll(".item[open]")].map((item) => item.dataset.key));
  const focused = root.getRootNode().activeElement?.closest?.(".item")?.dataset.key;
  root.replaceChildren(...data.groups.map((group) => {
    const whole = make("details", "group"), title = make("summary", "title");
    whole.open = !group.folded;
    title.append(make("h3", "", group.title));
    whole.append(title, ...group.rows.map((row) => line(row, data.names)));
    return whole;
  }));
  for (const item of root.querySelectorAll(".item")) {
    item.open = open.has(item.dataset.key);
    if (item.dataset.key === focused) item.firstChild.focus({ preventScroll: true });
  }
}

function renew(root, data) {
  const items = new Map([...root.querySelectorAll(".item")].map((item) => [item.dataset.key, item]));
  for (const row of data.groups.flatMap((group) => group.rows)) {
    keys(row).forEach((column, c) => column.forEach((key, i) => {
      const claim = row.cells[c][i];
      if (items.get(key).shown !== JSON.stringify(claim)) fill(items.get(key), claim);
    }));
  }
}

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".root");
  const places = JSON.stringify([data.names, data.groups.map((group) => [group.title, group.rows.map((row) => [row.pieces, keys(row)])])]);
  if (root.dataset.places === places) return renew(root, data);
  root.dataset.places = places;
  draw(root, data);
}

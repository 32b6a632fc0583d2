// Groups of sentences, columns of segmenters; a claim that is pointed at lights its words. Follows nodes.js.
function cell(claim, row) {
  const item = make("details", `item v-${claim.label}`), head = make("summary", "line");
  const icon = make("span", "icon", claim.icon);
  icon.setAttribute("aria-hidden", "true");
  const word = make("span", "hidden", `${claim.word}: `);
  const text = make("span", "text", claim.text);
  text.dir = "auto";
  head.title = claim.word;
  head.append(icon, word, text);
  item.append(head, build(claim.detail));
  const light = (on) => claim.pieces.forEach((i) => row[i]?.classList.toggle("lit", on));
  item.addEventListener("mouseenter", () => light(true));
  item.addEventListener("mouseleave", () => { if (!item.contains(item.getRootNode().activeElement)) light(false); });
  item.addEventListener("focusin", () => light(true));
  item.addEventListener("focusout", () => light(false));
  return item;
}

function line(row, names) {
  const section = make("section", "row"), sentence = make("p", "sentence");
  sentence.dir = "auto";
  const pieces = row.pieces.map((text) => make("span", "piece", text));
  sentence.append(...pieces);
  const whole = row.pieces.join("").replace(/\s+/g, " ").trim(), said = row.cells[0];
  if (row.cells.length === 1 && said.length === 1 && said[0].text === whole) sentence.hidden = true;
  if (!whole) sentence.replaceChildren(make("em", "", "Claims without a place in the answer"));
  const columns = make("div", "columns");
  columns.style.setProperty("--n", row.cells.length);
  row.cells.forEach((claims, index) => {
    const column = make("div", "column");
    if (row.cells.length > 1) column.append(make("h4", "", names[index]));
    column.append(...claims.map((claim) => cell(claim, pieces)));
    if (!claims.length) column.append(make("p", "none", "no claim"));
    columns.append(column);
  });
  section.append(sentence, columns);
  return section;
}

function draw(root, data) {
  root.replaceChildren(...data.groups.map((group) => {
    const whole = make("details", "group"), title = make("summary", "title");
    whole.open = !group.folded;
    title.append(make("h3", "", group.title));
    whole.append(title, ...group.rows.map((row) => line(row, data.names)));
    return whole;
  }));
}

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".root"), shown = JSON.stringify(data);
  if (root.dataset.shown === shown) return;
  root.dataset.shown = shown;
  draw(root, data);
}

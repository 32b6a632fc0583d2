// Tables whose numbers are buttons: each opens the tasks behind it. Follows nodes.js.
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const shown = JSON.stringify(data);
  if (root.dataset.shown === shown) return;
  root.dataset.shown = shown;
  root.replaceChildren(...data.tables.map((table) => {
    const section = make("section"), scroll = make("div", "scroll"), body = make("table"), head = make("thead"), rows = make("tbody"), top = make("tr");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", table.title);
    top.append(...table.heads.map((text) => make(text ? "th" : "td", "", text)));
    head.append(top);
    for (const row of table.rows) {
      const line = make("tr");
      for (const cell of row) {
        const place = make("td");
        place.dir = "auto";
        if (typeof cell === "string") place.textContent = cell;
        else {
          const open = button("cell", cell.text, `${cell.text}: show the tasks`, () => setTriggerValue("open", cell.key));
          open.setAttribute("aria-pressed", String(cell.key === data.open));
          place.append(open, make("span", "quiet", cell.more));
        }
        line.append(place);
      }
      rows.append(line);
    }
    body.append(head, rows);
    scroll.append(body);
    section.append(make("h3", "", table.title), make("p", "quiet", table.note), scroll);
    return section;
  }));
}

// The list of answers: a row each, and a bar for the selected ones. Follows nodes.js in the same module.
const GROUP_NAMES = [["wrong", "Wrong"], ["check", "Check"], ["none", "No source"], ["ok", "OK"]];

// In the reader's own time: the server knows only the universal one.
function when(iso) {
  const at = new Date(iso), today = new Date();
  if (Number.isNaN(at.getTime())) return "";
  const clock = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const days = Math.round((new Date(today.toDateString()) - new Date(at.toDateString())) / 86_400_000);
  if (days === 0) return Math.abs(today - at) < 60_000 ? "now" : `today, ${clock}`;
  if (days === 1) return `yesterday, ${clock}`;
  return at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
}

function meter(share) {
  const node = make("span", "meter"), done = make("span");
  done.style.width = `${Math.round(100 * share)}%`;
  node.append(done);
  return node;
}

class AnswerList {
  constructor(root) {
    this.root = root;
    this.selected = new Set();
    this.list = make("ul");
    this.more = make("p", "more");
    this.bar = make("div", "pick");
    this.bar.setAttribute("role", "toolbar");
    this.bar.setAttribute("aria-label", "Selected answers");
    this.all = this.tick("Select all", () => this.selectAll());
    root.append(this.heads(), this.list, this.more, this.bar);
    this.list.addEventListener("keydown", (event) => this.moved(event));
  }

  heads() {
    const heads = make("div", "grid heads"), four = make("span", "four");
    four.append(...GROUP_NAMES.map(([, word]) => make("span", "", word)));
    heads.append(this.all, make("span", "", "Answer"), four, make("span", "", "Reviewed"));
    return heads;
  }

  tick(label, onClick) {
    const node = button("tick", "✓", label, onClick);
    node.setAttribute("role", "checkbox");
    node.setAttribute("aria-checked", "false");
    return node;
  }

  update(data) {
    this.data = data;
    const ids = new Set(data.rows.map((row) => row.id));
    for (const id of this.selected) if (!ids.has(id)) this.selected.delete(id);
    const old = new Map([...this.list.children].map((item) => [item.dataset.id, item]));
    const titles = data.rows.map((row) => row.title);
    const isTwin = ({ title }) => titles.indexOf(title) !== titles.lastIndexOf(title);
    this.list.replaceChildren(...data.rows.map((row) => {
      const words = isTwin(row) ? row.beginning.replace(/[-|*#_`]{2,}|[|*#`]/g, " ") : ""; // tells them apart
      return this.item({ ...row, beginning: words }, old.get(row.id));
    }));
    const earlier = data.total - data.rows.length;
    this.more.replaceChildren();
    if (earlier > 0) {
      const words = `${earlier} more ${earlier === 1 ? "answer" : "answers"}`;
      this.more.append(button("", words, `Show ${words}`, () => this.act("more")));
    }
    this.mark();
  }

  // An unchanged row keeps its elements, and so the focus.
  item(row, old) {
    const shown = JSON.stringify(row);
    if (old?.shown === shown) return old;
    const focused = old && [...old.querySelectorAll("button")].indexOf(this.root.getRootNode().activeElement);
    const item = make("li", "grid");
    item.shown = shown;
    item.dataset.id = row.id;
    const opener = button("open", row.title, row.title, () => this.act("open", [row.id]));
    opener.title = row.note ? `${row.title}\n${row.note}` : row.title;
    opener.dir = "auto";
    const meta = make("div", "meta"), about = make("div", "about");
    meta.append(make("span", "", [row.sources, when(row.at), row.edited ? "edited" : ""].filter(Boolean).join(" · ")));
    meta.append(...row.tags.map((tag) => make("span", "tag", tag)));
    if (row.beginning) meta.append(make("span", "beginning", row.beginning));
    about.append(opener, meta);
    const parts = row.state ? [this.state(row)] : [this.counts(row), this.reviewed(row)];
    const menu = button("square", "⋯", `Title, tags, note or copy: ${row.title}`, () => this.act("edit", [row.id]));
    item.append(this.tick(`Select ${row.title}`, () => this.select(row.id)), about, ...parts, menu);
    if (focused >= 0) setTimeout(() => item.querySelectorAll("button")[focused]?.focus({ preventScroll: true }));
    return item;
  }

  state(row) {
    const { strong, words, share, left, action, label } = row.state;
    const node = make("div", "state"), text = make("span", "words");
    if (strong) text.append(make("b", "", strong), " ");
    text.append(words);
    node.append(text);
    if (share !== null) node.append(meter(share));
    if (left) node.append(make("span", "", left));
    if (action) node.append(button("btn", label, `${label}: ${row.title}`, () => this.act(action, [row.id])));
    return node;
  }

  counts(row) {
    const node = make("div", "counts"), four = make("span", "four"), bar = make("span", "bar");
    bar.setAttribute("aria-hidden", "true");
    for (const { name, word, icon, count } of row.groups) {
      const cell = make("span", count ? `g-${name}` : "zero");
      cell.append(make("span", "hidden", `${word}: `), `${icon} ${count}`);
      cell.firstChild.style.color = "inherit";
      four.append(cell);
      if (count) {
        const part = make("span", `g-${name}`);
        part.style.flex = count;
        bar.append(part);
      }
    }
    node.append(four, bar);
    return node;
  }

  reviewed({ done, total }) {
    const node = make("div", "reviewed");
    if (total && done >= total) {
      node.classList.add("all");
      node.append(`✓ All ${total}`);
    } else if (total) {
      node.append(make("b", "", done), ` of ${total}`, make("span", "hidden", " reviewed"), meter(done / total));
    }
    return node;
  }

  // --- selection ---

  select(id) {
    if (!this.selected.delete(id)) this.selected.add(id);
    this.mark();
  }

  selectAll() {
    const ids = this.data.rows.map((row) => row.id);
    const all = ids.every((id) => this.selected.has(id));
    this.selected = new Set(all ? [] : ids);
    this.mark();
  }

  clear() {
    this.selected.clear();
    this.mark();
    this.all.focus({ preventScroll: true });
  }

  mark() {
    for (const item of this.list.children) {
      const on = this.selected.has(item.dataset.id);
      item.classList.toggle("selected", on);
      item.querySelector(".tick").setAttribute("aria-checked", on);
    }
    const count = this.selected.size;
    const state = !count ? "false" : count === this.data.rows.length ? "true" : "mixed";
    this.all.setAttribute("aria-checked", state);
    this.bar.hidden = !count;
    this.drawBar(count);
  }

  drawBar(count) {
    if (this.bar.dataset.count === String(count)) return;
    this.bar.dataset.count = count;
    const chosen = (kind) => () => this.act(kind, this.data.rows.map((row) => row.id).filter((id) => this.selected.has(id)));
    const compare = button("btn primary", "Compare", "Compare the two selected answers", chosen("compare"));
    compare.disabled = count !== 2;
    compare.title = count === 2 ? "" : "Select two answers to compare them";
    this.bar.replaceChildren(
      make("b", "", `${count} selected`), compare,
      button("btn", "Export", "Export the selected answers as one sheet", chosen("export")),
      button("btn", "Tag", "Tag the selected answers", chosen("tag")),
      button("btn", "Delete", "Delete the selected answers", chosen("delete")),
      button("square", "✕", "Clear the selection", () => this.clear()),
    );
  }

  act(kind, ids = []) {
    if (kind === "delete" || kind === "compare") this.selected.clear();
    this.trigger("act", { kind, ids });
  }

  // --- keys ---

  moved(event) {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && this.selected.size) this.clear();
    if (!way) return;
    event.preventDefault();
    this.move(way);
  }

  // The row above or below the one with the focus; without one, the first.
  move(way) {
    const item = this.root.getRootNode().activeElement?.closest("li");
    const next = item ? item[way > 0 ? "nextElementSibling" : "previousElementSibling"] : this.list.firstElementChild;
    next?.querySelector(".open").focus();
  }

  // The keys of help.js.
  heard(what) {
    if (what === "problem") this.act("next");
    if (what === "next" || what === "previous") this.move(what === "next" ? 1 : -1);
  }
}

export default function ({ parentElement, data: [data], setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  root.list ??= new AnswerList(root);
  root.list.trigger = setTriggerValue;
  root.list.update(data);
  if (root.heard) return;
  root.heard = (event) => {
    if (root.isConnected) root.list.heard(event.detail);
    else document.removeEventListener("attribution-claim", root.heard);
  };
  document.addEventListener("attribution-claim", root.heard);
}

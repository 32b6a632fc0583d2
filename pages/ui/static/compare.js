// Columns of segmenters or of two answers over rows of sentences or points; a selected claim lights its words and
// opens its quote across the row. Follows nodes.js in the same module.
function marked(parts, tag, className) {
  return parts.map(([text, on]) => (on ? make(tag, className, text) : document.createTextNode(text)));
}

class CompareView {
  constructor(root) {
    this.root = root;
    this.filter = "";
    this.open = new Set(); // folded sections that were opened
    this.selected = "";
    root.addEventListener("keydown", (event) => this.moved(event));
  }

  update(data) {
    this.data = data;
    const shown = JSON.stringify(data);
    if (this.shown === shown) return;
    this.shown = shown;
    this.draw();
  }

  draw() {
    const active = this.root.getRootNode().activeElement;
    const focus = active?.dataset?.focus;
    const { columns, source } = this.data;
    this.root.classList.toggle("answers", Boolean(source));
    const first = source ? "132px" : "minmax(0, 290px)";
    this.root.style.setProperty("--template", `${first} repeat(${columns.length + (source ? 1 : 0)}, minmax(0, 1fr))`);
    this.root.replaceChildren(this.say(), this.totals(), ...this.data.sections.map((section, n) => this.section(section, n)));
    if (focus) this.root.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  say() {
    const node = make("div", "say"), words = make("p"), filters = make("div", "filters");
    words.append(...marked(this.data.insight, "b", ""));
    words.setAttribute("role", "status");
    filters.setAttribute("role", "group");
    filters.setAttribute("aria-label", "Show rows");
    for (const [name, label, count] of this.data.filters) {
      const one = button("", label, `${label}: ${count}`, () => { this.filter = name; this.draw(); });
      one.append(make("span", "", count));
      one.dataset.focus = `filter-${name}`;
      one.setAttribute("aria-pressed", this.filter === name);
      filters.append(one);
    }
    node.append(words, filters);
    return node;
  }

  // --- the heads of the columns ---

  totals() {
    const node = make("div", "g totals"), first = make("div", "first", this.data.first);
    node.append(first, ...this.data.columns.map((column) => this.column(column)));
    if (this.data.source) {
      const last = make("div", "column only-wide");
      last.append(make("h2", "", this.data.source));
      node.append(last);
    }
    return node;
  }

  column(column) {
    const node = make("div", "column"), title = make("h2", "", column.title);
    title.dir = "auto";
    if (column.in_use) title.append(make("span", "", "in use"));
    else if (column.use) title.append(this.link("Use these", `Check with ${column.title}`, "use", column.use));
    else if (column.open) title.append(this.link("Open", `Open ${column.title}`, "open", column.open));
    const bar = make("div", "bar"), counts = make("div", "counts");
    bar.setAttribute("aria-hidden", "true");
    for (const { name, word, icon, count } of column.groups) {
      const number = make("span", count ? `g-${name}` : "zero", `${icon} ${count}`);
      number.prepend(make("span", "hidden", `${word}: `));
      counts.append(number);
      if (count) bar.append(this.part(name, count));
    }
    if (column.quiet) bar.append(this.part("off", column.quiet));
    node.append(title, ...column.facts.map((facts) => make("p", "facts", facts)), bar, counts);
    return node;
  }

  link(words, label, kind, value) {
    const node = button("", words, label, () => this.trigger("act", { kind, value }));
    node.dataset.focus = `${kind}-${value}`;
    return node;
  }

  part(name, count) {
    const node = make("span", `g-${name}`);
    node.style.flex = count;
    return node;
  }

  // --- the rows ---

  section(section, number) {
    const node = make("section");
    const rows = section.rows.filter((row) => !this.filter || this.filter === (row.kind ?? section.kind));
    if (!rows.length) return node;
    const isAll = this.data.sections.every((other) => other.folded !== undefined); // nothing else to see
    const open = this.open.has(number) !== isAll || (section.folded && this.filter);
    if (section.title && section.folded !== undefined) {
      const points = `${rows.length} ${rows.length === 1 ? "point" : "points"}`;
      const head = button("section fold", `${open ? "▾" : "▸"} ${section.title}`, `${section.title}: ${points}`, () => {
        if (!this.open.delete(number)) this.open.add(number);
        this.draw();
      });
      head.append(make("span", "", [points, section.folded].filter(Boolean).join(": ")));
      head.setAttribute("aria-expanded", Boolean(open));
      head.dataset.focus = `section-${number}`;
      node.append(head);
      if (!open) return node;
    } else if (section.title) {
      const head = make("h3", "section", section.title);
      head.append(make("span", "", `${rows.length} ${rows.length === 1 ? "point" : "points"}`));
      node.append(head);
    }
    node.append(...rows.map((row) => this.row(row)));
    return node;
  }

  row(row) {
    const node = make("div", "g row"), first = make("div", row.pieces.length ? "sentence" : "about", row.about);
    first.dir = "auto";
    const pieces = row.pieces.map((text) => make("span", "piece", text));
    first.append(...pieces);
    if (row.flag) first.append(make("br"), make("span", "flag", row.flag));
    node.classList.toggle("hot", Boolean(row.flag));
    node.append(first, ...row.cells.map((claims, n) => this.cell(row, claims, n, pieces)));
    if (this.data.source) node.append(this.source(row.source));
    const selected = row.cells.flat().find((claim) => this.selected === `${row.key}/${claim.id}`);
    if (selected) node.append(this.evidence(selected));
    return node;
  }

  cell(row, claims, column, pieces) {
    const node = make("div", "cell");
    node.append(make("span", "name", this.data.columns[column].title));
    if (!claims.length) node.append(make("p", "none", "–"));
    for (const claim of claims) node.append(this.claim(row, claim, column, pieces));
    return node;
  }

  claim(row, claim, column, pieces) {
    const key = `${row.key}/${claim.id}`, on = this.selected === key;
    const words = claim.is_whole ? "The whole sentence" : claim.text.map(([text]) => text).join("");
    const node = button(`claim g-${claim.group}`, "", `${claim.word}: ${words}`, () => {
      this.selected = on ? "" : key;
      this.draw();
    });
    const icon = make("span", "icon", claim.icon), text = make("span", claim.is_whole ? "whole" : "");
    icon.setAttribute("aria-hidden", "true");
    icon.title = claim.word;
    text.dir = "auto";
    text.append(...(claim.is_whole ? [words] : marked(claim.text, "span", "diff")));
    node.append(icon, text);
    node.dataset.focus = `claim-${column}-${key}`;
    node.setAttribute("aria-expanded", on);
    const light = (lit) => (claim.lights ?? []).forEach((n) => {
      pieces[n]?.classList.toggle("lit", lit);
      pieces[n]?.classList.toggle(`g-${claim.group}`, lit);
    });
    node.addEventListener("mouseenter", () => light(true));
    node.addEventListener("mouseleave", () => light(this.selected === key));
    node.addEventListener("focus", () => light(true));
    node.addEventListener("blur", () => light(this.selected === key));
    if (on) light(true);
    return node;
  }

  source(quote) {
    const node = make("div", "source");
    if (!quote) {
      node.append(make("span", "none", "–"));
      return node;
    }
    const text = make("p");
    text.dir = "auto";
    text.append(...marked(quote.text, "b", ""));
    node.append(text, make("p", "from", quote.source));
    return node;
  }

  evidence(claim) {
    const node = make("div", `evidence g-${claim.group}`), quote = make("span");
    quote.dir = "auto";
    node.append(make("span", "why", [claim.word, claim.why].filter(Boolean).join(". ")));
    if (claim.quote) {
      quote.append(...marked(claim.quote.text, "span", "diff"));
      node.append(quote, make("span", "from", claim.quote.source));
    }
    return node;
  }

  // Arrows move between claims, Enter opens one, Esc closes it.
  moved(event) {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && this.selected) {
      this.selected = "";
      this.draw();
    }
    const claims = [...this.root.querySelectorAll(".claim")];
    const at = claims.indexOf(this.root.getRootNode().activeElement);
    if (!way || at < 0) return;
    event.preventDefault();
    claims[at + way]?.focus();
  }
}

export default function ({ parentElement, data: [data], setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  root.view ??= new CompareView(root);
  root.view.trigger = setTriggerValue;
  root.view.update(data);
}

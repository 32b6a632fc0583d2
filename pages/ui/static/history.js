// The saved runs, a line each; those that are selected stay so while their line is shown. Follows nodes.js.
const LISTS = new WeakMap();

class RunList {
  constructor(root) {
    this.root = root;
    this.root.setAttribute("aria-label", "Saved runs");
    this.picked = new Set();
  }

  pick(id, on) {
    if (on) this.picked.add(id); else this.picked.delete(id);
    this.send("picked", [...this.picked]);
  }

  verdicts(counts) {
    const whole = make("div", "verdicts"), bar = make("div", "bar"), words = make("p", "counts");
    bar.setAttribute("aria-hidden", "true");
    for (const { style, icon, n, words: text } of counts) {
      const part = make("span", `part ${style}`);
      part.style.flexGrow = n;
      bar.append(part);
      const count = make("span", `count ${style}`), sign = make("span", "icon", icon);
      sign.setAttribute("aria-hidden", "true");
      const said = make("span", "hidden", `${text} `), number = make("span", "num", n);
      number.setAttribute("aria-hidden", "true");
      count.title = text;
      count.append(sign, number, said);
      words.append(count);
    }
    if (!counts.length) words.append(make("span", "none", "No verdicts"));
    else whole.append(bar);
    whole.append(words);
    return whole;
  }

  line(row) {
    const item = make("li", "run"), label = make("label", "box"), box = make("input");
    box.type = "checkbox";
    box.checked = this.picked.has(row.id);
    box.dataset.run = row.id;
    box.setAttribute("aria-label", `Select ${row.name}`);
    box.addEventListener("change", () => { item.classList.toggle("picked", box.checked); this.pick(row.id, box.checked); });
    item.classList.toggle("picked", box.checked);
    label.append(box);
    const main = make("div", "main"), title = make(row.deleted ? "span" : "a", "title", row.name);
    title.dir = "auto";
    if (!row.deleted) {
      title.href = `./?run=${encodeURIComponent(row.id)}`;
      title.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // a tab of its own
        event.preventDefault();
        this.trigger("open", row.id);
      });
    }
    const meta = make("p", "meta");
    if (row.state) meta.append(make("span", "state", row.state));
    meta.append(make("span", "", row.meta));
    main.append(title, meta);
    if (row.tags.length) {
      const tags = make("p", "tags");
      tags.append(...row.tags.map((tag) => { const chip = make("span", "tag", tag); chip.dir = "auto"; return chip; }));
      main.append(tags);
    }
    if (row.note) { const note = make("p", "note", row.note); note.dir = "auto"; main.append(note); }
    item.append(label, main, this.verdicts(row.counts));
    return item;
  }

  draw(rows) {
    const shown = JSON.stringify(rows);
    if (shown === this.shown) return;
    this.shown = shown;
    const ids = new Set(rows.map((row) => row.id)), before = this.picked.size;
    this.picked = new Set([...this.picked].filter((id) => ids.has(id)));
    const focused = this.root.getRootNode().activeElement?.dataset?.run;
    this.root.replaceChildren(...rows.map((row) => this.line(row)));
    if (focused) this.root.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    if (this.picked.size !== before) this.send("picked", [...this.picked]);
  }
}

export default function ({ parentElement, data, setTriggerValue, setStateValue }) {
  const root = parentElement.querySelector(".root");
  if (!LISTS.has(root)) LISTS.set(root, new RunList(root));
  const list = LISTS.get(root);
  list.trigger = setTriggerValue;
  list.send = setStateValue;
  list.draw(data.rows);
}

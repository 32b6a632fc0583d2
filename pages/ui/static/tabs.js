// The tabs beside the answer. Two are drawn here, evidence and sources; the others by the server, in containers of
// the page that lie over this column. Follows nodes.js in the same module.
class Tabs {
  constructor(onChange) {
    this.onChange = onChange;
    this.name = "evidence";
    this.root = make("div", "tabs");
    this.root.setAttribute("role", "tablist");
    this.root.setAttribute("aria-label", "Beside the answer");
    this.root.addEventListener("keydown", (event) => this.moved(event));
  }

  draw(tabs) {
    this.root.replaceChildren(...tabs.map(([name, label]) => {
      const tab = make("button", "tab", label);
      tab.type = "button";
      tab.dataset.tab = name;
      tab.setAttribute("role", "tab");
      tab.addEventListener("click", () => this.open(name));
      return tab;
    }));
    this.mark();
  }

  mark() {
    for (const tab of this.root.children) {
      const open = tab.dataset.tab === this.name;
      tab.setAttribute("aria-selected", open);
      tab.tabIndex = open ? 0 : -1;
    }
  }

  open(name) {
    if (this.name === name) return;
    this.name = name;
    this.mark();
    this.onChange(name);
  }

  moved(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const next = [...this.root.children].find((tab) => tab.dataset.tab === this.name)[way > 0 ? "nextSibling" : "previousSibling"];
    if (next) { this.open(next.dataset.tab); next.focus(); }
  }
}

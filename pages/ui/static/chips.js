// The counts above the answer as one bar, whose segments filter its claims. Follows nodes.js in the same module.
// It is one stop of Tab; the arrow keys move between its segments.
class Chips {
  constructor(onChange) {
    this.onChange = onChange;
    this.filters = new Set();
    this.root = make("div", "chips");
    this.root.setAttribute("role", "toolbar");
    this.root.setAttribute("aria-label", "Show only claims that are");
    this.root.addEventListener("keydown", (event) => this.moved(event));
  }

  hides({ label, corrected, judged }) {
    return this.filters.size > 0 && !this.filters.has(label) && !(corrected && this.filters.has("corrected"))
      && !(judged && this.filters.has("judged"));
  }

  draw(counts) {
    const segments = counts.map(({ label, style, icon, count, noun, help }) => {
      const segment = make("button", `chip ${style}`);
      segment.type = "button";
      segment.title = `${count} ${noun}. ${help}`;
      segment.style.flexGrow = label in { corrected: 1, judged: 1 } ? 0 : count; // these claims are in the bar already
      segment.append(make("span", "icon", icon), make("span", "", ` ${count}`), make("span", "noun", ` ${noun}`));
      segment.setAttribute("aria-label", `${count} ${noun}`);
      segment.setAttribute("aria-pressed", this.filters.has(label));
      segment.addEventListener("click", () => {
        if (!this.filters.delete(label)) this.filters.add(label);
        segment.setAttribute("aria-pressed", this.filters.has(label));
        reset.hidden = !this.filters.size;
        this.onChange();
      });
      return segment;
    });
    const reset = make("button", "reset", "Show all");
    reset.type = "button";
    reset.hidden = !this.filters.size;
    reset.addEventListener("click", () => {
      this.filters.clear();
      this.draw(counts);
      this.onChange();
      this.root.firstElementChild?.focus({ preventScroll: true });
    });
    const buttons = [...this.root.children];
    const focused = buttons.indexOf(this.root.getRootNode().activeElement);
    this.root.replaceChildren(...segments, reset);
    this.stop(Math.max(0, focused), focused >= 0);
    this.fit();
  }

  // The segment that Tab reaches.
  stop(index, focus) {
    const buttons = [...this.root.children].filter((button) => !button.hidden);
    buttons.forEach((button, n) => { button.tabIndex = n === index ? 0 : -1; });
    if (focus) buttons[index]?.focus({ preventScroll: true });
  }

  moved(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way) return;
    const buttons = [...this.root.children].filter((button) => !button.hidden);
    const next = buttons.indexOf(this.root.getRootNode().activeElement) + way;
    event.preventDefault();
    if (buttons[next]) this.stop(next, true);
  }

  // A segment that is too narrow for its words shows icon and count; the tooltip has the rest.
  fit() {
    for (const segment of this.root.children) segment.classList.remove("short");
    const narrow = [...this.root.children].filter((segment) => segment.scrollWidth > segment.clientWidth);
    for (const segment of narrow) segment.classList.add("short");
  }
}

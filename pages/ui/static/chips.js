// The counts above the answer, which filter its claims. Follows nodes.js in the same module.
class Chips {
  constructor(onChange) {
    this.onChange = onChange;
    this.filters = new Set();
    this.root = make("div", "chips");
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", "Show only claims that are");
  }

  hides({ label, corrected }) {
    return this.filters.size > 0 && !this.filters.has(label) && !(corrected && this.filters.has("corrected"));
  }

  draw(counts) {
    const chips = counts.map(({ label, icon, text, help }) => {
      const chip = make("button", `chip v-${label}`);
      chip.type = "button";
      chip.title = help;
      chip.append(make("span", "icon", icon), make("span", "", text));
      chip.setAttribute("aria-pressed", this.filters.has(label));
      chip.addEventListener("click", () => {
        if (!this.filters.delete(label)) this.filters.add(label);
        chip.setAttribute("aria-pressed", this.filters.has(label));
        reset.hidden = !this.filters.size;
        this.onChange();
      });
      return chip;
    });
    const reset = make("button", "reset", "Show all");
    reset.type = "button";
    reset.hidden = !this.filters.size;
    reset.addEventListener("click", () => {
      this.filters.clear();
      this.draw(counts);
      this.onChange();
    });
    const focused = this.root.getRootNode().activeElement;
    const index = focused?.classList.contains("chip") ? [...this.root.children].indexOf(focused) : -1;
    this.root.replaceChildren(...chips, reset);
    if (index >= 0) this.root.children[index]?.focus({ preventScroll: true });
  }
}

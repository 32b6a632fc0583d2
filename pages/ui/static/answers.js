// Two answers side by side; a claim's counterparts in the other answer light up with it. Follows nodes.js, chips.js,
// placement.js, view.js and claims.js in the same module.
const PAIRS = new WeakMap();

class Pair {
  constructor(parent) {
    this.root = parent.querySelector(".pair");
    const sides = [...this.root.querySelectorAll(".side")];
    this.titles = sides.map((side) => side.querySelector("h3"));
    this.views = sides.map((side) => new View(side));
    this.views.forEach((view, side) => {
      const at = (event) => event.target.closest?.("[data-claim]")?.dataset.claim ?? event.target.dataset?.of;
      for (const kind of ["mouseover", "focusin"]) view.answer.addEventListener(kind, (event) => this.light(side, at(event)));
      for (const kind of ["mouseleave", "focusout"]) view.answer.addEventListener(kind, () => this.light(side));
    });
  }

  // Without a claim under the mouse or the focus, the counterparts of the selected one stay lit.
  light(side, id) {
    const wanted = new Set(this.partners[id ?? this.views[side].selected()] ?? []);
    for (const [other, parts] of this.views[1 - side].parts) {
      for (const part of parts) part.classList.toggle("partner", wanted.has(other));
    }
  }

  // The answer that has the focus, else the first.
  current() {
    const focused = this.root.getRootNode().activeElement;
    return this.views.find((view) => view.root.contains(focused)) ?? this.views[0];
  }

  update(data, trigger) {
    this.partners = data.partners;
    this.views.forEach((view, side) => {
      this.titles[side].textContent = data.names[side];
      view.answer.setAttribute("aria-label", `${data.names[side]}, with its claims marked`);
      view.panel.setAttribute("aria-label", `Evidence of the selected claim of ${data.names[side]}`);
      view.trigger = trigger;
      view.update(data.sides[side]);
    });
    this.views.forEach((_, side) => this.light(side));
  }
}

export default function ({ parentElement, data, setTriggerValue }) {
  let pair = PAIRS.get(parentElement);
  if (!pair || !pair.root.isConnected) {
    PAIRS.set(parentElement, (pair = new Pair(parentElement)));
    listen(pair.root, () => pair.current());
  }
  pair.update(data, setTriggerValue);
}

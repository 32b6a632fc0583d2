// The steps of the demo, beside the page. They take no focus and leave the evidence free.

class Demo {
  constructor(root, steps) {
    this.steps = steps;
    this.card = make("section", "ax-demo");
    this.card.setAttribute("aria-label", "The demo");
    this.card.addEventListener("keydown", (event) => { if (event.key === "Escape") this.end(); });
    this.place = make("p", "place");
    this.title = make("h2");
    this.text = make("p");
    this.text.setAttribute("aria-live", "polite");
    this.back = button("back", "Back", "Step before", () => this.show(this.step - 1));
    this.next = button("next", "Next", "Next step", () => this.show(this.step + 1));
    const skip = button("skip", "Close", "Close the demo", () => this.end());
    const buttons = make("div", "buttons");
    buttons.append(skip, make("span", "spring"), this.back, this.next);
    this.card.append(this.place, this.title, this.text, buttons);
    root.append(this.card);
    this.show(0);
  }

  show(step) {
    if (step === this.steps.length) return this.end();
    this.step = step;
    const [title, text, target, what] = this.steps[step];
    [this.title.textContent, this.text.textContent] = [title, text];
    if (what) document.dispatchEvent(new CustomEvent("attribution-claim", { detail: what }));
    this.place.textContent = `${step + 1} of ${this.steps.length}`;
    this.back.hidden = step === 0;
    const last = step === this.steps.length - 1;
    this.next.textContent = last ? "Done" : "Next";
    this.next.setAttribute("aria-label", last ? "End the demo" : "Next step");
    this.point(target);
  }

  point(selector) {
    document.querySelectorAll(".ax-demo-target").forEach((node) => node.classList.remove("ax-demo-target"));
    if (selector) document.querySelector(selector)?.classList.add("ax-demo-target");
  }

  end() {
    this.point();
    if (this.card.contains(document.activeElement)) document.querySelector("[data-testid=stMain] input")?.focus();
    this.card.remove();
  }
}

// Once for each time it was started, also when the page is drawn anew.
function showDemo(root, { steps, number }) {
  if (number <= (window.attributionDemo ?? 0)) return;
  window.attributionDemo = number;
  root.querySelector(".ax-demo")?.remove();
  new Demo(root, steps);
}

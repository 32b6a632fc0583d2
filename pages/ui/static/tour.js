// Steps beside the page: on the first visit of this browser, and the demo. They take no focus and cover no button.
const SEEN = "attribution_tour_seen";

class Tour {
  constructor(root, steps) {
    this.steps = steps;
    this.card = make("section", "ax-tour");
    this.card.setAttribute("aria-label", "A short tour");
    this.card.addEventListener("keydown", (event) => { if (event.key === "Escape") this.end(); });
    this.place = make("p", "place");
    this.title = make("h2");
    this.text = make("p");
    this.text.setAttribute("aria-live", "polite");
    this.back = button("back", "Back", "Step before", () => this.show(this.step - 1));
    this.next = button("next", "Next", "Next step", () => this.show(this.step + 1));
    const skip = button("skip", "Close", "Close, and do not show it again", () => this.end());
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
    this.next.setAttribute("aria-label", last ? "End the tour" : "Next step");
    this.point(target);
  }

  point(selector) {
    document.querySelectorAll(".ax-tour-target").forEach((node) => node.classList.remove("ax-tour-target"));
    if (selector) document.querySelector(selector)?.classList.add("ax-tour-target");
  }

  end() {
    localStorage.setItem(SEEN, "1");
    this.point();
    if (this.card.contains(document.activeElement)) document.querySelector("[data-testid=stMain] input")?.focus();
    this.card.remove();
  }
}

// Once for each time it was started, also when the page is drawn anew.
function showDemo(root, { steps, number }) {
  if (number <= (window.attributionDemo ?? 0)) return;
  window.attributionDemo = number;
  root.querySelector(".ax-tour")?.remove();
  new Tour(root, steps).card.classList.add("beside"); // it leaves the evidence free
}

// Begins once the form of Check is drawn. A program that drives the browser, such as a test, is shown no tour.
function offerTour(root, steps) {
  if (localStorage.getItem(SEEN) || navigator.webdriver) return;
  const waiting = setInterval(() => {
    if (!document.querySelector(".st-key-start") || !/\/(check)?$/.test(location.pathname)) return;
    clearInterval(waiting);
    new Tour(root, steps);
  }, 500);
}

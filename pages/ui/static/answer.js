// The answer with its claims, and the evidence of the selected one. Follows nodes.js, chips.js and placement.js in the same module.
const NOTES = new Map(); // claim → note that waits for a verdict
const SELECTED = new Map(); // run → claim: survives a new mount of the component

class View {
  constructor(parent) {
    this.root = parent.querySelector(".root");
    this.chips = new Chips(() => { this.filter(); this.revealShown(); });
    this.answer = make("article", "answer");
    this.answer.setAttribute("aria-label", "The answer, with its claims marked");
    this.panel = make("aside", "panel");
    this.panel.setAttribute("aria-label", "Evidence of the selected claim");
    this.panel.setAttribute("aria-live", "polite");
    this.panel.tabIndex = -1;
    this.columns = make("div", "columns");
    this.tabs = new Tabs((name) => { this.drawSelection(); this.panel.scrollTop = 0; this.keep?.("tab", name); });
    this.notes = make("section", "notes");
    this.notes.setAttribute("aria-hidden", "true");
    this.columns.append(this.answer, this.tabs.root, this.panel);
    this.tip = make("p", "tip");
    this.tip.hidden = true;
    this.root.replaceChildren(this.chips.root, this.columns, this.notes, this.tip);
    this.seen = {};
    listenForUndo(this);
    this.answer.addEventListener("click", (event) => this.clicked(event));
    this.answer.addEventListener("mouseover", (event) => this.pointed(event.target.closest("[data-claim]")));
    this.answer.addEventListener("mouseleave", () => this.pointed(null));
    this.answer.addEventListener("scroll", () => this.pointed(null));
    this.answer.addEventListener("keydown", (event) => this.typed(event));
    this.panel.addEventListener("keydown", (event) => { if (event.key === "Escape") this.back(); });
    this.panel.addEventListener("click", (event) => this.opened(event));
    this.resize = new ResizeObserver(() => this.place());
    this.resize.observe(this.root);
  }

  changed(name, value) {
    const text = JSON.stringify(value);
    if (this.seen[name] === text) return false;
    this.seen[name] = text;
    return true;
  }

  update(data) {
    this.data = data;
    if (this.changed("run", data.run)) { this.chips.filters.clear(); this.seen.panel = null; this.showEvidence(); }
    if (this.changed("tabs", data.tabs)) this.tabs.draw(data.tabs);
    if (data.tabs?.length && !data.tabs.some(([name]) => name === this.tabs.name)) this.showEvidence();
    const structure = this.changed("tree", [data.run, data.tree, data.loose]);
    if (structure) this.drawAnswer();
    if (this.changed("claims", data.claims) || structure) this.drawClaims();
    if (this.changed("counts", data.counts) || structure) this.chips.draw(data.counts);
    if (this.changed("notes", data.notes)) this.notes.replaceChildren(build(data.notes));
    const id = SELECTED.get(data.run); // of a claim that may be gone by an edit
    if (!this.selected() && data.first && id !== "none" && (id || this.mode() === "wide")) SELECTED.set(data.run, data.first);
    this.drawSelection();
  }

  // The container of the page that holds the answer and what is beside it.
  stage() {
    return this.root.getRootNode().host?.closest(".st-key-stage");
  }

  selected() {
    const id = SELECTED.get(this.data.run);
    return id && this.data.claims[id] ? id : null;
  }

  drawAnswer() {
    const active = this.root.getRootNode().activeElement?.dataset;
    const focused = active?.claim ?? active?.of;
    this.panel.remove();
    this.answer.replaceChildren(...this.data.tree.map(build));
    this.parts = new Map();
    for (const part of this.answer.querySelectorAll("[data-claim]")) {
      const id = part.dataset.claim;
      if (!this.parts.has(id)) this.parts.set(id, []);
      this.parts.get(id).push(part);
    }
    const loose = this.data.loose.filter((id) => this.data.claims[id]);
    if (loose.length) {
      this.answer.append(make("h6", "", "Claims without a place in the text"));
      for (const id of loose) {
        const line = make("p");
        const part = make("span", "", this.data.claims[id].text);
        part.dataset.claim = id;
        part.dataset.span = "0";
        line.append(part);
        this.answer.append(line);
        this.parts.set(id, [part]);
      }
    }
    for (const [id, parts] of this.parts) {
      const spans = new Map(parts.map((part) => [part.dataset.span, part]));
      for (const last of spans.values()) {
        const number = make("sup", "number");
        number.dataset.of = id;
        last.after(number);
      }
    }
    this.columns.append(this.panel);
    if (focused) this.handle(focused)?.focus({ preventScroll: true });
  }

  drawClaims() {
    for (const [id, parts] of this.parts) {
      const claim = this.data.claims[id];
      if (!claim) continue;
      parts.forEach((part) => {
        const depth = part.parentElement.closest("[data-claim]") ? " inner" : "";
        part.className = `claim ${claim.style}${depth}${claim.exact ? " exact" : ""}`;
      });
    }
    for (const number of this.answer.querySelectorAll("sup.number")) {
      const claim = this.data.claims[number.dataset.of];
      if (!claim) continue;
      number.className = `number ${claim.style}`;
      const own = claim.judged ? `⚑${claim.judged.icon}` : "";
      number.textContent = "\u2060" + claim.icon + claim.n + (claim.exact ? "≡" : "") + (claim.corrected ? "✎" : "") + own; // never alone on a line
      number.setAttribute("aria-hidden", "true");
    }
    for (const id of this.parts.keys()) {
      const claim = this.data.claims[id], handle = this.handle(id);
      if (!claim) continue;
      handle.tabIndex = 0;
      handle.removeAttribute("aria-hidden");
      handle.setAttribute("role", "button");
      const own = claim.judged ? `, your verdict: ${claim.judged.word}` : "";
      const state = claim.word + (claim.exact ? ", word for word" : "") + (claim.corrected ? ", edited by hand" : "") + own;
      handle.setAttribute("aria-label", `Claim ${claim.n}, ${state}: ${claim.text}`);
    }
    this.filter();
  }

  // What the keyboard reaches: the claim's words, or its number where the words hold a link or another claim,
  // because a button must not hold one.
  handle(id) {
    const part = this.parts.get(id)?.[0];
    return part?.querySelector("a, [data-claim]") ? this.answer.querySelector(`sup.number[data-of="${id}"]`) : part;
  }

  filter() {
    for (const [id, parts] of this.parts) {
      const hidden = this.chips.hides(this.data.claims[id] ?? {});
      for (const part of parts) part.classList.toggle("dim", hidden);
    }
  }

  // Scrolls to the first claim that a filter leaves, if it leaves none in sight.
  revealShown() {
    const frame = this.answer.getBoundingClientRect();
    const left = [...this.parts.values()].map(([part]) => part).filter((part) => !part.classList.contains("dim"));
    const inSight = ({ top, bottom }) => bottom > Math.max(frame.top, 0) && top < Math.min(frame.bottom, innerHeight);
    if (!left.some((part) => inSight(part.getBoundingClientRect()))) this.reveal(left[0], this.answer);
  }

  drawSelection() {
    const id = this.selected();
    this.root.classList.toggle("has-selection", Boolean(id));
    for (const [other, parts] of this.parts) {
      for (const part of parts) part.classList.toggle("selected", other === id);
      this.handle(other)?.setAttribute("aria-pressed", other === id);
    }
    const tab = this.tabs.name, stage = this.stage();
    this.root.dataset.tab = tab;
    if (stage) stage.dataset.tab = tab; // the style sheet of the page shows the container of this name
    if (tab === "sources") this.drawSources();
    else if (tab === "evidence") this.drawEvidence(id);
    this.place();
  }

  drawSources() {
    const { source, sources } = this.data;
    if (!this.changed("panel", ["sources", source?.asked, sources])) return;
    this.drawn = null;
    if (!source) return this.panel.replaceChildren(build(sources));
    const back = button("open", "‹ All sources", "Back to all sources", () => this.trigger("open", { page: "", at: [] }));
    const head = build(source.head);
    head.prepend(back);
    if (source.number) {
      const [page, at, drawn] = source.asked, word = drawn ? "Show the text" : `Show page ${source.number} as a picture`;
      head.append(button("open", word, word, () => this.trigger("open", { page, at: [at, at, at, at], picture: !drawn })));
    }
    const choose = (id) => this.choose(id);
    this.panel.replaceChildren(head, source.picture ? pagePicture(source.picture, source.number) : sourceText(source, choose));
    requestAnimationFrame(() => this.reveal(this.panel.querySelector(".here"), this.panel));
  }

  drawEvidence(id) {
    const content = id ? this.data.panels[id] : this.data.empty;
    if (this.changed("panel", [id, content])) {
      const open = [...this.panel.querySelectorAll("details")].map((d) => d.open);
      const same = this.drawn === id;
      const bar = make("div", "bar");
      if (id) {
        bar.append(
          button("step", "‹", "Previous claim", () => this.move(id, -1, true)),
          button("step", "›", "Next claim", () => this.move(id, 1, true)),
          button("step close", this.mode() === "narrow" ? "✕" : "All claims", "All claims, errors and doubts first", () => this.close()),
        );
      }
      this.panel.replaceChildren(bar, build(content));
      this.addNote(this.panel.querySelector(".judge"), id);
      if (same) this.panel.querySelectorAll("details").forEach((d, i) => { d.open = Boolean(open[i]); });
      else this.panel.scrollTop = 0;
      this.drawn = id;
      const last = this.panel.querySelector(".panel-body > :last-child"), fresh = this.changed("last", [id, content.at(-1)]);
      if (same && fresh && last?.matches(".reason, .card")) this.reveal(last, this.panel); // a correction that was asked for
    }
  }

  mode() {
    const width = this.root.clientWidth;
    return width < 560 ? "narrow" : width < 1000 ? "medium" : "wide";
  }

  // On a narrow screen the evidence stands under the tapped sentence, else beside or under the answer.
  place() {
    if (!this.data) return;
    const mode = this.mode(), id = this.selected(), evidence = this.tabs.name === "evidence";
    this.root.dataset.mode = mode;
    this.chips.fit();
    const part = id && this.parts.get(id)?.at(-1);
    if (mode === "narrow" && part && evidence) {
      const before = endOfSentence(part, this.panel);
      if (before.nextSibling !== this.panel) before.after(this.panel);
    } else if (this.panel.parentElement !== this.columns) this.columns.append(this.panel);
    this.panel.hidden = evidence ? mode === "narrow" && !id : this.tabs.name !== "sources";
    this.cover();
  }

  // The column's own height is what the window leaves; the containers of the page lie where the panel is.
  cover() {
    const stage = this.stage();
    if (!stage) return;
    const top = this.columns.getBoundingClientRect().top + (scroller(this.root)?.scrollTop ?? 0);
    this.root.style.setProperty("--from", `${Math.round(top)}px`);
    const frame = stage.getBoundingClientRect(), tabs = this.tabs.root.getBoundingClientRect();
    const height = this.columns.getBoundingClientRect().bottom - tabs.bottom;
    const sizes = { top: tabs.bottom - frame.top, left: tabs.left - frame.left, width: tabs.width, height };
    for (const [name, size] of Object.entries(sizes)) stage.style.setProperty(`--side-${name}`, `${Math.round(size)}px`);
  }

  choose(id) {
    SELECTED.set(this.data.run, id);
    this.showEvidence();
    const part = this.parts.get(id)[0], before = part.getBoundingClientRect().top;
    this.drawSelection();
    scroller(this.root)?.scrollBy({ top: part.getBoundingClientRect().top - before, behavior: "instant" });
    if (this.mode() === "narrow") {
      const hidden = this.panel.getBoundingClientRect().top - innerHeight * 0.6;
      const room = part.getBoundingClientRect().top - 90;
      if (hidden > 0 && room > 0) scroller(this.root)?.scrollBy({ top: Math.min(hidden, room), behavior: "instant" });
    }
    if (this.mode() !== "narrow") this.reveal(this.parts.get(id)?.at(-1), this.answer);
  }

  // Scrolls the column to a part of it, and the page only where the column does not scroll.
  reveal(part, column) {
    if (!part) return;
    if (this.mode() !== "wide") return part.scrollIntoView({ block: "nearest" });
    const inside = part.getBoundingClientRect(), frame = column.getBoundingClientRect();
    if (inside.top < frame.top || inside.bottom > frame.bottom) column.scrollTop += inside.top - frame.top - frame.height / 3;
  }

  // The server hears of it too: it need not draw what another tab shows.
  showEvidence() {
    if (this.tabs.name === "evidence") return;
    this.tabs.name = "evidence";
    this.tabs.mark();
    this.keep?.("tab", "evidence");
  }

  close() {
    const id = this.selected();
    SELECTED.set(this.data.run, "none");
    this.drawSelection();
    this.handle(id)?.focus({ preventScroll: true });
  }

  back() {
    const id = this.selected();
    if (id) this.handle(id)?.focus();
  }

  // A pointer that rests on a claim sees its deciding sentence; one that is selected has it beside it.
  pointed(part) {
    const claim = this.data?.claims[part?.dataset.claim];
    if (part === this.over) return;
    this.over = part;
    this.tip.hidden = true;
    clearTimeout(this.rest);
    if (!claim?.tip || part.classList.contains("selected")) return;
    this.rest = setTimeout(() => {
      this.tip.textContent = claim.tip;
      this.tip.hidden = false;
      const box = part.getClientRects()[0], own = this.tip.getBoundingClientRect(), below = part.getBoundingClientRect().bottom + 6;
      this.tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - own.width - 8))}px`;
      this.tip.style.top = `${below + own.height < innerHeight ? below : box.top - own.height - 6}px`;
    }, 350);
  }

  clicked(event) {
    this.pointed(null);
    if (event.target.closest("a, .panel")) return;
    const id = event.target.closest("[data-claim]")?.dataset.claim ?? event.target.closest("sup.number")?.dataset.of;
    if (id && this.data.claims[id] && !String(getSelection())) this.choose(id);
  }

  typed(event) {
    const id = event.target.dataset?.claim ?? event.target.dataset?.of;
    if (!id || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (this.selected() === id) this.panel.focus();
      else this.choose(id);
    } else if (event.key === "ArrowRight" || event.key === "ArrowDown") {
      event.preventDefault();
      this.move(id, 1);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowUp") {
      event.preventDefault();
      this.move(id, -1);
    } else if (event.key === "Escape") this.close();
  }

  move(id, way, select = false) {
    const order = [...this.parts.keys()].filter((k) => !this.parts.get(k)[0].classList.contains("dim"));
    const next = order[order.indexOf(id) + way];
    if (!next) return;
    if (select) {
      this.choose(next);
      this.reveal(this.parts.get(next)[0], this.answer);
    } else this.handle(next).focus();
  }

  // A note goes with the verdict: it is sent when it is left, or with the button that is pressed.
  addNote(row, id) {
    if (!row) return;
    const note = make("input", "note");
    note.placeholder = "Note";
    note.maxLength = 2000;
    note.setAttribute("aria-label", "Note on your verdict");
    note.value = row.dataset.note || (NOTES.get(id) ?? "");
    note.addEventListener("input", () => NOTES.set(id, note.value));
    note.addEventListener("keydown", (event) => { if (event.key === "Enter") note.blur(); });
    note.addEventListener("change", () => {
      const own = row.querySelector('[aria-pressed="true"]');
      if (own) this.judge(id, own.className.split("v-")[1], note.value);
    });
    row.append(note);
  }

  judge(id, label, note) {
    NOTES.delete(id);
    this.trigger("edit", `judge:${id}:${label}:${note ?? this.panel.querySelector(".note")?.value ?? ""}`);
  }

  // The analyst's verdict by key: “agree” takes the first button, and “clear” what is pressed.
  judged(what) {
    const buttons = [...this.panel.querySelectorAll(".verdict")], pressed = (b) => b.ariaPressed === "true";
    const wanted = what === "agree" ? buttons[0] : buttons.find((b) => b.classList.contains(`v-${what}`));
    const target = what === "clear" ? buttons.find(pressed) : wanted && !pressed(wanted) ? wanted : null;
    target?.click();
  }

  // The next claim that needs a look, the worst first.
  problem(id) {
    const order = [...this.parts.keys()].filter((k) => this.data.trouble.includes(this.data.claims[k]?.label));
    const rank = (k) => this.data.trouble.indexOf(this.data.claims[k].label);
    order.sort((one, other) => rank(one) - rank(other));
    const next = order[(order.indexOf(id) + 1) % order.length];
    if (!next) return;
    this.choose(next);
    this.reveal(this.parts.get(next)[0], this.answer);
  }

  opened(event) {
    const button = event.target.closest("button[data-page], button[data-edit], button[data-step], button[data-claim]");
    if (!button) return;
    const { edit, step, page, at, claim } = button.dataset;
    if (claim) { this.choose(claim); this.handle(claim)?.focus({ preventScroll: true }); return; }
    if (edit?.startsWith("judge:")) this.judge(...edit.split(":").slice(1));
    else if (edit) this.trigger("edit", edit);
    else if (step) this.trigger("step", { step: step.split(" ")[0], claim: step.split(" ")[1] });
    else {
      this.trigger("open", { page, at: at.split(",").map(Number) });
      if (this.data.tabs.length) this.tabs.open("sources");
    }
    if (!edit || edit.startsWith("open:")) returnFocus(button);
  }
}

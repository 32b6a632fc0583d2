// What stands beside an answer: the card of a claim with the analyst's buttons below it, the sources,
// and the revised answer. Follows nodes.js and source.js in the same module.
const TABS = [["claim", "Claim"], ["sources", "Sources"], ["revised", "Revised answer"]];
const VERDICTS = [
  ["supported", "✓", "Supported", "S", "ok"],
  ["contradicted", "✗", "Contradicted", "C", "wrong"],
  ["unclear", "≈", "Unsure", "U", "check"],
];
const UNSUPPORTED = [["keep", "Keep"], ["mark", "Mark"], ["drop", "Leave out"]];
const NOTES = new Map(); // claim → note that is being written

class Panel {
  constructor(view) {
    this.view = view;
    this.tab = "claim";
    this.root = make("aside", "panel");
    this.root.setAttribute("aria-label", "Evidence of the selected claim");
    this.grip = button("grip", "", "Show more or less of the card", () => {
      this.root.classList.toggle("tall");
    });
    this.tabs = make("div", "tabs");
    this.tabs.setAttribute("role", "tablist");
    this.tabs.setAttribute("aria-label", "Beside the answer");
    this.tabs.addEventListener("keydown", (event) => this.moved(event));
    this.tabs.append(...TABS.map(([name, label]) => {
      const tab = make("button", "tab", label);
      tab.type = "button";
      tab.dataset.tab = name;
      tab.setAttribute("role", "tab");
      tab.addEventListener("click", () => this.open(name));
      return tab;
    }));
    this.scroll = make("div", "scroll");
    this.scroll.tabIndex = 0;
    this.scroll.setAttribute("role", "tabpanel");
    this.foot = make("div", "foot");
    this.root.append(this.grip, this.tabs, this.scroll, this.foot);
    this.root.addEventListener("click", (event) => this.clicked(event));
    this.scroll.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.view.back();
    });
  }

  open(name) {
    if (this.tab !== name) {
      this.tab = name;
      this.scroll.scrollTop = 0;
      this.view.keep?.("tab", name);
    }
    this.draw();
  }

  moved(event) {
    const way = { ArrowRight: "nextSibling", ArrowLeft: "previousSibling" }[event.key];
    const next = way && this.tabs.querySelector('[aria-selected="true"]')[way];
    if (!next) return;
    event.preventDefault();
    this.open(next.dataset.tab);
    next.focus();
  }

  draw() {
    const data = this.view.data;
    for (const tab of this.tabs.children) {
      const isOpen = tab.dataset.tab === this.tab;
      tab.setAttribute("aria-selected", isOpen);
      tab.tabIndex = isOpen ? 0 : -1;
      tab.hidden = tab.dataset.tab === "revised" && data.running;
    }
    this.scroll.setAttribute("aria-label", TABS.find(([name]) => name === this.tab)[1]);
    this.root.dataset.tab = this.tab;
    if (this.tab === "sources") this.drawSources(data);
    else if (this.tab === "revised") this.drawRevised(data);
    else this.drawClaim(data, this.view.selected());
  }

  // --- a claim ---

  drawClaim(data, id) {
    const claim = data.claims[id];
    const content = id ? data.panels[id] : data.empty;
    const offer = claim?.label === "contradicted" && data.corrections?.[id];
    if (this.view.changed("panel", ["claim", id, content, offer])) {
      const same = this.drawn === id;
      const open = [...this.scroll.querySelectorAll("details")].map((node) => node.open);
      const card = build(content);
      if (id) card.querySelector(".head")?.append(this.steps(id));
      if (offer) card.querySelector(".pair").after(this.correctButton(id, offer));
      this.scroll.replaceChildren(card);
      if (same) {
        this.scroll.querySelectorAll("details").forEach((node, place) => { node.open = open[place]; });
      } else this.scroll.scrollTop = 0;
      this.drawn = id;
    }
    const own = claim && [id, claim.own, claim.note, claim.judgeable, data.editable];
    if (this.view.changed("foot", ["claim", own])) this.drawFoot(id, claim, data);
  }

  steps(id) {
    const steps = make("span", "steps");
    steps.append(
      button("step", "‹", "Previous claim, key k", () => this.view.move(id, -1, true)),
      button("step", "›", "Next claim, key j", () => this.view.move(id, 1, true)),
    );
    return steps;
  }

  drawFoot(id, claim, data) {
    const next = button("btn primary next", "Next", "Next claim to review, key n", () => this.view.next());
    next.append(key("N"));
    this.foot.hidden = !claim;
    if (!claim || !data.editable || !claim.judgeable) {
      this.foot.replaceChildren(next);
      return;
    }
    const active = this.foot.querySelector(":focus");
    const label = make("div", "label");
    label.append(make("b", "", "Your verdict"), make("span", "spring"));
    label.append(this.noteButton(id, claim));
    const row = make("div", "verdicts");
    row.append(...VERDICTS.map((verdict) => this.verdictButton(id, claim, verdict)), next);
    this.foot.replaceChildren(label, row);
    if (active) (row.querySelector(`[data-label="${active.dataset.label}"]`) ?? label.lastChild).focus();
    if (NOTES.has(id)) this.editNote(id, claim);
  }

  verdictButton(id, claim, [name, icon, word, letter, group]) {
    const isOwn = claim.own === name;
    const words = isOwn ? `${word}: your verdict; press to clear it` : `${word}, in your judgement`;
    const node = button(`verdict g-${group}`, "", words, () => this.judge(id, isOwn ? "" : name));
    const mark = make("span", "mark", icon);
    node.append(mark, make("span", "", word), key(letter));
    node.dataset.label = name;
    node.setAttribute("aria-pressed", isOwn);
    return node;
  }

  correctButton(id, value) {
    const words = `Correct to ${value}`;
    const node = button("btn correct", words, words, () => this.view.trigger("edit", `correct:${id}`));
    node.title = "Give the claim and the revised answer the source's value. Can be undone.";
    return node;
  }

  noteButton(id, claim) {
    const words = claim.note ? "Edit the note" : "Add a note";
    return button("open note-button", words, words, () => this.editNote(id, claim));
  }

  // A note stands for itself, or goes with the verdict that is pressed next.
  editNote(id, claim) {
    if (this.foot.querySelector(".note")) return;
    const note = make("input", "note");
    note.placeholder = "Your note, Enter to keep it";
    note.maxLength = 2000;
    note.setAttribute("aria-label", "Your note");
    note.value = NOTES.get(id) ?? claim.note;
    note.addEventListener("input", () => NOTES.set(id, note.value));
    note.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault(); // or Enter would press the button that gets the focus
      if (event.key === "Enter" && note.value.trim() !== claim.note) this.judge(id, claim.own, note.value);
      NOTES.delete(id);
      note.remove();
      this.foot.querySelector(".note-button").focus();
    });
    this.foot.querySelector(".label").after(note);
    note.focus();
  }

  judge(id, label, note) {
    const claim = this.view.data.claims[id];
    const words = note ?? NOTES.get(id) ?? claim.note;
    NOTES.delete(id);
    this.view.judge(id, label ?? "", words);
  }

  // The analyst's verdict by key: “agree” takes the model's and goes on, “clear” takes it back.
  judged(what) {
    const id = this.view.selected(), claim = this.view.data.claims[id];
    if (!claim?.judgeable || !this.view.data.editable) return;
    const label = what === "agree" ? claim.agreed : what === "clear" ? "" : what;
    if (label !== (claim.own ?? "")) this.judge(id, label);
    if (what === "agree") this.view.next();
  }

  note() {
    this.foot.querySelector(".note-button")?.click();
  }

  // --- sources ---

  drawSources({ source, sources }) {
    if (this.view.changed("foot", ["sources"])) this.foot.hidden = true;
    if (!this.view.changed("panel", ["sources", source?.asked, sources])) return;
    this.drawn = null;
    if (!source) {
      this.scroll.replaceChildren(build(sources));
      return;
    }
    const close = () => this.view.trigger("open", { page: "", at: [] });
    const head = build(source.head);
    head.prepend(button("open", "‹ All sources", "Back to all sources", close));
    if (source.number) {
      const [page, at, end, drawn] = source.asked;
      const words = drawn ? "Show the text" : `Show page ${source.number} as a picture`;
      const request = { page, at: [at, end], picture: !drawn };
      head.append(button("open", words, words, () => this.view.trigger("open", request)));
    }
    const choose = (id) => this.view.choose(id);
    const body = source.picture ? pagePicture(source.picture, source.number) : sourceText(source, choose);
    this.scroll.replaceChildren(head, body);
    requestAnimationFrame(() => this.scroll.querySelector(".here")?.scrollIntoView({ block: "center" }));
  }

  // --- the revised answer ---

  drawRevised({ revised }) {
    if (!this.view.changed("panel", ["revised", revised])) return;
    this.view.changed("foot", ["revised"]);
    this.drawn = null;
    if (!revised) {
      this.scroll.replaceChildren(make("p", "why-line", "The revised answer is being made …"));
      this.foot.hidden = true;
      return;
    }
    this.scroll.replaceChildren(build(revised.tree));
    this.foot.hidden = false;
    const row = make("div", "revised-row"), choice = make("span", "segments");
    choice.setAttribute("role", "group");
    choice.setAttribute("aria-label", "Sentences without a source");
    choice.append(...UNSUPPORTED.map(([name, word]) => {
      const node = button("segment", word, `Sentences without a source: ${word.toLowerCase()}`,
        () => this.view.trigger("edit", `unsupported:${name}`));
      node.setAttribute("aria-pressed", name === revised.unsupported);
      return node;
    }));
    const copy = button("btn primary", "Copy", "Copy the revised answer as Markdown", () => {
      navigator.clipboard.writeText(revised.text).then(() => { copy.textContent = "Copied"; });
    });
    row.append(make("span", "quiet", "Sentences without a source"), choice, make("span", "spring"), copy);
    this.foot.replaceChildren(row);
  }

  // --- clicks in what the server drew ---

  clicked(event) {
    const target = event.target.closest("button[data-page], button[data-edit], button[data-claim]");
    if (!target) return;
    const { edit, page, at, claim } = target.dataset;
    if (claim) {
      this.view.choose(claim);
      this.view.handle(claim)?.focus({ preventScroll: true });
    } else if (edit) {
      this.view.trigger("edit", edit);
      if (/^(edit|source):/.test(edit)) returnFocus(target);
    } else {
      this.view.trigger("open", { page, at: at.split(",").map(Number) });
      this.open("sources");
    }
  }
}

function key(letter) {
  const node = make("kbd", "", letter);
  node.setAttribute("aria-hidden", "true");
  return node;
}

// The focus returns to what opened a dialog when the dialog is closed.
function returnFocus(opener) {
  let opened = false;
  const observer = new MutationObserver(() => {
    const dialog = document.querySelector('[role="dialog"]');
    if (dialog) opened = true;
    else if (opened) {
      observer.disconnect();
      setTimeout(() => opener.isConnected && opener.focus({ preventScroll: true }), 50);
    }
  });
  observer.observe(document.body, { childList: true, subtree: true });
}

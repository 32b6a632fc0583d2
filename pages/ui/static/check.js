// An answer with its claims marked, and beside it the panel of the selected one.
// Follows nodes.js, source.js, groups.js and panel.js in the same module.
const SELECTED = new Map(); // run → claim: survives a new mount of the component
const NARROW = matchMedia("(max-width: 760px)");
const OWN = { // how a claim looks with the analyst's verdict
  supported: { group: "ok", icon: "✓", word: "supported" },
  contradicted: { group: "wrong", icon: "✗", word: "contradicted" },
  unclear: { group: "check", icon: "≈", word: "unclear" },
};
const PENDING = new Map(); // claim → assessment that the server has not confirmed
let judgements = Date.now(); // the number of the last one

// The last word of a claim in an element that no line break divides; the claim itself where that is not text.
function lastWord(part) {
  const text = part.lastChild;
  const place = text?.nodeType === Node.TEXT_NODE ? text.data.search(/\S{1,24}$/) : -1;
  if (place < 0) return part;
  const word = make("span", "last-word", text.data.slice(place));
  text.data = text.data.slice(0, place);
  part.append(word);
  return word;
}

class View {
  constructor(parent) {
    this.root = parent.querySelector(".root");
    this.groups = new Groups(() => { this.filter(); this.revealShown(); });
    this.panel = new Panel(this);
    this.answer = make("article", "answer");
    this.answer.setAttribute("aria-label", "The answer, with its claims marked");
    this.columns = make("div", "columns");
    this.columns.append(this.answer, this.panel.root);
    this.root.replaceChildren(this.groups.root, this.columns);
    this.seen = {};
    this.answer.addEventListener("click", (event) => this.clicked(event));
    this.answer.addEventListener("keydown", (event) => this.typed(event));
    listenForUndo(this);
    new ResizeObserver(() => this.place()).observe(this.root);
    addEventListener("hashchange", () => this.follow());
    NARROW.addEventListener("change", () => this.data && this.root.isConnected && this.drawSelection());
  }

  changed(name, value) {
    const text = JSON.stringify(value);
    if (this.seen[name] === text) return false;
    this.seen[name] = text;
    return true;
  }

  update(received) {
    this.received = received;
    const data = { ...received, claims: withPending(received) };
    const before = this.data?.run === data.run ? this.data.claims : {};
    this.data = data;
    if (this.changed("run", data.run)) {
      this.groups.clear();
      this.seen.panel = null;
      this.panel.tab = "claim";
    }
    const isOther = this.changed("tree", [data.run, data.tree, data.loose]);
    if (isOther) this.drawAnswer();
    if (this.changed("claims", data.claims) || isOther) this.drawClaims();
    if (this.changed("head", data.head) || isOther) this.groups.draw(data.head);
    const id = SELECTED.get(data.run); // of a claim that may be gone by an edit
    const isFree = !this.selected() && data.first && id !== "none";
    const linked = this.linked();
    if (linked) SELECTED.set(data.run, linked);
    else if (isFree && (id || !NARROW.matches)) SELECTED.set(data.run, this.successor(before, id));
    this.drawSelection();
    if (linked) requestAnimationFrame(() => this.reveal(this.parts.get(linked)?.at(-1)));
    if (data.demo) document.dispatchEvent(new CustomEvent("attribution-demo", { detail: data.demo }));
  }

  // What is shown instead of a claim that is gone: after an edit the claim that it made, after an
  // undo the one in its place.
  successor(before, id) {
    const { claims, first } = this.data;
    if (!before[id] || !before[first]) return first;
    const entry = Object.entries(claims).find(([, claim]) => claim.n === before[id].n);
    return entry?.[0] ?? first;
  }

  // The claim that the address names: #claim-7.
  linked() {
    const match = /^#claim-(\d+)$/.exec(location.hash);
    if (!match || this.data.running) return null;
    const entry = Object.entries(this.data.claims).find(([, claim]) => claim.n === Number(match[1]));
    if (entry) history.replaceState(null, "", location.pathname + location.search);
    return entry?.[0];
  }

  // A link to a claim that is followed while its run is shown.
  follow() {
    const id = this.data && this.root.isConnected && this.linked();
    if (id) this.choose(id);
  }

  selected() {
    const id = SELECTED.get(this.data.run);
    return id && this.data.claims[id] ? id : null;
  }

  drawAnswer() {
    const active = this.root.getRootNode().activeElement?.dataset;
    const focused = active?.claim ?? active?.of;
    this.answer.replaceChildren(...this.data.tree.map(build));
    this.parts = new Map();
    for (const part of this.answer.querySelectorAll("[data-claim]")) {
      const id = part.dataset.claim;
      if (!this.parts.has(id)) this.parts.set(id, []);
      this.parts.get(id).push(part);
    }
    this.drawLoose();
    for (const [id, parts] of this.parts) {
      const mark = make("span", "claim-mark");
      mark.dataset.of = id;
      mark.setAttribute("aria-hidden", "true");
      lastWord(parts.at(-1)).append(mark); // never alone on a line
    }
    if (focused) this.handle(focused)?.focus({ preventScroll: true });
  }

  // Claims that have no place in the answer stand below it.
  drawLoose() {
    const loose = this.data.loose.filter((id) => this.data.claims[id]);
    if (!loose.length) return;
    this.answer.append(make("h6", "", "Claims without a place in the text"));
    for (const id of loose) {
      const part = make("span", "", this.data.claims[id].text);
      part.dataset.claim = id;
      const line = make("p");
      line.append(part);
      this.answer.append(line);
      this.parts.set(id, [part]);
    }
  }

  drawClaims() {
    for (const [id, parts] of this.parts) {
      const claim = this.data.claims[id];
      if (!claim) continue;
      for (const part of parts) {
        const isInner = part.parentElement.closest("[data-claim]");
        part.className = `claim g-${claim.group} v-${claim.label}${isInner ? " inner" : ""}`;
      }
      const mark = parts.at(-1).querySelector(`.claim-mark[data-of="${id}"]`);
      if (mark) {
        mark.className = `claim-mark v-${claim.label} g-${claim.group}${claim.own ? " own" : ""}`;
        mark.textContent = claim.icon;
      }
      const handle = this.handle(id);
      handle.removeAttribute("aria-hidden");
      handle.setAttribute("role", "button");
      const own = claim.own ? ", by the analyst" : "";
      const edited = claim.edited ? ", edited by the analyst" : "";
      handle.setAttribute("aria-label", `Claim ${claim.n}, ${claim.word}${own}${edited}: ${claim.text}`);
    }
    this.filter();
  }

  // What the keyboard reaches: the claim's words, or its mark where they hold a link or another
  // claim, because a button must not hold one.
  handle(id) {
    const parts = this.parts.get(id);
    if (!parts?.[0].querySelector("a, [data-claim]")) return parts?.[0];
    return this.answer.querySelector(`.claim-mark[data-of="${id}"]`);
  }

  filter() {
    for (const [id, parts] of this.parts) {
      const isHidden = this.groups.hides(this.data.claims[id] ?? {});
      for (const part of parts) part.classList.toggle("dim", isHidden);
    }
  }

  // Scrolls to the first claim that a filter leaves, if it leaves none in sight.
  revealShown() {
    const frame = this.answer.getBoundingClientRect();
    const left = [...this.parts.values()].map(([part]) => part).filter((part) => !part.matches(".dim"));
    const isInSight = (part) => {
      const { top, bottom } = part.getBoundingClientRect();
      return bottom > frame.top && top < frame.bottom;
    };
    if (left.length && !left.some(isInSight)) this.reveal(left[0]);
  }

  drawSelection() {
    const id = this.selected();
    const [first] = this.parts.keys();
    for (const [other, parts] of this.parts) {
      for (const part of parts) part.classList.toggle("selected", other === id);
      const handle = this.handle(other);
      if (!handle) continue;
      handle.setAttribute("aria-pressed", other === id);
      handle.tabIndex = other === (id ?? first) ? 0 : -1;
    }
    this.panel.draw();
    this.panel.root.hidden = NARROW.matches && !id && this.panel.tab === "claim";
    this.place();
  }

  // The columns take what the window leaves below them.
  place() {
    if (!this.data) return;
    const top = this.columns.getBoundingClientRect().top + (scroller(this.root)?.scrollTop ?? 0);
    this.root.style.setProperty("--from", `${Math.round(top)}px`);
  }

  choose(id) {
    SELECTED.set(this.data.run, id);
    this.panel.open("claim");
    this.drawSelection();
    this.reveal(this.parts.get(id)?.at(-1));
  }

  // Scrolls the answer to one of its parts, above the sheet on a narrow screen.
  reveal(part) {
    if (!part) return;
    const box = part.getBoundingClientRect();
    const frame = this.answer.getBoundingClientRect();
    const bottom = this.panel.root.getBoundingClientRect();
    const isCovered = NARROW.matches && !this.panel.root.hidden;
    const end = isCovered ? bottom.top : Math.min(frame.bottom, innerHeight);
    if (box.top >= Math.max(frame.top, 0) && box.bottom <= end) return;
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "auto";
    if (this.answer.scrollHeight > this.answer.clientHeight + 4) {
      this.answer.scrollBy({ top: box.top - frame.top - frame.height / 3, behavior });
    } else scroller(this.root)?.scrollBy({ top: box.top - Math.min(end / 3, 180), behavior });
  }

  // Shown at once. All that is not confirmed is sent again, because Streamlit keeps only the last
  // of two values that come while it is busy.
  judge(id, label, note) {
    const run = this.data.run;
    PENDING.set(id, { run, number: ++judgements, label, note });
    const items = [...PENDING].filter(([, own]) => own.run === run);
    const requests = items.map(([claim, own]) => [own.number, `judge:${claim}:${own.label}:${own.note}`]);
    this.trigger("judge", { run, requests });
    this.update(this.received);
  }

  close() {
    const id = this.selected();
    SELECTED.set(this.data.run, "none");
    this.drawSelection();
    this.handle(id)?.focus({ preventScroll: true });
  }

  back() {
    const id = this.selected();
    if (NARROW.matches) this.close();
    else if (id) this.handle(id)?.focus();
  }

  clicked(event) {
    if (event.target.closest("a")) return;
    const id = event.target.closest("[data-claim]")?.dataset.claim;
    if (id && this.data.claims[id] && !String(getSelection())) this.choose(id);
  }

  typed(event) {
    const id = event.target.dataset?.claim ?? event.target.dataset?.of;
    if (!id || event.ctrlKey || event.altKey || event.metaKey) return;
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (way) this.move(id, way);
    else if (event.key === "Escape") this.close();
    else if (event.key !== "Enter" && event.key !== " ") return;
    else if (this.selected() === id) this.panel.scroll.focus();
    else this.choose(id);
    event.preventDefault();
  }

  move(id, way, shouldSelect = false) {
    const order = [...this.parts.keys()].filter((k) => !this.parts.get(k)[0].matches(".dim"));
    const next = order[order.indexOf(id) + way];
    if (!next) return;
    if (shouldSelect) this.choose(next);
    else {
      this.handle(next).tabIndex = 0;
      this.handle(next).focus();
    }
  }

  // The next claim to review: problems first, and none that has an assessment already.
  next() {
    const claims = this.data.claims;
    const rank = (id) => this.data.order.indexOf(claims[id].label);
    const open = [...this.parts.keys()].filter((id) => claims[id]?.judgeable && !claims[id].own);
    open.sort((one, other) => rank(one) - rank(other));
    const place = open.indexOf(this.selected());
    const next = open[(place + 1) % open.length];
    if (!next) {
      this.trigger("edit", "answer:next");
      return;
    }
    this.choose(next);
    this.handle(next).focus({ preventScroll: true });
  }
}

// The claims with the assessments that the server has not confirmed.
function withPending({ run, claims, judged }) {
  const merged = { ...claims };
  for (const [id, own] of PENDING) {
    if (own.run !== run || !merged[id]) continue;
    if (own.number <= judged) PENDING.delete(id);
    else {
      const label = own.label ? { label: own.label, ...OWN[own.label] } : {};
      merged[id] = { ...merged[id], ...label, own: own.label || null, note: own.note };
    }
  }
  return merged;
}

// What scrolls the page.
function scroller(root) {
  let node = root.getRootNode().host;
  while (node && !/auto|scroll/.test(getComputedStyle(node).overflowY)) node = node.parentElement;
  return node;
}

// The keys of help.js, and the steps of the demo.
function act(view, what) {
  const id = view.selected();
  const [kind, name] = what.split(":");
  if (kind === "judge") view.panel.judged(name);
  else if (kind === "tab") view.panel.open(name);
  else if (kind === "group") view.groups.root.querySelector(`[data-group="${name}"]`)?.click();
  else if (kind === "claim") {
    const entry = Object.entries(view.data.claims).find(([, claim]) => claim.n === Number(name));
    if (entry) view.choose(entry[0]);
  } else if (what === "evidence") view.panel.scroll.focus();
  else if (what === "note") view.panel.note();
  else if (what === "edit") view.panel.scroll.querySelector('[data-edit^="edit:"]')?.click();
  else if (what === "answer") view.handle(id ?? view.parts.keys().next().value)?.focus();
  else if (what === "problem") view.next();
  else {
    view.move(id, what === "next" ? 1 : -1, true);
    view.handle(view.selected())?.focus({ preventScroll: true });
  }
}

// `current` names the view that a key is for; `root` is gone when the page has drawn another one.
function listen(root, current) {
  const heard = (event) => {
    if (root.isConnected) act(current(), event.detail);
    else document.removeEventListener("attribution-claim", heard);
  };
  document.addEventListener("attribution-claim", heard);
}

// Ctrl+Z and Ctrl+Shift+Z, except where they belong to a text field or a dialog.
function listenForUndo(view) {
  document.removeEventListener("keydown", window.attributionUndo);
  window.attributionUndo = (event) => {
    const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    if (!isUndo || event.altKey || event.shiftKey) return;
    const target = event.composedPath()[0];
    const isField = target.isContentEditable || /^(TEXTAREA|SELECT|INPUT)$/.test(target.tagName);
    const isOurs = view.root.isConnected && view.data?.editable;
    if (isField || !isOurs || document.querySelector('[role="dialog"]')) return;
    event.preventDefault();
    view.trigger("edit", "undo");
  };
  document.addEventListener("keydown", window.attributionUndo);
}

const VIEWS = new WeakMap();

export default function ({ parentElement, data: [data], setTriggerValue, setStateValue }) {
  let view = VIEWS.get(parentElement);
  if (!view || !view.root.isConnected) {
    VIEWS.set(parentElement, (view = new View(parentElement)));
    listen(view.root, () => view);
  }
  view.trigger = setTriggerValue;
  view.keep = setStateValue;
  view.update(data);
}

// The help sheet, and keys that work anywhere but in a field. Follows nodes.js in the same module.
const KEYS_OFF = "attribution_keys_off"; // remembered by this browser: single keys must be possible to turn off

function typing(event) {
  const target = event.composedPath()[0];
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    Boolean(target.closest?.('[role="listbox"], [role="combobox"], [role="slider"]'));
}

function keyList(pairs) {
  const list = make("dl");
  for (const [key, words] of pairs) {
    const row = make("div"), name = make("dt");
    name.append(...key.split(" ").map((part) => make("kbd", "", part)));
    row.append(name, make("dd", "", words));
    list.append(row);
  }
  return list;
}

function makeSheet(help) {
  const sheet = make("dialog", "ax-help ax-sheet"), head = make("div", "head"), title = make("h2", "", "Help");
  title.id = "ax-help-title";
  sheet.setAttribute("aria-labelledby", title.id);
  head.append(title, button("close", "✕", "Close help", () => sheet.close()));
  const on = make("label", "switch"), box = make("input");
  box.type = "checkbox";
  box.checked = !localStorage.getItem(KEYS_OFF);
  box.addEventListener("change", () => (box.checked ? localStorage.removeItem(KEYS_OFF) : localStorage.setItem(KEYS_OFF, "1")));
  on.append(box, "Use these keys");
  const parts = [["Keys", keyList(help.shortcuts), on, keyList(help.claim_keys)], ["Badges", build(help.badges)], ["Terms", build(help.terms)]];
  sheet.append(head);
  for (const [name, ...content] of parts) {
    const part = make("details"), summary = make("summary");
    summary.append(make("h3", "", name));
    part.append(summary, ...content);
    part.open = name !== "Terms";
    sheet.append(part);
  }
  sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); }); // beside it
  return sheet;
}

const press = (key) => document.querySelector(`.st-key-${key} button:enabled`)?.click();
const tell = (what) => document.dispatchEvent(new CustomEvent("attribution-claim", { detail: what }));

function search() {
  const fields = [...document.querySelectorAll("[data-testid=stMain] input[type=text]")];
  const named = fields.find((field) => /^(Search|Filter)/.test(field.ariaLabel ?? ""));
  (named ?? fields.find((field) => field.ariaLabel === "Question"))?.focus();
}

const GROUPS_BY_KEY = ["wrong", "check", "none", "ok"];
const ACTIONS = {
  s: () => tell("judge:supported"), c: () => tell("judge:contradicted"), u: () => tell("judge:unclear"),
  a: () => tell("judge:agree"), x: () => tell("judge:clear"), m: () => tell("note"), e: () => tell("edit"),
  j: () => tell("next"), k: () => tell("previous"), n: () => tell("problem"), "/": search,
  r: () => {}, // Streamlit's own would draw the page anew
};
GROUPS_BY_KEY.forEach((name, place) => { ACTIONS[place + 1] = () => tell(`group:${name}`); });

// Ctrl+Enter in the form hands what is typed to the page, and then starts the check.
function checkSoon(attempts = 10) {
  const start = document.querySelector(".st-key-start button");
  const isBusy = document.querySelector("[data-test-script-state=running]");
  if (start && !start.disabled && !isBusy) start.click();
  else if (attempts) setTimeout(() => checkSoon(attempts - 1), 300);
}

// A component with keys of its own holds them with this controller as long as it is shown.
const taken = () => window.attributionKeys && !window.attributionKeys.signal.aborted;

class Help {
  constructor(help) {
    this.root = make("aside", "ax-help");
    this.root.setAttribute("aria-label", "Help");
    this.sheet = makeSheet(help);
    this.opener = button("ax-help-open", "?", "Help: keys, badges and terms", () => this.sheet.showModal());
    const style = make("style");
    style.textContent = help.css; // the rest is in the style sheet of the page
    this.root.append(style, this.opener, this.sheet);
    document.body.append(this.root);
    this.listener = (event) => this.typed(event);
    window.addEventListener("keydown", this.listener, true); // before Streamlit, which has an r of its own
  }

  typed(event) {
    if (this.sheet.open && event.key !== "?") return event.stopImmediatePropagation(); // nothing behind it acts
    if (event.key === "Escape") {
      document.activeElement?.closest?.(".ax-term")?.blur();
      if (!typing(event) && !document.querySelector('[role="dialog"]')) press("stop");
    }
    if (event.key === "Enter" && event.ctrlKey && event.target.closest?.(".st-key-form")) {
      setTimeout(checkSoon, 400);
    }
    if (event.ctrlKey || event.altKey || event.metaKey || typing(event)) return;
    if (event.key === "?") this.sheet.open ? this.sheet.close() : document.querySelector('[role="dialog"]') || this.sheet.showModal();
    else if (localStorage.getItem(KEYS_OFF)) return;
    else if (document.querySelector('[role="dialog"]')) {
      if (ACTIONS[event.key]) event.stopImmediatePropagation(); // Streamlit's r would close it
      return;
    } else if (ACTIONS[event.key] && !taken()) ACTIONS[event.key]();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

// One task for one annotator. The source comes from the server only after the first question was answered with yes.
// An answer is kept in the browser until the server has it, and sent again after a lost connection. Follows nodes.js.
const PAUSE = 60000; // milliseconds without a movement that count as a pause
const AGAIN = 4000; // milliseconds until an answer that the server has not confirmed is sent again
const DONE = "attribution-annotate";

const typing = (event) => event.composedPath()[0].matches?.("input, textarea, select, [contenteditable]");
const keep = (name, value) => (value === null ? localStorage.removeItem(`${DONE}/${name}`) : localStorage.setItem(`${DONE}/${name}`, JSON.stringify(value)));
const kept = (name) => JSON.parse(localStorage.getItem(`${DONE}/${name}`) ?? "null");

// What was changed, word by word (longest common subsequence).
function difference(before, after) {
  const [a, b] = [before, after].map((text) => text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []);
  if (a.length * b.length > 4e6) return [make("strong", "added", after)];
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) rows[i][j] = a[i] === b[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
  const nodes = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { nodes.push(document.createTextNode(a[i])); i++; j++; }
    else if (j < b.length && (i === a.length || rows[i][j + 1] > rows[i + 1][j])) nodes.push(make("strong", "added", b[j++]));
    else nodes.push(make("del", "removed", a[i++]));
  }
  return nodes;
}

// Time in which somebody was at work on one stage of one task; it survives a reload.
function clock(name) {
  const entry = `${DONE}/time/${name}`;
  let spent = Number(sessionStorage.getItem(entry) ?? 0), last = performance.now(), moved = last;
  const stir = () => { moved = performance.now(); };
  const count = () => {
    const now = performance.now();
    if (document.visibilityState === "visible" && now - moved < PAUSE) spent += Math.min(now - last, 2000);
    last = now;
    sessionStorage.setItem(entry, String(spent));
  };
  const events = ["pointermove", "pointerdown", "keydown", "wheel", "touchmove"], timer = setInterval(count, 500);
  events.forEach((kind) => document.addEventListener(kind, stir, { passive: true, capture: true }));
  return {
    name,
    seconds() { count(); return Math.round(spent / 100) / 10; },
    stop() { clearInterval(timer); events.forEach((kind) => document.removeEventListener(kind, stir, { capture: true })); },
  };
}

function labelled(label, hint, key) {
  const block = make("label", "field"), area = make("textarea"), title = make("span", "label", label);
  if (hint) title.append(make("span", "hint", ` ${hint}`));
  if (key) title.append(" ", make("kbd", "", key));
  area.rows = 2;
  area.dir = "auto";
  area.maxLength = 20000;
  block.append(title, area);
  return [block, area];
}

function choice(text, key, run, kind = "") {
  const node = button(`choice ${kind}`, text, text, run);
  node.append(" ", make("kbd", "", key));
  node.setAttribute("aria-keyshortcuts", key);
  return node;
}

// The source, with search in it: its text only ever becomes text nodes.
function sourceOf(source) {
  const side = make("div", "side"), bar = make("div", "find"), input = make("input"), count = make("span", "hint"), body = make("div", "source");
  side.append(make("h3", "", source.title || "Source"));
  if (source.link) side.append(build(source.link));
  input.type = "search";
  input.placeholder = "Find in the source";
  input.setAttribute("aria-label", "Find in the source");
  count.setAttribute("role", "status");
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", "Source");
  let hits = [], at = -1;
  const go = (step) => {
    if (!hits.length) return;
    hits[at]?.classList.remove("now");
    at = (at + step + hits.length) % hits.length;
    hits[at].classList.add("now");
    body.scrollTop += hits[at].getBoundingClientRect().top - body.getBoundingClientRect().top - body.clientHeight / 3;
    count.textContent = `${at + 1} of ${hits.length}`;
  };
  const find = () => {
    body.replaceChildren(...source.tree.map(build));
    const words = input.value.trim().toLowerCase();
    hits = [];
    at = -1;
    count.textContent = "";
    if (!words) return;
    const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT), texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (let text of texts) {
      for (let place; hits.length < 2000 && (place = text.data.toLowerCase().indexOf(words)) >= 0;) {
        const found = text.splitText(place), mark = make("mark");
        text = found.splitText(Math.min(words.length, found.length));
        found.replaceWith(mark);
        mark.append(found);
        hits.push(mark);
      }
    }
    if (hits.length) go(1);
    else count.textContent = "not found";
  };
  input.addEventListener("input", find);
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") go(event.shiftKey ? -1 : 1); });
  bar.append(input, button("step", "↑", "Previous place", () => go(-1)), button("step", "↓", "Next place", () => go(1)), count, make("kbd", "", "/"));
  side.append(bar, body);
  find();
  return [side, input];
}

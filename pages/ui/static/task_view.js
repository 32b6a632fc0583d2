// Draws the task of task.js and hears its keys.
function turns(data) {
  const list = make("div", "turns");
  for (const [speaker, text] of data.turns) {
    const turn = make("p", "turn"), words = make("span", "", text);
    words.dir = "auto";
    turn.append(make("strong", "", `${speaker} `), words);
    list.append(turn);
  }
  if (data.time) list.append(make("p", "hint", `Time of the answer: ${data.time}`));
  return list;
}

function explicature(data, draft, save) {
  const box = make("details", "more"), head = make("summary", "", "Explicature"), changes = make("p", "diff");
  const [field, area] = labelled("The answer, reworded so that it can be understood alone", "optional", "e");
  head.append(make("span", "hint", " what the answer says when it is read alone"));
  area.value = draft.explicature || "";
  area.placeholder = data.plain;
  changes.dir = "auto";
  const draw = () => changes.replaceChildren(...(area.value.trim() ? difference(data.plain, area.value) : []));
  area.addEventListener("input", () => { draw(); save(); });
  const buttons = make("p", "buttons");
  buttons.append(
    button("plain", "Start from the answer", "Start from the answer", () => { area.value = data.plain; draw(); save(); area.focus(); }),
  );
  box.open = Boolean(area.value);
  box.append(head, field, changes, buttons);
  draw();
  return [box, area];
}

function flags(data, act) {
  const box = make("div", "flags");
  box.hidden = true;
  box.append(make("p", "label", "Why can this task not be judged? It is removed from your queue only."));
  const boxes = data.flags.map(([name, label], index) => {
    const line = make("label", "flag"), tick = make("input");
    tick.type = "checkbox";
    tick.value = name;
    line.append(tick, make("span", "", label), make("kbd", "", String(index + 1)));
    box.append(line);
    return tick;
  });
  const done = button("choice", "Flag this task", "Flag this task", () => act({ flags: boxes.filter((b) => b.checked).map((b) => b.value) }));
  done.disabled = true;
  box.addEventListener("change", () => { done.disabled = !boxes.some((b) => b.checked); });
  box.append(done);
  return [box, boxes];
}

function draw(root, data, app) {
  const name = `${data.key}/${data.stage}`, draft = kept(`draft/${data.key}`) ?? data.content;
  const reading = data.stage === 2, work = make("div", "work"), head = make("div", "head"), hint = make("p", "warning");
  hint.setAttribute("role", "alert");
  const move = (to) => app.send({ kind: "go", key: data.key, to });
  head.append(
    make("span", "place", data.place),
    button("plain", "← Back", "The task before", () => move(-1)), button("plain", "Next →", "The task after", () => move(1)),
    button("plain undo", "Undo", "Undo my last answer", () => app.send({ kind: "undo" })),
  );
  head.querySelector(".undo").append(" ", make("kbd", "", "u"));
  work.append(head);
  if (data.notice) work.append(make("p", "notice", data.notice));
  if (!data.answer) {
    work.append(make("p", "finished", data.finished));
    root.replaceChildren(work);
    app.keys = { u: () => app.send({ kind: "undo" }), ArrowLeft: () => move(-1) };
    return;
  }
  if (data.instructions) work.append(make("p", "notice", data.instructions));
  if (app.clock?.name !== name) { app.clock?.stop(); app.clock = clock(name); }
  const answer = make("div", "answer"), [why, justification] = labelled("Justification", data.required ? "needed in the pilot" : "optional", "w");
  answer.dir = "auto";
  answer.append(...data.answer.map(build));
  justification.value = draft.justification;
  const save = () => keep(`draft/${data.key}`, { justification: justification.value, explicature: reworded.value });
  const [more, reworded] = explicature(data, draft, save);
  justification.addEventListener("input", save);
  const act = (said) => {
    const last = "flags" in said || said.interpretable !== true;
    if (data.required && last && !justification.value.trim()) {
      hint.textContent = "In the pilot each judgement needs a justification.";
      justification.focus();
      return;
    }
    app.answer(data, { ...said, justification: justification.value, explicature: reworded.value, seconds: app.clock.seconds() });
  };
  const asked = reading ? "attributable" : "interpretable", yes = () => act({ [asked]: true }), no = () => act({ [asked]: false });
  const [flagBox, boxes] = flags(data, act), open = () => { flagBox.hidden = !flagBox.hidden; if (!flagBox.hidden) boxes[0].focus(); };
  const row = make("div", "buttons"), question = make("h3", "question", data.question);
  row.append(choice("Yes", "y", yes), choice("No", "n", no), choice("Flag", "f", open, "quiet"));
  for (const [node, said] of [[row.children[0], true], [row.children[1], false]]) node.setAttribute("aria-pressed", String(data.content[asked] === said));
  work.append(turns(data), make("p", "label", data.unit), answer);
  if (data.said) work.append(make("p", "said", data.said));
  work.append(question, make("p", "test", data.test), row, hint, flagBox, why, more);
  const [side, search] = data.source ? sourceOf(data.source) : [make("div", "side empty"), null];
  if (!data.source && data.hidden) side.append(make("p", "hint", data.hidden));
  for (const [who, what, reason] of data.others) {
    const other = make("p", "other"), words = make("span", "", reason);
    words.dir = "auto";
    other.append(make("strong", "", who), ` ${what}. `, words);
    side.prepend(other);
  }
  root.replaceChildren(work, side);
  app.keys = {
    y: yes, n: no, f: open, u: () => app.send({ kind: "undo" }), w: () => justification.focus(), ArrowLeft: () => move(-1), ArrowRight: () => move(1),
    e: () => { more.open = true; reworded.focus(); }, "/": () => search?.focus(),
    ...Object.fromEntries(boxes.map((tick, i) => [String(i + 1), () => { if (!flagBox.hidden) tick.click(); }])),
  };
}

// A server that was lost in the meantime gets the answer again; it counts once.
function insist(app) {
  clearInterval(app.again);
  app.again = setInterval(() => (app.sent ? app.send({ ...app.sent, again: Date.now() }) : clearInterval(app.again)), AGAIN);
}

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".root"), app = (root.app ??= {});
  app.send = (act) => setTriggerValue("act", act);
  app.answer = (shown, said) => {
    const act = { kind: "answer", id: Math.random().toString(36).slice(2), key: shown.key, follows: shown.follows, ...said };
    keep(`pending/${shown.key}`, act);
    app.sent = act;
    root.classList.add("waiting");
    app.send(act);
    insist(app);
  };
  const shown = JSON.stringify(data);
  if (app.shown === shown && !app.sent) return;
  if (app.sent && (app.sent.key !== data.key || app.sent.follows !== data.follows || app.sent.id === data.handled)) {
    keep(`pending/${app.sent.key}`, null);
    keep(`draft/${app.sent.key}`, null);
    app.sent = null;
  }
  const pending = data.answer ? kept(`pending/${data.key}`) : null;
  if (pending && pending.follows !== data.follows) keep(`pending/${data.key}`, null);
  const isNew = app.shown !== shown;
  app.shown = shown;
  if (isNew) draw(root, data, app);
  root.classList.toggle("waiting", Boolean(app.sent));
  if (pending && pending.follows === data.follows && !app.sent) { app.sent = pending; app.send(pending); insist(app); }
  window.attributionKeys?.abort();
  window.attributionKeys = new AbortController();
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && typing(event)) return event.composedPath()[0].blur();
    const ticking = event.composedPath()[0].type === "checkbox" && event.key !== " ";
    if (event.key === "Enter" && event.composedPath()[0].type === "checkbox") return root.querySelector(".flags .choice").click();
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || (typing(event) && !ticking)) return;
    const run = app.keys?.[event.key];
    if (!run || localStorage.getItem("attribution_keys_off") || !root.isConnected || document.querySelector('[role="dialog"]')) return;
    event.preventDefault();
    run();
  }, { signal: window.attributionKeys.signal });
  return () => { window.attributionKeys?.abort(); clearInterval(app.again); app.clock?.stop(); app.clock = null; app.shown = null; };
}

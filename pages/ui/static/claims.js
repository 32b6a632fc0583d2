// The keys of help.js among the claims of an answer. Follows view.js in the same module.
function act(view, what) {
  const id = view.selected();
  if (what === "evidence") { if (id) view.panel.focus(); return; }
  if (what === "answer") { view.handle(id ?? view.parts.keys().next().value)?.focus(); return; }
  const [kind, name] = what.split(":");
  if (kind === "tab") { view.tabs.open(name); return; }
  if (kind === "claim") {
    const found = Object.entries(view.data.claims).find(([, claim]) => claim.n === Number(name));
    if (found) view.choose(found[0]);
    return;
  }
  if (what.startsWith("judge:")) { view.judged(what.slice(6)); return; }
  if (what === "problem") view.problem(id);
  else view.move(id, what === "next" ? 1 : -1, true);
  const now = view.selected();
  if (now !== id) view.handle(now).focus({ preventScroll: true });
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
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "z") return;
    const target = event.composedPath()[0];
    const typing = target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
      (target.tagName === "INPUT" && !/^(checkbox|radio|range|button)$/.test(target.type));
    if (typing || !view.root.isConnected || !view.data?.editable || document.querySelector('[role="dialog"]')) return;
    event.preventDefault();
    view.trigger("edit", event.shiftKey ? "redo" : "undo");
  };
  document.addEventListener("keydown", window.attributionUndo);
}

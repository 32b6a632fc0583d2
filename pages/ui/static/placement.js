// Where the evidence stands on a narrow screen, what scrolls, and where the focus returns to.

// What the sheet follows: the end of the tapped sentence, or the whole of a table or code block.
function endOfSentence(part, panel) {
  const block = part.closest("table, pre") ?? part.closest("p, li, h2, h3, h4, h5, h6") ?? part;
  if (block === part || block.matches("table, pre")) return block;
  let last = part;
  while (last.parentElement !== block) last = last.parentElement;
  const mark = (node) => node.tagName === "SUP"; // a claim's number, a citation mark
  const on = (node) => (node === panel ? node.nextSibling : node);
  for (let text = last.textContent; ;) {
    const next = on(last.nextSibling);
    if (!next || (!mark(next) && /[.!?…]["'”’)\]]*\s*$/.test(text))) return last;
    if (!mark(next)) text = next.textContent;
    last = next;
  }
}

// What scrolls the page: a claim must stay where it was tapped although the evidence moved.
function scroller(root) {
  let node = root.getRootNode().host;
  while (node && !/auto|scroll/.test(getComputedStyle(node).overflowY)) node = node.parentElement;
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

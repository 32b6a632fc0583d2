// Words selected in the answer become the place of the selected claim, or a new claim. Follows nodes.js.
class Picker {
  constructor(view) {
    this.view = view;
    this.bar = make("div", "pick");
    this.bar.setAttribute("role", "toolbar");
    this.bar.setAttribute("aria-label", "The selected words");
    this.bar.hidden = true;
    view.root.append(this.bar);
    for (const event of ["mouseup", "keyup", "touchend"]) view.answer.addEventListener(event, () => setTimeout(() => this.show(), 0));
    view.root.addEventListener("mousedown", (event) => { if (!this.bar.contains(event.target)) this.hide(); });
    document.removeEventListener("keydown", window.attributionUndo);
    window.attributionUndo = (event) => this.key(event);
    document.addEventListener("keydown", window.attributionUndo);
    this.bar.addEventListener("keydown", (event) => { if (event.key === "Escape") this.hide(); });
  }

  // Ctrl+Z and Ctrl+Shift+Z, except where they belong to a text field or a dialog.
  key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "z") return;
    const target = event.composedPath()[0];
    const typing = target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
      (target.tagName === "INPUT" && !/^(checkbox|radio|range|button)$/.test(target.type));
    if (typing || !this.view.root.isConnected || !this.view.data?.editable || document.querySelector('[role="dialog"]')) return;
    event.preventDefault();
    this.view.trigger("edit", event.shiftKey ? "redo" : "undo");
  }

  hide() {
    this.bar.hidden = true;
  }

  // In a shadow root the document's selection ends at the host.
  range() {
    const shadow = this.view.root.getRootNode();
    const selection = shadow.getSelection ? shadow.getSelection() : document.getSelection();
    return selection?.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
  }

  // From the first to the last selected character of the answer as it was written.
  span(range) {
    const { answer, data } = this.view;
    const filter = (node) => (node.parentElement.closest(".number, .panel") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT, filter);
    let first = Infinity, last = -1;
    for (const [start, end] of data.places) {
      const node = walker.nextNode();
      if (!node) break;
      if (start < 0 || !range.intersectsNode(node)) continue;
      const from = node === range.startContainer ? range.startOffset : 0;
      const to = node === range.endContainer ? range.endOffset : node.length;
      if (to <= from) continue;
      const same = end - start === node.length; // not where an escape or entity stands for other characters
      first = Math.min(first, same ? start + from : start);
      last = Math.max(last, same ? start + to : end);
    }
    return last > first ? [first, last] : null;
  }

  show() {
    const range = this.view.data.editable ? this.range() : null;
    const span = range && this.span(range);
    if (!span || !this.view.answer.contains(range.commonAncestorContainer)) return this.hide();
    const ask = (request) => () => { this.hide(); this.view.trigger("edit", request); };
    const make = (text, request, label) => button("reset", text, label, ask(request));
    const id = this.view.selected(), claim = id && this.view.data.claims[id];
    const here = claim ? [make(`Highlight for claim ${claim.n}`, `place:${id}:${span[0]}:${span[1]}`, `Highlight these words for claim ${claim.n}`)] : [];
    this.bar.replaceChildren(...here, make("New claim", `add:${span[0]}:${span[1]}`, "Make a new claim of these words"));
    this.bar.hidden = false;
    const box = range.getBoundingClientRect(), frame = this.view.root.getBoundingClientRect();
    this.bar.style.top = `${box.bottom - frame.top + 6}px`;
    this.bar.style.left = `${Math.max(0, Math.min(box.left - frame.left, frame.width - this.bar.offsetWidth - 4))}px`;
  }
}

// Mounts one source, scrolled to its marked sentence. Follows source.js in the same module.
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".root"), shown = JSON.stringify([data.page, data.at]);
  if (root.dataset.shown === shown) return;
  root.dataset.shown = shown;
  root.replaceChildren(sourceText(data, () => {}));
  requestAnimationFrame(() => requestAnimationFrame(() => root.querySelector(".here")?.scrollIntoView({ block: "center" })));
}

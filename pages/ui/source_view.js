// A whole source with the passage and its deciding sentence marked; its text only ever becomes text nodes.
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".source");
  const shown = JSON.stringify([data.page, data.at]);
  if (root.dataset.shown === shown) return;
  root.dataset.shown = shown;
  const [start, end, first, last] = data.at, characters = Array.from(data.text);
  const piece = (from, to) => document.createTextNode(characters.slice(from, to).join(""));
  const passage = document.createElement("mark"), sentence = document.createElement("strong");
  sentence.append(piece(first, last));
  passage.append(piece(start, first), sentence, piece(last, end));
  root.replaceChildren(piece(0, start), passage, piece(end, characters.length));
  requestAnimationFrame(() => requestAnimationFrame(() => sentence.scrollIntoView({ block: "center" })));
}

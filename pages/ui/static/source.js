// A whole source with the passage and its deciding sentence marked, and where each page of a PDF begins; its text
// only ever becomes text nodes.
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".source");
  const shown = JSON.stringify([data.page, data.at]);
  if (root.dataset.shown === shown) return;
  root.dataset.shown = shown;
  const [start, end, first, last] = data.at, characters = Array.from(data.text);
  const text = (from, to) => document.createTextNode(characters.slice(from, to).join(""));
  const piece = (from, to) => {
    const made = document.createDocumentFragment();
    data.breaks.forEach((start, index) => {
      if (start < from || start >= to) return;
      const label = document.createElement("span");
      label.className = "page";
      label.textContent = `Page ${index + 1}`;
      made.append(text(from, start), label);
      from = start;
    });
    made.append(text(from, to));
    return made;
  };
  const passage = document.createElement("mark"), sentence = document.createElement("strong");
  sentence.append(piece(first, last));
  passage.append(piece(start, first), sentence, piece(last, end));
  root.replaceChildren(piece(0, start), passage, piece(end, characters.length));
  requestAnimationFrame(() => requestAnimationFrame(() => sentence.scrollIntoView({ block: "center" })));
}

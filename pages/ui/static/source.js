// The text of a source with the sentences that decide claims marked, each with its claims' numbers in the margin, and
// where each page of a PDF begins. The text only ever becomes text nodes. Follows nodes.js in the same module.
function sourceText(source, choose) {
  const characters = Array.from(source.text), root = make("div", "source");
  root.tabIndex = 0;
  // Draws the parts of the text between page breaks, each page's number before its part.
  const parts = (from, to, draw) => {
    source.breaks.forEach((start, index) => {
      if (start < from || start >= to) return;
      if (start > from) draw(from, start);
      root.append(make("span", "page", `Page ${index + 1}`));
      from = start;
    });
    draw(from, to);
  };
  const text = (from, to) => characters.slice(from, to).join("");
  const plain = (from, to) => root.append(text(from, to));
  let position = 0;
  for (const { at: [start, end], claims } of source.marks) {
    parts(position, start, plain);
    const margin = claims.map(({ id, n, icon, label, word }) =>
      button(`v-${label}`, `${icon}${n}`, `Claim ${n}, ${word}: show its evidence`, () => choose(id)));
    const here = start <= source.at && source.at < end ? " here" : "";
    parts(start, end, (from, to) => {
      if (margin.length) {
        root.append(make("span", "margin"));
        root.lastChild.append(...margin.splice(0));
      }
      root.append(make("mark", `v-${claims[0]?.label ?? "no_relation"}${here}`, text(from, to)));
    });
    position = end;
  }
  parts(position, characters.length, plain);
  return root;
}

// A page of a PDF as a picture, wider than the panel, with the words of the sentence marked.
function pagePicture({ png, width, height, boxes, problem }, number) {
  if (problem) return make("p", "reason", problem);
  const root = make("div", "sheet"), image = document.createElement("img");
  Object.assign(image, { src: `data:image/png;base64,${png}`, width, height });
  image.alt = boxes.length ? `Page ${number}, with the sentence boxed` : `Page ${number}`;
  root.append(image, ...boxes.map(([left, top, wide, high], index) => {
    const box = make("span", index ? "boxed" : "boxed here");
    Object.assign(box.style, { left: `${100 * left}%`, top: `${100 * top}%`, width: `${100 * wide}%`, height: `${100 * high}%` });
    return box;
  }));
  const frame = make("div", "frame");
  frame.tabIndex = 0;
  if (!boxes.length) frame.append(make("p", "reason", "The sentence was not found in the picture."));
  frame.append(root);
  return frame;
}

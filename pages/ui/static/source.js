// The text of a source with the sentences that decide claims marked, each with its claims' numbers in the margin, and
// where each page of a PDF begins. The text only ever becomes text nodes. Follows nodes.js in the same module.
function sourceText(source, choose) {
  const characters = Array.from(source.text), root = make("div", "source");
  root.tabIndex = 0;
  const piece = (parent, from, to) => {
    const text = (end) => parent.append(characters.slice(from, end).join(""));
    source.breaks.forEach((start, index) => {
      if (start < from || start >= to) return;
      text(start);
      parent.append(make("span", "page", `Page ${index + 1}`));
      from = start;
    });
    text(to);
  };
  let position = 0;
  for (const { at: [start, end], claims } of source.marks) {
    piece(root, position, start);
    const mark = make("mark", `v-${claims[0]?.label ?? "no_relation"}`);
    if (claims.length) {
      const margin = make("span", "margin");
      margin.append(...claims.map(({ id, n, icon, label, word }) =>
        button(`v-${label}`, `${icon}${n}`, `Claim ${n}, ${word}: show its evidence`, () => choose(id))));
      root.append(margin);
    }
    if (start <= source.at && source.at < end) mark.classList.add("here");
    piece(mark, start, end);
    root.append(mark);
    position = end;
  }
  piece(root, position, characters.length);
  return root;
}

// A page of a PDF as a picture, with a box around each line of the sentence.
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
  if (boxes.length) return root;
  const all = make("div");
  all.append(make("p", "reason", "The sentence could not be located in the picture."), root);
  return all;
}

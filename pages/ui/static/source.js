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

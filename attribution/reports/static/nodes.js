// Builds the trees of render.py as elements. Tags and attributes come from short lists; text becomes text nodes only.
const TAGS = new Set([
  ..."p h2 h3 h4 h5 h6 ul ol li table thead tbody tr th td blockquote pre hr div section article dl dt dd".split(" "),
  ..."details summary span strong em del code a br progress button sup".split(" "),
]);
const ATTRIBUTES = new Set([
  ..."class href target rel title role value max dir type aria-label aria-hidden tabindex".split(" "),
  ..."id aria-pressed data-claim data-span data-page data-at data-edit".split(" "),
]);

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function button(className, text, label, onClick) {
  const node = make("button", className, text);
  node.type = "button";
  node.setAttribute("aria-label", label);
  node.addEventListener("click", onClick);
  return node;
}

function build(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [tag, attributes, ...kids] = tree;
  const node = document.createElement(TAGS.has(tag) ? tag : "span");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (!ATTRIBUTES.has(name)) continue;
    if (name === "href" && !/^(https?:\/\/|#[a-z]+-\d+$)/i.test(value)) continue;
    node.setAttribute(name, value);
  }
  for (const kid of kids) node.appendChild(build(kid));
  return node;
}

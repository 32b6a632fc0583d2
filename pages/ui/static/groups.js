// The four groups above an answer, which filter its claims, and how many are reviewed or checked.
// Follows nodes.js in the same module.
class Groups {
  constructor(onChange) {
    this.onChange = onChange;
    this.pressed = new Set();
    this.root = make("div", "groups");
    this.root.setAttribute("role", "toolbar");
    this.root.setAttribute("aria-label", "Show claims of a group");
    this.root.addEventListener("keydown", (event) => this.moved(event));
  }

  draw({ groups, quiet, done, total, progress, cites }) {
    const buttons = groups.map((group) => this.groupButton(group));
    if (cites) buttons.push(this.filterButton("cites", `${cites} with citations`));
    if (quiet) buttons.push(this.filterButton("off", quiet));
    const meter = make("span", "meter");
    const share = progress ? progress.share : total ? done / total : 0;
    meter.append(make("span"));
    meter.firstChild.style.width = `${Math.round(100 * share)}%`;
    const state = make("span", "state");
    if (progress) {
      state.append(make("span", "", progress.words));
      state.setAttribute("role", "status");
    } else if (total) {
      state.append(make("b", "", `${done} of ${total}`), " reviewed");
    }
    this.root.replaceChildren(...buttons, make("span", "spring"), state, meter);
    meter.hidden = !progress && !total;
    this.mark();
  }

  groupButton({ name, word, icon, count, help, less }) {
    const node = button(`group g-${name}`, "", `${count} ${word}. ${help} ${less}`.trim(), () => this.press(name));
    const mark = make("span", "mark", icon);
    mark.setAttribute("aria-hidden", "true");
    node.append(mark, make("b", "", count), make("span", "word", word));
    if (less) node.append(make("span", "less", less));
    node.classList.toggle("zero", !count);
    node.title = help;
    node.dataset.group = name;
    return node;
  }

  filterButton(name, words) {
    const node = button("group quiet-group", words, `${words}: show these`, () => this.press(name));
    node.dataset.group = name;
    return node;
  }

  press(name) {
    const was = this.pressed.has(name);
    this.pressed.clear();
    if (!was) this.pressed.add(name);
    this.mark();
    this.onChange();
  }

  clear() {
    this.pressed.clear();
    this.mark();
  }

  mark() {
    const buttons = [...this.root.querySelectorAll("button")];
    const focused = buttons.findIndex((node) => node.matches(":focus"));
    buttons.forEach((node, place) => {
      node.setAttribute("aria-pressed", this.pressed.has(node.dataset.group));
      node.tabIndex = place === Math.max(0, focused) ? 0 : -1;
    });
  }

  hides(claim) {
    if (!this.pressed.size) return false;
    return !(this.pressed.has(claim.group) || (this.pressed.has("cites") && claim.cites));
  }

  // The toolbar is one stop of Tab; arrows move in it.
  moved(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const buttons = [...this.root.querySelectorAll("button")];
    const next = buttons[buttons.findIndex((node) => node.matches(":focus")) + way];
    if (!next) return;
    buttons.forEach((node) => { node.tabIndex = node === next ? 0 : -1; });
    next.focus();
  }
}

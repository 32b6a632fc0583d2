// Says how the server is started when the connection is lost: Streamlit names a command that does not exist here.
// Mounts help and demo. Follows nodes.js, help.js and demo.js.
const LOST = /Is Streamlit still running|Streamlit server is not responding/;
const START = "The server of the explorer does not respond. Start it with `make run` or `python -m attribution serve`; " +
  "this page then connects again by itself.";

function explain() {
  const dialog = [...document.querySelectorAll('[role="dialog"]')].find((node) => LOST.test(node.textContent));
  if (!dialog) return;
  const message = [...dialog.querySelectorAll("*")].find((node) => !node.children.length && LOST.test(node.textContent));
  if (message) message.textContent = START;
  dialog.querySelectorAll("[data-testid=stErrorCodeBlock]").forEach((node) => { node.style.display = "none"; });
}

// The theme can change with the system's while no script runs; the colours of this project follow color-scheme.
function followTheme() {
  const app = document.querySelector(".stApp");
  const [red, green, blue] = app ? getComputedStyle(app).backgroundColor.match(/[\d.]+/g).map(Number) : [255, 255, 255];
  document.documentElement.style.colorScheme = red + green + blue < 384 ? "dark" : "light";
}

// Says which entry of the bar leads to this page, also where Streamlit does not.
function mark({ page }) {
  for (const link of document.querySelectorAll("[data-testid$=NavLink]")) {
    const name = new URL(link.href).pathname.split("/").pop();
    const current = name === (page === "check" ? "" : page) ? "page" : null;
    if (link.ariaCurrent !== current) link.ariaCurrent = current;
  }
}

// The first stop of Tab leads past everything to the answer, where there is one.
function addSkipLink() {
  const link = document.createElement("button");
  link.className = "ax-skip";
  link.textContent = "Skip to the answer";
  link.addEventListener("click", () => document.dispatchEvent(new CustomEvent("attribution-claim", { detail: "answer" })));
  document.body.prepend(link);
}

// Tab goes on from the button of an open menu in the menu, which Streamlit draws at the end of the page.
function enterMenu({ key, shiftKey }) {
  const menu = document.querySelector("[data-testid=stPopoverBody]"), opener = document.activeElement;
  if (key !== "Tab" || shiftKey || !menu || !opener.matches('[data-testid=stPopoverButton][aria-expanded="true"]')) return;
  menu.tabIndex = -1;
  menu.focus();
}

export default function ({ data }) {
  followTheme();
  mark(data);
  if (!window.attributionTheme) {
    window.attributionTheme = matchMedia("(prefers-color-scheme: dark)");
    window.attributionTheme.addEventListener("change", () => [50, 400, 1500].forEach((wait) => setTimeout(followTheme, wait)));
  }
  window.attributionObserver?.disconnect();
  window.attributionObserver = new MutationObserver(() => (explain(), mark(data)));
  window.attributionObserver.observe(document.body, { childList: true, subtree: true });
  if (!window.attributionHelp) {
    window.attributionHelp = new Help(Object.fromEntries(data.help));
    addSkipLink();
    document.addEventListener("keydown", enterMenu);
    document.addEventListener("attribution-demo", ({ detail }) => showDemo(window.attributionHelp.root, detail));
  }
}

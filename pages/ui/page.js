// Keeps the cookie that marks this browser's runs, and says how the server is started when the connection is lost:
// Streamlit names a command that does not exist here.
const LOST = /Is Streamlit still running|Streamlit server is not responding/;
const HELP = "The server of the explorer does not respond. Start it with `make run` or `python -m attribution serve`; " +
  "this page then connects again by itself.";

function explain() {
  const dialog = [...document.querySelectorAll('[role="dialog"]')].find((node) => LOST.test(node.textContent));
  if (!dialog) return;
  const message = [...dialog.querySelectorAll("*")].find((node) => !node.children.length && LOST.test(node.textContent));
  if (message) message.textContent = HELP;
  dialog.querySelectorAll("[data-testid=stErrorCodeBlock]").forEach((node) => { node.style.display = "none"; });
}

export default function ({ data }) {
  if (!document.cookie.split("; ").some((part) => part.startsWith(`${data.cookie}=`))) {
    document.cookie = `${data.cookie}=${data.value}; max-age=31536000; path=/; SameSite=Strict`;
  }
  window.attributionObserver?.disconnect();
  window.attributionObserver = new MutationObserver(explain);
  window.attributionObserver.observe(document.body, { childList: true, subtree: true });
}

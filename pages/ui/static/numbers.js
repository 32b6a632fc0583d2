// A table whose numbers are buttons; a click is reported with the button's value. Follows nodes.js.
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const shown = JSON.stringify(data.tree);
  if (root.dataset.shown !== shown) {
    root.dataset.shown = shown;
    root.replaceChildren(build(data.tree));
  }
  for (const button of root.querySelectorAll("button")) button.classList.toggle("on", button.value === data.selected);
  root.onclick = (event) => {
    const button = event.target.closest("button[value]");
    if (button) setTriggerValue("open", button.value);
  };
}

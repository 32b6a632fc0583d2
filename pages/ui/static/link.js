// A line of text and a button that copies the address of the result.
async function copy(address) {
  try {
    await navigator.clipboard.writeText(address);
  } catch {  // no permission, or a page without https
    const field = document.createElement("textarea");
    field.value = address;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

export default function ({ parentElement, data }) {
  const [text, button] = parentElement.querySelectorAll(".text, button");
  text.textContent = data.text;
  button.onclick = async () => {
    await copy(`${location.origin}${location.pathname}${data.query}`);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy link"; }, 1500);
    button.focus({ preventScroll: true });
  };
}

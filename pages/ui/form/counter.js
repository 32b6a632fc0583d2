// Counts the characters of the answer while it is typed.
const ANSWER = '[class*="st-key-answer-"] textarea';

export default function ({ parentElement, data }) {
  const line = parentElement.querySelector(".count");
  const number = (n) => n.toLocaleString("en");
  const count = () => {
    const field = document.querySelector(ANSWER);  // outside of typing it may not hold the answer yet
    const size = [...(field && field === document.activeElement ? field.value : data.answer)].length;
    const over = size - data.limit;
    line.textContent = `${number(size)} of ${number(data.limit)} characters`
      + (over > 0 ? `: shorten the answer by ${number(over)}` : "");
    line.classList.toggle("over", over > 0);
  };
  const listener = (event) => { if (event.target.matches?.(ANSWER)) count(); };
  document.addEventListener("input", listener);
  requestAnimationFrame(count);
  return () => document.removeEventListener("input", listener);
}

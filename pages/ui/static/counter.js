// Counts the characters of the answer while it is typed, and keeps what is typed in this tab until it is analysed: after
// a reload the draft is handed to the page once.
const ANSWER = '[class*="st-key-answer-"] textarea';
const QUESTION = '[class*="st-key-question-"] input';
const DRAFT = `draft:${location.pathname}`;
let loaded = false; // this page; a second call is a redraw
let handed = ""; // the draft that the page was asked to show

function keep(documents) {
  const [question, answer] = [QUESTION, ANSWER].map((field) => document.querySelector(field)?.value ?? "");
  sessionStorage.setItem(DRAFT, JSON.stringify({ question, answer, documents, run: location.search }));
}

function restore(data, setTriggerValue) {
  const stored = sessionStorage.getItem(DRAFT), draft = JSON.parse(stored ?? "null");
  const here = draft?.run === location.search, documents = data.documents;
  const shown = draft && draft.question === data.question && draft.answer === data.answer && draft.documents === documents;
  const typed = handed && stored !== handed; // while the draft was on its way
  if (!typed && [QUESTION, ANSWER].some((field) => document.activeElement?.matches(field))) keep(documents); // typed before this was loaded
  else if ((typed || !loaded) && draft && !shown && here) { handed = stored; setTriggerValue("draft", draft); }
  else if (loaded && here && documents !== (draft?.documents ?? "")) keep(documents); // a file was added or removed
  else if (!shown) sessionStorage.removeItem(DRAFT); // an example or a run was filled in
  if (shown) handed = "";
  loaded = true;
}

export default function ({ parentElement, data, setTriggerValue }) {
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
  const listener = (event) => {
    if (event.target.matches?.(ANSWER)) count();
    if (event.target.matches?.(`${ANSWER}, ${QUESTION}`)) keep(data.documents);
  };
  restore(data, setTriggerValue);
  document.addEventListener("input", listener);
  requestAnimationFrame(count);
  return () => document.removeEventListener("input", listener);
}

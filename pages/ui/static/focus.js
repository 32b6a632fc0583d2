// Puts the cursor into a field of the dialog that opens now, by the beginning of its key.
export default function ({ data }) {
  let tries = 0;
  const timer = setInterval(() => {
    const field = document.querySelector(`[role="dialog"] [class*="st-key-${data.field}"] :is(textarea, input)`);
    if (field) field.focus();
    if (field || ++tries > 40) clearInterval(timer);
  }, 100);
}

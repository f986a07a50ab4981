// The list of a folder of pages: narrows the rows as one types. Without it the list is there all the same.

const field = document.querySelector<HTMLInputElement>("#filter");
const found = document.querySelector<HTMLElement>("#found");
const rows = [...document.querySelectorAll<HTMLElement>(".rows > li")];
const words = rows.map((row) => (row.textContent ?? "").toLowerCase());

function narrow(): void {
  const wanted = (field?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  rows.forEach((row, at) => {
    row.hidden = !wanted.every((word) => words[at]?.includes(word));
    if (!row.hidden) shown += 1;
  });
  if (found) found.textContent = wanted.length > 0 ? `${shown.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")}` : "";
}

if (field) {
  field.hidden = false;
  field.addEventListener("input", narrow);
  addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && document.activeElement === field) {
      field.value = "";
      narrow();
      field.blur();
    }
  });
  narrow();
}

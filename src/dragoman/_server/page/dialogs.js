// Dialogs: a title, what they hold, and a way out. Escape closes them, and the focus goes back to where it was.
import { button, el, fill, trouble, verbatim } from "./dom.js";

/** Open a dialog; gives it. It is gone once it is closed. */
export function dialog(title, ...content) {
  const made = el("dialog", { "aria-label": title });
  const close = button("×", () => made.close(), { class: "close", "aria-label": "Close" });
  fill(made, el("header", el("h2", title), close), el("div.content", content));
  made.addEventListener("close", () => made.remove());
  made.addEventListener("click", (event) => event.target === made && made.close());
  document.body.append(made);
  made.showModal();
  return made;
}

/** A dialog of what is still to be read: `read(dialog)` gives it. Gives where it stands, once it does. */
export async function readDialog(title, read) {
  const body = el("div", el("p.foot", "Reading …"));
  const made = dialog(title, body);
  return fill(body, await read(made).catch(trouble));
}

/** A dialog that asks for one line of text; `done(text)` is given it. */
export function askLine(title, { value = "", words, done }) {
  const input = el("input", { type: "text", "aria-label": title, is: { value } });
  const wrong = el("p", { role: "status" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await done(input.value.trim());
      made.close();
    } catch (failed) {
      fill(wrong, trouble(failed));
    }
  };
  const form = el("form", { on: { submit } }, input, wrong, el("button.main", { is: { type: "submit" } }, words));
  const made = dialog(title, form);
  input.select();
}

const WRITTEN = { out: "Written by the agent", in: "Written to the agent", err: "Written by the agent as an error" };

/** An event as it is kept, with the line of the agent's that said it. */
export function showRaw(app, path, run, seq) {
  readDialog(`Event ${seq} of run ${run}`, async () => {
    const { event, line, direction } = await app.api.get(path, { run, seq });
    return [
      el("h3", line == null ? "No line of the agent's said it." : (WRITTEN[direction] ?? "A note of Dragoman's")),
      line != null && part(app, line),
      el("h3", "What it means, as an event"),
      part(app, JSON.stringify(event, null, 2)),
    ];
  });
}

function part(app, text) {
  return el("div.part", verbatim(text, { letter: true }), copyButton(app, text));
}

/** A button that copies a text. */
export function copyButton(app, text, words = "Copy") {
  const copied = async () => {
    await copy(text);
    app.say("Copied.");
    made.textContent = "Copied";
    setTimeout(() => (made.textContent = words), 1500);
  };
  const made = button(words, copied, { class: "small" });
  return made;
}

/** Put a text on the clipboard, also where the browser has no clipboard for pages. */
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).catch(() => byHand(text));
  byHand(text);
}

function byHand(text) {
  const area = el("textarea.away", { "aria-hidden": "true", is: { value: text } });
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

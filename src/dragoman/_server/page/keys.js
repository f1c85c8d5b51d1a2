// Keys: one table, from which the help is made too. A view has the functions of those that mean something in it.
import { dialog } from "./dialogs.js";
import { el, factsOf } from "./dom.js";
import { firstBelow } from "./scroll.js";

const HELP = [
  ["j  k", "the next or the previous block; in a list, the next or the previous session"],
  ["n  p", "the next or the previous turn"],
  ["Enter", "open a session; fold or unfold a block"],
  ["/", "find"],
  ["g", "go to what waits for an answer"],
  ["y  n  …", "answer it, while it has the focus; the keys stand on its buttons"],
  ["f", "follow the end"],
  ["c", "a new session"],
  ["u", "usage"],
  ["Esc", "back; in the prompt box twice: interrupt"],
  ["Enter", "in the prompt box: send; with Shift a new line"],
  ["?", "this list"],
];

const TYPED = "textarea, select, input:not([type=range], [type=checkbox], [type=radio])";

export function showKeys() {
  const rows = HELP.map(([keys, words]) => [keys.split(/\s+/).map((key) => [el("kbd", key), " "]), words]);
  dialog("Keys", factsOf(rows, "dl.keys"));
}

/** Listen for keys; `keysOf()` gives those of the view that is shown, by key. What a function gives as false was nothing for it. */
export function listen(keysOf) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open], .menu:popover-open")) return;
    if (event.key === "Escape" && closeDrops()) return;
    // a dialog that has just been closed holds the focus for a moment
    if (event.target.matches(TYPED) && event.target.checkVisibility()) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (answer(event)) return;
    if (["Enter", " "].includes(event.key) && event.target.closest("a, button, summary, input")) return;
    const done = keysOf()[event.key]?.() ?? event.key in keysOf();
    if (done) event.preventDefault();
  });
}

/** Close what was opened to choose from, but for what holds `within`; whether anything was. */
export function closeDrops(within = null) {
  const open = [...document.querySelectorAll(".drop[open]")].filter((drop) => !drop.contains(within));
  for (const drop of open) drop.open = false;
  return open.length > 0;
}

/** A key of a card that has the focus presses its button. */
function answer(event) {
  const card = event.target.closest(".card");
  const pressed = card?.querySelector(`button[data-key="${CSS.escape(event.key)}"]:not(:disabled)`);
  if (!pressed) return false;
  event.preventDefault();
  pressed.click();
  return true;
}

// --- going through a transcript ------------------------------------------------------------------------------------

/** The keys of a session's page. */
export function sessionKeys(view) {
  return {
    j: () => step(view, 1),
    k: () => step(view, -1),
    n: () => turn(view, 1),
    p: () => turn(view, -1),
    "/": () => view.finder?.focus(),
    g: () => view.asks.focus(),
    f: () => view.follow.click(),
    Enter: () => toggle(),
    Escape: () => view.panels.close() || view.app.go("#/"),
  };
}

/** The focus to the next or the previous block that can be seen. */
function step(view, by) {
  const blocks = [...view.reading.sheet.element.querySelectorAll(".block")];
  const current = document.activeElement?.closest(".block") ?? inView(view);
  let index = blocks.indexOf(current);
  if (document.activeElement === current || index < 0)
    do index += by;
    while (blocks[index] && !blocks[index].checkVisibility());
  if (!blocks[index]) return;
  blocks[index].focus({ preventScroll: true });
  blocks[index].scrollIntoView({ block: "nearest" });
  if (by > 0 && index === blocks.length - 1) view.follow.click();
}

function inView(view) {
  const article = firstBelow(view.reading.sheet.articles, 120);
  return article && (firstBelow(article.querySelector(".blocks").children, 120) ?? article.querySelector(".block"));
}

function turn(view, by) {
  const { articles } = view.reading.sheet;
  const current = firstBelow(articles, 120);
  const index = articles.indexOf(current);
  const started = by < 0 && current && current.getBoundingClientRect().top < 0; // first to the beginning of this one
  const next = articles[started ? index : index + by];
  next?.scrollIntoView();
  next?.focus({ preventScroll: true });
}

function toggle() {
  const block = document.activeElement;
  const details = block?.matches(".block") && block.querySelector("details");
  if (details) details.open = !details.open;
  return Boolean(details);
}

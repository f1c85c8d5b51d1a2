// The small menu of each block: a link to it, the raw line behind it, its text.
import { at } from "./api.js";
import { textOf } from "./contents.js";
import { copy, showRaw } from "./dialogs.js";
import { button, el } from "./dom.js";

export class BlockMenu {
  /** `sheet`: whose blocks; `session()`: the id that links name. */
  constructor(app, sheet, session) {
    this.element = el("div.menu", { popover: "auto" });
    const items = [
      ["Copy a link to this", (block) => copy(this.#address(sheet, block, session()))],
      ["Copy its text", (block, element) => copy(sourceOf(block) ?? element.querySelector(".body").innerText)],
      ["Raw line behind it", (block) => showRaw(app, at(session(), "event"), block.run, block.seq)],
    ];
    for (const [words, done] of items)
      this.element.append(
        button(words, () => (this.element.hidePopover(), done(this.block, this.at), app.say("Done."))),
      );
    sheet.element.addEventListener("click", (event) => {
      const pressed = event.target.closest(".more");
      if (pressed) this.#open(pressed);
    });
  }

  #open(pressed) {
    this.at = pressed.closest(".block");
    this.block = this.at.block;
    this.element.showPopover();
    const { bottom, right } = pressed.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    this.element.style.left = `${Math.max(4, right - width)}px`;
    this.element.style.top = `${bottom + height > innerHeight ? Math.max(4, innerHeight - height - 4) : bottom}px`;
    this.element.querySelector("button").focus();
  }

  #address(sheet, block, session) {
    return `${location.origin}/#/session/${session}/${sheet.address(block)}`;
  }
}

/** What a block says as it was written; undefined where only the page can tell. */
function sourceOf(block) {
  if (block.message) return textOf(block.message);
  if (block.type === "tool") return block.output;
  return undefined;
}

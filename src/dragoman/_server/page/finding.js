// What of a transcript is shown, and finding a word in what is loaded of it.
import { el, fill, folded, link } from "./dom.js";
import { KINDS } from "./transcript.js";

const KEPT = "dragoman.hidden";

/** Boxes by which kinds of blocks are shown or not, remembered in this tab. */
export function filters(sheet) {
  const hidden = new Set((sessionStorage.getItem(KEPT) ?? "").split(" ").filter((kind) => kind in KINDS));
  const show = () => (sheet.element.dataset.hidden = [...hidden].join(" "));
  const boxes = Object.entries(KINDS).map(([kind, words]) => {
    const toggled = (event) => {
      if (event.target.checked) hidden.delete(kind);
      else hidden.add(kind);
      sessionStorage.setItem(KEPT, [...hidden].join(" "));
      show();
    };
    return el(
      "label",
      el("input", { type: "checkbox", is: { checked: !hidden.has(kind) }, on: { change: toggled } }),
      words,
    );
  });
  show();
  const list = el("fieldset.filters", el("legend.away", "What is shown"), boxes);
  return folded("Show", list, { class: "drop" });
}

/** Find in what is loaded. `extent(text)` is { all, search }: whether that is all of it, and where to search in all of it. */
export class Finder {
  #found = [];
  #index = -1;

  constructor(reading, extent) {
    this.reading = reading;
    this.extent = extent;
    this.input = el("input", {
      type: "search",
      placeholder: "Find in this session  /",
      "aria-label": "Find in what is loaded of this session",
      on: { input: () => this.#look(), keydown: (event) => this.#key(event) },
    });
    this.status = el("span.foot", { role: "status" });
    this.element = el("div.finder", this.input, this.status);
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  #key(event) {
    if (event.key === "Enter") this.#step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") ((this.input.value = ""), this.#look(), this.input.blur());
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #look() {
    const wanted = this.input.value.trim().toLowerCase();
    for (const { element } of this.#found) element.classList.remove("found");
    this.#found = wanted ? rangesOf(this.reading.sheet.element, wanted) : [];
    for (const { element } of this.#found) element.classList.add("found");
    this.#index = -1;
    if (globalThis.Highlight) CSS.highlights.set("found", new Highlight(...this.#found.map(({ range }) => range)));
    this.#tell(wanted);
  }

  #tell(wanted) {
    const place = this.#index >= 0 ? `${this.#index + 1} of ${this.#found.length}` : `${this.#found.length} found`;
    const { all, search } = this.extent(this.input.value.trim());
    fill(
      this.status,
      wanted ? [`${place}${all ? "" : " in what is loaded · "}`, all ? null : link(search, "search in all of it")] : "",
    );
  }

  #step(by) {
    if (!this.#found.length) return;
    const count = this.#found.length;
    this.#index = this.#index < 0 ? (by > 0 ? 0 : count - 1) : (this.#index + by + count) % count;
    const { range, element } = this.#found[this.#index];
    this.reading.sheet.reveal(range.startContainer);
    this.reading.show(element);
    this.#tell(true);
  }
}

/** Where a word stands in blocks: ranges of their text, and the blocks. */
function rangesOf(root, wanted) {
  const found = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && found.length < 2000) {
    const text = walker.currentNode.data.toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const element = walker.currentNode.parentElement.closest(".block");
      if (!element || text.length !== walker.currentNode.length) break;
      const range = new Range();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + wanted.length);
      found.push({ range, element });
    }
  }
  return found;
}

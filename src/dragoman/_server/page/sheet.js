// The transcript on the page: an article for each turn, the blocks of the model in their places. What has changed is drawn
// once a frame; what is streamed only gets text added.
import { button, el, fill, soon } from "./dom.js";
import { draw, label, turnFoot } from "./blocks.js";
import { duration, moment, timeOf } from "./times.js";
import { isEcho, place } from "./transcript.js";

const RUN = 1e9; // more than the turns of a run

/** The number of a turn, behind that of its run where there are several. */
export function turnNumber(runs, { run, turn }) {
  return runs.length > 1 ? `${runs.indexOf(run) + 1}.${turn}` : `${turn}`;
}

export class Sheet {
  #entries = new Map(); // by the key of a turn or of a block
  #turns;

  /** `runs`: their ids in order. `at`: what drawing needs to know: `cwd`, and `whole(run, seq)` for what was cut. */
  constructor(model, runs, at) {
    this.runs = runs;
    this.at = at;
    this.element = el("div.sheet");
    this.begin(model);
    this.changed = soon(() => this.flush());
    /** Called around each change of what is shown. */
    this.around = (change) => change();
  }

  /** Show another model, from nothing. */
  begin(model) {
    this.model = model;
    this.#entries.clear();
    this.element.replaceChildren();
    this.#turns = new Shelf(this.element);
  }

  flush() {
    const { touched } = this.model;
    if (!touched.size) return;
    this.model.touched = new Set();
    this.around(() => {
      for (const part of touched) part.key ? this.#drawBlock(part) : this.#drawTurn(part);
    });
  }

  /** The element of a block or of a turn; null if there is none. */
  elementOf(part) {
    return this.#entries.get(part?.key ?? part?.id)?.element ?? null;
  }

  /** The articles of turns, in their order. */
  get articles() {
    return [...this.element.children];
  }

  #drawTurn(turn) {
    const entry = this.#turn(turn);
    const time = turn.started && timeOf(turn.started);
    const at = turn.started?.at;
    const when = time ? el("time", moment(time)) : at != null ? `${duration(at)} after the start` : null;
    const before =
      this.runs.length > 1 ? `Run ${this.runs.indexOf(turn.run) + 1}, before its first turn` : "Before the first turn";
    fill(entry.heading, turn.turn ? `Turn ${turnNumber(this.runs, turn)}` : before, when && el("small", " ", when));
    if (!turn.ended) return;
    fill(entry.foot, turnFoot(turn.ended));
    entry.shelf.put(entry.foot, turn.ended.seq);
  }

  #turn(turn) {
    let entry = this.#entries.get(turn.id);
    if (entry) return entry;
    const id = `turn-${turn.run}-${turn.turn}`;
    const heading = el("h2", { id });
    const list = el("div.blocks");
    const foot = el("div.turn-foot");
    const element = el("article", { "aria-labelledby": id, tabindex: -1 }, heading, list);
    entry = { element, heading, foot, shelf: new Shelf(list) };
    element.turn = turn;
    this.#entries.set(turn.id, entry);
    this.#turns.put(element, this.runs.indexOf(turn.run) * RUN + turn.turn);
    this.#drawTurn(turn);
    return entry;
  }

  #drawBlock(block) {
    const entry = this.#block(block);
    const hidden = block.discarded || (block.type === "prompt" && isEcho(this.model, block)) || block.seq === Infinity;
    if (hidden) return entry.element.shelf?.take(entry.element);
    entry.element.dataset.kind = block.kind;
    entry.element.setAttribute("aria-label", label(block));
    draw(block, entry.parts, this.at);
    this.#shelfOf(block).put(entry.element, block.seq);
  }

  #block(block) {
    let entry = this.#entries.get(block.key);
    if (entry) return entry;
    const body = el("div.body");
    const more = button("⋯", null, { class: "more", "aria-label": "More about this", "aria-haspopup": "true" });
    const element = el("div", { class: `block b-${block.type}`, role: "group", tabindex: -1 }, body, more);
    element.block = block;
    entry = { element, parts: { body }, shelves: {} };
    this.#entries.set(block.key, entry);
    return entry;
  }

  #shelfOf(block) {
    const parent = this.model.parentOf(block);
    if (!parent) return this.#turn(this.model.turn(block.run, block.turn)).shelf;
    const entry = this.#block(parent);
    if (entry.element.shelf == null) this.#drawBlock(parent);
    const side = block.beside ? "beside" : "inside";
    return (entry.shelves[side] ??= this.#shelf(entry, side, parent));
  }

  /** What stands beside a call is seen while it is folded; what its subagent does is folded itself. */
  #shelf(entry, side, parent) {
    const list = el("div", { class: `blocks ${side}` });
    if (side === "beside") {
      entry.parts.body.after(list);
      return new Shelf(list);
    }
    const title = parent.type === "history" ? "History that the agent played back" : "What the subagent did";
    entry.element.append(el("details.within", el("summary", title), list));
    return new Shelf(list);
  }

  /** Open whatever a block, or a text in it, is folded in. */
  reveal(node) {
    for (let at = node.parentElement; at && at !== this.element; at = at.parentElement)
      if (at.tagName === "DETAILS") at.open = true;
  }

  /** The address of a block. */
  address(block) {
    return place(block.run, block.seq);
  }
}

/** A list of elements in an order that is kept while they come in any order. */
class Shelf {
  #items = [];

  /** `element` holds the list, and nothing else. */
  constructor(element) {
    this.element = element;
  }

  /** Put an element where its order says; it may have stood on this shelf or on another. */
  put(element, order) {
    if (element.shelf === this && element.order === order) return;
    element.shelf?.take(element);
    const index = this.#after(order);
    this.element.insertBefore(element, this.#items[index] ?? null);
    this.#items.splice(index, 0, element);
    element.shelf = this;
    element.order = order;
  }

  take(element) {
    const index = this.#items.lastIndexOf(element);
    if (index >= 0) this.#items.splice(index, 1);
    element.shelf = null;
    element.remove();
  }

  /** The index of the first one that comes behind `order`. */
  #after(order) {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#items[middle].order <= order) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

// The turns of a session: what was asked, when, what it cost, what went wrong.
import { el, inOrder, link } from "./dom.js";
import { outcome } from "./blocks.js";
import { bringInto } from "./scroll.js";
import { turnNumber } from "./sheet.js";
import { cost, duration, joined, oneLine, plural } from "./times.js";

export class Outline {
  constructor() {
    this.list = el("ol.outline");
    this.element = el("nav", { "aria-label": "Turns" }, this.list);
    this.items = new Map();
  }

  /** `runs`: the ids of those that make up the transcript, in their order. What is as it was stays where it is. */
  update(id, turns, runs) {
    const known = this.items;
    this.items = new Map();
    for (const turn of turns) {
      const key = `${turn.run}/${turn.turn}`;
      const drawn = JSON.stringify([id, turn, turnNumber(runs, turn)]);
      const item = known.get(key);
      this.items.set(key, item?.drawn === drawn ? item : { drawn, element: itemOf(id, turn, runs) });
    }
    const drawn = [...this.items.values()].map(({ element }) => element);
    inOrder(this.list, drawn.length ? drawn : [el("li.foot", "No turns yet.")]);
    this.mark(this.marked);
  }

  /** The turn that is in view. Nothing moves under the hands of whoever is at the list. */
  mark(key) {
    this.items.get(this.marked)?.element.firstElementChild.removeAttribute("aria-current");
    this.marked = key;
    const item = this.items.get(key)?.element;
    if (!item) return;
    item.firstElementChild.setAttribute("aria-current", "true");
    const side = this.element.closest(".side");
    if (side && !side.matches(":hover, :focus-within")) bringInto(side, item);
  }
}

function itemOf(id, turn, runs) {
  const took = turn.duration_ms != null && duration(turn.duration_ms / 1000);
  const facts = joined(took, cost({ ...turn, unpriced_calls: 0 }), turn.tools > 0 && plural(turn.tools, "tool"));
  const words = [
    el("span.number", turnNumber(runs, turn)),
    el("span.prompt-line", oneLine(turn.prompt, 140) || "(no prompt)"),
    el(
      "span.foot",
      turn.outcome ? outcome(turn.outcome) : el("span.live", "● open"),
      facts && ` · ${facts}`,
      turn.errors > 0 && el("span.bad", ` · ${plural(turn.errors, "error")}`),
    ),
  ];
  return el("li", link(`#/session/${id}/${turn.run}/${turn.seq}`, words));
}

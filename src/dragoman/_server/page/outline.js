// The turns of a session: what was asked, when, what it cost, what went wrong.
import { el, fill, link } from "./dom.js";
import { outcome } from "./blocks.js";
import { turnNumber } from "./sheet.js";
import { cost, duration, joined, oneLine, plural } from "./times.js";

export class Outline {
  constructor() {
    this.list = el("ol.outline");
    this.element = el("nav", { "aria-label": "Turns" }, this.list);
    this.items = new Map();
  }

  /** `runs`: the ids of those that make up the transcript, in their order. */
  update(id, turns, runs) {
    const drawn = JSON.stringify([id, turns, runs]);
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    this.items.clear();
    const rows = turns.map((turn) => {
      const took = turn.duration_ms != null && duration(turn.duration_ms / 1000);
      const facts = joined(took, cost({ ...turn, unpriced_calls: 0 }), turn.tools > 0 && plural(turn.tools, "tool"));
      const made = link(`#/session/${id}/${turn.run}/${turn.seq}`, [
        el("span.number", turnNumber(runs, turn)),
        el("span.prompt-line", oneLine(turn.prompt, 140) || "(no prompt)"),
        el(
          "span.foot",
          turn.outcome ? outcome(turn.outcome) : el("span.live", "● open"),
          facts && ` · ${facts}`,
          turn.errors > 0 && el("span.bad", ` · ${plural(turn.errors, "error")}`),
        ),
      ]);
      this.items.set(`${turn.run}/${turn.turn}`, made);
      return el("li", made);
    });
    fill(this.list, rows.length ? rows : el("li.foot", "No turns yet."));
    this.mark(this.marked);
  }

  /** The turn that is in view. */
  mark(key) {
    this.items.get(this.marked)?.removeAttribute("aria-current");
    this.marked = key;
    const item = this.items.get(key);
    if (!item || item.getAttribute("aria-current")) return;
    item.setAttribute("aria-current", "true");
    const { top, bottom } = item.getBoundingClientRect();
    const box = this.element.closest(".side")?.getBoundingClientRect();
    if (box && (top < box.top || bottom > box.bottom)) {
      const side = this.element.closest(".side");
      side.scrollTop += top - box.top - side.clientHeight / 3;
    }
  }
}

// The model of what a transcript shows: events in, blocks out. It knows no DOM.
// Windows of events come in any order and may overlap: what is known of a block is told apart by the number of the event
// that said it, the latest wins, so any order leads to the same transcript.
import { streamed, TELLS, toolOf, unknown } from "./tells.js";

/** What can be shown or not, and what that is called. */
export const KINDS = {
  user: "Prompts",
  answer: "Answers",
  thinking: "Thinking",
  tool: "Tools",
  change: "Changes",
  permission: "Permissions",
  other: "Other",
};

const DEEPEST = 12; // calls within calls; what is said deeper stands at the top

export class Transcript {
  constructor() {
    this.turns = new Map();
    this.blocks = new Map();
    /** Turns and blocks that have changed since somebody looked. */
    this.touched = new Set();
    /** The turn or block that an event is told by, by `place(run, seq)`. */
    this.places = new Map();
    this.discarded = new Set();
  }

  /** Take events of a run in. */
  apply(run, events) {
    for (const event of events) {
      const found = (TELLS[event.type] ?? unknown)(this, run, event);
      if (!found) continue;
      this.touched.add(found);
      this.places.set(place(run, event.seq), found);
    }
  }

  /** A text that is being written: all that was said of it until the event `seq`. */
  resume(run, { kind, text, message_id, block, parent }, seq, turn) {
    const found = streamed(this, run, { kind, message_id, block, parent, seq, turn });
    found.stream?.restart(seq, text);
    this.touched.add(found);
  }

  turn(run, number) {
    const key = `${run}/${number}`;
    let turn = this.turns.get(key);
    if (!turn)
      this.turns.set(
        key,
        (turn = { id: key, run, turn: number, started: null, ended: null, said: new Set(), echoes: new Set() }),
      );
    return turn;
  }

  /**
   * The block `key`, made if there is none. The first event that is sure of its place settles where it stands;
   * `within`: the call that the event itself belongs to, beside whoever speaks.
   */
  block(key, type, kind, run, event, { sure = true, within = null } = {}) {
    let block = this.blocks.get(key);
    if (!block) this.blocks.set(key, (block = { key, type, kind, run, seq: Infinity, sure: false, stamps: {} }));
    if (sure ? !block.sure || event.seq < block.seq : !block.sure && event.seq < block.seq) {
      block.sure = sure;
      block.seq = event.seq;
      block.turn = event.turn ?? 0;
      block.parent = this.#parent(run, event, within);
      block.beside = Boolean(within);
      this.turn(run, block.turn);
    }
    return block;
  }

  #parent(run, event, within) {
    const call = within ?? event.parent;
    if (event.replay && !within)
      return this.block(`history|${run}|${call ?? ""}`, "history", "other", run, { ...event, replay: false }).key;
    return call ? toolOf(this, run, { call_id: call, seq: event.seq, turn: event.turn }, false).key : null;
  }

  /** The block that it stands in; null at the top, also where agents tell of calls within themselves. */
  parentOf(block) {
    const seen = new Set([block.key]);
    for (let at = block.parent; at; at = this.blocks.get(at)?.parent) {
      if (seen.has(at) || seen.size > DEEPEST) return null;
      seen.add(at);
    }
    return this.blocks.get(block.parent) ?? null;
  }

  /** The turn or block of an event, or of the last one before it that has any. */
  find(run, seq) {
    for (let at = seq; at > Math.max(0, seq - 400); at--) {
      const found = this.places.get(place(run, at));
      if (found) return found;
    }
    return null;
  }
}

/** Whether a prompt is only the echo of another that is shown. */
export function isEcho(model, block) {
  const { echoes, said } = model.turn(block.run, block.turn);
  return echoes.has(block) && (said.has(block.message.text) || said.has(block.message.message_id));
}

export function place(run, seq) {
  return `${run}/${seq}`;
}

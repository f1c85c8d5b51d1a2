// Which events of a session are loaded: windows that join, over the runs that make up its transcript, in their order.

export const WINDOW = 300;
const BEFORE = 120; // of the window around an event, what comes before it

export class Windows {
  #get;
  #busy = null;
  #epoch = 0; // goes up when all is forgotten

  /** `get(run, {before, after, limit})` asks the server for a window. `runs`: the ids, in order. */
  constructor(get, runs) {
    this.#get = get;
    this.runs = runs;
    this.forget();
  }

  forget() {
    this.#epoch += 1;
    /** Places as { run: its index, seq }, and whether there is more beyond them. */
    this.first = this.last = null;
    this.older = this.newer = false;
  }

  /** Whether the end of the last run is loaded. */
  get atEnd() {
    return this.last != null && !this.newer;
  }

  has(run, seq) {
    const index = this.runs.indexOf(run);
    const behind = (place) => index - place.run || seq - place.seq;
    return this.first != null && behind(this.first) >= 0 && behind(this.last) <= 0;
  }

  /** The newest window, in place of what was loaded. */
  newest() {
    this.forget();
    return this.#load(this.runs.length - 1, {});
  }

  /** The window around an event, in place of what was loaded. */
  around(run, seq) {
    this.forget();
    return this.#load(this.runs.indexOf(run), { after: Math.max(0, seq - BEFORE) });
  }

  /** The window before what is loaded; null if there is none. */
  before() {
    if (!this.older) return null;
    const { run, seq } = this.first;
    return seq > 1 ? this.#load(run, { before: seq }) : this.#load(run - 1, {});
  }

  /** The window after what is loaded; null if there is none. `grown`: there may be more by now. */
  after(grown = false) {
    if (!this.newer && !grown) return null;
    const { run, seq, over } = this.last;
    return over && run + 1 < this.runs.length ? this.#load(run + 1, { after: 0 }) : this.#load(run, { after: seq });
  }

  /** One at a time; { run, events }. What was asked for before `forget` is dropped: then null. */
  async #load(run, where) {
    const mine = this.#epoch;
    while (this.#busy) await this.#busy.catch(() => null);
    if (mine !== this.#epoch) return null;
    this.#busy = this.#get(this.runs[run], { ...where, limit: WINDOW });
    let window;
    try {
      window = await this.#busy;
    } finally {
      this.#busy = null;
    }
    if (mine !== this.#epoch) return null;
    this.#join(run, window);
    return { run: this.runs[run], events: window.events };
  }

  #join(run, { first, last, more_before: before, more_after: after }) {
    const start = { run, seq: first };
    const end = { run, seq: last, over: !after };
    if (this.first == null || run < this.first.run || (run === this.first.run && first < this.first.seq)) {
      this.first = start;
      this.older = before || run > 0;
      if (!before) this.first.seq = 1;
    }
    if (this.last == null || run > this.last.run || (run === this.last.run && last >= this.last.seq)) {
      this.last = end;
      this.newer = after || run + 1 < this.runs.length;
    }
  }
}

// The live sessions, as the feed tells of them.

export class LiveRows {
  #rows = new Map(); // by run
  #heard = new Set();

  /** A message of the feed's about the board. */
  hear({ all = false, rows, gone, stored }) {
    if (all) this.#rows.clear();
    for (const row of rows) this.#rows.set(row.live.run, row);
    for (const run of gone) this.#rows.delete(run);
    for (const listener of this.#heard) listener({ rows, gone, stored });
  }

  get rows() {
    return [...this.#rows.values()];
  }

  ofRun(run) {
    return this.#rows.get(run);
  }

  /** The run that goes on with a session: the last one, where others are over. */
  ofSession(id) {
    return this.rows.findLast((row) => row.id === id || row.live.run === id);
  }

  /** Have `listener` told of each change; gives a function that ends that. */
  listen(listener) {
    this.#heard.add(listener);
    return () => this.#heard.delete(listener);
  }
}

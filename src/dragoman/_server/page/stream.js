// A text that is told in pieces while it is written.

/** Text that grows by pieces, each with its number; a piece that was heard before adds nothing. */
export class Stream {
  constructor() {
    this.text = "";
    /** Goes up when the text is not what it was with more behind it. */
    this.anew = 0;
    this.#base = 0;
    this.#pieces = [];
  }

  #base;
  #pieces;

  add(seq, text) {
    if (seq <= this.#base) return;
    const last = this.#pieces.at(-1)?.[0] ?? this.#base;
    if (seq > last) {
      this.#pieces.push([seq, text]);
      this.text += text;
      return;
    }
    if (this.#pieces.some(([known]) => known === seq)) return;
    this.#pieces.push([seq, text]);
    this.#again(this.#pieces.sort((a, b) => a[0] - b[0]));
  }

  /** All of it until the piece `seq` is `text`. */
  restart(seq, text) {
    if (seq <= this.#base) return;
    this.#base = seq;
    this.#again([[seq, text], ...this.#pieces.filter(([known]) => known > seq)]);
  }

  #again(pieces) {
    this.#pieces = pieces;
    this.text = pieces.map(([, text]) => text).join("");
    this.anew += 1;
  }
}

// The clock of a replay: events in, and out again when it is their time.
import { timeOf } from "./times.js";

const STEP = 0.4; // seconds between events that have no times
export const AS_IT_WAS = "was"; // the speed at which pauses last as long as they did
export const LONGEST = 2; // seconds that a pause takes at most, unless it is to be as it was

export class Clock {
  #waiting = []; // events that are still to come
  #last = null; // when the last one was that came, in seconds
  #spent = 0; // seconds since then

  #speed = 1;
  #longest = LONGEST;

  /** At a speed from now on: a factor, or AS_IT_WAS. */
  run(speed) {
    this.#longest = speed === AS_IT_WAS ? Infinity : LONGEST;
    this.#speed = speed === AS_IT_WAS ? 1 : Number(speed);
  }

  /** These come after all others. */
  add(events) {
    this.#waiting.push(...events);
  }

  /** Nothing is to come any more. The next event comes at once. */
  clear() {
    this.#waiting = [];
    this.#last = null;
    this.#spent = 0;
  }

  get waiting() {
    return this.#waiting.length;
  }

  /** The events whose time has come after so many seconds of whoever looks. */
  advance(seconds) {
    this.#spent += seconds * this.#speed;
    let count = 0;
    for (const event of this.#waiting) {
      const pause = this.#pause(event);
      if (pause > this.#spent) break;
      this.#spent -= pause;
      this.#pass(event);
      count += 1;
    }
    if (count === this.#waiting.length) this.#spent = 0; // there is nothing to wait for
    return this.#waiting.splice(0, count);
  }

  /** The next event that says something whole, with the pieces before it. */
  step() {
    const index = this.#waiting.findIndex((event) => event.type !== "delta");
    const found = this.#waiting.splice(0, index < 0 ? this.#waiting.length : index + 1);
    for (const event of found) this.#pass(event);
    this.#spent = 0;
    return found;
  }

  #pass(event) {
    this.#last = momentOf(event) ?? this.#last;
  }

  #pause(event) {
    const now = momentOf(event);
    if (now == null) return event.type === "delta" ? STEP / 10 : STEP;
    if (this.#last == null) return 0;
    return Math.min(Math.max(0, now - this.#last), this.#longest);
  }
}

function momentOf(event) {
  return event.at ?? timeOf(event);
}

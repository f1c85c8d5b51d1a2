// A transcript on the page: its model, its sheet, the menu of its blocks, and where the reader is in it.
import { at } from "./api.js";
import { el } from "./dom.js";
import { BlockMenu } from "./menu.js";
import { Reader } from "./scroll.js";
import { Sheet } from "./sheet.js";
import { Transcript } from "./transcript.js";

export class Reading {
  /**
   * `session()`: its id. `runs`: those that make it up, in their order. `dock`: what stands below it. `moved()` is called
   * after each scroll, `failed(error)` when a call fails that was made for a block. `whole()`: its end is loaded.
   */
  constructor(app, { session, runs, cwd, dock, moved = () => null, whole = () => true, failed }) {
    this.app = app;
    this.session = session;
    this.model = new Transcript();
    this.sheet = new Sheet(this.model, runs, { cwd, whole: (run, seq) => this.#whole(run, seq).catch(failed) });
    this.reader = new Reader(this.sheet.element, dock, { moved, whole });
    this.sheet.around = (change) => this.reader.keep(change);
    this.element = el("div", this.sheet.element, new BlockMenu(app, this.sheet, session).element);
  }

  close() {
    this.reader.close();
  }

  /** Nothing is loaded of it any more. */
  empty() {
    this.model = new Transcript();
    this.sheet.begin(this.model);
  }

  /** Show these events too, at once or with the next frame. */
  take(run, events, { later = false } = {}) {
    this.model.apply(run, events);
    if (later) this.sheet.changed();
    else this.sheet.flush();
  }

  /** Texts of a run that are being written, as they stood after the event `seq`. */
  resume(run, open, seq) {
    const turns = [...this.model.turns.values()].filter((turn) => turn.run === run).map(({ turn }) => turn);
    for (const text of open) this.model.resume(run, text, seq, Math.max(0, ...turns));
    this.sheet.flush();
  }

  /** Go to what an event is told by; false if it is not there. */
  go(run, seq) {
    const element = this.sheet.elementOf(this.model.find(run, seq));
    if (element) this.show(element, true);
    return Boolean(element);
  }

  /** Bring a block into view, and mark it. */
  show(element, focus = false) {
    for (const other of this.sheet.element.querySelectorAll(".target")) other.classList.remove("target");
    element.classList.add("target");
    this.sheet.reveal(element);
    this.reader.show(element, focus);
  }

  foldAll(open) {
    this.reader.keep(() => {
      for (const part of this.sheet.element.querySelectorAll("details")) part.open = open;
    });
  }

  /** All of an event that was cut. */
  async #whole(run, seq) {
    const { event } = await this.app.api.get(at(this.session(), "event"), { run, seq });
    this.take(run, [event]);
  }
}

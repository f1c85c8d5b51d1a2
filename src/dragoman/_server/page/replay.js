// A session played back: the same transcript, told in time. The bar counts events, so that one without times has a bar too.
import { at } from "./api.js";
import { AS_IT_WAS, Clock, LONGEST } from "./clock.js";
import { button, el, fill, link, select, trouble } from "./dom.js";
import { Reading } from "./reading.js";
import { duration, joined, oneLine } from "./times.js";
import { WINDOW } from "./windows.js";

const SPEEDS = [...[0.5, 1, 2, 5, 10, 20].map((speed) => [speed, `${speed}×`]), [AS_IT_WAS, "as it was"]];
const LOW = 100; // events in hand below which more are fetched
const MARKS = {
  error: ["✗", "error"],
  permission: ["◆", "permission"],
  prompt: ["▲", "prompt"],
  tool: ["·", "command"],
};
const PLACES = 300; // marks that have room on the bar

export class ReplayView {
  title = "Replay";

  constructor(app, { id }) {
    Object.assign(this, { app, id, clock: new Clock(), position: 0, work: Promise.resolve() });
    this.play = button("▶ Play", () => this.#toggle(), { class: "main" });
    this.stepper = button("Step", () => this.#step(), { title: "The next event (.)" });
    const speed = select("Speed", SPEEDS, 1, (value) => this.clock.run(value));
    this.bar = el("input", {
      type: "range",
      min: 0,
      max: 1,
      value: 0,
      "aria-label": "Place in the session",
      on: { input: () => this.#seekTo(Number(this.bar.value)) },
    });
    this.marks = el("div.marks", { "aria-hidden": "true" });
    this.told = el("p.foot", { role: "status" });
    this.place = el("div.transcript");
    this.heading = el("h1", "Replay");
    const controls = el("div.buttons", this.play, this.stepper, speed, this.told);
    const legend = el(
      "p.foot.legend",
      Object.values(MARKS).map(([mark, words]) => `${mark} ${words} `),
      `· pauses are cut to ${LONGEST} s, but for “as it was”`,
    );
    this.dock = el("div.dock", el("div.seek", this.marks, this.bar), controls, legend);
    this.element = el(
      "div.session.replay",
      el(
        "main.middle",
        el("header.session-head", this.heading, link(`#/session/${id}`, "← The session")),
        this.place,
        this.dock,
      ),
    );
    this.keys = { " ": () => this.#toggle(), ".": () => this.#step(), Escape: () => app.go(`#/session/${id}`) };
  }

  async start() {
    try {
      const [about, deeds] = await Promise.all([this.app.api.get(at(this.id)), this.app.api.get(at(this.id, "deeds"))]);
      if (this.closed) return;
      this.runs = about.runs.filter((run) => run.shown);
      this.total = this.runs.reduce((sum, run) => sum + run.events, 0);
      this.title = `Replay: ${about.session.name || about.session.title}`;
      fill(this.heading, this.title);
      this.app.entitle(this.title);
      this.bar.max = this.total;
      this.#mark(deeds);
      this.reading = new Reading(this.app, {
        session: () => this.id,
        runs: this.runs.map(({ run }) => run),
        cwd: about.session.cwd,
        dock: this.dock,
        failed: (error) => this.#failed(error),
      });
      fill(this.place, this.reading.element);
      this.#seekTo(0);
      this.#toggle();
    } catch (failed) {
      this.#failed(failed);
    }
  }

  close() {
    this.closed = true;
    this.playing = false;
    this.reading?.close();
  }

  // --- playing --------------------------------------------------------------------------------------------------------

  /** One thing after another: whoever steps after a seek steps from there. */
  #then(work) {
    const done = this.work.then(() => this.closed || work());
    return (this.work = done.catch((failed) => this.#failed(failed)));
  }

  #toggle() {
    if (this.playing) this.#set(false);
    else this.#then(() => this.playing || this.position >= this.total || this.#set(true));
  }

  #set(playing) {
    this.playing = playing;
    fill(this.play, playing ? "❚❚ Pause" : "▶ Play");
    if (!playing) return;
    this.reading.reader.follow();
    this.#tick(performance.now());
  }

  #tick(before) {
    requestAnimationFrame((now) => {
      if (!this.playing) return;
      this.#tell(this.clock.advance(Math.min(0.25, (now - before) / 1000)));
      if (this.position >= this.total) this.#set(false);
      else this.#tick(now);
    });
  }

  #step() {
    this.#set(false);
    this.#then(async () => {
      if (!this.clock.waiting) await this.#fetch();
      this.#tell(this.clock.step());
      this.reading.reader.follow();
    });
  }

  /** These events have come. Each knows its run, since a session may have several. */
  #tell(events) {
    for (const event of events) this.reading.take(event.of, [event], { later: true });
    const last = events.at(-1);
    if (last) this.#reached(this.#positionOf(last.of, last.seq), last);
    if (this.clock.waiting < LOW && this.next)
      this.filling ??= this.#then(() => this.#fetch()).finally(() => (this.filling = null));
  }

  /** More events into the clock. */
  async #fetch() {
    if (!this.next) return;
    const { run, after } = this.next;
    const window = await this.#events(run, { after, deltas: 1 });
    this.clock.add(window.events.map((event) => ({ ...event, of: window.run })));
    if (window.more_after) this.next = { run, after: window.last };
    else this.next = run + 1 < this.runs.length ? { run: run + 1, after: 0 } : null;
    if (!this.next) this.total = this.#positionOf(window.run, window.events.at(-1)?.seq ?? window.last);
  }

  #events(run, where) {
    return this.app.api.get(at(this.id, "events"), { run: this.runs[run].run, limit: WINDOW, ...where });
  }

  // --- where it is ----------------------------------------------------------------------------------------------------

  #positionOf(run, seq) {
    const index = this.runs.findIndex((each) => each.run === run);
    return this.runs.slice(0, index).reduce((sum, each) => sum + each.events, 0) + seq;
  }

  #placeOf(position) {
    let rest = position;
    const run = this.runs.findIndex(
      (each, index) => rest <= each.events || index === this.runs.length - 1 || ((rest -= each.events), false),
    );
    return { run: Math.max(0, run), seq: rest };
  }

  #reached(position, event) {
    this.position = position;
    this.bar.value = position;
    const said = joined(
      `event ${position.toLocaleString("en")} of ${this.total.toLocaleString("en")}`,
      event?.turn && `turn ${event.turn}`,
      duration(event?.at),
    );
    this.bar.setAttribute("aria-valuetext", said);
    fill(this.told, said);
  }

  /** Of places that are sought faster than they can be shown, only the last one is. */
  #seekTo(position) {
    this.sought = position;
    this.#then(() => this.sought === position && this.#seek(position));
  }

  /** Show what was there at a place, and go on from it. */
  async #seek(position) {
    const { run, seq } = this.#placeOf(position);
    this.clock.clear();
    this.next = null;
    const { events } = seq ? await this.#events(run, { before: seq + 1 }) : { events: [] };
    if (this.closed) return;
    this.reading.empty();
    this.reading.take(this.runs[run].run, events);
    this.reading.reader.follow();
    this.next = { run, after: seq };
    this.#reached(position, events.at(-1));
    await this.#fetch();
  }

  #mark({ turns, commands, permissions, errors }) {
    const all = [
      ["error", errors],
      ["permission", permissions],
      ["prompt", turns],
      ["tool", commands],
    ];
    const taken = new Set();
    for (const [kind, items] of all)
      for (const item of items) {
        const position = this.#positionOf(item.run, item.seq);
        const room = Math.round((position / this.total) * PLACES);
        if (taken.has(room)) continue;
        taken.add(room);
        const mark = el(
          "span",
          { class: `mark-${kind}`, title: oneLine(item.message ?? item.what ?? item.prompt ?? item.line ?? kind, 100) },
          MARKS[kind][0],
        );
        mark.style.left = `${(100 * position) / this.total}%`;
        this.marks.append(mark);
      }
  }

  #failed(failed) {
    this.#set(false);
    if (!("status" in failed)) reportError(failed);
    fill(this.told, trouble(failed));
  }
}

// The page of a session: its parts side by side, what is loaded of it, and what happens in it now.
import { asking, at } from "./api.js";
import { Asks } from "./asks.js";
import { Deeds } from "./deeds.js";
import { button, el, fill, trouble } from "./dom.js";
import { filters, Finder } from "./finding.js";
import { Heading } from "./heading.js";
import { sessionKeys } from "./keys.js";
import { Outline } from "./outline.js";
import { Panels } from "./panels.js";
import { Prompt } from "./prompt.js";
import { Reading } from "./reading.js";
import { firstBelow } from "./scroll.js";
import { Windows } from "./windows.js";

const AHEAD = 1500; // pixels from an end at which more is loaded
const AT_ONCE = 6; // windows that are loaded without being asked for again
const PAUSE = 1000; // milliseconds between two readings of what it did
const root = document.scrollingElement;

export class SessionView {
  constructor(app, { id, run, seq }) {
    Object.assign(this, { app, id, wanted: run && { run, seq }, title: "Session", pause: PAUSE, due: Infinity });
    this.heading = new Heading(app, () => this.#read());
    this.asks = new Asks(app, { answerable: () => this.live?.answerable ?? false });
    this.prompt = new Prompt(app, id, {
      resumed: (run) => app.go(`#/session/${run}`),
      changed: () => this.#try(() => this.#read()),
    });
    this.outline = new Outline();
    this.deeds = new Deeds(app);
    this.panels = new Panels({ Turns: this.outline.element, "What it did": this.deeds.element });
    this.earlier = button("Older events", () => this.#pull("before", 1), { class: "edge", hidden: true });
    this.later = button("Newer events", () => this.#pull("after", 1), { class: "edge", hidden: true });
    this.follow = button("", () => this.#follow(), { class: "follow", title: "Go to the end and stay there (f)" });
    this.note = el("p.note", { role: "status" }, "Reading …");
    this.place = el("div.transcript");
    this.dock = el("div.dock", this.follow, this.asks.element, this.prompt.element);
    this.tools = el("div.tools");
    const middle = el(
      "main.middle",
      this.heading.element,
      this.tools,
      this.earlier,
      this.place,
      this.later,
      this.note,
      this.dock,
    );
    this.element = el("div.session", this.panels.sides[0], middle, this.panels.sides[1]);
    this.asks.element.hidden = true;
    this.keys = sessionKeys(this);
    this.heard = {
      events: (data) => this.#events(data),
      asks: (data) => this.#asks(data),
      ended: () => this.#over(),
      unknown: () => this.#over(),
    };
  }

  /** What it is at, while it runs. */
  get live() {
    const live = this.row?.live;
    return live?.state === "ended" ? null : live;
  }

  async start() {
    this.stop = this.app.live.listen(() => this.#board());
    await this.#try(
      () => this.#begin(),
      () => this.app.reopen(),
    );
  }

  async #begin() {
    await this.#read();
    this.#lay();
    if (this.wanted && this.windows.runs.includes(this.wanted.run)) await this.#jump(this.wanted);
    else await this.#newest();
    if (this.closed) return;
    if (!this.joined) this.#watch(this.about.next); // what waits for somebody does so wherever the reader is
    this.#deedsSoon(0);
  }

  close() {
    this.closed = true;
    this.stop?.();
    this.reading?.close();
    clearTimeout(this.timer);
    if (this.run) this.app.feed.watch();
  }

  /** Go to another place of the same session; false if it is of another one. */
  go({ id, run, seq }) {
    if (id !== this.id || !this.windows || (run && !this.windows.runs.includes(run))) return false;
    this.#try(() => (run ? this.#jump({ run, seq }) : this.#newest()));
    return true;
  }

  // --- what is known of it ------------------------------------------------------------------------------------------

  async #read() {
    const mine = (this.asked = {});
    const about = await this.app.api.get(at(this.id));
    if (this.closed || this.asked !== mine) return;
    const { session } = (this.about = about);
    this.row = this.app.live.ofSession(this.id) ?? session;
    this.#named(session);
    this.title = session.name || session.title || session.agent;
    this.app.entitle(this.title);
    this.#showState();
    if (!this.run) this.asks.update(about.asks); // of a run that is watched the feed tells
    // what was before a run is known once its agent has named the session
    if (this.windows && this.live && this.#shown.join() !== this.shown.join()) this.app.reopen();
  }

  /** What it did, again: not more often than the server can sum it up easily, unless something is over. */
  #deedsSoon(pause = this.pause) {
    const due = performance.now() + pause;
    if (this.due <= due) return;
    clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => this.app.feed.state === "ended" || this.#try(() => this.#readDeeds()), pause);
  }

  async #readDeeds() {
    const mine = (this.summing = {});
    const begun = performance.now();
    this.due = Infinity;
    const deeds = await this.app.api.get(at(this.id, "deeds"));
    this.pause = Math.max(PAUSE, 20 * (performance.now() - begun));
    if (this.closed || this.summing !== mine) return;
    this.outline.update(this.id, deeds.turns, this.#shown);
    this.deeds.update(this.id, deeds, this.about.session.cwd);
  }

  /** The runs that are its transcript. */
  get #shown() {
    return this.about.runs.filter((run) => run.shown).map(({ run }) => run);
  }

  #showState() {
    this.heading.update(this.about, this.live);
    this.follow.textContent = this.live ? "↓ Follow" : "↓ To the end";
    this.prompt.update(this.about, this.live);
    this.asks.update();
  }

  /** An agent may name a live session after it began, which gives it its id. */
  #named({ id }) {
    if (id === this.id) return;
    this.id = id;
    this.prompt.rename(id);
    if (!this.wanted) history.replaceState(null, "", `#/session/${id}`);
  }

  #board() {
    const row = this.app.live.ofSession(this.id) ?? this.app.live.ofRun(this.row?.live?.run);
    if (!row || row === this.row || !this.windows) return;
    if (!this.#shown.includes(row.live.run)) {
      if (row.live.state !== "ended") this.app.reopen(); // it was resumed
      return;
    }
    const known = this.row;
    this.row = row;
    this.#named(row);
    if (factsOf(row) !== factsOf(known)) this.#try(() => this.#read());
    else {
      this.heading.live(this.about.session, this.live);
      this.prompt.live(this.live);
    }
  }

  // --- what is shown of it ------------------------------------------------------------------------------------------

  #lay() {
    const shown = (this.shown = this.#shown);
    const known = this.about.runs.map(({ run }) => run);
    const asked = this.wanted?.run;
    const recording = this.about.runs.find((run) => run.shown && run.kind === "recording")?.run;
    const runs = asked && known.includes(asked) && !shown.includes(asked) ? [asked] : shown;
    // a live run that is over is told by its recording, under the same numbers
    if (asked && !known.includes(asked) && recording) this.wanted.run = recording;
    this.windows = new Windows((run, where) => this.app.api.get(at(this.id, "events"), { run, ...where }), runs);
    this.reading = new Reading(this.app, {
      session: () => this.id,
      runs,
      cwd: this.about.session.cwd,
      dock: this.dock,
      moved: () => this.#moved(),
      whole: () => this.windows.atEnd,
      failed: (error) => this.#failed(error),
    });
    fill(this.place, this.reading.element);
    this.finder = new Finder(this.reading, (text) => ({
      all: !this.windows.older && !this.windows.newer,
      search: asking("#/search", { text, session: this.id }),
    }));
    this.fold = button("Unfold all", () => this.#foldAll(), { class: "small" });
    fill(this.tools, this.panels.buttons, filters(this.reading.sheet), this.finder.element, this.fold);
  }

  /** Nothing is loaded, and what is said now is not shown, until there is something before it. */
  #empty() {
    this.joined = false;
    this.reading.empty();
  }

  async #newest() {
    this.#empty();
    if (!this.windows.runs.length) return void fill(this.note, "Nothing was said yet.");
    if (!(await this.#take(this.windows.newest()))) return;
    await this.#join();
    this.reading.reader.follow();
    await this.#pull("before", AT_ONCE, () => root.scrollHeight < innerHeight * 2);
    fill(this.note, this.reading.model.blocks.size ? "" : "Nothing was said yet.");
    this.reading.reader.toEnd();
  }

  /** With a live run, hear what it says from now on: all that it said before is loaded first. */
  async #join() {
    const run = this.live?.run;
    if (!run || !this.windows.runs.includes(run)) return;
    const { open, next } = await this.app.api.get(at(this.id));
    while (!this.windows.has(run, next)) {
      const { run: index, seq } = this.windows.last;
      if (!(await this.#take(this.windows.after(true)))) return;
      if (this.windows.last.run === index && this.windows.last.seq === seq) break; // there is nothing more
    }
    if (this.closed) return;
    this.reading.resume(run, open, next);
    this.joined = true;
    this.#watch(next);
  }

  /** Hear what the live run says after an event, and what it asks. */
  #watch(next) {
    this.run = this.live?.run;
    if (this.run) this.app.feed.watch(new Map([[this.run, next]]));
  }

  async #jump({ run, seq }) {
    if (!this.windows.has(run, seq)) {
      this.#empty();
      if (!(await this.#take(this.windows.around(run, seq)))) return;
      if (this.windows.atEnd) await this.#join();
    }
    fill(this.note, this.reading.go(run, seq) ? "" : "Nothing is shown of that event.");
  }

  /** Take in the events of a window; false if there were none. */
  async #take(window) {
    const found = await window;
    if (!found || this.closed) return false;
    this.reading.take(found.run, found.events);
    this.earlier.hidden = !this.windows.older;
    this.later.hidden = !this.windows.newer;
    return true;
  }

  /** Load windows before or after what is there, while `wanted()` and there are any. */
  async #pull(where, most, wanted = () => true) {
    if (this.pulling) return;
    this.pulling = true;
    try {
      let left = most;
      while (left-- > 0 && wanted() && (await this.#take(this.windows[where]())));
      if (where === "after" && this.windows.atEnd && !this.joined) await this.#join();
    } catch (failed) {
      this.#failed(failed, () => this.#pull(where, most, wanted));
    } finally {
      this.pulling = false;
    }
  }

  #moved() {
    const { reader, sheet } = this.reading;
    this.follow.hidden = reader.following || (this.windows.atEnd && reader.atEnd);
    const article = firstBelow(sheet.articles, 120);
    if (article) this.outline.mark(article.turn.id);
    const above = () => root.scrollTop < AHEAD && !reader.following;
    const below = () => root.scrollHeight - root.clientHeight - root.scrollTop < AHEAD;
    if (this.windows.older && above()) this.#pull("before", AT_ONCE, above);
    else if (this.windows.newer && below()) this.#pull("after", AT_ONCE, below);
  }

  #follow() {
    if (this.windows.newer) return this.#try(() => this.#newest());
    return this.reading.reader.follow();
  }

  #foldAll() {
    this.unfolded = !this.unfolded;
    this.fold.textContent = this.unfolded ? "Fold all" : "Unfold all";
    this.reading.foldAll(this.unfolded);
  }

  // --- what happens now ---------------------------------------------------------------------------------------------

  hear(event, data) {
    if (data.run !== this.run) return;
    this.heard[event]?.(data);
  }

  #events({ run, events }) {
    this.asks.hear(run, events);
    this.prompt.hear(events);
    if (this.joined) {
      this.reading.take(run, events, { later: true });
      this.windows.last.seq = Math.max(this.windows.last.seq, events.at(-1)?.seq ?? 0);
      fill(this.note);
    }
    if (events.some(({ type }) => type === "turn.ended" || type === "run.ended")) {
      this.#deedsSoon(0);
      this.#try(() => this.#read());
    } else if (events.some(({ type }) => type !== "delta")) this.#deedsSoon();
  }

  /** All that waits. It is told anew whenever the feed is opened again, so something may have happened unheard. */
  #asks({ asks }) {
    this.asks.update(asks);
    this.#deedsSoon();
  }

  async #over() {
    this.run = null;
    this.joined = false;
    this.#tell("This run is over and kept. ");
    this.#deedsSoon(0);
    await this.#try(() => this.#read());
  }

  async #try(work, again = () => this.#try(work)) {
    try {
      await work();
    } catch (failed) {
      this.#failed(failed, again);
    }
  }

  /** What nobody answers to is done `again` when there is a connection; that there is none, the top says. */
  #failed(failed, again) {
    if (!("status" in failed)) reportError(failed);
    const unanswered = failed.kind === "connection";
    if (!unanswered || !this.reading?.model.blocks.size) this.#tell(trouble(failed), " ");
    if (unanswered && again) this.#later(again);
  }

  #later(work) {
    setTimeout(() => {
      if (this.closed) return;
      if (this.app.feed.state === "connected") work();
      else this.#later(work);
    }, PAUSE);
  }

  #tell(...words) {
    if (!this.closed)
      fill(
        this.note,
        words,
        button("Read it anew", () => this.app.reopen(), { class: "inline" }),
      );
  }
}

/** What of a live session's row is told elsewhere on its page too, so that all of it is read again when that changes. */
function factsOf({ id, title, model, live: { state, asks, ...more } = {} }) {
  return JSON.stringify([id, title, model, state === "ended", more]);
}

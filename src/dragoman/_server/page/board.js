// The list of sessions: what waits for somebody, what runs, and all that the library has, with one box to find in it.
import { asking, at } from "./api.js";
import { Asks } from "./asks.js";
import { button, el, fill, inOrder, link, optionsOf, searchBox, select, soon, trouble } from "./dom.js";
import { rowOf, titleOf } from "./rows.js";
import { plural } from "./times.js";

const PAGE = 50;
const MOST = 1000; // rows that the server gives at once
const RANKS = { waiting: 0, working: 1, starting: 1, idle: 2, ended: 3 };

export class BoardView {
  title = "Sessions";

  constructor(app, { query }) {
    this.app = app;
    this.query = { text: query.get("text") ?? "", agent: query.get("agent") ?? "", folder: query.get("folder") ?? "" };
    this.hash = location.hash;
    this.rows = [];
    this.asks = new Asks(app, {
      after: async ({ session, run, event }) =>
        (await app.api.get(at(session, "events"), { run, after: event.seq })).events,
      answerable: (run) => app.live.ofRun(run)?.live.answerable ?? false,
      head: (ask) =>
        el(
          "p.foot",
          link(`#/session/${ask.session}`, titleOf(app.live.ofRun(ask.run) ?? { id: ask.session, agent: ask.agent })),
        ),
    });
    this.liveList = el("ul.rows");
    this.liveTitle = el("h2", "Running now");
    this.livePart = el("section", { "aria-label": "Running now" }, this.liveTitle, this.liveList);
    this.list = el("ul.rows");
    this.count = el("p.foot", { role: "status" });
    this.more = button("Show more", () => this.#load(), { hidden: true });
    this.element = el(
      "main.board",
      el("h1.away", "Sessions"),
      this.#search(),
      this.asks.element,
      this.livePart,
      el("section", { "aria-label": "Kept sessions" }, el("h2", "Kept"), this.count, this.list, this.more),
    );
    this.asks.element.hidden = true;
    this.redraw = soon(() => this.#drawLive());
    this.keys = {
      "/": () => this.input.focus(),
      j: () => this.#step(1),
      k: () => this.#step(-1),
      g: () => this.asks.focus(),
    };
  }

  async start() {
    this.stop = this.app.live.listen(({ rows, gone, stored }) => {
      this.redraw();
      if ((gone.length || stored !== this.stored) && this.stored !== undefined) this.#again();
      this.stored = stored;
      if (rows.length || gone.length) this.#readAsks();
    });
    this.seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.#load(), {
      rootMargin: "600px",
    });
    this.seen.observe(this.more);
    this.#drawLive();
    this.#readAsks();
    const left = this.app.boardLeft;
    const here = left?.hash === location.hash;
    await this.#load(true, here ? Math.min(MOST, left.rows) : PAGE);
    if (here) scrollTo(0, left.top);
  }

  close() {
    // whoever comes back finds the list as it was
    this.app.boardLeft = { hash: this.hash, rows: Math.max(PAGE, this.rows.length), top: scrollY };
    this.stop();
    clearTimeout(this.typing);
    clearTimeout(this.waiting);
    this.seen.disconnect();
  }

  #search() {
    const { query } = this;
    const changed = (name) => (value) => {
      query[name] = value.trim();
      clearTimeout(this.typing);
      this.typing = setTimeout(() => {
        history.replaceState(null, "", asking("#/", query));
        this.hash = location.hash;
        this.#drawLive();
        this.#load(true);
      }, 150);
    };
    const submit = (event) => {
      event.preventDefault();
      clearTimeout(this.typing);
      if (query.text) this.app.go(asking("#/search", query));
    };
    const box = (label, name, props) =>
      searchBox(label, query[name], { ...props, on: { input: (event) => changed(name)(event.target.value) } });
    this.input = box("Filter sessions by text; Enter searches in all that was said", "text", {
      placeholder: "Filter sessions; Enter searches in all that was said  /",
    });
    const folder = box("Folder", "folder", { class: "folder", placeholder: "Folder" });
    this.agent = select("Agent", [["", "all agents"]], "", changed("agent"));
    this.#offer([query.agent]);
    this.agent.value = query.agent;
    this.app.agents().then(
      ({ agents }) => this.#offer(agents.filter(({ installed }) => installed).map(({ name }) => name)),
      () => null,
    );
    const search = el("button", { is: { type: "submit" }, title: "Search in all that was said" }, "Search");
    return el("form.search", { role: "search", on: { submit } }, this.input, this.agent, folder, search);
  }

  /** Agents that can be chosen: those that are here, and those of which there are sessions. */
  #offer(names) {
    const known = new Set([...this.agent.options].map(({ value }) => value));
    const others = [...new Set(names)].filter((name) => !known.has(name));
    this.agent.append(...optionsOf(others.map((name) => [name, name])));
  }

  #drawLive() {
    const { text, agent, folder } = this.query;
    const wanted = (row) =>
      row.live.state !== "ended" &&
      (!agent || row.agent === agent) &&
      (!folder || row.cwd?.startsWith(folder)) &&
      (!text || `${row.title} ${row.prompt ?? ""}`.toLowerCase().includes(text.toLowerCase()));
    const rows = this.app.live.rows.filter(wanted);
    rows.sort((a, b) => RANKS[a.live.state] - RANKS[b.live.state] || (b.created ?? 0) - (a.created ?? 0));
    this.livePart.hidden = !rows.length;
    fill(this.liveTitle, `Running now `, el("small", rows.length));
    this.liveDrawn ??= new Map();
    const kept = new Map();
    const items = rows.map((row) => {
      const words = JSON.stringify([row, Math.floor(Date.now() / 60_000)]);
      const known = this.liveDrawn.get(row.live.run);
      const item = known?.item ?? el("li");
      if (known?.words !== words) fill(item, rowOf(row));
      kept.set(row.live.run, { item, words });
      return item;
    });
    this.liveDrawn = kept;
    inOrder(this.liveList, items);
    this.running = new Set(rows.map(({ id }) => id));
    this.#leaveOut();
  }

  /** What stands above is no second time among what is kept. */
  #leaveOut() {
    for (const item of this.list.children) item.hidden = this.running.has(item.firstElementChild.dataset.id);
  }

  /** Cards of all that waits, wherever it does. */
  async #readAsks() {
    const waiting = this.app.live.rows.filter((row) => row.live.asks > 0);
    const mark = JSON.stringify(waiting.map((row) => [row.live.run, row.live.asks, row.turns, row.tools]));
    if (mark === this.asksMark) return;
    this.asksMark = mark;
    try {
      const abouts = await Promise.all(waiting.map((row) => this.app.api.get(at(row.id))));
      if (mark === this.asksMark) this.asks.update(abouts.flatMap(({ asks }) => asks));
    } catch {
      this.asksMark = null; // asked again with the next change
    }
  }

  /** The list again, as far as it was read. */
  #again() {
    clearTimeout(this.waiting);
    const read = Math.min(MOST, Math.max(PAGE, this.rows.length));
    this.waiting = setTimeout(() => this.app.feed.state === "ended" || this.#load(true, read), 500);
  }

  async #load(anew = false, limit = PAGE) {
    if (this.loading && !anew) return;
    const mine = (this.loading = {});
    try {
      const offset = anew ? 0 : this.rows.length;
      const { sessions, total, unread } = await this.app.api.get("/api/sessions", { ...this.query, limit, offset });
      if (this.loading !== mine) return;
      this.rows = anew ? sessions : [...this.rows, ...sessions];
      this.#offer(sessions.map(({ agent }) => agent));
      const items = sessions.map((row) => el("li", rowOf(row)));
      if (anew) fill(this.list, items);
      else this.list.append(...items);
      this.#leaveOut();
      this.more.hidden = this.rows.length >= total;
      fill(this.count, this.#words(total, unread));
    } catch (failed) {
      this.stored = null; // asked again with the next change
      fill(this.count, trouble(failed));
    } finally {
      if (this.loading === mine) this.loading = null;
    }
  }

  #words(total, unread) {
    const { text } = this.query;
    const found = Object.values(this.query).some(Boolean);
    return [
      found ? `${plural(total, "session")} found. ` : plural(total, "session"),
      text ? link(asking("#/search", { text }), `Search for “${text}” in all that was said`) : null,
      unread ? `, ${plural(unread, "file")} not read yet` : null,
    ];
  }

  #step(by) {
    const rows = [...this.element.querySelectorAll("li:not([hidden]) > .row")];
    const index = rows.indexOf(document.activeElement);
    rows.at(index < 0 ? (by > 0 ? 0 : -1) : Math.min(rows.length - 1, Math.max(0, index + by)))?.focus();
  }
}

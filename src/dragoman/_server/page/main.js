// The page begins here: who it is, the one feed of the tab, and which view its address asks for.
import { Api, answerOtherTabs, askOtherTab } from "./api.js";
import { BoardView } from "./board.js";
import { copyButton, dialog } from "./dialogs.js";
import { button, el, fill, link } from "./dom.js";
import { Feed } from "./feed.js";
import { closeDrops, listen, showKeys } from "./keys.js";
import { LiveRows } from "./live.js";
import { openingDialog } from "./opening.js";
import { ReplayView } from "./replay.js";
import { SearchView } from "./search.js";
import { SessionView } from "./session.js";
import { escaped } from "./shown.js";
import { plural } from "./times.js";
import { UsageView } from "./usage.js";

const ROUTES = [
  [/^session\/([^/]+)(?:\/([^/]+)\/(\d+))?$/, SessionView, (id, run, seq) => ({ id, run, seq: Number(seq) })],
  [/^replay\/([^/]+)$/, ReplayView, (id) => ({ id })],
  [/^search$/, SearchView, () => ({})],
  [/^usage$/, UsageView, () => ({})],
  [/^$/, BoardView, () => ({})],
];
const HOW_TO_ENTER =
  " in a terminal and open the link that it prints. Each link works once, for one tab; an open page makes more of them with ⇄.";
const THEMES = { "": ["◐", "as the system"], light: ["☀", "light"], dark: ["☾", "dark"] };

class App {
  constructor() {
    this.api = new Api((failed) => this.#denied(failed));
    this.live = new LiveRows();
    this.feed = new Feed({
      open: (cursor, signal) =>
        this.api.open("/api/stream", { headers: cursor ? { "Last-Event-ID": cursor } : {}, signal }),
      hear: (event, data) => (event === "board" ? this.live.hear(data) : this.view?.hear?.(event, data)),
      status: (state) => this.#connection(state),
    });
    this.place = el("div.view");
    this.status = el("p.away", { role: "status", "aria-live": "polite" });
    this.connection = el("span.connection", { role: "status" });
    this.waiting = el("span.waiting");
  }

  async start() {
    document.body.append(this.place, this.status);
    const [, link, place = "/"] = /^#t=([^/]+)(\/.+)?$/.exec(location.hash) ?? [];
    try {
      if (link) history.replaceState(null, "", `#${place}`);
      if (link) await this.api.enter(link);
      else if (!this.api.token) await askOtherTab(this.api);
      if (!this.api.token) return this.#denied({ message: "This page was opened without a link." });
      this.me = await this.api.get("/api/me");
    } catch (failed) {
      return this.#denied(failed);
    }
    answerOtherTabs(this.api);
    document.body.prepend(this.#top());
    addEventListener("hashchange", () => this.#route());
    for (const event of ["online", "focus"]) addEventListener(event, () => this.feed.wake());
    document.addEventListener("visibilitychange", () => document.hidden || this.feed.wake());
    addEventListener("click", (event) => this.#clicked(event.target));
    this.live.listen(() => this.#countAsks());
    listen(() => ({ ...this.#keys(), ...this.view?.keys }));
    this.feed.start();
    return this.#route();
  }

  #keys() {
    return { "?": showKeys, c: () => this.begin(), u: () => this.go("#/usage"), Escape: () => this.go("#/") };
  }

  // --- where it is --------------------------------------------------------------------------------------------------

  go(hash) {
    if (location.hash === hash) this.reopen();
    else location.hash = hash;
  }

  /** The view of this address, from nothing. */
  reopen() {
    this.view?.close?.();
    this.view = null;
    this.#route();
  }

  #route() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const [, View, read, found] = ROUTES.map((route) => [...route, route[0].exec(path)]).find(
      ([, , , match]) => match,
    ) ?? [null, BoardView, () => ({}), []];
    const route = {
      ...read(...found.slice(1).map((part) => part && decodeURIComponent(part))),
      query: new URLSearchParams(query),
    };
    if (this.view instanceof View && this.view.go?.(route)) return;
    this.view?.close?.();
    this.view = new View(this, route);
    fill(this.place, this.view.element);
    this.entitle(this.view.title);
    for (const each of this.top.querySelectorAll("nav a"))
      each.toggleAttribute("aria-current", each.hash === `#/${path}`);
    scrollTo(0, 0);
    this.view.start?.();
  }

  #clicked(target) {
    closeDrops(target);
    const { hash } = target.closest("a") ?? {};
    if (hash === "#/") this.boardLeft = null;
    if (hash && hash === location.hash) this.#route(); // the browser sees no change, the reader may want to go there again
  }

  /** What this page is called; before it stands how much waits for somebody. */
  entitle(words = this.words) {
    this.words = words;
    document.title = `${this.asked ? `◆ ${this.asked} · ` : ""}${escaped(words.slice(0, 80))} · Dragoman`;
  }

  #countAsks() {
    this.asked = this.live.rows.reduce((sum, row) => sum + row.live.asks, 0);
    fill(this.waiting, this.asked ? ` ◆ ${this.asked}` : null);
    this.waiting.title = this.asked ? `${plural(this.asked, "answer")} waited for` : "";
    this.entitle();
  }

  // --- what views use -----------------------------------------------------------------------------------------------

  /** Tell whoever does not see the page. */
  say(words) {
    fill(this.status, words);
  }

  /** What a new session can be begun with; asked for once. */
  agents() {
    return (this.known ??= this.api
      .get("/api/agents")
      .catch((failed) => ((this.known = null), Promise.reject(failed))));
  }

  begin() {
    if (!this.me.read_only) openingDialog(this);
  }

  /** Wait for a call; say why if it fails. */
  async attempt(call) {
    try {
      return await call;
    } catch (failed) {
      dialog("That did not work", el("p", failed.message));
      return null;
    }
  }

  // --- the top ------------------------------------------------------------------------------------------------------

  #top() {
    const icon = (mark, words, pressed) => button(mark, pressed, { class: "icon", "aria-label": words, title: words });
    this.theme = icon("", "Colours", () => this.#theme(true));
    const begin = { class: "main", "aria-label": "New session" };
    const seen = `Others see you as ${this.me.name}; Dragoman ${this.me.version}`;
    const who = this.me.read_only ? `${this.me.name}, watching only` : this.me.name;
    this.top = el(
      "header.top",
      link("#/", "Dragoman", { class: "brand" }),
      el("nav", { "aria-label": "Page" }, link("#/", ["Sessions", this.waiting]), link("#/usage", "Usage")),
      this.connection,
      el("span.who", { title: seen }, `${who} on ${this.me.host}`),
      !this.me.read_only && button(["New", el("span.long", " session")], () => this.begin(), begin),
      icon("⇄", "Open on another device", () => this.#another()),
      this.theme,
      icon("?", "Keys", showKeys),
    );
    this.#theme();
    return this.top;
  }

  #theme(next = false) {
    const names = Object.keys(THEMES);
    const at = names.indexOf(localStorage.getItem("dragoman.theme") ?? "");
    const name = names[(Math.max(0, at) + (next ? 1 : 0)) % names.length];
    localStorage.setItem("dragoman.theme", name);
    document.documentElement.dataset.theme = name;
    const [mark, words] = THEMES[name];
    fill(this.theme, mark);
    this.theme.title = `Colours: ${words}`;
    this.theme.setAttribute("aria-label", `Colours: ${words}`);
  }

  async #another() {
    const made = await this.attempt(this.api.post("/api/links"));
    if (!made) return;
    const once = `This link works once${this.me.read_only ? ", and only lets watch" : ""}.`;
    dialog(
      "Open it on another device",
      el("p", `${once} The other device must be able to reach this address.`),
      el("p", el("code", made.url), " ", copyButton(this, made.url)),
    );
  }

  #connection(state) {
    clearTimeout(this.late);
    const again = button("Try again", () => this.feed.start(), { class: "inline" });
    const words = ["The server has ended. What is here stays as it was. ", again];
    fill(this.connection, state === "ended" ? words : null);
    if (state === "lost") this.late = setTimeout(() => fill(this.connection, "reconnecting …"), 600);
  }

  #denied(failed) {
    this.feed.stop();
    clearTimeout(this.late);
    this.top?.remove();
    fill(this.status);
    this.api.forget();
    this.view?.close?.();
    this.view = null;
    const help = ["Run ", el("code", "dragoman web"), HOW_TO_ENTER];
    const why = [el("h1", "This page needs a link of its own"), el("p", failed.message), el("p", help)];
    fill(this.place, el("main.denied", why));
  }
}

new App().start();

// The head of a session: what it is, what it is at, and what can be done with it as a whole.
import { at } from "./api.js";
import { outcome } from "./blocks.js";
import { askLine, copyButton } from "./dialogs.js";
import { button, el, factsOf, fill, folded, link, listOf } from "./dom.js";
import { pinOf, rowOf, stateOf, titleOf } from "./rows.js";
import { cost, counted, moment, plural } from "./times.js";

const FORMATS = { html: "One page (HTML)", md: "Text (Markdown)", jsonl: "Events (JSON lines)" };

export class Heading {
  /** `changed()` is called after something of the session was changed here. */
  constructor(app, changed) {
    this.app = app;
    this.changed = changed;
    this.title = el("h1");
    this.state = el("p.state-line");
    this.facts = el("div.facts");
    this.deeds = el("div.actions");
    this.element = el("header.session-head", this.title, this.state, this.facts, this.deeds);
  }

  update(about, live) {
    const { session } = about;
    fill(this.title, pinOf(session), titleOf(session));
    this.live(session, live);
    const facts = [
      ["Agent", [session.agent, session.cli_version && ` ${session.cli_version}`]],
      ["Model", about.model ?? session.model],
      ["Mode", about.mode],
      ["Approves", about.approve],
      ["Folder", session.cwd],
      ["Begun", moment(session.created)],
      ["Cost", !live && cost(session)],
      ["Tokens", !live && session.tokens > 0 && counted(session.tokens)],
    ];
    fill(this.facts, factsOf(facts, "dl.inline-facts"), this.#resume(about), related(about), tellings(about));
    fill(this.deeds, this.#actions(about));
  }

  /** What it is at, alone. */
  live(session, live) {
    fill(
      this.state,
      live ? stateOf(live) : session.outcome ? outcome(session.outcome) : "kept",
      live && !live.hosted && el("small", ` driven elsewhere${live.pid ? `, pid ${live.pid}` : ""}`),
    );
  }

  #resume({ resume }) {
    return resume && el("p.resume", el("code", resume), " ", copyButton(this.app, resume));
  }

  #actions({ session }) {
    const { api, me } = this.app;
    const label = (fields) => async () => {
      await this.app.attempt(api.post(at(session.id, "label"), fields));
      this.changed();
    };
    const rename = () =>
      askLine("What it is called", {
        value: session.name ?? session.title,
        words: "Keep this name",
        done: async (name) => (await api.post(at(session.id, "label"), { name }), this.changed()),
      });
    const exports = Object.entries(FORMATS).map(([format, words]) =>
      button(words, () => this.app.attempt(api.download(at(session.id, "export"), { format }, `session.${format}`)), {
        class: "small",
      }),
    );
    return [
      link(`#/replay/${session.id}`, "▶ Replay", { class: "as-button" }),
      folded("Export", el("div", exports), { class: "drop" }),
      !me.read_only && button(session.pinned ? "Unpin" : "Pin", label({ pinned: !session.pinned }), { class: "small" }),
      !me.read_only && button("Rename", rename, { class: "small" }),
    ];
  }
}

function related({ parent, children }) {
  const rows = [parent, ...children].filter(Boolean);
  return (
    rows.length > 0 &&
    folded(`Related sessions (${rows.length})`, listOf(rows.map(rowOf), "ul.rows"), { class: "quiet" })
  );
}

/** What tells the same once more. */
function tellings({ runs, session }) {
  const told = runs.map(({ run, kind, dialect, events, shown }) => [
    link(`#/session/${session.id}/${run}/1`, `${kind} (${dialect}), ${plural(events, "event")}`),
    shown && " — shown",
  ]);
  return runs.some((run) => !run.shown) && folded(`Told ${runs.length} times`, listOf(told), { class: "quiet" });
}

// Searching in all that was said: hits with what stands around them, each a link to its place.
import { asking } from "./api.js";
import { button, el, fill, link, searchBox, select, trouble } from "./dom.js";
import { ago, joined, moment } from "./times.js";

const ROLES = {
  "": "anywhere",
  user: "prompts",
  assistant: "answers",
  thinking: "thinking",
  input: "what tools were given",
  output: "what tools gave",
};
const FIELDS = ["agent", "folder", "tool", "path", "session"];

export class SearchView {
  title = "Search";

  constructor(app, { query }) {
    this.app = app;
    this.query = Object.fromEntries(["text", "role", ...FIELDS].map((name) => [name, query.get(name) ?? ""]));
    const box = (name, label, props) =>
      searchBox(label, this.query[name], {
        ...props,
        on: { input: (event) => (this.query[name] = event.target.value.trim()) },
      });
    this.input = box("text", "Search in all that was said");
    const role = select("Where", Object.entries(ROLES), this.query.role, (value) => (this.query.role = value));
    const submit = (event) => {
      event.preventDefault();
      app.go(asking("#/search", this.query));
    };
    const form = el(
      "form.search",
      { role: "search", on: { submit } },
      this.input,
      role,
      FIELDS.map((name) => box(name, name, { class: "folder", placeholder: name })),
      el("button.main", { is: { type: "submit" } }, "Search"),
    );
    this.status = el("p.foot", { role: "status" });
    this.list = el("ul.hits");
    this.more = button("Show more", () => this.#load(this.after), { hidden: true });
    this.element = el("main.board", el("h1.away", "Search"), form, this.status, this.list, this.more);
    this.keys = { "/": () => this.input.focus(), j: () => this.#step(1), k: () => this.#step(-1) };
  }

  start() {
    if (this.query.text) this.#load();
    else this.input.focus();
  }

  async #load(after) {
    fill(this.status, "Searching …");
    try {
      const { hits, more, problem } = await this.app.api.get("/api/search", { ...this.query, limit: 20, after });
      this.list.append(...hits.map((hit) => el("li", hitOf(hit))));
      this.after = more;
      this.more.hidden = !more;
      const count = this.list.children.length;
      const found = more ? `The first ${count} of more found` : `${count} found`;
      fill(this.status, problem ?? (count ? found : "Nothing was found."));
    } catch (failed) {
      fill(this.status, trouble(failed));
    }
  }

  #step(by) {
    const rows = [...this.list.querySelectorAll("a")];
    rows.at(Math.min(rows.length - 1, Math.max(0, rows.indexOf(document.activeElement) + by)))?.focus();
  }
}

function hitOf({ session, run, seq, turn, role, tool, path, at, snippet }) {
  const where = joined(session.agent, `turn ${turn}`, tool ?? role, path);
  return link(
    `#/session/${session.id}/${run}/${seq}`,
    [
      el("span.title", session.title || session.id),
      el("span.foot", where, at ? [" · ", el("time", { title: moment(at) }, ago(at))] : null),
      el(
        "span.snippet",
        snippet.map(({ text, match }) => (match ? el("mark", text) : text)),
      ),
    ],
    { class: "hit" },
  );
}

// What a session did: files, commands, permissions, errors, subagents; what it cost; how it ended.
import { at } from "./api.js";
import { by, outcome } from "./blocks.js";
import { diffOf, rowsOf, sums } from "./contents.js";
import { readDialog } from "./dialogs.js";
import { button, el, factsOf, fill, folded, link, listOf } from "./dom.js";
import { cost, counted, duration, joined, near, oneLine } from "./times.js";

const FIRST = 60; // rows that are shown before somebody asks for all

export class Deeds {
  #parts = new Map(); // by title: where it stands, what was drawn, and whether all of it is shown

  constructor(app) {
    this.app = app;
    this.totals = el("div");
    this.element = el("div.deeds", this.totals);
  }

  update(id, { more = {}, ...deeds }, cwd) {
    const to = (each, words) => link(`#/session/${id}/${each.run}/${each.seq}`, words);
    const code = (text, most) => el("code", oneLine(text, most));
    fill(this.totals, totals(deeds));
    const diff = () => button("Whole diff", () => this.#diff(id, cwd), { class: "small" });
    this.#part("Files", deeds.files, more.files, (file) => [to(file, pathOf(file.path, cwd)), fileWords(file)], diff);
    this.#part("Commands", deeds.commands, more.commands, (run) => [to(run, code(run.line, 120)), " ", ended(run)]);
    this.#part("Permissions", deeds.permissions, more.permissions, (asked) => [
      to(asked, code(asked.what || asked.tool, 100)),
      " ",
      verdict(asked),
    ]);
    this.#part("Errors", deeds.errors, more.errors, (error) => to(error, el("span.bad", oneLine(error.message, 200))));
    this.#part("Subagents", deeds.subagents, more.subagents, (sub) => [
      to(sub, oneLine(sub.description, 100) || "subagent"),
      ` ${sub.status ?? ""}`,
    ]);
  }

  /** Draw a part if it has changed, as it was folded. `beyond`: how many more there were than are listed. */
  #part(title, items = [], beyond = 0, row, head = () => null) {
    let part = this.#parts.get(title);
    if (!part) this.#parts.set(title, (part = { slot: el("div"), all: false }));
    const drawn = JSON.stringify([items, beyond]);
    if (part.drawn === drawn) return;
    part.drawn = drawn;
    if (!part.slot.parentNode) this.element.append(part.slot);
    const draw = () => {
      const shown = part.all ? items : items.slice(0, FIRST);
      const all = button(`Show all ${items.length}`, () => ((part.all = true), draw()), { class: "inline" });
      const body = [
        head(),
        listOf(shown.map(row)),
        shown.length < items.length && all,
        beyond > 0 && el("p.foot", `… and ${beyond.toLocaleString("en")} more`),
      ];
      const open = part.slot.querySelector("details")?.open ?? true;
      const summary = [title, el("small", ` ${items.length + beyond}`)];
      fill(part.slot, items.length ? folded(summary, body, { open, class: "part" }) : null);
    };
    draw();
  }

  #diff(id, cwd) {
    readDialog("All that it changed", async () => {
      const { files } = await this.app.api.get(at(id, "diff"));
      const diffs = (file) => file.diffs.map((text) => diffOf(rowsOf(text)));
      const open = files.length <= 20;
      return files.map((file) => folded(fileHead(file, cwd), diffs(file), { open, class: "change" }));
    });
  }
}

function totals({ usage, context, ended: end, ...spent }) {
  const of = (count, words) => (count ? `, ${counted(count)} of them ${words}` : "");
  const how = end && joined("", end.exit_code != null && `exit ${end.exit_code}`, end.signal, end.reason);
  return factsOf([
    ["Cost", cost(spent) || "–"],
    ["Tokens in", counted(usage.input_tokens) + of(usage.cache_read_tokens, "cached")],
    ["Tokens out", counted(usage.output_tokens) + of(usage.reasoning_tokens, "reasoning")],
    ["Context", context?.used != null && gauge(context)],
    ["Ended", end && [outcome(end.outcome), how && ` · ${how}`]],
  ]);
}

function pathOf(path, cwd) {
  return el("code", { title: path }, near(path, cwd));
}

function fileWords({ change, added, removed }) {
  return [change !== "modified" ? ` ${change} ` : " ", sums(added, removed)];
}

function fileHead({ path, moved_from: from, change, added, removed }, cwd) {
  return [from ? `${near(from, cwd)} → ` : null, el("code", near(path, cwd)), ` ${change} `, sums(added, removed)];
}

function ended({ status, exit_code: exit, duration_ms: took }) {
  const good = status === "completed" && !exit;
  const [mark, tone] = good ? ["✓", "foot"] : status === "running" ? ["…", "live"] : ["✗", "bad"];
  const how = exit != null ? `exit ${exit}` : status !== "completed" && status;
  return el("span", { class: tone }, `${mark} `, joined(how, took != null && duration(took / 1000)));
}

function verdict(answer) {
  const good = answer.outcome === "allowed";
  return el("span", { class: good ? "foot" : "bad" }, `${good ? "✓" : "✗"} ${answer.outcome}${by(answer)}`);
}

function gauge({ used, window }) {
  if (!window) return `${counted(used)} tokens`;
  const share = Math.min(1, used / window);
  const meter = el("meter", { min: 0, max: 1, high: 0.8, is: { value: share }, "aria-label": "Context in use" });
  return [meter, ` ${Math.round(share * 100)} % of ${counted(window)}`];
}

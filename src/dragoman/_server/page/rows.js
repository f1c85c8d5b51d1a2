// A session in a list, and what it is at: a shape and a word, so that nobody needs the colour.
import { outcome } from "./blocks.js";
import { sums } from "./contents.js";
import { el, link } from "./dom.js";
import { ago, cost, counted, moment, oneLine, plural } from "./times.js";

const STATES = {
  starting: ["◌", "starting"],
  working: ["●", "working"],
  waiting: ["◆", "waits for you"],
  idle: ["○", "idle"],
  ended: ["■", "ended"],
};

/** What a live session is at. */
export function stateOf(live) {
  const [shape, words] = STATES[live.state] ?? ["·", live.state];
  const asks = live.asks > 1 ? ` (${live.asks})` : "";
  return el(
    "span",
    { class: `state is-${live.state}` },
    el("span.shape", { "aria-hidden": "true" }, shape),
    ` ${words}${asks}`,
  );
}

export function titleOf(row) {
  return oneLine(row.name || row.title || row.prompt, 160) || `${row.agent} ${row.id.slice(0, 8)}`;
}

export function pinOf(row) {
  return row.pinned && el("span.pin", { role: "img", "aria-label": "Pinned" }, "★ ");
}

/** The row of a session, as a link to it. */
export function rowOf(row) {
  const { live } = row;
  const facts = [
    el("span.agent", row.agent),
    row.cwd && el("span.folder", { title: row.cwd }, row.cwd.split("/").slice(-2).join("/")),
    row.model && el("span.model", row.model),
    row.turns > 0 && el("span", plural(row.turns, "turn")),
    row.files > 0 && el("span", plural(row.files, "file"), " ", sums(row.added, row.removed)),
    row.errors > 0 && el("span.bad", plural(row.errors, "error")),
    row.tokens > 0 && el("span", `${counted(row.tokens)} tokens`),
    cost(row) && el("span", cost(row).replace("unknown", "cost unknown")),
    row.relation && el("span", row.relation),
    row.gone && el("span.odd", "gone from its agent"),
  ];
  const state = live ? stateOf(live) : row.outcome && outcome(row.outcome);
  return link(
    `#/session/${row.id}`,
    [
      el("span.title", pinOf(row), titleOf(row)),
      el("span.when", el("time", { title: moment(row.updated) }, ago(row.updated))),
      el("span.facts", facts),
      el("span.at", state),
    ],
    { class: "row", data: { id: row.id } },
  );
}

// Usage: what model calls came to, as a plot and as a table; what nobody knows the price of is said.
import { el, factsOf, fill, link, listOf, select, svg, trouble } from "./dom.js";
import { cost, counted, plural } from "./times.js";

const BY = ["day", "week", "month", "model", "project", "agent", "session"];
const SPANS = [
  ["7", "in the last 7 days"],
  ["30", "in the last 30 days"],
  ["90", "in the last 90 days"],
  ["365", "in the last year"],
  ["", "ever"],
];
const MEASURES = {
  cost: ["Cost", (row) => known(row), (row) => cost(row) || "–"],
  tokens: [
    "Tokens",
    (row) => row.input_tokens + row.output_tokens,
    (row) => counted(row.input_tokens + row.output_tokens),
  ],
  calls: ["Calls", (row) => row.calls, (row) => row.calls.toLocaleString("en")],
};
const MOST = 60; // bars
const PALE = "Pale: some of it is of unknown price, so it is the least that it can be. “?”: nothing of it is known.";

function known({ cost_usd: said, cost_estimated_usd: estimated }) {
  return said == null && estimated == null ? null : (said ?? 0) + (estimated ?? 0);
}

export class UsageView {
  title = "Usage";

  constructor(app, { query }) {
    this.app = app;
    this.query = {
      by: BY.includes(query.get("by")) ? query.get("by") : "day",
      days: query.get("days") ?? "30",
      agent: query.get("agent") ?? "",
    };
    this.measure = query.get("of") in MEASURES ? query.get("of") : "cost";
    this.body = el("div.report", el("p.foot", "Reading …"));
    this.element = el("main.usage", el("h1", "Usage"), this.#controls(), this.body);
  }

  async start() {
    const { by, days, agent } = this.query;
    const since = days ? Math.floor(Date.now() / 1000) - Number(days) * 86_400 : "";
    try {
      this.#show(await this.app.api.get("/api/usage", { by, since, agent }));
    } catch (failed) {
      fill(this.body, trouble(failed));
    }
  }

  #controls() {
    const chosen = (words, options, value, name) =>
      el(
        "label",
        `${words} `,
        select(words, options, value, (now) => this.#go({ [name]: now })),
      );
    const measures = Object.entries(MEASURES).map(([id, [words]]) => [id, words]);
    return el(
      "div.search",
      chosen(
        "By",
        BY.map((by) => [by, by]),
        this.query.by,
        "by",
      ),
      chosen("Plot", measures, this.measure, "of"),
      chosen("Calls", SPANS, this.query.days, "days"),
    );
  }

  #go(changed) {
    this.app.go(`#/usage?${new URLSearchParams({ ...this.query, of: this.measure, ...changed })}`);
  }

  #show({ totals, rows, unpriced, incomplete, prices_of: date }) {
    const [words, value, told] = MEASURES[this.measure];
    const shown = rows.slice(this.#byTime() ? -MOST : 0, this.#byTime() ? undefined : MOST);
    const bars = shown.map((row) => ({
      words: this.#short(row.key),
      value: value(row),
      told: told(row),
      title: `${row.key}: ${told(row)}`,
      unsure: this.measure === "cost" && row.unpriced_calls > 0,
    }));
    fill(
      this.body,
      factsOf(totalsOf(totals), "dl.totals"),
      rows.length ? plot(bars, `${words} by ${this.query.by}`) : el("p", "No calls in that time."),
      this.measure === "cost" && el("p.foot", PALE),
      rows.length > shown.length && el("p.foot", `The plot shows ${shown.length} of ${rows.length}; the table all.`),
      rows.length > 0 && this.#table(rows),
      listOf(notes(unpriced, incomplete, date), "ul.foot"),
    );
  }

  #byTime() {
    return ["day", "week", "month"].includes(this.query.by);
  }

  #short(key) {
    const last = this.query.by === "project" ? key.split("/").at(-1) : key;
    return last.length > 16 ? `${last.slice(0, 15)}…` : last;
  }

  #table(rows) {
    const columns = [
      [this.query.by, (row) => this.#key(row.key)],
      ["sessions", (row) => row.sessions],
      ["calls", (row) => row.calls],
      ["tokens in", (row) => counted(row.input_tokens)],
      ["cached", (row) => counted(row.cache_read_tokens)],
      ["tokens out", (row) => counted(row.output_tokens)],
      ["cost", (row) => cost(row) || "–"],
      ["price unknown", (row) => (row.unpriced_calls ? plural(row.unpriced_calls, "call") : "")],
    ];
    const head = el(
      "thead",
      el(
        "tr",
        columns.map(([name]) => el("th", { scope: "col" }, name)),
      ),
    );
    const line = (row) =>
      el(
        "tr",
        columns.map(([, text], index) => (index ? el("td", text(row)) : el("th", { scope: "row" }, text(row)))),
      );
    return el(
      "div.wide",
      { tabindex: 0, role: "group", "aria-label": "The same as a table" },
      el("table", head, el("tbody", rows.map(line))),
    );
  }

  #key(key) {
    if (this.query.by === "session") return link(`#/session/${key}`, key.slice(0, 8));
    if (this.query.by === "project") return link(`#/?${new URLSearchParams({ folder: key })}`, key);
    return key;
  }
}

function totalsOf(sums) {
  const cached = sums.input_tokens ? `${Math.round((100 * sums.cache_read_tokens) / sums.input_tokens)} %` : "–";
  return [
    ["Cost", cost(sums) || "–"],
    ["Tokens in", counted(sums.input_tokens)],
    ["of them cached", cached],
    ["Tokens out", counted(sums.output_tokens)],
    ["Calls", sums.calls.toLocaleString("en")],
    ["Sessions", sums.sessions.toLocaleString("en")],
  ];
}

function notes(unpriced = [], incomplete = [], date) {
  const unknown = ({ model, calls, why }) =>
    `${model ?? "Calls of an unknown model"}: price unknown, ${plural(calls, "call")}${why ? `; ${why}` : ""}`;
  const least = ({ agent, session, why }) => `${agent ?? session ?? "Some"}: at least; ${why}`;
  const dated = date ? [`Estimates (~) are by the prices of ${date}.`] : [];
  return [...unpriced.map(unknown), ...incomplete.map(least), ...dated];
}

// --- the plot: bars in SVG -------------------------------------------------------------------------------------------

const WIDTH = 900;
const HEIGHT = 150;
const GAP = 6;
const ABOVE = 16; // room for what the highest one is

/** `bars`: { words, value, title, told, unsure }. `unsure` is drawn pale: the value is the least that it can be. */
function plot(bars, label) {
  const most = Math.max(...bars.map(({ value }) => value ?? 0), 1e-9);
  const wide = Math.min(110, Math.max(22, WIDTH / bars.length - GAP));
  const turned = wide < 90; // there is no room for names side by side
  const drawn = bars.map((bar, index) =>
    drawBar(bar, GAP + index * (wide + GAP), wide, bar.value == null ? 0 : bar.value / most, turned),
  );
  const width = bars.length * (wide + GAP) + (turned ? 70 : GAP);
  const height = ABOVE + HEIGHT + (turned ? 84 : 20);
  const box = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, drawn);
  return el("div.plot", { tabindex: 0, role: "group", "aria-label": label }, box);
}

function drawBar({ words, value, title, told, unsure }, x, wide, share, turned) {
  const middle = x + wide / 2;
  const high = value == null ? 0 : Math.max(1, share * HEIGHT);
  const floor = ABOVE + HEIGHT;
  const name = turned
    ? { x: middle + 4, y: floor + 12, transform: `rotate(38 ${middle} ${floor + 12})` }
    : { class: "centred", x: middle, y: floor + 14 };
  return svg(
    "g",
    {},
    svg("title", {}, title),
    svg("rect", { class: "room", x, y: ABOVE, width: wide, height: HEIGHT }),
    svg("rect", { class: unsure ? "bar unsure" : "bar", x, y: floor - high, width: wide, height: high, rx: 2 }),
    value == null ? svg("text", { class: "centred unknown", x: middle, y: floor - 6 }, "?") : null,
    value != null && (share === 1 || !turned)
      ? svg("text", { class: "centred", x: middle, y: floor - high - 4 }, told)
      : null,
    svg("text", name, words),
  );
}

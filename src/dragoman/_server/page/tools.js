// Tool calls: one line with how it went, folded behind it what went in and what came out.
import { contents, cutNote } from "./contents.js";
import { el, fill, grow, verbatim } from "./dom.js";
import { duration, joined, oneLine } from "./times.js";

const MARKS = {
  running: ["…", "runs", "live"],
  completed: ["✓", "", "good"],
  failed: ["✗", "failed", "bad"],
  declined: ["⊘", "declined", "bad"],
  cancelled: ["⊘", "cancelled", "odd"],
  skipped: ["⊘", "skipped", "odd"],
  elsewhere: ["·", "it began before what is loaded, or is told elsewhere", ""],
  abandoned: ["?", "nobody knows how it ended", "odd"],
};

export function toolLabel(tool) {
  return `Tool ${tool.name ?? ""}`;
}

export function drawTool(tool, parts, at) {
  if (!parts.summary) {
    parts.summary = el("summary");
    parts.inner = el("div.inner");
    fill(parts.body, el("details.tool", parts.summary, parts.inner));
    parts.streams = { tool_input: {}, tool_output: {} };
  }
  fill(parts.summary, summary(tool));
  let anew = false;
  for (const [name, growing] of Object.entries(parts.streams)) if (tool[name]) anew = grow(growing, tool[name]) || anew;
  const { started, ended, output, content } = tool;
  const cut = [Boolean(started?.cut), Boolean(ended?.cut)];
  const state = [
    started?.seq,
    tool.stamps.input,
    ended?.status,
    output?.length,
    content?.length,
    tool.summary?.length,
    cut,
  ].join();
  if (!anew && parts.state === state) return;
  parts.state = state;
  fill(parts.inner, inside(tool, parts.streams, at));
}

function summary(tool) {
  const status = tool.ended?.status ?? (tool.started || tool.tool_input ? "running" : "elsewhere");
  const [mark, words, tone] = MARKS[status] ?? ["·", status, "odd"];
  const took = seconds(tool);
  const facts = joined(words, tool.exit != null && `exit ${tool.exit}`, duration(took));
  const name = tool.name == null ? "a call" : tool.server ? `${tool.server}: ${tool.name}` : tool.name;
  const title = tool.description ?? tool.title;
  return [
    el("span", { class: `mark ${tone}`, "aria-hidden": "true" }, mark),
    " ",
    el("b", name),
    " ",
    tool.who ? el("span.who", `${tool.who} `) : null,
    title ? el("code", oneLine(title)) : null,
    el("span", { class: `facts ${tone === "good" ? "" : tone}` }, facts && ` · ${facts}`),
  ];
}

function seconds({ started, ended }) {
  if (ended?.duration_ms != null) return ended.duration_ms / 1000;
  return started?.at != null && ended?.at != null ? ended.at - started.at : null;
}

function inside(tool, { tool_input: typed, tool_output: told }, at) {
  const { input, output, error, summary: said } = tool;
  return [
    input != null ? given(input) : typed.growing ? el("pre.growing", { tabindex: 0 }, typed.growing) : null,
    cutNote(tool.run, tool.started, at),
    output ? verbatim(output, { class: "output" }) : null,
    !output && told.growing ? el("pre.output.growing", { tabindex: 0 }, told.growing) : null,
    contents(tool.content),
    !output && error ? el("pre.bad", { tabindex: 0 }, error.message) : null,
    cutNote(tool.run, tool.ended, at),
    said && said !== output ? el("div.lines.quiet", said) : null,
  ];
}

/** What a tool is given: a field to a line, texts as they are. `letter`: to the letter, for what is approved. */
export function given(input, { letter = false } = {}) {
  if (input == null || typeof input !== "object" || Array.isArray(input)) return verbatim(written(input), { letter });
  const fields = Object.entries(input).map(([name, value]) => [
    el("dt", name),
    el("dd", verbatim(written(value), { letter })),
  ]);
  return fields.length ? el("dl.given", fields) : null;
}

function written(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

// How each block of a transcript looks, but for tools.
import { contents, cutNote, diffOf, rowsOf, sums, textOf } from "./contents.js";
import { el, fill, folded, grow, listOf, prose, verbatim } from "./dom.js";
import { lineOf } from "./lines.js";
import { drawTool, toolLabel } from "./tools.js";
import { cost, counted, duration, joined, near, oneLine } from "./times.js";

/** Draw a block anew into its `parts`, which are kept from one time to the next. */
export function draw(block, parts, at) {
  DRAW[block.type](block, parts, at);
}

/** What a block is, for whoever does not see it. */
export function label(block) {
  if (block.type === "tool") return toolLabel(block);
  return LABELS[block.kind === "thinking" ? "thinking" : block.type] ?? "Event";
}

const LABELS = {
  prompt: "Prompt",
  said: "Answer",
  thinking: "Thinking",
  fault: "Error",
  change: "Change",
  permission: "Permission",
  question: "Question",
  plan: "Plan",
  history: "History",
};

const DRAW = {
  prompt,
  said,
  fault,
  system,
  synthetic,
  tool: drawTool,
  change,
  permission,
  question,
  plan,
  host,
  line,
  history,
};

// --- what is said ---------------------------------------------------------------------------------------------------

function prompt({ run, message }, { body }, at) {
  fill(body, el("div.prompt", textOf(message), contents(message.blocks)), cutNote(run, message, at));
}

function said(block, parts, at) {
  if (block.stream) streaming(block, parts);
  else whole(block, parts, at);
}

function streaming(block, parts) {
  const open = parts.body.querySelector("details")?.open;
  if (grow(parts, block.stream)) fill(parts.body, framed(block, el("div.prose.growing", parts.growing), open));
}

function whole(block, parts, at) {
  parts.stream = null;
  const { message } = block;
  const open = parts.body.querySelector("details")?.open;
  const inner = message.nodes ? prose(message.nodes) : el("div.lines", textOf(message));
  const look = message.kind === "commentary" ? "div.prose.aside" : "div.prose";
  const live = el(look, inner, contents(message.blocks, message.text));
  fill(parts.body, framed(block, live, open), cutNote(block.run, message, at));
}

function framed(block, live, open) {
  if (block.kind === "thinking")
    return folded(block.stream ? "Thinking …" : "Thinking", live, { class: "thinking", open });
  return block.says === "plan" ? [el("p.foot", "Plan"), live] : live;
}

function fault({ message }, { body }) {
  fill(body, el("p.bad.lines", textOf(message)));
}

function system({ message }, { body }) {
  fill(body, folded("Said by the system", el("div.lines", textOf(message)), { class: "quiet" }));
}

function synthetic({ message }, { body }) {
  const words = textOf(message);
  const folds = words.length > 160 || words.includes("\n");
  const summary = "Written by the agent in the user's name";
  fill(body, folds ? folded(summary, el("div.lines", words), { class: "quiet" }) : el("p.foot", words));
}

// --- what was changed, planned, asked --------------------------------------------------------------------------------

function change({ run, change: event }, parts, at) {
  const where = [event.path, event.move_to].filter(Boolean).map((path) => near(path, at.cwd));
  const rows = event.rows ?? rowsOf(event.diff ?? "");
  const summary = [
    event.phase === "failed" && el("b.bad", "not applied: "),
    `${event.change === "modified" ? "changed" : event.change} `,
    el("code", where.join(" → ")),
    " ",
    (event.added > 0 || event.removed > 0) && sums(event.added, event.removed),
  ];
  const open = parts.body.querySelector("details")?.open ?? true;
  const inside = [rows.length > 0 && diffOf(rows), cutNote(run, event, at)];
  fill(parts.body, folded(summary, inside, { class: "change", open }));
}

const BOXES = { completed: ["☑", "done"], in_progress: ["▶", "now"], pending: ["☐", "to do"] };

function plan({ plan: event }, { body }) {
  const entries = (event.entries ?? []).map(({ text: words, status }) => {
    const [mark, meaning] = BOXES[status] ?? BOXES.pending;
    const box = el("span", { title: meaning, role: "img", "aria-label": meaning }, mark);
    return el("li", { class: `plan-${status ?? "pending"}` }, box, " ", words);
  });
  fill(body, el("p.foot", "Plan"), el("ul.plan", entries));
}

function permission({ asked, answer }, { body }) {
  const what = oneLine(asked?.title ?? asked?.tool_name ?? asked?.kind ?? "it");
  const good = answer?.outcome === "allowed";
  const outcome = answer
    ? [el("b", { class: good ? "good" : "bad" }, `${good ? "✓" : "✗"} ${answer.outcome}`), by(answer)]
    : el("b.odd", "◆ waits for an answer");
  const message = answer?.message ? [": ", el("q", answer.message)] : null;
  fill(body, el("p.foot.told", "May it: ", el("code", what), " — ", outcome, message));
}

const BY = { client: "a person or a handler", policy: "a rule", agent: "the agent itself", timeout: "nobody in time" };

/** Who answered something, and by which rule, as far as that is known. What is cancelled was answered by nobody. */
export function by({ outcome, by: whose, who, rule }) {
  const known = who ?? (outcome === "cancelled" ? null : BY[whose]);
  return `${known ? ` by ${known}` : ""}${rule ? ` (${rule})` : ""}`;
}

function question({ asked, answer }, { body }) {
  const words = asked?.message ?? asked?.questions?.map((each) => each.question ?? each).join(" ") ?? "A question";
  const given = answer?.answers && typeof answer.answers === "object" ? Object.entries(answer.answers) : [];
  const told = given.map(([name, value]) => [`${name}: `, el("b", spoken(value))]);
  const outcome = answer ? `${answer.action}${by(answer)}` : el("b.odd", "◆ waits for an answer");
  fill(body, el("p.foot.told", "Asked: ", words, " — ", outcome), listOf(told, "ul.answers"));
}

function spoken(value) {
  if (Array.isArray(value?.answers)) return value.answers.join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

function host({ called, answer }, { body }) {
  const { path, command, uri } = called?.params ?? {};
  const of = oneLine(path ?? command ?? uri ?? "");
  const facts = joined(answer?.error?.message, answer?.duration_ms != null && duration(answer.duration_ms / 1000));
  const summary = ["↔ ", called?.method ?? "host call", " ", of && el("code", of), " ", facts];
  const told = JSON.stringify({ params: called?.params, result: answer?.result }, null, 2);
  fill(body, folded(summary, verbatim(told), { class: "quiet" }));
}

function line({ event }, { body }, at) {
  const { words, tone = "", more } = lineOf(event, at);
  const head = el("span", { class: tone }, words);
  fill(body, more ? folded(head, more, { class: "quiet" }) : el("p.foot", head));
}

function history(block, { body }) {
  fill(body);
}

// --- the end of a turn -----------------------------------------------------------------------------------------------

const OUTCOMES = {
  completed: ["✓", "good"],
  failed: ["✗", "bad"],
  crashed: ["✗", "bad"],
  timeout: ["✗", "bad"],
  refused: ["⊘", "bad"],
  cancelled: ["⊘", "odd"],
  limited: ["◑", "odd"],
  truncated: ["◑", "odd"],
};

/** An outcome as a mark and a word. */
export function outcome(word) {
  const [mark, tone] = OUTCOMES[word] ?? ["·", ""];
  return el("span", { class: `outcome ${tone}` }, `${mark} ${word}`);
}

export function turnFoot({ outcome: word, reason, usage, duration_ms: took, error, errors = [], ...spent }) {
  const facts = joined(
    word !== "completed" && reason !== word && reason,
    usage?.input_tokens != null && `${counted(usage.input_tokens)} tokens in`,
    usage?.output_tokens != null && `${counted(usage.output_tokens)} out`,
    cost(spent),
    took != null && duration(took / 1000),
  );
  const said = [error?.message, ...errors].filter((each, index, all) => each && all.indexOf(each) === index);
  return [
    el("p.foot", outcome(word), facts && ` · ${facts}`),
    said.map((message) => el("pre.bad", { tabindex: 0 }, message)),
  ];
}

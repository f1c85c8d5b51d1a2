// What messages and results hold: texts, images, diffs, resources; and that something of it was cut.
import { button, el, folded, image, shown, verbatim } from "./dom.js";

/** The text of a message, also where it comes in blocks. */
export function textOf(message) {
  const blocks = (message.blocks ?? []).filter((block) => block.type === "text").map((block) => block.text);
  return (message.text ?? blocks.join("\n")).replace(/^\n+|\n+$/g, "");
}

/** What there is beside the text. Some agents tell the same thought as the text and again as a block. */
export function contents(blocks = [], text = "") {
  const told = (block) => block.type === "thinking" && text.includes((block.text ?? "").trim());
  return blocks.filter((block) => !told(block)).map((block) => (CONTENT[block.type] ?? other)(block));
}

const CONTENT = {
  text: () => null,
  thinking: (block) => folded("Thinking", verbatim(block.text ?? ""), { class: "thinking" }),
  image,
  diff: (block) => [
    block.path && el("p.foot", el("code", block.path)),
    block.patch ? diffOf(rowsOf(block.patch)) : null,
  ],
  terminal: (block) => block.output && verbatim(block.output),
  resource: (block) => folded(`Resource ${block.name ?? block.uri ?? ""}`, verbatim(block.text ?? "(binary)")),
  resource_link: (block) => el("p.foot", `${block.title ?? block.name ?? "Link"}: ${block.uri}`),
};

const other = (block) => verbatim(JSON.stringify(block, null, 2));

/** That texts of an event were cut, and a button for all of it. */
export function cutNote(run, event, at) {
  if (!event?.cut) return null;
  const lengths = Object.entries(event.cut).map(
    ([field, length]) => `${field} has ${length.toLocaleString("en")} characters`,
  );
  const all = button("Show all of it", () => at.whole(run, event.seq), { class: "inline" });
  return el("p.foot.odd", `Only the beginning is shown: ${lengths.join(", ")}. `, all);
}

// --- diffs: lines that came or went, told by their sign as well as by their colour -------------------------------------

const CLASSES = { "+": "plus", "-": "minus", "@": "hunk" };

/** Lines as [kind, text], kind one of "+", "-", " ", "@". `letter`: to the letter, for what is approved. */
export function diffOf(rows, { letter = false } = {}) {
  if (!rows.length) return el("p.foot", "No lines are told.");
  const lines = rows.map(([kind, text]) =>
    el("span", { class: CLASSES[kind] ?? "same" }, kind === "@" ? "" : `${kind} `, shown(text, letter), "\n"),
  );
  return el("pre.diff", { tabindex: 0 }, lines);
}

/** A unified diff as rows; what stands before its first hunk is left out. */
export function rowsOf(text) {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  const body = first < 0 ? [] : lines.slice(first);
  if (body.at(-1) === "") body.pop();
  return body.map((line) => (/^[-+ ]/.test(line) ? [line[0], line.slice(1)] : ["@", line]));
}

/** "+12 −3" */
export function sums(added, removed) {
  return [el("span.came", `+${added ?? 0}`), " ", el("span.went", `−${removed ?? 0}`)];
}

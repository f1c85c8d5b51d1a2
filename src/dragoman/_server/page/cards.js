// What stands on the card of something that waits: all of what is wanted, and all that can be answered.
import { diffOf, sums } from "./contents.js";
import { button, el, factsOf, fill, folded, shown, verbatim } from "./dom.js";
import { escaped } from "./shown.js";
import { near, plural } from "./times.js";
import { given } from "./tools.js";

/** What waits, in a few words. */
export function titleOf({ kind, agent, event, line }) {
  if (kind === "question") return `${agent} asks you`;
  if (line != null) return `${agent} wants to run a command`;
  return `${agent} wants to use ${event.tool_name ?? event.kind ?? "a tool"}`;
}

/** What is asked before the fields. */
export function questionText({ event, url }) {
  const leads = { href: /^https?:/i.test(url) && url, target: "_blank", rel: "noopener noreferrer" };
  return [
    event.message && el("p.lines", event.message),
    url && el("p", "It is answered at ", el("a", leads, shown(url, true))),
  ];
}

// --- what is wanted, all of it ---------------------------------------------------------------------------------------

/** What a permission is wanted for. */
export function wanted({ event, line, commands, paths = [], hosts = [], cwd, proposed = [], unasked }) {
  const exact = { letter: true };
  const told = line != null || proposed.length > 0;
  const input = event.input == null ? null : given(event.input, exact);
  const facts = [
    ["Why", event.reason],
    ["About", event.title !== line && event.title],
    ["In", cwd],
    ["Files", paths.join("\n")],
    ["Hosts", hosts.join("\n")],
    ["Kept out of", event.blocked_path],
    ["Note", unasked && "The agent did not ask by itself; every call is asked for."],
  ];
  const runs = (commands ?? []).map((words, index) => [index ? ", " : "", el("code", shown(words.join(" "), true))]);
  return [
    line != null && whole("Command", line),
    runs.length > 1 && el("p.foot", `It runs ${plural(runs.length, "command")}: `, runs),
    line != null && !commands && el("p.foot.odd", "Not all of this line is understood: read it yourself."),
    proposed.map((change) => proposal(change, cwd)),
    factsOf(facts.map(([name, text]) => [name, text && shown(text, true)])),
    input && told ? folded("The whole input", input, { class: "quiet" }) : input,
  ];
}

/** A text with nothing left out, and how long it is. */
function whole(name, text) {
  const lines = text.split("\n").length;
  return el(
    "figure",
    el("figcaption", `${name}, all of it: ${plural(lines, "line")}`),
    verbatim(text, { letter: true, class: "command" }),
  );
}

function proposal({ path, change, rows }, cwd) {
  const count = (sign) => rows.filter(([kind]) => kind === sign).length;
  const caption = [
    `${change} `,
    el("code", shown(near(path, cwd), true)),
    " ",
    sums(count("+"), count("-")),
    `, all of it: ${plural(rows.length, "line")}`,
  ];
  return el("figure", el("figcaption", caption), diffOf(rows, { letter: true }));
}

// --- what can be answered --------------------------------------------------------------------------------------------

/** The buttons of a permission; `send(answer, words)` sends what was chosen. */
export function choices({ choices: all, covers, rule_file: file, event }, send) {
  const reason = el("input.reason", {
    type: "text",
    "aria-label": "Reason for a no, told to the agent",
    placeholder: "Reason for a no (told to the agent)",
  });
  const editor = el("div.editor", { hidden: true });
  const pressed = (choice) => () => {
    if (choice.edits) return edit(editor, event.input, (input) => send({ choice: choice.key, input }, choice.label));
    const message = choice.reasons ? reason.value.trim() : "";
    send({ choice: choice.key, ...(message && { message }) }, choice.label);
  };
  const buttons = all.map((choice) =>
    button(
      [el("kbd", choice.key), " ", el("span", choice.label, choice.said && el("small", ` “${choice.said}”`))],
      pressed(choice),
      { class: choice.allows ? "allow" : "deny", data: { key: choice.key } },
    ),
  );
  const lasting = covers && [
    "An answer of yours that lasts would cover ",
    el("code", shown(covers, true)),
    file && [", as a rule kept in ", el("code", shown(file, true))],
    ".",
  ];
  return el(
    "div.answers",
    lasting && all.some((choice) => choice.lasts !== "once") && el("p.foot", lasting),
    el("div.choices", buttons),
    all.some((choice) => choice.reasons) && reason,
    editor,
  );
}

function edit(editor, input, send) {
  const area = el("textarea", {
    rows: 8,
    spellcheck: "false",
    "aria-label": "Input as JSON",
    is: { value: plainJson(input) },
  });
  const wrong = el("p.bad", { role: "status" });
  const use = button("Allow with this input", () => {
    let changed;
    try {
      changed = JSON.parse(area.value);
    } catch (error) {
      return fill(wrong, `This is no JSON: ${error.message}`);
    }
    if (changed === null || typeof changed !== "object" || Array.isArray(changed))
      return fill(wrong, "The input must be an object: { … }");
    send(changed);
  });
  fill(
    editor,
    area,
    wrong,
    use,
    button("Leave it as it is", () => (editor.hidden = true)),
  );
  editor.hidden = false;
  area.focus();
}

/** JSON in which every character is seen: others are written by their numbers, as JSON may. */
function plainJson(value) {
  const hidden = (char) => char !== "\n" && escaped(char, true) !== char;
  const number = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return [...JSON.stringify(value, null, 2)]
    .map((char) => (hidden(char) ? char.split("").map(number).join("") : char))
    .join("");
}

// Questions of an agent: options to choose from, free text, or a form by its JSON Schema.
import { button, el, fill } from "./dom.js";

let made = 0;

/** The fields and buttons of a question. `send(answer, words)` sends what was answered. */
export function questionForm(ask, send) {
  const decline = button("Decline", () => send({ declined: true }, "declined"), { class: "deny" });
  if (ask.mode === "url")
    return el(
      "div.choices",
      button("It is done there", () => send({ answers: {} }, "done"), { class: "allow" }),
      decline,
    );
  const fields = ask.questions?.length ? ask.questions.map(choose) : schemaFields(ask.schema);
  const wrong = el("p.bad", { role: "status" });
  const answer = () => {
    const missing = fields.find((field) => field.required && field.value() === undefined);
    if (missing) return fill(wrong, `“${missing.name}” has no answer yet.`);
    const given = fields.map((field) => [field.name, field.value()]).filter(([, value]) => value !== undefined);
    send({ answers: Object.fromEntries(given) }, "answered");
  };
  const buttons = [button("Send the answers", answer, { class: "allow" }), decline];
  return el(
    "div.answers",
    fields.map((field) => field.element),
    wrong,
    el("div.choices", buttons),
  );
}

/** A question with options, and room for another answer. */
function choose({ id, question, header, options = [], multi }) {
  const name = `question-${++made}`;
  const boxes = options.map(({ label }) => el("input", { type: multi ? "checkbox" : "radio", name, value: label }));
  const own = el("input", {
    type: "text",
    "aria-label": `Another answer to: ${question}`,
    placeholder: options.length ? "or in your own words" : "Your answer",
  });
  const rows = options.map(({ label, description }, index) =>
    el("label", boxes[index], el("span", label, description && el("small", ` ${description}`))),
  );
  const value = () => {
    const chosen = options.filter((_, index) => boxes[index].checked).map(({ label }) => label);
    if (own.value.trim()) chosen.splice(multi ? chosen.length : 0, multi ? 0 : 1, own.value.trim());
    return chosen.length ? chosen.join(", ") : undefined;
  };
  const legend = el("legend", header && el("small", `${header}: `), question);
  return { name: id ?? question, element: el("fieldset", legend, rows, own), value, required: true };
}

function schemaFields(schema) {
  const required = new Set(schema?.required ?? []);
  return Object.entries(schema?.properties ?? {}).map(([name, field]) =>
    schemaField(name, field ?? {}, required.has(name)),
  );
}

function schemaField(name, field, required) {
  const input = inputFor(field);
  const words = [
    field.title ?? name,
    required ? " (needed)" : "",
    field.description && el("small", ` ${field.description}`),
  ];
  const value = () => {
    if (field.type === "boolean") return input.checked;
    if (input.value === "") return undefined;
    return field.type === "integer" || field.type === "number" ? Number(input.value) : input.value;
  };
  return { name, element: el("label.field", el("span", words), input), value, required };
}

function inputFor({ enum: values, type, default: usual }) {
  if (Array.isArray(values))
    return el(
      "select",
      el("option", { value: "" }, "–"),
      values.map((value) => el("option", { is: { value } }, String(value))),
    );
  if (type === "boolean") return el("input", { type: "checkbox", checked: usual === true });
  const number = type === "integer" || type === "number";
  return el("input", { type: number ? "number" : "text", step: type === "integer" ? 1 : "any", value: usual });
}

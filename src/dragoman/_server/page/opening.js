// A new session: which agent, where, with which model, who approves what, and the first prompt.
import { readDialog } from "./dialogs.js";
import { el, fill, optionsOf, trouble } from "./dom.js";
import { joined } from "./times.js";

export async function openingDialog(app) {
  const shown = await readDialog("New session", async (dialog) => form(app, await app.agents(), () => dialog.close()));
  shown.querySelector("textarea")?.focus();
}

function form(app, { agents, approve, folders, usual }, close) {
  const agent = el("select", agents.map(agentOption));
  const model = el("input", { type: "text", list: "models", placeholder: "its own" });
  const models = el("datalist", { id: "models" });
  const folder = el("input", { type: "text", list: "folders", is: { value: folders[0] ?? "" } });
  const known = el("datalist", { id: "folders" }, optionsOf(folders.map((path) => [path])));
  const modes = approve.map((mode) => radio(mode, mode.id === (usual.approve ?? "ask")));
  const prompt = el("textarea", { rows: 4 });
  const wrong = el("p", { role: "status" });
  const start = el("button.main", { is: { type: "submit" } }, "Begin");
  const chosen = () => {
    const found = agents.find(({ name }) => name === agent.value);
    fill(models, optionsOf((found?.models ?? []).map(({ id, name }) => [id, name ?? id])));
    model.value = agent.value === usual.agent ? (usual.model ?? "") : "";
  };
  agent.value = usual.agent ?? agents[0]?.name ?? "";
  agent.addEventListener("change", chosen);
  chosen();
  const submit = async (event) => {
    event.preventDefault();
    start.disabled = true;
    fill(wrong, "");
    const said = {
      agent: agent.value,
      cwd: folder.value.trim(),
      model: model.value.trim(),
      prompt: prompt.value.trim(),
    };
    const mode = modes.find(({ input }) => input.checked)?.input.value;
    const given = Object.entries({ ...said, approve: mode }).filter(([, value]) => value);
    try {
      const { id } = await app.api.post("/api/sessions", Object.fromEntries(given));
      close();
      app.go(`#/session/${id}`);
    } catch (failed) {
      fill(wrong, trouble(failed));
      start.disabled = false;
    }
  };
  prompt.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  });
  return el(
    "form.opening",
    { on: { submit } },
    field("Agent", agent),
    field("Folder", folder, known),
    field("Model", model, models),
    el(
      "fieldset",
      el("legend", "Who approves what it does"),
      modes.map(({ element }) => element),
    ),
    field("First prompt", prompt),
    wrong,
    start,
  );
}

function agentOption({ name, title, installed, version }) {
  const words = joined(title, version, !installed && "not installed");
  return el("option", { disabled: !installed, is: { value: name } }, words);
}

function field(words, ...inputs) {
  return el("label.field", el("span", words), inputs);
}

function radio({ id, name }, checked) {
  const input = el("input", { type: "radio", name: "approve", is: { value: id, checked } });
  return { input, element: el("label", input, el("span", el("b", id), name ? ` — ${name}` : null)) };
}

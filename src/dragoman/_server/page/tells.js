// What each event tells a transcript: one function for each type, which gives the turn or block that it is about, if any.
// What is said of a block is kept with the number of the event that said it, so that the latest wins in any order.
import { Stream } from "./stream.js";

const QUIET = new Set([
  "requesting",
  "running",
  "idle",
  "ended",
  "message_queued",
  "message_started",
  "message_completed",
]);

const LAST = 1e12; // what a call ended with stands, whatever was said of it before or after

/** Put in `fields` what is newer than what is known. */
function know(block, seq, fields) {
  for (const [name, value] of Object.entries(fields)) {
    if (value == null || seq < (block.stamps[name] ?? 0)) continue;
    block.stamps[name] = seq;
    block[name] = value;
  }
  return block;
}

function saidKey(run, event) {
  const kind = ["thinking", "plan"].includes(event.kind) ? event.kind : "text";
  if (event.message_id == null) return `said|${run}|${event.seq}`;
  return `said|${run}|${event.replay ?? ""}|${kind}|${event.parent ?? ""}|${event.message_id}|${event.block ?? ""}`;
}

function saidKind(event) {
  return event.kind === "thinking" ? "thinking" : "answer";
}

/** The block of a text that is being written. */
export function streamed(model, run, event) {
  const key = saidKey(run, event);
  const block = model.block(key, "said", saidKind(event), run, event, { sure: false });
  if (!block.message) block.stream ??= new Stream();
  block.message_id = event.message_id;
  block.discarded = model.discarded.has(event.message_id);
  block.says ??= event.kind;
  return block;
}

function delta(model, run, event) {
  if (event.kind === "tool_input" || event.kind === "tool_output") {
    if (!event.call_id) return null;
    const tool = toolOf(model, run, event, false);
    (tool[event.kind] ??= new Stream()).add(event.seq, event.text ?? "");
    return tool;
  }
  if (event.role === "user") return null;
  const block = streamed(model, run, event);
  block.stream?.add(event.seq, event.text ?? "");
  return block;
}

function message(model, run, event) {
  if (event.role === "user") return prompt(model, run, event);
  const type = event.role === "system" ? "system" : event.kind === "error" ? "fault" : "said";
  const kind = type === "said" ? saidKind(event) : "other";
  const block = model.block(saidKey(run, event), type, kind, run, event);
  block.stream = null;
  return know(block, event.seq, { message: event, type, kind, says: event.kind });
}

function prompt(model, run, event) {
  const turn = model.turn(run, event.turn);
  if (event.synthetic) {
    return know(model.block(`user|${run}|${event.seq}`, "synthetic", "other", run, event), event.seq, {
      message: event,
    });
  }
  const block = model.block(`user|${run}|${event.seq}`, "prompt", "user", run, event);
  // an agent's echo of what was sent is shown only if nothing else shows it
  if (event.echo) turn.echoes.add(block);
  else {
    turn.said.add(event.text).add(event.message_id ?? event.text);
    for (const echo of turn.echoes) model.touched.add(echo);
  }
  return know(block, event.seq, { message: event });
}

/** The block of a call; `sure`: the event says where it stands. */
export function toolOf(model, run, event, sure) {
  return model.block(`tool|${run}|${event.call_id}`, "tool", "tool", run, event, { sure });
}

function toolStarted(model, run, event) {
  const { seq, name, server, title, input } = event;
  return know(toolOf(model, run, event, true), seq, { name, server, title, input, started: event });
}

function toolUpdated(model, run, event) {
  const { seq, output, progress, elapsed, title, input, content } = event;
  return know(toolOf(model, run, event, false), seq, { output, progress, elapsed, title, input, content });
}

function toolEnded(model, run, event) {
  const { seq, output, content, error, exit_code: exit } = event;
  return know(toolOf(model, run, event, false), LAST + seq, { output, content, error, exit, ended: event });
}

function fileChanged(model, run, event) {
  if (event.phase === "proposed") return null;
  const block = model.block(`change|${run}|${event.seq}`, "change", "change", run, event, { within: event.call_id });
  return know(block, event.seq, { change: event });
}

function subagent(model, run, event) {
  if (!event.call_id) return line(model, run, event);
  const tool = toolOf(model, run, event, false);
  const { agent_type: who, description, summary, status } = event;
  return know(tool, event.seq, { subagent: true, who, description, summary, subStatus: status });
}

function asked(type) {
  return (model, run, event) => {
    const block = model.block(`${type}|${run}|${event.request_id}`, type, "permission", run, event, {
      within: event.call_id,
    });
    return know(block, event.seq, { asked: event });
  };
}

function answered(type) {
  return (model, run, event) => {
    const block = model.block(`${type}|${run}|${event.request_id}`, type, "permission", run, event, { sure: false });
    return know(block, event.seq, { answer: event });
  };
}

function hostCalled(model, run, event) {
  const block = model.block(`host|${run}|${event.request_id}`, "host", "other", run, event, { within: event.call_id });
  return know(block, event.seq, { called: event });
}

function hostAnswered(model, run, event) {
  const block = model.block(`host|${run}|${event.request_id}`, "host", "other", run, event, { sure: false });
  return know(block, event.seq, { answer: event });
}

/** One plan for each turn: the last one. */
function plan(model, run, event) {
  const key = `plan|${run}|${event.turn}|${event.parent ?? ""}|${event.replay ?? ""}`;
  return know(model.block(key, "plan", "other", run, event), event.seq, { plan: event });
}

function line(model, run, event) {
  return know(model.block(`line|${run}|${event.seq}`, "line", "other", run, event), event.seq, { event });
}

function status(model, run, event) {
  return QUIET.has(event.status) && !event.message ? null : line(model, run, event);
}

function updated(model, run, event) {
  const said = ["model", "title", "cwd", "effort", "permission_mode", "mode", "session_id"];
  return said.some((name) => event[name] != null) ? line(model, run, event) : null;
}

function retry(model, run, event) {
  for (const id of event.discards ?? []) {
    model.discarded.add(id);
    for (const block of model.blocks.values())
      if (block.stream && block.message_id === id) {
        block.discarded = true;
        model.touched.add(block);
      }
  }
  return line(model, run, event);
}

function turnStarted(model, run, event) {
  const turn = model.turn(run, event.turn);
  turn.started = event;
  return turn;
}

function turnEnded(model, run, event) {
  const turn = model.turn(run, event.turn);
  turn.ended = event;
  return turn;
}

/** An event of a type that this page does not know. */
export function unknown(model, run, event) {
  return event.type?.startsWith("native.") ? null : line(model, run, event);
}

const failed = (model, run, event) => (event.ok === false || event.error ? line(model, run, event) : null);
const refused = (model, run, event) => (event.status === "allowed" ? null : line(model, run, event));
const nothing = () => null;

export const TELLS = {
  "run.started": line,
  "agent.ready": nothing,
  "session.started": line,
  "session.updated": updated,
  "session.mode": line,
  "session.options": nothing,
  "session.commands": nothing,
  "session.status": status,
  auth: line,
  "turn.started": turnStarted,
  "turn.ended": turnEnded,
  "turn.diff": nothing,
  message,
  delta,
  "plan.updated": plan,
  "tool.started": toolStarted,
  "tool.updated": toolUpdated,
  "tool.ended": toolEnded,
  "file.changed": fileChanged,
  "subagent.started": subagent,
  "subagent.ended": subagent,
  "permission.requested": asked("permission"),
  "permission.resolved": answered("permission"),
  "question.asked": asked("question"),
  "question.answered": answered("question"),
  "host.called": hostCalled,
  "host.answered": hostAnswered,
  "command.ended": failed,
  "usage.updated": nothing,
  rate_limit: refused,
  "context.compacted": line,
  retry,
  hook: line,
  notice: line,
  error: line,
  "run.ended": line,
  "native.known": nothing,
  "native.unknown": line,
  "native.invalid": line,
};

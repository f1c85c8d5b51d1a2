// Events that are one line of a transcript: what each says, how grave it is, and what is folded behind it.
import { verbatim } from "./dom.js";
import { counted, duration, joined, oneLine } from "./times.js";

/** `words`, a `tone` (bad, odd, or none), and `more` behind it, if there is any. */
export function lineOf(event, at) {
  return (LINES[event.type] ?? unknown)(event, at);
}

const behind = (text) => (text ? verbatim(text) : null);
const tokens = (count) => (count == null ? null : `${counted(count)} tokens`);

const UPDATES = {
  title: "title",
  model: "model",
  mode: "mode",
  permission_mode: "mode",
  effort: "effort",
  cwd: "folder",
  session_id: "session",
};

const LINES = {
  "run.started": (event) => ({
    words: joined(
      `Run of ${event.agent}`,
      event.cli_version,
      event.cwd,
      event.resume && `goes on with ${event.resume}`,
    ),
    more: event.argv?.length ? verbatim(event.argv.join(" ")) : null,
  }),
  "session.started": (event) => ({
    words: joined(
      event.resumed ? "Session resumed" : "Session started",
      event.model,
      event.permission_mode ?? event.mode,
      event.tools?.length ? `${event.tools.length} tools` : null,
      event.mcp_servers?.length
        ? `MCP: ${event.mcp_servers.map(({ name, status }) => `${name} ${status ?? ""}`).join(", ")}`
        : null,
    ),
  }),
  "session.updated": (event) => ({
    words: joined(...Object.entries(UPDATES).map(([name, words]) => event[name] != null && `${words}: ${event[name]}`)),
  }),
  "session.mode": (event) => ({ words: `mode: ${event.mode ?? "?"}` }),
  "session.status": (event) => ({ words: joined(event.message ?? `status: ${event.status}`) }),
  auth: (event) => ({ words: joined("Login", event.status, event.message) }),
  "command.ended": (event) => ({
    words: joined(`${event.command ?? "a command"} failed`, event.error?.message),
    tone: "bad",
  }),
  rate_limit: (event) => ({
    words: joined(
      "Rate limit",
      event.status,
      event.resets_at && `until ${new Date(event.resets_at * 1000).toLocaleString("sv")}`,
    ),
    tone: "odd",
  }),
  "context.compacted": (event) => ({
    words: joined(
      `Context compacted (${event.trigger ?? "?"})`,
      event.before_tokens != null || event.after_tokens != null
        ? `${tokens(event.before_tokens) ?? "?"} → ${tokens(event.after_tokens) ?? "?"}`
        : event.phase,
    ),
    tone: "odd",
    more: behind(event.summary),
  }),
  retry: (event) => ({
    words: joined(
      `Trying again${event.attempt != null ? ` (${event.attempt}${event.max_attempts != null ? ` of ${event.max_attempts}` : ""})` : ""}`,
      event.delay_ms != null ? `in ${duration(event.delay_ms / 1000)}` : null,
      event.reason,
      event.status_code,
    ),
    tone: "odd",
  }),
  hook: (event) => ({
    words: joined(
      `Hook ${event.name ?? event.event ?? ""}`,
      event.phase,
      event.outcome,
      event.exit_code ? `exit ${event.exit_code}` : null,
    ),
    tone: event.exit_code ? "bad" : "",
    more: behind([event.output, event.stderr].filter(Boolean).join("\n")),
  }),
  notice: (event) => ({ words: event.message ?? "", tone: event.severity === "warning" ? "odd" : "" }),
  error: (event) => ({
    words: joined(event.message ?? "An error", event.code, event.will_retry ? "it tries again" : null),
    tone: event.severity === "warning" ? "odd" : "bad",
  }),
  "subagent.started": (event) => ({ words: joined(`↳ ${event.agent_type ?? "subagent"}`, event.description) }),
  "subagent.ended": (event) => ({ words: joined(`↳ subagent ${event.status ?? "ended"}`, oneLine(event.summary)) }),
  "run.ended": (event) => ({
    words: joined(`Run ${event.outcome}`, event.exit_code != null ? `exit ${event.exit_code}` : null, event.signal),
    tone: event.outcome === "completed" ? "" : "bad",
    more: behind(event.stderr_tail),
  }),
  "native.unknown": (event) => ({
    words: `A line of a kind that this version does not know: ${event.native_type ?? "?"}`,
    tone: "odd",
  }),
  "native.invalid": (event) => ({ words: `A line that is no message: ${event.reason ?? "?"}`, tone: "odd" }),
};

function unknown(event) {
  return { words: event.type, more: verbatim(JSON.stringify(event, null, 2)) };
}

"""How each event reads in a transcript, where nothing but the event itself is needed to say it."""

from collections.abc import Callable
from typing import Any, Final

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._reports.markdown import (
    code,
    excerpt,
    fenced,
    joined,
    listed,
    one_line,
    plain,
    prefixed,
    quoted,
    unified,
)

QUIET_STATUS: Final = frozenset(("requesting", "running", "idle"))


def run_started(event: ev.RunStarted) -> str:
    facts = {
        "dialect": event.dialect,
        "version": event.cli_version,
        "cwd": event.cwd,
        "command": " ".join(event.argv) or None,
        "resumes": event.resume,
        "read from": ", ".join(event.sources) or None,
    }
    return f"# {joined(event.agent) or 'run'}\n\n{listed(facts)}".rstrip()


def agent_ready(event: ev.AgentReady) -> str:
    return f"*agent ready: {joined(event.name, event.cli_version, prefixed('protocol ', event.protocol_version))}*"


def session(event: ev.SessionStarted | ev.SessionUpdated) -> str:
    facts = {
        "session": event.session_id if isinstance(event, ev.SessionUpdated) else event.session,
        "title": event.title,
        "model": event.model,
        "effort": event.effort,
        "version": event.cli_version,
        "cwd": event.cwd,
        "permission mode": event.permission_mode,
        "mode": event.mode,
        "tools": f"{len(event.tools)}" if event.tools else None,
        "mcp servers": ", ".join(joined(server.name, server.status) for server in event.mcp_servers) or None,
    }
    if isinstance(event, ev.SessionStarted):
        return f"**Session {'resumed' if event.resumed else 'started'}**\n\n{listed(facts)}".rstrip()
    return f"**Session updated**\n\n{changed}" if (changed := listed(facts)) else ""


def session_mode(event: ev.SessionMode) -> str:
    return f"*mode: {joined(event.mode)}*" if event.mode else ""


def session_status(event: ev.SessionStatus) -> str:
    if event.status in QUIET_STATUS and not event.message:
        return ""
    return f"*status: {joined(event.status, event.message)}*"


def auth(event: ev.Auth) -> str:
    return f"*auth: {joined(event.status, event.message)}*"


def run_ended(event: ev.RunEnded) -> str:
    facts = joined(
        f"**Run {event.outcome}**",
        prefixed("exit ", event.exit_code),
        event.signal,
        tokens(event.usage),
        dollars(event.cost_usd),
    )
    tail = f"\n\nstderr:\n\n{fenced(excerpt(event.stderr_tail))}" if event.stderr_tail else ""
    return f"---\n\n{facts}{tail}"


def plan_updated(event: ev.PlanUpdated) -> str:
    boxes = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}
    rows = [f"- {boxes[entry.status]} {joined(entry.text)}" for entry in event.entries]
    return "\n".join(("**Plan**", "", *rows))


def file_changed(event: ev.FileChanged) -> str:
    to = f" to {code(event.move_to)}" if event.move_to else ""
    phase = f" ({event.phase})" if event.phase != "applied" else ""
    diff = event.diff if event.diff is not None else unified(event.before, event.after)
    head = f"**File {event.change}**{phase} {code(event.path)}{to}"
    return f"{head}\n\n{fenced(excerpt(diff), 'diff')}" if diff.strip() else head


def subagent_started(event: ev.SubagentStarted) -> str:
    who = event.call_id or event.agent_id or "?"
    return joined(f"**Subagent** {code(who)}" + inferred(event), event.agent_type, event.description)


def subagent_ended(event: ev.SubagentEnded) -> str:
    who = event.call_id or event.agent_id or "?"
    head = joined(
        f"↳ **Subagent** {code(who)} {event.status or 'ended'}" + inferred(event), tokens(event.usage)
    )
    return f"{head}\n\n{quoted(excerpt(event.summary))}" if event.summary else head


def question_asked(event: ev.QuestionAsked) -> str:
    head = joined("**Question**", event.message, event.url)
    return "\n".join((head, "", *(f"- {one_line(plain(item))}" for item in event.questions))).rstrip()


def question_answered(event: ev.QuestionAnswered) -> str:
    answers = one_line(plain(event.answers)) if event.answers else None
    return joined(f"↳ **{event.action}**" + inferred(event), answers)


def host_called(event: ev.HostCalled) -> str:
    params = one_line(plain(event.params)) if event.params else None
    return joined(f"**Host call** {event.method}", params)


def host_answered(event: ev.HostAnswered) -> str:
    if event.error is not None:
        return f"↳ error: {one_line(event.error.message)}"
    return joined("↳ answered" + inferred(event), one_line(plain(event.result)) if event.result else None)


def command_ended(event: ev.CommandEnded) -> str:
    error = one_line(event.error.message) if event.error is not None else None
    return joined(f"*command {joined(event.command or '?')}: {'ok' if event.ok else 'failed'}*", error)


def rate_limit(event: ev.RateLimit) -> str:
    return f"*rate limit: {joined(event.status or '?')}*"


def context_compacted(event: ev.ContextCompacted) -> str:
    sizes = [f"{size:,}" for size in (event.before_tokens, event.after_tokens) if size is not None]
    tokens = " → ".join(sizes) + " tokens" if sizes else None
    head = joined("**Context compacted**", event.trigger, event.phase, tokens)
    return f"{head}\n\n{quoted(excerpt(event.summary))}" if event.summary else head


def retry(event: ev.Retry) -> str:
    attempt = event.attempt if event.attempt is not None else "?"
    of = f" of {event.max_attempts}" if event.max_attempts is not None else ""
    discards = ", ".join(map(code, event.discards))
    return joined(
        f"**Retry** {attempt}{of}",
        event.reason,
        prefixed("status ", event.status_code),
        prefixed("discards ", discards),
    )


def hook(event: ev.Hook) -> str:
    what = joined(event.name, event.event if event.event != event.name else None, event.phase, event.outcome)
    head = joined(f"*hook: {what}*", prefixed("exit ", event.exit_code))
    return f"{head}\n\n{fenced(excerpt(event.output))}" if event.output else head


def notice(event: ev.Notice) -> str:
    return joined(
        "**Notice**" if event.severity == "info" else "**Warning**", event.code, one_line(event.message)
    )


def error(event: ev.Error) -> str:
    return joined(
        "**Error**" if event.severity == "error" else "**Warning**",
        event.code,
        event.scope if event.scope != "turn" else None,
        "will retry" if event.will_retry else None,
        one_line(event.message, 400),
    )


def native_unknown(event: ev.NativeUnknown) -> str:
    return f"⚠ unknown: {code(event.native_type or '?')} (frame {event.frame})"


def native_invalid(event: ev.NativeInvalid) -> str:
    return f"⚠ invalid: {code(event.reason or '?')} (frame {event.frame})"


def inferred(event: Event) -> str:
    return " (inferred)" if event.synthesized else ""


def tokens(usage: Usage | None) -> str | None:
    """How much was read and written."""
    if not usage:
        return None
    cached = f" ({usage.cache_read_tokens:,} cached)" if usage.cache_read_tokens is not None else ""
    counts = {
        f"tokens in{cached}": usage.input_tokens,
        "out": usage.output_tokens,
        "reasoning": usage.reasoning_tokens or None,
    }
    known = [f"{count:,} {name}" for name, count in counts.items() if count is not None]
    return ", ".join(known) or prefixed("tokens ", usage.total_tokens)


def dollars(cost: float | None) -> str | None:
    return None if cost is None else f"${cost:.6f}".rstrip("0").rstrip(".")


PHRASES: Final[dict[type[Event], Callable[[Any], str]]] = {
    ev.RunStarted: run_started,
    ev.AgentReady: agent_ready,
    ev.SessionStarted: session,
    ev.SessionUpdated: session,
    ev.SessionMode: session_mode,
    ev.SessionStatus: session_status,
    ev.Auth: auth,
    ev.PlanUpdated: plan_updated,
    ev.FileChanged: file_changed,
    ev.SubagentStarted: subagent_started,
    ev.SubagentEnded: subagent_ended,
    ev.QuestionAsked: question_asked,
    ev.QuestionAnswered: question_answered,
    ev.HostCalled: host_called,
    ev.HostAnswered: host_answered,
    ev.CommandEnded: command_ended,
    ev.RateLimit: rate_limit,
    ev.ContextCompacted: context_compacted,
    ev.Retry: retry,
    ev.Hook: hook,
    ev.Notice: notice,
    ev.Error: error,
    ev.RunEnded: run_ended,
    ev.NativeUnknown: native_unknown,
    ev.NativeInvalid: native_invalid,
}

"""The dialects: one wire language each. This table is the only place that lists them."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from msgspec import Struct

from dragoman._model.errors import UsageError
from dragoman._wire.jsontext import parse
from dragoman._wire.machine import Machine


class Dialect(Struct, frozen=True):
    """A wire language. Its folder has: messages (native types), translate (stateless), machine (all state), shapes
    (its messages by name, for `drift`; not where it is `published`)."""

    name: str
    room: str
    """Its folder, as a module below this one."""
    agent: str
    """Who speaks it, if a file does not say; "" where its lines do, by `agent_of` of its folder."""
    title: str
    file_only: bool = False
    """Read from disk, never spoken."""
    published: bool = False
    """No agent's own language: a model that others published, read back."""

    def part(self, name: str = "") -> Any:
        """The module `name` of its folder, or the folder itself."""
        return import_module(f"dragoman._dialects.{self.room}{name and '.' + name}")


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect("gemini_stream", "gemini.stream", "gemini", "Gemini CLI stream-json"),
        Dialect("claude_stream", "claude.stream", "claude", "Claude Code stream-json"),
        Dialect("codex_app", "codex.app", "codex", "Codex app-server"),
        Dialect("codex_exec", "codex.exec", "codex", "Codex exec --json"),
        Dialect("acp", "acp", "acp", "Agent Client Protocol"),
        Dialect("qwen_chat", "gemini.qwen", "qwen-code", "Qwen Code session file", file_only=True),
        Dialect(
            "claude_transcript", "claude.transcript", "claude", "Claude Code session file", file_only=True
        ),
        Dialect("gemini_chat", "gemini.chat", "gemini", "Gemini CLI session file", file_only=True),
        Dialect("codex_rollout", "codex.rollout", "codex", "Codex session file", file_only=True),
        Dialect(
            "copilot_events", "copilot", "github-copilot-cli", "Copilot CLI session file", file_only=True
        ),
        Dialect("agent-event", "agent_event", "", "AgentEvent, as published", file_only=True, published=True),
        Dialect("insights", "insights", "", "InsightsEvent, as published", file_only=True, published=True),
    )
}


def machine_for(dialect: str, agent: str = "") -> Machine:
    """A new machine for one run of `dialect`."""
    record = DIALECTS.get(dialect)
    if record is None:
        raise UsageError(f"no dialect is called {dialect!r}; known are: {', '.join(DIALECTS)}")
    return _machine(dialect)(agent or record.agent)


@cache
def _machine(dialect: str) -> type[Machine]:
    machine: type[Machine] = DIALECTS[dialect].part("machine").MACHINE
    return machine


def detect(lines: Sequence[bytes]) -> str | None:
    """Which dialect the first lines of a file are, if any dialect knows them."""
    values = [value for value in map(parse, lines) if isinstance(value, dict)]
    for dialect in DIALECTS.values():
        if any(dialect.part().looks_like(value) for value in values):
            return dialect.name
    return None


@cache
def tools_end_with_turns(dialect: str) -> bool:
    """Whether tools that the agent leaves open are closed with their turn in this dialect."""
    record = DIALECTS.get(dialect)
    return record is not None and bool(record.part("machine").MACHINE.tools_end_with_turns)

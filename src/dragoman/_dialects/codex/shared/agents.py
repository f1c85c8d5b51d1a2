"""The agents that a Codex thread starts, and what is told of them by the calls that spawn and await them."""

from typing import Any, Final

from dragoman._model import events as ev
from dragoman._model.usage import Usage
from dragoman._wire import fields
from dragoman._wire.ledger import Ledger

_OVER: Final = frozenset(("completed", "errored", "shutdown", "interrupted", "not_found"))
"""Of an agent that works no more."""


class Agents:
    """The agents by their thread's id."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._calls: dict[str, str | None] = {}
        """The call that spawned each."""

    def call_of(self, agent_id: str) -> str | None:
        return self._calls.get(agent_id)

    def begin_agent(
        self, agent_id: str, call_id: str | None, description: str | None, agent_type: str | None = None
    ) -> None:
        if agent_id not in self._calls:
            self._calls[agent_id] = call_id
            self._ledger.put(
                ev.SubagentStarted(
                    call_id=call_id, agent_id=agent_id, agent_type=agent_type, description=description
                )
            )

    def end_agent(
        self, agent_id: str, status: str | None, summary: str | None, usage: Usage | None = None
    ) -> None:
        self._calls.setdefault(agent_id, None)
        self._ledger.put(
            ev.SubagentEnded(
                call_id=self._calls[agent_id],
                agent_id=agent_id,
                status=status,
                summary=summary,
                usage=usage,
            )
        )

    def on_call(self, call_id: str, tool: str, item: dict[str, Any]) -> None:
        """Take in a call of spawn_agent, wait …: the agents it spawned (`receiver_thread_ids`) and those that
        have ended (`agents_states`)."""
        if tool == "spawn_agent":
            for agent_id in fields.items(item, "receiver_thread_ids"):
                if isinstance(agent_id, str):
                    self.begin_agent(agent_id, call_id, fields.text(item, "prompt"), _role(item))
        for agent_id, state in fields.mapping(item, "agents_states").items():
            status, summary = _state(state)
            if status in _OVER:
                self.end_agent(agent_id, status, summary)


def _role(item: dict[str, Any]) -> str | None:
    first = next(iter(fields.items(item, "receiver_agents")), None)
    return fields.text(first, "agent_role", "agent_nickname")


def _state(native: Any) -> tuple[str | None, str | None]:
    """Status and message of an agent's state: `"running"`, `{"completed": "answer"}` (files) or `{"status":
    "completed", "message": "answer"}`."""
    if isinstance(native, str):
        return native, None
    if not isinstance(native, dict) or not native:
        return None, None
    if "status" in native:
        return fields.text(native, "status"), fields.text(native, "message")
    status = next(iter(native))
    return status, fields.text(native, status)

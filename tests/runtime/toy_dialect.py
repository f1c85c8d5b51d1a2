"""A small dialect, spoken by the agents in tests/fake_agents, on the real machine."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from msgspec import structs

from dragoman._model import commands, events
from dragoman._model.capabilities import Capability
from dragoman._model.commands import Command
from dragoman._model.usage import Usage
from dragoman._runtime.connection import Connection
from dragoman._runtime.plan import LaunchPlan, Step
from dragoman._runtime.session import Session
from dragoman._wire.jsontext import Unknown, parse
from dragoman._wire.machine import Machine

FAKES = Path(__file__).parent.parent / "fake_agents"

SWIFT: tuple[Step, ...] = (
    ("interrupt", 5.0),
    ("eof", 5.0),
    ("SIGINT", 0.2),
    ("SIGTERM", 0.2),
    ("SIGKILL", 5.0),
)
"""Gentle steps get all the time they may need; those that the agent ignores in a test get little."""

CAN = frozenset(
    {
        Capability.PROMPT,
        Capability.STEER,
        Capability.INTERRUPT,
        Capability.PERMISSIONS,
        Capability.QUESTIONS,
        Capability.HOST_CALLS,
        Capability.SET_MODE,
    }
)
MANY = CAN | {Capability.MANY_SESSIONS}


KINDS: dict[str, events.ToolKind] = {"Bash": "execute", "Edit": "edit", "Read": "read"}


class ToyMachine(Machine):
    dialect = "toy"
    capabilities: ClassVar[frozenset[Capability]] = MANY
    awaited: ClassVar[tuple[type[Command], ...]] = (
        commands.Interrupt,
        commands.SetMode,
        commands.OpenSession,
    )

    def read(self, line: bytes) -> Iterable[Any]:
        return [parse(line)]

    def on_message(self, message: dict[str, Any]) -> None:
        put = self.ledger.put
        self._enter(message)
        match message:
            case {"type": "hello", "session": session}:
                self.ledger.name_session(session)
                put(events.SessionStarted())
            case {"type": "text", "text": text}:
                put(events.Message(role="assistant", text=text))
            case {"type": "tool", "id": id, "name": name}:
                put(events.ToolStarted(call_id=id, name=name, kind=KINDS[name]))
                put(events.ToolEnded(call_id=id, status="completed"))
            case {"type": "usage", "model": model, "tokens": tokens}:
                usage = Usage(input_tokens=tokens, total_tokens=tokens)
                put(events.UsageUpdated(scope="call", model=model, usage=usage))
            case {"type": "ask", "id": id, "tool": tool}:
                kind, given = KINDS[tool], message.get("input")
                put(events.PermissionRequested(request_id=id, tool_name=tool, kind=kind, input=given))
            case {"type": "withdraw", "id": id}:
                self.ledger.withdraw(id)
            case {"type": "question", "id": id, "message": message}:
                put(events.QuestionAsked(request_id=id, message=message))
            case {"type": "call", "id": id, "method": method}:
                put(events.HostCalled(request_id=id, method=method, params=message.get("params")))
            case {"type": "ready"}:
                put(events.AgentReady(name="toy"))
            case {"type": "refuses"}:
                put(events.Error(message="sign in first", scope="session"))
            case {"type": "history", "text": text}:
                put(events.Message(role="assistant", text=text, replay=True))
            case {"type": "opened", "id": id, "cwd": cwd}:
                put(events.SessionStarted(cwd=cwd))
                put(events.CommandEnded(request_id=id, command="open_session"))
            case {"type": "refused", "id": id, "error": error}:
                why = events.ErrorInfo(message=error)
                put(events.CommandEnded(request_id=id, command="open_session", ok=False, error=why))
            case {"type": "ack", "id": id, "command": command}:
                put(events.CommandEnded(request_id=id, command=command))
            case {"type": "subagent", "id": id}:
                put(events.SubagentStarted(call_id=id))
            case {"type": "returned", "id": id}:
                put(events.SubagentEnded(call_id=id, status=message.get("status")))
            case {"type": "begin"}:
                put(events.TurnStarted(synthesized=True))
            case {"type": "done", "tokens": int(tokens)}:
                put(events.TurnEnded(outcome="completed", usage=Usage(total_tokens=tokens)))
            case {"type": "done"}:
                put(events.TurnEnded(outcome="completed"))
            case {"type": "stopped"}:
                put(events.TurnEnded(outcome="cancelled"))
            case {"type": "ping"}:
                self.owe(b'{"type":"pong"}')
            case _:
                self.take(Unknown(message))

    def _enter(self, message: dict[str, Any]) -> None:
        """The session that a line is about, where there are several."""
        if message["type"] != "hello" and message.get("session") is not None:
            self.ledger.current = message["session"]

    def on_in(self, line: bytes) -> None:
        put = self.ledger.put
        message = json.loads(line)
        self._enter(message)
        match message:
            case {"type": "prompt", "text": text}:
                put(events.TurnStarted(prompt=text))
                put(events.Message(role="user", text=text))
            case {"type": "answer", "request": id, "decision": decision, "message": message}:
                allowed = decision == "allow"
                put(
                    events.PermissionResolved(
                        request_id=id, outcome="allowed" if allowed else "denied", message=message
                    )
                )
            case {"type": "answer_question", "request": id, "action": action, "answers": answers}:
                put(events.QuestionAnswered(request_id=id, action=action, answers=answers))
            case {"type": "reply", "request": id, "result": result, "error": error}:
                why = events.ErrorInfo(message=error) if error is not None else None
                put(events.HostAnswered(request_id=id, result=result, error=why))

    def lines_for(self, command: Command) -> list[bytes]:
        if isinstance(command, commands.Close) and command.session is None:
            return []
        fields: dict[str, Any] = {"type": command.__struct_config__.tag, **structs.asdict(command)}
        return [json.dumps(fields).encode()]


def toy_plan(program: str = "obedient.py", *args: str, **changes: Any) -> LaunchPlan:
    """A run of one of the fake agents."""
    plan = LaunchPlan(
        agent="toy",
        dialect="toy",
        argv=[sys.executable, "-I", str(FAKES / program), *args],
        env={"LANG": "C.UTF-8"},
        machine=ToyMachine(),
        capabilities=CAN,
        stop=SWIFT,
    )
    return structs.replace(plan, **changes)


def alone(plan: LaunchPlan, *, prompt: str | None = None, once: bool = False, **options: Any) -> Session:
    """A session that has the agent process to itself."""
    return Connection(plan, **options)._alone(prompt, once=once)

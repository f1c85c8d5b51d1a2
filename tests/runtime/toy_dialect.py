"""A small dialect, spoken by the agents in tests/fake_agents, on the real machine."""

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

from msgspec import structs

from dragoman.model import commands, events
from dragoman.model.capabilities import Capability
from dragoman.model.commands import Command
from dragoman.runtime.plan import Plan, Step
from dragoman.wire.machine import Machine

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


KINDS: dict[str, events.ToolKind] = {"Bash": "execute", "Edit": "edit", "Read": "read"}


class ToyMachine(Machine):
    dialect = "toy"
    capabilities: ClassVar[frozenset[Capability]] = CAN
    awaited: ClassVar[tuple[type[Command], ...]] = (commands.Interrupt, commands.SetMode)

    def on_out(self, line: bytes) -> None:
        put = self.ledger.put
        try:
            match json.loads(line):
                case {"type": "hello", "session": session}:
                    self.ledger.name_session(session)
                    put(events.SessionStarted())
                case {"type": "text", "text": text}:
                    put(events.Message(role="assistant", text=text))
                case {"type": "ask", "id": id, "tool": tool}:
                    put(events.PermissionRequested(request_id=id, tool_name=tool, kind=KINDS[tool]))
                case {"type": "withdraw", "id": id}:
                    put(events.PermissionResolved(request_id=id, outcome="cancelled", by="agent"))
                case {"type": "question", "id": id, "message": message}:
                    put(events.QuestionAsked(request_id=id, message=message))
                case {"type": "call", "id": id, "method": method}:
                    put(events.HostCalled(request_id=id, method=method))
                case {"type": "ack", "id": id, "command": command}:
                    put(events.CommandEnded(request_id=id, command=command))
                case {"type": "done"}:
                    put(events.TurnEnded(outcome="completed"))
                case {"type": "stopped"}:
                    put(events.TurnEnded(outcome="cancelled"))
                case {"type": "ping"}:
                    self.owe(b'{"type":"pong"}')
                case _:
                    put(events.NativeUnknown())
        except ValueError as error:
            put(events.NativeInvalid(reason=str(error)))

    def on_in(self, line: bytes) -> None:
        put = self.ledger.put
        match json.loads(line):
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
            case {"type": "reply", "request": id, "result": result}:
                put(events.HostAnswered(request_id=id, result=result))

    def lines_for(self, command: Command) -> list[bytes]:
        if isinstance(command, commands.Close):
            return []
        fields: dict[str, Any] = {"type": command.__struct_config__.tag, **structs.asdict(command)}
        return [json.dumps(fields).encode()]


def toy_plan(program: str = "obedient.py", *args: str, **changes: Any) -> Plan:
    """A run of one of the fake agents."""
    plan = Plan(
        agent="toy",
        dialect="toy",
        argv=[sys.executable, "-I", str(FAKES / program), *args],
        env={"LANG": "C.UTF-8"},
        machine=ToyMachine(),
        capabilities=CAN,
        stop=SWIFT,
    )
    return structs.replace(plan, **changes)

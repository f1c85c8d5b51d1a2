"""A conversation with the machine, line by line: `agent` is what the CLI writes, `say` what we ask of it."""

import json
from typing import Any, TypeVar

from dragoman._dialects.claude.stream.machine import ClaudeStream
from dragoman._model.commands import Command
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire import note_frames

E = TypeVar("E", bound=Event)
SESSION = "11111111-1111-4111-8111-111111111111"


class Conversation:
    def __init__(self, argv: list[str] | None = None, resume: str | None = None) -> None:
        self.machine = ClaudeStream()
        self.events: list[Event] = []
        self.sent: list[Any] = []
        self._n = 0
        launch = Launch(agent="claude", dialect="claude_stream", argv=argv or [], resume=resume)
        output = self.machine.start(launch)
        self.events += output.events
        self._send(output.lines)

    def agent(self, *messages: Any) -> list[Event]:
        """The CLI writes these; what they mean, and what is answered at once, is noted."""
        before = len(self.events)
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self._receive("out", line)
        return self.events[before:]

    def say(self, command: Command, note: note_frames.Note | None = None) -> list[Event]:
        before = len(self.events)
        lines = self.machine.send(command)
        if note is not None:
            self._receive("note", note_frames.write(note))
        self._send(lines)
        return self.events[before:]

    def end(self, **exit: Any) -> list[Event]:
        before = len(self.events)
        self.events += self.machine.end(Exit(**exit)).events
        return self.events[before:]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def _send(self, lines: list[bytes]) -> None:
        for line in lines:
            self.sent.append(json.loads(line))
            self._receive("in", line)

    def _receive(self, direction: Any, line: bytes) -> None:
        self._n += 1
        output = self.machine.receive(Frame(self._n, direction, line))
        self.events += output.events
        self._send(output.lines)


def init(session: str = SESSION, version: str = "2.1.325", **fields: Any) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "init",
        "session_id": session,
        "model": "claude-opus-5-5",
        "claude_code_version": version,
        **fields,
    }


def text(said: str, id: str = "msg_1", session: str = SESSION, **fields: Any) -> dict[str, Any]:
    message = {"id": id, "role": "assistant", "content": [{"type": "text", "text": said}]}
    return {"type": "assistant", "message": message, "session_id": session, **fields}


def tool_use(name: str, id: str = "toolu_1", message: str = "msg_1", **input: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": id, "name": name, "input": input}
    return {"type": "assistant", "message": {"id": message, "content": [block]}, "session_id": SESSION}


def tool_result(content: Any, id: str = "toolu_1", is_error: bool = False, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "session_id": SESSION, **fields}


def result(said: str = "Done.", session: str = SESSION, **fields: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "result": said, "session_id": session, **fields}


def stream(event: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": event, "session_id": SESSION, **fields}


def can_use(name: str, id: str = "r1", call: str = "toolu_1", **input: Any) -> dict[str, Any]:
    request = {"subtype": "can_use_tool", "tool_name": name, "tool_use_id": call, "input": input}
    return {"type": "control_request", "request_id": id, "request": request}

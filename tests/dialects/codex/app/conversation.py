"""Running captures and conversations of Codex app-server through the machine."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from dragoman._dialects.codex.app.machine import CodexApp
from dragoman._files.sources import open_source
from dragoman._model import commands as c
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch

CAPTURES = Path(__file__).parents[4] / "captures" / "codex_app" / "0.166.0"
SCENARIOS = sorted(path.name for path in CAPTURES.iterdir() if path.is_dir())
LAUNCH = Launch(agent="codex", dialect="codex_app")
THREAD = "01a1e0ba-5f7e-71b3-aaae-2941950f12c7"
TURN = "01a1e0ba-5ff8-7e33-abbe-130efef6bcd9"

E = TypeVar("E", bound=Event)


class Strict(CodexApp):
    """Raises what the machine would otherwise report as not understood."""

    strict = True


def frames(scenario: str) -> list[Frame]:
    return list(open_source(CAPTURES / scenario / "frames.jsonl"))


def events_of(traffic: Iterable[Frame], exit: Exit | None = None, *, native: bool = False) -> list[Event]:
    machine = Strict(native=native)
    events = list(machine.start(LAUNCH).events)
    for frame in traffic:
        events += machine.receive(frame).events
    return [*events, *machine.end(exit or Exit()).events]


def read(scenario: str, *, native: bool = False) -> list[Event]:
    source = open_source(CAPTURES / scenario / "frames.jsonl")
    traffic = list(source)
    return events_of(traffic, source.exit, native=native)


def of(events: Iterable[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def bare(event: Event) -> Event:
    """Without what depends on when and in which frame it was said."""
    event.seq, event.at, event.time, event.frame, event.eol = 0, None, None, None, True
    return event


# --- the protocol, as `codex app-server generate-json-schema` gives it --------------------------------------

_ROW = re.compile(r"- (?:\[X\] )?`(?P<method>[^`]+)` \S+?:(?P<fields>.*)")
_SECTIONS = {
    "client": "## Client -> server requests",
    "asked": "## Server -> client requests",
    "notified": "## Server -> client notifications",
}


class Method:
    def __init__(self, fields: str) -> None:
        names = [name.strip().removesuffix("[X]") for name in fields.split(",") if name.strip()]
        self.known = {name.rstrip("?") for name in names}
        self.required = {name for name in names if not name.endswith("?")}


def methods(section: str) -> dict[str, Method]:
    """The methods of one section of methods.md, with their fields."""
    text = (Path(__file__).parent / "methods.md").read_text()
    body = text.split(_SECTIONS[section], 1)[1].split("\n## ", 1)[0]
    return {row["method"]: Method(row["fields"]) for row in map(_ROW.match, body.splitlines()) if row}


CLIENT = methods("client")

# --- a conversation ----------------------------------------------------------------------------------------


class Conversation:
    """Both ends of the pipe: what we say is taken down and checked, what Codex says is made up by the test."""

    def __init__(self, **opening: Any) -> None:
        self.machine = Strict()
        self.machine.opening = opening
        self.frames: list[Frame] = []
        self.events: list[Event] = []
        self.sent: list[Any] = []
        """What we said that nobody has looked at."""
        self._take(self.machine.start(LAUNCH))

    def _take(self, output: Any) -> None:
        self.events += output.events
        for line in output.lines:
            self._say(line)

    def _say(self, line: bytes) -> None:
        value = json.loads(line)
        check(value)
        self.sent.append(value)
        self.frames.append(Frame(len(self.frames) + 1, "in", line))
        self._take(self.machine.receive(self.frames[-1]))

    def say(self, command: c.Command) -> None:
        for line in self.machine.send(command):
            self._say(line)

    def hear(self, value: Any) -> None:
        self.hear_line(json.dumps(value).encode())

    def hear_line(self, line: bytes) -> None:
        self.frames.append(Frame(len(self.frames) + 1, "out", line))
        self._take(self.machine.receive(self.frames[-1]))

    def hear_from_client(self, value: Any) -> None:
        """A line of another client's, as recordings have them."""
        self._say(json.dumps(value).encode())
        self.sent.pop()

    def note(self, method: str, **params: Any) -> None:
        self.hear({"method": method, "params": params, "emittedAtMs": 1})

    def answer(self, request: Any, result: Any) -> None:
        self.hear({"id": request["id"], "result": result})

    def refuse(self, request: Any, message: str) -> None:
        self.hear({"id": request["id"], "error": {"code": -32600, "message": message}})

    def next(self, method: str) -> Any:
        """The next thing we said, which is this."""
        value = self.sent.pop(0)
        assert value.get("method") == method, value
        return value

    def reply(self, id: Any) -> Any:
        """What we answered to Codex's request."""
        value = self.sent.pop(0)
        assert value.get("id") == id, value
        assert "method" not in value, value
        return value.get("result", value.get("error"))

    def ask(self, id: int, method: str, **params: Any) -> None:
        self.hear({"method": method, "id": id, "params": {"threadId": THREAD, "turnId": TURN, **params}})

    # --- the usual course of things

    def opened(self, thread: str = THREAD) -> "Conversation":
        self.answer(self.next("initialize"), {"userAgent": "dragoman/0.166.0 (x)", "codexHome": "/h"})
        self.next("initialized")
        self.answer(self.sent.pop(0), {"thread": {"id": thread}, "model": "m", "approvalPolicy": "never"})
        return self

    def in_turn(self, text: str = "go") -> "Conversation":
        self.say(c.Prompt(text=text, id="prompt"))
        self.answer(self.next("turn/start"), {"turn": {"id": TURN, "status": "inProgress"}})
        self.note("turn/started", threadId=THREAD, turn={"id": TURN, "status": "inProgress"})
        return self

    def turn_over(self, status: str = "completed") -> None:
        self.note("turn/completed", threadId=THREAD, turn={"id": TURN, "status": status, "items": []})

    def started(self, **item: Any) -> None:
        self.note("item/started", threadId=THREAD, turnId=TURN, item=item)

    def completed(self, **item: Any) -> None:
        self.note("item/completed", threadId=THREAD, turnId=TURN, item=item)

    def over(self, exit: Exit | None = None) -> list[Event]:
        self.events += self.machine.end(exit or Exit(code=0)).events
        return self.events


def check(value: Any) -> None:
    """Whether a line of ours is one that Codex can read."""
    assert isinstance(value, dict), value
    assert "jsonrpc" not in value, value
    method = value.get("method")
    if method is None:
        assert ("result" in value) != ("error" in value), value
        assert "id" in value, value
    elif "id" not in value:
        assert value == {"method": "initialized"}
    else:
        params = value["params"]
        assert method in CLIENT, f"no such method: {method}"
        assert CLIENT[method].required <= params.keys(), f"{method} lacks fields: {params}"
        assert params.keys() <= CLIENT[method].known, f"{method} has no such fields: {params}"
        if "threadId" in params:
            assert isinstance(params["threadId"], str)
        for item in params.get("input", ()):
            assert item.keys() - {"type"} in _INPUTS[item["type"]], item


_INPUTS: dict[str, tuple[set[str], ...]] = {
    "text": ({"text"},),
    "image": ({"url"},),
    "localImage": ({"path"},),
    "audio": ({"url"},),
    "localAudio": ({"path"},),
    "mention": ({"name", "path"},),
}

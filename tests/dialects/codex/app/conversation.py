"""A conversation with the machine of Codex app-server, its protocol, and the captures of it."""

import json
import re
from pathlib import Path
from typing import Any

from dragoman._files.sources import open_source
from dragoman._model import commands as c
from dragoman._model.events import Event
from dragoman._model.frames import Frame, Launch
from dragoman._wire.machine import StartOptions
from tests.dialects import conversation
from tests.interpreted import UNKNOWN, interpreted, strict_machine

CAPTURES = Path(__file__).parents[4] / "captures" / "codex_app" / "0.166.0"
SCENARIOS = sorted(path.name for path in CAPTURES.iterdir() if path.is_dir())
LAUNCH = Launch(agent="codex", dialect="codex_app")
THREAD = "01a1e0ba-5f7e-71b3-aaae-2941950f12c7"
TURN = "01a1e0ba-5ff8-7e33-abbe-130efef6bcd9"


def frames(scenario: str) -> list[Frame]:
    return list(open_source(CAPTURES / scenario / "frames.jsonl"))


def read(scenario: str) -> list[Event]:
    source = open_source(CAPTURES / scenario / "frames.jsonl")
    return interpreted("codex_app", list(source), exit=source.exit or UNKNOWN)


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


class Conversation(conversation.Conversation):
    """What we say is checked and taken down until somebody looks at it; what Codex says is made up by the test."""

    def __init__(self, **opening: Any) -> None:
        super().__init__(strict_machine("codex_app"), LAUNCH, StartOptions(opening=opening))

    def check(self, message: Any) -> None:
        check(message)

    def client(self, value: Any) -> None:
        """A line of another client's, as recordings have them."""
        self._send([json.dumps(value).encode()])
        self.sent.pop()

    def notify(self, method: str, **params: Any) -> None:
        self.agent({"method": method, "params": params, "emittedAtMs": 1})

    def answer(self, request: Any, result: Any) -> None:
        self.agent({"id": request["id"], "result": result})

    def refuse(self, request: Any, message: str) -> None:
        self.agent({"id": request["id"], "error": {"code": -32600, "message": message}})

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
        self.agent({"method": method, "id": id, "params": {"threadId": THREAD, "turnId": TURN, **params}})

    # --- the usual course of things

    def opened(self, thread: str = THREAD) -> "Conversation":
        self.answer(self.next("initialize"), {"userAgent": "dragoman/0.166.0 (x)", "codexHome": "/h"})
        self.next("initialized")
        self.answer(self.sent.pop(0), {"thread": {"id": thread}, "model": "m", "approvalPolicy": "never"})
        return self

    def in_turn(self, text: str = "go") -> "Conversation":
        self.say(c.Prompt(text=text, id="prompt"))
        self.answer(self.next("turn/start"), {"turn": {"id": TURN, "status": "inProgress"}})
        self.notify("turn/started", threadId=THREAD, turn={"id": TURN, "status": "inProgress"})
        return self

    def turn_over(self, status: str = "completed") -> None:
        self.notify("turn/completed", threadId=THREAD, turn={"id": TURN, "status": status, "items": []})

    def started(self, **item: Any) -> None:
        self.notify("item/started", threadId=THREAD, turnId=TURN, item=item)

    def completed(self, **item: Any) -> None:
        self.notify("item/completed", threadId=THREAD, turnId=TURN, item=item)


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

"""A conversation with the machine of ACP, and the lines that agents write.

Every line that the machine sends is checked against the published schema of the version that is spoken.
"""

import json
from typing import Any

from msgspec import structs

from dragoman._dialects.acp.counting import UsageRule
from dragoman._dialects.acp.opening import Opening
from dragoman._model.commands import Prompt
from dragoman._model.events import Event
from dragoman._model.frames import Launch
from dragoman._wire.machine import StartOptions
from tests.dialects import conversation
from tests.dialects.acp import schemas
from tests.interpreted import strict_machine

SESSION = "s1"
MODES = {
    "currentModeId": "default",
    "availableModes": [{"id": "default", "name": "Default"}, {"id": "plan", "name": "Plan"}],
}


class Conversation(conversation.Conversation):
    def __init__(
        self,
        opening: Opening | None = None,
        offers: frozenset[str] = frozenset(),
        usage_rule: UsageRule | None = None,
        opens_session: bool = True,
    ) -> None:
        opening = structs.replace(opening or Opening(cwd="/proj"), usage_rule=usage_rule)
        options = StartOptions(opening=opening, opens_session=opens_session, offers=offers)
        self.version: int | None = None
        self._asked: dict[Any, str] = {}
        """The agent's requests, by id."""
        launch = Launch(agent="tester", dialect="acp", cwd="/proj")
        super().__init__(strict_machine("acp", "tester"), launch, options)

    def agent(self, *messages: Any) -> list[Event]:
        for message in messages:
            if isinstance(message, dict) and "method" in message and "id" in message:
                self._asked[message["id"]] = message["method"]
        return super().agent(*(_line(message) for message in messages))

    def answer(self, result: Any = None, *, to: str, error: Any = None) -> list[Event]:
        """The agent answers the last request with this method."""
        id = next(line["id"] for line in reversed(self.sent) if line.get("method") == to and "id" in line)
        return self.agent({"id": id, "error": error} if error is not None else {"id": id, "result": result})

    def update(self, what: str, session: str = SESSION, **fields: Any) -> list[Event]:
        return self.agent(update(what, session, **fields))

    def ready(self, version: int = 1, name: str = "tester", **capabilities: Any) -> "Conversation":
        """Initialize is answered."""
        self.version = version
        info, offered = {"name": name, "version": "1"}, capabilities
        if version == 1:
            result = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": offered}
        else:
            result = {"protocolVersion": version, "info": info, "capabilities": offered}
        self.answer(result, to="initialize")
        return self

    def opened(self, version: int = 1, name: str = "tester", **result: Any) -> "Conversation":
        """There is a session."""
        self.ready(version, name)
        self.answer({"sessionId": SESSION, **result}, to="session/new")
        return self

    def working(self, version: int = 1, name: str = "tester", **result: Any) -> "Conversation":
        """There is a session and a turn in it."""
        self.opened(version, name, **result)
        self.say(Prompt(text="go"))
        return self

    def stops(self, reason: str = "end_turn", **fields: Any) -> list[Event]:
        return self.answer({"stopReason": reason, **fields}, to="session/prompt")

    def methods(self) -> list[str]:
        return [line["method"] for line in self.sent if "method" in line]

    def check(self, message: Any) -> None:
        answers = self._asked.get(message.get("id")) if "method" not in message else None
        for version in (self.version,) if self.version else _versions(message):
            schemas.check(version, message, answers)


def _line(message: Any) -> bytes:
    return message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()


def _versions(message: Any) -> tuple[int, ...]:
    """Before the agent has spoken a line must be right in every version that it offers."""
    return (1, 2) if message.get("params", {}).get("protocolVersion") == 2 else (1,)


# --- what agents write ---------------------------------------------------------------------------------------


def update(what: str, session: str = SESSION, **fields: Any) -> dict[str, Any]:
    params = {"sessionId": session, "update": {"sessionUpdate": what, **fields}}
    return {"method": "session/update", "params": params}


def chunk(
    text: str, kind: str = "agent_message_chunk", session: str = SESSION, **fields: Any
) -> dict[str, Any]:
    return update(kind, session, content={"type": "text", "text": text}, **fields)


OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "yes-always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def permission(id: Any = 7, call: str = "c1", options: Any = None, **tool: Any) -> dict[str, Any]:
    params = {
        "sessionId": SESSION,
        "toolCall": {"toolCallId": call, "title": "Run it", "kind": "execute", **tool},
        "options": OPTIONS if options is None else options,
    }
    return {"id": id, "method": "session/request_permission", "params": params}

"""Whether a line of the client's is the one that was recorded, but for what differs by nature: the ids that we give, where
we work, and how this version of the client introduces itself. Pure."""

import re
from typing import Any, Final, NamedTuple

from dragoman._wire.redaction import REDACTED

Json = Any

_INTRODUCTION: Final = "initialize"
"""What a client says of itself first, in every dialect that has such a thing: it is of the client's version."""

_OPENINGS: Final = frozenset(
    (
        *("session/new", "session/load", "session/resume", "session/fork"),
        *("thread/start", "thread/resume", "thread/fork"),
    )
)
_CHOSEN: Final = ("model", "approvalPolicy", "sandbox", "threadId", "sessionId", "lastTurnId")
"""What counts of the parameters that open a session, where both say it. The rest is where it is opened, and what this
version of the client brings along: servers, settings, trusted folders."""

_HOST_CALLS: Final = (b'"fs/', b'"terminal/')
_REDACTED: Final = REDACTED.decode()
_LONGEST: Final = 200


class Paired(NamedTuple):
    """What stands for the same in both lines: as it was recorded, and as it is now."""

    ids: list[tuple[Json, Json]]
    """Of our requests, in the place where the agent's answer names them."""
    texts: list[tuple[str, str]]
    """Ids of our messages, wherever the agent names them."""
    places: list[tuple[str, str]]
    """Folders."""


def difference(recorded: Json, sent: Json) -> str | None:
    """Where two lines say something else, and what; None if they mean the same."""
    if not isinstance(recorded, dict) or not isinstance(sent, dict):
        return _difference(recorded, sent, "")
    return _difference(*_common(_essence(recorded), _essence(sent)), "")


def paired(recorded: Json, sent: Json) -> Paired:
    """The free parts of two lines that mean the same."""
    pairs = Paired([], [], [])
    if not isinstance(recorded, dict) or not isinstance(sent, dict):
        return pairs
    if isinstance(recorded.get("uuid"), str) and isinstance(sent.get("uuid"), str):
        pairs.texts.append((recorded["uuid"], sent["uuid"]))
    for name in ("id", "request_id"):
        if name in recorded and name in sent and not is_answer(sent):
            pairs.ids.append((recorded[name], sent[name]))
    here = [_text(_params(message).get("cwd")) for message in (recorded, sent)]
    if recorded.get("method") in _OPENINGS and here[0] and here[1]:
        pairs.places.append((here[0], here[1]))
    return pairs


def is_answer(message: Json) -> bool:
    """Whether a line answers a request."""
    return isinstance(message, dict) and (
        message.get("type") == "control_response" or ("id" in message and "method" not in message)
    )


def answered(message: Json) -> Json:
    """The id of the request that a line answers."""
    response = message.get("response")
    return response.get("request_id") if isinstance(response, dict) else message.get("id")


def renamed(message: Json, id: Json) -> Json:
    """An answer, to a request that has another id now."""
    if message.get("type") == "control_response":
        return {**message, "response": {**message["response"], "request_id": id}}
    return {**message, "id": id}


def session(message: Json) -> str | None:
    """The session that a line is about, where it says so."""
    params = _params(message)
    return _text(params.get("sessionId")) or _text(params.get("threadId"))


def is_farewell(message: Json) -> bool:
    """Whether a client says with a line that it will say nothing more (ACP)."""
    return isinstance(message, dict) and message.get("method") == "session/close"


def is_host_call(line: bytes) -> bool:
    """Whether a line may be one by which an agent has its client read a file or run a command (ACP)."""
    return any(word in line for word in _HOST_CALLS)


# -----------------------------------------------------------------------------------------------------------


def _essence(message: dict[str, Json]) -> dict[str, Json]:
    """A line without what differs by nature."""
    kept = {name: value for name, value in message.items() if name != "uuid"}
    if is_answer(message):
        return kept
    kept.pop("id", None)
    kept.pop("request_id", None)
    if message.get("method") == _INTRODUCTION:
        kept.pop("params", None)
    elif message.get("method") in _OPENINGS:
        kept["params"] = {name: value for name, value in _params(message).items() if name in _CHOSEN}
    request = message.get("request")
    if isinstance(request, dict) and request.get("subtype") == _INTRODUCTION:
        kept["request"] = _INTRODUCTION
    return kept


def _common(one: dict[str, Json], other: dict[str, Json]) -> tuple[Json, Json]:
    """Of what opens a session, only what both say."""
    if one.get("method") not in _OPENINGS or other.get("method") not in _OPENINGS:
        return one, other
    both = one["params"].keys() & other["params"].keys()
    return tuple(  # type: ignore[return-value]
        {**message, "params": {name: message["params"][name] for name in both}} for message in (one, other)
    )


def _difference(recorded: Json, sent: Json, where: str) -> str | None:
    if isinstance(recorded, dict) and isinstance(sent, dict):
        for name in (*recorded, *(name for name in sent if name not in recorded)):
            place = f"{where}.{name}" if where else str(name)
            if name not in sent or name not in recorded:
                return f"{place} is {'not sent' if name in recorded else 'not in the recording'}"
            if (found := _difference(recorded[name], sent[name], place)) is not None:
                return found
        return None
    if isinstance(recorded, list) and isinstance(sent, list) and len(recorded) == len(sent):
        pairs = enumerate(zip(recorded, sent, strict=True))
        found_in = (_difference(one, other, f"{where}[{at}]") for at, (one, other) in pairs)
        return next((found for found in found_in if found is not None), None)
    if isinstance(recorded, str) and isinstance(sent, str) and _reads_as(recorded, sent):
        return None
    if type(recorded) is type(sent) and recorded == sent:
        return None
    return f"{where or 'it'} was {_shown(recorded)} and is {_shown(sent)}"


def _reads_as(recorded: str, sent: str) -> bool:
    """Whether a text is the recorded one; where that was redacted, nobody knows what stood there."""
    if recorded == sent or _REDACTED not in recorded:
        return recorded == sent
    pattern = ".*".join(map(re.escape, recorded.split(_REDACTED)))
    return re.fullmatch(pattern, sent, re.DOTALL) is not None


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _params(message: Json) -> dict[str, Json]:
    params = message.get("params") if isinstance(message, dict) else None
    return params if isinstance(params, dict) else {}


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None

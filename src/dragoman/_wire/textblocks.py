"""Blocks of text that grow by deltas: what is open, what it says so far, and halves of characters in between."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from dragoman._model.content import text_of
from dragoman._model.events import Delta, Message, Role
from dragoman._wire.jsontext import repaired_text


class BlockKey(NamedTuple):
    """What makes two deltas parts of one block."""

    session: str | None
    parent: str | None
    message_id: str | None
    block: int | None
    kind: Literal["text", "thinking", "plan"]


class OpenBlock:
    """A block whose deltas have begun and whose message has not come."""

    __slots__ = ("parts", "replay", "role")

    def __init__(self, role: Role, replay: bool) -> None:
        self.role = role
        self.replay = replay
        self.parts: list[str] = []


class TextBlocks:
    """All open blocks of a run, in the order in which they began."""

    def __init__(self) -> None:
        self._open: dict[BlockKey, OpenBlock] = {}
        self._halves: dict[object, str] = {}
        """High surrogates that wait for their other half, by block or, for a tool's text, by call."""

    def grow(self, delta: Delta) -> None:
        """Take in a delta. Its text is made whole first: a trailing high surrogate waits for the next one."""
        if delta.kind == "tool_input" or delta.kind == "tool_output":
            delta.text = self._whole(delta.text, (delta.session, delta.call_id, delta.kind))
            return
        key = BlockKey(delta.session, delta.parent, delta.message_id, delta.block, delta.kind)
        delta.text = self._whole(delta.text, key)
        block = self._open.get(key)
        if block is None:
            block = self._open[key] = OpenBlock(delta.role, delta.replay)
        block.parts.append(delta.text)

    def _whole(self, text: str, key: object) -> str:
        if self._halves:
            text = self._halves.pop(key, "") + text
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._halves[key] = text[-1]
            text = text[:-1]
        return text if text.isascii() else repaired_text(text)

    def close(self, message: Message) -> list[Delta | Message]:
        """The block's message has come. Where it says something else than the deltas did, what they amount to
        is a message of its own, which this one replaces."""
        # Whether text is commentary or an error is often known only when it is whole.
        kind = message.kind if message.kind == "thinking" or message.kind == "plan" else "text"
        key = BlockKey(message.session, message.parent, message.message_id, message.block, kind)
        block = self._open.get(key)
        if block is None:
            return []
        text = message.text if message.text is not None else text_of(message.blocks)
        if "".join(block.parts) != text or key in self._halves:
            events = self._closing(key)
            last = events[-1]
            return events[:-1] if isinstance(last, Message) and last.text == text else events
        del self._open[key]
        return []

    def discard(self, session: str | None, doomed: Callable[[BlockKey], bool]) -> list[str]:
        """Forget open blocks; the ids of the messages they were of. One without an id cannot be named, so it
        stays."""
        found = {key: key.message_id for key in self._open if key.session == session and doomed(key)}
        named = {key: id for key, id in found.items() if id is not None}
        for key in named:
            del self._open[key]
            self._halves.pop(key, None)
        return list(dict.fromkeys(named.values()))

    def finish(self, session: str | None) -> list[Delta | Message]:
        """The messages that the open blocks of a session amount to."""
        return [event for key in list(self._open) if key.session == session for event in self._closing(key)]

    def _closing(self, key: BlockKey) -> list[Delta | Message]:
        """The message that an open block amounts to, after the half of a character that was left of it."""
        block = self._open.pop(key)
        place: dict[str, Any] = {**key._asdict(), "role": block.role, "replay": block.replay}
        place["synthesized"] = True
        events: list[Delta | Message] = []
        if self._halves.pop(key, ""):
            block.parts.append("\ufffd")
            events.append(Delta(text="\ufffd", **place))
        events.append(Message(text="".join(block.parts), **place))
        return events

    def rename(self, old: str | None, new: str) -> None:
        """A session that had no name, or another one, is called `new` from now on."""
        for key in [key for key in self._open if key.session == old]:
            renamed = key._replace(session=new)
            self._open[renamed] = self._open.pop(key)
            if key in self._halves:
                self._halves[renamed] = self._halves.pop(key)

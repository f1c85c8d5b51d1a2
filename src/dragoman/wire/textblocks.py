"""Blocks of text that grow by deltas: what is open, what it says so far, and halves of characters in between."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dragoman.model.events import Delta, Message, MessageKind, Role
from dragoman.wire.jsontext import repaired_text


class BlockKey(NamedTuple):
    """What makes two deltas parts of one block."""

    session: str | None
    parent: str | None
    message_id: str | None
    block: int | None


class OpenBlock:
    """A block whose deltas have begun and whose message has not come."""

    __slots__ = ("kind", "parts", "replay", "role", "turn")

    def __init__(self, role: Role, kind: MessageKind, turn: int, replay: bool) -> None:
        self.role = role
        self.kind = kind
        self.turn = turn
        self.replay = replay
        self.parts: list[str] = []


class TextBlocks:
    """All open blocks of a run, in the order in which they began."""

    def __init__(self) -> None:
        self._open: dict[BlockKey, OpenBlock] = {}
        self._halves: dict[tuple[BlockKey, str | None], str] = {}

    def grow(self, delta: Delta, turn: int) -> None:
        """Take in a delta. Its text is made whole first: a trailing high surrogate waits for the next one."""
        key = BlockKey(delta.session, delta.parent, delta.message_id, delta.block)
        delta.text = self._whole(delta.text, (key, delta.call_id))
        if delta.kind == "tool_input" or delta.kind == "tool_output":
            return
        block = self._open.get(key)
        if block is None:
            block = self._open[key] = OpenBlock(delta.role, delta.kind, turn, delta.replay)
        block.parts.append(delta.text)

    def _whole(self, text: str, key: tuple[BlockKey, str | None]) -> str:
        if self._halves:
            text = self._halves.pop(key, "") + text
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._halves[key] = text[-1]
            text = text[:-1]
        return text if text.isascii() else repaired_text(text)

    def close(self, message: Message) -> None:
        """The block's message has come."""
        key = BlockKey(message.session, message.parent, message.message_id, message.block)
        if self._open.pop(key, None) is not None:
            self._halves.pop((key, None), None)

    def discard(self, session: str | None, doomed: Callable[[BlockKey], bool]) -> list[str]:
        """Forget open blocks; the ids of the messages they were of. One without an id cannot be named, so it
        stays."""
        found = {key: key.message_id for key in self._open if key.session == session and doomed(key)}
        named = {key: id for key, id in found.items() if id is not None}
        for key in named:
            del self._open[key]
            self._halves.pop((key, None), None)
        return list(dict.fromkeys(named.values()))

    def finish(self, session: str | None) -> list[Delta | Message]:
        """The messages that the open blocks of a session amount to, each after the half of a character that
        was left of it: no other half comes."""
        events: list[Delta | Message] = []
        for key in [key for key in self._open if key.session == session]:
            block = self._open.pop(key)
            place: dict[str, Any] = {**key._asdict(), "role": block.role, "kind": block.kind}
            place |= {"replay": block.replay, "synthesized": True}
            if self._halves.pop((key, None), ""):
                block.parts.append("\ufffd")
                events.append(Delta(text="\ufffd", **place))
            events.append(Message(text="".join(block.parts), **place))
        return events

    def rename(self, old: str | None, new: str) -> None:
        self._open = {
            key._replace(session=new) if key.session == old else key: block
            for key, block in self._open.items()
        }

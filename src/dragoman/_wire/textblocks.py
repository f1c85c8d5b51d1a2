"""Blocks of text that grow by deltas: the open ones and their text so far, for the ledger; and texts that an agent
repeats, made into deltas. Halves of characters in between are kept in both until the other half comes."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from dragoman._model.content import text_of
from dragoman._model.events import Delta, DeltaKind, Event, Message, Role
from dragoman._wire.jsontext import repaired_text


class Halves:
    """First halves of characters (high surrogates), by the text that they end, until the second half comes."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: dict[object, str] = {}

    def join(self, key: object, text: str) -> str:
        """`text` behind the half that waits for it, without a half at its end: that one waits for more."""
        if self.waiting:
            text = self.waiting.pop(key, "") + text
        if text.isascii():
            return text
        if _ends_in_half(text):
            self.waiting[key] = text[-1]
        return settled(text)

    def waits(self, key: object) -> bool:
        """Whether a half waits for the rest of this text."""
        return key in self.waiting

    def drop(self, key: object) -> bool:
        """Forget the half that waits; whether there was one."""
        return self.waiting.pop(key, None) is not None


def settled(text: str) -> str:
    """The characters of `text` that are whole: without a last one of which only half has come."""
    if _ends_in_half(text):
        text = text[:-1]
    return repaired_text(text)


def _ends_in_half(text: str) -> bool:
    return "\ud800" <= text[-1:] <= "\udbff"


# --- open blocks -------------------------------------------------------------------------------------------


BlockKind = Literal["text", "thinking", "plan"]


class BlockKey(NamedTuple):
    """What makes two deltas of a session parts of one block. Where nobody asks for its fields by name, the same values
    are a plain tuple, which is made five times as fast."""

    parent: str | None
    message_id: str | None
    block: int | None
    kind: BlockKind


PlainKey = tuple[str | None, str | None, int | None, BlockKind]


class OpenBlock:
    """A block whose deltas have begun and whose message has not come."""

    __slots__ = ("parts", "replay", "role")

    def __init__(self, role: Role, replay: bool) -> None:
        self.role = role
        self.replay = replay
        self.parts: list[str] = []


class TextBlocks:
    """The open blocks of a session, in the order in which they began."""

    def __init__(self) -> None:
        self.open: dict[PlainKey, OpenBlock] = {}
        self.halves = Halves()
        """By block or, for a tool's text, by call."""

    def grow(
        self,
        key: PlainKey,
        text: str,
        role: Role = "assistant",
        replay: bool = False,
    ) -> str:
        """A piece of a block. Returns its text, made whole: a trailing high surrogate waits for the next piece."""
        if self.halves.waiting or not text.isascii():
            text = self.halves.join(key, text)
        block = self.open.get(key)
        if block is None:
            block = self.open[key] = OpenBlock(role, replay)
        block.parts.append(text)
        return text

    def whole(self, call_id: str | None, kind: DeltaKind, text: str) -> str:
        """A piece of a tool's input or output, made whole likewise. No message comes of these."""
        return self.halves.join((call_id, kind), text)

    def close(self, message: Message) -> Sequence[Delta | Message]:
        """The block's message has come. Where it says something else than the deltas did, what they amount to
        is a message of its own, which this one replaces."""
        if not self.open:
            return ()
        # Whether text is commentary or an error is often known only when it is whole.
        kind = message.kind if message.kind == "thinking" or message.kind == "plan" else "text"
        key = (message.parent, message.message_id, message.block, kind)
        block = self.open.get(key)
        if block is None:
            return ()
        text = message.text if message.text is not None else text_of(message.blocks)
        if "".join(block.parts) != text or self.halves.waits(key):
            events = self._closing(key, message.session)
            last = events[-1]
            return events[:-1] if isinstance(last, Message) and last.text == text else events
        del self.open[key]
        return ()

    def discard(self, doomed: Callable[[BlockKey], bool]) -> list[str]:
        """Forget open blocks; the ids of the messages they were of. One without an id cannot be named, so it
        stays."""
        if not self.open:
            return []
        found = {key: key.message_id for key in (BlockKey(*key) for key in self.open) if doomed(key)}
        named = {key: id for key, id in found.items() if id is not None}
        for key in named:
            del self.open[key]
            self.halves.drop(key)
        return list(dict.fromkeys(named.values()))

    def finish(self, session: str | None) -> Sequence[Delta | Message]:
        """The messages that the open blocks amount to, in the session as it is called now."""
        if not self.open:
            return ()
        return [event for key in list(self.open) for event in self._closing(key, session)]

    def _closing(self, key: PlainKey, session: str | None) -> list[Delta | Message]:
        """The message that an open block amounts to, after the half of a character that was left of it."""
        block = self.open.pop(key)
        parent, message_id, number, kind = key
        events: list[Delta | Message] = []
        if self.halves.drop(key):
            block.parts.append("\ufffd")
            events.append(
                Delta(
                    text="\ufffd",
                    kind=kind,
                    message_id=message_id,
                    block=number,
                    parent=parent,
                    session=session,
                    role=block.role,
                    replay=block.replay,
                    synthesized=True,
                )
            )
        events.append(
            Message(
                text="".join(block.parts),
                kind=kind,
                message_id=message_id,
                block=number,
                parent=parent,
                session=session,
                role=block.role,
                replay=block.replay,
                synthesized=True,
            )
        )
        return events


# --- texts that are repeated -------------------------------------------------------------------------------


TextKey = tuple[str | None, int | None]
"""A message's id and a block's number."""


class Growing:
    """Texts that an agent sends whole each time they have grown, or in pieces and then once more whole. `put` gets
    deltas that are only the new part, and one message equal to them."""

    def __init__(self, put: Callable[[Event], None]) -> None:
        self._put = put
        self._put_texts: dict[TextKey, list[str]] = {}
        """The deltas of each text so far; they are joined when the text is whole, not with each that comes."""
        self._halves = Halves()

    def whole(self, delta: Delta) -> None:
        """Put the new part of `delta.text`, the whole text so far. A text that was rewritten starts over."""
        key = (delta.message_id, delta.block)
        text, told = settled(delta.text), self._told(self._put_texts.get(key))
        if told is not None and not text.startswith(told):
            self._give_up(told, delta.message_id, delta.block, delta.kind)
            told = None
        self._put_texts[key] = [text]
        if told is None or text != told:
            delta.text = text[len(told or "") :]
            self._put(delta)

    def piece(self, delta: Delta) -> None:
        """Put `delta`, whose text is new."""
        key = (delta.message_id, delta.block)
        delta.text = self._halves.join(key, delta.text)
        self._put_texts.setdefault(key, []).append(delta.text)
        self._put(delta)

    def finish(self, message: Message) -> None:
        """Put the complete text, after a last delta with what no delta had yet."""
        text = message.text or ""
        message.text = text if text.isascii() else repaired_text(text)
        if self._put_texts:  # most texts come whole and only once
            self._put_rest(message, message.text)
        self._put(message)

    def _put_rest(self, message: Message, text: str) -> None:
        """Put what the deltas of this message lack."""
        key = (message.message_id, message.block)
        told = self._told(self._put_texts.pop(key, None))
        self._halves.drop(key)
        kind: DeltaKind = "thinking" if message.kind == "thinking" else "text"
        if told is not None and not text.startswith(told):
            self._give_up(told, message.message_id, message.block, kind)
        elif told is not None and text != told:
            rest = text[len(told) :]
            self._put(Delta(kind=kind, text=rest, message_id=message.message_id, block=message.block))

    @staticmethod
    def _told(deltas: list[str] | None) -> str | None:
        return None if deltas is None else "".join(deltas)

    def forget(self) -> None:
        """The turn is over; texts that were not finished were closed with it."""
        if self._put_texts:  # without texts there are no halves of their characters
            self._put_texts.clear()
            self._halves = Halves()

    def _give_up(self, told: str, message_id: str | None, block: int | None, kind: DeltaKind) -> None:
        """Close a text as it stands, because another one follows under its id and replaces it (the example of
        specification 004 §4.8 has this)."""
        self._put(
            Message(
                role="assistant",
                kind="thinking" if kind == "thinking" else "text",
                text=told,
                message_id=message_id,
                block=block,
                synthesized=True,
            )
        )

"""Texts that an agent repeats whole each time they grow, or says in pieces and then once more whole.

Made into what consumers expect: deltas that are only the new part, and one message equal to them.
"""

from dragoman._model import events as ev
from dragoman._wire.jsontext import repaired_text
from dragoman._wire.ledger import Ledger

Key = tuple[str | None, int | None]


class Growing:
    """What was said so far of the texts that are not finished."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._said: dict[Key, str] = {}
        self._halves: dict[Key, str] = {}
        """Of pieces: the first half of a character, until the next piece brings the other."""

    def whole(self, delta: ev.Delta) -> None:
        """The text of `delta` is all there is so far. One that was rewritten starts over."""
        key = (delta.message_id, delta.block)
        text, said = _settled(delta.text), self._said.get(key)
        if said is not None and not text.startswith(said):
            self._give_up(said, delta.message_id, delta.block, delta.kind)
            said = None
        self._said[key] = text
        if said is None or text != said:
            delta.text = text[len(said or "") :]
            self._ledger.put(delta)

    def piece(self, delta: ev.Delta) -> None:
        """The text of `delta` is new."""
        key = (delta.message_id, delta.block)
        text = self._halves.pop(key, "") + delta.text
        delta.text = _settled(text)
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._halves[key] = text[-1]
        self._said[key] = self._said.get(key, "") + delta.text
        self._ledger.put(delta)

    def finish(self, message: ev.Message) -> None:
        """The text is complete: what no delta said yet comes as a last one."""
        key = (message.message_id, message.block)
        said = self._said.pop(key, None)
        self._halves.pop(key, None)
        message.text = repaired_text(message.text or "")
        kind: ev.DeltaKind = "thinking" if message.kind == "thinking" else "text"
        if said is not None and not message.text.startswith(said):
            self._give_up(said, message.message_id, message.block, kind)
        elif said is not None and message.text != said:
            rest = message.text[len(said) :]
            self._ledger.put(
                ev.Delta(kind=kind, text=rest, message_id=message.message_id, block=message.block)
            )
        self._ledger.put(message)

    def begun(self, message_id: str | None) -> bool:
        return any(key[0] == message_id for key in self._said)

    def forget(self) -> None:
        """The turn is over; what was not finished was closed with it."""
        self._said.clear()
        self._halves.clear()

    def _give_up(self, said: str, message_id: str | None, block: int | None, kind: ev.DeltaKind) -> None:
        """The text went another way (the example of specification 004 §4.8 does): what was said is closed as it
        stands, and the message that follows under the same id replaces it."""
        self._ledger.put(
            ev.Message(
                role="assistant",
                kind="thinking" if kind == "thinking" else "text",
                text=said,
                message_id=message_id,
                block=block,
                synthesized=True,
            )
        )


def _settled(text: str) -> str:
    """Without a last character of which only half has come."""
    if text and "\ud800" <= text[-1] <= "\udbff":
        text = text[:-1]
    return repaired_text(text)

"""The answer: what of all that was said in a turn a chat shows at its end."""

from dragoman._model import events as ev
from dragoman._projections.untether.engines import AnswerPolicy

_Key = tuple[str | None, str | None, int | None, int]


class Answer:
    """Follows the assistant's own texts; those of subagents are not part of it."""

    def __init__(self) -> None:
        self._texts: dict[_Key, str] = {}
        """By message and block, in the order in which they began."""
        self._nameless = 0
        """How many messages without an id were completed."""

    def turn_started(self) -> None:
        self._texts.clear()

    def grown(self, delta: ev.Delta) -> None:
        if delta.kind == "text" and delta.role == "assistant" and delta.parent is None:
            key = self._key(delta)
            self._texts[key] = self._texts.get(key, "") + delta.text

    def said(self, message: ev.Message) -> None:
        """A whole message stands for its deltas, and for an earlier one with its id."""
        if message.kind not in ("text", "error") or message.role != "assistant" or message.parent is not None:
            return
        key = self._key(message)
        self._texts[key] = message.text or ""
        if message.message_id is None:
            self._nameless += 1

    def discarded(self, retry: ev.Retry) -> None:
        self._texts = {key: text for key, text in self._texts.items() if key[1] not in retry.discards}

    def text(self, policy: AnswerPolicy, result: str | None) -> str:
        """`result` is what the agent itself calls its answer."""
        if policy == "all":
            return "".join(self._texts.values())
        return result or next((text for text in reversed(self._texts.values()) if text), "")

    def _key(self, event: ev.Delta | ev.Message) -> _Key:
        return event.session, event.message_id, event.block, 0 if event.message_id else self._nameless

"""Partial messages: the API's own stream of one message, block by block.

With partials the whole `assistant` line of a block comes just before its content_block_stop. After a cut in
mid-stream the deltas just stop and the retry comes under another message id: without any sign in 2.1.197
(capture api_midstream_cut), with api_retry or abandoned_blocks in 2.1.325 (x_cut_tool_325).
"""

from collections.abc import Callable
from typing import Any, Final, Literal

from dragoman._dialects.claude.shared.usage import usage_of
from dragoman._dialects.claude.stream import messages as m
from dragoman._dialects.claude.stream.translate import error_info
from dragoman._model import events as ev
from dragoman._wire import fields
from dragoman._wire.jsontext import Unknown
from dragoman._wire.ledger import Ledger

MESSAGES_KEPT: Final = 1000
"""Of how many messages it is known how many blocks came, and that they were counted. Several are under way at once, one
for each subagent."""


class Streaming:
    """The message that is being streamed, and the number of blocks of each message."""

    def __init__(self, ledger: Ledger, begin: Callable[[], None]) -> None:
        self._ledger = ledger
        self._begin = begin
        """Called for a sign that a turn has begun."""
        self.id: str | None = None
        """The id of the message that is, or was last, streamed."""
        self._model: str | None = None
        self._usage: dict[str, Any] = {}
        self._open: int | None = None
        self._calls: dict[int, str] = {}
        self._blocks: dict[str, int] = {}
        """The number of blocks of each of the last messages."""
        self._counted_ids: dict[str, None] = {}
        """The last messages whose usage was told."""

    def receive(self, message: m.StreamEvent) -> None:
        event, parent = message.event, message.parent_tool_use_id
        if parent is None and not self._ledger.open_turns:
            self._begin()
        if type(event) is m.BlockDelta:
            delta, index = event.delta, event.index
            if type(delta) is m.TextDelta:
                self._ledger.delta("text", delta.text, self.id, index, None, parent)
            elif type(delta) is m.ThinkingDelta:
                self._ledger.delta("thinking", delta.thinking, self.id, index, None, parent)
            elif type(delta) is m.InputDelta:
                call_id = self._calls.get(index)
                self._ledger.delta("tool_input", delta.partial_json, self.id, index, call_id, parent)
            elif type(delta) is Unknown:
                named = f"stream_event/content_block_delta/{delta.native_type}"
                self._ledger.put(ev.NativeUnknown(native_type=named))
        elif isinstance(event, m.BlockStart):
            self._block_start(event, parent)
        elif isinstance(event, m.BlockStop):
            self._open = None
        elif isinstance(event, m.MessageStart):
            self._message_start(event.message)
        elif isinstance(event, m.MessageDelta):
            self._usage.update({k: v for k, v in (event.usage or {}).items() if v is not None})
            self._say_usage(self.id, self._model, self._usage, parent)
        elif isinstance(event, m.MessageStop):
            self._abandon_blocks(message.abandoned_blocks)
        elif isinstance(event, m.ApiError):
            error = error_info(event.error) or ev.ErrorInfo(message="unknown error")
            self._ledger.put(ev.Error(message=error.message, code=error.code, severity="warning"))
        elif isinstance(event, Unknown):
            self._ledger.put(ev.NativeUnknown(native_type=f"stream_event/{event.native_type}"))

    def _message_start(self, message: m.ApiMessage) -> None:
        self.replaced_by(message.id)
        self.id, self._model, self._usage = message.id, message.model, dict(message.usage or {})
        self._open, self._calls = None, {}

    def _block_start(self, event: m.BlockStart, parent: str | None) -> None:
        self._open = event.index
        block = fields.as_mapping(event.content_block)
        call_id, text = fields.text(block, "id"), fields.text(block, "text") or fields.text(block, "thinking")
        if call_id is not None:
            self._calls[event.index] = call_id
        if text:
            kind: Literal["text", "thinking"] = "thinking" if "thinking" in block else "text"
            self._ledger.delta(kind, text, self.id, event.index, None, parent)

    # --- what the whole lines need -----------------------------------------------------------------------

    def next_block(self, message_id: str) -> int:
        """The index of the block on a whole line of this message."""
        count = self._blocks.get(message_id, 0)
        index = self._open if self.id == message_id and self._open is not None else count
        self._blocks[message_id] = index + 1
        _forget(self._blocks)
        return index

    def count(self, message: m.ApiMessage, parent: str | None) -> None:
        """Put the usage of a message that is not streamed, without its output count, which is that of the
        first token."""
        id, usage = message.id, message.usage
        if id != self.id and usage and id not in self._counted_ids and message.model != "<synthetic>":
            self._say_usage(id, message.model, {**usage, "output_tokens": None}, parent)

    def _say_usage(
        self, message_id: str | None, model: str | None, native: dict[str, Any], parent: str | None
    ) -> None:
        if message_id is None or message_id in self._counted_ids:
            return
        usage = usage_of(native)
        if usage is not None:
            self._counted_ids[message_id] = None
            _forget(self._counted_ids)
            self._ledger.put(
                ev.UsageUpdated(scope="call", usage=usage, model=model, message_id=message_id, parent=parent)
            )

    # --- retries -----------------------------------------------------------------------------------------

    def on_retry(self, message: m.ApiRetry) -> None:
        self._ledger.put(
            ev.Retry(
                attempt=message.attempt,
                max_attempts=message.max_retries,
                delay_ms=message.retry_delay_ms,
                reason=message.error,
                status_code=message.error_status,
                discards=self._ledger.discard(lambda key: key.parent is None),
            )
        )

    def replaced_by(self, message_id: str | None) -> None:
        """Give up the open blocks of other messages of the main thread, because this one begins."""
        discards = self._ledger.discard(lambda key: key.parent is None and key.message_id != message_id)
        if discards:
            self._ledger.put(ev.Retry(discards=discards, synthesized=True))

    def _abandon_blocks(self, abandoned: dict[str, Any] | None) -> None:
        first = fields.integer(abandoned, "from_block_index")
        if first is not None:
            discards = self._ledger.discard(
                lambda key: key.parent is None and key.message_id == self.id and (key.block or 0) >= first
            )
            if discards:
                self._ledger.put(ev.Retry(discards=discards, synthesized=True))


def _forget(messages: dict[str, Any]) -> None:
    if len(messages) > MESSAGES_KEPT:
        del messages[next(iter(messages))]

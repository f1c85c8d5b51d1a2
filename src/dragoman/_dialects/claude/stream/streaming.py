"""Partial messages: the API's own stream of one message, block by block.

With partials the whole `assistant` line of a block comes just before its content_block_stop. After a cut in
mid-stream the deltas just stop and the retry comes under another message id: without any sign in 2.1.197
(capture api_midstream_cut), with api_retry or abandoned_blocks in 2.1.325 (x_cut_tool_325).
"""

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import astuple

from dragoman._dialects.claude.shared.usage import Counts
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
        self._usage = Counts()
        self._request_id: str | None = None
        self._open: int | None = None
        self._calls: dict[int, str] = {}
        self._blocks: dict[str, int] = {}
        """The number of blocks of each of the last messages."""
        self._counted_ids: dict[str, None] = {}
        """The last messages whose usage was told."""

    def receive(self, message: m.StreamEvent) -> None:
        event, parent, ledger = message.event, message.parent_tool_use_id, self._ledger
        if parent is None and not ledger.open_turns:
            self._begin()
        if type(event) is not m.BlockDelta:
            if event is not None:
                ledger.native_type = _NAMES[type(event)]
                _EVENTS[type(event)](self, event, message)
            return
        ledger.native_type = "stream_event/content_block_delta"
        delta, index = event.delta, event.index
        if type(delta) is m.TextDelta:
            ledger.delta("text", delta.text, self.id, index, None, parent)
        elif type(delta) is m.ThinkingDelta:
            ledger.delta("thinking", delta.thinking, self.id, index, None, parent)
        elif type(delta) is m.InputDelta:
            ledger.delta("tool_input", delta.partial_json, self.id, index, self._calls.get(index), parent)
        elif type(delta) is Unknown:
            named = f"stream_event/content_block_delta/{delta.native_type}"
            ledger.put(ev.NativeUnknown(native_type=named))

    def _message_start(self, event: m.MessageStart, line: m.StreamEvent) -> None:
        message = event.message
        self.replaced_by(message.id)
        self.id, self._model, self._usage = message.id, message.model, message.usage or Counts()
        self._open, self._calls, self._request_id = None, {}, None

    def _block_start(self, event: m.BlockStart, line: m.StreamEvent) -> None:
        self._open = event.index
        block = fields.as_mapping(event.content_block)
        call_id, text = fields.text(block, "id"), fields.text(block, "text") or fields.text(block, "thinking")
        if call_id is not None:
            self._calls[event.index] = call_id
        if text:
            kind: Literal["text", "thinking"] = "thinking" if "thinking" in block else "text"
            self._ledger.delta(kind, text, self.id, event.index, None, line.parent_tool_use_id)

    def _block_stop(self, event: m.BlockStop, line: m.StreamEvent) -> None:
        self._open = None

    def _message_delta(self, event: m.MessageDelta, line: m.StreamEvent) -> None:
        if event.usage is not None:
            told = zip(astuple(event.usage), astuple(self._usage), strict=True)
            self._usage = Counts(*(before if now is None else now for now, before in told))
        if self.id not in self._counted_ids:
            self._say_usage(self.id, self._model, self._usage, self._request_id, line.parent_tool_use_id)

    def _message_stop(self, event: m.MessageStop, line: m.StreamEvent) -> None:
        if line.abandoned_blocks is not None:
            self._abandon_blocks(line.abandoned_blocks)

    def _api_error(self, event: m.ApiError, line: m.StreamEvent) -> None:
        error = error_info(event.error) or ev.ErrorInfo(message="unknown error")
        self._ledger.put(ev.Error(message=error.message, code=error.code, severity="warning"))

    def _unknown(self, event: Unknown, line: m.StreamEvent) -> None:
        self._ledger.put(ev.NativeUnknown(native_type=f"stream_event/{event.native_type}"))

    # --- what the whole lines need -----------------------------------------------------------------------

    def next_block(self, message_id: str) -> int:
        """The index of the block on a whole line of this message."""
        count = self._blocks.get(message_id, 0)
        index = self._open if self.id == message_id and self._open is not None else count
        self._blocks[message_id] = index + 1
        if len(self._blocks) > MESSAGES_KEPT:
            _forget_one(self._blocks)
        return index

    def count(
        self, message: m.ApiMessage, counts: Counts, request_id: str | None, parent: str | None
    ) -> None:
        """Put the usage of a message that is not streamed, without its output count, which is that of the
        first token. Of one that is, only this line tells the request."""
        id, model = message.id, message.model
        if id == self.id:
            self._request_id = request_id
        elif id not in self._counted_ids and model != "<synthetic>":
            self._say_usage(id, model, counts, request_id, parent, output=False)

    def _say_usage(
        self,
        message_id: str | None,
        model: str | None,
        counts: Counts,
        request_id: str | None,
        parent: str | None,
        *,
        output: bool = True,
    ) -> None:
        usage = counts.usage(output=output)
        if message_id is not None and usage is not None:
            self._counted_ids[message_id] = None
            if len(self._counted_ids) > MESSAGES_KEPT:
                _forget_one(self._counted_ids)
            call = counts.call(message_id, usage, model, request_id)
            call.parent = parent
            self._ledger.put(call)

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

    def _abandon_blocks(self, abandoned: dict[str, Any]) -> None:
        first = fields.integer(abandoned, "from_block_index")
        if first is not None:
            discards = self._ledger.discard(
                lambda key: key.parent is None and key.message_id == self.id and (key.block or 0) >= first
            )
            if discards:
                self._ledger.put(ev.Retry(discards=discards, synthesized=True))


def _forget_one(messages: dict[str, Any]) -> None:
    del messages[next(iter(messages))]


_EVENTS: Final[dict[type[Struct], Callable[[Streaming, Any, m.StreamEvent], None]]] = {
    m.MessageStart: Streaming._message_start,
    m.BlockStart: Streaming._block_start,
    m.BlockStop: Streaming._block_stop,
    m.MessageDelta: Streaming._message_delta,
    m.MessageStop: Streaming._message_stop,
    m.Ping: lambda streaming, event, line: None,
    m.ApiError: Streaming._api_error,
    Unknown: Streaming._unknown,
}
"""What is done about the API's events; deltas, which are most of them, are read before anything is looked up."""
_NAMES: Final = {kind: f"stream_event/{kind.__struct_config__.tag}" for kind in _EVENTS}
"""What those are called that say nothing."""

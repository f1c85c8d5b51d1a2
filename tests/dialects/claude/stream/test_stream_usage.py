"""Calls of the model, under the keys that the session file has for them."""

from typing import Any

from dragoman._model import events as ev
from tests.dialects.claude.stream.conversation import init, result, stream, text
from tests.interpreted import interpreted, of, out

FIRST = {"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 1}


def calls(*lines: Any) -> list[ev.UsageUpdated]:
    events = interpreted("claude_stream", out([init(), *lines, result()]))
    return [event for event in of(events, ev.UsageUpdated) if event.scope == "call"]


def whole(**fields: Any) -> dict[str, Any]:
    line = text("Hello.", id="m1", request_id="req_1", **fields)
    line["message"] |= {"usage": FIRST | {"service_tier": "priority"}, "model": "opus"}
    return line


def test_a_message_that_is_not_streamed_tells_no_output() -> None:
    """Its count is that of the first token."""
    [call] = calls(whole(), whole())
    assert call.usage is not None
    assert (call.call, call.request_id, call.model) == ("m1", "req_1", "opus")
    assert (call.usage.input_tokens, call.usage.output_tokens) == (110, None)
    assert call.service_tier == "priority"


def test_of_a_streamed_message_the_whole_line_tells_the_request() -> None:
    began = {"type": "message_start", "message": {"id": "m1", "model": "opus", "usage": FIRST}}
    ended = {"type": "message_delta", "usage": {"output_tokens": 20}}
    [call] = calls(stream(began), whole(), stream(ended))
    assert call.usage is not None
    assert (call.call, call.request_id, call.model) == ("m1", "req_1", "opus")
    assert (call.usage.input_tokens, call.usage.output_tokens) == (110, 20)

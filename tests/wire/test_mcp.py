"""The MCP server, on messages alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model.content import DiffBlock, ImageBlock, ResourceLinkBlock, TextBlock
from dragoman._wire import mcp
from dragoman._wire.jsonrpc import Notification, Request, RpcError

TOOLS = [{"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(("name", "clientInfo", "requestId", "x")), inner)
    ),
    max_leaves=8,
)
"""Any JSON, with the names that it looks for."""


def taken(method: str, params: Any = None, server: mcp.Server | None = None) -> Any:
    return (server or mcp.Server(TOOLS, "Mine.")).take(Request(1, method, params))


def as_client(name: str) -> mcp.Server:
    server = mcp.Server(TOOLS)
    taken("initialize", {"clientInfo": {"name": name}}, server)
    return server


def test_the_conversation() -> None:
    said = taken("initialize", {"protocolVersion": "2024-11-05", "clientInfo": {"name": "x"}})
    assert said["protocolVersion"] == "2024-11-05"
    assert said["capabilities"] == {"tools": {}}
    assert said["serverInfo"]["name"] == "dragoman"
    assert said["instructions"] == "Mine."
    assert taken("initialize")["protocolVersion"] == mcp.PROTOCOL
    assert "instructions" not in mcp.Server(TOOLS).take(Request(1, "initialize"))  # type: ignore[operator]
    assert taken("ping") == {}
    assert taken("tools/list") == {"tools": TOOLS}
    assert taken("tools/call", {"name": "add", "arguments": {"a": 1}}) == mcp.Call("add", {"a": 1})
    assert taken("tools/call", {"name": "add"}) == mcp.Call("add", None)


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("resources/list", None, -32601),
        ("tools/call/", {"name": "add"}, -32601),
        ("", None, -32601),
        ("tools/call", {"name": "subtract"}, -32602),
        ("tools/call", {"name": ["add"]}, -32602),
        ("tools/call", {"name": {"add": 1}}, -32602),
        ("tools/call", None, -32602),
        ("tools/call", [], -32602),
    ],
)
def test_what_there_is_not(method: str, params: Any, code: int) -> None:
    said = taken(method, params)
    assert isinstance(said, RpcError)
    assert said.code == code


@given(params=VALUES)
@pytest.mark.parametrize("method", ["initialize", "ping", "tools/list", "tools/call", "other"])
def test_nothing_raises(method: str, params: Any) -> None:
    assert isinstance(taken(method, params), dict | mcp.Call | RpcError)
    assert mcp.cancelled(Notification("notifications/cancelled", params)) is None or isinstance(params, dict)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, ""),
        (7, "7"),
        (True, "true"),
        ([1, "a"], '[1,"a"]'),
        ([], "[]"),
        ({"a": None}, '{"a":null}'),
        (b"raw", '"cmF3"'),
        ("half \ud83d", "half \ufffd"),
    ],
)
def test_results(value: Any, text: str) -> None:
    assert mcp.Server(TOOLS).result_of(value) == {"content": [{"type": "text", "text": text}]}


def test_blocks_are_content() -> None:
    image = ImageBlock(mime_type="image/png", data="aGk=")
    link = ResourceLinkBlock(uri="file:///a.txt")
    native = {"type": "image", "mimeType": "image/png", "data": "aGk="}
    result = mcp.Server(TOOLS).result_of
    assert result(image) == {"content": [native]}
    linked = {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"}
    assert result([TextBlock(text="Look:"), image, link])["content"] == [
        {"type": "text", "text": "Look:"},
        native,
        linked,
    ]


@pytest.mark.parametrize(
    "value", [object(), {1, object()}, DiffBlock(path="x"), [TextBlock(text="x"), object()]]
)
def test_what_is_no_result(value: Any) -> None:
    with pytest.raises(TypeError):
        mcp.Server(TOOLS).result_of(value)


@pytest.mark.parametrize("value", [7, "7", " true ", [1], None, '"x"', "null", "word", {"a": 1}, "{}"])
def test_gemini_takes_text_for_json(value: Any) -> None:
    """It makes an object of a text that is JSON, and fails unless it is one: then it gets one."""
    said = as_client("gemini-cli-mcp-client").result_of(value)
    assert "structuredContent" not in as_client("other").result_of(value)
    text = said["content"][0]["text"]
    try:
        read = json.loads(text)
    except ValueError:
        read = {}
    if isinstance(read, dict):
        assert "structuredContent" not in said
    else:
        assert said["structuredContent"] == {"result": read}


def test_a_failure_is_a_result() -> None:
    assert mcp.failure("No \ud83d.") == {"content": [{"type": "text", "text": "No \ufffd."}], "isError": True}


def test_what_is_cancelled() -> None:
    assert mcp.cancelled(Notification("notifications/cancelled", {"requestId": 7})) == 7
    assert mcp.cancelled(Notification("notifications/initialized", {"requestId": 7})) is None
    assert mcp.cancelled(Notification("notifications/cancelled", {"requestId": True})) is None

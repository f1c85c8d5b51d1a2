"""Events as the page takes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model import events as ev
from dragoman._model.content import ImageBlock, TextBlock
from dragoman._model.events import Event
from dragoman._model.patches import between
from dragoman._server import windows
from dragoman._server.page_events import IMAGE, LONG, leave_out, page_event, whole_event
from dragoman._wire.event_json import encode
from tests.golden import captures, events_of, name

ALL = captures()
NATIVE = {"ext", "line", "line_b64", "eol"}
TEXTS = {"diff", "before", "after"}
MADE = {"rows", "added", "removed", "nodes"}


def canonical(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(encode(event))
    return found


@pytest.mark.parametrize("capture", ALL, ids=name)
def test_nothing_else_is_left_out_and_nothing_is_changed(capture: Path) -> None:
    for event in events_of(capture, native=True):
        before = encode(event)
        found = page_event(event)
        assert encode(event) == before
        assert msgspec.json.decode(msgspec.json.encode(found)) is not None
        assert whole_event(event) == canonical(event)
        if len(before) > LONG:
            continue
        replaced = NATIVE | (TEXTS if isinstance(event, ev.FileChanged) else set())
        told = {key: value for key, value in canonical(event).items() if key not in replaced}
        assert {key: value for key, value in found.items() if key not in MADE} == told
        says = (
            isinstance(event, ev.Message)
            and event.role == "assistant"
            and event.kind != "error"
            and event.text
        )
        assert ("nodes" in found) == bool(says)
        assert ("rows" in found) == isinstance(event, ev.FileChanged)


def test_markdown_is_read() -> None:
    said = page_event(ev.Message(role="assistant", text="**a**"))
    assert said["nodes"] == [["p", {}, [["strong", {}, ["a"]]]]]
    blocks = page_event(ev.Message(role="assistant", blocks=[TextBlock(text="*a*"), ImageBlock(data="eA==")]))
    assert blocks["nodes"] == [["p", {}, [["em", {}, ["a"]]]]]
    for other in (
        ev.Message(role="user", text="*a*"),
        ev.Message(role="assistant", kind="error", text="*a*"),
    ):
        assert "nodes" not in page_event(other)


def test_a_change_has_rows() -> None:
    change = ev.FileChanged(
        path="a", change="modified", diff=between("a", "1\n2\n", "1\n3\n"), before="1\n2\n", after="1\n3\n"
    )
    found = page_event(change)
    assert found["rows"] == [("@", "@@ -1,2 +1,2 @@"), (" ", "1"), ("-", "2"), ("+", "3")]
    assert (found["added"], found["removed"]) == (1, 1)
    assert not found.keys() & {"diff", "before", "after"}
    assert change.diff is not None
    assert change.before == "1\n2\n"


def test_long_texts_are_cut_and_it_is_said() -> None:
    long = "ä" * (LONG + 5)
    ended = ev.ToolEnded(
        call_id="c", status="completed", output=long, content=[TextBlock(text="short"), TextBlock(text=long)],
        structured={"a": ["b", long], "ok": True},
    )  # fmt: skip
    found = page_event(ended)
    assert found["cut"] == {"output": LONG + 5, "content.1.text": LONG + 5, "structured.a.1": LONG + 5}
    assert found["output"] == found["content"][1]["text"] == found["structured"]["a"][1] == long[:LONG]
    assert found["content"][0]["text"] == "short"
    assert whole_event(ended)["output"] == long
    said = page_event(ev.Message(role="assistant", text=f"{long} **end**"))
    assert said["cut"] == {"text": LONG + 13}
    assert "end" not in str(said["nodes"])


def test_a_long_diff_is_cut_and_counted_whole() -> None:
    lines = 5_000
    diff = f"@@ -0,0 +1,{lines} @@\n" + "+0123456789\n" * lines
    found = page_event(ev.FileChanged(path="a", change="created", diff=diff))
    assert (found["added"], found["cut"]) == (lines, {"diff": len(diff)})
    assert LONG * 0.8 < sum(len(text) for _, text in found["rows"]) <= LONG
    one_line = page_event(
        ev.FileChanged(path="a", change="created", diff="@@ -0,0 +1 @@\n+" + "x" * 10 * LONG)
    )
    assert sum(len(text) for _, text in one_line["rows"]) <= LONG


def test_images_are_whole_up_to_a_size() -> None:
    image = ImageBlock(mime_type="image/png", data="A" * (2 * LONG))
    huge = ImageBlock(mime_type="image/png", data="A" * (IMAGE + 1))
    found = page_event(ev.Message(role="user", blocks=[image, huge]))
    assert [len(block["data"]) for block in found["blocks"]] == [2 * LONG, LONG]
    assert found["cut"] == {"blocks.1.data": IMAGE + 1}


def nested(depth: int) -> Any:
    value: Any = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.parametrize("depth", [10, 190, 300, 900, 5_000])
def test_whatever_is_nested_can_be_written_anywhere(depth: int) -> None:
    event = ev.ToolStarted(call_id="c", name="x", input=nested(depth))

    def below(level: int) -> bytes:
        return below(level - 1) if level else msgspec.json.encode(page_event(event))

    assert below(400)
    assert msgspec.json.encode(whole_event(event))


ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(2**80), 2**80) | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=20,
)
ODD_TEXT = st.text(st.characters(exclude_categories=[]), max_size=40)


@given(ODD, ODD_TEXT)
def test_anything_an_agent_may_say(value: Any, text: str) -> None:
    for event in (
        ev.ToolStarted(call_id=text, name=text, input=value, ext={"a": value}),
        ev.ToolEnded(call_id=text, status="failed", output=text, structured=value),
        ev.Message(role="assistant", text=text),
        ev.Delta(text=text),
        ev.FileChanged(path=text, change="modified", before=text, after=f"{text}\n\ud800"),
        ev.FileChanged(path=text, change="modified", diff=f"@@ -1 +1 @@\n-{text}\n+\udfff"),
    ):
        msgspec.json.encode(page_event(event))


# --- what a window leaves out --------------------------------------------------------------------------------


def numbered(events: Sequence[Event]) -> Sequence[Event]:
    for number, event in enumerate(events, 1):
        event.seq = number
    return events


def test_deltas_of_what_is_there_are_left_out() -> None:
    events = numbered(
        [
            ev.Delta(text="a", message_id="m", block=0),
            ev.Delta(text="t", kind="thinking", message_id="m", block=1),
            ev.NativeKnown(),
            ev.Message(role="assistant", kind="commentary", text="a", message_id="m", block=0),
            ev.Delta(kind="tool_input", call_id="c"),
            ev.ToolStarted(call_id="c", name="x"),
            ev.Delta(kind="tool_output", call_id="c"),
            ev.Delta(kind="tool_output", call_id="d"),
            ev.ToolEnded(call_id="c", status="completed"),
            ev.Delta(text="gone", message_id="r", block=0),
            ev.Retry(discards=["r"]),
            ev.Delta(text="b", message_id="m", block=0),
        ]
    )
    assert leave_out(events) == {1, 3, 5, 7, 10}
    assert leave_out(events, over=True) == {1, 2, 3, 5, 7, 8, 10, 12}


@pytest.mark.parametrize("capture", ALL, ids=name)
def test_nothing_is_lost_by_it(capture: Path) -> None:
    """In a run that is over all that grew is there as a whole."""
    events = events_of(capture)
    left_out = leave_out(events, over=True)
    whole: dict[str, str] = {}
    for event in events:
        if isinstance(event, ev.Message) and event.role == "assistant":
            whole["said"] = whole.get("said", "") + (event.text or "")
        elif isinstance(event, ev.ToolEnded):
            whole[event.call_id] = (event.output or "") + str(event.content)
    discarded = {id for event in events if isinstance(event, ev.Retry) for id in event.discards}
    for event in events:
        if not isinstance(event, ev.Delta):
            assert event.seq not in left_out or isinstance(event, ev.NativeKnown)
        elif event.kind == "tool_output":
            assert event.text.strip() in whole[event.call_id or ""]
        elif event.kind in ("text", "thinking", "plan") and event.message_id not in discarded:
            assert event.role != "assistant" or event.text in whole["said"]


# --- windows -------------------------------------------------------------------------------------------------

EVENTS = st.lists(st.sampled_from([ev.Delta, ev.NativeKnown, ev.Notice, ev.Retry]), max_size=80)


@given(EVENTS, st.integers(1, 30), st.booleans())
def test_windows_meet(kinds: list[type[Event]], limit: int, deltas: bool) -> None:
    """Backwards from the newest and forwards from the beginning: each event once and in its order."""
    events = numbered([kind() for kind in kinds])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "BLOCK", 7)
        patch.setattr(windows, "MOST", 21)

        def window(**place: int) -> Any:
            found = windows.window(
                "u1", len(events), lambda a, b: events[a - 1 : b], limit=limit, deltas=deltas, **place
            )
            assert all(found.first <= event["seq"] <= found.last for event in found.events)
            assert len(found.events) <= limit
            assert (found.more_before, found.more_after) == (found.first > 1, found.last < len(events))
            return found

        wanted = [event.seq for event in events if deltas or not isinstance(event, ev.Delta | ev.NativeKnown)]
        newest = found = window()
        assert not found.more_after
        backwards = [event["seq"] for event in found.events]
        while found.more_before:
            earlier = window(before=found.first)
            assert earlier.last == found.first - 1
            backwards = [event["seq"] for event in earlier.events] + backwards
            found = earlier
        assert backwards == wanted
        found = window(after=0)
        forwards = [event["seq"] for event in found.events]
        while found.more_after:
            later = window(after=found.last)
            assert later.first == found.last + 1
            forwards += [event["seq"] for event in later.events]
            found = later
        assert forwards == wanted
        assert window(before=10**30) == newest
        assert window(after=10**30).events == window(before=0).events == []

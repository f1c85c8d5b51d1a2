"""Texts that an agent repeats, and halves of characters in between."""

from hypothesis import given
from hypothesis import strategies as st

from dragoman._model.events import Delta, Event, Message
from dragoman._wire.textblocks import Growing, Halves, settled


def grown() -> tuple[Growing, list[Event]]:
    events: list[Event] = []
    return Growing(events.append), events


def said(events: list[Event]) -> list[tuple[str, str | None]]:
    return [(type(event).__name__, event.text) for event in events if isinstance(event, Delta | Message)]


def test_a_half_waits_for_the_other() -> None:
    halves = Halves()
    assert halves.join("a", "x\ud83d") == "x"
    assert halves.waits("a")
    assert not halves.waits("b")
    assert halves.join("b", "\ude00") == "\ufffd"
    assert halves.join("a", "\ude00y") == "😀y"
    assert not halves.waits("a")


def test_a_half_is_dropped_once() -> None:
    halves = Halves()
    halves.join("a", "\ud83d")
    assert halves.drop("a")
    assert not halves.drop("a")


def test_whole_texts_become_what_is_new_of_them() -> None:
    growing, events = grown()
    for whole in ("", "a", "a", "ab\ud83d", "ab😀"):
        growing.whole(Delta(text=whole, message_id="m"))
    growing.finish(Message(role="assistant", text="ab😀c", message_id="m"))
    assert said(events) == [
        ("Delta", ""),
        ("Delta", "a"),
        ("Delta", "b"),
        ("Delta", "😀"),
        ("Delta", "c"),
        ("Message", "ab😀c"),
    ]


def test_a_rewritten_text_is_closed_and_begun_again() -> None:
    growing, events = grown()
    growing.whole(Delta(text="one", message_id="m"))
    growing.whole(Delta(text="two", message_id="m"))
    growing.finish(Message(role="assistant", text="three", message_id="m"))
    assert said(events) == [
        ("Delta", "one"),
        ("Message", "one"),
        ("Delta", "two"),
        ("Message", "two"),
        ("Message", "three"),
    ]
    assert [event.synthesized for event in events] == [False, True, False, True, False]


def test_pieces_and_then_the_whole() -> None:
    growing, events = grown()
    growing.piece(Delta(text="a\ud83d", message_id="m"))
    growing.piece(Delta(text="\ude00", message_id="m"))
    growing.piece(Delta(text="\ud83d", message_id="m"))
    growing.finish(Message(role="assistant", text="a😀😀", message_id="m"))
    assert said(events) == [
        ("Delta", "a"),
        ("Delta", "😀"),
        ("Delta", ""),
        ("Delta", "😀"),
        ("Message", "a😀😀"),
    ]


def test_what_was_forgotten_begins_anew() -> None:
    growing, events = grown()
    growing.piece(Delta(text="a\ud83d", message_id="m"))
    growing.forget()
    growing.piece(Delta(text="b", message_id="m"))
    assert said(events) == [("Delta", "a"), ("Delta", "b")]


@given(st.text(st.sampled_from("ab😀é"), max_size=6), st.data())
def test_pieces_of_utf16_come_to_the_whole(whole: str, data: st.DataObject) -> None:
    units = whole.encode("utf-16-le", "surrogatepass")
    halves, parts = Halves(), []
    while units:
        size = 2 * data.draw(st.integers(1, 3))
        parts.append(halves.join("a", units[:size].decode("utf-16-le", "surrogatepass")))
        units = units[size:]
    assert "".join(parts) == whole


@given(st.text())
def test_settled_text_can_be_written(text: str) -> None:
    settled(text + "\ud83d").encode()

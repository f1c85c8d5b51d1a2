"""Deltas that are plain at a glance: what the glance lets through is what the exact road would have written, byte for byte."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._files import recording
from dragoman._files.moulds import Alike, Mould, mould_of
from dragoman._files.streamed_text import FrameRedactor, _last, _Pieces
from dragoman._model.frames import Frame, Launch
from dragoman._wire.plain_words import unescaped
from dragoman._wire.redaction import Redactor
from tests.secret_samples import BODY, FORMS, KEYS, longest_left, whole

KNOWN = ("correct horse battery", "beadbead-0000-4000-8000-00000000cafe", 'quo"ted-secret')
FEW = 6


class Counting(FrameRedactor):
    """Counts what took the exact road."""

    looked_at = 0

    def _exact(self, frame: Frame) -> bytes:
        self.looked_at += 1
        return super()._exact(frame)


def lines_of(redactor: FrameRedactor, frames: Sequence[Frame]) -> list[bytes]:
    """What is written of frames that came together."""
    lines: list[bytes] = []
    for part in redactor.parts(frames):
        alike = isinstance(part, Alike)
        lines += [frame.line for frame in frames[len(lines) :][: len(part.texts)]] if alike else part
    return lines


def claude(text: str, index: int = 0, id: str = "22222222-2222-4222-8222-222222222222") -> Any:
    delta = {"type": "text_delta", "text": text}
    event = {"type": "content_block_delta", "index": index, "delta": delta}
    return {"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": None, "uuid": id}


def acp(text: str, index: int = 0, id: str = "") -> Any:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": f"s-{index}", "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def codex(text: str, index: int = 0, id: str = "") -> Any:
    params = {"threadId": "t", "turnId": "u", "itemId": f"i-{index}", "delta": text}
    return {"method": "item/agentMessage/delta", "params": params}


def gemini(text: str, index: int = 0, id: str = "") -> Any:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


DIALECTS: dict[Callable[..., Any], str] = {
    claude: "claude_stream",
    acp: "acp",
    codex: "codex_app",
    gemini: "gemini_stream",
}


def compact(said: Any) -> bytes:
    return json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def both(dialect: str, lines: Sequence[bytes], sizes: Sequence[int], known: Sequence[str] = KNOWN) -> None:
    """The lines in batches of these sizes, by both roads."""
    frames = [Frame(n, "out", line) for n, line in enumerate(lines, 1)]
    slow = FrameRedactor(Redactor(known), dialect)
    exact = [slow._exact(frame) for frame in frames]
    fast, written, at = FrameRedactor(Redactor(known), dialect), list[bytes](), 0
    while at < len(frames):
        size = sizes[len(written) % len(sizes)]
        written += lines_of(fast, frames[at : at + size])
        at += size
    assert written == exact
    assert rows(dialect, frames, sizes, known) == recording._rows(frames, exact)


def rows(dialect: str, frames: Sequence[Frame], sizes: Sequence[int], known: Sequence[str]) -> bytes:
    """What is recorded of the frames in batches of these sizes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        with recording.RecordingWriter(path, Redactor(known)) as writer:
            writer.begin(Launch(agent="a", dialect=dialect))
            at = turn = 0
            while at < len(frames):
                writer.frames(frames[at : at + sizes[turn % len(sizes)]])
                at += sizes[turn % len(sizes)]
                turn += 1
        return path.read_bytes().split(b"\n", 1)[1]


@pytest.fixture(autouse=True, scope="module")
def _rows_of_every_run_alike_by_a_pattern() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "MANY", 1)
        yield


WORDS = [
    "a few words", " at a time", "task-", "sk-", "force", "token", "s", "key", ": ", "=", "\n", "\t", '"', "\\", "\\n", "%20", "//",
    "/", "https:", "me:", "w0nderland1@", "~", "Q", "1//0", "PRIV", "ATE KEY", "Bearer ", "Basic ", "My", "Cookie: a=", "curl -u ",
    "x" * 30, "é", "\x1b[0m", "\x01", "\x02", "", " ", "correct", " horse", " battery", "password", "ghp_", "0123456789abcdefABCDEF",
    "  indented", "end.", "\U0001f600", "\ud83d", "-----BEGIN ", "-----", "\r\n",
]  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), max_size=6).map("".join),
    st.text(max_size=12),
)
IDS = st.one_of(st.uuids().map(str), st.sampled_from(["e2b00000-0000-4000-8000-000000000000", KNOWN[1]]))
SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=4)


@pytest.mark.parametrize("say", DIALECTS)
@given(data=st.data())
def test_both_roads_write_the_same(say: Callable[..., Any], data: st.DataObject) -> None:
    texts = data.draw(st.lists(TEXTS, min_size=1, max_size=60))
    streams = data.draw(st.integers(1, 3))
    lines = [
        compact(say(text, data.draw(st.integers(1, streams)), data.draw(IDS) if say is claude else ""))
        for text in texts
    ]
    both(DIALECTS[say], lines, data.draw(SIZES), data.draw(st.sampled_from([(), KNOWN[:2], KNOWN])))


@pytest.mark.parametrize("say", DIALECTS)
@given(data=st.data())
def test_both_roads_write_the_same_of_a_secret_in_pieces(
    say: Callable[..., Any], data: st.DataObject
) -> None:
    """Among many deltas that are plain, so that the glance is at its widest when it comes."""
    secret = data.draw(st.sampled_from([*map(whole, FORMS), *KEYS, "correct horse battery"]))
    text = f"a few words at a time It is {secret}\nand so on, a few words at a time"
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    pieces = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    plain = [" and so on"] * data.draw(st.integers(0, 80))
    both(DIALECTS[say], [compact(say(piece)) for piece in [*plain, *pieces, *plain]], data.draw(SIZES))


@given(st.data())
def test_lines_that_only_look_like_a_mould_take_the_exact_road(data: st.DataObject) -> None:
    """Of the mould at both ends, and something else in between: another entry of the same name, a quote, half an escape,
    bytes that are no text, another end."""
    plain = compact(claude("so"))
    head, tail = plain.split(b"so", 1)
    odd = [
        head + middle + end
        for middle in (
            b'a","text":"sk-ant-api03-A1b2C3d4E5f6A1b2C3d4E5f6',
            b'a","token":"A1b2C3d4E5f6A1b2C3d4E5f6',
            b'a"},"text":{"b":"c',
            b"a\\",
            b'\\"',
            b"\\\\",
            b"\\u0073k-ant-api03-A1b2C3d4E5f6A1b2C3d4E5f6",
            b"\xff\xfe",
            b"\xc3",
            b"\xa9",
            b"\ttab",
            b"\x01",
            b"\x02",
            b"\x00",
        )
        for end in (
            tail,
            tail + b" ",
            tail[:-1],
            tail.replace(b"null", b'"p"'),
            tail.replace(b'"2222', b'"sk-2'),
        )
    ]
    lines = data.draw(st.lists(st.sampled_from([plain, plain, *odd]), min_size=2, max_size=40))
    both("claude_stream", [plain, *lines], data.draw(SIZES))


def test_plain_deltas_are_not_looked_at_one_by_one() -> None:
    """With quotes and ends of lines in them, of every dialect, ids and all."""
    for say, dialect in DIALECTS.items():
        texts = ['He said "so"\n', "a few", " words", "\tat a time,", " and é."] * 100
        lines = [compact(say(text, id=str(UUID(int=n << 70)))) for n, text in enumerate(texts)]
        frames = Counting(Redactor(KNOWN[:2]), dialect)
        assert lines_of(frames, [Frame(n, "out", line) for n, line in enumerate(lines, 1)]) == lines
        assert frames.looked_at <= 2


def test_rows_of_lines_alike_are_those_of_each_line() -> None:
    """Where the time is said, the last one lacks its newline, there is a sign of formats in what they have in common, and
    where that is no text."""
    for head in (b'{"delta":true,"at":"100%d","content":"', b'{"delta":true,"at":"\xff%","content":"'):
        lines = [head + b'a \\"few\\"\\n words' + str(n).encode() + b'"}' for n in range(40)]
        frames = [Frame(n, "out", line, 0.25 * (n > 20), n != 40) for n, line in enumerate(lines, 1)]
        alike = Alike(Mould(head, b'"}', False), [line[len(head) : -2] for line in lines], [])
        for some in (slice(0, 20), slice(20, 39), slice(0, 40)):
            part = Alike(alike.mould, alike.texts[some], [])
            if frames[some][-1].eol:
                assert recording._rows_alike(frames[some], part) == recording._rows(frames[some], lines[some])
        assert rows("gemini_stream", frames, [40], ()) == recording._rows(frames, lines)


def test_a_secret_is_caught_where_the_glance_is_widest() -> None:
    key = "ghp_" + "AbCdEfGh0123456789" * 2
    texts = [*["and so on "] * 300, *key, *[" and so on"] * 300]
    frames = FrameRedactor(Redactor(), "claude_stream")
    written = lines_of(frames, [Frame(n, "out", compact(claude(text))) for n, text in enumerate(texts, 1)])
    together = "".join(json.loads(line)["event"]["delta"]["text"] for line in written)
    assert longest_left(key, together) <= FEW
    assert together.startswith("and so on " * 300)
    assert together.endswith("[redacted]" + " and so on" * 300)


def test_stderr_has_no_mould() -> None:
    """It is no JSON, whatever it looks like."""
    line, lines = compact(claude("so")), [Frame(1, "out", compact(claude("so")))] * 3
    frames = Counting(Redactor(), "claude_stream")
    lines_of(frames, [*lines, Frame(4, "err", line), Frame(5, "err", BODY.encode())])
    assert frames.looked_at == 3


def test_a_mould_is_where_the_text_is() -> None:
    line = compact(claude("so"))
    mould = mould_of(line, "text", "so")
    assert mould is not None
    assert mould.has_id
    assert mould.texts([line, line.replace(b"so", b"and so on"), b"{}", line])[0] == [b"so", b"and so on"]
    assert mould_of(b'{"text": "so"}', "text", "so") is None
    assert mould_of(b'{"text":"so"}', "text", "so") == Mould(b'{"text":"', b'"}', False)


@given(
    lines=st.lists(
        st.tuples(
            st.sampled_from(("", "h", "ha", "hah")),
            st.text("hat", max_size=4),
            st.sampled_from(("", "t", "at", "hat")),
        )
    )
)
@pytest.mark.parametrize("id", ["", '33333333-3333-4333-8333-333333333333"}'])
def test_a_line_of_a_mould_has_its_whole_head_and_tail(lines: list[tuple[str, str, str]], id: str) -> None:
    """Both of them, one after the other: they must not share a byte."""
    mould = Mould(b"ha", b"at", bool(id))
    said = [("".join(line) + id).encode() for line in lines]
    expected: list[bytes] = []
    for line in said:
        rest = line[: len(line) - len(id)]
        if len(rest) < 4 or not (rest.startswith(b"ha") and rest.endswith(b"at")):
            break
        expected.append(rest[2:-2])
    assert mould.texts(said) == (expected, [id.encode()] * len(expected) if id else [])


@given(st.lists(st.sampled_from(("word", "a ", r"\n", r"\"", r"\t", "0123456789" * 13)), max_size=400))
def test_of_many_pieces_the_end_is_kept_as_if_each_had_come_alone(pieces: list[str]) -> None:
    many, whole = _Pieces(Redactor()), b"".join(unescaped(piece.encode()) for piece in pieces)
    many.pass_on([piece.encode() for piece in pieces])
    assert many.before == _last(whole)

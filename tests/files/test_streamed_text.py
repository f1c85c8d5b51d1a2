"""Secrets that come in pieces do not reach the recording, and what is no secret comes through whole."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._files.convert import convert
from dragoman._files.recording import RecordingWriter, read_recording
from dragoman._files.sources import open_source
from dragoman._files.streamed_text import FrameRedactor
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.redaction import Redactor
from tests.secret_samples import BODY, FORMS, KEYS, longest_left, whole

FEW = 6
"""Characters of a secret that may stay."""

Read = Callable[[Any], str]


def _claude(kind: str, key: str) -> tuple[Callable[[str], Any], Read]:
    def said(text: str) -> Any:
        delta = {"type": f"{kind}_delta", key: text}
        event = {"type": "content_block_delta", "index": 1, "delta": delta}
        return {
            "type": "stream_event",
            "event": event,
            "session_id": "s",
            "parent_tool_use_id": None,
            "uuid": "u",
        }

    return said, lambda line: line["event"]["delta"][key]


def _update(update: Any) -> Any:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}


def _coded(text: str) -> str:
    return b64encode(text.encode()).decode()


STREAMS: dict[str, tuple[str, Callable[[str], Any], Read]] = {
    "text": ("claude_stream", *_claude("text", "text")),
    "thinking": ("claude_stream", *_claude("thinking", "thinking")),
    "input": ("claude_stream", *_claude("input_json", "partial_json")),
    "message": (
        "acp",
        lambda text: _update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
        lambda line: line["params"]["update"]["content"]["text"],
    ),
    "terminal": (
        "acp",
        lambda text: _update({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": _coded(text)}),
        lambda line: b64decode(line["params"]["update"]["data"]).decode(),
    ),
    "meta": (
        "acp",
        lambda text: _update(
            {"sessionUpdate": "tool_call_update", "toolCallId": "c",
             "_meta": {"terminal_output": {"terminal_id": "c", "data": text}}}
        ),
        lambda line: line["params"]["update"]["_meta"]["terminal_output"]["data"],
    ),
    "codex": (
        "codex_app",
        lambda text: {
            "method": "item/agentMessage/delta",
            "params": {"threadId": "t", "turnId": "u", "itemId": "i", "delta": text},
        },
        lambda line: line["params"]["delta"],
    ),
    "process": (
        "codex_app",
        lambda text: {
            "method": "process/outputDelta",
            "params": {"processHandle": "h", "stream": "stdout", "deltaBase64": _coded(text)},
        },
        lambda line: b64decode(line["params"]["deltaBase64"]).decode(),
    ),
    "gemini": (
        "gemini_stream",
        lambda text: {"type": "message", "role": "assistant", "content": text, "delta": True},
        lambda line: line["content"],
    ),
    "event": (
        "events",
        lambda text: {"type": "delta", "seq": 1, "kind": "text", "text": text, "message_id": "m"},
        lambda line: line["text"],
    ),
}  # fmt: skip


def written(stream: str, pieces: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    """What is recorded of a text in pieces."""
    dialect, said, read = STREAMS[stream]
    frames = FrameRedactor(Redactor(known), dialect)
    return [
        read(
            json.loads(frames.line(Frame(n, "out", json.dumps(said(piece), separators=(",", ":")).encode())))
        )
        for n, piece in enumerate(pieces, 1)
    ]


def cut(text: str, places: Sequence[int]) -> list[str]:
    edges = [0, *sorted(places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0][:20])
def test_cut_in_two_at_every_place(form: tuple[str, str]) -> None:
    text = f"It is {whole(form)}\nand so on"
    all_at_once = Redactor().line(text.encode()).decode()
    for place in range(1, len(text)):
        together = "".join(written("text", cut(text, [place])))
        assert longest_left(form[1], together) <= FEW, place
        assert together.endswith("\nand so on")
        assert together.count("[redacted]") == all_at_once.count("[redacted]")


@pytest.mark.parametrize("stream", STREAMS)
@given(data=st.data())
@settings(max_examples=60)
def test_cut_anywhere_in_every_stream(stream: str, data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(FORMS))
    text = f"It is {whole(form)}\nand so on"
    places = data.draw(st.lists(st.integers(0, len(text)), min_size=1, max_size=3))
    together = "".join(written(stream, cut(text, places)))
    assert longest_left(form[1], together) <= FEW
    assert together.startswith("It is ")
    assert together.endswith("\nand so on")


@pytest.mark.parametrize("stream", ["text", "input", "message", "codex", "gemini"])
def test_one_character_at_a_time(stream: str) -> None:
    for form in FORMS:
        text = f"It is {whole(form)}\nand so on"
        assert longest_left(form[1], "".join(written(stream, list(text)))) <= FEW, form


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.partition("\n")[0])
def test_a_private_key_in_pieces(key: str) -> None:
    text = f"It is\n{key}\nand so on"
    for size in (1, 3, 7, 40, 100):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        together = "".join(written("text", pieces))
        assert longest_left(BODY, together) <= FEW
        assert together.endswith("\nand so on")
        assert together.count("[redacted]") == 1
        escaped = json.dumps({"content": text})
        pieces = [escaped[at : at + size] for at in range(0, len(escaped), size)]
        together = "".join(written("input", pieces))
        assert longest_left(BODY, together) <= FEW
        assert json.loads(together)["content"].endswith("\nand so on")


@given(st.lists(st.integers(0, 40), max_size=4))
def test_known_secrets_in_pieces(places: list[int]) -> None:
    secret = "correct horse battery staple"
    together = "".join(written("message", cut(f"So: {secret}!" + " " * 10, places), [secret]))
    assert longest_left(secret, together) <= FEW
    assert together.startswith("So: ")
    assert together.endswith("!" + " " * 10)


PLAIN = [
    "A task-force of monkeys: sk- is a prefix, so is ghp_ and eyJ. The password: ask for it. token = get_token()",
    "Basic authentication, the bearer of news; https://example.com:8080/path and https://example.com:443",
    "const apiKey = process.env.API_KEY; let token: string; password: str = None; def f(secret): return secret",
    "correct horses, -----BEGIN PRIVATE KEY----- is how it begins; see 'AKIA' and AIza",
]


@pytest.mark.parametrize("stream", STREAMS)
@given(data=st.data())
@settings(max_examples=40)
def test_what_is_no_secret_comes_through_whole(stream: str, data: st.DataObject) -> None:
    """What was left out at the end of a piece stands at the beginning of the next."""
    text = data.draw(st.sampled_from(PLAIN)) + " and so on. "
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=6))
    assert "".join(written(stream, cut(text, places), ["correct horse battery"])) == text


def test_streams_do_not_mix() -> None:
    """Two items of Codex speak at once; the halves of one key are not the other's."""
    frames = FrameRedactor(Redactor(), "codex_app")
    secret = "ghp_" + "AbCdEfGh0123456789" * 2

    def say(item: str, text: str) -> str:
        line = {
            "method": "item/agentMessage/delta",
            "params": {"threadId": "t", "itemId": item, "delta": text},
        }
        said: str = json.loads(frames.line(Frame(1, "out", json.dumps(line).encode())))["params"]["delta"]
        return said

    said = [
        say("a", secret[:12]),
        say("b", "Nothing "),
        say("a", secret[12:]),
        say("b", "here"),
        say("a", " is it"),
    ]
    assert said == ["", "Nothing ", "[redacted]", "here", " is it"]


def test_what_is_left_out_does_not_move_into_another_message() -> None:
    frames = FrameRedactor(Redactor(), "claude_stream")
    _, say, read = STREAMS["text"]
    lines = [
        say("see sk-"),
        {"type": "stream_event", "event": {"type": "content_block_stop", "index": 1}},
        say("Yes."),
    ]
    first, _, last = (json.loads(frames.line(Frame(1, "out", json.dumps(line).encode()))) for line in lines)
    assert (read(first), read(last)) == ("see ", "Yes.")


# --- lines -------------------------------------------------------------------------------------------------


def lines_of(lines: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    frames = FrameRedactor(Redactor(known), "acp")
    return [frames.line(Frame(1, "err", line.encode())).decode() for line in lines]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.partition("\n")[0])
@pytest.mark.parametrize("direction", ["out", "err"])
def test_a_private_key_over_lines(key: str, direction: Any) -> None:
    frames = FrameRedactor(Redactor(), "claude_stream")
    lines = ["reading it", *key.split("\n"), "done, 0 errors"]
    said = [frames.line(Frame(1, direction, line.encode())).decode() for line in lines]
    assert (said[0], said[1], said[-2], said[-1]) == (lines[0], lines[1], lines[-2], lines[-1])
    assert longest_left(BODY, "\n".join(said)) <= FEW


def test_a_key_that_is_broken_over_two_lines() -> None:
    key = "sk-ant-api03-" + "A1b2C3d4E5f6" * 6
    for place in range(len(key)):
        said = lines_of([f"the key {key[:place]}", key[place:], "12:30 nothing else"])
        assert longest_left(key[13:], "\n".join(said)) <= FEW + 2, place
        assert said[-1] == "12:30 nothing else"


def test_lines_after_a_key_stay() -> None:
    key = "ghp_" + "AbCdEfGh0123456789" * 2
    after = ["2026-01-02 03:04:05 warning", "at Object.run", "exit 1"]
    for line in after:
        assert lines_of([f"bad key {key}", line]) == ["bad key [redacted]", line]


def test_a_terminal_that_is_looked_at_twice() -> None:
    """The first look sees half a key: no pattern knows it, but it must not stay."""
    frames = FrameRedactor(Redactor(["correct horse battery"]), "acp")

    def look(output: str, truncated: bool = False) -> str:
        line = {"jsonrpc": "2.0", "id": 1, "result": {"output": output, "truncated": truncated}}
        said: str = json.loads(frames.line(Frame(1, "in", json.dumps(line).encode())))["result"]["output"]
        return said

    for secret in (
        "correct horse battery",
        "ghp_" + "AbCdEfGh0123456789" * 2,
        "PASSWORD=w0nderland-w0nderland",
    ):
        for place in range(12, len(secret)):
            assert longest_left(secret[9:], look(f"$ cat x\n{secret[:place]}")) <= FEW
            assert longest_left(secret[9:], look(f"$ cat x\n{secret}\n$ ")) <= FEW
    assert look("AbCdEfGh0123456789AbCdEfGh0123456789\n$ ls", truncated=True) == "[redacted]\n$ ls"
    assert look("$ ls\na b c") == "$ ls\na b c"


# --- a recording of it -------------------------------------------------------------------------------------


def record(path: Path, dialect: str, lines: Sequence[Any]) -> Path:
    with RecordingWriter(path, Redactor()) as writer:
        writer.begin(Launch(agent="a", dialect=dialect))
        for n, line in enumerate(lines, 1):
            writer.frame(Frame(n, "out", json.dumps(line).encode(), n / 10))
        writer.end(Exit(code=0))
    return path


@pytest.mark.parametrize("stream", [name for name in STREAMS if name != "event"])
def test_a_redacted_recording_replays(stream: str, tmp_path: Path) -> None:
    """In any pieces, what always holds, holds."""
    dialect, said, _ = STREAMS[stream]
    text = "\n".join(map(whole, FORMS[::7])) + KEYS[0]
    for places in ([9], [100, 200, 201], list(range(0, len(text), 5)), *combinations(range(40, 60), 2)):
        path = record(tmp_path / "r", dialect, [said(piece) for piece in cut(text, places)])
        assert not broken(list(convert(path)))
        assert len(read_recording(path).frames) == len(places) + 1
        path.unlink()


CAPTURES = Path(__file__).parents[2] / "captures"


def test_captures_pass_unchanged() -> None:
    """Frame by frame, with what is left out and put back: only the made-up key of a gateway goes."""
    changed = []
    for path in sorted([*CAPTURES.rglob("stdout.jsonl"), *CAPTURES.rglob("frames.jsonl")]):
        source = open_source(path)
        frames = FrameRedactor(Redactor(), source.launch.dialect)
        changed += [frame.line for frame in source if frames.line(frame) != frame.line]
    assert all(b'"api-key"' in line for line in changed), changed
    assert len(changed) <= 1

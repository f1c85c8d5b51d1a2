"""Whatever file tells of a run, its frames come out, or one sentence says why not."""

import gc
import io
import json
import os
import tracemalloc
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._files.recording import RecordingWriter
from dragoman._files.sources import Input, Source, exit_of, open_source
from dragoman._model.errors import RecordingError, UsageError
from dragoman._model.frames import Exit, Frame, Launch

INIT = b'{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m","tools":[]}'
RESULT = b'{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s"}'
STDOUT = INIT + b"\n\n" + RESULT + b"\n"


def frames_of(source: Source) -> list[tuple[int, str, bytes, bool]]:
    return [(frame.n, frame.dir, frame.line, frame.eol) for frame in source]


def refused(source: Input, dialect: str | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        open_source(source, dialect)
    return caught.value.message


# --- an agent's stdout -----------------------------------------------------------------------------------


def test_stdout_from_anywhere_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(STDOUT)
    sources: list[Input] = [path, str(path), STDOUT, io.BytesIO(STDOUT), STDOUT.split(b"\n")[:-1], [INIT.decode(), "\n", RESULT.decode() + "\n"]]  # fmt: skip
    for given_as in sources:
        source = open_source(given_as)
        assert source.launch == Launch(agent="claude", dialect="claude_stream")
        assert source.kind == "stream"
        assert frames_of(source) == [(1, "out", INIT, True), (2, "out", b"", True), (3, "out", RESULT, True)]
        assert source.exit is None


def test_the_last_line_may_lack_its_newline() -> None:
    assert frames_of(open_source(INIT + b"\n" + RESULT[:9]))[-1] == (2, "out", RESULT[:9], False)


def test_lines_are_split_at_newlines_only() -> None:
    odd = '{"type":"system","subtype":"init","x":"\x85\u2028"}'.encode()
    assert frames_of(open_source(odd + b"\r\n")) == [(1, "out", odd + b"\r", True)]


def test_what_comes_before_the_first_known_line_is_kept() -> None:
    noise = b"\n\nWarning: something\n" + INIT + b"\n"
    source = open_source(noise)
    assert source.launch.dialect == "claude_stream"
    assert [frame.line for frame in source] == [b"", b"", b"Warning: something", INIT]


@given(st.binary())
def test_any_bytes_come_back_when_the_dialect_is_named(content: bytes) -> None:
    content = b"x" + content  # no row of a recording
    frames = open_source(content, "claude_stream")
    assert b"".join(frame.line + b"\n" * frame.eol for frame in frames) == content


def test_a_pipe_is_read_as_it_comes() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as file, open(writing, "wb", buffering=0) as agent:
        agent.write(INIT + b"\n")
        source = iter(open_source(file))
        assert next(source).line == INIT
        agent.write(RESULT + b"\n")
        assert next(source).line == RESULT


def test_a_long_line_is_not_held_many_times_over(tmp_path: Path) -> None:
    size = 16_000_000
    path = tmp_path / "out.jsonl"
    path.write_bytes(b'{"type":"system","subtype":"init","x":"' + b"x" * size + b'"}\n' + RESULT + b"\n")
    tracemalloc.start()
    try:
        lengths = [len(frame.line) for frame in open_source(path, "claude_stream")]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lengths[0] > size
    assert peak < 3.5 * size


def test_a_source_that_nobody_reads_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(STDOUT)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        open_source(path)
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


def test_several_files_are_read_as_one(tmp_path: Path) -> None:
    main, side = tmp_path / "main.jsonl", tmp_path / "side.jsonl"
    main.write_bytes(INIT)
    side.write_bytes(RESULT + b"\n")
    source = open_source([main, side])
    assert source.launch.sources == [str(main), str(side)]
    assert frames_of(source) == [(1, "out", INIT, False), (2, "out", RESULT, True)]
    with pytest.raises(UsageError, match="there is no file"):
        list(open_source([main, tmp_path / "none.jsonl"]))


def test_a_source_that_was_refused_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"hello\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        refused(path)
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


# --- what cannot be read ---------------------------------------------------------------------------------


def test_a_missing_file(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.jsonl") == f"there is no file {tmp_path / 'none.jsonl'}"


def test_a_directory(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"{tmp_path} is a directory; name a file in it"


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert refused(tmp_path / "out.jsonl").endswith("out.jsonl may not be read: permission denied")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that fails when read")
def test_a_file_that_fails_when_read() -> None:
    assert refused("/proc/self/mem").startswith("/proc/self/mem cannot be read: ")


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\t\n"])
def test_an_empty_file(content: bytes) -> None:
    assert refused(content) == "the input is empty, so nobody can tell which agent wrote it; name the dialect"
    assert len(frames_of(open_source(content, "claude_stream"))) == content.count(b"\n")


@pytest.mark.parametrize("content", [b"\x7fELF\x02\x01\x01\0\0", b"\xff\xfe\n", b"{\0}"])
def test_binary_junk(content: bytes) -> None:
    assert refused(content) == "the input is no stream of an agent: it is binary"
    assert [frame.line for frame in open_source(content, "claude_stream")] == content.split(b"\n")[:1]


def test_plain_text() -> None:
    assert refused(b"hello\n") == "the input is no stream of an agent: it does not begin with JSON"


def test_json_of_nobody() -> None:
    assert refused(b'{"level":"info"}\n' * 100).startswith(
        "the input is in no dialect known here; name one: "
    )


def test_a_dialect_of_nobody() -> None:
    assert refused(STDOUT, "klingon").startswith("no dialect is called 'klingon'; known are: ")


# --- captures --------------------------------------------------------------------------------------------

META = {
    "dialect": "claude_stream",
    "argv": ["claude", "-p"],
    "cwd": "/w",
    "exit_code": -9,
    "cli_version": "2.1",
    "more": 1,
}


def capture(folder: Path, name: str, content: bytes, meta: object = META) -> Path:
    (folder / "meta.json").write_text(json.dumps(meta))
    (folder / name).write_bytes(content)
    return folder / name


def test_meta_beside_a_capture_tells_of_the_run(tmp_path: Path) -> None:
    source = open_source(capture(tmp_path, "stdout.jsonl", b""))
    assert source.launch == Launch(
        agent="claude", dialect="claude_stream", argv=["claude", "-p"], cwd="/w", cli_version="2.1"
    )
    assert source.exit == Exit(signal="SIGKILL")
    assert frames_of(source) == []


def test_meta_beside_another_file_is_not_its(tmp_path: Path) -> None:
    assert open_source(capture(tmp_path, "other.jsonl", STDOUT)).launch.cwd is None


def test_a_meta_that_makes_no_sense_is_passed_over(tmp_path: Path) -> None:
    assert open_source(capture(tmp_path, "stdout.jsonl", STDOUT, meta=[1])).launch.dialect == "claude_stream"


def test_the_dialect_that_is_named_wins(tmp_path: Path) -> None:
    path = capture(tmp_path, "stdout.jsonl", STDOUT, META | {"dialect": "klingon"})
    assert open_source(path, "claude_stream").launch.dialect == "claude_stream"
    assert refused(path).startswith("no dialect is called 'klingon'")


FRAMES = (
    b'{"t": 0.5, "dir": "in", "line": "{\\"type\\":\\"user\\"}"}\n'
    + json.dumps({"t": 1.25, "dir": "out", "line": INIT.decode()}).encode()
    + b'\n{"t": 2.0, "dir": "note", "line": "{\\"note\\":\\"stdin closed\\"}"}\n{"exit": {"code": 1}}\n'
)


def test_frames_of_a_capture(tmp_path: Path) -> None:
    for source in (open_source(FRAMES), open_source(capture(tmp_path, "frames.jsonl", FRAMES))):
        assert source.launch.dialect == "claude_stream"
        assert [(frame.n, frame.t, frame.dir) for frame in source] == [
            (1, 0.5, "in"),
            (2, 1.25, "out"),
            (3, 2.0, "note"),
        ]
        assert source.exit == Exit(code=1)


def test_frames_without_a_word_of_the_agent_need_a_dialect() -> None:
    silent = b'{"exit":{"code":3}}\n'
    assert refused(silent).startswith("the input is in no dialect known here")
    source = open_source(silent, "claude_stream")
    assert frames_of(source) == []
    assert source.exit == Exit(code=3)


# --- recordings and canonical streams --------------------------------------------------------------------


def test_a_recording(tmp_path: Path) -> None:
    launch = Launch(
        agent="claude", dialect="claude_stream", argv=["claude"], pid=4, config={"approve": "ask"}
    )
    written = [Frame(1, "in", b"{}", 0.1), Frame(2, "out", b"\xff", 0.2), Frame(7, "err", b"oops", 0.3)]
    with RecordingWriter(tmp_path / "run.jsonl") as writer:
        writer.begin(launch)
        for frame in written:
            writer.frame(frame)
        writer.end(Exit(code=0, t=0.5))
    source = open_source(tmp_path / "run.jsonl")
    assert source.launch == launch
    assert list(source) == written
    assert source.exit == Exit(code=0, t=0.5)
    assert open_source(tmp_path / "run.jsonl", agent="mine").launch.agent == "mine"


def test_a_recording_of_a_dialect_unknown_here() -> None:
    assert refused(b'{"dragoman":"recording/1","agent":"k","dialect":"klingon"}\n').startswith(
        "no dialect is called"
    )


def test_a_recording_of_another_format() -> None:
    with pytest.raises(RecordingError, match="recording/9"):
        open_source(b'{"dragoman":"recording/9","agent":"a","dialect":"claude_stream"}\n')


def test_a_canonical_stream() -> None:
    stream = b'{"type":"run.started","schema":"dragoman.events/1","seq":1,"agent":"claude","turn":0}\n'
    source = open_source(stream)
    assert (source.kind, source.launch.dialect) == ("events", "events")
    assert frames_of(source) == [(1, "out", stream[:-1], True)]
    assert open_source(b"{}\n", "events").kind == "events"


# --- published models --------------------------------------------------------------------------------------

TEXT = {"id": "1", "sessionId": "s", "timestamp": "t"}
CHUNK = {"type": "textChunk", **TEXT, "content": "a", "isPartial": False}
STARTED = {"type": "sessionStarted", **TEXT, "agentType": "gemini"}
INSIGHT = {"event": "text", **TEXT, "provider": "codex", "kind": "text", "text": "a"}


@pytest.mark.parametrize(
    ("items", "launch"),
    [
        ([CHUNK, STARTED], Launch(agent="gemini", dialect="agent-event")),
        ([CHUNK, {**STARTED, "agentType": 1}], Launch(agent="", dialect="agent-event")),
        ([INSIGHT], Launch(agent="codex", dialect="insights")),
    ],
)
def test_a_published_model_is_a_dialect_whose_lines_say_who_speaks(
    items: list[object], launch: Launch
) -> None:
    lines = [b"", *(json.dumps(item).encode() for item in items)]
    source = open_source(lines)
    assert (source.launch, source.kind) == (launch, "session")
    assert [frame.line for frame in source] == lines
    assert open_source(lines, agent="mine").launch.agent == "mine"


@pytest.mark.parametrize(
    "odd", [{**CHUNK, "type": []}, {**INSIGHT, "event": {}}, {**INSIGHT, "provider": []}]
)
def test_odd_marks_are_nobodys(odd: object) -> None:
    assert refused([json.dumps(odd)]).startswith("the input is in no dialect known here")


# --- files that are one JSON value -----------------------------------------------------------------------


def test_json_over_many_lines_is_one_line() -> None:
    document = json.dumps(json.loads(INIT), indent=1).encode()
    assert frames_of(open_source(document + b"\n")) == [(1, "out", document, True)]
    assert frames_of(open_source(document, "claude_stream")) == [(1, "out", document, False)]


def test_a_lone_brace_is_only_a_line() -> None:
    assert [frame.line for frame in open_source(b"{\n" + STDOUT)] == [b"{", INIT, b"", RESULT]


@pytest.mark.parametrize(
    ("code", "exit"),
    [(0, Exit(code=0)), (143, Exit(code=143)), (-2, Exit(signal="SIGINT")), (-200, Exit(signal="200"))],
)
def test_return_codes(code: int, exit: Exit) -> None:
    assert exit_of(code) == exit

"""A recording gives back what was put in, byte for byte, wherever it was cut."""

import io
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._files.recording import Recording, RecordingWriter, read_recording
from dragoman._model.errors import RecordingError
from dragoman._model.frames import Exit, Frame, Launch

LAUNCH = Launch(
    agent="claude",
    dialect="claude_stream",
    argv=["claude", "-p", "go"],
    cwd="/tmp/wörk",
    pid=7,
    started=datetime(2026, 1, 2, 3, 4, 5, 678901, UTC),
    cli_version="2.1.197",
    config={"model": "x", "nested": [1, None, {"a": 0.1}]},
)

FRAMES = [
    Frame(1, "in", b'{"type":"user"}', 0.1),
    Frame(2, "out", '{"text":"zwölf \u2028 \x85"}'.encode(), 0.30000000000000004),
    Frame(3, "err", b"\xff\xfe not utf-8", 1 / 3),
    Frame(4, "note", b'{"note":"stopping","reason":"closed"}', 2.5),
    Frame(5, "out", b"", 2.5),
    Frame(6, "out", b'{"cut', 1e-9, eol=False),
]

EXIT = Exit(code=0, t=3.0)

lines = st.binary() | st.text().map(str.encode) | st.just(b"\xed\xa0\xbd")
times = st.none() | st.floats(min_value=0, allow_nan=False, allow_infinity=False)
frames = st.builds(
    Frame, st.integers(1, 2**53), st.sampled_from(("out", "in", "err", "note")), lines, times, st.booleans()
)


def write(path: Path, frames: list[Frame] = FRAMES, exit: Exit | None = EXIT) -> Path:
    with RecordingWriter(path) as writer:
        writer.begin(LAUNCH)
        for frame in frames:
            writer.frame(frame)
        if exit is not None:
            writer.end(exit)
    return path


def test_everything_comes_back(tmp_path: Path) -> None:
    recording = read_recording(write(tmp_path / "run.jsonl"))
    assert recording == Recording(FRAMES, LAUNCH, EXIT, cut=False)


def test_the_format_on_disk(tmp_path: Path) -> None:
    header, first, _, third, *_, last, exit = (
        (write(tmp_path / "run.jsonl", exit=Exit(signal="SIGKILL"))).read_bytes().split(b"\n")[:-1]
    )
    assert msgspec.json.decode(header)["dragoman"] == "recording/1"
    assert msgspec.json.decode(header)["started"] == "2026-01-02T03:04:05.678901Z"
    assert first == b'{"n":1,"t":0.1,"dir":"in","line":"{\\"type\\":\\"user\\"}"}'
    assert b'"b64":"//4gbm90IHV0Zi04"' in third
    assert last.endswith(b'"eol":false}')
    assert exit == b'{"exit":{"signal":"SIGKILL"}}'


@given(st.lists(frames, max_size=8))
def test_any_bytes_and_any_time_survive(frames: list[Frame]) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder, "run.jsonl"), frames)
        assert path.read_bytes().count(b"\n") == len(frames) + 2
        assert read_recording(path).frames == frames


def test_cut_at_any_byte_every_whole_frame_is_there(tmp_path: Path) -> None:
    whole = write(tmp_path / "run.jsonl").read_bytes()
    ends = [index for index, byte in enumerate(whole) if byte == 0x0A]
    for size in range(len(whole) + 1):
        recording = read_recording(io.BytesIO(whole[:size]))
        rows_before = sum(end <= size for end in ends)  # a row is whole even if only its newline is missing
        assert recording.frames == FRAMES[: max(0, rows_before - 1)], size
        assert (recording.launch == LAUNCH) == (rows_before > 0)
        assert recording.cut == (rows_before < len(ends))


def test_kill_9_loses_nothing_that_was_framed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    script = f"""
import os, signal
from dragoman._model.frames import Frame, Launch
from dragoman._files.recording import RecordingWriter
writer = RecordingWriter({str(path)!r})
writer.begin(Launch(agent="a", dialect="d"))
for n in range(1, 101):
    writer.frame(Frame(n, "out", b"x" * n))
os.kill(os.getpid(), signal.SIGKILL)
"""
    died = subprocess.run([sys.executable, "-c", script], check=False)
    assert died.returncode == -signal.SIGKILL
    recording = read_recording(path)
    assert [frame.line for frame in recording.frames] == [b"x" * n for n in range(1, 101)]
    assert recording.cut
    assert recording.exit is None


def test_frames_of_a_capture_have_no_header_and_are_numbered_by_line() -> None:
    recording = read_recording(
        io.BytesIO(
            b'{"t": 0.1, "dir": "in", "line": "a"}\n\n{"t": 1, "dir": "out", "b64": "/w=="}\n{"exit": {"code": null}}\n'
        )
    )
    assert recording.launch is None
    assert recording.frames == [Frame(1, "in", b"a", 0.1), Frame(3, "out", b"\xff", 1.0)]
    assert recording.exit == Exit()
    assert not recording.cut


@pytest.mark.parametrize(
    ("row", "exit"),
    [
        (b'{"exit":{"code":0}}', Exit(code=0)),
        (b'{"exit":{"signal":"SIGKILL"}}', Exit(signal="SIGKILL")),
        (b'{"exit":{"code":1,"reason":"limited","stderr_tail":"boom","t":2.5}}',
         Exit(code=1, reason="limited", stderr_tail="boom", t=2.5)),
    ],
)  # fmt: skip
def test_exits(row: bytes, exit: Exit) -> None:
    assert read_recording(io.BytesIO(row)).exit == exit


def test_names_that_are_not_utf8_are_repaired(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "run.jsonl") as writer:
        writer.begin(Launch(agent="a", dialect="d", cwd="/tmp/\udcff"))
    launch = read_recording(tmp_path / "run.jsonl").launch
    assert launch is not None
    assert launch.cwd == "/tmp/\ufffd"


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    assert (write(tmp_path / "run.jsonl").stat().st_mode & 0o077) == 0


def test_over_a_file_that_all_could_read_too(tmp_path: Path) -> None:
    """A recording over a file of mode 0644 stayed 0644, and whoever had that file open went on reading."""
    path = tmp_path / "run.jsonl"
    path.write_text("before")
    path.chmod(0o644)
    with path.open() as reader:
        with RecordingWriter(path, overwrite=True) as writer:
            writer.begin(LAUNCH)
        assert reader.read() == "before"
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_recording(path).launch == LAUNCH


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl")
    with pytest.raises(RecordingError, match="File exists"):
        RecordingWriter(path)
    assert read_recording(path).launch == LAUNCH


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_is_not_followed(tmp_path: Path, is_there: bool) -> None:
    """A repository could have one at that place, to a file of the user's."""
    target, link = tmp_path / "profile", tmp_path / "run.jsonl"
    if is_there:
        target.write_text("mine")
    link.symlink_to(target)
    with pytest.raises(RecordingError, match="File exists"):
        RecordingWriter(link)
    with RecordingWriter(link, overwrite=True) as writer:
        writer.begin(LAUNCH)
    assert not link.is_symlink()
    assert target.exists() == is_there
    assert not is_there or target.read_text() == "mine"


def test_devices_and_pipes_are_written_to_as_they_are(tmp_path: Path) -> None:
    before = os.stat(os.devnull).st_mode
    with RecordingWriter(os.devnull) as writer:
        writer.begin(LAUNCH)
    assert os.stat(os.devnull).st_mode == before
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RecordingError, match="cannot write"):  # nobody reads: no wait for one
        RecordingWriter(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with RecordingWriter(pipe) as writer:
        writer.begin(LAUNCH)
    assert os.read(reader, 1 << 16).endswith(b"\n")
    os.close(reader)
    assert pipe.exists()


def test_a_run_that_never_began_leaves_no_file(tmp_path: Path) -> None:
    RecordingWriter(tmp_path / "run.jsonl").close()
    assert list(tmp_path.iterdir()) == []


def test_damage_before_whole_rows_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl")
    damaged = path.read_bytes().split(b"\n")
    damaged[2] = b"\0" * 20
    path.write_bytes(b"\n".join(damaged))
    with pytest.raises(RecordingError, match=r"line 3 of .*run\.jsonl is damaged"):
        read_recording(path)


def test_a_damaged_tail_is_a_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", exit=None)
    with path.open("ab") as file:
        file.write(b"\0\0\0\n\0\0")
    recording = read_recording(path)
    assert recording.frames == FRAMES
    assert recording.cut


def test_a_newer_format_is_refused_by_name() -> None:
    with pytest.raises(RecordingError, match=r"is recording/2; this version reads recording/1"):
        read_recording(io.BytesIO(b'{"dragoman":"recording/2","agent":"a","dialect":"d"}\n'))


def test_a_header_that_names_no_agent_is_refused() -> None:
    with pytest.raises(RecordingError, match="header"):
        read_recording(io.BytesIO(b'{"dragoman":"recording/1"}\n'))


def test_an_unwritable_path_says_so(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot write the recording .*: File exists"):
        RecordingWriter(tmp_path)
    with pytest.raises(RecordingError, match=r"cannot write the recording .*: No such file or directory"):
        RecordingWriter(tmp_path / "none" / "run.jsonl")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_says_so() -> None:
    with (
        RecordingWriter("/dev/full") as writer,
        pytest.raises(RecordingError, match=r"cannot write the recording /dev/full: No space left"),
    ):
        writer.begin(LAUNCH)


def test_writing_after_close_says_so(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "run.jsonl")
    writer.close()
    with pytest.raises(RecordingError, match="closed"):
        writer.frame(FRAMES[0])


def test_a_missing_recording_says_so(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot read the recording .*: No such file"):
        read_recording(tmp_path / "none.jsonl")

"""A recording that was cut, by a full disk or by kill -9, opens with every whole frame before the cut."""

import io
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dragoman._files.recording import Recording, read_recording
from dragoman._model.frames import Frame
from tests.faults.fault_agent import DEADLINE

FULL_DISK = """
import resource, sys
from dragoman._model.errors import RecordingError
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._files.recording import RecordingWriter

def write(path):
    with RecordingWriter(path) as writer:
        writer.begin(Launch(agent="a", dialect="d", argv=["z\\u00f6lf"]))
        for n in range(1, 9):
            writer.frame(Frame(n, "out", b'{"text":"%s \\xc3\\xa4 \\xff"}' % (b"x" * n), n / 7))
        writer.end(Exit(code=0))

folder, size = sys.argv[1], int(sys.argv[2])
write(f"{folder}/whole")
for limit in range(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write(f"{folder}/{limit}")
    except RecordingError as error:
        assert "too large" in str(error), error
    else:
        assert False, f"there was room for {size} bytes in {limit}"
"""


def test_a_disk_that_is_full_after_any_byte(tmp_path: Path) -> None:
    size = 700
    subprocess.run([sys.executable, "-c", FULL_DISK, str(tmp_path), str(size)], check=True, timeout=DEADLINE)
    whole = (tmp_path / "whole").read_bytes()
    frames = read_recording(tmp_path / "whole").frames
    assert len(whole) > size
    for limit in range(size):
        cut = (tmp_path / str(limit)).read_bytes()
        assert cut == whole[:limit]
        assert read_recording(tmp_path / str(limit)) == Recording(
            frames[: max(0, _whole_rows(cut, whole) - 1)],
            read_recording(tmp_path / "whole").launch if _whole_rows(cut, whole) else None,
            cut=True,
        )


def _whole_rows(cut: bytes, whole: bytes) -> int:
    """A row is whole even if only its newline is missing."""
    return cut.count(b"\n") + (whole[len(cut) : len(cut) + 1] == b"\n")


def flood(folder: Path, **options: object) -> "subprocess.Popen[bytes]":
    """A recorded run of an agent that writes a lot of lines."""
    folder.mkdir()
    program = [sys.executable, str(Path(__file__).with_name("flooding.py")), str(folder), "claude_stream"]
    return subprocess.Popen([*program, "floods_stdout", "3000000"], stdout=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]


def in_order(frames: list[Frame]) -> bool:
    """Nothing is missing in between, and every line is as it was written."""
    for frame in frames:
        json.loads(frame.line)
    return [frame.n for frame in frames] == list(range(1, len(frames) + 1))


def test_a_disk_that_fills_up_does_not_stop_the_run(tmp_path: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))

    process = flood(tmp_path / "run", preexec_fn=limited, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=DEADLINE)
    assert json.loads(out)["outcome"] == "completed"
    assert b"the recording ends here, the run goes on" in err
    recording = read_recording(tmp_path / "run" / "recording")
    assert recording.cut
    assert (tmp_path / "run" / "recording").stat().st_size == 500_000
    assert len(recording.frames) > 1000
    assert in_order(recording.frames)


def framed(path: Path) -> int:
    """How many bytes of lines are in the whole rows of a recording, which may be growing."""
    so_far = io.BytesIO(path.read_bytes() if path.exists() else b"")
    return sum(len(frame.line) for frame in read_recording(so_far).frames)


@pytest.mark.parametrize("size", [1, 50_000, 300_000])
def test_kill_9_in_the_middle_of_a_run(tmp_path: Path, size: int) -> None:
    process, path = flood(tmp_path / "run"), tmp_path / "run" / "recording"
    until = time.monotonic() + DEADLINE
    while (before := framed(path)) < size and time.monotonic() < until:
        time.sleep(0.001)
    process.kill()
    process.communicate()
    recording = read_recording(path)
    assert recording.cut
    assert recording.launch is not None
    assert in_order(recording.frames)
    assert framed(path) >= before >= size

"""Many files at once: each gives what it gives by itself, and none keeps the others from it."""

import json
import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman import UsageError, convert, convert_files, encode
from dragoman._files import archives
from dragoman._model.errors import DragomanError
from dragoman._model.events import Event, FileChanged
from tests.golden import captures, source

SOURCES = [source(capture) for capture in captures() if capture.parts[-3] in ("codex_exec", "gemini_stream")]
LINE = json.dumps(
    {"type": "message", "role": "assistant", "content": "a few words", "delta": True, "timestamp": "t"}
)
EDIT = {
    "type": "tool_use",
    "tool_name": "replace",
    "tool_id": "replace__1",
    "parameters": {"file_path": "a", "old_string": "x", "new_string": "y"},
}
DONE = {"type": "tool_result", "tool_id": "replace__1", "status": "success"}


def as_text(path: Path, events: Iterator[Event]) -> bytes:
    return b"\n".join(map(encode, events))


def count(path: Path, events: Iterator[Event]) -> int:
    return sum(1 for _ in events)


def diffs(path: Path, events: Iterator[Event]) -> list[str | None]:
    return [event.diff for event in events if isinstance(event, FileChanged)]


def die(path: Path, events: Iterator[Event]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stumble(path: Path, events: Iterator[Event]) -> None:
    raise ZeroDivisionError(path.name)


def write_nowhere(path: Path, events: Iterator[Event]) -> None:
    path.with_suffix(".d").joinpath("x").write_bytes(b"")


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_file_gives_what_it_gives_by_itself(jobs: int) -> None:
    came = {each.path: each for each in convert_files(SOURCES, as_text, jobs=jobs)}
    assert came.keys() == set(SOURCES)
    for path, each in came.items():
        assert each.error is None
        assert each.result == as_text(path, convert(path))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path, jobs: int) -> None:
    (tmp_path / "noise.jsonl").write_bytes(b"\0\1\2")
    odd = [tmp_path / "absent.jsonl", tmp_path, tmp_path / "noise.jsonl"]
    came = {each.path: each for each in convert_files([*odd, SOURCES[0]], count, jobs=jobs)}
    assert came[SOURCES[0]].result
    assert [path for path in odd if came[path].result is None] == odd
    assert "there is no file" in (came[odd[0]].error or "")
    assert "is a directory" in (came[odd[1]].error or "")
    assert "binary" in (came[odd[2]].error or "")


def test_nor_does_one_that_cannot_be_written(tmp_path: Path) -> None:
    [came] = convert_files(SOURCES[:1], write_nowhere, jobs=1)
    assert came.result is None
    assert came.error == f"{SOURCES[0].with_suffix('.d') / 'x'}: No such file or directory"


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_work_itself_raises_is_raised(jobs: int) -> None:
    with pytest.raises(ZeroDivisionError):
        list(convert_files(SOURCES[:1], stumble, jobs=jobs))


def test_a_process_that_dies_is_told_of() -> None:
    with pytest.raises(DragomanError, match=f"died.*{SOURCES[0]}"):
        list(convert_files(SOURCES[:1], die, jobs=2))


def test_no_process_is_none() -> None:
    with pytest.raises(UsageError, match="1 is the least"):
        convert_files([], count, jobs=0)


def test_no_more_files_are_taken_than_are_under_way() -> None:
    taken: list[Path] = []

    def paths() -> Iterator[Path]:
        for path in SOURCES * 3:
            taken.append(path)
            yield path

    results = convert_files(paths(), count, jobs=2)
    next(results)
    assert len(taken) <= 2 * archives.AHEAD
    results.close()  # type: ignore[attr-defined]
    assert len(taken) <= 2 * archives.AHEAD


def test_what_is_not_read_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr("dragoman._model.patches.from_texts", lambda path, *texts: made.append(path))
    path = tmp_path / "edits.jsonl"
    path.write_text(f"{json.dumps(EDIT)}\n{json.dumps(DONE)}\n")
    assert [came.result for came in convert_files([path], count, jobs=1, dialect="gemini_stream")] == [7]
    assert made == []
    list(convert_files([path], diffs, jobs=1, dialect="gemini_stream"))
    assert made == ["a"]


def most_memory(path: Path, events: Iterator[Event]) -> int:
    tracemalloc.start()
    for _ in events:
        pass
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_files(tmp_path: Path) -> None:
    """Tools, since text is kept until its message is whole: their inputs and outputs are let go of."""

    def file(name: str, calls: int) -> Path:
        path, input = tmp_path / name, {"content": "x" * 2_000}
        with path.open("w") as out:
            for n in range(calls):
                use = {"type": "tool_use", "tool_name": "a", "tool_id": f"a__{n}", "parameters": input}
                end = {
                    "type": "tool_result",
                    "tool_id": f"a__{n}",
                    "status": "success",
                    "output": "y" * 2_000,
                }
                out.write(f"{json.dumps(use)}\n{json.dumps(end)}\n")
        return path

    files = [file("few.jsonl", 500), file("many.jsonl", 4_000)]
    few, many = (
        came.result or 0 for came in convert_files(files, most_memory, jobs=1, dialect="gemini_stream")
    )
    assert many - few < (files[1].stat().st_size - files[0].stat().st_size) / 10


SCRIPT = """
import sys
from pathlib import Path
from dragoman import convert_files

def wait(path, events):
    for event in events:
        print(path, flush=True)
    return 0

if __name__ == "__main__":
    for came in convert_files(sys.argv[1:], wait, jobs=2, dialect="gemini_stream"):
        print("never", came)
"""


def endless(tmp_path: Path) -> list[Path]:
    """Two files that end when nobody writes to them any more."""
    fifos = [tmp_path / "a", tmp_path / "b"]
    for fifo in fifos:
        os.mkfifo(fifo)
    return fifos


def test_ctrl_c_ends_it_and_its_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    fifos = endless(tmp_path)
    writers = [
        subprocess.Popen(["sh", "-c", f"yes '{LINE}' > {fifo}"], stderr=subprocess.DEVNULL) for fifo in fifos
    ]
    command = [sys.executable, str(script), *map(str, fifos)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        seen: set[bytes] = set()
        while len(seen) < 2:  # both are at work
            seen.add(run.stdout.readline())
        os.kill(run.pid, signal.SIGINT)
        rest, said = run.communicate()  # ends when all who hold the pipe have ended
        assert run.returncode != 0
        assert b"never" not in rest
        assert said.count(b"Traceback") == 1
        assert b"KeyboardInterrupt" in said
    for writer in writers:
        writer.wait()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_its_processes_end_where_they_wait_for_a_file(tmp_path: Path, sent: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    fifos = endless(tmp_path)
    held = [os.open(fifo, os.O_RDWR) for fifo in fifos]
    for number in held:
        os.write(number, f"{LINE}\n".encode())
    command = [sys.executable, str(script), *map(str, fifos)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        assert run.stdout is not None
        assert run.stdout.readline()
        run.send_signal(sent)
        run.stdout.read()  # ends when all who hold the pipe have ended
    for number in held:
        os.close(number)

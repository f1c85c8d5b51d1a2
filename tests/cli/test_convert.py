"""`dragoman convert` and `dragoman check`."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from dragoman._model.events import SCHEMA
from tests.cli.fake_program import HELLO, INIT, Invoke, dragoman, result


def test_events(invoke: Invoke, stream: Path) -> None:
    done = invoke("convert", stream)
    assert done.exit_code == 0
    assert done.stderr == ""
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["type"] == "run.started"
    assert events[0]["schema"] == SCHEMA
    assert events[-1]["type"] == "run.ended"
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert "line" not in json.dumps(events)


def test_from_stdin(invoke: Invoke, stream: Path) -> None:
    piped = invoke("convert", "-", input=stream.read_bytes())
    assert piped.exit_code == 0
    assert piped.stdout == invoke("convert", stream).stdout


def test_there_and_back(invoke: Invoke, tmp_path: Path) -> None:
    lines = [json.dumps(INIT).encode(), b"", b"not json \xff", json.dumps(result()).encode()]
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b"\n".join(lines))
    events = tmp_path / "events.jsonl"
    events.write_bytes(invoke("convert", "--native", path).stdout_bytes)
    assert invoke("convert", "--view", "native", events).stdout_bytes == path.read_bytes()
    assert invoke("convert", "--view", "native", path).stdout_bytes == path.read_bytes()


def test_native_lines_cannot_be_had_from_a_stream_without_them(
    invoke: Invoke, stream: Path, tmp_path: Path
) -> None:
    events = tmp_path / "events.jsonl"
    events.write_bytes(invoke("convert", stream).stdout_bytes)
    done = invoke("convert", "--view", "native", events)
    assert done.exit_code == 2
    assert "without native lines" in done.stderr


def test_exit_code_of_the_agent(invoke: Invoke, stream: Path) -> None:
    last = json.loads(invoke("convert", "--exit", "7", stream).stdout.splitlines()[-1])
    assert last["exit_code"] == 7


def test_half_a_line_is_converted(invoke: Invoke, stream: Path) -> None:
    stream.write_bytes(stream.read_bytes()[:-40])
    done = invoke("convert", stream)
    assert done.exit_code == 0
    types = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert "native.invalid" in types
    assert types[-1] == "run.ended"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b"\x7fELF\x02\x01\x00\x00\xff\xfe", "binary"),
        (b"hello there\n", "does not begin with JSON"),
        (b'{"some": "json"}\n', "in no dialect known here"),
    ],
)
def test_what_is_no_stream(invoke: Invoke, tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    for args in (("convert", path), ("check", path)):
        done = invoke(*args)
        assert done.exit_code == 2
        assert done.stdout == ""
        assert done.stderr.startswith("dragoman: ")
        assert why in done.stderr


def test_empty_stdin(invoke: Invoke) -> None:
    assert invoke("convert", "-", input=b"").exit_code == 2
    assert invoke("convert", "--from", "claude_stream", "-", input=b"").exit_code == 0


def test_a_directory(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("convert", tmp_path)
    assert done.exit_code == 2
    assert "is a directory" in done.stderr


def test_a_dialect_that_does_not_exist(invoke: Invoke, stream: Path) -> None:
    done = invoke("convert", "--from", "klingon", stream)
    assert done.exit_code == 2
    assert "claude_stream" in done.stderr


def test_output_begins_before_the_input_ends() -> None:
    process = dragoman("convert", "--from", "claude_stream", "-", stdin=subprocess.PIPE, bufsize=0)
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(json.dumps(INIT).encode() + b"\n")
        assert json.loads(process.stdout.readline())["type"] == "run.started"
        assert json.loads(process.stdout.readline())["type"] == "session.started"
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert [line["type"] for line in lines] == ["turn.started", "message"]
        process.stdin.close()
        assert b"run.ended" in process.stdout.read()
    assert process.returncode == 0


def test_a_named_pipe_is_streamed_too(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = dragoman("convert", "--from", "claude_stream", fifo)
    assert process.stdout is not None
    with process, fifo.open("wb", buffering=0) as agent:
        agent.write(json.dumps(INIT).encode() + b"\n")
        assert b"run.started" in process.stdout.readline()
        assert b"session.started" in process.stdout.readline()
        agent.close()
        assert b"run.ended" in process.stdout.read()
    assert process.returncode == 0


@pytest.mark.parametrize("command", ["convert", "replay"])
def test_a_reader_who_has_had_enough(tmp_path: Path, command: str) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (INIT, *[HELLO] * 20_000, result())))
    process = dragoman(command, path)
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_check_holds(invoke: Invoke, stream: Path, recording: Path) -> None:
    done = invoke("check", stream, recording)
    assert done.exit_code == 0
    first, second = done.stdout.splitlines()
    assert first.startswith(f"{stream}: holds (")
    assert second.startswith(f"{recording}: holds (")
    assert done.stderr == ""


def test_check_says_what_is_broken(invoke: Invoke, stream: Path, tmp_path: Path) -> None:
    lines = invoke("convert", stream).stdout.splitlines(keepends=True)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("".join(lines[:-1]))
    done = invoke("check", stream, broken)
    assert done.exit_code == 1
    holds, title, *rules = done.stdout.splitlines()
    assert holds.startswith(f"{stream}: holds")
    assert title.startswith(f"{broken}: broken ({len(lines) - 1} events)")
    assert any("run.ended" in rule for rule in rules)


def test_check_says_what_was_not_understood(invoke: Invoke, stream: Path) -> None:
    """It holds all the same."""
    with stream.open("a") as file:
        file.write('{"type": "odd"}\n{"type": "odder"}\n')
    done = invoke("check", stream)
    assert done.exit_code == 0
    holds, remark = done.stdout.splitlines()
    assert holds.startswith(f"{stream}: holds (")
    assert remark == f"  but 2 lines were not understood: dragoman drift {stream}"


def test_check_goes_on_after_what_it_cannot_read(invoke: Invoke, stream: Path) -> None:
    done = invoke("check", "nowhere", stream)
    assert done.exit_code == 2
    assert f"{stream}: holds" in done.stdout
    assert "there is no file nowhere" in done.stderr


def test_secrets_are_kept_out_unless_exact_lines_are_asked_for(invoke: Invoke, tmp_path: Path) -> None:
    key = "ghp_" + "AbCdEfGh0123456789" * 2
    said = {"type": "message", "role": "assistant", "content": f"it is {key}", "delta": True}
    path = tmp_path / "stdout"
    path.write_text(
        json.dumps({"type": "init", "session_id": "s", "model": "m"}) + "\n" + json.dumps(said) + "\n"
    )

    def has_key(command: str, *options: str) -> bool:
        done = invoke(command, path, *options)
        assert done.exit_code == 0, done.output
        assert ("[redacted]" in done.stdout) != (key in done.stdout)
        return key in done.stdout

    assert not has_key("convert")
    assert not has_key("convert", "--view", "agent-event")
    assert not has_key("convert", "--view", "insights")
    assert not has_key("convert", "--native", "--redact")
    assert has_key("convert", "--no-redact")
    assert has_key("convert", "--native")
    assert has_key("convert", "--view", "native")
    assert not has_key("replay")
    assert not has_key("replay", "--json")
    assert has_key("replay", "--no-redact")


# --- many files ------------------------------------------------------------------------------------------------


def test_many_files_are_what_each_is(invoke: Invoke, stream: Path, tmp_path: Path) -> None:
    archive, into = tmp_path / "archive", tmp_path / "into"
    for name in ("a/stdout.jsonl", "b/c/stdout.jsonl", "b/session.json", "b/readme.md"):
        place = archive / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(stream.read_bytes())
    done = invoke("convert", "--into", into, "--jobs", "2", archive, stream, "--view", "insights")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr == "4 converted, 0 not\n"
    expected = invoke("convert", stream, "--view", "insights").stdout_bytes
    written = sorted(path for path in into.rglob("*") if path.is_file())
    assert [str(path.relative_to(into)) for path in written] == [
        "archive/a/stdout.jsonl",
        "archive/b/c/stdout.jsonl",
        "archive/b/session.json",
        stream.name,
    ]
    assert [path.read_bytes() for path in written] == [expected] * 4


def test_one_that_cannot_be_converted_is_told_of(invoke: Invoke, stream: Path, tmp_path: Path) -> None:
    odd, into = tmp_path / "odd.jsonl", tmp_path / "into"
    odd.write_bytes(b"\0")
    done = invoke("convert", "--into", into, "--jobs", "1", odd, tmp_path / "absent", stream)
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        f"{odd} is no stream of an agent: it is binary",
        f"there is no file {tmp_path / 'absent'}",
        "1 converted, 2 not",
    ]
    assert [path.name for path in into.iterdir()] == [stream.name]
    again = invoke("convert", "--into", into, "--jobs", "1", stream)
    assert again.exit_code == 1
    assert again.stderr.splitlines() == [
        f"{stream}: {into / stream.name}: File exists",
        "0 converted, 1 not",
    ]


def test_empty_files_are_left_out(invoke: Invoke, stream: Path, tmp_path: Path) -> None:
    """Agents leave some behind. Alone, one is no input at all."""
    empty, blank, into = tmp_path / "empty.jsonl", tmp_path / "blank.jsonl", tmp_path / "into"
    empty.touch()
    blank.write_text("\n\n")
    done = invoke("convert", "--into", into, "--jobs", "1", empty, blank, stream)
    assert (done.exit_code, done.stderr) == (0, "1 converted, 0 not, 2 empty\n")
    assert [path.name for path in into.iterdir()] == [stream.name]
    checked = invoke("check", empty, stream)
    assert checked.exit_code == 0
    assert checked.stdout.startswith(f"{empty}: empty\n{stream}: holds (")
    for command in ("check", "convert"):
        alone = invoke(command, empty)
        assert alone.exit_code == 2
        assert f"{empty} is empty, so nobody can tell which agent wrote it; name the dialect" in alone.stderr
    assert invoke("check", empty, "--from", "claude_transcript").exit_code == 0


def test_what_is_half_written_is_not_left(invoke: Invoke, stream: Path, tmp_path: Path) -> None:
    events, into = tmp_path / "events.jsonl", tmp_path / "into"
    events.write_bytes(invoke("convert", stream).stdout_bytes)
    done = invoke("convert", "--into", into, "--jobs", "1", "--view", "native", events)
    assert done.exit_code == 1
    assert "without native lines" in done.stderr
    assert list(into.iterdir()) == []


@pytest.mark.parametrize(
    "words", [("x", "y"), ("x", "--jobs", "2"), ("x", "--into", "f", "--exit", "1"), ("--into", "f", ".")]
)
def test_options_that_do_not_go_together(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("convert", *words).exit_code == 2

"""The stores of agents, as they leave them and as nobody would wish them to be."""

import json
import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman._files import stores
from dragoman._files.stores import CLAUDE, CODEX, COPILOT, GEMINI, HEAD, QWEN, Store, sessions
from dragoman._model.errors import SessionNotFound
from dragoman._model.sessions import LATEST, SessionInfo, chosen
from tests.golden import CAPTURES

ONE = "11111111-2222-4333-8444-555555555555"
TWO = "11111111-2222-4333-8444-666666666666"


def claude_file(home: Path, id: str, cwd: str, prompt: str = "Fix it.", age: float = 0, **extra: str) -> Path:
    folder = home / "".join(char if char.isalnum() else "-" for char in cwd)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {"type": "queue-operation", "operation": "enqueue", "sessionId": id},
        {"type": "user", "message": {"content": "<command-name>/clear</command-name>"}, "cwd": cwd},
        {
            "type": "user",
            "message": {"content": [{"type": "text", "text": prompt}]},
            "cwd": cwd,
            "sessionId": id,
        },
        {"type": "assistant", "message": {"model": "claude-opus-5-5", "content": []}, "cwd": cwd},
        {"type": "assistant", "message": {"model": "<synthetic>", "content": []}, "cwd": cwd},
        *({"type": "x", key: value} for key, value in extra.items()),
    ]
    return written(folder / f"{id}.jsonl", lines, age)


def codex_file(home: Path, id: str, cwd: str, prompt: str = "Fix it.", age: float = 0) -> Path:
    folder = home / "2026" / "11" / "16"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {"type": "session_meta", "payload": {"id": id, "cwd": cwd, "source": "exec"}},
        {"type": "turn_context", "payload": {"approval_policy": "never", "model": "gpt-5.5"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": prompt}},
    ]
    return written(folder / f"rollout-2026-11-16T15-01-08-{id}.jsonl", lines, age)


def gemini_file(home: Path, id: str, cwd: str, prompt: str = "Fix it.", age: float = 0) -> Path:
    folder = home / Path(cwd).name / "chats"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / ".project_root").write_text(cwd)
    lines = [
        {"sessionId": id, "startTime": "2026-11-16T15:01:17.054Z", "kind": "main"},
        {"$set": {"messages": [{"type": "user", "content": [{"text": "<session_context>\nGemini"}]}]}},
        {"type": "user", "content": [{"text": prompt}]},
        {"type": "gemini", "content": "Done.", "model": "gemini-2.5-pro"},
    ]
    return written(folder / f"session-2026-11-16T15-01-{id[:8]}.jsonl", lines, age)


def qwen_file(home: Path, id: str, cwd: str, prompt: str = "Fix it.", age: float = 0) -> Path:
    folder = home / "".join(char if char.isalnum() else "-" for char in cwd) / "chats"
    folder.mkdir(parents=True, exist_ok=True)
    every = {"sessionId": id, "cwd": cwd, "timestamp": "2026-11-16T15:01:17.054Z"}
    lines: list[dict[str, object]] = [
        {**every, "type": "user", "message": {"role": "user", "parts": [{"text": prompt}]}},
        {**every, "type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {}}},
        {
            **every,
            "type": "assistant",
            "model": "qwen3-coder-plus",
            "message": {"role": "model", "parts": []},
        },
    ]
    return written(folder / f"{id}.jsonl", lines, age)


def copilot_file(home: Path, id: str, cwd: str, prompt: str = "Fix it.", age: float = 0) -> Path:
    folder = home / id
    folder.mkdir(parents=True, exist_ok=True)
    started = {"sessionId": id, "startTime": "2026-11-16T15:01:17.054Z", "context": {"cwd": cwd}}
    lines = [
        {"type": "session.start", "data": started},
        {"type": "session.model_change", "data": {"newModel": "gpt-5.2"}},
        {"type": "user.message", "data": {"content": prompt, "transformedContent": f"<now/>\n\n{prompt}"}},
    ]
    return written(folder / "events.jsonl", lines, age)


def written(path: Path, lines: Sequence[object], age: float) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.utime(path, (1_800_000_000 - age, 1_800_000_000 - age))
    return path


MAKERS = {
    "claude": (CLAUDE, claude_file),
    "codex": (CODEX, codex_file),
    "gemini": (GEMINI, gemini_file),
    "qwen": (QWEN, qwen_file),
    "copilot": (COPILOT, copilot_file),
}


def beside(file: Path, id: str) -> Path:
    """Where the same agent would keep another session."""
    there = Path(str(file).replace(ONE, id).replace(ONE[:8], id[:8]))
    there.parent.mkdir(exist_ok=True)
    return there


# --- as agents leave them ------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", MAKERS)
def test_sessions_newest_first_by_folder_and_prefix(agent: str, tmp_path: Path) -> None:
    store, make = MAKERS[agent]
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    make(tmp_path / "store", ONE, str(here), "The old one.", age=60)
    make(tmp_path / "store", TWO, str(there), "The new one.")
    found = sessions(agent, store, [tmp_path / "store"])
    assert [(info.id, info.prompt) for info in found] == [(TWO, "The new one."), (ONE, "The old one.")]
    assert found[1].cwd == str(here)
    assert found[1].model
    assert found[1].updated == datetime.fromtimestamp(1_800_000_000 - 60, UTC)
    assert sessions(agent, store, [tmp_path / "store"], cwd=str(here)) == [found[1]]
    link = tmp_path / "link"
    link.symlink_to(here)
    assert sessions(agent, store, [tmp_path / "store"], cwd=str(link)) == [found[1]]
    assert sessions(agent, store, [tmp_path / "store"], prefix=ONE[:30]) == [found[1]]
    assert sessions(agent, store, [tmp_path / "store"], prefix="11") == found
    assert sessions(agent, store, [tmp_path / "store"], limit=1) == [found[0]]
    assert sessions(agent, store, [tmp_path / "nowhere"]) == []


def copied(capture: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(next(capture.glob("session.json*")), to)


def test_captured_transcripts_are_sessions(tmp_path: Path) -> None:
    """All but those in which the user said nothing: a prompt was kept out by a hook, or what is captured is a subagent's."""
    silent = set()
    for number, path in enumerate(sorted(CAPTURES.glob("claude_transcript/*/*/session.jsonl"))):
        id = f"11111111-2222-4333-8444-{number:012}"
        copied(path.parent, tmp_path / str(number) / f"{id}.jsonl")
        found = sessions("claude", CLAUDE, [tmp_path], prefix=id)
        if not found:
            silent.add(path.parent.name)
        else:
            assert found[0].cwd is not None, path
            assert found[0].created is not None, path
    assert silent == {"hook_blocks_prompt"}


def test_captured_rollouts_of_subagents_are_no_sessions(tmp_path: Path) -> None:
    names = {}
    for number, path in enumerate(sorted(CAPTURES.glob("codex_rollout/*/*/session.jsonl"))):
        id = f"11111111-2222-7333-8444-{number:012}"
        copied(path.parent, tmp_path / "2026" / f"rollout-2026-11-16T15-01-08-{id}.jsonl")
        names[id] = path.parent.name
    found = {names[info.id]: info for info in sessions("codex", CODEX, [tmp_path])}
    assert "basic" in found
    assert not [name for name in found if name.endswith("_child") and "with" not in name]
    assert all(info.prompt and info.cwd for info in found.values())


def test_titles(tmp_path: Path) -> None:
    claude_file(tmp_path, ONE, "/w", customTitle="By hand", aiTitle="By a model")
    claude_file(tmp_path, TWO, "/w", aiTitle="By a model")
    assert {info.id: info.title for info in sessions("claude", CLAUDE, [tmp_path])} == {
        ONE: "By hand",
        TWO: "By a model",
    }


def test_an_old_chat_is_one_document(tmp_path: Path) -> None:
    chats = tmp_path / sha256(b"/w").hexdigest() / "chats"
    chats.mkdir(parents=True)
    told = {"sessionId": ONE, "summary": "A title", "messages": [{"type": "user", "content": "Fix it."}]}
    (chats / "session-2025-01-01T00-00-11111111.json").write_text(json.dumps(told, indent=2))
    [info] = sessions("gemini", GEMINI, [tmp_path])
    assert (info.id, info.title, info.prompt) == (ONE, "A title", "Fix it.")


def test_a_file_in_which_nothing_was_said_is_no_session(tmp_path: Path) -> None:
    """Gemini CLI begins one whenever it starts over ACP."""
    chat = gemini_file(tmp_path / "gemini", ONE, "/w")
    chat.write_text("".join(chat.read_text().splitlines(keepends=True)[:2]))
    transcript = claude_file(tmp_path / "claude", ONE, "/w")
    transcript.write_text('{"type":"queue-operation"}\n')
    rollout = codex_file(tmp_path / "codex", ONE, "/w")
    rollout.write_text(rollout.read_text().splitlines(keepends=True)[0])
    for agent, make in (("qwen", qwen_file), ("copilot", copilot_file)):
        file = make(tmp_path / agent, ONE, "/w")
        file.write_text("".join(line for line in file.read_text().splitlines(True) if '"user' not in line))
    for agent, (store, _) in MAKERS.items():
        assert sessions(agent, store, [tmp_path / agent]) == []


def test_a_session_that_goes_on_in_another_file_is_one(tmp_path: Path) -> None:
    old = gemini_file(tmp_path, ONE, "/w", age=60)
    new = old.with_name("session-2026-11-16T16-01-11111111.jsonl")
    shutil.copy(old, new)
    assert len(sessions("gemini", GEMINI, [tmp_path])) == 1


# --- as nobody would wish them to be -------------------------------------------------------------------------


@pytest.mark.parametrize("agent", MAKERS)
def test_hostile_files_are_passed_over(agent: str, tmp_path: Path) -> None:
    store, make = MAKERS[agent]
    good = make(tmp_path, ONE, str(tmp_path), age=60)
    beside(good, "22222222-2222-4333-8444-555555555555").write_bytes(os.urandom(100_000))
    os.mkfifo(beside(good, "33333333-2222-4333-8444-555555555555"))
    beside(good, "44444444-2222-4333-8444-555555555555").symlink_to(tmp_path / "nowhere")
    beside(good, "55555555-2222-4333-8444-555555555555").mkdir()
    beside(good, "66666666-2222-4333-8444-555555555555").symlink_to("/dev/zero")
    beside(good, "77777777-2222-4333-8444-555555555555").write_text(
        "[" * 100_000 + "\n" + '{"a":' * 5_000 + "\n"
    )
    (good.parent / "loop").symlink_to(tmp_path)
    (tmp_path / "2026-loop").symlink_to(tmp_path)
    loop = tmp_path / "77"
    loop.symlink_to(tmp_path)
    assert {info.id for info in sessions(agent, store, [tmp_path])} == {ONE}


def watched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, int]]:
    """The parts of files that are read from now on: which file, and how many bytes at most."""
    parts: list[tuple[Path, int]] = []
    plain = stores._bytes

    def noted(path: Path, start: int, length: int) -> bytes:
        parts.append((path, length))
        return plain(path, start, length)

    monkeypatch.setattr(stores, "_bytes", noted)
    return parts


@pytest.mark.parametrize("agent", MAKERS)
def test_of_a_huge_file_only_the_ends_are_read(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, make = MAKERS[agent]
    file = make(tmp_path, ONE, str(tmp_path))
    with file.open("r+b") as stream:
        stream.truncate(1 << 40)
    read = watched(monkeypatch)
    [info] = sessions(agent, store, [tmp_path])
    assert (info.id, info.prompt) == (ONE, "Fix it.")
    assert sum(size for _, size in read) <= 4 * HEAD


@pytest.mark.parametrize("agent", MAKERS)
def test_of_five_thousand_files_only_those_that_matter_are_opened(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, make = MAKERS[agent]
    file = make(tmp_path, ONE, str(tmp_path))
    for number in range(5_000):
        id = f"{number:08x}-2222-4333-8444-555555555555"
        beside(file, id).write_bytes(file.read_bytes().replace(ONE.encode(), id.encode()))
    read = watched(monkeypatch)
    assert len(sessions(agent, store, [tmp_path], limit=20)) == 20
    assert len({path for path, _ in read if path.suffix == ".jsonl"}) == 20
    read.clear()
    assert len(sessions(agent, store, [tmp_path], cwd=str(tmp_path), limit=1)) == 1
    assert len({path for path, _ in read if path.suffix == ".jsonl"}) == 1
    read.clear()
    assert [info.id for info in sessions(agent, store, [tmp_path], prefix="00000abc")] == [
        "00000abc-2222-4333-8444-555555555555"
    ]
    assert len({path for path, _ in read if path.suffix == ".jsonl"}) == 1


KEYS = (
    *("type", "message", "content", "payload", "cwd", "$set", "messages", "sessionId", "summary", "model"),
    *("timestamp", "source", "item", "text", "startTime", "kind", "customTitle", "approval_policy"),
    *("parts", "subtype", "systemPayload", "userText", "data", "transformedContent", "context", "newModel"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(max_size=4),
            inner | st.sampled_from(["user", "assistant", "gemini", "user_message", "2026-01-01"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("agent", MAKERS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    lines=st.lists(JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40), max_size=6)
)
def test_whatever_stands_in_a_file(agent: str, tmp_path: Path, lines: list[bytes]) -> None:
    store, make = MAKERS[agent]
    make(tmp_path, ONE, str(tmp_path)).write_bytes(b"\n".join(lines))
    for info in sessions(agent, store, [tmp_path]):
        assert msgspec.json.decode(msgspec.json.encode(info), type=SessionInfo) == info


# --- which one is meant --------------------------------------------------------------------------------------


def info(id: str, age: int = 0, title: str | None = None) -> SessionInfo:
    changed = datetime.fromtimestamp(1_800_000_000 - age, UTC)
    return SessionInfo(agent="toy", id=id, updated=changed, title=title)


def test_the_session_that_is_meant() -> None:
    known = [info("abc", 2), info("abd", 1), info("xyz", 3)]
    assert chosen("toy", LATEST, known, "/w") == "abd"
    assert chosen("toy", "x", known, "/w") == "xyz"
    assert chosen("toy", "ab", [*known, info("ab")], "/w") == "ab"
    assert chosen("toy", "Login", [*known, info("l", title="Login"), info("m", title="Logins")], "/w") == "l"
    assert chosen("toy", "x", [*known, info("l", title="x")], "/w") == "xyz"


@pytest.mark.parametrize(
    ("wanted", "known", "said"),
    [
        (LATEST, [], "toy has no session in /w; `dragoman ls toy` lists those that there are"),
        ("q", [info("abc")], "toy has no session q; `dragoman ls toy` lists those that there are"),
        ("T", [info("a", title="T"), info("b", title="T")], "2 sessions of toy may be meant by T: a, b"),
        ("ab", [info("abc"), info("abd")], "2 sessions of toy may be meant by ab: abc, abd"),
        ("a", [info(f"a{n}") for n in range(7)], "7 sessions of toy may be meant by a: a0, a1, a2, a3, a4 …"),
    ],
)
def test_no_session_is_meant_or_several(wanted: str, known: list[SessionInfo], said: str) -> None:
    with pytest.raises(SessionNotFound) as raised:
        chosen("toy", wanted, known, "/w")
    assert raised.value.message == said


def test_every_store_has_a_maker_here() -> None:
    made = [value for value in vars(stores).values() if isinstance(value, Store)]
    assert made == [store for store, _ in MAKERS.values()]

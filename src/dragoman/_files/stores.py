"""The stores in which agents keep their sessions, read from outside: the beginning and the end of each file, no more.

The files belong to programs that may be at work: they vanish, grow, are cut in the middle of a line, and anything may
stand in them. What cannot be read is left out; nothing here raises for what is in a store.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from dragoman._model.sessions import UUID, SessionInfo
from dragoman._policy.config_files import text_of
from dragoman._wire import fields
from dragoman._wire.jsontext import parse, repaired_text

HEAD: Final = 1 << 17
TAIL: Final = 1 << 16
"""Bytes that are read of the beginning and of the end of a file."""
WHOLE: Final = 1 << 22
"""Bytes of a file that is one JSON document and has to be read to its end; of a larger one the head alone is looked at."""
PROMPT: Final = 500
"""Characters that are kept of a prompt."""

Line = Mapping[str, Any]


class StoredFile(NamedTuple):
    """A file that may hold a session."""

    path: Path
    modified: float
    size: int


class Store(Struct, frozen=True):
    """How an agent keeps its sessions."""

    dialect: str
    files: Callable[[Path, str | None], Iterator[Path]]
    """The files below a folder, those that may be of a working directory if one is given."""
    id_in_path: Callable[[Path], str]
    """As much of the session's id as the file's path tells."""
    read: Callable[[str, StoredFile], SessionInfo | None]
    """What a file of this agent tells of its session; None if it holds none."""
    units: Callable[[Path], Iterator[tuple[Path, ...]]]
    """All files below a folder, those that are read together in one: a session's own first, then those of its
    subagents."""


def sessions(
    agent: str,
    store: Store,
    folders: Sequence[Path],
    *,
    cwd: str | None = None,
    prefix: str = "",
    limit: int | None = None,
) -> list[SessionInfo]:
    """The sessions in the folders, newest first: those of a working directory, those whose ids begin with `prefix`, and no
    more than `limit`. Only as many files are opened as that takes."""
    return list(islice(_sessions(agent, store, folders, cwd, prefix), limit))


def _sessions(
    agent: str, store: Store, folders: Sequence[Path], cwd: str | None, prefix: str
) -> Iterator[SessionInfo]:
    where = os.path.realpath(cwd) if cwd is not None else None
    seen: set[str] = set()
    for file in _newest_first(path for folder in folders for path in store.files(folder, where)):
        told = store.id_in_path(file.path)
        if not told.startswith(prefix[: len(told)]):
            continue
        info = store.read(agent, file)
        if info is None or info.id in seen or not info.id.startswith(prefix):
            continue
        if where is None or (info.cwd is not None and os.path.realpath(info.cwd) == where):
            seen.add(info.id)
            yield info


# --- files ---------------------------------------------------------------------------------------------------


def _newest_first(paths: Iterator[Path]) -> list[StoredFile]:
    found = []
    for path in paths:
        try:
            status = path.stat()
        except OSError:  # gone meanwhile, or a link that leads nowhere
            continue
        if stat.S_ISREG(status.st_mode):
            found.append(StoredFile(path, status.st_mtime, status.st_size))
    return sorted(found, key=lambda file: (-file.modified, file.path.name))


def _children(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError:
        return []


def _below(folder: Path, *endings: str) -> list[Path]:
    """The files at any depth below a folder whose names end so, in the order of their names."""
    found = []
    for place, _, names in os.walk(folder):
        found += [Path(place, name) for name in names if name.endswith(endings)]
    return sorted(found)


def _bytes(path: Path, start: int, length: int) -> bytes:
    """A part of a file; nothing if it cannot be had."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(file, "rb") as stream:
            stream.seek(start)
            return stream.read(length)
    except OSError:
        return b""


def _lines(part: bytes, *, from_start: bool, to_end: bool) -> list[Line]:
    """The JSON objects on the whole lines of a part of a file."""
    lines = part.split(b"\n")
    whole = lines[0 if from_start else 1 : len(lines) if to_end else -1]
    return [value for line in whole if line and isinstance(value := _json(line), dict)]


def _json(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return parse(text)


def _head(file: StoredFile) -> list[Line]:
    return _lines(_bytes(file.path, 0, HEAD), from_start=True, to_end=file.size <= HEAD)


def _tail(file: StoredFile) -> list[Line]:
    """The last lines that are not in the head, the last one first."""
    start = max(HEAD, file.size - TAIL)
    part = _bytes(file.path, start, TAIL) if file.size > HEAD else b""
    return _lines(part, from_start=False, to_end=True)[::-1]


def _first(lines: Sequence[Line], key: str) -> str | None:
    """The first text at this key that is not empty."""
    found = next((text for line in lines if (text := fields.text(line, key))), None)
    return repaired_text(found) if found is not None else None


def _first_time(lines: Sequence[Line], key: str) -> datetime | None:
    return next((time for line in lines if (time := fields.time(line, key))), None)


def _modified(file: StoredFile) -> datetime:
    return datetime.fromtimestamp(file.modified, UTC)


def _words(content: Any, *aside: str) -> str | None:
    """The beginning of what a user said; None for what a program said in the user's name, which begins with one of
    `aside`."""
    said = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    parts = (part if isinstance(part, str) else fields.text(part, "text") for part in said)
    text = repaired_text("\n".join(filter(None, parts)).strip()[:PROMPT])
    return text if text and not text.startswith(aside) else None


# --- Claude Code: projects/<folder>/<session>.jsonl ----------------------------------------------------------

_TRANSCRIPT = re.compile(rf"({UUID})\.jsonl")
_NOT_SAID = ("<command-", "<local-command-", "<bash-", "<task-notification>", "<system-reminder>", "Caveat:")
_FOLDER_NAME: Final = 200
"""Characters of a folder's name that come of the path; longer ones end with a hash."""


def _claude_files(folder: Path, cwd: str | None) -> Iterator[Path]:
    wanted = re.sub("[^a-zA-Z0-9]", "-", cwd)[:_FOLDER_NAME] if cwd is not None else None
    for project in _children(folder):
        if wanted is None or project.name[:_FOLDER_NAME] == wanted:
            yield from (path for path in _children(project) if _TRANSCRIPT.fullmatch(path.name))


def _claude_session(agent: str, file: StoredFile) -> SessionInfo | None:
    head, tail = _head(file), _tail(file)
    users = [line for line in head if line.get("type") == "user" and not line.get("isSidechain")]
    said = (
        _words(fields.mapping(line, "message").get("content"), *_NOT_SAID)
        for line in users
        if not line.get("isMeta") and not line.get("isCompactSummary")
    )
    prompt = next(filter(None, said), None)
    if not users and file.size <= HEAD:
        return None  # notes of a session in which nothing was said
    late = [*tail, *head[::-1]]
    spoken = [line for line in late if line.get("type") == "assistant"]
    models = (fields.text(fields.mapping(line, "message"), "model") for line in spoken)
    return SessionInfo(
        agent=agent,
        id=file.path.stem,
        title=_first(late, "customTitle") or _first(late, "aiTitle") or _first(head, "summary"),
        prompt=prompt,
        cwd=_first(head, "cwd"),
        created=_first_time(head, "timestamp"),
        updated=_modified(file),
        model=next((model for model in models if model and model != "<synthetic>"), None),
    )


def _claude_units(folder: Path) -> Iterator[tuple[Path, ...]]:
    """Subagents are in a folder that is called like the session's file; 2.0.50 wrote some beside the sessions."""
    for project in _children(folder):
        children = _children(project)
        names = {path.name for path in children}
        for path in children:
            if path.suffix == ".jsonl":
                has_folder = path.stem in names  # few have one
                yield (path, *(_below(project / path.stem / "subagents", ".jsonl") if has_folder else ()))


CLAUDE: Final = Store(
    "claude_transcript",
    _claude_files,
    lambda path: path.stem,
    _claude_session,
    _claude_units,
)


# --- Codex: sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl -------------------------------------

_ROLLOUT = re.compile(rf"rollout-.*?-({UUID})(?:_{UUID})?\.jsonl(\.zst)?")
"""A thread of which turns were taken back goes on in another file, which has an id of its own behind the thread's."""
_CODEX_ASIDE = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md",
    "<permissions",
)


def _codex_files(folder: Path, cwd: str | None) -> Iterator[Path]:
    """At any depth down to the day: archived ones lie in one folder."""
    level = [folder]
    for _ in range(4):
        children = [path for place in level for path in _children(place)]
        yield from (path for path in children if _ROLLOUT.fullmatch(path.name))
        level = [path for path in children if path.name.isdigit()]


def _codex_id(path: Path) -> str:
    match = _ROLLOUT.fullmatch(path.name)
    return match[1] if match is not None else ""


def _codex_session(agent: str, file: StoredFile) -> SessionInfo | None:
    """Of a compressed file only what its name tells."""
    id, archived = _codex_id(file.path), "archived_sessions" in file.path.parts
    if file.path.suffix == ".zst":
        return SessionInfo(agent=agent, id=id, updated=_modified(file), archived=archived)
    head = _head(file)
    payloads = [fields.mapping(line, "payload") or line for line in head]
    meta = payloads[0] if payloads else {}
    if not isinstance(meta.get("source", ""), str) or fields.text(meta, "parent_thread_id"):
        return None  # a subagent's
    prompt = next(filter(None, map(_codex_prompt, payloads)), None)
    if prompt is None and file.size <= HEAD:
        return None  # a thread or a copy of one in which nothing was said
    late = [fields.mapping(line, "payload") for line in (*_tail(file), *head[::-1])]
    contexts = [payload for payload in late if "approval_policy" in payload]
    return SessionInfo(
        agent=agent,
        id=id,
        prompt=prompt,
        cwd=fields.text(meta, "cwd"),
        created=fields.time(meta, "timestamp"),
        updated=_modified(file),
        model=_first(contexts, "model"),
        archived=archived,
    )


def _codex_prompt(payload: Line) -> str | None:
    kind, item = payload.get("type"), fields.mapping(payload, "item")
    if kind == "user_message":
        return _words(payload.get("message"), *_CODEX_ASIDE)
    if kind == "item_completed" and item.get("type") == "UserMessage":
        return _words(item.get("content"), *_CODEX_ASIDE)
    return None


def _codex_units(folder: Path) -> Iterator[tuple[Path, ...]]:
    for place in (folder, folder.with_name("archived_sessions")):
        yield from ((path,) for path in _codex_files(place, None))


CODEX: Final = Store("codex_rollout", _codex_files, _codex_id, _codex_session, _codex_units)


# --- Gemini CLI: tmp/<project>/chats/session-<time>-<first 8 of the session>.jsonl ---------------------------

_CHAT = re.compile(r"session-.*-([0-9a-f]{8})\.jsonl?")
_CONTEXT: Final = "<session_context>"


def _gemini_files(folder: Path, cwd: str | None) -> Iterator[Path]:
    for project in _children(folder):
        if cwd is None or _gemini_root(project) == cwd or project.name == sha256(cwd.encode()).hexdigest():
            yield from (path for path in _children(project / "chats") if _CHAT.fullmatch(path.name))


def _gemini_root(project: Path) -> str | None:
    """The working directory of a project, as the CLI wrote it down."""
    try:
        return os.path.realpath(text_of(project / ".project_root").strip())
    except (OSError, ValueError):
        return None


def _gemini_id(path: Path) -> str:
    match = _CHAT.fullmatch(path.name)
    return match[1] if match is not None else ""


def _gemini_session(agent: str, file: StoredFile) -> SessionInfo | None:
    if file.path.suffix == ".json":
        document = _json(_bytes(file.path, 0, WHOLE))
        head: list[Line] = [document] if isinstance(document, dict) else []
    else:
        head = _head(file)
    facts = [*head, *(fields.mapping(line, "$set") for line in head)]
    told = [message for line in facts for message in fields.items(line, "messages")]
    messages = [message for message in (*told, *head, *_tail(file)[::-1]) if isinstance(message, dict)]
    users = [message.get("content") for message in messages if message.get("type") == "user"]
    prompt = next(filter(None, (_words(content, _CONTEXT) for content in users)), None)
    id = _first(head, "sessionId")
    if id is None or prompt is None or _first(head, "kind") == "subagent":
        return None  # the CLI begins a file before anything is said
    late = [*_tail(file), *facts[::-1]]
    return SessionInfo(
        agent=agent,
        id=id,
        title=_first([*(fields.mapping(line, "$set") for line in late), *late], "summary"),
        prompt=prompt,
        cwd=_gemini_root(file.path.parent.parent),
        created=_first_time(head, "startTime"),
        updated=_modified(file),
        model=_first([message for message in messages[::-1] if message.get("type") == "gemini"], "model"),
    )


def _gemini_units(folder: Path) -> Iterator[tuple[Path, ...]]:
    """Subagents are sessions of their own, in a folder that is called like the one they work for."""
    for project in _children(folder):
        yield from ((path,) for path in _below(project / "chats", ".jsonl", ".json"))


GEMINI: Final = Store("gemini_chat", _gemini_files, _gemini_id, _gemini_session, _gemini_units)


# --- Qwen Code: projects/<folder>/chats/<session>.jsonl -------------------------------------------------------


def _qwen_files(folder: Path, cwd: str | None) -> Iterator[Path]:
    wanted = re.sub("[^a-zA-Z0-9]", "-", cwd) if cwd is not None else None
    for project in _children(folder):
        if wanted is None or project.name == wanted:
            yield from (path for path in _children(project / "chats") if _TRANSCRIPT.fullmatch(path.name))


def _qwen_session(agent: str, file: StoredFile) -> SessionInfo | None:
    head = _head(file)
    late = [*_tail(file), *head[::-1]]
    said = [line for line in head if line.get("type") == "user" and not line.get("subtype")]
    typed = [line for line in head if line.get("subtype") == "at_command"]
    parts = [fields.mapping(line, "message").get("parts") for line in said]
    prompt = next(filter(None, map(_words, parts)), None)
    if prompt is None and file.size <= HEAD:
        return None  # notes of a session in which nothing was said
    first = _first([fields.mapping(line, "systemPayload") for line in typed], "userText")
    titles = [fields.mapping(line, "systemPayload") for line in late if line.get("subtype") == "custom_title"]
    return SessionInfo(
        agent=agent,
        id=file.path.stem,
        title=_first(titles, "customTitle"),
        prompt=first if first is not None and (prompt or "").startswith(first) else prompt,
        cwd=_first(head, "cwd"),
        created=_first_time(head, "timestamp"),
        updated=_modified(file),
        model=_first(late, "model"),
    )


def _qwen_units(folder: Path) -> Iterator[tuple[Path, ...]]:
    for project in _children(folder):
        for path in _below(project / "chats", ".jsonl"):
            yield (path, *_below(project / "subagents" / path.stem, ".jsonl"))


QWEN: Final = Store("qwen_chat", _qwen_files, lambda path: path.stem, _qwen_session, _qwen_units)


# --- Copilot CLI: session-state/<session>/events.jsonl --------------------------------------------------------

_NAME: Final = re.compile(r"^name: (.+)$", re.MULTILINE)


def _copilot_files(folder: Path, cwd: str | None) -> Iterator[Path]:
    return (path for session in _children(folder) if (path := session / "events.jsonl").is_file())


def _copilot_session(agent: str, file: StoredFile) -> SessionInfo | None:
    head = _head(file)
    data = [fields.mapping(line, "data") for line in head]
    own = [fields.mapping(line, "data") for line in head if not line.get("agentId")]
    contents = (
        each.get("content") for each in own if "transformedContent" in each and not each.get("source")
    )
    prompt = next(filter(None, map(_words, contents)), None)
    if prompt is None and file.size <= HEAD:
        return None  # a session in which nothing was said
    late = [fields.mapping(line, "data") for line in (*_tail(file), *head[::-1]) if not line.get("agentId")]
    return SessionInfo(
        agent=agent,
        id=file.path.parent.name,
        title=_copilot_name(file.path.with_name("workspace.yaml")),
        prompt=prompt,
        cwd=_first([fields.mapping(each, "context") for each in data], "cwd"),
        created=_first_time(data, "startTime"),
        updated=_modified(file),
        model=_first(late, "model") or _first(late, "newModel") or _first(late, "selectedModel"),
    )


def _copilot_name(path: Path) -> str | None:
    """What a session is called, as the file beside it says: a line of YAML that is plain or in quotes."""
    found = _NAME.search(_bytes(path, 0, TAIL).decode("utf-8", "replace"))
    return found[1].strip().strip("\"'") or None if found is not None else None


def _copilot_units(folder: Path) -> Iterator[tuple[Path, ...]]:
    yield from ((path,) for path in _copilot_files(folder, None))


COPILOT: Final = Store(
    "copilot_events", _copilot_files, lambda path: path.parent.name, _copilot_session, _copilot_units
)

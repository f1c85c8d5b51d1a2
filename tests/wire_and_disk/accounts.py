"""Runs of which both is there, what was said on the wire and what the agent wrote to its disk, and how the two differ."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from dragoman import Event, Message, SessionStarted, SubagentStarted, ToolEnded, ToolStarted, UsageUpdated
from dragoman._files import stores
from dragoman._files.convert import convert
from dragoman._model.events import TurnEnded
from dragoman._model.usage import Usage
from tests.golden import CAPTURES, source
from tests.library.corpus import SHARED

CLAUDE: Final = ("claude_transcript", stores.CLAUDE, "")
CODEX: Final = ("codex_rollout", stores.CODEX, "")
GEMINI: Final = ("gemini_chat", stores.GEMINI, "tmp")
DISKS: Final = {
    "claude_stream": CLAUDE,
    "codex_app": CODEX,
    "codex_exec": CODEX,
    "gemini_stream": GEMINI,
    "acp": GEMINI,
}
"""By the dialect of the wire: that of the disk, the store, and where in a folder of a run it begins."""
CONTINUED: Final = {"-r", "--resume", "-c", "--continue", "resume"}
"""Arguments of a process that goes on with a session: what was before is in the file alone."""

THOUGHTLESS: Final = ("acp",)
"""Gemini CLI's counts over ACP are without thoughts, and nothing else tells of these (capture acp_429)."""


class Run(NamedTuple):
    name: str
    wire: list[Event]
    units: list[list[Event]]
    """What each session file of the run becomes, with those of its subagents."""
    continued: bool


def shared() -> list[Path]:
    """The runs with a disk among the captures beside this repository, if these are there."""
    return sorted(path.parent for path in SHARED.glob("*/*/*/disk"))


def own() -> list[Path]:
    """The runs among the captures of this repository of whose sessions there are files too."""
    return sorted(
        capture.parent
        for dialect in DISKS
        for capture in CAPTURES.glob(f"{dialect}/*/*/meta.json")
        if _kept(capture.parent)
    )


def name_of(folder: Path) -> str:
    return "/".join(folder.parts[-3:])


def run_of(folder: Path) -> Run:
    dialect = folder.parts[-3]
    name, store, below = DISKS[dialect]
    wire = list(convert(source(folder), dialect=dialect))
    if (folder / "disk").is_dir():
        files = [list(unit) for unit in store.units(folder / "disk" / below)]
    else:
        files = [[path, *sorted(path.parent.glob("subagent-*.jsonl"))] for path in _kept(folder)]
    units = [list(convert(unit if len(unit) > 1 else unit[0], dialect=name)) for unit in files]
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    continued = not CONTINUED.isdisjoint(map(str, meta.get("argv") or ()))
    return Run(name_of(folder), wire, units, continued)


def _kept(capture: Path) -> list[Path]:
    """The session files of this repository that a capture of a wire tells of, of the same version; each session once, if
    there are several from the run of the same name."""
    dialect, scenario = DISKS[capture.parts[-3]][0], capture.name
    files = [each for each in _session_files(dialect) if capture.parent.name.endswith(each.version)]
    wire = source(capture).read_bytes() if files else b""
    found: dict[Path, set[str]] = {}
    for file in sorted(files, key=lambda file: (file.path.parent.name != scenario, -len(file.sessions))):
        told = file.main.encode() in wire
        if told and not any(file.main in sessions for sessions in found.values()):
            found[file.path] = file.sessions
    return list(found)


class _File(NamedTuple):
    version: str
    main: str
    sessions: set[str]
    path: Path


@cache
def _session_files(dialect: str) -> list[_File]:
    return [
        _File(path.parts[-3], main, {main, *_below(path, events)}, path)
        for path in sorted(CAPTURES.glob(f"{dialect}/*/*/session.jsonl"))
        if (main := _main(events := list(convert(path, dialect=dialect)))) is not None
    ]


def _below(path: Path, events: list[Event]) -> set[str]:
    """The subagents whose files are in the same one."""
    if "files" not in json.loads(path.with_name("meta.json").read_text("utf-8")):
        return set()
    return _subagents(events)


def _subagents(events: Iterable[Event]) -> set[str]:
    return {event.agent_id for event in events if isinstance(event, SubagentStarted) and event.agent_id}


# --- how they differ -------------------------------------------------------------------------------------------


def differences(run: Run) -> set[str]:
    """In words that do not depend on ids: empty if wire and disk agree."""
    found: set[str] = set()
    for session in {event.session for event in run.wire if event.session}:
        wire = [event for event in run.wire if event.session == session]
        mains = [event for unit in run.units if _main(unit) == session for event in unit]
        family = {session} | _subagents(wire) | _subagents(mains)
        disk = [event for unit in run.units if _main(unit) in family for event in unit]
        if not disk:
            found.add("no file")
            continue
        before = run.continued or any(isinstance(event, SessionStarted) and event.resumed for event in wire)
        for compare in (_messages, _tools, _usage):
            found |= set(compare(_new(wire), _new(disk), before))
    return found


def _main(unit: list[Event]) -> str | None:
    return next((event.session for event in unit if event.session is not None), None)


def _new(events: list[Event]) -> list[Event]:
    return [event for event in events if not event.replay]


def _messages(wire: list[Event], disk: list[Event], before: bool) -> Iterator[str]:
    said, written = _said(wire), _said(disk)
    if said - written:
        yield "messages: more on the wire"
    if written - said and not before:
        yield "messages: more on disk"


def _said(events: Iterable[Event]) -> Counter[str]:
    """What the model said, not its thoughts."""
    return Counter(
        (event.text or "").strip()
        for event in events
        if isinstance(event, Message) and event.role == "assistant" and event.kind in ("text", "commentary")
    )


def _tools(wire: list[Event], disk: list[Event], before: bool) -> Iterator[str]:
    said, written = _called(wire), _called(disk)
    if not said.keys() & written.keys():  # codex exec has numbers of its own
        said, written = _numbered(said), _numbered(written)
    for id in said.keys() | written.keys():
        mine, other = said.get(id), written.get(id)
        if other is None and mine is not None:
            yield f"tools: {mine[0]} ({mine[1]}) only on the wire"
        elif mine is None and other is not None:
            if not before:
                yield f"tools: {other[0]} ({other[1]}) only on disk"
        elif mine != other and mine is not None and other is not None:
            yield "tools: " + ", ".join(f"{a} is {b}" for a, b in zip(mine, other, strict=True) if a != b)


def _called(events: list[Event]) -> dict[str, tuple[str, str]]:
    names = {event.call_id: event.name for event in events if isinstance(event, ToolStarted)}
    ends = {event.call_id: event.status for event in events if isinstance(event, ToolEnded)}
    return {id: (name, ends.get(id, "open")) for id, name in names.items()}


def _numbered(calls: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    counted: Counter[tuple[str, str]] = Counter()
    out = {}
    for call in calls.values():
        counted[call] += 1
        out[f"{call} {counted[call]}"] = call
    return out


def _usage(wire: list[Event], disk: list[Event], before: bool) -> Iterator[str]:
    said, written = _counted(wire), _counted(disk)
    if not said:
        yield from _sums(wire, disk, before)
        return
    if said.keys() - written.keys():
        yield "usage: calls only on the wire"
    if written.keys() - said.keys() and not before:
        yield "usage: calls only on disk"
    for key in said.keys() & written.keys():
        mine, other = said[key], written[key]
        if (mine.model, _input(mine)) != (other.model, _input(other)):
            yield "usage: another call"
        elif _output(mine) not in (None, _output(other)):
            yield "usage: another output"


def _counted(events: list[Event]) -> dict[str, UsageUpdated]:
    found: dict[str, UsageUpdated] = {}
    for event in events:
        if isinstance(event, UsageUpdated) and event.scope == "call" and event.call is not None:
            known = found.get(event.call)
            if known is None or (_output(event) or 0) >= (_output(known) or 0):
                found[event.call] = event
    return found


def _input(event: UsageUpdated) -> int | None:
    return event.usage.input_tokens if event.usage is not None else None


def _output(event: UsageUpdated) -> int | None:
    return event.usage.output_tokens if event.usage is not None else None


def _sums(wire: list[Event], disk: list[Event], before: bool) -> Iterator[str]:
    """Where the wire tells of turns: their sum, and that of the calls on disk, or of the last turns there."""
    turns = [event.usage for event in wire if isinstance(event, TurnEnded)]
    if before:
        ended = [event.usage for event in disk if isinstance(event, TurnEnded)]
        written = ended[-len(turns) :] if turns else []
    else:
        written = [event.usage for event in _counted(disk).values()]
    thoughts = _sum(written, "reasoning_tokens") if wire[0].dialect in THOUGHTLESS else 0
    for name, less in (("input_tokens", 0), ("output_tokens", thoughts)):
        mine, other = _sum(turns, name), _sum(written, name) - less
        if mine != other:
            yield f"usage: {'more' if mine > other else 'less'} {name} on the wire"


def _sum(counts: Iterable[Usage | None], name: str) -> int:
    return sum(getattr(each, name) or 0 for each in counts if each is not None)

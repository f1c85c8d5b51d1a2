"""Where sessions are: the stores of all agents, folders that a person named, and recordings of our own."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from dragoman._agents import AGENTS


class Unit(Struct, frozen=True):
    """Files that are read together: a session's own, and those of its subagents."""

    paths: tuple[str, ...]
    agent: str = ""
    """Whose store they are in; "" if only the content tells."""
    dialect: str = ""
    is_ours: bool = False
    """A recording of ours: it goes from the disk once all of it is in the library."""


class Folders:
    """Folders, with all that is below them."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._beginnings = tuple(os.path.join(folder, "") for folder in folders)

    def hold(self, path: str | None) -> bool:
        return bool(self._beginnings and path) and os.path.join(path or "", "").startswith(self._beginnings)


_ENDINGS: Final = (".jsonl", ".jsonl.zst", ".json")


def units(environment: Mapping[str, str], left_out: Iterable[str] = ()) -> Iterator[Unit]:
    """All that agents keep, in a given environment."""
    leave = Folders(left_out)
    for agent in AGENTS.values():
        store = agent.store
        if store is None:
            continue
        for folder in agent.session_dirs(environment):
            for paths in store.units(folder):
                unit = Unit(tuple(map(str, paths)), agent.name, store.dialect)
                if not leave.hold(unit.paths[0]):
                    yield unit


def units_below(folder: Path, is_ours: bool = False) -> Iterator[Unit]:
    """All session files and recordings at any depth below a folder, or the file if it is one; those of subagents with the one
    they belong to."""
    above = os.path.abspath(os.path.expanduser(folder))
    if os.path.isfile(above):
        yield Unit((above,))
        return
    files = {
        os.path.join(place, name)
        for place, _, names in os.walk(above)
        for name in names
        if name.endswith(_ENDINGS)
    }
    families: dict[str, list[str]] = {}
    for path in sorted(files):
        families.setdefault(_family(path, files), []).append(path)
    for first, members in families.items():
        others = [path for path in members if path != first]
        yield Unit((first, *others), is_ours=is_ours)


def _family(path: str, files: set[str]) -> str:
    """The file of the session that a subagent's belongs to: `<session>/subagents/…` is beside `<session>.jsonl`."""
    head, found, _ = path.rpartition("/subagents/")
    owner = f"{head}.jsonl"
    return owner if found and owner in files else path

"""Where a file lies: inside or outside of a session's folders, in a place that has a word of its own, or below a glob.

A path is judged as it is written and as it is with links followed: the link `notes` to `~/.ssh/id_rsa` is a secret, and
so is the link `.env` to anything.
"""

import fnmatch
import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

_TABLE: Final = Path(__file__).with_name("places.toml")
WORDS: Final = ("inside", "outside", "secret", "protected", "build", "public")
"""Places that have a word of their own."""
MOST: Final = 2000
"""Files that are looked at to see what a glob stands for."""
MOST_NAMES: Final = 500
MOST_GLOBS: Final = 20
"""Names and globs of one call whose places are looked up: nobody's call shall hold up the others."""


class _Place(Struct, forbid_unknown_fields=True):
    names: list[str]
    folders: list[str]
    plain: list[str] = field(default_factory=list)
    process: list[str] = field(default_factory=list)


@lru_cache(maxsize=1)
def _places() -> dict[str, _Place]:
    return msgspec.convert(tomllib.loads(_TABLE.read_text(encoding="utf-8")), dict[str, _Place])


# --- a path ----------------------------------------------------------------------------------------------------


def real_path(path: str, cwd: str) -> str | None:
    """Absolute, with links followed; None if that cannot be told, since the way there is closed or has gone."""
    try:
        whole = os.path.join(cwd, os.path.expanduser(path))
        return os.path.realpath(whole)
    except (OSError, ValueError, RuntimeError):  # forbidden, vanished, a NUL, half of a character
        return None


def written_path(path: str, cwd: str) -> str:
    """Absolute, as it is written."""
    try:
        return os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    except (ValueError, RuntimeError):
        return os.path.join(cwd, path)


def lies(path: str, place: str, roots: Sequence[str]) -> bool:
    """Whether an absolute path lies in a place: one of WORDS, or a glob. `roots` are the session's folders: globs that are
    not from `/` are meant below the first, where it works."""
    if place in ("inside", "outside"):
        real = (real_path(root, root) for root in roots)
        return any(root is not None and _below(path, root) for root in real) is (place == "inside")
    if place in _places():
        return _kept_in(path, place)
    pattern = os.path.expanduser(place)
    if not os.path.isabs(pattern):
        pattern = os.path.join(real_path(roots[0], roots[0]) or roots[0], pattern)
    return matches(path, pattern)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _kept_in(path: str, place: str) -> bool:
    known, low = _places()[place], path.casefold()
    name = os.path.basename(low)
    if any(fnmatch.fnmatchcase(name, glob) for glob in known.plain):
        return False
    parts = low.split("/")
    if parts[1:2] == ["proc"] and any(part in known.process for part in parts[2:]):
        return True
    return any(fnmatch.fnmatchcase(name, glob) for glob in known.names) or any(
        (_below(low, folder) if folder.startswith("/") else f"/{folder}/" in f"{low}/")
        for folder in known.folders
    )


def matches(path: str, pattern: str) -> bool:
    """Whether a glob means a path: `*` stays within one folder, `**` does not. As many steps as the two have parts,
    multiplied: a hostile pattern costs no more."""
    parts, globs = path.split("/"), pattern.split("/")
    reached = {0}
    for glob in globs:
        if not reached:
            return False
        if glob == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatch.fnmatchcase(parts[at], glob)}
    return len(parts) in reached


# --- a word of a command -----------------------------------------------------------------------------------------

_BRACKETS: Final = re.compile(r"\[[!^]?\]?(?:\[:[a-z]+:\]|[^\]/])*\]")
_GLOB: Final = re.compile(r"[*?\[]")
_KNOWN_NAMES: Final = (
    ".env", ".env.local", ".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".bash_history", ".zsh_history",
    ".claude.json", ".credentials.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "authorized_keys", "shadow", "environ",
    ".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config",
)  # fmt: skip
"""Secrets that a glob can mean even if nothing of that name is there yet."""


def is_glob(word: str) -> bool:
    return _GLOB.search(word) is not None


def too_many(words: Sequence[str]) -> bool:
    """Whether these are more than can be looked up. Then a rule that allows is not sure, and one that denies is about
    them."""
    return len(words) > MOST_NAMES or sum(map(is_glob, words)) > MOST_GLOBS


def stands_for(word: str, bases: Iterable[str]) -> list[str] | None:
    """The absolute paths that a word of a command may mean in one of these folders, as they are written and with links
    followed; of a glob, what it finds there now. None if that cannot be told, or is too much to look at."""
    found: list[str] = []
    for base in bases:
        for path in _found(_loosened(word), base) if is_glob(word) else (written_path(word, base),):
            if path is None or (real := real_path(path, base)) is None:
                return None
            found += (path, real)
    return list(dict.fromkeys(found))


def may_lie(word: str, place: str, roots: Sequence[str], bases: Sequence[str]) -> bool:
    """Whether a word of a command may mean a file in a place: enough for a rule that denies or asks."""
    paths = stands_for(word, bases)
    if paths is None:
        paths = [written_path(word, base) for base in bases]
    if any(lies(path, place, roots) for path in paths):
        return True
    return place == "secret" and is_glob(word) and _means_a_secret(_loosened(word))


def surely_lies(word: str, wanted: Iterable[str], roots: Sequence[str], bases: Sequence[str]) -> bool:
    """Whether all that a word may mean lies in one of these places: what a rule that allows needs."""
    paths = stands_for(word, bases)
    return paths is not None and all(any(lies(path, place, roots) for place in wanted) for path in paths)


def _means_a_secret(glob: str) -> bool:
    """By its name, whatever is there: `.en*`, `~/.s?h/*`. A bare `*` names nothing."""
    return any(
        _fits(name, part)
        for part in glob.split("/")
        if is_glob(part) and part.strip("*?.")
        for name in _KNOWN_NAMES
    ) or any(part in _KNOWN_NAMES for part in glob.split("/"))


def _fits(name: str, glob: str) -> bool:
    """As the shell has it: no glob begins with a dot unless it says so."""
    return fnmatch.fnmatchcase(name.casefold(), glob.casefold()) and (name[:1] != "." or glob[:1] == ".")


def _loosened(word: str) -> str:
    """A glob in which brackets stand for any character, since shells and fnmatch read them differently; one around a
    single * ? or [ is that character."""
    return _BRACKETS.sub(lambda found: found[0] if found[0] in ("[*]", "[?]", "[[]") else "?", word)


def _found(glob: str, base: str) -> list[str | None]:
    """The folder in which a glob begins and the paths that it finds; [None] if that is too much to look at."""
    whole = os.path.join(base, os.path.expanduser(glob))  # `..` stays: what stands before it may be a link
    places, looked, first = ["/"], 0, None
    for part in whole.split("/")[1:]:
        if part in ("", "."):
            continue
        if not is_glob(part):
            places = [os.path.join(place, part) for place in places]
            continue
        first = first or places[0]
        found: list[str] = []
        for place in places:
            try:
                with os.scandir(place) as entries:
                    for entry in entries:
                        looked += 1
                        if looked > MOST:
                            return [None]
                        if _fits(entry.name, part):
                            found.append(os.path.join(place, entry.name))
            except (OSError, ValueError):
                continue
        places = found
    return [first, *places]

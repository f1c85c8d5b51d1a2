"""Commands that only look, by a table: `looking.toml`. Whatever stands in no row does more, as far as anyone here knows."""

import os
import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from dragoman._policy import places, shell

_TABLE: Final = Path(__file__).with_name("looking.toml")
_READABLE: Final = ("inside", "public")
"""Where files may be read."""
_RECURSIVE: Final = re.compile(
    r"-[^-]*[rRu.].*|--(recursive|dereference-recursive|hidden|unrestricted|no-ignore.*)|-uu+"
)
_GIT_OPTIONS: Final = {"--no-pager": 0, "-P": 0, "--no-optional-locks": 0, "-C": 1}
"""What may stand between git and its command, and how many words it takes."""
_BASES: Final = 4
"""Folders from which words may be meant."""
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
_LARGEST_MAKEFILE: Final = 1 << 18


class Row(Struct, forbid_unknown_fields=True):
    """One row of the table; looking.toml says what its columns are."""

    names: list[str]
    reads: bool = False
    skip: int = 0
    never: list[str] = field(default_factory=list)
    only: list[str] | None = None
    needs: str | None = None
    checks: str | None = None

    def fits(self, arguments: Sequence[str]) -> bool:
        """Whether it only looks with these arguments."""
        return (
            not any(re.fullmatch(never, word, re.DOTALL) for never in self.never for word in arguments)
            and (
                self.only is None
                or all(any(re.fullmatch(one, word) for one in self.only) for word in arguments)
            )
            and (self.needs is None or any(re.fullmatch(self.needs, word) for word in arguments))
        )


@lru_cache(maxsize=1)
def rows() -> dict[tuple[str, ...], list[Row]]:
    """The table, by how a command begins."""
    content = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    table: dict[tuple[str, ...], list[Row]] = {}
    for row in msgspec.convert(content["command"], list[Row]):
        for name in row.names:
            table.setdefault(tuple(shell.words(name)), []).append(row)
    return table


def only_looks(line: shell.ShellLine, roots: Sequence[str], runs_in: str) -> bool:
    """Whether every command of a line only looks, at nothing but what lies inside `roots` or is public. It begins in
    `runs_in`."""
    if not line.sure or not line.commands:
        return False
    bases = folders(line, runs_in)
    if places.too_many([*line.reads, *(word for words in line.commands for word in words[1:])]):
        return False
    if bases is None or not all(places.surely_lies(file, _READABLE, roots, bases) for file in line.reads):
        return False
    return all(
        _command_looks(words, roots, bases, injected=any(map(_may_become_an_option, line.files)))
        for words in line.commands
    )


def _command_looks(words: list[str], roots: Sequence[str], bases: list[str], injected: bool) -> bool:
    plain = _without_git_options(words)
    if plain is None:
        return False
    for length in (3, 2, 1):
        for row in rows().get(tuple(plain[:length]), ()):
            arguments = plain[length:]
            # A file may be called `-delete`: what the shell puts for a `*` is then an option.
            restricted = row.never or row.only is not None
            if restricted and injected and any(places.is_glob(word) for word in arguments):
                continue
            if row.fits(arguments) and _placed(row, arguments, roots, bases) and _checked(row, bases):
                return True
    return False


def _without_git_options(words: list[str]) -> list[str] | None:
    """A git command without what may stand before it; None where something else does."""
    if words[0] != "git":
        return words
    rest = words[1:]
    while rest and rest[0] in _GIT_OPTIONS:
        rest = rest[1 + _GIT_OPTIONS[rest[0]] :]
    return ["git", *rest] if not rest or not rest[0].startswith("-") or rest == ["--version"] else None


def _may_become_an_option(pattern: str) -> bool:
    return pattern.startswith(("*", "?")) or (
        pattern.startswith("[") and not pattern.startswith(("[*]", "[?]", "[[]"))
    )


# --- where it looks --------------------------------------------------------------------------------------------------


def folders(line: shell.ShellLine, runs_in: str) -> list[str] | None:
    """The folders from which its words may be meant: where it runs, and wherever it goes. None if nobody can tell."""
    bases = [runs_in]
    for words in line.commands:
        to: str | None = None
        if words[0] in ("cd", "pushd"):
            targets = [word for word in words[1:] if not word.startswith("-") or word == "-"]
            if len(targets) > 1 or targets == ["-"] or (words[0] == "pushd" and not targets):
                return None
            to = targets[0] if targets else "~"
        elif words[0] in ("git", "make") and "-C" in words[:-1]:
            to = words[words.index("-C") + 1]
        elif words[0] in ("popd", "dirs"):
            return None
        if to is not None:
            if places.is_glob(to) or to.startswith(("~+", "~-")):
                return None
            bases += [base for base in (places.real_path(to, base) for base in bases) if base is not None]
            bases = list(dict.fromkeys(bases))
            if len(bases) > _BASES:
                return None
    return bases


def _placed(row: Row, arguments: Sequence[str], roots: Sequence[str], bases: list[str]) -> bool:
    """Whether what it shows lies where it may be read."""
    if not row.reads:
        return True
    files = _files(arguments, row.skip)
    if any(word.startswith(("~+", "~-")) for word in files):
        return False
    if not all(places.surely_lies(word, _READABLE, roots, bases) for word in files):
        return False
    if any(_RECURSIVE.fullmatch(word) for word in arguments):
        searched = [path for word in files or ["."] for path in places.stands_for(word, bases) or ["/"]]
        return not any(map(_holds_a_secret, searched))
    # Where no file is named it reads where it stands, or what comes from the command before.
    return all(places.lies(base, "inside", roots) for base in bases) or bool(files)


def _files(arguments: Sequence[str], skip: int) -> list[str]:
    """The arguments that may be files."""
    found: list[str] = []
    operands = 0
    options = True
    for word in arguments:
        if options and word == "--":
            options = False
        elif options and word.startswith("-") and word != "-":
            value = word.partition("=")[2] if word.startswith("--") else word[2:]
            if value and ("/" in value or value.startswith(("~", "."))):
                found.append(value)
        else:
            operands += 1
            if operands > skip:
                found += [part for part in (word, word.rpartition(":")[2]) if part]
    return list(dict.fromkeys(found))


def _holds_a_secret(folder: str) -> bool:
    """Whether a secret lies right in a folder; who searches all that is below it would read it."""
    try:
        names = os.listdir(folder) if os.path.isdir(folder) else []
    except OSError:
        return True
    return any(places.lies(os.path.join(folder, name), "secret", (folder,)) for name in names)


# --- a look at the folder ----------------------------------------------------------------------------------------------


def _checked(row: Row, bases: list[str]) -> bool:
    if row.checks == "repository":
        return all(_has_no_planted_repository(base) for base in bases)
    if row.checks == "makefile":
        return all(_makefile_runs_nothing(base) for base in bases)
    return True


def _has_no_planted_repository(folder: str) -> bool:
    """Git takes a folder with HEAD, objects and refs for a repository, and does what its config says: a repository can
    bring such a folder along as plain files."""
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return True
        if all(os.path.lexists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs")):
            return False
        above = os.path.dirname(folder)
        if above == folder:
            return True
        folder = above


_PURE: Final = (
    "abspath|addprefix|addsuffix|basename|dir|error|filter|filter-out|findstring|firstword|if|info|join|lastword|notdir|"
    "patsubst|realpath|sort|strip|subst|suffix|warning|wildcard|word|wordlist|words|or|and"
)
_REFERENCE: Final = re.compile(
    rf"\$(?:\$|[@<^+*?%]|[({{](?:[A-Za-z0-9_.]+[)}}]|[@<^+*?%][DF]?[)}}]|[A-Za-z0-9_.]+:[^$(){{}}]*[)}}]|(?:{_PURE})\s))"
)
_SPECIAL: Final = (".PHONY", ".NOTPARALLEL", ".SILENT", ".ONESHELL", ".DELETE_ON_ERROR")
_DIRECTIVE: Final = re.compile(
    r"\s*(-?include|sinclude|load|define|vpath|VPATH|\.RECIPEPREFIX|\.DEFAULT)\b(?!_)"
)


def _makefile_runs_nothing(folder: str) -> bool:
    """Whether `make -n` would run nothing there. Even so it runs `$(shell …)` and `!=`, recipe lines with a `+` or with
    $(MAKE), and whatever remakes the makefile itself: a rule, or a file such as Makefile.sh."""
    try:
        names = os.listdir(folder)
        if any(name in ("RCS", "SCCS") or "akefile." in name or "akefile," in name for name in names):
            return False
        for path in (os.path.join(folder, name) for name in _MAKEFILES if name in names):
            if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST_MAKEFILE:
                return False
            with open(path, encoding="utf-8") as file:
                text = file.read(_LARGEST_MAKEFILE).replace("\\\n", " ")
            return all(map(_is_plain, text.split("\n")))
    except (OSError, ValueError):
        return False
    return True


def _is_plain(line: str) -> bool:
    """Whether a line of a makefile has nothing in it that runs when it is read, or with `-n`."""
    if line.lstrip().startswith("#"):
        return True
    if line.count("$") != len(_REFERENCE.findall(line)) + line.count("$$"):
        return False
    if line.startswith("\t"):
        begin = line.lstrip("\t @-")
        return not begin.startswith(("+", "$")) and "MAKE" not in line.replace("MAKEFILE_LIST", "")
    if any(mark in line for mark in ("!=", "%", "akefile")) or _DIRECTIVE.match(line):
        return False
    before, is_rule, _ = line.partition("=")[0].partition(":")
    if not is_rule or line[len(before) : len(before) + 3].lstrip(":").startswith("="):
        return not line.startswith(" ")  # an assignment, or nothing
    targets = before.split()
    return (
        ";" not in line
        and all(
            target in _SPECIAL
            or (target[:1] != "." and ("$" not in target or "$" not in target.rpartition("/")[2]))
            for target in targets
        )
        and not any("$" in target and "/" not in target for target in targets)
    )

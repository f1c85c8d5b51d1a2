"""The table of what commands run besides themselves, shell_commands.toml, and what is made of its rows."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct, field

from dragoman._policy.shell_words import Word

TABLE: Final = Path(__file__).with_name("shell_commands.toml")
_VERSION: Final = re.compile(r"(?<=[A-Za-z])-?[\d.]+$")
_PSEUDO: Final = ("/dev/", "/proc/")
_KEY: Final = re.compile(r"(?:[\w.-]+=|\w*command[\s=]+)?\s*!?", re.I)


class Wrapper(Struct, forbid_unknown_fields=True):
    """A program that runs the words behind its own."""

    names: list[str]
    options: str = ""
    long: list[str] = field(default_factory=list)
    before: int = 0
    then: Literal["command", "line", "lines", "tails"] = "command"
    assigns: bool = False
    alone: Literal["", "hidden"] = ""
    fed: bool = False
    """More words come from what it reads."""


class Shell(Struct, forbid_unknown_fields=True):
    """The shells whose language is read here."""

    names: list[str]
    values: str
    long_values: list[str]
    long_flags: list[str]


class Interpreter(Struct, forbid_unknown_fields=True):
    """A program that runs code in another language."""

    names: list[str]
    code: list[str] = field(default_factory=list)
    values: str = ""
    flags: str = ""
    long_flags: list[str] = field(default_factory=list)
    file: str = ""
    """Letters of options that name what is run, as a file would."""
    code_files: list[str] = field(default_factory=list)
    """Such names, or first words, that run code in turn."""
    without: list[str] = field(default_factory=list)
    """Options with which it needs no program."""
    always: bool = False


class Carrier(Struct, forbid_unknown_fields=True):
    """A program with options whose value is run."""

    names: list[str]
    options: str = ""
    long: list[str] = field(default_factory=list)
    signs: list[str] = field(default_factory=list)
    """What a word has in it that makes it run something."""
    rest: bool = False
    """All words behind such an option are one command."""
    bundled: bool = False
    """Its first word holds options without a dash."""


Row = Wrapper | Shell | Interpreter | Carrier


class _Table(Struct, forbid_unknown_fields=True):
    wrapper: list[Wrapper]
    shell: Shell
    interpreter: list[Interpreter]
    carrier: list[Carrier]
    inexact: list[str]
    writers: list[str]
    computing: list[str]
    variables: str
    settings: str


class Runs(Struct):
    """What a command runs besides itself."""

    commands: list[list[Word]] = field(default_factory=list)
    lines: list[Word] = field(default_factory=list)
    """Texts that a shell reads."""
    files: list[str] = field(default_factory=list)
    """Files that are run, or given to an interpreter."""
    writes: list[str] = field(default_factory=list)
    """Files that it may write."""
    hidden: bool = False
    """It may run what cannot be read."""
    exact: bool = True
    """It runs nothing but itself."""
    evaluates: bool = False
    """It may expand text that stood in quotes."""

    def hide(self) -> None:
        """It runs what cannot be read."""
        self.hidden, self.exact = True, False

    def script(self, word: Word) -> None:
        """A file is run."""
        self.files.append(word.text)
        if not word.exact or word.text.startswith(_PSEUDO) or word.text == "-":
            self.hide()

    def value(self, word: Word) -> None:
        """The value of an option is run: `exec=pwn`, `alias.x=!pwn`, `ProxyCommand pwn`, or the command itself."""
        self.exact = False
        for text in {word.text: None, _KEY.sub("", word.text, count=1): None}:
            self.lines.append(part(word, text))

    def setting(self, word: Word) -> None:
        """A setting, NAME=VALUE: some are commands."""
        self.exact = False
        if re.match(rf"[^=\s]*(?:{table().settings})", word.text, re.I):
            self.value(word)

    def assigned(self, word: Word) -> None:
        """A variable is set: some are commands."""
        name, _, value = word.text.partition("=")
        if re.fullmatch(table().variables, name.rstrip("+").split("[")[0]):
            self.lines.append(part(word, value))


@cache
def table() -> _Table:
    return msgspec.convert(tomllib.loads(TABLE.read_text(encoding="utf-8")), _Table)


@cache
def _rows() -> dict[str, Row]:
    every: list[Row] = [*table().wrapper, table().shell, *table().interpreter, *table().carrier]
    return {name: row for row in every for name in row.names}


@cache
def _subcommands() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in _rows():
        first, _, rest = name.partition(" ")
        if rest:
            found.setdefault(first, []).append(rest)
    return found


def base_name(word: str) -> str:
    """A command's name without its folder and its version: python for /usr/bin/python3.11."""
    name = word.rsplit("/", 1)[-1].removesuffix(".exe")
    return name if name in _rows() else _VERSION.sub("", name)


def rows(name: str, words: Sequence[Word]) -> Iterator[tuple[Row, Sequence[Word]]]:
    """The rows of a command, and the words from the name, or from its subcommand, on."""
    if name in _rows():
        yield _rows()[name], words
    texts = [word.text for word in words]
    for rest in _subcommands().get(name, ()):
        parts = rest.split()
        for at in range(1, len(words) - len(parts) + 1):
            if texts[at : at + len(parts)] == parts:
                yield _rows()[f"{name} {rest}"], words[at + len(parts) - 1 :]
                break


def part(word: Word, text: str) -> Word:
    """A piece of a word, as sure as the word is."""
    return Word(text=text, pattern=text, known=word.known, exact=word.exact, template=word.template)


def joined(words: Sequence[Word]) -> Word:
    """Words as the text that a shell reads."""
    return Word(
        text=" ".join(word.text for word in words),
        known=all(word.known for word in words),
        exact=all(word.exact for word in words),
    )

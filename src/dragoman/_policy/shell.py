"""What a command line runs, as far as it can be told without running it.

Two facts are kept apart. A rule that allows must be *sure*: these commands and no others run, with these words. A rule
that denies looks through all commands that can be found, in pipes, substitutions, loops, wrappers and strings for shells;
what it cannot see is *hidden*: a name that cannot be read, text that is fed to an interpreter.
"""

import os.path
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

from msgspec import Struct, field

from dragoman._policy import shell_plain, shell_runs, shell_tree
from dragoman._policy.shell_table import Runs
from dragoman._policy.shell_words import Word, files_of

_DEEPEST: Final = 8
_LONGEST: Final = 64 * 1024
_MOST: Final = 128 * 1024
"""So many characters are read for one line, those of the texts in it and of the commands in wrappers counted again."""
_DENSE: Final = re.compile(r"[|<>(){}\[\]$`]")
_DENSE_COST: Final = 24
"""Of these the grammar takes longer the more there are: 16 kB of `a|` alone would take it seconds."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_INTEGERS: Final = re.compile(r"\b(?:S?RANDOM|OPTIND|HISTCMD|SECONDS|LINENO|E?UID|PPID|COLUMNS|LINES)\b")
"""Variables that are numbers: bash computes what is assigned to some of them, and `a[$(x)]` runs x."""
_SCRIPT: Final = re.compile(
    r"""\s*(?:/bin/|/usr/bin/|/usr/local/bin/|/opt/homebrew/bin/)?(?:sh|bash|dash|zsh|ksh)
    [ \t]+-[lixeu]*c[ \t]+((?:'[^']*'|"[^"\\$`!]*"|[\w./:,@%+-])+)\s*""",
    re.X,
)
_QUOTED: Final = re.compile(r"""'([^']*)'|"([^"]*)"|([^'"]+)""")

_STARTS: Final = re.compile(r"[\n\r\v\f;&|(){}`]")
"""Where a command may begin in a line that cannot be read: whatever follows is one for a rule that denies."""


class ShellLine(Struct, frozen=True):
    """A command line, taken apart."""

    commands: list[list[str]] = field(default_factory=list)
    """Every command that was found, word by word, without quotes: those in pipes, lists, substitutions, control flow
    and strings for shells too; of a wrapper itself and what it runs."""
    sure: bool = False
    """Exactly these commands run, with exactly these words: a rule may allow by them."""
    hidden: bool = False
    """Something may run whose name cannot be read."""
    files: list[str] = field(default_factory=list)
    """Every word that may name a file, as a pattern for fnmatch; `~` in front is somebody's home."""
    reads: list[str] = field(default_factory=list)
    """Of a line that is sure: the files that are read by `<`, and stand in no command."""


@lru_cache(maxsize=512)
def read(text: str) -> ShellLine:
    """A line for a POSIX shell, taken apart. Never raises."""
    reading = _Reading()
    with _no_end(reading):
        reading.line(text, depth=0)
    reads = _agreed(text, reading) if reading.plain and not reading.hidden and reading.exact else None
    return reading.result(sure=reads is not None, reads=reads or ())


@contextmanager
def _no_end(reading: "_Reading") -> Iterator[None]:
    """A tree with errors in it may have any shape, and nobody's line may end a run."""
    try:
        yield
    except Exception:
        reading.hidden = True


def words(text: str) -> list[str]:
    """The words of one plain command, without their quotes."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def script(text: str) -> str:
    """What `bash -lc '…'` runs, for that is how Codex runs everything; any other line is its own script."""
    wrapped = _SCRIPT.fullmatch(text)
    if wrapped is None:
        return text
    return "".join(single or double or bare for single, double, bare in _QUOTED.findall(wrapped[1]))


def _agreed(text: str, reading: "_Reading") -> list[str] | None:
    """The files that are read by `<`, if the plain reader finds the same commands; None if it does not."""
    plain = shell_plain.plain(text)
    return (
        plain.reads if plain is not None and plain.commands and plain.commands == reading.commands else None
    )


class _Reading:
    """What was found so far."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.files: dict[str, None] = {}
        self.hidden = False
        self.exact = True
        self.plain = True
        self.evaluates = self.template = False
        self.left = _MOST
        self.ran: set[str] = set()
        self.written: set[str] = set()

    def result(self, sure: bool, reads: Sequence[str] = ()) -> ShellLine:
        hidden = self.hidden or (self.evaluates and self.template) or bool(self.ran & self.written)
        return ShellLine(self.commands, sure and not hidden, hidden, list(self.files), list(reads))

    def _afford(self, cost: int, depth: int) -> bool:
        """Whether there is time to read so much more; what is not read is hidden."""
        self.left -= cost
        self.hidden = self.hidden or self.left < 0 or depth > _DEEPEST
        return self.left >= 0 and depth <= _DEEPEST

    def line(self, text: str, depth: int) -> None:
        """Reads a text as a shell would."""
        cost = len(text) + _DENSE_COST * len(_DENSE.findall(text))
        if not self._afford(cost if len(text) <= _LONGEST else _MOST + 1, depth):
            return
        joined = _joined(text)
        self.hidden = self.hidden or joined is None or bool(_CONTROL.search(text))
        self.plain = self.plain and joined == text
        found = shell_tree.tree((text if joined is None else joined).encode(errors="replace"))
        self.hidden = self.hidden or found.odd
        self.plain = self.plain and found.plain and not found.odd
        self.evaluates = self.evaluates or found.evaluates or bool(_INTEGERS.search(text))
        self.template = self.template or found.template
        self.written |= {os.path.normpath(name) for name in found.writes if name}
        for word in found.others:
            self._seen(word)
        for simple in found.commands:
            self.command(simple.words, simple.fed, depth)
            for word in simple.fed:
                self.template = self.template or word.template
        runs = Runs()
        for word in found.assigned:
            runs.assigned(word)
        self._lines([*found.lines, *runs.lines], depth)
        if found.odd or _CONTROL.search(text):
            self.commands += filter(None, map(words, _STARTS.split(text)))

    def _lines(self, lines: Sequence[Word], depth: int) -> None:
        for line in lines:
            self.hidden = self.hidden or not line.known
            self.line(line.text, depth + 1)

    def _seen(self, word: Word) -> None:
        self.template = self.template or word.template
        for name in files_of(word):
            self.files[name] = None

    def command(self, words: Sequence[Word], fed: Sequence[Word], depth: int) -> None:
        """Takes a command, and what it runs."""
        if not self._afford(sum(len(word.text) + 1 for word in words), depth):
            return
        if texts := [word.text for word in words if word is not shell_runs.MORE]:
            self.commands.append(texts)
        for word in words[1:]:
            self._seen(word)
        self.template = self.template or words[0].template
        runs = shell_runs.runs(words, fed)
        self.hidden = self.hidden or runs.hidden
        self.exact = self.exact and runs.exact
        self.evaluates = self.evaluates or runs.evaluates
        self.written |= {os.path.normpath(name) for name in runs.writes if name}
        self.ran |= {os.path.normpath(name) for name in runs.files if name}
        for each in runs.commands:
            self.command(each, (), depth + 1)
        self._lines(runs.lines, depth)


_PIECES: Final = re.compile(
    r"""'[^']*'|"(?:[^"\\$`]|\\.)*"|(?<![^\s;&|()])\#[^\n]*|(\\\n)|\\.|[^\\'"]""", re.S
)


def _joined(text: str) -> str | None:
    """The line without its backslash-newlines; None if one may stand where a shell leaves it in."""
    if "\\\n" not in text:
        return text
    if "<<" in text or (re.search(r"['#]", text) and re.search(r"[$`]", text)):
        return None
    kept, at = [], 0
    while at < len(text):
        piece = _PIECES.match(text, at)
        if piece is None:
            return None
        at = piece.end()
        if piece[0].startswith('"'):
            kept.append(piece[0].replace("\\\\", "\0").replace("\\\n", "").replace("\0", "\\\\"))
        elif piece[1] is None:
            kept.append(piece[0])
    return "".join(kept)

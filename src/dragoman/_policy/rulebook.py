"""Where rules come from: a file named by hand, the user's own, the project's; and what was remembered.

The order is also the rank: `--policy`, then the user's, then the project's. A project may only be stricter, because it is
often somebody else's work: what it allows is passed over, and what it says counts only where it is more than would hold
without it (allow < ask < deny).
"""

import os
import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from dragoman._model.errors import UsageError
from dragoman._policy.config_files import config_file, text_of
from dragoman._policy.permission import Effect, PermissionRequest
from dragoman._policy.rules import Rule, effect_on
from dragoman._wire.jsontext import repaired

PROJECT_FILE: Final = ".dragoman/policy.toml"
MODES_FILE: Final = Path(__file__).with_name("modes.toml")
_MOST_DOTS: Final = 100
"""Dots on one line: each part of a dotted key costs as much as all before it."""
_MOST_BRACKETS: Final = 100
"""Brackets that open on one line, for the same reason."""
_TEXT: Final = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'')


class _File(Struct, forbid_unknown_fields=True):
    rule: list[Rule] = field(default_factory=list)


class ModeRules(Struct, forbid_unknown_fields=True):
    """What the approve modes settle by themselves: modes.toml."""

    careful: list[Rule]
    looking: list[Rule]
    editing: list[Rule]


class Found(Struct, frozen=True):
    """A rule, where it stands, and what it says of a call."""

    rule: Rule
    source: str
    number: int
    effect: Effect

    @property
    def title(self) -> str:
        unsure = "" if self.effect == self.rule.effect else ", not sure"
        return f"{self.rule.name or f'rule {self.number}'} ({self.source}{unsure})"


class Rulebook:
    """Rules of several sources, in their order; `project` holds those that can only be stricter."""

    def __init__(self, *chapters: tuple[str, list[Rule]], project: Iterable[Rule] = ()) -> None:
        self._chapters = list(chapters)
        self._project = [rule for rule in project if rule.effect != "allow"]
        self._session: list[Rule] = []

    def find(self, request: PermissionRequest) -> Found | None:
        """The first rule about this; what was remembered for this session comes first."""
        for source, rules in (("this session", self._session), *self._chapters):
            if (found := first(rules, request, source)) is not None:
                return found
        return None

    def find_in_project(self, request: PermissionRequest) -> Found | None:
        """The first rule of the project about this."""
        return first(self._project, request, "the project's policy")

    def remember(self, rule: Rule) -> None:
        """For the rest of the session."""
        self._session.insert(0, rule)


def first(rules: Iterable[Rule], request: PermissionRequest, source: str) -> Found | None:
    """The first rule that says something of this."""
    for number, rule in enumerate(rules, 1):
        if (effect := effect_on(rule, request)) is not None:
            return Found(rule, source, number, effect)
    return None


def user_file() -> Path:
    """The user's own rules; an "always" is written there."""
    return config_file("policy.toml")


def load(cwd: str | None = None, extra: str | None = None) -> Rulebook:
    """The rules that apply in a folder."""
    chapters: list[tuple[str, list[Rule]]] = []
    if extra is not None:
        chapters.append((extra, read(Path(extra), must_exist=True)))
    chapters.append(("your policy", read(user_file())))
    return Rulebook(*chapters, project=read(Path(cwd or os.curdir) / PROJECT_FILE))


@lru_cache(maxsize=1)
def mode_rules() -> ModeRules:
    return msgspec.convert(tomllib.loads(MODES_FILE.read_text(encoding="utf-8")), ModeRules)


def read(path: Path, *, must_exist: bool = False) -> list[Rule]:
    """The rules in a file. A file that is not right is an error, never an empty policy."""
    try:
        content: dict[str, Any] = tomllib.loads(_bounded(text_of(path)))
        return msgspec.convert(content, _File).rule
    except (FileNotFoundError, NotADirectoryError):
        if must_exist:
            raise UsageError(f"there is no policy file {path}") from None
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the policy {path} cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:  # those of tomllib and msgspec among them
        raise UsageError(f"the policy {path} is not right: {error}") from None


def _bounded(text: str) -> str:
    """The same text. Raises ValueError if reading it would take too long."""
    for number, whole in enumerate(text.split("\n"), 1):
        line = _TEXT.sub("", whole)
        if line.count(".") > _MOST_DOTS or line.count("[") + line.count("{") > _MOST_BRACKETS:
            raise ValueError(f"line {number} has too many dots or brackets")
    return text


def remember_always(rule: Rule, path: Path | None = None) -> Path:
    """Write a rule to the user's own file, after what stands there. Command lines may hold secrets: nobody else reads
    them."""
    target = path or user_file()
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(file, "wb") as stream:
        stream.write(_written(rule))
    return target


def _written(rule: Rule) -> bytes:
    lines = [
        b"%s = %s\n" % (name.encode(), _toml(value)) for name, value in msgspec.to_builtins(rule).items()
    ]
    return b"\n[[rule]]\n" + b"".join(lines)


def _toml(value: Any) -> bytes:
    """A text, a list of texts, or texts by name; JSON's way of writing a text is TOML's too, but for one character."""
    if isinstance(value, dict):
        return b"{%s}" % b", ".join(b"%s = %s" % (_toml(name), _toml(item)) for name, item in value.items())
    return msgspec.json.encode(repaired(value)).replace(b"\x7f", b"\\u007f")

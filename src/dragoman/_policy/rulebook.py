"""Where rules come from: a file named by hand, the user's own, the project's; and what was remembered.

The order is also the rank: `--policy`, then the user's, then the project's. A project may only be stricter: what it
allows is passed over, because a project is often somebody else's work.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from dragoman._model.errors import UsageError
from dragoman._policy.permission import Effect, PermissionRequest
from dragoman._policy.rules import Rule, first
from dragoman._wire.jsontext import repaired

PROJECT_FILE: Final = ".dragoman/policy.toml"
DANGEROUS: Final = Path(__file__).with_name("dangerous.toml")


class _File(Struct, forbid_unknown_fields=True):
    rule: list[Rule] = field(default_factory=list)


class Found(Struct, frozen=True):
    """A rule, and where it stands."""

    rule: Rule
    source: str
    number: int

    @property
    def effect(self) -> Effect:
        return self.rule.effect

    @property
    def title(self) -> str:
        return f"{self.rule.name or f'rule {self.number}'} ({self.source})"


class Rulebook:
    """Rules of several sources, in their order."""

    def __init__(self, *chapters: tuple[str, list[Rule]]) -> None:
        self._chapters = list(chapters)
        self._session: list[Rule] = []

    def find(self, request: PermissionRequest) -> Found | None:
        """The first rule about this; what was remembered for this session comes first."""
        for source, rules in (("this session", self._session), *self._chapters):
            rule = first(rules, request)
            if rule is not None:
                return Found(rule, source, rules.index(rule) + 1)
        return None

    def remember(self, rule: Rule) -> None:
        """For the rest of the session."""
        self._session.insert(0, rule)

    def with_chapter(self, source: str, rules: list[Rule]) -> "Rulebook":
        return Rulebook(*self._chapters, (source, rules))


def user_file(variables: Mapping[str, str] | None = None) -> Path:
    """The user's own rules; an "always" is written there."""
    known = os.environ if variables is None else variables
    home = known.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(home) / "dragoman" / "policy.toml"


def load(cwd: str | None = None, extra: str | None = None) -> Rulebook:
    """The rules that apply in a folder."""
    chapters: list[tuple[str, list[Rule]]] = []
    if extra is not None:
        chapters.append((extra, read(Path(extra), must_exist=True)))
    chapters.append(("your policy", read(user_file())))
    project = read(Path(cwd or os.curdir) / PROJECT_FILE)
    chapters.append(("the project's policy", [rule for rule in project if rule.effect != "allow"]))
    return Rulebook(*chapters)


def dangerous() -> list[Rule]:
    return read(DANGEROUS, must_exist=True)


def read(path: Path, *, must_exist: bool = False) -> list[Rule]:
    """The rules in a file. A file that is not right is an error, never an empty policy."""
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(content, _File).rule
    except FileNotFoundError:
        if must_exist:
            raise UsageError(f"there is no policy file {path}") from None
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the policy {path} cannot be read: {error}") from None
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"the policy {path} is not right: {error}") from None


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
    """A string or a list of strings; JSON's way of writing them is TOML's too, but for one character."""
    return msgspec.json.encode(repaired(value)).replace(b"\x7f", b"\\u007f")

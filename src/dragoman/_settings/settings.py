"""Settings of the user: what an option says counts, then the environment, then config.toml, then the default."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from dragoman._model.config import Approve, did_you_mean
from dragoman._model.errors import UsageError
from dragoman._policy.config_files import config_file, text_of

Colours: TypeAlias = Literal["auto", "always", "never"]
Source: TypeAlias = Literal["default", "file", "environment", "command line"]

PREFIX: Final = "DRAGOMAN_"
REMEDY: Final = "Correct it, or take it away: docs/settings.md says what may stand there."


class Values(Struct, forbid_unknown_fields=True, kw_only=True):
    """Every setting, with its default."""

    agent: str | None = None
    """Which agent `dragoman run` takes where none is named."""
    approve: Approve = "ask"
    """What is asked before it is done."""
    model: str | None = None
    """Which model an agent shall use; its own default, if not set."""
    record: bool = True
    """Whether runs are kept in the library."""
    colours: Colours = "auto"
    """Whether the terminal is written to in colours: where it is one, always, or never."""
    library: str | None = None
    """Where the library is: a file, or the address of a database; a file below the user's data, if not set."""


class _OfAgent(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What is set for one agent alone."""

    model: str | None = None
    approve: Approve | None = None


class _File(Values, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    agents: dict[str, _OfAgent] = field(default_factory=dict)


class Setting(Struct, frozen=True):
    """What is set, and who says so."""

    value: Any
    source: Source
    where: str | None = None
    """The file, the variable or the option."""


class Settings:
    """What is set, each with where it comes from. `settings["approve"]`; `settings.of("model", "codex")`."""

    def __init__(self, found: Mapping[str, Setting]) -> None:
        self.all = dict(found)
        """By name; what is set for one agent as `agents.NAME.KEY`."""

    def __getitem__(self, key: str) -> Any:
        """The value of a setting. Raises UsageError if there is none of that name."""
        return self.find(key).value

    def find(self, key: str) -> Setting:
        """A setting. Raises UsageError if there is none of that name."""
        if key not in self.all:
            raise UsageError(f"no setting is called {key!r}{did_you_mean(key, self.all)}")
        return self.all[key]

    def of(self, key: str, agent: str) -> Any:
        """The value for an agent: its own table comes before what the file says for all, and after the environment."""
        general, own = self.find(key), self.all.get(f"agents.{agent}.{key}")
        return own.value if own is not None and general.source in ("default", "file") else general.value


def user_file() -> Path:
    """Where the settings are."""
    return config_file("config.toml")


def load(options: Mapping[str, tuple[Any, str]] | None = None) -> Settings:
    """The settings as they are now. `options` are those of a command line: the value, and what the option is called.
    Raises UsageError for a file or a variable that is not right."""
    path = user_file()
    said = _read(path)
    found = {}
    for each in msgspec.structs.fields(Values):
        name = each.name
        if options and name in options:
            found[name] = Setting(options[name][0], "command line", options[name][1])
        elif (variable := _variable(name)) is not None:
            found[name] = Setting(_from_environment(variable, each.type), "environment", variable)
        elif name in said:
            found[name] = Setting(said[name], "file", str(path))
        else:
            found[name] = Setting(default_library() if name == "library" else each.default, "default")
    for agent, table in said.get("agents", {}).items():
        found |= {f"agents.{agent}.{key}": Setting(value, "file", str(path)) for key, value in table.items()}
    return Settings(found)


def data_folder() -> Path:
    """Where files of ours are that are no settings: below $XDG_DATA_HOME or ~/.local/share."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(home) / "dragoman"


def default_library() -> str:
    """The library's file."""
    return str(data_folder() / "library.db")


def _read(path: Path) -> dict[str, Any]:
    """What the file sets; nothing, if there is none."""
    try:
        said = tomllib.loads(text_of(path))
        msgspec.convert(said, _File)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        why = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise UsageError(f"the settings in {path} are not right: {why}. {REMEDY}") from None
    return said


def _variable(name: str) -> str | None:
    """The variable that sets it; an empty one sets nothing."""
    names = (PREFIX + name.upper(), *(("NO_COLOR",) if name == "colours" else ()))
    return next((variable for variable in names if os.environ.get(variable)), None)


def _from_environment(variable: str, kind: Any) -> Any:
    if variable == "NO_COLOR":  # whatever it says: no-color.org
        return "never"
    try:
        return msgspec.convert(os.environ[variable], kind, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"the variable {variable} is not right: {error}. {REMEDY}") from None

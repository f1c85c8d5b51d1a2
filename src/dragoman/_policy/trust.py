"""Which folders the user trusts: there a project's own hooks, MCP servers, plugins and settings take part in a run.

A repository is often somebody else's work, and agents run what it brings before any tool is called. So it takes part only
if the user has said so, in a file of the user's own. A trusted folder covers what lies below it and nothing above. A
folder inside a repository is trusted with the repository alone: agents read what stands at its root too.
"""

import os
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct, field

from dragoman._model.errors import UsageError
from dragoman._policy.config_files import config_file, text_of


class _File(Struct, forbid_unknown_fields=True):
    folders: list[str] = field(default_factory=list)


def user_file() -> Path:
    """Where the trusted folders are kept."""
    return config_file("trusted.toml")


def folders(path: Path | None = None) -> list[str]:
    """The trusted folders, with links followed when they were trusted. Raises UsageError if the file is not right."""
    file = path or user_file()
    try:
        text = text_of(file)
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the trusted folders cannot be read from {file}: {error}") from None
    try:
        return msgspec.convert(tomllib.loads(text), _File).folders
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise UsageError(f"the trusted folders in {file} are not right: {error}") from None


def is_trusted(folder: str, path: Path | None = None) -> bool:
    """Whether the project that a folder belongs to lies in a trusted folder. Raises what `folders` raises."""
    root = Path(project_of(folder))
    return any(os.path.isabs(trusted) and root.is_relative_to(trusted) for trusted in folders(path))


def project_of(folder: str) -> str:
    """The repository that a folder lies in, else the folder; with links followed."""
    here = Path(os.path.realpath(folder))
    return str(next((place for place in (here, *here.parents) if _is_repository(place)), here))


def _is_repository(place: Path) -> bool:
    """By a folder .git that is one of git's, or a file that says where it is."""
    return os.path.isfile(place / ".git") or os.path.lexists(place / ".git" / "HEAD")


def add(folder: str, path: Path | None = None) -> str:
    """Trust a folder, and what lies below it. Returns its real path. Raises UsageError for what is no folder, and for a
    part of a repository."""
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise UsageError(f"there is no folder {folder!r}")
    if (root := project_of(real)) != real:
        raise UsageError(
            f"{real} is a part of {root}, whose hooks and servers would run as well: trust that, or none"
        )
    _write([*(known for known in folders(path) if known != real), real], path)
    return real


def remove(folder: str, path: Path | None = None) -> bool:
    """Trust a folder no longer. False if it was not trusted by itself."""
    known = folders(path)
    gone = {os.path.realpath(folder), os.path.abspath(folder), folder}  # it may be there no more
    left = [each for each in known if each not in gone]
    if left != known:
        _write(left, path)
    return left != known


def _write(trusted: Iterable[str], path: Path | None) -> None:
    """All of it at once, for nobody else to read."""
    file = path or user_file()
    try:
        lines = "".join(f"    {msgspec.json.encode(folder).decode()},\n" for folder in trusted)
    except UnicodeEncodeError:
        raise UsageError("a folder whose name is no text cannot be trusted") from None
    text = f"folders = [\n{lines}]\n".replace("\x7f", "\\u007f")
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=".trusted-")  # 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(draft, file)
    except BaseException:
        os.unlink(draft)
        raise


# --- what a project brings -----------------------------------------------------------------------------------


def brought(folder: str, names: Iterable[str]) -> list[str]:
    """Which of these files a project has, as they are called from its root or from the folder: where an agent looks for
    what it shall run."""
    here, root = os.path.realpath(folder), project_of(folder)
    places = [here]
    while places[-1] != root:
        places.append(os.path.dirname(places[-1]))
    return [name for name in names if any(os.path.lexists(os.path.join(place, name)) for place in places)]

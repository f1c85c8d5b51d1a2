"""Files of one run that its agent is given to read, in a folder of their own that nobody else can enter.

What stands for a file is its content; or, as a Path, where it leads to. If nothing is there, a folder is made there.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex


def new_folder() -> str:
    """The path of a folder that is not there yet, and whose name nobody can guess."""
    return os.path.join(tempfile.gettempdir(), f"dragoman-{token_hex(8)}")


def write(files: Mapping[str, bytes | Path]) -> None:
    """Make the files, and the folders that they are in. Raises OSError; then what was made is removed again."""
    try:
        made: list[str] = []
        for folder in _folders(files):
            within = any(folder.startswith(f"{outer}{os.sep}") for outer in made)
            (os.makedirs if within else os.mkdir)(folder, 0o700)
            made.append(folder)
        for path, content in files.items():
            if isinstance(content, Path):
                _lead(path, content)
                continue
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "wb") as stream:
                stream.write(content)
    except FileExistsError:  # somebody else's
        raise
    except OSError:
        remove(files)
        raise


def remove(files: Mapping[str, bytes | Path]) -> None:
    """Remove them with their folders, and whatever else is there; not what they lead to."""
    for folder in _folders(files):
        shutil.rmtree(folder, ignore_errors=True)


def _folders(files: Mapping[str, bytes | Path]) -> list[str]:
    """Those that the files are in, the outer ones first."""
    return sorted({os.path.dirname(path) for path in files})


def _lead(path: str, target: Path) -> None:
    if not os.path.lexists(target):
        os.makedirs(target, 0o700)
    os.symlink(target, path)

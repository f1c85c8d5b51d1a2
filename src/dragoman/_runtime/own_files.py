"""Files of one run that its agent is given to read, in a folder of their own that nobody else can enter."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from secrets import token_hex


def new_folder() -> str:
    """The path of a folder that is not there yet, and whose name nobody can guess."""
    return os.path.join(tempfile.gettempdir(), f"dragoman-{token_hex(8)}")


def write(files: Mapping[str, bytes]) -> None:
    """Make the files, and the folders that they are in. Raises OSError; then what was made is removed again."""
    try:
        for folder in dict.fromkeys(map(os.path.dirname, files)):
            os.mkdir(folder, 0o700)
        for path, content in files.items():
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "wb") as stream:
                stream.write(content)
    except FileExistsError:  # somebody else's
        raise
    except OSError:
        remove(files)
        raise


def remove(files: Mapping[str, bytes]) -> None:
    """Remove them with their folders, and whatever else is there."""
    for folder in dict.fromkeys(map(os.path.dirname, files)):
        shutil.rmtree(folder, ignore_errors=True)

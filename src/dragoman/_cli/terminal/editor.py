"""A text in the user's own editor."""

import os
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Final

import anyio

_EDITORS: Final = ("sensible-editor", "vim", "nano", "vi")
_LAST_WORD: Final = 2.0
"""Seconds that an editor has to leave the terminal as it was."""


async def edited(text: str, suffix: str) -> str | None:
    """What the user made of `text`; None if it was left as it is. Raises OSError if there is no editor, or if it fails.
    If this is cancelled the editor ends too: nothing goes on waiting for it."""
    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
        file = Path(folder) / f"input{suffix}"
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        process = await anyio.open_process([*_editor(), str(file)], stdin=None, stdout=None, stderr=None)
        try:
            status = await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.terminate()
                    with anyio.move_on_after(_LAST_WORD):
                        await process.wait()
                if process.returncode is None:
                    process.kill()
                await process.aclose()
        if status != 0:
            raise OSError(f"the editor ended with {status}")
        after = file.read_text(encoding="utf-8", errors="surrogatepass")
        return after if after != text else None


def _editor() -> list[str]:
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if chosen:
        return shlex.split(chosen)
    found = next(filter(None, map(shutil.which, _EDITORS)), None)
    if found is None:
        raise OSError("there is no editor: set $EDITOR")
    return [found]

"""Where agents of the table keep their sessions, for those whose files are read."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from dragoman._files import stores
from dragoman._files.stores import Store


class Kept(NamedTuple):
    folders: Callable[[Mapping[str, str]], list[Path]]
    store: Store


def _copilot(variables: Mapping[str, str]) -> list[Path]:
    home = variables.get("COPILOT_HOME") or os.path.join(variables.get("HOME", "~"), ".copilot")
    return [Path(home, "session-state").expanduser()]


def _qwen(variables: Mapping[str, str]) -> list[Path]:
    """What is written goes to the first; what was there before it was named is in the others."""
    home = os.path.join(variables.get("HOME", "~"), ".qwen")
    homes = filter(None, (variables.get("QWEN_RUNTIME_DIR"), variables.get("QWEN_HOME") or home))
    return [Path(home, "projects").expanduser() for home in homes]


KEPT: Final[Mapping[str, Kept]] = {
    "github-copilot-cli": Kept(_copilot, stores.COPILOT),
    "qwen-code": Kept(_qwen, stores.QWEN),
}

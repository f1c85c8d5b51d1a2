"""What `ls`, `show`, `search` and `usage` show on terminals of 80 and 140 columns, as it is kept in screens/.

DRAGOMAN_SCREENS=write writes them anew; then look at them.
"""

import os
import re
from pathlib import Path

import pytest

from tests.cli.screen import Screen
from tests.cli.stored_sessions import THEN, keep_sessions

KEPT = Path(__file__).parent / "screens"
COMMANDS = {
    "ls": ("ls",),
    "show": ("show", "95979db5", "--no-pager"),
    "show-diff": ("show", "95979db5", "--no-pager", "--diff"),
    "show-tools": ("show", "95979db5", "--no-pager", "--tools"),
    "show-permissions": ("show", "95979db5", "--no-pager", "--permissions"),
    "search": ("search", "alpha"),
    "usage": ("usage",),
    "usage-model": ("usage", "--by", "model"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    keep_sessions(home)
    screen = Screen("sync", columns=80, home=home)
    assert screen.finish() == 0
    return home


def steady(rows: list[str]) -> str:
    """The screen without what the day makes of it."""
    text = "\n".join(rows).rstrip() + "\n"
    text = text.replace(f"{THEN:%Y-%m-%d}", "YYYY-MM-DD")
    text = re.sub(r"(YYYY-MM-DD\s)\d\d:\d\d(:\d\d)?", r"\1hh:mm", text)
    return re.sub(r"\b[234] d\b", "3 d", text)


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_screen(name: str, columns: int, home: Path) -> None:
    screen = Screen(*COMMANDS[name], columns=columns, home=home)
    assert screen.finish() == 0
    shown = steady(screen.rows)
    assert max(map(len, shown.splitlines())) <= columns
    file = KEPT / f"{name}-{columns}.txt"
    if os.environ.get("DRAGOMAN_SCREENS") == "write":
        file.write_text(shown)
    assert shown == file.read_text()

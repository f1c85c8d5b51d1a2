"""docs/seed-coverage.md names tests: each of them exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("seed-coverage*.md"))
KNOWN = "\n".join(
    [path.name for path in ROOT.glob("tests/**/test_*.py")]
    + [
        line.strip()
        for path in ROOT.glob("tests/**/test_*.py")
        for line in path.read_text().splitlines()
        if re.match(r"(async )?def test_", line)
    ]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_what_it_names_exists(page: Path) -> None:
    named = set(re.findall(r"\b(test_\w+)", page.read_text()))
    assert len(named) > 10
    missing = [name for name in named if not re.search(rf"\b{name}", KNOWN)]
    assert missing == []

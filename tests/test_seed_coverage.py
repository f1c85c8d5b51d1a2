"""docs/seed-coverage*.md name tests and places: each of them exists, under exactly that name."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("seed-coverage*.md"))
ROOMS = [
    ROOT,
    ROOT / "src/dragoman",
    ROOT / "src/dragoman/_projections/untether",
    ROOT / "tests/projections",
    ROOT / "tests/projections/untether",
]
"""Where a place that a page names may be."""
NAME = re.compile(r"\btest_\w*")
PLACE = re.compile(r"(?<![\w/])(?!session/)\w+/(?:[\w/]*\w)?(?:\.py)?|\w+\.py")
"""A path, with or without its ending; methods of ACP look like one."""


@cache
def known_tests() -> set[str]:
    """The names of all test files and of the functions in them."""
    function = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)
    files = list(ROOT.glob("tests/**/test_*.py"))
    return {path.stem for path in files}.union(*(function.findall(path.read_text()) for path in files))


def unknown_tests(text: str) -> list[str]:
    return sorted(set(NAME.findall(text)) - known_tests())


def unknown_places(text: str) -> list[str]:
    def exists(place: str) -> bool:
        return any((room / place).exists() or (room / f"{place}.py").exists() for room in ROOMS)

    return sorted(place for place in set(PLACE.findall(text)) if not exists(place))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_what_it_names_exists(page: Path) -> None:
    text = page.read_text()
    assert len(NAME.findall(text)) > 10
    assert unknown_tests(text) == []
    assert unknown_places(text) == []


def test_the_beginning_of_a_name_is_no_name() -> None:
    assert unknown_tests("test_seed_coverage, test_what_it_names_exists") == []
    assert unknown_tests("test_c, test_what_it_names_…") == ["test_c", "test_what_it_names_"]
    assert unknown_places("tests/cli and tests/wire/test_lines, _wire/lines.py, project.py") == []
    assert unknown_places("tests/dialects/claude_stream, runtime/, test_resum.py") == [
        "runtime/",
        "test_resum.py",
        "tests/dialects/claude_stream",
    ]

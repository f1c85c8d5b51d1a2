"""docs/seed-coverage*.md name tests and places: each of them exists, under exactly that name, in the file that it is said to
be in; and of specification 004 no section is left out."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("seed-coverage*.md"))
ROOMS = [
    ROOT,
    ROOT / "tests",
    ROOT / "src/dragoman",
    ROOT / "src/dragoman/_projections/untether",
    ROOT / "tests/projections",
    ROOT / "tests/projections/untether",
]
"""Where a place that a page names may be."""
NAME = re.compile(r"\btest_\w*")
PLACE = re.compile(r"(?<![\w/])(?!(?:session|thread|turn|review|chat)/)\w+/(?:[\w/]*\w)?(?:\.py)?|\w+\.py")
"""A path, with or without its ending; methods of ACP and of Codex look like one."""
IN_FILE = re.compile(r"([\w/]*\btest_\w+): ([^;|]*)")
"""A file, and what is named of it."""
SECTIONS = [
    *("1", "2.1", "2.2", "2.3"),
    *(f"3.{n}" for n in range(1, 10)),
    *(f"4.{n}" for n in range(1, 12)),
    *(f"5.{n}" for n in range(1, 9)),
    *(f"6.{n}" for n in range(1, 7)),
    *(f"7.{n}" for n in range(1, 6)),
    *("8.1", "8.2"),
    *(f"9.{n}" for n in range(1, 6)),
]
"""All that specification 004 has."""


@cache
def known_tests() -> set[str]:
    """The names of all test files and of the functions in them."""
    files = list(ROOT.glob("tests/**/test_*.py"))
    return {path.stem for path in files}.union(*map(functions, files))


def functions(path: Path) -> list[str]:
    return re.findall(r"^\s*(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE)


def unknown_tests(text: str) -> list[str]:
    return sorted(set(NAME.findall(text)) - known_tests())


def unknown_places(text: str) -> list[str]:
    def exists(place: str) -> bool:
        return any((room / place).exists() or (room / f"{place}.py").exists() for room in ROOMS)

    return sorted(place for place in set(PLACE.findall(text)) if not exists(place))


@cache
def defined_in(file: str) -> set[str]:
    """The functions of the test files that a path may mean."""
    return {
        name for path in ROOT.glob(f"tests/**/{file.removeprefix('tests/')}.py") for name in functions(path)
    }


def misplaced_tests(text: str) -> list[str]:
    return sorted(
        f"{file}: {name}"
        for file, names in IN_FILE.findall(text)
        for name in NAME.findall(names)
        if name not in defined_in(file) and not list(ROOT.glob(f"tests/**/{name}.py"))
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_what_it_names_exists(page: Path) -> None:
    text = page.read_text()
    assert len(NAME.findall(text)) > 10
    assert unknown_tests(text) == []
    assert unknown_places(text) == []
    assert misplaced_tests(text) == []


def test_no_section_is_left_out() -> None:
    rows = re.findall(r"^\| (§[^|]*) \|", (ROOT / "docs" / "seed-coverage-004.md").read_text(), re.MULTILINE)
    named = {number for row in rows for number in re.findall(r"§([\d.]+)", row)}
    assert named == set(SECTIONS)


def test_the_beginning_of_a_name_is_no_name() -> None:
    assert unknown_tests("test_seed_coverage, test_what_it_names_exists") == []
    assert unknown_tests("test_c, test_what_it_names_…") == ["test_c", "test_what_it_names_"]
    assert misplaced_tests("tests/test_seed_coverage: test_no_section_is_left_out, test_0_resumed") == [
        "tests/test_seed_coverage: test_0_resumed"
    ]
    assert unknown_places("tests/cli and tests/wire/test_lines, _wire/lines.py, project.py") == []
    assert unknown_places("tests/dialects/claude_stream, runtimes/, test_resum.py") == [
        "runtimes/",
        "test_resum.py",
        "tests/dialects/claude_stream",
    ]

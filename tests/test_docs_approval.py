"""docs/approval.md: its rules are rules, and the tests that it names are there."""

import re
from pathlib import Path

from dragoman._agents import AGENTS
from dragoman._model.config import APPROVE_MODES
from dragoman._policy import rulebook

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "approval.md").read_text("utf-8")


def test_the_rules_can_be_read(tmp_path: Path) -> None:
    [block] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "policy.toml"
    path.write_text(block)
    assert len(rulebook.read(path)) == 6


def test_every_mode_is_in_both_tables() -> None:
    for mode in APPROVE_MODES:
        assert len(re.findall(rf"^\| `{mode}` \|", PAGE, re.MULTILINE)) == 2


def test_the_tests_that_it_names_are_there() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "real").glob("test_*.py"))
    named = re.findall(r"`(test_\w+)`", PAGE)
    assert named
    assert [name for name in named if f"def {name}(" not in sources] == []
    files = re.findall(r"`(tests/\S+\.py)`|\((\.\./\S+?)\)", PAGE)
    assert files
    assert [
        file
        for pair in files
        for file in pair
        if file and not (ROOT / "docs" / file).resolve().exists() and not (ROOT / file).exists()
    ] == []


def test_every_yes_of_what_a_rule_can_reach_names_its_test() -> None:
    table = PAGE.partition("### What a rule can reach")[2].partition("\n\nYour own hooks")[0]
    cells = [
        cell.strip() for row in table.splitlines() if row.startswith("|") for cell in row.split("|")[2:-1]
    ]
    said = [cell for cell in cells if cell.startswith("yes")]
    assert len(said) > 10
    assert [cell for cell in said if not re.search(r"`test_\w+`", cell)] == []


def test_every_agent_that_can_be_held_back_is_in_the_table_of_trust() -> None:
    table = PAGE.partition("## Trust")[2].partition("## Handlers")[0]
    for name in ("claude", "codex", "gemini", "opencode"):
        assert (
            f"| {AGENTS[name].title.removesuffix(' CLI') if name == 'codex' else AGENTS[name].title} |"
            in table
        )
        assert AGENTS[name].project_files

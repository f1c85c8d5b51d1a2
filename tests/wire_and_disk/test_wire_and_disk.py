"""What a run said on the wire and what its agent wrote to its disk are the same messages, calls of tools and tokens, or
differ as differences.toml says."""

import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any, cast

import pytest

from tests.library.corpus import SHARED
from tests.wire_and_disk.accounts import differences, name_of, own, run_of, shared


def rows() -> list[dict[str, Any]]:
    table = tomllib.loads(Path(__file__).with_name("differences.toml").read_text("utf-8"))
    return cast(list[dict[str, Any]], table["difference"])


def listed(among: str, names: set[str]) -> dict[str, set[str]]:
    """The differences of these runs, by name."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows():
        for name in names & set(row["runs"]) if row.get("among", among) == among else ():
            found[name] |= set(row["what"])
    return found


def compared(folders: list[Path], among: str) -> None:
    runs = [run_of(folder) for folder in folders]
    differing = {run.name: found for run in runs if (found := differences(run))}
    assert differing == listed(among, {run.name for run in runs})


def test_the_captures_of_this_repository() -> None:
    assert len(own()) > 60
    compared(own(), "own")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the captures of other machines are not here")
def test_the_other_captures() -> None:
    compared(shared(), "shared")
    there = {name_of(folder) for folder in (*own(), *shared())}
    assert {name for row in rows() for name in row["runs"]} <= there

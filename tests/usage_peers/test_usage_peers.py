"""What we count and what other tools count on the same trees: the same, or what docs/usage.md says and explains."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.testing import ScriptedModel
from tests.library import test_usage
from tests.real.capability_marks import ACTORS
from tests.real.driving import Pinned
from tests.real.usage_stories import STORIES
from tests.usage_peers import codex_fork
from tests.usage_peers.counting import TOOLS, ours
from tests.usage_peers.differences import Place, difference, explained

WRITTEN: dict[str, tuple[str, Callable[[Path], object]]] = {
    "fork and subagent by hand": ("claude", test_usage.claude),
    "fork by hand": ("codex", codex_fork.placed),
}
"""Trees of one agent that no agent wrote, and who writes them."""


def compare(home: Path, agent: str, tree: str) -> None:
    mine, known = ours(home, agent), explained()
    assert mine
    said = {tool: difference(count(home, agent), mine) for tool, count in TOOLS.items()}
    assert said == {tool: known.get(Place(tool, agent, tree), "") for tool in TOOLS}


@pytest.mark.anyio
@pytest.mark.parametrize("story", STORIES)
async def test_what_an_agent_wrote(actor: Pinned, story: str) -> None:
    play, lines, agents = STORIES[story]
    if actor.name not in agents:
        pytest.skip(f"{actor.name} cannot do it")
    with ScriptedModel(lines(actor)) as model:
        await play(actor, model)
    compare(actor.home, actor.name, story)


@pytest.mark.parametrize("tree", WRITTEN)
def test_what_was_written_by_hand(tmp_path: Path, tree: str) -> None:
    agent, write = WRITTEN[tree]
    write(tmp_path)
    compare(tmp_path, agent, tree)


def test_every_row_of_the_page_is_looked_at() -> None:
    trees = {(agent, story) for story, told in STORIES.items() for agent in told.agents if agent in ACTORS}
    trees |= {(agent, tree) for tree, (agent, _) in WRITTEN.items()}
    assert [row for row in explained() if row.tool not in TOOLS or row[1:] not in trees] == []

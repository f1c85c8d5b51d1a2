"""The page with real agents: begun there, asked there, allowed there."""

import os
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.testing import ScriptedModel
from tests.browser.serving import served
from tests.real.capability_marks import by
from tests.real.driving import Pinned

playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

PATIENCE = 60_000
"""Milliseconds after which a test has failed; no test waits for them."""


@pytest.fixture
def page() -> Iterator[Any]:
    """A page of a browser. What it complains of is a fault."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("apt-get install chromium")
    complaints: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.set_default_timeout(PATIENCE)
        opened.on("console", lambda message: complaints.append(message.text))
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        yield opened
        browser.close()
    assert complaints == []


@by("claude", "codex")
def test_begun_asked_and_allowed_on_the_page(agent: Pinned, page: Any) -> None:
    lines = [agent.tools.shell("touch made-here"), "All is done."]
    with ScriptedModel(lines) as model:
        env = model.env(agent.name, agent.home) | {"PATH": f"{agent.executable.parent}:{os.environ['PATH']}"}
        _have_key_passed(agent)
        with served(agent.home, env | {"OPENAI_API_KEY": "dummy"}) as server:
            page.goto(server.link())
            page.get_by_role("button", name="New session").click()
            dialog = page.get_by_role("dialog")
            dialog.get_by_label("Agent").select_option(agent.name)
            dialog.get_by_label("Folder").fill(str(agent.cwd))
            dialog.get_by_label("First prompt").fill("Touch a file.")
            dialog.get_by_role("button", name="Begin").click()
            card = page.get_by_role("group", name="wants")
            playwright.expect(card).to_contain_text("touch made-here", timeout=PATIENCE)
            assert agent.files == []
            card.get_by_role("button", name=re.compile("^y ")).click()
            transcript = page.get_by_role("main")
            playwright.expect(transcript).to_contain_text("All is done.", timeout=PATIENCE)
            playwright.expect(transcript).to_contain_text("allowed by Chromium on Linux")
            assert agent.files == ["made-here"]
            page.close()
            assert server.stop() == 0


def _have_key_passed(agent: Pinned) -> None:
    """Codex is told in its own settings where its key is: in a variable that is meant for it."""
    settings = agent.home / ".codex" / "config.toml"
    if settings.exists():
        settings.write_text(settings.read_text().replace("SCRIPTED_API_KEY", "OPENAI_API_KEY"))

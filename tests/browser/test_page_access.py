"""Whether people can use it who do not see, or see little, or have no mouse: on every view, light and dark, on a phone and on a
desk, axe-core finds nothing serious and nothing is wider than the screen.

DRAGOMAN_SCREENSHOTS=FOLDER keeps a picture of each.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser import parts
from tests.browser.conftest import Visits, desktop
from tests.browser.install import AXE
from tests.browser.serving import Served

BAD: Final = ("serious", "critical")
SCREENSHOTS: Final = os.environ.get("DRAGOMAN_SCREENSHOTS")


@pytest.fixture(params=["light", "dark"])
def look(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def check(size: str, look: str) -> Callable[[Page, str], None]:
    """Finds what is wrong with a page, in a state that has a name. The policy of the page holds meanwhile."""

    def checked(page: Page, name: str) -> None:
        if SCREENSHOTS:
            page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{size}-{look}.png", animations="disabled")
        page.evaluate(AXE.read_text("utf-8"))
        found: Any = page.evaluate("() => axe.run({resultTypes: ['violations']})")
        told = [
            f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes'][:3]]}"
            for each in found["violations"]
            if each["impact"] in BAD
        ]
        assert told == []
        assert page.viewport_size is not None
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]

    return checked


Check = Callable[[Page, str], None]


def test_lists(kept: Served, visit: Visits, look: str, check: Check) -> None:
    visitor = visit(kept, color_scheme=look)
    page = visitor.page
    expect(page.get_by_text(re.compile(r"\d sessions")).first).to_be_visible()
    check(page, "list")
    visitor.go("#/search?text=the")
    expect(page.locator("mark").first).to_be_visible()
    check(page, "search")
    visitor.go("#/usage?by=model&days=")
    expect(page.get_by_role("img", name=re.compile("by model"))).to_be_visible()
    check(page, "usage")


def test_a_session(kept: Served, visit: Visits, look: str, check: Check) -> None:
    """As it is opened, with all unfolded, what is behind a block and beside all of them, and played back."""
    row = kept.session("/home/dev/work/app_basic")
    visitor = visit(kept, f"#/session/{row['id']}", color_scheme=look)
    page = visitor.page
    parts.session(page, row["title"])
    check(page, "session")
    page.get_by_role("button", name="Unfold all").click()
    check(page, "unfolded")
    parts.more(page, parts.block(parts.turn(page, 2), "Answer"), "Raw line behind it")
    expect(page.get_by_text("What it means, as an event")).to_be_visible()
    check(page, "raw")
    page.keyboard.press("Escape")
    parts.side(page, "What it did")
    check(page, "deeds")
    visitor.go(f"#/replay/{row['id']}")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("slider").fill("30")
    expect(page.get_by_text("event 30 of")).to_be_visible()
    check(page, "replay")


@desktop
@pytest.mark.parametrize("folder", ["tools_basic", "tools_yolo/proj", "subagent", "todo", "image_input"])
def test_sessions_of_others(folder: str, kept: Served, visit: Visits, look: str, check: Check) -> None:
    """Whatever agents do has its own looks."""
    row = kept.session(f"/home/dev/work/{folder}")
    page = visit(kept, f"#/session/{row['id']}", color_scheme=look).page
    parts.session(page, row["title"])
    page.get_by_role("button", name="Unfold all").click()
    check(page, folder.partition("/")[0])


@pytest.mark.parametrize("story", ["long", "write", "question"])
def test_what_waits(story: str, live: Served, folder: Path, visit: Visits, look: str, check: Check) -> None:
    visitor = visit(live, color_scheme=look)
    page = visitor.page
    main = parts.begin(page, story, folder)
    expect(main.get_by_text("waits for you")).to_be_visible()
    check(page, f"asks-{story}")
    visitor.go("#/")
    expect(parts.card(page).first).to_be_visible()
    check(page, f"list-asks-{story}")


def test_a_session_at_work(live: Served, folder: Path, visit: Visits, look: str, check: Check) -> None:
    visitor = visit(live, color_scheme=look)
    page = visitor.page
    page.get_by_role("button", name="Keys").click()
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    check(page, "keys")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New session").click()
    expect(page.get_by_role("textbox", name="First prompt")).to_be_visible()
    check(page, "new")
    page.keyboard.press("Escape")
    main = parts.begin(page, "wait for me", folder)
    expect(main.get_by_text("working")).to_be_visible()
    expect(parts.block(page, "Answer", "I wait.")).to_be_visible()
    check(page, "live")
    visitor.go("#/")
    expect(parts.rows(page, "Running now").filter(has_text="working").first).to_be_visible()
    check(page, "list-live")


def test_who_has_no_link(kept: Served, visit: Visits, look: str, check: Check) -> None:
    visitor = visit.stranger(color_scheme=look)
    visitor.excuse("status of 401")
    visitor.page.goto(f"{kept.url}/#t=used-up")
    expect(visitor.page.get_by_role("heading").first).to_be_visible()
    check(visitor.page, "denied")

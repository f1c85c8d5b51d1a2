"""Any session, played back: as fast as one likes, step by step, or from anywhere in it."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visits, desktop
from tests.browser.parts import block, session, turn
from tests.browser.serving import Served

FOLDER = "/home/dev/work/app_basic"


def played(kept: Served, visit: Visits) -> Page:
    row = kept.session(FOLDER)
    page: Page = visit(kept, f"#/session/{row['id']}").page
    session(page, "go").get_by_role("link", name="Replay").click()
    expect(page.get_by_role("heading", level=1, name="Replay: go")).to_be_visible()
    return page


def bar(page: Page) -> Locator:
    return page.get_by_role("slider", name="Place in the session")


def told(page: Page) -> Any:
    """What the transcript says, turn by turn."""
    return page.get_by_role("article").evaluate_all("all => all.map(each => each.textContent)")


def test_it_ends_as_the_session_did(kept: Served, visit: Visits) -> None:
    page = played(kept, visit)
    page.get_by_role("combobox", name="Speed").select_option("20×")
    last = bar(page).get_attribute("max") or ""
    expect(bar(page)).to_have_value(last)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(page.get_by_text(re.compile(rf"^event {last} of {last}"))).to_be_visible()
    replayed = told(page)
    page.get_by_role("link", name="The session").click()
    session(page, "go")
    expect(turn(page, 2)).to_be_visible()
    assert told(page) == replayed


def test_it_waits_and_goes_on(kept: Served, visit: Visits) -> None:
    page = played(kept, visit)
    page.get_by_role("button", name="Pause").click()
    bar(page).fill("10")
    expect(page.get_by_text("event 10 of")).to_be_visible()
    bar(page).fill("0")
    expect(page.get_by_text("event 0 of")).to_be_visible()
    page.get_by_role("button", name="Step").click()
    expect(page.get_by_text("event 1 of")).to_be_visible()
    page.get_by_role("button", name="Step").click()
    expect(page.get_by_text("event 2 of")).to_be_visible()
    page.get_by_role("combobox", name="Speed").select_option("as it was")
    page.get_by_role("button", name="Play").click()
    expect(block(page, "Prompt", "go")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_it_goes_to_any_place(kept: Served, visit: Visits) -> None:
    page = played(kept, visit)
    page.get_by_role("button", name="Pause").click()
    last = bar(page).get_attribute("max") or ""
    bar(page).fill(last)
    expect(block(page, "Answer", "Second turn answer")).to_be_visible()
    bar(page).fill("16")
    expect(block(page, "Tool shell", "echo tick")).to_be_visible()
    expect(page.get_by_text("Second turn answer")).to_have_count(0)
    expect(page.get_by_text(re.compile(r"^event 16 of \d+ · turn 1"))).to_be_visible()


def test_the_bar_is_marked_where_something_happened(kept: Served, visit: Visits) -> None:
    page = played(kept, visit)
    page.get_by_role("button", name="Pause").click()
    for mark, words in (("▲", "go"), ("▲", "again"), ("·", "for i in 1 2 3; do echo tick $i")):
        expect(page.get_by_title(words).filter(has_text=mark)).to_be_visible()
    first, second = (page.get_by_title(words, exact=True).bounding_box() for words in ("go", "again"))
    assert first is not None
    assert second is not None
    assert 0 <= first["x"] < second["x"]


@desktop
def test_it_is_played_by_keys_alone(kept: Served, visit: Visits) -> None:
    page = played(kept, visit)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    before = int(bar(page).input_value())
    page.keyboard.press(".")
    expect(bar(page)).to_have_value(re.compile(rf"^({before + 1}|{before + 2})$"))
    page.keyboard.press("Escape")
    session(page, "go")

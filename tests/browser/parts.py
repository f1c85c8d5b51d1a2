"""Parts of the page, found as a person finds them: by what they are and by what they are called."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect


def session(page: Page, title: str | re.Pattern[str]) -> Locator:
    """The transcript of a session, once it is there, and no replay of it."""
    main = page.get_by_role("main")
    heading = main.get_by_role("heading", level=1)
    expect(heading.filter(has_not_text=re.compile("^Replay: "))).to_be_visible()  # its name is in both
    expect(main.get_by_role("heading", level=1, name=title)).to_be_visible()
    expect(main.get_by_text("Reading …")).not_to_be_visible()
    return main


def ask_for(
    page: Page, prompt: str, folder: Path, *, agent: str = "Claude Code", mode: str = "ask"
) -> Locator:
    """Fill in the dialog that begins a session, and send it; the dialog."""
    page.get_by_role("button", name="New session").click()
    dialog = page.get_by_role("dialog", name="New session")
    dialog.get_by_role("combobox", name="Agent").select_option(agent)
    dialog.get_by_role("combobox", name="Folder").fill(str(folder))
    dialog.get_by_role("radio", name=re.compile(f"^{mode} ")).check()
    dialog.get_by_role("textbox", name="First prompt").fill(prompt)
    dialog.get_by_role("button", name="Begin").click()
    return dialog


def begin(page: Page, prompt: str, folder: Path, *, agent: str = "Claude Code", mode: str = "ask") -> Locator:
    """Begin a session by the dialog; its transcript."""
    expect(ask_for(page, prompt, folder, agent=agent, mode=mode)).to_have_count(0)
    return session(page, prompt)


def say(page: Page, prompt: str, button: str = "Send") -> None:
    """Say something to a session."""
    page.get_by_role("textbox", name="Prompt").fill(prompt)
    page.get_by_role("button", name=button, exact=True).click()


def name_of(page: Page) -> str:
    """What others see who it was."""
    told = page.get_by_title(re.compile("^Others see you as ")).get_attribute("title") or ""
    return told.removeprefix("Others see you as ").partition(";")[0]


def turn(page: Page, number: int) -> Locator:
    return page.get_by_role("article", name=re.compile(rf"^Turn {number}\b"))


def block(within: Any, kind: str, text: str | re.Pattern[str] = "") -> Locator:
    """The blocks of a kind: Prompt, Answer, Tool …"""
    blocks: Locator = within.get_by_role("group", name=kind, exact=True)
    return blocks.filter(has_text=text) if text else blocks


def side(page: Page, title: str) -> Locator:
    """What stands beside a transcript. Where there is no room, it is opened."""
    found = page.get_by_role("complementary", name=title)
    opener = page.get_by_role("button", name=title, exact=True)
    if opener.is_visible():
        opener.click()
    expect(found).to_be_visible()
    return found


def unfold(folded: Locator) -> Locator:
    """A part that is folded, open."""
    summary = folded.locator("summary").first
    summary.click()
    return folded


def more(page: Page, of: Locator, what: str) -> None:
    """Something from the menu of a block."""
    of.hover()
    of.locator("xpath=./button").click()  # and not that of a block within it
    page.get_by_role("button", name=what).click()


def rows(page: Page, heading: str = "Kept sessions") -> Locator:
    """The sessions of a list."""
    return page.get_by_role("region", name=heading).get_by_role("listitem")


def card(page: Page, title: str | re.Pattern[str] = "") -> Locator:
    """What waits for an answer."""
    cards = page.get_by_role("region", name="What waits for you").get_by_role("group")
    return cards.filter(has=page.get_by_role("heading", name=title))

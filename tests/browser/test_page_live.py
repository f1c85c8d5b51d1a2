"""A session from the page alone: begun, watched while it works, told more, interrupted, ended, and gone on with."""

from itertools import pairwise
from pathlib import Path

from playwright.sync_api import expect

from dragoman.testing._demo_agent import BROKEN, prepare
from tests.browser.conftest import Visits, desktop
from tests.browser.parts import ask_for, begin, block, card, name_of, rows, say, session, side, turn
from tests.browser.serving import Served, served

GROWS = """() => {
    window.texts = [];
    new MutationObserver(() => {
        const said = document.querySelector('[aria-label=Answer]')?.querySelector('.prose')?.textContent;
        if (said && said !== window.texts.at(-1)) window.texts.push(said);
    }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""
"""Keeps what the first answer says, whenever that changes."""


def test_the_demo_agent_does_its_job(live: Served, folder: Path, visit: Visits) -> None:
    """Text grows and never shrinks, the change is shown before it is made, and what came of it is told."""
    prepare(folder)
    page = visit(live).page
    page.evaluate(GROWS)
    main = begin(page, "Fix the test.", folder, agent="Demo agent (scripted)")
    expect(main.get_by_text("working")).to_be_visible()
    expect(block(turn(page, 1), "Prompt", "Fix the test.")).to_be_visible()
    expect(block(page, "Tool run_command")).to_contain_text("exit 1")
    texts = page.evaluate("window.texts")
    assert len(texts) > 2
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert texts[-1] == "I'll run the test first and see what it says."
    asked = card(page, "demo wants to use edit_file")
    for line in ("return sum(values) / (len(values) - 1)", "return sum(values) / len(values)"):
        expect(asked.get_by_text(line, exact=False).first).to_be_visible()
    expect(main.get_by_text("waits for you")).to_be_visible()
    assert (folder / "mean.py").read_text() == BROKEN
    asked.get_by_role("button", name="allow once").click()
    expect(asked).to_have_count(0)
    expect(block(page, "Answer", "Fixed:")).to_be_visible()
    expect(main.get_by_text("idle")).to_be_visible()
    assert "(len(values) - 1)" not in (folder / "mean.py").read_text()
    did = side(page, "What it did")
    for words in ("mean.py", "python3 test_mean.py", "exit 0", f"allowed by {name_of(page)}", "$0.00"):
        expect(did).to_contain_text(words)


def test_what_runs_is_listed_with_what_it_is_at(live: Served, folder: Path, visit: Visits) -> None:
    page, lister = visit(live).page, visit(live).page
    prompt = f"make {folder.name}"
    row = rows(lister, "Running now").filter(has_text=prompt)
    begin(page, prompt, folder)
    expect(row).to_contain_text("waits for you")
    card(page).get_by_role("button", name="yes, this once").click()
    expect(row).to_contain_text("idle")
    say(page, "wait")
    expect(row).to_contain_text("working")
    lister.get_by_role("searchbox", name="Filter").fill("something else")
    expect(row).to_have_count(0)
    lister.get_by_role("searchbox", name="Filter").fill(folder.name)
    row.get_by_role("link").click()
    expect(block(session(lister, prompt), "Answer", "I wait.")).to_be_visible()


@desktop
def test_who_goes_through_the_list_by_keys_is_not_lost_as_it_grows(
    live: Served, folder: Path, visit: Visits
) -> None:
    """A session that ends is listed at once; whoever was at another one stays there."""

    def ended(prompt: str) -> None:
        begun = live.client.post("sessions", agent="claude", prompt=prompt, cwd=str(folder), approve="all")
        live.client.post(f"sessions/{begun['run']}/close")

    names = [f"{folder.name} {word}" for word in ("first", "second")]
    page = visit(live).page
    ended(names[0])
    first = rows(page).filter(has_text=names[0]).get_by_role("link")
    first.focus()
    expect(first).to_be_focused()
    ended(names[1])
    expect(rows(page).filter(has_text=names[1])).to_be_visible()
    expect(first).to_be_focused()


def test_a_prompt_waits_for_the_end_of_the_turn(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    main = begin(page, "make it", folder)
    expect(main.get_by_text("waits for you")).to_be_visible()
    box = page.get_by_role("textbox", name="Prompt")
    box.fill("And then?")
    box.press("Enter")
    expect(box).to_have_value("")
    expect(page.get_by_text("Queued: “And then?”")).to_be_visible()
    expect(turn(page, 2)).to_have_count(0)
    card(page).get_by_role("button", name="yes, this once").click()
    expect(block(turn(page, 2), "Answer", "You said: And then?")).to_be_visible()
    expect(page.get_by_text("Queued:")).to_have_count(0)


def test_it_is_steered_where_it_can_be(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    begin(page, "wait for me", folder)
    expect(block(page, "Answer", "I wait.")).to_be_visible()
    say(page, "Turn left.", "Steer")
    expect(block(turn(page, 1), "Answer", "I was told: Turn left.")).to_be_visible()
    expect(block(turn(page, 1), "Prompt", "Turn left.")).to_be_visible()
    expect(page.get_by_role("button", name="Steer")).not_to_be_visible()


def test_a_turn_is_interrupted(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    main = begin(page, "wait for me", folder)
    expect(block(page, "Answer", "I wait.")).to_be_visible()
    page.get_by_role("button", name="Interrupt").click()
    expect(turn(page, 1)).to_contain_text("cancelled")
    expect(main.get_by_text("idle")).to_be_visible()
    expect(page.get_by_role("button", name="Interrupt")).not_to_be_visible()


@desktop
def test_a_turn_is_interrupted_by_keys(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    main = begin(page, "make it", folder)
    expect(main.get_by_text("waits for you")).to_be_visible()
    page.get_by_role("textbox", name="Prompt").focus()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Press Esc once more to interrupt.")).to_be_visible()
    page.keyboard.press("x")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Press Esc once more to interrupt.")).to_be_visible()
    expect(card(page)).to_be_visible()
    page.keyboard.press("Escape")
    expect(turn(page, 1)).to_contain_text("cancelled")
    expect(card(page)).to_have_count(0)


def test_its_modes_are_changed(live: Served, folder: Path, visit: Visits) -> None:
    """Which whoever else looks at it sees too."""
    page = visit(live).page
    main = begin(page, "hello", folder)
    expect(main.get_by_text("idle")).to_be_visible()
    other = visit(live).go(page.url.partition(f"{live.url}/")[2])
    expect(other.get_by_role("combobox", name="Who approves")).to_have_value("ask")
    page.get_by_role("combobox", name="Who approves").select_option("approve: edits")
    for each in (page, other):
        expect(each.get_by_role("combobox", name="Who approves")).to_have_value("edits")
    say(page, "write it")
    expect(block(page, "Answer", "Written.")).to_be_visible()
    assert (folder / "a.txt").read_text() == "one\ntwo\n"
    expect(block(page, "Permission")).to_contain_text("approve=edits")


def test_what_goes_wrong_is_told(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    begin(page, "fail now", folder)
    expect(turn(page, 1)).to_contain_text("✗ failed")
    expect(turn(page, 1)).to_contain_text("It cannot be done.")
    say(page, "exit now")
    expect(page.get_by_text("This run is over and kept.")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("exit 3")
    expect(side(page, "What it did")).to_contain_text("exit 3")


def test_it_is_ended_and_gone_on_with(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    main = begin(page, "hello", folder)
    expect(block(page, "Answer", "You said: hello")).to_be_visible()
    expect(main.get_by_text("idle")).to_be_visible()
    page.get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_text("This run is over and kept.")).to_be_visible()
    page.get_by_role("button", name="Read it anew").click()
    expect(block(page, "Answer", "You said: hello")).to_be_visible()
    say(page, "again", "Resume and send")
    expect(block(page, "Answer", "You said: again")).to_be_visible()
    expect(block(page, "Answer", "You said: hello")).to_have_count(1)
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()


@desktop
def test_a_session_that_cannot_be_gone_on_with(live: Served, folder: Path, visit: Visits) -> None:
    """The demo agent keeps none."""
    page = visit(live).page
    main = begin(page, "hello", folder, agent="Demo agent (scripted)")
    expect(main.get_by_text("idle")).to_be_visible()
    page.get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_text("This run is over and kept.")).to_be_visible()
    say(page, "again", "Resume and send")
    expect(page.get_by_text("no session is called").first).to_be_visible()


def test_it_is_not_ended_by_mistake_while_it_works(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    main = begin(page, "wait for me", folder)
    expect(main.get_by_text("working")).to_be_visible()
    page.get_by_role("button", name="End", exact=True).click()
    sure = page.get_by_role("button", name="End it while it works?")
    expect(sure).to_be_visible()
    expect(main.get_by_text("working")).to_be_visible()
    sure.click()
    expect(page.get_by_text("This run is over and kept.")).to_be_visible()


@desktop
def test_what_cannot_be_begun_is_said_in_the_dialog(live: Served, visit: Visits) -> None:
    visitor = visit(live)
    visitor.excuse("status of 409")
    dialog = ask_for(visitor.page, "hello", Path("/nowhere/at/all"))
    expect(dialog).to_contain_text("/nowhere/at/all")
    expect(dialog.get_by_role("textbox", name="First prompt")).to_have_value("hello")


@desktop
def test_the_end_of_the_server_is_told(tmp_path: Path, visit: Visits) -> None:
    with served(tmp_path) as alone:
        opened = visit(alone)
        opened.excuse("ERR_CONNECTION_REFUSED")
        begin(opened.page, "hello", tmp_path, agent="Demo agent (scripted)")
        expect(turn(opened.page, 1)).to_be_visible()
        assert alone.stop() == 0
    expect(opened.page.get_by_text("The server has ended.")).to_be_visible()
    expect(turn(opened.page, 1)).to_be_visible()

"""What waits for somebody: shown whole, answered once, by whoever is first, and told to all others."""

import json
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dragoman.server import ServerError
from tests.browser.conftest import Visits, desktop
from tests.browser.parts import begin, block, card, name_of, say, turn, unfold
from tests.browser.playing import HARMLESS, LONG_LINE, SWAP, SWAPPED
from tests.browser.serving import Served

RUN = "claude wants to run a command"
QUESTION = "claude asks you"


# --- permissions ---------------------------------------------------------------------------------------------


def test_all_of_a_command_is_shown(live: Served, folder: Path, visit: Visits) -> None:
    """And read to its last line, before anything is pressed."""
    page = visit(live).page
    begin(page, "long", folder)
    asked = card(page, RUN)
    expect(asked).to_contain_text("all of it: 60 lines")
    line = asked.get_by_role("figure").locator("pre")
    assert line.inner_text() == LONG_LINE
    expect(asked).to_contain_text(f"It runs {2 * 60} commands")
    line.evaluate("line => line.scrollTop = line.scrollHeight")
    expect(asked).to_contain_text(str(folder))
    asked.get_by_role("button", name="yes, this once").click()
    expect(asked).to_have_count(0)
    expect(block(page, "Answer", "All of it.")).to_be_visible()


def test_what_a_lasting_answer_covers_is_said_before(live: Served, folder: Path, visit: Visits) -> None:
    """One for the session: then the like is not asked for again."""
    page = visit(live).page
    main = begin(page, "make it", folder)
    asked = card(page, RUN)
    expect(asked).to_contain_text(re.compile(rf"lasts would cover make all in {folder}"))
    rules = live.home / ".config" / "dragoman" / "policy.toml"
    expect(asked).to_contain_text(f"kept in {rules}")
    asked.get_by_role("button", name="do not ask again in this session").click()
    expect(block(page, "Answer", "Made.")).to_be_visible()
    expect(main.get_by_text("idle")).to_be_visible()
    say(page, "make it once more")
    expect(block(turn(page, 2), "Answer", "Made.")).to_be_visible()
    expect(block(turn(page, 2), "Permission")).to_contain_text("allowed by a rule")
    expect(card(page)).to_have_count(0)
    assert not rules.exists()


def test_a_change_is_shown_before_it_is_made(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    begin(page, "write", folder)
    asked = card(page, "claude wants to use Write")
    expect(asked).to_contain_text(str(folder / "a.txt"))
    change = asked.get_by_role("figure")
    expect(change).to_be_visible()
    expect(change).to_contain_text("+2")
    for line in ("one", "two"):
        expect(change).to_contain_text(line)
    assert not (folder / "a.txt").exists()
    asked.get_by_role("button", name="yes, this once").click()
    expect(block(page, "Change")).to_contain_text("a.txt")
    assert (folder / "a.txt").read_text() == "one\ntwo\n"


def test_what_is_asked_in_its_place_is_no_answer_to_it(live: Served, folder: Path, visit: Visits) -> None:
    """An agent that uses an id again cannot have one thing shown and another allowed."""
    os.mkfifo(folder / SWAP)
    begun = live.client.post("sessions", agent="claude", prompt=SWAP, cwd=str(folder))
    page = visit(live, f"#/session/{begun['id']}").page
    command = card(page, RUN).get_by_role("figure").locator("pre")
    expect(command).to_have_text(HARMLESS)
    asked = next(data["asks"] for name, data in live.client.feed({begun["run"]: 0}) if data.get("asks"))[0]
    (folder / SWAP).write_text("now")
    expect(command).to_have_text(SWAPPED)
    given = {"run": begun["run"], "request": asked["request"], "mark": asked["mark"], "choice": "y"}
    with pytest.raises(ServerError, match="has changed since it was shown"):
        live.client.post(f"sessions/{begun['id']}/answer", **given)
    card(page).get_by_role("button", name=re.compile("^n no")).click()
    expect(block(page, "Answer", "Swapped.")).to_be_visible()
    told = block(page, "Permission")
    expect(told).to_contain_text(SWAPPED)
    expect(told).to_contain_text(f"denied by {name_of(page)}")


def test_it_is_denied_with_a_reason(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    begin(page, "make it", folder)
    asked = card(page, RUN)
    asked.get_by_role("textbox", name="Reason for a no").fill("Not on a Sunday.")
    asked.get_by_role("button", name=re.compile("^n no")).click()
    expect(block(page, "Answer", "Not made.")).to_be_visible()
    told = block(page, "Permission")
    expect(told).to_contain_text(f"denied by {name_of(page)}")
    expect(told).to_contain_text("Not on a Sunday.")
    call = unfold(block(page, "Tool Bash"))
    expect(call).to_contain_text("declined")
    expect(call.get_by_text("Not on a Sunday.").last).to_be_visible()


def test_it_is_allowed_otherwise_than_it_was_asked(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    begin(page, "make it", folder)
    asked = card(page, RUN)
    asked.get_by_role("button", name="yes, with another input").click()
    input = asked.get_by_role("textbox", name="Input as JSON")
    assert json.loads(input.input_value()) == {"command": "make all"}
    allow = asked.get_by_role("button", name="Allow with this input")
    for wrong, why in (("{", "This is no JSON"), ("[]", "must be an object")):
        input.fill(wrong)
        allow.click()
        expect(asked).to_contain_text(why)
    input.fill('{"command": "make little"}')
    allow.click()
    expect(block(page, "Answer", "Made.")).to_be_visible()
    [permission] = live.client.get(f"sessions/{page.url.rpartition('/')[2]}/deeds")["permissions"]
    assert permission["outcome"] == "allowed"
    resolved = f"sessions/{page.url.rpartition('/')[2]}/events"
    events = live.client.get(resolved, run=permission["run"])["events"]
    [answer] = [event for event in events if event["type"] == "permission.resolved"]
    assert answer["updated_input"] == {"command": "make little"}


# --- who answers ---------------------------------------------------------------------------------------------


def test_whoever_answers_is_told_to_others(live: Served, folder: Path, visit: Visits) -> None:
    """To one who looks at the session, and to one who looks at the list."""
    one, other, lister = visit(live).page, visit(live), visit(live).page
    begin(one, f"make {folder.name}", folder)
    expect(card(one, RUN)).to_be_visible()
    other.go(one.url.partition(live.url + "/")[2])
    expect(block(other.page, "Permission")).to_contain_text("waits for an answer")
    listed = card(lister, RUN).filter(has=lister.get_by_role("link", name=folder.name))
    for seen in (card(other.page, RUN), listed):
        expect(seen).to_contain_text("make all")
    card(one, RUN).get_by_role("button", name="yes, this once").click()
    told = f"{RUN}: allowed by {name_of(one)}"
    for page, seen in ((other.page, card(other.page, RUN)), (lister, listed)):
        expect(seen).to_have_count(0)
        expect(page.get_by_role("region", name="What waits for you")).to_contain_text(told)
    expect(block(other.page, "Permission")).to_contain_text(f"allowed by {name_of(one)}")


def test_it_is_answered_on_the_list(live: Served, folder: Path, visit: Visits) -> None:
    page, lister = visit(live).page, visit(live).page
    begin(page, f"make {folder.name}", folder)
    asked = card(lister, RUN).filter(has=lister.get_by_role("link", name=folder.name))
    asked.get_by_role("button", name="yes, this once").click()
    expect(asked).to_have_count(0)
    expect(block(page, "Answer", "Made.")).to_be_visible()
    expect(block(page, "Permission")).to_contain_text(f"allowed by {name_of(lister)}")


@desktop
def test_keys_answer_only_what_has_the_focus(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    begin(page, "make it", folder)
    expect(card(page, RUN)).to_be_visible()
    expect(card(page, RUN)).not_to_be_focused()
    page.keyboard.press("y")
    page.keyboard.press("g")
    expect(card(page, RUN)).to_be_focused()
    expect(block(page, "Permission")).to_contain_text("waits for an answer")
    page.keyboard.press("y")
    expect(block(page, "Answer", "Made.")).to_be_visible()
    expect(block(page, "Permission")).to_contain_text(f"allowed by {name_of(page)}")


def test_whoever_only_watches_is_offered_nothing(live: Served, folder: Path, visit: Visits) -> None:
    page, watcher = visit(live).page, visit(live, link=live.link(read_only=True))
    begin(page, "make it", folder)
    expect(card(page, RUN)).to_be_visible()
    watcher.go(page.url.partition(live.url + "/")[2])
    asked = card(watcher.page, RUN)
    expect(asked).to_contain_text("make all")
    expect(asked).to_contain_text("This page may only watch")
    expect(asked.get_by_role("button")).to_have_count(0)
    buttons = watcher.page.get_by_role("main").get_by_role("button").all_inner_texts()
    assert not {"Send", "Queue", "Interrupt", "End", "Rename", "Pin"} & set(buttons)
    expect(watcher.page.get_by_role("textbox", name="Prompt")).not_to_be_visible()
    expect(watcher.page.get_by_role("button", name="New session")).to_have_count(0)


# --- questions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["blue", "Neither."])
def test_a_question_is_answered(answer: str, live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    begin(page, "question", folder)
    asked = card(page, QUESTION)
    choices = asked.get_by_role("group", name="Which colour shall it be?")
    send = asked.get_by_role("button", name="Send the answers")
    send.click()
    expect(asked).to_contain_text("has no answer yet")
    if answer == "blue":
        choices.get_by_role("radio", name=answer).check()
    else:
        choices.get_by_role("textbox").fill(answer)
    send.click()
    expect(asked).to_have_count(0)
    expect(block(page, "Answer", f"It is {answer}.")).to_be_visible()
    told = block(page, "Question")
    expect(told).to_contain_text(f"accepted by {name_of(page)}")
    expect(told).to_contain_text(f"Which colour shall it be?: {answer}")


def test_a_question_is_declined(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    begin(page, "question", folder)
    card(page, QUESTION).get_by_role("button", name="Decline").click()
    expect(block(page, "Answer", "Nobody says.")).to_be_visible()
    expect(block(page, "Question")).to_contain_text(f"declined by {name_of(page)}")

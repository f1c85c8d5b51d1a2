"""A session of the library, looked at as a person does: its turns, its transcript, what it did, and the way to any place in it."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import dragoman
from tests.browser.conftest import LONG, TURNS, Visits, desktop
from tests.browser.parts import block, more, session, side, turn, unfold
from tests.browser.serving import Served
from tests.golden import CAPTURES

CODEX, CLAUDE, DELEGATED = (f"/home/dev/work/{name}" for name in ("app_basic", "tools_basic", "subagent"))
CODEX_FILE = CAPTURES / "codex_rollout" / "0.166.0" / "basic" / "session.jsonl"


def read(kept: Served, visit: Visits, folder: str) -> Page:
    """A session, read to its end."""
    row = kept.session(folder)
    page: Page = visit(kept, f"#/session/{row['id']}").page
    session(page, row["title"])
    return page


# --- the three columns ---------------------------------------------------------------------------------------


def test_its_head_says_what_it_is(kept: Served, visit: Visits) -> None:
    main = read(kept, visit, CODEX).get_by_role("main")
    for words in ("codex", "gpt-5.5", CODEX, "✓ completed", "~$0.0084", "960"):
        expect(main.get_by_role("banner").or_(main).get_by_text(words, exact=True).first).to_be_visible()
    native = kept.session(CODEX)["native_id"]
    expect(main.get_by_text(f"dragoman run codex --resume {native}")).to_be_visible()


def test_its_turns_lead_to_their_places(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, CODEX)
    turns = side(page, "Turns").get_by_role("listitem")
    expect(turns).to_have_count(2)
    for words in ("go", "✓ completed", "9 tools", "5.3 s"):
        expect(turns.first).to_contain_text(words)
    turns.first.get_by_role("link").click()
    expect(turn(page, 1).get_by_role("heading", name="Turn 1")).to_be_in_viewport()
    side(page, "Turns").get_by_role("link", name="again").click()
    expect(block(turn(page, 2), "Prompt", "again")).to_be_in_viewport()


def test_its_transcript_is_told_in_order(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, CODEX)
    first = turn(page, 1)
    labels = first.get_by_role("group").evaluate_all(
        "groups => groups.filter(group => group.ariaLabel).map(group => group.ariaLabel)"
    )
    assert labels[:7] == [
        *("Prompt", "Thinking", "Answer", "Tool shell", "Tool update_plan", "Plan", "Tool apply_patch"),
    ]
    assert labels[-1] == "Answer"
    expect(block(first, "Prompt")).to_contain_text("go")
    thought = block(first, "Thinking").get_by_role("paragraph").filter(has_text="think a bit")
    expect(thought).not_to_be_visible()
    unfold(block(first, "Thinking"))
    expect(thought).to_be_visible()
    expect(block(first, "Thinking").locator("strong").first).to_have_text("Plan")
    call = block(first, "Tool shell", "echo tick $i")
    expect(call).to_contain_text("exit 0")
    expect(call.get_by_text("tick 1")).not_to_be_visible()
    unfold(call)
    expect(call.get_by_text("tick 1")).to_be_visible()
    expect(block(first, "Change", "README.md → README2.md").get_by_text("bye")).to_be_visible()
    expect(block(first, "Plan").get_by_role("img", name="now")).to_be_visible()
    expect(block(turn(page, 2), "Answer")).to_have_text(re.compile("Second turn answer"))


def test_all_is_unfolded_and_folded(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, CLAUDE)
    output = block(page, "Tool Bash").get_by_text("err", exact=False).last
    page.get_by_role("button", name="Unfold all").click()
    expect(output).to_be_visible()
    page.get_by_role("button", name="Fold all").click()
    expect(output).not_to_be_visible()


def test_what_it_did_is_summed_up(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, CODEX)
    did = side(page, "What it did")
    for words in (
        *("~$0.0084", "800, 80 of them cached", "160, 40 of them reasoning", "258.4 k"),
        *("README2.md", "moved", "new.txt", "created", "exit 0"),
    ):
        expect(did).to_contain_text(words)
    expect(did.get_by_role("meter", name="Context in use")).to_be_visible()
    did.get_by_role("link", name="new.txt").click()
    change = block(page, "Change", "new.txt")
    expect(change).to_be_in_viewport()
    expect(change).to_be_focused()


def test_the_diff_of_all_of_it(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, CLAUDE)
    side(page, "What it did").get_by_role("button", name="Whole diff").click()
    diff = page.get_by_role("dialog", name="All that it changed")
    for words in ("a.txt", "line one", "LINE ONE", "b.txt", "new file 2"):
        expect(diff.get_by_text(words, exact=False).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(diff).to_have_count(0)


def test_subagents_stand_in_the_call_that_started_them(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, DELEGATED)
    within = page.get_by_text("What the subagent did")
    expect(within.first).to_be_visible()
    said = within.first.locator("..").get_by_role("group", name="Answer")
    expect(said.first).not_to_be_visible()
    within.first.click()
    expect(said.first).to_be_visible()


# --- any place in it -----------------------------------------------------------------------------------------


def test_every_block_has_a_link_of_its_own(kept: Served, visit: Visits) -> None:
    """Which also opens in another tab of the same browser, and nowhere else."""
    page = read(kept, visit, CODEX)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    more(page, block(turn(page, 1), "Tool apply_patch"), "Copy a link to this")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{kept.url}/#/session/")
    for tab in (page, page.context.new_page(), visit(kept).page):
        tab.goto(link)
        call = block(tab, "Tool apply_patch")
        expect(call).to_be_focused()
        expect(call).to_be_in_viewport()
    stranger = visit.stranger().page
    stranger.goto(link)
    expect(stranger.get_by_role("heading", name="This page needs a link of its own")).to_be_visible()
    expect(stranger.get_by_text("dragoman web")).to_be_visible()


def test_the_raw_line_behind_a_block(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, CODEX)
    more(page, block(turn(page, 2), "Answer"), "Raw line behind it")
    raw = page.get_by_role("dialog", name=re.compile("^Event"))
    expect(raw.get_by_text("Written by the agent")).to_be_visible()
    line, event = raw.locator("pre").all_inner_texts()
    assert line in CODEX_FILE.read_text("utf-8").splitlines()
    assert "Second turn answer" in line
    assert (json.loads(event)["type"], json.loads(event)["text"]) == ("message", "Second turn answer")


def test_a_word_is_found_in_it(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, CODEX)
    find = page.get_by_role("searchbox", name="Find in what is loaded")
    find.fill("tick 2")
    main = page.get_by_role("main")
    expect(main.get_by_text(re.compile(r"^\d found$"))).to_be_visible()
    find.press("Enter")
    expect(main.get_by_text(re.compile(r"^1 of \d$"))).to_be_visible()
    expect(block(turn(page, 1), "Tool shell", "echo tick")).to_be_in_viewport()
    find.fill("no such word")
    expect(main.get_by_text("0 found")).to_be_visible()


def test_kinds_of_blocks_are_shown_or_not(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, CODEX)
    first = turn(page, 1)
    kinds = {"Prompts": "Prompt", "Answers": "Answer", "Thinking": "Thinking", "Changes": "Change"}
    page.get_by_text("Show", exact=True).click()
    boxes = page.get_by_role("group", name="What is shown")
    for box, label in kinds.items():
        expect(block(first, label).first).to_be_visible()
        boxes.get_by_role("checkbox", name=box).uncheck()
        expect(block(first, label).first).not_to_be_visible()
    boxes.get_by_role("checkbox", name="Tools").uncheck()
    expect(first.get_by_text("echo tick").first).not_to_be_visible()
    page.reload()
    expect(block(first, "Plan")).to_be_visible()
    expect(block(first, "Answer").first).not_to_be_visible()
    page.get_by_text("Show", exact=True).click()
    boxes.get_by_role("checkbox", name="Answers").check()
    expect(block(first, "Answer").first).to_be_visible()


def test_a_long_one_is_read_from_its_end_to_its_beginning(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, f"/home/dev/work/{LONG}")
    expect(block(turn(page, TURNS), "Answer")).to_be_in_viewport()
    articles = page.get_by_role("article")
    assert articles.count() < TURNS / 2
    side(page, "Turns").get_by_role("link", name="question 7 ").first.click()
    expect(block(turn(page, 7), "Prompt", "question 7")).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(turn(page, 1)).to_be_in_viewport()
    top = page.get_by_role("main").get_by_role("heading", level=1)
    # the browser scrolls smoothly, and goes on where it is sent elsewhere meanwhile
    expect(top).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="To the end").click()
    expect(block(turn(page, TURNS), "Answer")).to_be_in_viewport()
    numbers = articles.evaluate_all("all => all.map(each => each.turn.turn)")
    assert numbers == sorted(set(numbers))


def test_what_is_above_is_loaded_without_anything_moving(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, f"/home/dev/work/{LONG}")
    loaded = page.get_by_role("article").count()
    first = page.get_by_role("article").first
    name = first.get_by_role("heading").first.text_content() or ""
    assert name
    first.scroll_into_view_if_needed()
    expect(page.get_by_role("article").nth(loaded)).to_be_attached()
    expect(page.get_by_role("heading", name=name)).to_be_in_viewport()


@desktop
def test_the_list_of_turns_goes_along_but_not_under_the_hand(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, f"/home/dev/work/{LONG}")
    turns = side(page, "Turns")
    now = turns.locator("[aria-current]")
    expect(now).to_have_attribute("href", re.compile(r"/\d+$"))
    expect(now).to_be_in_viewport()
    turns.get_by_role("link", name=f"question {TURNS - 4} ").hover()
    before, place = now.get_attribute("href") or "", turns.evaluate("side => side.scrollTop")
    page.get_by_role("article").first.scroll_into_view_if_needed()
    expect(now).not_to_have_attribute("href", before)
    assert turns.evaluate("side => side.scrollTop") == place
    page.get_by_role("main").hover(position={"x": 5, "y": 5}, force=True)
    page.get_by_role("article").first.scroll_into_view_if_needed()
    expect(now).to_be_in_viewport()


@desktop
def test_it_is_read_by_keys_alone(kept: Served, visit: Visits) -> None:
    page = read(kept, visit, CODEX)
    press = page.keyboard.press
    expect(block(turn(page, 2), "Answer")).to_be_in_viewport()
    press("p")
    press("p")
    expect(turn(page, 1).get_by_role("heading", name="Turn 1")).to_be_in_viewport()
    labels = []
    for _ in range(8):
        press("j")
        labels.append(page.evaluate("document.activeElement.ariaLabel"))
    at = labels.index("Prompt")
    assert labels[at : at + 3] == ["Prompt", "Thinking", "Answer"]
    for _ in labels[at + 2 :]:
        press("k")
    expect(block(page, "Thinking")).to_be_focused()
    thought = block(page, "Thinking").get_by_role("paragraph").first
    press("Enter")
    expect(thought).to_be_visible()
    press("Enter")
    expect(thought).not_to_be_visible()
    press("/")
    expect(page.get_by_role("searchbox", name="Find in what is loaded")).to_be_focused()
    press("Escape")
    press("f")
    expect(block(turn(page, 2), "Answer")).to_be_in_viewport()
    press("Escape")
    expect(page.get_by_role("region", name="Kept sessions")).to_be_visible()


# --- out of it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["html", "md", "jsonl"])
def test_it_is_exported(format: str, kept: Served, visit: Visits, tmp_path: Path) -> None:
    page = read(kept, visit, CODEX)
    words = {"html": "One page", "md": "Text", "jsonl": "Events"}[format]
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=words).click()
    id = kept.session(CODEX)["id"]
    assert download.value.suggested_filename == f"{id[:8]}.{format}"
    download.value.save_as(tmp_path / "file")
    content = (tmp_path / "file").read_bytes().decode()
    assert content.encode() == kept.client.get(f"sessions/{id}/export", format=format)
    if format == "jsonl":
        events = [dragoman.decode(line) for line in content.splitlines()]
        assert "Second turn answer" in [getattr(event, "text", None) for event in events]
    else:
        assert content.startswith({"html": "<!doctype html>", "md": "# "}[format])
        assert "Second turn answer" in content

"""The list of sessions as a person uses it: looking through it, narrowing it down, finding something in all that was said,
and naming and pinning what is worth it."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visits, desktop
from tests.browser.parts import rows, session
from tests.browser.serving import Served

FILTER = "Filter sessions by text"


def test_all_sessions_are_listed_as_far_as_one_looks(kept: Served, visit: Visits) -> None:
    page = visit(kept).page
    every = kept.client.get("sessions", limit=1000)
    assert every["total"] > 50
    expect(page.get_by_text(f"{every['total']} sessions")).to_be_visible()
    expect(rows(page)).to_have_count(50)
    rows(page).last.scroll_into_view_if_needed()
    expect(rows(page)).to_have_count(every["total"])
    named = rows(page).get_by_role("link").evaluate_all("links => links.map(link => link.hash)")
    assert named == [f"#/session/{row['id']}" for row in every["sessions"]]


def test_a_row_says_what_a_session_was(kept: Served, visit: Visits) -> None:
    page = visit(kept, "#/?folder=/home/dev/work/app_basic").page
    row = rows(page)
    expect(row).to_have_count(1)
    for words in ("go", "codex", "work/app_basic", "gpt-5.5", "2 turns", "2 files", "tokens", "✓ completed"):
        expect(row).to_contain_text(words)


def test_it_is_narrowed_down(kept: Served, visit: Visits) -> None:
    page = visit(kept).page
    folder = "/home/dev/work/kill_sigterm"
    filters = ({}, {"text": "go"}, {"text": "go", "agent": "claude"})
    counts = [kept.client.get("sessions", **given)["total"] for given in (*filters, {"folder": folder})]
    assert counts == sorted(set(counts), reverse=True)
    _, some, fewer, one = counts
    page.get_by_role("searchbox", name=FILTER).fill("go")
    expect(page.get_by_text(re.compile(rf"^{some} sessions found"))).to_be_visible()
    expect(rows(page)).to_have_count(some)
    page.get_by_role("combobox", name="Agent").select_option("claude")
    expect(rows(page)).to_have_count(fewer)
    for row in rows(page).all():
        expect(row).to_contain_text("claude")
    page.get_by_role("searchbox", name="Folder").fill(folder)
    expect(rows(page)).to_have_count(one)
    page.reload()
    expect(page.get_by_role("searchbox", name=FILTER)).to_have_value("go")
    expect(rows(page)).to_have_count(one)
    page.get_by_role("searchbox", name=FILTER).fill("no session has this")
    expect(page.get_by_text("0 sessions found")).to_be_visible()
    expect(rows(page)).to_have_count(0)


def test_what_was_said_is_found_and_led_to(kept: Served, visit: Visits) -> None:
    page = visit(kept).page
    page.get_by_role("searchbox", name=FILTER).fill("tick")
    page.get_by_role("searchbox", name=FILTER).press("Enter")
    expect(page.get_by_role("heading", name="Search")).to_be_attached()
    hits = page.get_by_role("main").get_by_role("listitem")
    expect(page.get_by_text(re.compile(r"^\d+ found"))).to_be_visible()
    for hit in hits.all():
        assert {mark.lower() for mark in hit.locator("mark").all_text_contents()} == {"tick"}
    hits.filter(has_text="echo tick $i").get_by_role("link").click()
    main = session(page, "go")
    place = main.get_by_role("group", name="Tool shell").filter(has_text="echo tick $i")
    expect(place).to_be_focused()
    expect(place).to_be_in_viewport()
    page.go_back()
    expect(hits.first).to_be_visible()
    expect(page.get_by_role("searchbox", name="Search in all that was said")).to_have_value("tick")


def test_a_search_is_narrowed_down(kept: Served, visit: Visits) -> None:
    page = visit(kept, "#/search?text=done").page
    hits = page.get_by_role("main").get_by_role("listitem")
    page.get_by_role("combobox", name="Where").select_option("answers")
    page.get_by_role("searchbox", name="agent").fill("claude")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(re.compile("role=assistant"))
    expect(hits.first).to_be_visible()
    found = kept.client.get("search", text="done", role="assistant", agent="claude")["hits"]
    expect(hits).to_have_count(len(found))
    page.get_by_role("searchbox", name="Search in all that was said").fill("nobody said this")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("Nothing was found.")).to_be_visible()


def test_a_session_is_named_and_pinned(kept: Served, visit: Visits, size: str) -> None:
    row = kept.session("/home/dev/work/compact")
    page = visit(kept, f"#/session/{row['id']}").page
    main, name = session(page, row["title"]), f"A good one, on a {size}"
    main.get_by_role("button", name="Rename").click()
    page.get_by_role("dialog").get_by_role("textbox").fill(name)
    page.get_by_role("button", name="Keep this name").click()
    expect(main.get_by_role("heading", level=1, name=name)).to_be_visible()
    expect(page).to_have_title(re.compile(re.escape(name)))
    main.get_by_role("button", name="Pin").click()
    expect(main.get_by_role("heading", level=1).get_by_role("img", name="Pinned")).to_be_visible()
    page.get_by_role("link", name="Sessions").click()
    expect(rows(page).first).to_contain_text(name)
    expect(rows(page).first.get_by_role("img", name="Pinned")).to_be_visible()
    rows(page).first.get_by_role("link").click()
    session(page, name).get_by_role("button", name="Unpin").click()
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_visible()
    kept.client.post(f"sessions/{row['id']}/label", name="")


@desktop
def test_it_is_used_by_keys_alone(kept: Served, visit: Visits) -> None:
    page = visit(kept).page
    keys, links = page.keyboard, rows(page).get_by_role("link")
    expect(links.first).to_be_visible()
    keys.press("/")
    expect(page.get_by_role("searchbox", name=FILTER)).to_be_focused()
    keys.type("jk?")
    expect(page.get_by_role("searchbox", name=FILTER)).to_have_value("jk?")
    page.get_by_role("searchbox", name=FILTER).fill("go")
    expect(page.get_by_text(re.compile(r"\d+ sessions found"))).to_be_visible()
    keys.press("Escape")
    for key, at in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        keys.press(key)
        expect(links.nth(at)).to_be_focused()
    there = links.nth(1).get_attribute("href") or ""
    keys.press("Enter")
    expect(page).to_have_url(re.compile(re.escape(there)))
    session(page, re.compile("go"))
    keys.press("Escape")
    expect(links.first).to_be_visible()
    keys.press("u")
    expect(page.get_by_role("heading", name="Usage")).to_be_visible()
    keys.press("c")
    expect(page.get_by_role("dialog", name="New session")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    keys.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("the next or the previous turn")
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

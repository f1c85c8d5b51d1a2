"""Sessions that other programs drive: found, watched and answered on the page, and told at the terminal where they run."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visits, desktop
from tests.browser.parts import block, card, name_of, rows, say, session, turn
from tests.browser.serving import PATIENCE, Served
from tests.cli.screen import Screen

RUN = "claude wants to run a command"


def at_terminal(server: Served, folder: Path, prompt: str, *options: str) -> Screen:
    """`dragoman run` at a terminal, in the home of a server's."""
    args = ("run", "claude", prompt, "--cwd", folder, *options)
    return Screen(*args, columns=200, home=server.home, env=server.env)


def found(page: Page, prompt: str) -> None:
    """Open it from the list, as soon as it stands there."""
    rows(page, "Running now").filter(has_text=prompt).get_by_role("link").click()
    session(page, prompt)


def test_a_run_at_a_terminal_is_answered_on_the_page(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    prompt = f"make {folder.name}"
    screen = at_terminal(live, folder, prompt)
    screen.wait_for_question()
    found(page, prompt)
    expect(
        page.get_by_role("main").get_by_text(f"driven elsewhere, pid {screen.process.pid}")
    ).to_be_visible()
    expect(block(page, "Prompt", prompt)).to_be_visible()
    expect(card(page, RUN)).to_contain_text("make all")
    card(page, RUN).get_by_role("button", name="yes, this once").click()
    assert screen.finish() == 0
    assert f"allowed by {name_of(page)}" in "\n".join(screen.rows)
    expect(block(page, "Answer", "Made.")).to_be_visible()
    expect(page.get_by_text("This run is over and kept.")).to_be_visible()
    expect(block(page, "Permission")).to_contain_text(f"allowed by {name_of(page)}")


def test_what_was_answered_at_the_terminal_is_asked_no_more(
    live: Served, folder: Path, visit: Visits
) -> None:
    page = visit(live).page
    prompt = f"make {folder.name}"
    screen = at_terminal(live, folder, prompt)
    screen.wait_for_question()
    found(page, prompt)
    expect(card(page, RUN)).to_be_visible()
    screen.answer("n")
    assert screen.finish() == 0
    expect(card(page, RUN)).to_have_count(0)
    expect(page.get_by_role("region", name="What waits for you")).to_contain_text(f"{RUN}: denied by")
    expect(block(page, "Answer", "Not made.")).to_be_visible()


def test_it_is_steered_and_interrupted(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    prompt = f"wait for {folder.name}"
    screen = at_terminal(live, folder, prompt)
    screen.wait_for("I wait.")
    found(page, prompt)
    expect(block(page, "Answer", "I wait.")).to_be_visible()
    say(page, "wait on", "Queue")
    say(page, "Turn left.", "Steer")
    expect(block(turn(page, 1), "Answer", "I was told: Turn left.")).to_be_visible()
    screen.wait_for("I was told: Turn left.")
    expect(block(turn(page, 2), "Answer", "I wait.")).to_be_visible()
    page.get_by_role("button", name="Interrupt").click()
    expect(turn(page, 2)).to_contain_text("cancelled")
    screen.finish()


@desktop
def test_one_that_is_killed_is_over(live: Served, folder: Path, visit: Visits) -> None:
    page = visit(live).page
    prompt = f"make {folder.name}"
    screen = at_terminal(live, folder, prompt)
    screen.wait_for_question()
    found(page, prompt)
    expect(card(page, RUN)).to_be_visible()
    screen.process.kill()
    screen.finish()
    expect(card(page, RUN)).to_have_count(0)
    expect(page.get_by_text("This run is over and kept.")).to_be_visible()


@contextmanager
def without_terminal(
    server: Served, folder: Path, prompt: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`dragoman run --web`, and the link that it tells."""
    command = [sys.executable, "-m", "dragoman", "run", "claude", prompt, "--cwd", str(folder), "--web"]
    with subprocess.Popen(
        command, env=server.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        try:
            line = run.stdout.readline()
            yield run, line[line.index("http://127.0.0.1:") :].strip()
        finally:
            run.kill()


@desktop
def test_a_run_has_a_page_of_its_own(live: Served, folder: Path, visit: Visits) -> None:
    """Also where there is no terminal: then it is asked there alone."""
    with without_terminal(live, folder, "make it") as (run, link):
        page = visit(live, link=link).page
        session(page, "make it")
        card(page, RUN).get_by_role("button", name="yes, this once").click()
        expect(block(page, "Answer", "Made.")).to_be_visible()
        expect(page.get_by_text("This run is over and kept.")).to_be_visible()
        page.context.close()
        assert run.wait(PATIENCE) == 0


@desktop
def test_closing_its_page_changes_nothing_and_a_signal_ends_it(
    live: Served, folder: Path, visit: Visits
) -> None:
    with without_terminal(live, folder, "make it") as (run, link):
        page = visit(live, link=link).page
        expect(card(page, RUN)).to_be_visible()
        page.context.close()
        other = visit(live).page
        rows(other, "Running now").filter(has_text=str(folder.name)).get_by_role("link").click()
        expect(card(other, RUN)).to_be_visible()
        run.send_signal(signal.SIGINT)
        expect(card(other, RUN)).to_have_count(0)
        expect(turn(other, 1)).to_contain_text("cancelled")
        assert run.wait(PATIENCE) == 130

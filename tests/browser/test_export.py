"""The exported page in a real browser: it asks for nothing, runs nothing of the session's, and works."""

from pathlib import Path

import pytest

from dragoman._exports.html import About, page
from dragoman._model import events as ev
from dragoman._model.content import ImageBlock
from dragoman._model.events import Event
from tests.browser.conftest import Opened

EVIL = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)><iframe src=//evil.example></iframe>"
    "<style>body{display:none}</style></style><base href=//evil.example>&lt;b&gt; \u202e\x1b[31m"
)
MARKDOWN = (
    f"# A heading\n\n{EVIL}\n\n![beacon](https://evil.example/x.png) [bad](javascript:alert(3)) [data](data:text/html,x)"
    " [good](https://example.com/a)\n\n```html\n<script>alert(4)</script>\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
)


def story(text: str = EVIL, answer: str = MARKDOWN) -> list[Event]:
    return [
        ev.SessionStarted(agent="claude", cwd="/repo"),
        ev.TurnStarted(turn=1, prompt=text, agent_time="2026-11-15T20:29:02Z"),
        ev.Message(
            role="user", text=text, blocks=[ImageBlock(mime_type='image/png" onload="alert(5)', data="x")]
        ),
        ev.Message(role="assistant", kind="thinking", text=f"a thought {text}"),
        ev.Message(role="assistant", text=answer),
        ev.ToolStarted(call_id="1", name=text, title=text, kind="edit", input={text: text, "n": 1}),
        ev.PermissionRequested(request_id="p", call_id="1", title=text),
        ev.PermissionResolved(request_id="p", outcome="denied", by="policy", rule=text),
        ev.FileChanged(
            path=f"/repo/{text}", change="modified", diff=f"@@ -1 +1 @@\n-{text}\n+new", call_id="1"
        ),
        ev.ToolEnded(call_id="1", status="failed", output=text, exit_code=2),
        ev.ToolStarted(call_id="2", name="Bash", title="never ends"),
        ev.PlanUpdated(entries=[ev.PlanEntry(text=text)]),
        ev.Error(message=text),
        ev.Notice(message=text),
        ev.TurnEnded(turn=1, outcome="failed", reason=text, error=ev.ErrorInfo(message=text)),
    ]


def written(path: Path, events: list[Event]) -> Path:
    path.write_text("".join(page(About(title=EVIL, facts=[EVIL]), events, redacted=True)), encoding="utf-8")
    return path


def test_whatever_stands_in_it_is_inert(tmp_path: Path, opened: Opened) -> None:
    file = written(tmp_path / "s.html", story())
    seen = opened.file(file).page
    seen.get_by_role("button", name="Unfold all").click()
    seen.wait_for_load_state("networkidle")
    assert opened.requests == [file.as_uri()]
    assert opened.complaints == []
    assert seen.locator("script").count() == 1
    assert seen.locator("iframe, base, img, main style").count() == 0
    assert "<script>alert(1)</script>" in seen.locator("header h1").inner_text()
    assert "\\u202e" in seen.locator("header h1").inner_text()
    links = seen.locator("main a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert links == ["https://example.com/a"]
    assert "[image: beacon https://evil.example/x.png]" in seen.locator("main").inner_text()


def test_it_says_that_secrets_were_taken_out(tmp_path: Path, opened: Opened) -> None:
    seen = opened.file(written(tmp_path / "s.html", story())).page
    assert "replaced by [redacted]" in seen.locator("header .note").inner_text()


def test_kinds_are_shown_or_not_and_words_found(tmp_path: Path, opened: Opened) -> None:
    seen = opened.file(written(tmp_path / "s.html", story("a question", "an answer of **weight**"))).page
    assert seen.locator(".k-answer strong").inner_text() == "weight"
    seen.get_by_label("Answers").uncheck()
    assert not seen.locator(".k-answer").is_visible()
    seen.get_by_label("Answers").check()
    seen.get_by_label("Find in this session").fill("Weight")
    seen.locator(".k-user.unmatched").wait_for(state="attached")
    assert seen.locator(".k-answer").is_visible()
    assert not seen.locator(".k-user").is_visible()


def test_nothing_is_wider_than_the_screen(tmp_path: Path, opened: Opened) -> None:
    seen = opened.file(
        written(tmp_path / "s.html", story("x" * 5_000, "y" * 5_000 + "\n\n`" + "z" * 5_000 + "`"))
    ).page
    seen.get_by_role("button", name="Unfold all").click()
    assert seen.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("megabytes", [20])
def test_a_large_session_stays_usable(megabytes: int, tmp_path: Path, opened: Opened) -> None:
    """It is there, can be searched and scrolled to its end."""
    output = "\n".join(f"{n} some output of a tool, as they are" for n in range(2_600))
    events: list[Event] = [ev.SessionStarted(cwd="/repo")]
    for n in range(megabytes * 10):
        events += [
            ev.TurnStarted(turn=n + 1),
            ev.Message(role="user", text=f"prompt number {n}"),
            ev.ToolStarted(call_id=str(n), name="Bash", title="make"),
            ev.ToolEnded(call_id=str(n), status="completed", output=output),
            ev.Message(role="assistant", text=f"answer number {n}"),
        ]
    file = written(tmp_path / "large.html", events)
    assert file.stat().st_size > megabytes * 1_000_000
    seen = opened.file(file).page
    last = seen.locator(f"#turn-{megabytes * 10}")
    last.scroll_into_view_if_needed()
    assert last.get_by_text(f"answer number {megabytes * 10 - 1}").is_visible()
    seen.get_by_label("Find in this session").fill("answer number 7")
    seen.locator("#turn-1.unmatched").wait_for(state="attached")
    assert opened.complaints == []

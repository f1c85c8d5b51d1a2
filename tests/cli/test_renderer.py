"""How a run looks, on a terminal and in a pipe."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dragoman._cli.terminal.console import Pen
from dragoman._cli.terminal.renderer import Renderer
from dragoman._model import events as ev
from dragoman._model.usage import Usage
from tests.cli.canned_streams import RUN

PLAIN = """\
2.1.197 · opus · /home/dev/shop · session 8244722d

> Fix the login bug

Where is the login?

I'll look around.
Then fix it.

  ☑ Look
  ▶ Fix
  ☐ Test

● Read src/login.py
● Grep password
  └ Read src/login.py: 3 lines · 0.2 s
  └ Grep password: 1 line · 0.4 s
● Bash make test
  │ … 4 lines before this
  │ line 5
  │ line 6
  │ line 7
  │ line 8
  │ line 9
  │ \\x1b]0;owned\\x07\\x1b[31mboom\\x1b[0m
  └ failed · exit 2 · 1.5 s
● Edit src/login.py
  │ proposed: modified src/login.py
? May it: Edit src/login.py
  │ @@ -1,2 +1,2 @@
  │ -if user = None:
  │ +if user is None:
  │      return
  └ allowed by policy (edits)
  │ modified src/login.py
  └ 0.5 s
● Task Review the fix
  ↳ reviewer
  ● Read src/login.py
    └ 1 line · 0.1 s

  Looks good.
  └ Task Review the fix: 1.0 s
↻ retry 1 of 10 in 0.5 s: 529 overloaded

? Ship it? [yes / no]
  └ Ship it?: yes

Done.

✓ completed · tokens 12,345 in, 678 out · $0.0123 · 7.2 s
· 1 line of a kind this version does not know
"""


def screen(*, terminal: bool, width: int = 100) -> Console:
    return Console(
        file=io.StringIO(),
        force_terminal=terminal,
        color_system="standard" if terminal else None,
        width=width,
        highlight=False,
        markup=False,
        soft_wrap=True,
        record=True,
    )


def rendered(console: Console, events: list[ev.Event]) -> str:
    renderer = Renderer(console)
    for event in events:
        renderer.show(event)
    renderer.close()
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_plain_text_in_a_pipe() -> None:
    assert rendered(screen(terminal=False), RUN) == PLAIN


def test_a_pipe_is_never_wrapped() -> None:
    long = "word " * 100
    shown = rendered(screen(terminal=False), [ev.Message(role="assistant", text=long.strip())])
    assert shown == long.strip() + "\n"


def test_the_same_words_on_a_terminal() -> None:
    console = screen(terminal=True)
    rendered(console, RUN)
    text = [line.rstrip() for line in console.export_text(clear=False).splitlines() if not _spinner(line)]
    assert [line for line in text if line] == [line for line in PLAIN.splitlines() if line]


def _spinner(line: str) -> bool:
    return line[:1] in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" and bool(line)


def test_colours_on_a_terminal() -> None:
    shown = rendered(screen(terminal=True), RUN)
    assert "\x1b[32m+if user is None:" in shown
    assert "\x1b[31m-if user = None:" in shown
    assert "\x1b[2;3mWhere is \x1b[0m" in shown
    assert "\x1b]0;" not in shown
    assert shown.count("Then fix it.") == 1


def test_a_long_title_stays_on_one_line_of_a_terminal() -> None:
    event = ev.ToolStarted(call_id="t", name="Bash", kind="execute", title="x" * 150)
    shown = rendered(screen(terminal=True, width=60), [event])
    lines = [line for line in shown.replace("\r", "\n").split("\n") if "x" * 20 in line]
    assert all(line.count("x") < 60 for line in lines)
    assert lines


def test_history_is_one_line() -> None:
    played_back: list[ev.Event] = [
        ev.Message(role="user", text="old question", replay=True),
        ev.Message(role="assistant", text="old answer", replay=True),
    ]
    shown = rendered(screen(terminal=False), [*played_back, ev.Message(role="assistant", text="new")])
    assert "old" not in shown
    assert shown.count("played back") == 1
    assert shown.endswith("new\n")


def test_interleaved_blocks_begin_on_lines_of_their_own() -> None:
    deltas: list[ev.Event] = [
        ev.Delta(text="one", message_id="a", block=0),
        ev.Delta(kind="thinking", text="two", message_id="b", block=0),
    ]
    assert rendered(screen(terminal=False), deltas) == "one\n\ntwo\n"


def test_a_failed_turn_says_why() -> None:
    ended = ev.TurnEnded(
        outcome="failed", reason="api_error", error=ev.ErrorInfo(message="overloaded"), errors=["overloaded"]
    )
    assert rendered(screen(terminal=False), [ended]) == "overloaded\n✗ failed (api_error)\n"


def test_a_crash_shows_what_was_on_stderr() -> None:
    ended = ev.RunEnded(outcome="crashed", signal="SIGSEGV", stderr_tail="core dumped\n")
    shown = rendered(screen(terminal=False), [ended])
    assert shown == "✗ the run ended: crashed, SIGSEGV\n  stderr │ core dumped\n"


def test_gap_is_one_blank_line() -> None:
    console = screen(terminal=False)
    pen = Pen(console)
    pen.gap()
    pen.line("a")
    pen.gap()
    pen.gap()
    pen.stream("b\n\n")
    pen.gap()
    pen.line("c")
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "a\n\nb\n\nc\n"


def test_every_event_that_has_a_place_on_the_screen_can_be_shown_bare() -> None:
    """Only required fields given, the rest unknown: nothing may raise."""
    required = {
        "status": "x",
        "role": "assistant",
        "outcome": "completed",
        "call_id": "t",
        "name": "n",
        "path": "p",
        "change": "modified",
        "request_id": "r",
        "action": "accepted",
        "method": "m",
        "scope": "turn",
    }
    for cls in ev.EVENTS.values():
        renderer = Renderer(screen(terminal=True))
        given: dict[str, Any] = {
            key: value for key, value in required.items() if key in cls.__struct_fields__
        }
        if cls is ev.ToolEnded:
            given["status"] = "completed"
        if cls is ev.PermissionResolved:
            given["outcome"] = "allowed"
        renderer.show(cls(**given))
        renderer.close()


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [(["a\r", "\nb"], "a\nb\n"), (["a\r", "b"], "a\\rb\n"), (["a\r"], "a\\r\n"), (["\r", "\r\n"], "\\r\n")],
)
def test_a_newline_that_comes_in_two_pieces(pieces: list[str], shown: str) -> None:
    deltas: list[ev.Event] = [ev.Delta(text=text, message_id="m", block=0) for text in pieces]
    assert rendered(screen(terminal=False), deltas) == shown


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_rows_fit_also_where_the_terminal_lacks_letters(encoding: str) -> None:
    """What has no letter there is an escape, and takes more room."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="dragoman.plainer")
    Pen(Console(file=file, force_terminal=True, color_system=None, width=40, soft_wrap=True)).whole(
        "日本é 🎉 " * 20
    )
    file.flush()
    rows = file.buffer.getvalue().decode(encoding).splitlines()  # type: ignore[attr-defined]
    assert all(
        sum(1 if char.isascii() else 2 for char in row) <= 41 for row in rows
    )  # the margin's sign may be wide
    assert {row[:4] for row in rows} == ({"  │ ", "  ┆ "} if encoding == "utf-8" else {"  | ", "  : "})
    assert "".join(row[4:] for row in rows).count("日" if encoding == "utf-8" else "\\u65e5") == 20


@pytest.mark.parametrize(
    ("models", "cost", "says"),
    [
        (["claude-opus-5-5"], None, "~$4.0000"),
        (["claude-opus-5-5", "nobody-knows"], None, "at least ~$4.0000"),
        (["claude-opus-5-5"], 0.0123, "$0.0123"),
    ],
)
def test_what_a_turn_cost(models: list[str], cost: float | None, says: str) -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=0)
    calls = [ev.UsageUpdated(scope="call", model=model, usage=usage) for model in models]
    shown = rendered(screen(terminal=False), [*calls, ev.TurnEnded(outcome="completed", cost_usd=cost)])
    assert shown == f"✓ completed · {says}\n"


def test_prices_of_the_user_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "dragoman").mkdir()
    (tmp_path / "dragoman/prices.toml").write_text(
        '[[price]]\nmodels = ["claude-opus-5-5"]\ninput = 1\noutput = 1\n'
    )
    usage = Usage(input_tokens=1_000_000, output_tokens=0)
    call = ev.UsageUpdated(scope="call", model="claude-opus-5-5", usage=usage)
    assert "~$1.0000" in rendered(screen(terminal=False), [call, ev.TurnEnded(outcome="completed")])

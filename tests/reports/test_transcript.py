"""The transcript shows what was said and done, in order, and nothing in it can break out of its place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model import events as ev
from dragoman._model.content import ImageBlock, TextBlock
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._reports.markdown import code, excerpt, fenced, quoted, unified, visible
from dragoman._reports.phrases import PHRASES
from dragoman._reports.transcript import SILENT, WITH_PAGE, transcript

RUN: list[Event] = [
    ev.RunStarted(agent="claude", dialect="claude_stream", cwd="/repo", argv=["claude", "-p"], cli_version="2.1"),
    ev.SessionStarted(session="s", model="opus", cwd="/repo", tools=["Bash", "Read"], permission_mode="default"),
    ev.TurnStarted(turn=1, prompt="Fix the\nlogin"),
    ev.Message(role="user", text="Fix the\nlogin", origin="client"),
    ev.Message(role="assistant", kind="thinking", text="Look first."),
    ev.Delta(text="I will"),
    ev.Message(role="assistant", text="I will look.", message_id="m", block=0),
    ev.ToolStarted(call_id="c1", name="Task", kind="think", title="Look", input={"prompt": "look"}),
    ev.SubagentStarted(call_id="c1", agent_type="explorer", description="Look"),
    ev.ToolStarted(call_id="c2", name="Bash", kind="execute", input={"command": "ls\n-l", "timeout": 5}, parent="c1"),
    ev.PermissionRequested(request_id="r", call_id="c2", tool_name="Bash", reason="not read-only", parent="c1"),
    ev.PermissionResolved(request_id="r", outcome="allowed", by="policy", rule="ls is safe"),
    ev.ToolEnded(call_id="c2", status="completed", output="a\nb\n", exit_code=0, parent="c1"),
    ev.SubagentEnded(call_id="c1", status="completed", summary="Two files."),
    ev.ToolEnded(call_id="c1", status="completed", output="Two files."),
    ev.FileChanged(path="a.py", change="modified", before="x\ny\n", after="x\nz\n"),
    ev.PlanUpdated(entries=[ev.PlanEntry(text="look", status="completed"), ev.PlanEntry(text="fix")]),
    ev.Retry(attempt=1, max_attempts=10, reason="overloaded", status_code=529),
    ev.Error(message="Overloaded", code="529", will_retry=True),
    ev.Notice(severity="warning", message="Context is nearly full"),
    ev.ContextCompacted(before_tokens=90000, after_tokens=1200),
    ev.NativeUnknown(native_type="system/new", frame=9),
    ev.NativeInvalid(reason="not JSON", frame=10),
    ev.Message(role="assistant", text="Done."),
    ev.TurnEnded(
        turn=1, outcome="completed", reason="end_turn", text="Done.", cost_usd=0.0125, steps=2,
        usage=Usage(input_tokens=1200, cache_read_tokens=1000, output_tokens=34), duration_ms=1234.5,
    ),
    ev.RunEnded(outcome="completed", exit_code=0, cost_usd=0.0125),
]  # fmt: skip

PAGE = """\
# claude

- dialect: `claude_stream`
- version: `2.1`
- cwd: `/repo`
- command: `claude -p`

**Session started**

- session: `s`
- model: `opus`
- cwd: `/repo`
- permission mode: `default`
- tools: `2`

## Turn 1

**User**

> Fix the
> login

**Assistant · thinking**

> Look first.

**Assistant**

> I will look.

**Task** · think · `Look` · `c1`

- prompt: `look`

**Subagent** `c1` · explorer · Look

> **Bash** · execute · `c2`
>
> - command: `ls -l`
> - timeout: `5`

> **Permission asked** for Bash · not read-only · `c2`

> ↳ **allowed** by policy · rule ls is safe · `c2`

> ↳ **Bash** `c2` completed · exit 0
>
> ```
> a
> b
> ```

↳ **Subagent** `c1` completed

> Two files.

↳ **Task** `c1` completed

```
Two files.
```

**File modified** `a.py`

```diff
@@ -1,2 +1,2 @@
 x
-y
+z
```

**Plan**

- [x] look
- [ ] fix

**Retry** 1 of 10 · overloaded · status 529

**Error** · 529 · will retry · `Overloaded`

**Warning** · `Context is nearly full`

**Context compacted** · auto · 90,000 → 1,200 tokens

⚠ unknown: `system/new` (frame 9)

⚠ invalid: `not JSON` (frame 10)

**Assistant**

> Done.

**Turn 1 completed** · end_turn · 1,200 tokens in (1,000 cached), 34 out · $0.0125 · 2 steps

---

**Run completed** · exit 0 · $0.0125
"""


def test_a_whole_run() -> None:
    assert transcript(RUN) == PAGE


def test_every_event_is_shown_or_silent_on_purpose() -> None:
    shown = {*WITH_PAGE, *PHRASES}
    assert shown | SILENT == set(ev.EVENTS.values())
    assert not shown & SILENT


def page(*events: Event) -> str:
    return transcript(events)


def test_no_events_no_page() -> None:
    assert page() == ""


def test_a_message_that_replaces_another_is_shown_once_where_the_first_stood() -> None:
    first = ev.Message(role="assistant", text="draft", message_id="m", block=0)
    other = ev.Message(role="assistant", text="between", message_id="n", block=0)
    second = ev.Message(role="assistant", text="final", message_id="m", block=0)
    assert page(first, other, second) == "**Assistant**\n\n> final\n\n**Assistant**\n\n> between\n"


def test_messages_without_ids_replace_nothing() -> None:
    same = ev.Message(role="assistant", text="again")
    assert page(same, same).count("> again") == 2


def test_an_echo_is_shown_only_if_the_prompt_was_not() -> None:
    echo = ev.Message(role="user", text="go", echo=True, origin="agent")
    assert page(ev.TurnStarted(turn=1, prompt="go"), echo) == "## Turn 1\n\n**User**\n\n> go\n"
    assert page(ev.TurnStarted(turn=1), echo) == "## Turn 1\n\n**User · echo**\n\n> go\n"


def test_what_the_user_says_twice_is_shown_twice() -> None:
    said = ev.Message(role="user", text="go", origin="agent")
    assert page(ev.TurnStarted(turn=1, prompt="go"), said).count("> go") == 1
    assert page(ev.TurnStarted(turn=1, prompt="go"), said, said).count("> go") == 2


def test_the_final_answer_is_shown_only_if_nobody_said_it() -> None:
    said = ev.Message(role="assistant", text="42")
    assert "Final answer" not in page(said, ev.TurnEnded(outcome="completed", text="42"))
    assert "**Final answer**\n\n> 42" in page(ev.TurnEnded(outcome="completed", text="42"))


def test_how_a_turn_failed_is_told() -> None:
    shown = page(
        ev.TurnEnded(
            turn=3, outcome="failed", reason="api_error", error=ev.ErrorInfo(message="boom", code="500"),
            errors=["first"], denials=[ev.Denial(tool_name="Bash", call_id="c")], synthesized=True,
        )
    )  # fmt: skip
    assert shown == (
        "**Turn 3 failed** (inferred) · api_error\n\nError: `500 · boom`\n\nError: `first`\n\nDenied: Bash · `c`\n"
    )


def test_a_tool_that_said_nothing_at_its_end_shows_what_it_said_before() -> None:
    shown = page(
        ev.ToolStarted(call_id="c", name="shell"),
        ev.ToolUpdated(call_id="c", output="half"),
        ev.ToolUpdated(
            call_id="c", content=[TextBlock(text="whole"), ImageBlock(mime_type="image/png", data="AAAA")]
        ),
        ev.ToolEnded(call_id="c", status="completed"),
    )
    assert "half" not in shown
    assert shown.endswith("```\nwhole\n[image image/png, 4 characters of base64]\n```\n")


def test_late_output_is_shown() -> None:
    shown = page(ev.ToolUpdated(call_id="c", output="more", late=True))
    assert shown == "… **tool** `c` · after its end\n\n```\nmore\n```\n"


def test_history_is_set_apart() -> None:
    old = ev.Message(role="assistant", text="old", replay=True)
    new = ev.Message(role="assistant", text="new")
    history, rest = page(old, new).split("*— end of history —*")
    assert history.startswith("*— history, played back —*")
    assert "old" in history
    assert "new" in rest


def test_a_second_session_is_named() -> None:
    shown = page(ev.TurnStarted(turn=1, session="a"), ev.TurnStarted(turn=2, session="b"))
    assert shown == "## Turn 1\n\n## Turn 2 of session `b`\n"


def test_long_output_is_shortened_with_a_count() -> None:
    rows = [f"row {n}" for n in range(1, 1001)]
    shown = excerpt("\n".join(rows)).split("\n")
    assert shown[0] == "row 1"
    assert shown[-1] == "row 1000"
    assert "… 970 lines left out …" in shown
    assert len(shown) == 31
    assert excerpt("x" * 500) == "x" * 400 + "… (100 more characters)"


def test_control_characters_are_shown_not_obeyed() -> None:
    assert visible("\x1b[31mred\x07\x7f\x85") == "␛[31mred␇\\x7f\\x85"
    assert "\x1b" not in page(ev.ToolEnded(call_id="\x1b[2J", status="failed", output="\x1b[2J"))


def test_long_texts_are_not_compared() -> None:
    assert unified("a\n" * 3000, "b\n" * 3000) == "… 3,000 lines before, 3,000 after …"
    assert unified(None, "a") == "@@ -0,0 +1 @@\n+a"


@pytest.mark.parametrize("text", ["a`b", "``", "```\n# not a heading\n```", ""])
def test_code_and_fences_hold_any_backticks(text: str) -> None:
    inline = code(text)
    ticks = len(inline) - len(inline.lstrip("`"))
    assert "`" * ticks not in inline[ticks:-ticks]
    assert "\n" not in inline
    fence = fenced(text).split("\n")[0]
    assert fence not in text


texts = st.text() | st.sampled_from(
    ["\n## Turn 9\n", "```\n", "\r\n\x1b[2J", "\ud83d", "`` ` ```", "\u2028\x85"]
)


@given(texts)
def test_speech_stays_in_its_quote(text: str) -> None:
    shown = page(ev.Message(role="assistant", text=text))
    shown.encode()
    label, blank, *rest = shown.removesuffix("\n").split("\n")
    assert (label, blank) == ("**Assistant**", "")
    assert all(row.startswith(">") for row in rest)


@given(
    texts, texts, st.recursive(st.none() | texts | st.integers(), lambda inner: st.dictionaries(texts, inner))
)
def test_anything_can_be_shown_and_only_runs_and_turns_have_headings(
    text: str, name: str, value: Any
) -> None:
    shown = page(
        ev.ToolStarted(call_id=name, name=name, title=text, input=value),
        ev.PermissionRequested(
            request_id=name, tool_name=name, title=text, reason=text, input=value, call_id=text
        ),
        ev.PermissionResolved(request_id=name, outcome="denied", message=text, updated_input=value),
        ev.ToolEnded(call_id=name, status="failed", error=ev.ErrorInfo(message=text)),
        ev.QuestionAsked(request_id=name, message=text, questions=[value]),
        ev.QuestionAnswered(request_id=name, action="accepted", answers=value),
        ev.HostCalled(request_id=name, method=text, params=value),
        ev.HostAnswered(request_id=name, result=value),
        ev.Notice(message=text, code=name),
        ev.Error(message=text, code=name),
        ev.Hook(name=name, event=text, phase=name),
        ev.Retry(reason=text, discards=[name]),
        ev.NativeUnknown(native_type=text),
        ev.NativeInvalid(reason=text),
        ev.PlanUpdated(entries=[ev.PlanEntry(text=text)]),
        ev.SessionUpdated(title=text, model=name),
    )
    shown.encode()
    assert not any(row.startswith("#") for row in shown.split("\n"))


def test_quotes_keep_blank_lines() -> None:
    assert quoted("a\n\nb") == "> a\n>\n> b"

"""What another agent is told of a session: all of it that fits, and what did not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._reports.handover import LEAST, LETTERS, handover


def said(role: ev.Role, text: str, **more: object) -> ev.Message:
    return ev.Message(role=role, text=text, agent="claude", **more)  # type: ignore[arg-type]


def ran(call_id: str, line: str, output: str, exit_code: int) -> list[Event]:
    return [
        ev.ToolStarted(call_id=call_id, name="Bash", kind="execute", title=line),
        ev.ToolEnded(call_id=call_id, status="completed", output=output, exit_code=exit_code),
    ]


STORY: list[Event] = [
    ev.SessionStarted(agent="claude", model="opus", cwd="/repo"),
    said("user", "Fix the login.\nIt fails for `ü`."),
    ev.PlanUpdated(
        entries=[
            ev.PlanEntry(text="find it", status="completed"),
            ev.PlanEntry(text="mend\nit", status="in_progress"),
        ]
    ),
    *ran("1", "pytest -q", "\n".join(f"line {n}" for n in range(50)), 1),
    ev.PermissionRequested(request_id="p", tool_name="Bash", title="rm -rf build"),
    ev.PermissionResolved(request_id="p", outcome="denied"),
    ev.FileChanged(path="/repo/a.py", change="modified", diff="@@ -1 +1 @@\n-x = 1\n+x = 2\n"),
    ev.FileChanged(path="/repo/b.py", change="created", diff="+y\n", phase="proposed"),
    said("assistant", "It was the encoding."),
    said("assistant", "a thought", kind="thinking"),
    said("assistant", "what its subagent said", parent="1"),
    ev.TurnEnded(outcome="cancelled"),
]


def test_everything_that_matters_is_told() -> None:
    told = handover(STORY)
    assert told.left_out == []
    for part in (
        "(claude with opus)",
        "`/repo`",
        "> Fix the login.\n> It fails for `ü`.",
        "- [x] find it\n- [~] mend it",
        "- rm -rf build",
        "- modified `/repo/a.py`",
        "```diff\n@@ -1 +1 @@\n-x = 1\n+x = 2\n```",
        "- `pytest -q` (completed, exit 1)",
        "line 49",
        "> It was the encoding.",
        "Its last turn: cancelled.",
    ):
        assert part in told.text
    for part in ("line 41", "b.py", "a thought", "its subagent"):
        assert part not in told.text


def test_what_did_not_fit_is_named() -> None:
    many = [event for n in range(400) for event in ran(str(n), f"make step-{n}", "ok " * 30, 0)]
    told = handover([*STORY, *many], tokens=1_000)
    assert "make step-399" in told.text
    assert "make step-1`" not in told.text
    assert any("earlier commands" in part for part in told.left_out)


def test_a_request_that_is_too_long_keeps_its_beginning() -> None:
    told = handover([said("user", "first words " + "x" * 100_000)], tokens=600)
    assert "first words" in told.text
    assert told.left_out[0] == "the end of the first request"


TEXT = st.text(max_size=3_000)


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXT), max_size=30),
    st.lists(TEXT, max_size=10),
    st.integers(LEAST, 4_000),
)
def test_it_keeps_within_its_tokens(talk: list[tuple[ev.Role, str]], diffs: list[str], tokens: int) -> None:
    changed: list[Event] = [
        ev.FileChanged(path=f"/f{n}", change="modified", diff=diff) for n, diff in enumerate(diffs)
    ]
    told = handover([*(said(role, text) for role, text in talk), *changed], tokens)
    assert len(told.text) <= tokens * LETTERS


@pytest.mark.parametrize("tokens", [0, -5, 10])
def test_of_too_few_tokens_the_least_is_told(tokens: int) -> None:
    assert len(handover(STORY, tokens).text) <= LEAST * LETTERS

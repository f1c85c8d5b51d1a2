"""A run as events, with a bit of everything that is shown to a person."""

from dragoman._model import events as ev
from dragoman._model.usage import Usage

RUN: list[ev.Event] = [
    ev.RunStarted(argv=["claude"]),
    ev.SessionStarted(session="8244722d-e051", model="opus", cwd="/home/dev/shop", cli_version="2.1.197"),
    ev.TurnStarted(prompt="Fix the login bug"),
    ev.Message(role="user", text="Fix the login bug", origin="client"),
    ev.Message(role="user", text="Fix the login bug", echo=True),
    ev.Delta(kind="thinking", text="Where is ", message_id="m1", block=0),
    ev.Delta(kind="thinking", text="the login?", message_id="m1", block=0),
    ev.Message(role="assistant", kind="thinking", text="Where is the login?", message_id="m1", block=0),
    ev.Delta(text="I'll look ", message_id="m1", block=1),
    ev.Delta(text="around.\nThen fix it.", message_id="m1", block=1),
    ev.Message(role="assistant", text="I'll look around.\nThen fix it.", message_id="m1", block=1),
    ev.PlanUpdated(
        entries=[
            ev.PlanEntry(text="Look", status="completed"),
            ev.PlanEntry(text="Fix", status="in_progress"),
            ev.PlanEntry(text="Test"),
        ]
    ),
    ev.ToolStarted(call_id="t1", name="Read", kind="read", title="src/login.py", at=1.0),
    ev.ToolStarted(call_id="t2", name="Grep", kind="search", title="password", at=1.1),
    ev.ToolEnded(call_id="t1", status="completed", output="a\nb\nc", at=1.25),
    ev.ToolEnded(call_id="t2", status="completed", output="one", at=1.5),
    ev.ToolStarted(call_id="t3", name="Bash", kind="execute", title="make test", at=2.0),
    ev.ToolEnded(
        call_id="t3",
        status="failed",
        output="\n".join(f"line {n}" for n in range(1, 10)) + "\n\x1b]0;owned\x07\x1b[31mboom\x1b[0m",
        exit_code=2,
        duration_ms=1500,
    ),
    ev.ToolStarted(call_id="t4", name="Edit", kind="edit", title="src/login.py", at=4.0),
    ev.FileChanged(
        path="src/login.py",
        change="modified",
        diff="--- a/src/login.py\n+++ b/src/login.py\n@@ -1,2 +1,2 @@\n-if user = None:\n+if user is None:\n     return\n",
        call_id="t4",
        phase="proposed",
    ),
    ev.PermissionRequested(
        request_id="p1", call_id="t4", tool_name="Edit", kind="edit", input={"file_path": "src/login.py"}
    ),
    ev.PermissionResolved(request_id="p1", outcome="allowed", by="policy", rule="edits"),
    ev.FileChanged(
        path="src/login.py", change="modified", diff="@@ -1 +1 @@\n-if user = None:\n", call_id="t4"
    ),
    ev.ToolEnded(call_id="t4", status="completed", at=4.5),
    ev.ToolStarted(call_id="t5", name="Task", kind="think", title="Review the fix", at=5.0),
    ev.SubagentStarted(call_id="t5", agent_type="reviewer", description="Review the fix"),
    ev.Message(role="user", text="Review this", parent="t5"),
    ev.ToolStarted(call_id="t6", name="Read", kind="read", title="src/login.py", parent="t5", at=5.1),
    ev.ToolEnded(call_id="t6", status="completed", output="x", parent="t5", at=5.2),
    ev.Message(role="assistant", text="Looks good.", message_id="s1", block=0, parent="t5"),
    ev.ToolEnded(call_id="t5", status="completed", output="Looks good.", at=6.0),
    ev.Retry(attempt=1, max_attempts=10, delay_ms=500, reason="overloaded", status_code=529),
    ev.QuestionAsked(
        request_id="q1", questions=[{"question": "Ship it?", "options": [{"label": "yes"}, {"label": "no"}]}]
    ),
    ev.QuestionAnswered(request_id="q1", action="accepted", answers={"Ship it?": "yes"}),
    ev.Message(role="assistant", text="Done.", message_id="m2", block=0),
    ev.NativeUnknown(native_type="system/new_thing"),
    ev.TurnEnded(
        outcome="completed",
        usage=Usage(input_tokens=12345, output_tokens=678),
        cost_usd=0.01234,
        duration_ms=7250,
    ),
    ev.RunEnded(outcome="completed", exit_code=0),
]

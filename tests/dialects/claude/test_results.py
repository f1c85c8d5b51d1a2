import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._dialects.claude.shared.results import (
    TaskPlan,
    change_of,
    exit_code,
    file_change,
    in_background,
    notification_of,
)
from dragoman._model.events import PlanEntry

HUNK = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}


def test_an_edit() -> None:
    change = file_change("c", {"filePath": "/f", "structuredPatch": [HUNK], "originalFile": "a\n"})
    assert change is not None
    assert (change.path, change.change, change.call_id) == ("/f", "modified", "c")
    assert change.diff == "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"


def test_a_new_file_has_no_hunks() -> None:
    change = file_change("c", {"type": "create", "filePath": "/f", "content": "x\n", "structuredPatch": []})
    assert change is not None
    assert (change.change, change.diff) == ("created", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n")


def test_a_notebook() -> None:
    result = {"notebook_path": "/n", "original_file": "a\n", "updated_file": "b\n"}
    change = file_change("c", result)
    assert change is not None
    assert change.diff == "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    "result", [None, "Error: x", [], {}, {"filePath": "/f"}, {"file": {"filePath": "/f"}}]
)
def test_other_results_change_no_file(result: object) -> None:
    assert file_change("c", result) is None


def test_without_structure_the_input_tells() -> None:
    edit = {"file_path": "/f", "old_string": "a\n", "new_string": "b\n"}
    change = change_of("c", edit, None, "The file /f has been updated", failed=False)
    assert change is not None
    assert (change.change, change.phase) == ("modified", "applied")
    assert change.diff == "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
    write = {"file_path": "/f", "content": "x\n"}
    change = change_of("c", write, None, "File created successfully at: /f", failed=False)
    assert change is not None
    assert (change.change, (change.diff or "")[:13]) == ("created", "--- /dev/null")
    change = change_of("c", edit, "Error: no such text", "no such text", failed=True)
    assert change is not None
    assert (change.phase, change.diff) == ("failed", None)
    assert change_of("c", {"path": "/f"}, None, "", failed=False) is None


def test_background() -> None:
    assert in_background(None, "Async agent launched successfully. (…)")
    assert not in_background("x", "Async agent launched successfully. (…)")
    assert in_background({"backgroundTaskId": "b1", "stdout": ""})
    assert in_background({"status": "async_launched", "agentId": "a"})
    assert not in_background({"status": "completed", "agentId": "a"})


def test_exit_codes() -> None:
    assert exit_code("Exit code 3\nout") == 3
    assert exit_code("Error: Exit code 137") == 137
    assert exit_code("it said: Exit code 3") is None


def test_notifications() -> None:
    text = (
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n"
        '<status>failed</status>\n<summary>Command "x" failed (exit code 2)</summary>\n</task-notification>'
    )
    note = notification_of(text)
    assert note is not None
    assert (note.task_id, note.call_id, note.status, note.exit_code) == ("b1", "toolu_1", "failed", 2)
    assert notification_of("what is a <task-notification>?") is None


def test_a_plan_grows_and_changes() -> None:
    plan = TaskPlan()
    first = plan.on_tool_result("TaskCreate", {"subject": "A"}, {"task": {"id": "1", "subject": "A"}})
    assert first == [PlanEntry(text="A")]
    assert plan.on_tool_result("TaskCreate", {"subject": "B"}, {"task": {"id": "2"}}) == [
        PlanEntry(text="A"),
        PlanEntry(text="B"),
    ]
    done = {"taskId": "1", "status": "completed"}
    assert plan.on_tool_result("TaskUpdate", done, {"success": True, "taskId": "1"}) == [
        PlanEntry(text="A", status="completed"),
        PlanEntry(text="B"),
    ]
    assert first == [PlanEntry(text="A")], "a list that was handed out stays as it was"
    assert plan.on_tool_result("TaskUpdate", done, {"success": True, "taskId": "1"}) is None, (
        "nothing changed"
    )
    assert plan.on_tool_result("TaskUpdate", {"status": "deleted"}, {"success": True, "taskId": "1"}) == [
        PlanEntry(text="B")
    ]
    assert plan.on_tool_result("TodoWrite", {"todos": [{"content": "C", "status": "odd"}]}, None) == [
        PlanEntry(text="C")
    ]
    assert plan.on_tool_result("Bash", {}, {}) is None


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "filePath",
                    "structuredPatch",
                    "task",
                    "tasks",
                    "taskId",
                    "success",
                    "todos",
                    "id",
                    "subject",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
)


@given(st.sampled_from(["TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"]), JSON, JSON)
def test_any_result_is_taken(name: str, input: object, result: object) -> None:
    file_change("c", result)
    in_background(result)
    TaskPlan().on_tool_result(name, input, result)

"""What the tools of all agents are called, and what they do: one table, so that no two dialects disagree."""

import re
from functools import lru_cache
from typing import Any, Final

from dragoman._model.events import Location, ToolKind, ToolStarted

_NAMES: Final[dict[ToolKind, str]] = {
    "execute": (
        "Bash BashOutput KillBash KillShell TaskOutput AgentOutputTool TaskStop Monitor PowerShell REPL "
        "shell local_shell shell_command container.exec exec exec_command write_stdin unified_exec run_shell_command ShellTool run_command "
        "bash read_bash write_bash stop_bash list_bash"
    ),
    "read": (
        "Read NotebookRead ReadMcpResource ReadMcpResourceTool ReadMcpResourceDir "
        "view_image read_file read_many_files ReadFileTool ReadManyFilesTool "
        "read_mcp_resource list_background_processes read_background_output view"
    ),
    "edit": (
        "Write Edit MultiEdit NotebookEdit apply_patch write_file replace edit_file WriteFileTool EditTool "
        "create edit"
    ),
    "search": (
        "Glob Grep LS ToolSearch ListMcpResources ListMcpResourcesTool "
        "glob grep grep_search search_file_content list_directory list_mcp_resources "
        "list_dir find_files search_files LSTool GlobTool GrepTool LSP"
    ),
    "fetch": "WebFetch web_fetch WebFetchTool",
    "browse": "WebSearch web_search google_web_search google_search WebSearchTool",
    "think": (
        "Task Agent SendMessage spawn_agent send_input wait wait_agent resume_agent close_agent "
        "send_message followup_task interrupt_agent list_agents "
        "invoke_agent update_topic get_internal_docs task agent read_agent write_agent"
    ),
    "ask": "AskUserQuestion request_user_input ask_user ask_user_question",
    "memory": (
        "TodoRead TodoWrite TaskCreate TaskUpdate TaskList TaskGet "
        "update_plan write_todos todo_write save_memory MemoryTool WriteTodosTool "
        "tracker_create_task tracker_update_task tracker_get_task tracker_list_tasks"
    ),
    "switch_mode": (
        "EnterPlanMode ExitPlanMode EnterWorktree ExitWorktree enter_plan_mode exit_plan_mode exit_plan"
    ),
}

KINDS: Final[dict[str, ToolKind]] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
"""Native tool name to kind. MCP tools are told by their form, everything else is `other`."""

_PATHS: Final = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "dir_path")
_ANY_PATH: Final = frozenset(_PATHS)
_LINES: Final = ("offset", "line")
_TITLES: Final[dict[ToolKind, tuple[str, ...]]] = {
    "execute": ("command", "cmd", "description"),
    "read": (*_PATHS, "uri"),
    "edit": _PATHS,
    "search": ("pattern", "query", *_PATHS),
    "fetch": ("url", "prompt"),
    "browse": ("query", "url"),
    "think": ("description", "prompt", "message", "title"),
    "ask": ("question",),
    "memory": ("subject", "fact"),
}
"""The inputs that say what a call is about, the best first."""

_MCP = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)|mcp_(?P<server_>[^_]+)_(?P<tool_>.+)", re.DOTALL)
"""Claude and Codex join with two underscores, Gemini with one. Claude takes the first pair as the border."""

TITLE_LENGTH: Final = 200


@lru_cache(maxsize=1024)
def split_mcp(name: str) -> tuple[str | None, str]:
    """The MCP server (None if it is no MCP tool) and the tool's own name."""
    match = _MCP.fullmatch(name)
    if match is None:
        return None, name
    return match["server"] or match["server_"], match["tool"] or match["tool_"]


@lru_cache(maxsize=1024)
def kind_of(name: str) -> ToolKind:
    """What a tool does, by its native name."""
    return KINDS.get(name) or ("mcp" if split_mcp(name)[0] is not None else "other")


def title_of(name: str, input: Any) -> str | None:
    """What this call is about, on one line: its command, path, pattern, url …; None if the name says it all."""
    return _title(kind_of(name), input)


def _title(kind: ToolKind, input: Any) -> str | None:
    if not isinstance(input, dict):
        return None
    for key in _TITLES.get(kind, ()):
        if key in input and (found := input[key]) and (isinstance(found, str) or _words(found)):
            return one_line(found)
    questions = input.get("questions")
    if isinstance(questions, list) and questions and isinstance(questions[0], dict):
        found = questions[0].get("question")
        return one_line(found) if found and (isinstance(found, str) or _words(found)) else None
    return None


def one_line(text: Any) -> str:
    """The first line of `text`, with an ellipsis where something was left out."""
    if isinstance(text, str) and len(text) <= TITLE_LENGTH and "\n" not in text:
        return text.strip()
    if isinstance(text, list):  # some agents give a command as its arguments
        text = " ".join(map(str, text))
    first, _, rest = str(text).strip().partition("\n")
    cut = first.rstrip()[:TITLE_LENGTH]
    return cut + " …" if rest or len(cut) < len(first.rstrip()) else cut


def locations_of(input: Any) -> list[Location]:
    """The files that a call names in its input."""
    if not isinstance(input, dict) or _ANY_PATH.isdisjoint(input):
        return []
    line: int | None = None
    for key in _LINES:
        if line is None and key in input and type(input[key]) is int:
            line = input[key]
    found: dict[str, Location] = {}
    for key in _PATHS:
        if key in input and (path := input[key]) and isinstance(path, str):
            found[path] = Location(path=path, line=line)
    return list(found.values())


def tool_started(call_id: str, native_name: str, input: Any) -> ToolStarted:
    """The tool.started of a call, everything that its name and input tell filled in."""
    server, name = split_mcp(native_name)
    kind = kind_of(native_name)
    return ToolStarted(
        call_id=call_id,
        name=name,
        native_name=native_name if server is not None else None,
        kind=kind,
        title=_title(kind, input),
        input=input,
        locations=locations_of(input),
        server=server,
    )


def _words(value: Any) -> bool:
    """Whether it is a list of strings: some agents give a command as its arguments."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)

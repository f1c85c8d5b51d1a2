"""How a model asks each agent for the same things, so that one scenario can be played with all of them."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dragoman.testing import ToolCall, tool


def _patch(*lines: str) -> ToolCall:
    return tool("apply_patch", input="\n".join(("*** Begin Patch", *lines, "*** End Patch", "")))


def _codex_write(path: Path, content: str) -> ToolCall:
    return _patch(f"*** Add File: {path}", *(f"+{line}" for line in content.splitlines()))


def _codex_edit(path: Path, old: str, new: str) -> ToolCall:
    return _patch(f"*** Update File: {path}", "@@", f"-{old}", f"+{new}")


def outside(command: str) -> ToolCall:
    """Codex runs a command, and asks for leave to do so without its sandbox. One that is allowed without this is tried
    in the sandbox first, and again without it only if it fails within its first moments."""
    return tool(
        "exec_command", cmd=command, sandbox_permissions="require_escalated", justification="To do it."
    )


class AgentTools(NamedTuple):
    """The tools of one agent, as its model calls them."""

    shell: Callable[[str], ToolCall]
    """Runs a command, for which the client is asked unless it said that it need not be."""
    shell_name: str
    """What that tool is called in our events."""
    write: Callable[[Path, str], ToolCall]
    edit: Callable[[Path, str, str], ToolCall]
    """Replaces a line by another."""
    mcp: str
    """The name of a tool of an MCP server, where `server` and `tool` stand for theirs."""
    model: str | None = None
    """The model to ask for where the agent would change it by itself."""

    def of_server(self, server: str, name: str, /, **input: object) -> ToolCall:
        """A tool of an MCP server."""
        return tool(self.mcp.replace("server", server).replace("tool", name), **input)


TOOLS = {
    "claude": AgentTools(
        shell=lambda command: tool("Bash", command=command),
        shell_name="Bash",
        write=lambda path, content: tool("Write", file_path=str(path), content=content),
        edit=lambda path, old, new: tool("Edit", file_path=str(path), old_string=old, new_string=new),
        mcp="mcp__server__tool",
    ),
    "codex": AgentTools(
        # It looks away from a command that takes longer, and goes on.
        shell=lambda command: tool("exec_command", cmd=command, yield_time_ms=30_000),
        shell_name="shell",
        write=_codex_write,
        edit=_codex_edit,
        mcp="mcp__server__tool",
    ),
    "gemini": AgentTools(
        shell=lambda command: tool("run_shell_command", command=command),
        shell_name="run_shell_command",
        write=lambda path, content: tool("write_file", file_path=str(path), content=content),
        edit=lambda path, old, new: tool(
            "replace", file_path=str(path), old_string=old, new_string=new, instruction="Change it."
        ),
        mcp="mcp_server_tool",
        model="gemini-2.5-pro",
    ),
    "opencode": AgentTools(
        shell=lambda command: tool("bash", command=command, description="Runs it."),
        shell_name="bash",
        write=lambda path, content: tool("write", filePath=str(path), content=content),
        edit=lambda path, old, new: tool("edit", filePath=str(path), oldString=old, newString=new),
        mcp="server_tool",
    ),
    "codex-acp": AgentTools(
        shell=outside,
        shell_name="execute",
        write=_codex_write,
        edit=_codex_edit,
        mcp="mcp__server__tool",
    ),
}

"""What the tools of each ACP agent are called, so that one scenario can be played with all of them."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dragoman.testing import ToolCall, tool
from tests.real.driving import Pinned


def _patch(*lines: str) -> ToolCall:
    return tool("apply_patch", input="\n".join(("*** Begin Patch", *lines, "*** End Patch", "")))


def _codex_write(path: Path, content: str) -> ToolCall:
    return _patch(f"*** Add File: {path}", *(f"+{line}" for line in content.splitlines()))


def _codex_edit(path: Path, old: str, new: str) -> ToolCall:
    return _patch(f"*** Update File: {path}", "@@", f"-{old}", f"+{new}")


class Tongue(NamedTuple):
    """How a model asks an agent for the same things."""

    shell: Callable[[str], ToolCall]
    """Run a command that the client is asked for, unless it said that it need not be."""
    shell_name: str
    """What that tool is called in our events."""
    write: Callable[[Path, str], ToolCall]
    edit: Callable[[Path, str, str], ToolCall]
    """Replace a line by another."""
    shout: Callable[[str], ToolCall]
    """A tool of the small MCP server. Not `add`: gemini 0.61.0 takes its text, a number, for JSON."""


TONGUES = {
    "gemini": Tongue(
        shell=lambda command: tool("run_shell_command", command=command),
        shell_name="run_shell_command",
        write=lambda path, content: tool("write_file", file_path=str(path), content=content),
        edit=lambda path, old, new: tool(
            "replace", file_path=str(path), old_string=old, new_string=new, instruction="Change it."
        ),
        shout=lambda word: tool("mcp_small_shout", word=word),
    ),
    "opencode": Tongue(
        shell=lambda command: tool("bash", command=command, description="Runs it."),
        shell_name="bash",
        write=lambda path, content: tool("write", filePath=str(path), content=content),
        edit=lambda path, old, new: tool("edit", filePath=str(path), oldString=old, newString=new),
        shout=lambda word: tool("small_shout", word=word),
    ),
    "codex-acp": Tongue(
        shell=lambda command: tool(
            "exec_command", cmd=command, sandbox_permissions="require_escalated", justification="To do it."
        ),
        shell_name="execute",
        write=_codex_write,
        edit=_codex_edit,
        shout=lambda word: tool("mcp__small__shout", word=word),
    ),
}


class AcpAgent(Pinned):
    """A pinned agent that speaks ACP, and the words for what its tools do."""

    @property
    def tongue(self) -> Tongue:
        return TONGUES[self.agent]

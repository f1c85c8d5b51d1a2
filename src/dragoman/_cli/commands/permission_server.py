"""`dragoman permission-server`: the policy as an MCP tool, for `claude --permission-prompt-tool`."""

import os
import sys

import click

from dragoman._cli.terminal.telling import told
from dragoman._model.config import APPROVE_MODES, Approve
from dragoman._policy import rulebook
from dragoman._policy.policy import Policy
from dragoman._runtime.permission_server import PATIENCE, by_policy, serve


@click.command
@click.option("--agent", default="claude", show_default=True, help="Whose permissions these are.")
@click.option("--approve", type=click.Choice(APPROVE_MODES), default="ask", show_default=True)
@click.option("--policy", "file", metavar="FILE", help="Rules that come before all others.")
@click.option("--cwd", default=".", show_default=True)
@click.option("--ask", metavar="SOCKET", help="Where a running program is asked what no rule settles.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=PATIENCE,
    show_default=True,
    metavar="SECONDS",
    help="With --ask: how long an answer may take before it is no.",
)
def command(
    agent: str, approve: Approve, file: str | None, cwd: str, ask: str | None, timeout: float
) -> None:
    """Answer permission requests over MCP on stdin and stdout, by the rules of `dragoman policy`. What the CLI's own mode
    and settings allow does not come here: name the mode, and see `dragoman permission-hook`.

    \b
    claude -p "…" --permission-mode default --permission-prompt-tool mcp__dragoman__approve \\
      --mcp-config '{"mcpServers":{"dragoman":{"command":"dragoman","args":["permission-server"]}}}'
    """
    try:
        cwd = os.path.abspath(cwd)
    except OSError as error:
        raise click.UsageError(f"The working directory is gone: {error.strerror}.") from error
    policy = Policy(approve, rulebook.load(cwd, file))

    def write(line: bytes) -> None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    with told():
        serve(sys.stdin.buffer, write, by_policy(policy, agent, cwd, ask, timeout))

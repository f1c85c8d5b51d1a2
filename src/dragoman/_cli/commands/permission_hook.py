"""`dragoman permission-hook`: the policy as a PreToolUse hook of Claude Code."""

import json
import sys

import click

from dragoman._cli.terminal.telling import told
from dragoman._model.config import APPROVE_MODES, Approve
from dragoman._policy import rulebook
from dragoman._policy.policy import Policy
from dragoman._runtime.permission_hook import answer, call_on
from dragoman._runtime.permission_server import LONGEST, PATIENCE, by_policy

BLOCK = 2
"""What the CLI takes for no, with the reason on stderr; any other status than 0 and this one lets the call pass."""


@click.command
@click.option("--agent", default="claude", show_default=True, help="Whose permissions these are.")
@click.option("--approve", type=click.Choice(APPROVE_MODES), default="ask", show_default=True)
@click.option("--policy", "file", metavar="FILE", help="Rules that come before all others.")
@click.option("--ask", metavar="SOCKET", help="Where a running program is asked what no rule settles.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=50.0,
    show_default=True,
    metavar="SECONDS",
    help=f"With --ask: how long an answer may take before it is no, {PATIENCE:g} at most.",
)
@click.pass_context
def command(
    ctx: click.Context, agent: str, approve: Approve, file: str | None, ask: str | None, timeout: float
) -> None:
    """Judge one call, read from stdin, by the rules of `dragoman policy`: every call of a tool comes here, whatever the
    CLI's own settings allow. Whatever goes wrong blocks the call (exit 2).

    \b
    claude -p "…" --permission-mode default --settings \\
      '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"dragoman permission-hook"}]}]}}'
    """
    try:
        line = sys.stdin.buffer.read(LONGEST + 1)
        if len(line) > LONGEST:
            raise ValueError("the call is longer than may be judged")
        call = call_on(line)
        with told():
            policy = Policy(approve, rulebook.load(call["cwd"], file))
            said = answer(call, by_policy(policy, agent, call["cwd"], ask, min(timeout, PATIENCE)))
        click.echo(json.dumps(said))
    except Exception as error:
        click.echo(f"Denied: {error}.", err=True)
        ctx.exit(BLOCK)

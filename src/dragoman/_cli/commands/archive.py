"""`dragoman archive`: a session put away, or back."""

from typing import Any

import click

from dragoman._cli.terminal.agent_options import WithExtraArgs, agent_options, chosen_options


@click.command(cls=WithExtraArgs)
@click.argument("agent")
@click.argument("session")
@click.option("--undo", is_flag=True, help="Put it back.")
@agent_options
@click.pass_context
def command(ctx: click.Context, /, agent: str, session: str, undo: bool, **given: Any) -> None:
    """Put SESSION of AGENT away: `ls` shows it with --archived only. SESSION is its id, or the beginning of it."""
    from dragoman import blocking

    blocking.archive_session(agent, session, archived=not undo, **chosen_options(ctx, given))

"""`dragoman policy`: what the rules say of a tool call, before an agent asks."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import click

from dragoman._cli.terminal.visible import echo
from dragoman._model import toolnames
from dragoman._model.config import APPROVE_MODES, Approve
from dragoman._model.errors import UsageError
from dragoman._model.events import PermissionRequested
from dragoman._policy import rulebook
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy


@click.group
def command() -> None:
    """Look at the rules: who may do what.

    Rules are read from --policy FILE, then from your own file, then from the project's .dragoman/policy.toml.
    The first that matches wins; what none settles is up to the approve mode.
    """


@command.command
@click.argument("tool")
@click.argument("input", default="{}")
@click.option("--agent", default="claude", show_default=True)
@click.option("--approve", type=click.Choice(APPROVE_MODES), default="ask", show_default=True)
@click.option("--policy", "file", metavar="FILE", help="Rules that come before all others.")
@click.option("--cwd", default=".", show_default=True)
@click.option("--json", "as_json", is_flag=True)
def test(
    tool: str, input: str, agent: str, approve: Approve, file: str | None, cwd: str, as_json: bool
) -> None:
    """Say what would become of a call of TOOL with INPUT (a JSON object; for a shell tool also the bare command)."""
    request = PermissionRequested(
        request_id="test",
        tool_name=tool,
        kind=toolnames.kind_of(tool),
        input=_input(tool, input),
        agent=agent,
    )
    asked = PermissionRequest(request, cwd)
    decision = Policy(approve, rulebook.load(cwd, file)).decide(asked)
    if as_json:
        click.echo(
            json.dumps({"effect": decision.effect, "rule": decision.rule, "message": decision.message})
        )
        return
    echo(f"{decision.effect}: {decision.rule}")
    if decision.message:
        echo(f"  the agent is told: {decision.message}")
    for line in _seen(asked):
        echo(f"  {line}")


@command.command
@click.option("--cwd", default=".", show_default=True)
def where(cwd: str) -> None:
    """Say which files the rules are read from."""
    for path in (rulebook.user_file(), f"{cwd}/{rulebook.PROJECT_FILE}", rulebook.MODES_FILE):
        echo(str(path))


def _seen(request: PermissionRequest) -> Iterator[str]:
    """What the rules see of a call, beside its tool and kind."""
    if request.commands is None:
        yield "the command line is not fully understood: no rule can allow it by its commands"
    for words in request.commands or ():
        yield f"command: {shlex.join(words)}"
    for path in request.paths:
        yield f"path: {path}"
    for host in request.hosts:
        yield f"host: {host}"


def _input(tool: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = {"command": text} if toolnames.kind_of(tool) == "execute" else None
    if not isinstance(value, dict):
        raise UsageError(f'the input of {tool} is a JSON object, such as \'{{"file_path": "a.py"}}\'')
    return value

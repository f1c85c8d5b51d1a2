"""`dragoman demo`: the whole thing at work, with a scripted agent instead of a real one."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

import click

from dragoman._cli.terminal.console import Pen, console
from dragoman._cli.terminal.formatting import plural
from dragoman._cli.terminal.keyboard import Keyboard
from dragoman._cli.terminal.live_run import LiveRun, interactive
from dragoman._cli.terminal.renderer import Renderer
from dragoman._cli.terminal.request_queue import RequestQueue
from dragoman._contract.invariants import broken
from dragoman._files.convert import convert
from dragoman._files.recording import read_recording
from dragoman._model.commands import Answer
from dragoman._model.config import SessionConfig
from dragoman._model.events import Event, FileChanged, HostCalled, PermissionRequested, ToolStarted
from dragoman._policy.permission import PermissionRequest
from dragoman._wire.event_json import encode
from dragoman.testing._demo_agent import PROMPT, prepare

SHOWN: Final = ("permission.requested", "file.changed", "tool.ended", "turn.ended")
"""Types of events of which one each is shown as it is written."""


@click.command
@click.option("--fast", is_flag=True, help="Without the pauses.")
@click.pass_context
def command(ctx: click.Context, fast: bool) -> None:
    """Watch a scripted agent fix a bug: no key, no model, nothing to install.

    The agent is a small program that comes with Dragoman and speaks ACP, as many agents do. It is started, driven,
    recorded and checked as a real one would be, in a new folder under the temporary directory.
    """
    folder = Path(tempfile.mkdtemp(prefix="dragoman-demo-"))
    prepare(folder)
    recording = folder / "demo.recording.jsonl"
    renderer = Renderer(console())
    pen = renderer.pen
    pen.block("Dragoman drives a coding agent here, as it would drive Claude Code, Codex or Gemini.", "bold")
    pen.block(
        "The agent is a script without a model: what it says, its tokens and its cost are made up. The commands "
        f"it runs and the file it edits are real, in {folder}.",
        "dim",
    )
    config = SessionConfig(
        agent="demo",
        prompt=PROMPT,
        cwd=str(folder),
        record=str(recording),
        native={"pace": 0} if fast else {},
    )
    try:
        live, status = _drive(config, renderer)
        _afterwards(pen, recording, live)
    finally:
        renderer.close()
    ctx.exit(status)


def _drive(config: SessionConfig, renderer: Renderer) -> tuple[list[Event], int]:
    """What happened, and the exit status."""
    keyboard = Keyboard(renderer)
    queue = RequestQueue(renderer.show, keyboard.permission, keyboard.question)
    live: list[Event] = []

    def see(event: Event) -> None:
        live.append(event)
        queue.see(event)

    approve = queue.approve if interactive() else _yes
    run = LiveRun(config, see, approve=approve, answer=queue.answer, tell=renderer.remark)
    keyboard.capabilities = run.capabilities
    return live, run.run()


async def _yes(request: PermissionRequest) -> Answer:
    return Answer(decision="allow", by="policy", rule="no terminal to ask at, and this is a demo")


def _afterwards(pen: Pen, recording: Path, live: list[Event]) -> None:
    """The recording, and what else can be done with it."""
    frames = read_recording(recording).frames
    events = list(convert(recording))
    faults = broken(events) or ([] if events == live else ["the replay differs from the run"])
    pen.gap()
    pen.line(("What happened, as a program sees it:", "bold"))
    pen.line("  " + _summary(events, len(frames)))
    for type in SHOWN:
        line = next((encode(event) for event in events if event.__struct_config__.tag == type), None)
        if line is not None:
            text = line.decode()
            pen.line(("  " + (text if len(text) <= 110 else text[:109] + "…"), "dim"))
    if faults:
        pen.line((f"✗ {faults[0]}", "red"))
    else:
        pen.line(("✓ replayed from the recording: the same events, and every rule holds", "green"))
    pen.gap()
    pen.line("Go on with it:")
    for text in (f"dragoman replay {recording}", f"dragoman convert {recording}", "dragoman doctor"):
        pen.line(("  " + text, "cyan"))


def _summary(events: list[Event], frames: int) -> str:
    kinds: Counter[object] = Counter(type(event) for event in events)
    counted = {"tool call": ToolStarted, "permission": PermissionRequested, "host call": HostCalled}
    parts = [plural(kinds[cls], name) for name, cls in counted.items()]
    changed = {event.path for event in events if isinstance(event, FileChanged) and event.phase == "applied"}
    parts.append(plural(len(changed), "changed file"))
    return f"{plural(len(events), 'event')} from {plural(frames, 'line')} of traffic; {', '.join(parts)}"

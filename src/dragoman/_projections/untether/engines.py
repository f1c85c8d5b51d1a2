"""The engines: what Untether does differently for each agent, in one table."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from dragoman._model.events import Event
from dragoman._projections.published import vendor_of
from dragoman._projections.untether.model import ActionKind

AnswerPolicy = Literal["result", "all"]
"""result: what the agent calls its result, else the last text. all: every text of the turn, joined as it came."""

UsageForm = Literal["claude", "codex", "gemini", "plain"]


class CallKeys(NamedTuple):
    """What the detail of a call's action names its parts; "" where it does not have that part."""

    name: str = "name"
    input: str = "input"
    id: str = ""


class Engine(Struct, frozen=True, kw_only=True):
    name: str
    titles: Literal["program", "published"] = "program"
    """By which table tools are titled: the one in the program's code, or the one that is published for Gemini."""
    path_keys: tuple[str, ...] = ("file_path", "path", "filePath")
    """The inputs that name a file."""
    call_keys: CallKeys = CallKeys()
    task_kind: ActionKind = "tool"
    """What starting a subagent is."""
    answer: AnswerPolicy = "result"
    usage: UsageForm = "plain"
    thinking: bool = False
    """Thoughts are notes."""
    plans: bool = False
    """Plans are notes; elsewhere they are tools, and shown as such."""
    turns: bool = False
    """Turns are actions."""
    compactions: bool = False
    errors_end: bool = False
    """Seed profile: an error ends the stream at once."""
    orphans: Literal["drop", "anonymous", "show"] = "show"
    """Seed profile: what becomes of a result whose call was never seen."""
    end_is_success: bool = False
    """A process that exits well without a result has done its work, if its session is known."""
    exits: bool = True
    """A call that exits with another code than 0 has failed, whatever its status says."""
    preview: Literal["output", "result", ""] = "output"
    """Which preview of a tool's output its detail holds."""
    limits: bool = False
    """Seed profile: each word about rate limits is a note, also that all is well."""
    reconnects: bool = False
    """All its retries are one note, not one each."""
    titled: bool = False
    """A run is titled with its model."""
    says_errors: bool = False
    """An error stands for an answer that is missing."""
    asks: str = "RequestPermission"
    """What the agent calls its permission requests."""


ENGINES: Final[Mapping[str, Engine]] = {
    engine.name: engine
    for engine in (
        Engine(
            name="claude",
            path_keys=("file_path", "path"),
            task_kind="subagent",
            usage="claude",
            thinking=True,
            orphans="anonymous",
            preview="result",
            limits=True,
            titled=True,
            asks="CanUseTool",
        ),
        Engine(
            name="codex",
            usage="codex",
            thinking=True,
            plans=True,
            turns=True,
            end_is_success=True,
            reconnects=True,
            preview="",
            asks="Approval",
        ),
        Engine(
            name="gemini",
            titles="published",
            call_keys=CallKeys("tool_name", id="tool_id"),
            answer="all",
            usage="gemini",
            errors_end=True,
            orphans="drop",
            exits=False,
        ),
        Engine(
            name="opencode",
            path_keys=("file_path", "filePath"),
            call_keys=CallKeys(id="callID"),
            answer="all",
            errors_end=True,
            says_errors=True,
        ),
        Engine(
            name="pi",
            path_keys=("path",),
            call_keys=CallKeys("tool_name", "args"),
            task_kind="subagent",
            compactions=True,
            orphans="anonymous",
        ),
        Engine(
            name="amp",
            path_keys=("file_path", "path"),
            call_keys=CallKeys("tool_name", id="tool_id"),
            task_kind="subagent",
            answer="all",
            thinking=True,
            orphans="drop",
        ),
    )
}


def engine_of(event: Event, vendor: str = "") -> Engine:
    """The engine that speaks: the vendor's where that is one, else by the agent's own name."""
    for name in (vendor, vendor_of(event), event.agent):
        if name in ENGINES:
            return ENGINES[name]
    return Engine(name=event.agent or vendor_of(event))

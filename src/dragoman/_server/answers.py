"""What the server answers, as the page and the description of the API know it.

Only what is None is absent. Times are seconds since 1970.
"""

from typing import Any, Literal

from msgspec import Struct, field

from dragoman._model.config import Approve
from dragoman._model.events import SlashCommand
from dragoman._reports.diffs import DiffRow

PageEvent = dict[str, Any]
"""An event as the page takes it: see page_events."""

State = Literal["starting", "working", "waiting", "idle", "ended"]
"""What a live run is at. waiting: for an answer of ours. idle: for a prompt."""


class Answer(Struct, omit_defaults=True):
    """What a call gives."""


def _none() -> list[Any]:
    """A default that is written out all the same, where msgspec would leave out `list`."""
    return []


# --- why there is no answer ----------------------------------------------------------------------------------


class Failure(Answer):
    kind: str
    """The cause in one word."""
    message: str
    """One sentence of cause; one of remedy."""


class Failed(Answer):
    """In place of any other answer."""

    error: Failure


# --- who asks, and of what -----------------------------------------------------------------------------------


class Entered(Answer):
    """What a link was traded for."""

    token: str
    """To be sent with each call, as `Authorization: Bearer`."""
    read_only: bool
    """It lets nobody change anything."""
    name: str
    """By what others see who it was."""


class NewLink(Answer):
    url: str
    """Good for one other browser or device."""


class Me(Answer):
    """Who asks, and whom."""

    read_only: bool
    name: str
    version: str
    """Of Dragoman."""
    host: str
    """The name of the machine."""


class Named(Answer):
    """A model, or a mode."""

    id: str
    """What it is chosen by."""
    name: str | None = None
    """What people call it."""


class AgentInfo(Answer):
    """An agent that may be started."""

    name: str
    title: str
    """What people call it."""
    installed: bool
    models: list[Named]
    """Those that it was used with."""
    version: str | None = None


class Usual(Answer):
    """What a new session is begun with, if nothing else is chosen."""

    agent: str | None = None
    model: str | None = None
    approve: Approve | None = None


class Agents(Answer):
    """What a new session can be begun with."""

    agents: list[AgentInfo]
    approve: list[Named]
    """The approve modes, each with what it means."""
    folders: list[str]
    """Those that were worked in last."""
    usual: Usual


# --- sessions ------------------------------------------------------------------------------------------------


class Live(Answer):
    """What a session is at that is running."""

    run: str
    state: State
    asks: int
    """How many of its questions and permissions wait for an answer."""
    hosted: bool
    """This server drives it."""
    answerable: bool
    """It can be told something from here."""
    pid: int | None = None
    approve: str | None = None
    """Who is asked for what: the approve mode, where it is known."""
    mode: str | None = None
    """The agent's own mode."""


class Row(Answer):
    """A session in a list."""

    id: str
    """The library's; that of the run while a live one has none yet."""
    agent: str
    title: str
    """Its name, its title or its first prompt; "" if nothing was said."""
    native_id: str | None = None
    """The agent's own id: what `resume` takes."""
    prompt: str | None = None
    """The first one."""
    cwd: str | None = None
    model: str | None = None
    created: float | None = None
    updated: float | None = None
    outcome: str | None = None
    """Of its last turn."""
    turns: int = field(default_factory=int)
    tools: int = field(default_factory=int)
    """Calls."""
    messages: int = field(default_factory=int)
    files: int = field(default_factory=int)
    """How many were changed, by so many lines:"""
    added: int = field(default_factory=int)
    removed: int = field(default_factory=int)
    errors: int = field(default_factory=int)
    tokens: int = field(default_factory=int)
    """In and out, those of its subagents included."""
    cost_usd: float | None = None
    """What the agent says of some calls."""
    cost_estimated_usd: float | None = None
    """What others cost by the table of prices."""
    unpriced_calls: int = field(default_factory=int)
    """Calls whose cost nobody knows."""
    parent: str | None = None
    relation: str | None = None
    """What it is to its parent: fork or subagent."""
    name: str | None = None
    """What a person called it."""
    pinned: bool = field(default_factory=bool)
    gone: bool = field(default_factory=bool)
    """Its agent has it no more."""
    live: Live | None = None


class Sessions(Answer):
    """Some sessions of the library, newest first."""

    sessions: list[Row]
    total: int
    """How many there are of which these are some."""
    unread: int = field(default_factory=int)
    """Files of sessions that the library has not read yet."""


class RunInfo(Answer):
    """One telling of a session."""

    run: str
    kind: Literal["live", "recording", "history"]
    """history: what its agent keeps of it."""
    dialect: str
    events: int
    shown: bool
    """It is part of the transcript; the others tell the same once more."""
    created: float | None = None


class Streamed(Answer):
    """A text that is being written: the next deltas go on with it."""

    kind: str
    text: str
    message_id: str | None = None
    block: int | None = None
    parent: str | None = None


class Choice(Answer):
    """One thing that can be answered to a permission."""

    key: str
    label: str
    """What it does, in our words."""
    said: str
    """The agent's own words for it; "" if it has none."""
    allows: bool
    lasts: Literal["once", "session", "always"]
    edits: bool
    """It goes with another input."""
    reasons: bool
    """It goes with a reason, which the agent is told."""


class Proposed(Answer):
    """A change to a file that is asked for."""

    path: str
    change: str
    rows: list[DiffRow]


class Option(Answer):
    label: str
    description: str | None = None


class Question(Answer):
    question: str
    id: str | None = None
    """What its answer is called, if that is not the question itself."""
    header: str | None = None
    options: list[Option] = field(default_factory=_none)
    multi: bool = field(default_factory=bool)
    """Several options may be chosen."""


class PermissionAsk(Answer, tag_field="kind", tag="permission"):
    """A permission that waits for an answer."""

    run: str
    request: str
    session: str
    agent: str
    event: dict[str, Any]
    """The whole permission.requested."""
    choices: list[Choice]
    paths: list[str]
    hosts: list[str]
    proposed: list[Proposed]
    unasked: bool
    """The agent did not ask by itself: it was made to show every call."""
    mark: str = ""
    """Of all that is asked: sent back with the answer, it makes sure that the answer is to what was seen."""
    at: float | None = None
    covers: str | None = None
    """What a lasting answer of ours would cover, in words."""
    rule_file: str | None = None
    """Where a rule would be written that lasts."""
    line: str | None = None
    """The whole command line."""
    commands: list[list[str]] | None = None
    """The commands that the line runs, word by word; absent where it is not fully understood."""
    cwd: str | None = None


class QuestionAsk(Answer, tag_field="kind", tag="question"):
    """A question that waits for an answer."""

    run: str
    request: str
    session: str
    agent: str
    event: dict[str, Any]
    """The whole question.asked."""
    questions: list[Question]
    mode: Literal["form", "url"]
    mark: str = ""
    """Of all that is asked, as of a permission."""
    at: float | None = None
    schema: Any = None
    """The JSON Schema that the answers must fit, where there is one."""
    url: str | None = None
    """Where it is answered, in mode url."""


Ask = PermissionAsk | QuestionAsk


class About(Answer):
    """All that is known of a session, without its events."""

    session: Row
    runs: list[RunInfo] = field(default_factory=_none)
    """In their order."""
    capabilities: list[str] = field(default_factory=_none)
    """What its agent can do."""
    modes: list[Named] = field(default_factory=_none)
    """Of its agent's own."""
    approve: str | None = None
    """The approve mode: who is asked for what, while it runs."""
    mode: str | None = None
    models: list[Named] = field(default_factory=_none)
    model: str | None = None
    commands: list[SlashCommand] = field(default_factory=_none)
    """What a prompt can be, behind a slash."""
    asks: list[Ask] = field(default_factory=_none)
    open: list[Streamed] = field(default_factory=_none)
    next: int | None = None
    """Of a live one: the events from this number on are still to come."""
    children: list[Row] = field(default_factory=_none)
    """Its subagents and forks."""
    parent: Row | None = None
    resume: str | None = None
    """The command that goes on with it."""


class Window(Answer):
    """Some events of a run that follow each other."""

    run: str
    events: list[PageEvent]
    first: int
    """What was looked through: from this number …"""
    last: int
    """… to this one, both with it; less than `first` if there was nothing."""
    more_before: bool
    more_after: bool


class FileDiff(Answer):
    """What a session did to one file."""

    path: str
    change: str
    added: int
    removed: int
    diffs: list[str]
    """The unified diff of each change, in their order."""
    moved_from: str | None = None


class Diff(Answer):
    files: list[FileDiff]


class WholeEvent(Answer):
    """An event with what its agent wrote."""

    event: dict[str, Any]
    """Nothing of it is left out."""
    line: str | None
    """The raw line that said it; None if none did."""
    direction: Literal["out", "in", "err", "note"] | None
    """Who wrote it: out is the agent."""


class Begun(Answer):
    """A session that was begun."""

    id: str
    run: str


class Prompted(Answer):
    """Where a prompt went."""

    run: str


class Done(Answer):
    """It was done."""


# --- search --------------------------------------------------------------------------------------------------


class FoundIn(Answer):
    """The session of a hit."""

    id: str
    agent: str
    title: str


class Piece(Answer):
    """A part of a line, which is what was looked for or not."""

    text: str
    match: bool


class Hit(Answer):
    """An event in which it stands."""

    session: FoundIn
    run: str
    seq: int
    turn: int
    role: str
    snippet: list[Piece]
    """The line in which it stands."""
    tool: str | None = None
    path: str | None = None
    """Of the file that the tool was given."""
    at: float | None = None


class Found(Answer):
    hits: list[Hit]
    more: str | None = None
    """What `after` takes for the next page, if there may be one."""


# --- the feed ------------------------------------------------------------------------------------------------


class Board(Answer):
    """Live sessions that have changed."""

    rows: list[Row]
    gone: list[str]
    """The runs that are not live any more."""
    stored: int
    """Another number whenever the library has something new."""
    all: bool = False
    """These are all that there are."""


class Said(Answer):
    """What was said in a run that is watched, each event once and in order."""

    run: str
    events: list[PageEvent]


class Asked(Answer):
    """All that waits for an answer in a run that is watched."""

    run: str
    asks: list[Ask]


class Ended(Answer):
    """A run that is over and in the library."""

    run: str
    session: str


class Stopped(Answer):
    """The server ends; nothing more is said."""


class UnknownRun(Answer):
    """There is no such live run, or no more."""

    run: str

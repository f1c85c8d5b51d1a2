"""Commands: what we ask of an agent, the same words for every agent."""

from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

from msgspec import Struct, field

from dragoman._model.capabilities import Capability
from dragoman._model.content import ContentBlock


class Command(Struct, kw_only=True, omit_defaults=True, tag_field="command"):
    """Something asked of an agent."""

    needs: ClassVar[Capability]
    """What the agent must be able to do."""

    id: str | None = None
    """Set by the session: the request id under which the agent's answer (`command.ended`) comes back."""
    session: str | None = None
    """Which session of the connection it is for; the only one, if absent."""


class Prompt(Command, tag="prompt"):
    """Begin a turn. While one is open the prompt is held until that turn has ended."""

    needs: ClassVar[Capability] = Capability.PROMPT
    text: str = ""
    blocks: list[ContentBlock] = field(default_factory=list)
    """Further content (images, resources), after the text."""


class Steer(Command, tag="steer"):
    """Say something into the open turn, at once."""

    needs: ClassVar[Capability] = Capability.STEER
    text: str = ""
    blocks: list[ContentBlock] = field(default_factory=list)


class Interrupt(Command, tag="interrupt"):
    """Stop the open turn; the session lives on."""

    needs: ClassVar[Capability] = Capability.INTERRUPT


By = Literal["client", "policy", "timeout"]
"""Who gives an answer: a person or a handler, a rule or a mode, a time limit."""


class Response(Command):
    """The answer to a request of the agent's."""

    request: str = ""
    """Its id. A handler need not say it."""
    asked: int | None = None
    """Its `seq`, which makes sure that the answer is to what was seen: agents may use an id again."""
    by: By = "client"
    rule: str | None = None
    """The rule that gave the answer."""
    who: str | None = None
    """Who gave it, by name, where several could: such as a browser."""


class Answer(Response, tag="answer"):
    """The answer to a `permission.requested`."""

    needs: ClassVar[Capability] = Capability.PERMISSIONS
    decision: Literal["allow", "deny"] = "deny"
    option: str | None = None
    """One of the request's own options, by id; it wins over `decision`."""
    updated_input: dict[str, Any] | None = None
    """Allow, but run the tool with this input instead."""
    message: str | None = None
    """Why it was denied, for the model to read."""
    remember: list[Any] = field(default_factory=list)
    """What shall hold from now on: `session` or `always`, for our own policy to keep, or suggestions of the request
    (verbatim), for the agent to keep."""
    interrupt: bool = False
    """Deny and stop the turn as well."""


class AnswerQuestion(Response, tag="answer_question"):
    """The answer to a `question.asked`."""

    needs: ClassVar[Capability] = Capability.QUESTIONS
    action: Literal["accepted", "declined", "cancelled"] = "accepted"
    answers: dict[str, Any] = field(default_factory=dict)


class Reply(Response, tag="reply"):
    """The answer to a `host.called`. With neither result nor error: no opinion, said as the dialect says it."""

    needs: ClassVar[Capability] = Capability.HOST_CALLS
    result: Any = None
    error: str | None = None
    code: int | None = None
    """The error's, for an ACP agent and in MCP messages: -32002 says that a file is not there; -32603 (internal error) without
    one."""


class SetMode(Command, tag="set_mode"):
    """Change the mode that the agent works in, by its own name for it."""

    needs: ClassVar[Capability] = Capability.SET_MODE
    mode: str


class SetModel(Command, tag="set_model"):
    """Change the model, by the agent's own name for it."""

    needs: ClassVar[Capability] = Capability.SET_MODEL
    model: str


class SetOption(Command, tag="set_option"):
    """Change an option of the session, by the agent's own id for it."""

    needs: ClassVar[Capability] = Capability.SET_OPTION
    option: str
    value: Any = None


Fact: TypeAlias = Literal["models", "account", "mcp_servers", "skills", "rate_limit"]
"""What an agent can be asked of itself, by the name of the session's property that then has it."""
FACTS: Final[tuple[Fact, ...]] = get_args(Fact)


class Refresh(Command, tag="refresh"):
    """Ask the agent for something that it tells of itself, as it is now."""

    needs: ClassVar[Capability] = Capability.REFRESH
    fact: Fact


class Review(Prompt, tag="review"):
    """Have the agent review changes, as a turn: those that are not committed, those since the branch `base`, those of
    `commit`, or what `text` describes."""

    needs: ClassVar[Capability] = Capability.REVIEW
    text: str = ""
    base: str | None = None
    commit: str | None = None


class Compact(Command, tag="compact"):
    """Ask the agent to shorten its context now."""

    needs: ClassVar[Capability] = Capability.COMPACT
    instructions: str | None = None


class RewindFiles(Command, tag="rewind_files"):
    """Put the files that the agent has changed back to how they were before a message of the user's."""

    needs: ClassVar[Capability] = Capability.REWIND_FILES
    message_id: str
    dry_run: bool = False
    """Only say which."""


class Fork(Command, tag="fork"):
    """Go on in a copy of the session, where an agent can do that while running."""

    needs: ClassVar[Capability] = Capability.LIVE_FORK


class OpenSession(Command, tag="open_session"):
    """One more session in the same process. `command.ended` names it in its result, `session.started` tells of it."""

    needs: ClassVar[Capability] = Capability.MANY_SESSIONS
    cwd: str
    resume: str | None = None
    """Id of an earlier session to go on with."""
    mcp_servers: dict[str, Any] = field(default_factory=dict)


class ListSessions(Command, tag="list_sessions"):
    """Which sessions the agent has, a page at a time; `command.ended` has them in its result, in the agent's own words."""

    needs: ClassVar[Capability] = Capability.LIST_SESSIONS
    cwd: str | None = None
    """Only those of this folder."""
    archived: bool = False
    """Those that were put away, in place of the others."""
    cursor: str | None = None
    """Where the page begins, as the page before it says."""


class ArchiveSession(Command, tag="archive_session"):
    """Put the session `session` away, or back with `archived` False."""

    needs: ClassVar[Capability] = Capability.ARCHIVE
    archived: bool = True


class DeleteSession(Command, tag="delete_session"):
    """Delete the session `session` for good."""

    needs: ClassVar[Capability] = Capability.DELETE


class RenameSession(Command, tag="rename_session"):
    """Give the session `session` a title."""

    needs: ClassVar[Capability] = Capability.RENAME
    title: str


StoredSession = ListSessions | ArchiveSession | DeleteSession | RenameSession
"""What is asked about sessions that need not be open."""


class Close(Command, tag="close"):
    """End the session; the machine says what, if anything, must be written first."""

    needs: ClassVar[Capability] = Capability.PROMPT

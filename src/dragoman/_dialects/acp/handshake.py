"""The handshake: initialize, signing in, the first session and its settings; or why there will be none."""

from collections.abc import Callable
from typing import Any, Final

from dragoman._dialects.acp import opening
from dragoman._dialects.acp import translate as t
from dragoman._dialects.acp.connection import Connection
from dragoman._dialects.acp.counting import RULES
from dragoman._dialects.acp.opening import Opening
from dragoman._dialects.acp.sessions import Session
from dragoman._model import events as ev
from dragoman._model.errors import ErrorKind
from dragoman._wire import fields
from dragoman._wire.jsonrpc import Response, RpcError
from dragoman._wire.ledger import Ledger
from dragoman._wire.machine import StartOptions

_LATE_HISTORY: Final = frozenset(("gemini-cli",))
"""By the name in initialize. Gemini CLI 0.61.0 answers session/load after the first piece of history."""
_NOT_THERE: Final = "the session is not there"


class Handshake:
    """The state of the handshake. `owe` sends a line; `release` fails the prompts that wait in a session, or
    in all of them."""

    def __init__(
        self,
        ledger: Ledger,
        connection: Connection,
        owe: Callable[[bytes], None],
        release: Callable[[str | None], None],
    ) -> None:
        self._opening = Opening()
        self._options = StartOptions()
        self.lost_reason: str | None = None
        """Why there is no session and will be none."""
        self.lost_kind: ErrorKind | None = None
        """The same in one word, where there is one."""
        self.settings: set[str] = set()
        """Requests that set up a session and have no answer yet."""
        self._set = 0
        self._ledger = ledger
        self._connection = connection
        self._owe = owe
        self._release = release

    def begin(self, wanted: Opening, options: StartOptions) -> None:
        self._opening, self._options = wanted, options
        self._ask("initialize", opening.initialize(options.offers), opening.INITIALIZE)

    def _ask(self, method: str, params: dict[str, Any], id: str) -> None:
        self._owe(self._connection.peer.request(method, params, id))

    # --- initialize --------------------------------------------------------------------------------------

    def on_initialized(self, answer: Response, id: str) -> None:
        if answer.error is not None:
            self._on_refusal(answer.error, id)
            return
        ready, agreement = t.agent_ready(answer.result), self._connection.agreement
        version = ready.protocol_version
        agreement.version = version if isinstance(version, int) else 1
        agreement.late_history = ready.name in _LATE_HISTORY
        agreement.usage_rule = self._opening.usage_rule or RULES.get(ready.name or "", "turn")
        agreement.capabilities = ready.capabilities
        agreement.auth_methods = ready.auth_methods
        agreement.settled = True
        self._ledger.put(ready)
        if agreement.version not in (1, 2):
            error = RpcError(message=f"the agent speaks version {version}")
            self.give_up(error, "no common version", "protocolError")
        elif id in (opening.INITIALIZE, opening.RETRY):
            method = self._opening.auth_method
            if method is not None:
                self._ask(*opening.authenticate(method, agreement.version), opening.AUTHENTICATE)
            else:
                self._open()

    def _on_refusal(self, error: RpcError, id: str) -> None:
        """The answer to initialize was an error: send the shape of version 1 alone, once."""
        if id == opening.RETRY:
            self.give_up(error, "initialize failed", "protocolError")
            return
        info, again = t.error_info(error), id == opening.INITIALIZE
        self._ledger.put(
            ev.Error(
                severity="warning" if again else "error",
                message=info.message,
                code=info.code,
                will_retry=again,
                scope="protocol",
            )
        )
        if again:
            self._ask("initialize", opening.initialize(self._options.offers, version=1), opening.RETRY)

    # --- the first session -------------------------------------------------------------------------------

    def on_authenticated(self, answer: Response, id: str) -> None:
        failed = t.error_info(answer.error) if answer.error is not None else None
        message = failed.message if failed is not None else None
        self._ledger.put(ev.Auth(status="failed" if failed else "ready", message=message))
        if id == opening.AUTHENTICATE:
            if answer.error is not None:
                self.give_up(answer.error, "signing in failed", "loginRequired")
            else:
                self._open()

    def _open(self) -> None:
        if self._options.opens_session:
            self._ask(*opening.session(self._opening, self._connection.agreement), opening.OPEN)

    def on_not_opened(self, error: RpcError, id: str, method: str | None) -> None:
        if error.code == t.AUTH_REQUIRED:
            self._ledger.put(ev.Auth(status="required", message=self._how_to_sign_in(error)))
        if id == opening.OPEN:
            unknown = method != "session/new" and t.error_info(error).kind is None
            self.give_up(error, "no session could be opened", "sessionNotFound" if unknown else None)

    def set_up(self, session: Session) -> None:
        """Every session shall be as it was asked for."""
        for method, params in opening.settings(self._opening, session, self._connection.agreement.version):
            self._set += 1
            self.settings.add(id := f"{opening.SETTING}{self._set}")
            self._ask(method, params, id)

    def on_setting_answer(self, command: str, id: str, answer: Response) -> None:
        """A setting was answered. A session whose own setting was refused takes no prompts."""
        self.settings.discard(id)
        session = self._connection.sessions.get(fields.text(answer.params, "sessionId") or "")
        if answer.error is None or session is None or session.lost_reason is not None:
            return
        if id.startswith(opening.SETTING):
            session.lost_reason = self._fail(answer.error, f"{command} failed")
            self._release(session.id)

    def on_blank(self, session: Session) -> None:
        """The first session has no history: the prompts that wait for it have an end."""
        self._fail(self.lose(session), _NOT_THERE, session.lost_kind)
        self._release(session.id)

    def lose(self, session: Session) -> RpcError:
        """A session that was to be gone on with has no history: it is not the one that was asked for, and takes no
        prompts."""
        blank = RpcError(message=f"{session.id} came back without its history")
        session.lost_kind, session.lost_reason = "sessionNotFound", f"{_NOT_THERE}: {blank.message}"
        return blank

    # --- giving up ---------------------------------------------------------------------------------------

    def give_up(self, error: RpcError, what: str, kind: ErrorKind | None = None) -> None:
        """Record that no session can be opened, and fail all prompts that wait for one."""
        if self.lost_reason is None:
            self.lost_kind = kind or t.error_info(error).kind
            self.lost_reason = self._fail(error, what, self.lost_kind)
            self._release(None)

    def _fail(self, error: RpcError, what: str, kind: ErrorKind | None = None) -> str:
        """Put an error and a failed turn, so that prompts that wait have an end. Returns the reason in
        words."""
        info = t.error_info(error)
        said = self._how_to_sign_in(error) if error.code == t.AUTH_REQUIRED else info.message
        info = ev.ErrorInfo(message=said, code=info.code, kind=kind or info.kind)
        self._ledger.put(ev.Error(message=info.message, code=info.code, scope="session", kind=info.kind))
        self._ledger.put(ev.TurnEnded(outcome="failed", reason=what, error=info, synthesized=True))
        return f"{what}: {info.message}"

    def _how_to_sign_in(self, error: RpcError) -> str:
        ways = t.ways_in(self._connection.agreement.auth_methods)
        return f"{error.message.rstrip('.')}. Ways to sign in: {ways}" if ways else error.message

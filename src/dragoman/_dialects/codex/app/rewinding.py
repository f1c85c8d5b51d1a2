"""A thread, or a copy of one, that goes on at an earlier turn: what came after it is taken back before anything else is
said."""

from typing import Any, Final

from dragoman._dialects.codex.shared import values as v
from dragoman._model.errors import ErrorKind
from dragoman._model.events import ErrorInfo
from dragoman._wire import fields, jsonrpc

_ID: Final = "rewind:"
"""How the ids of its requests begin; the turn that is to be the last follows, so that a recording tells it too."""
_PAGE: Final = 100
"""How many turns are asked for at once."""


def is_rewinding(answer: jsonrpc.Response) -> bool:
    """Whether it answers one of these requests."""
    return isinstance(answer.id, str) and answer.id.startswith(_ID)


class Rewinding:
    """`thread/turns/list` says which turns came later, newest first; `thread/revert` takes them back. 0.150.0 has
    `thread/rollback` for its own threads; 0.135.0 has nothing else, tells the turns with the answer that opens the thread,
    and copies all of them whatever `lastTurnId` says."""

    def __init__(self, peer: jsonrpc.Peer) -> None:
        self._peer = peer
        self._thread = ""
        self._told: list[str] = []
        """The ids of the turns that the answer to thread/resume told, newest first."""
        self._later: list[str] = []
        """The ids of those after the wanted one, as far as they are known, newest first."""
        self._error: ErrorInfo | None = None
        """Why they cannot be reverted."""

    def on_opened(self, thread: dict[str, Any]) -> None:
        """Take in a thread as thread/resume or thread/fork told it."""
        self._thread = fields.text(thread, "id") or ""
        turns = reversed(fields.items(thread, "turns"))
        self._told = [id for turn in turns if (id := fields.text(turn, "id"))]
        self._later = []

    def on_answer(self, response: jsonrpc.Response) -> bytes | ErrorInfo | None:
        """What follows from the answer to one of its requests: the next one, why it cannot be, or None if it is done."""
        turn = str(response.id).removeprefix(_ID)
        if response.method == "thread/turns/list":
            return self._on_turns(response, turn)
        if response.error is None:
            return None
        if response.method == "thread/revert":
            self._error = error_info(response.error)
            return self._request("thread/rollback", turn, numTurns=len(self._later))
        return self._error if _is_unknown(response.error) else error_info(response.error)

    def _on_turns(self, response: jsonrpc.Response, turn: str) -> bytes | ErrorInfo | None:
        cursor = None
        if response.error is None:
            page = [fields.text(native, "id") for native in fields.items(response.result, "data")]
            ids = [id for id in page if id is not None]
            cursor = fields.text(response.result, "nextCursor") if ids else None
        elif _is_unknown(response.error):
            ids = self._told
        else:
            return error_info(response.error)
        if turn in ids:
            self._later += ids[: ids.index(turn)]
            before = self._later[-1] if self._later else None
            return self._request("thread/revert", turn, beforeTurnId=before) if before else None
        again = ids and ids[-1] in self._later  # a list without an end
        self._later += ids
        if cursor is not None and not again:
            return self.turns_after(turn, cursor=cursor)
        return ErrorInfo(message=f"turn not found: {turn}", kind="sessionNotFound")

    def turns_after(self, turn: str, **params: str) -> bytes:
        """The request for the turns of the thread that was opened last: the first one of all."""
        return self._request("thread/turns/list", turn, limit=_PAGE, itemsView="notLoaded", **params)

    def _request(self, method: str, turn: str, **params: Any) -> bytes:
        return self._peer.request(method, {"threadId": self._thread, **params}, id=f"{_ID}{turn}")


def error_info(error: jsonrpc.RpcError) -> ErrorInfo:
    """Why a thread is not opened, or not at that turn."""
    kind: ErrorKind | None = "sessionNotFound" if v.knows_no_session(error.message) else None
    return ErrorInfo(message=error.message, code=str(error.code), kind=kind)


def _is_unknown(error: jsonrpc.RpcError) -> bool:
    """Whether this version of the CLI has no such method."""
    return error.code == jsonrpc.METHOD_NOT_FOUND or "unknown variant" in error.message

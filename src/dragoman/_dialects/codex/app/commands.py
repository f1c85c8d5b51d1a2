"""What we ask of Codex: the requests that commands become."""

from typing import Any

from dragoman._dialects.codex.app import wording
from dragoman._dialects.codex.app.threads import Thread, Threads
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.errors import UsageError
from dragoman._wire import jsonrpc
from dragoman._wire.ledger import Ledger


class Commands:
    """Makes requests of commands: at once, or as soon as the thread or turn is there that they are for."""

    def __init__(self, ledger: Ledger, threads: Threads, peer: jsonrpc.Peer) -> None:
        self.opening: dict[str, Any] = {}
        self._ledger = ledger
        self._threads = threads
        self._peer = peer
        self.until_open: list[c.Command] = []
        """Said before there was a thread."""
        self.until_turn: list[c.Steer | c.Interrupt] = []
        """Said before Codex had named the turn that they are for."""

    def lines(self, command: c.Command) -> list[bytes]:
        if isinstance(command, c.Close):
            return self._close(command)
        if isinstance(command, c.Interrupt):
            return self._interrupt(command)
        if isinstance(command, c.OpenSession):
            return [self._open(command)]
        if isinstance(command, c.StoredSession):
            return [self._peer.request(*wording.about_stored(command), id=command.id)]
        if self._threads.main is None and command.session is None and not isinstance(command, c.Steer):
            self.until_open.append(command)
            return []
        thread = self._addressed(command)
        if isinstance(command, c.Steer):
            return self._steer(command, thread)
        if isinstance(command, c.Review):
            return [self._request("review/start", command, thread, target=wording.review_target(command))]
        if isinstance(command, c.Prompt):
            return [self._request("turn/start", command, thread, **self._turn_params(command, thread))]
        if isinstance(command, c.Compact):
            if command.instructions:
                raise UsageError("codex compacts by its own instructions: give none")
            return [self._request("thread/compact/start", command, thread)]
        if isinstance(command, c.Refresh):
            return [self._refresh(command, thread)]
        if isinstance(command, c.Fork):
            return [self._request("thread/fork", command, thread, excludeTurns=True)]
        return [self._setting(command, thread)]

    def _open(self, command: c.OpenSession) -> bytes:
        """The request that opens one more thread: with the params of the first, but its own `cwd`."""
        first = self.opening.get("params", {})
        params = {key: value for key, value in first.items() if key not in ("threadId", "excludeTurns")}
        params["cwd"] = command.cwd
        config = {**first.get("config", {})}
        # A folder that nothing is said of would be trusted as soon as Codex may write there.
        config["projects"] = {command.cwd: {"trust_level": "untrusted"}, **config.get("projects", {})}
        if command.mcp_servers:
            own = wording.mcp_config(command.mcp_servers)
            config["mcp_servers"] = {**config.get("mcp_servers", {}), **own}
        params["config"] = config
        if command.resume is None:
            return self._peer.request("thread/start", params, id=command.id)
        old = {key: value for key, value in params.items() if key not in ("ephemeral", "dynamicTools")}
        return self._peer.request(
            "thread/resume", {**old, "threadId": command.resume, "excludeTurns": True}, id=command.id
        )

    def _turn_params(self, command: c.Prompt, thread: Thread) -> dict[str, Any]:
        params = {"input": wording.input_of(command.text, command.blocks), **self.opening.get("turn", {})}
        if thread.as_configured and not thread.has_had_turn:
            params |= self.opening.get("first_turn", {})
            if "mode" in self.opening:  # which names the model, so it cannot be said before there is one
                params |= wording.mode_settings(self.opening["mode"], thread.model)
        return params

    def _refresh(self, command: c.Refresh, thread: Thread) -> bytes:
        """The request for a fact; of a thread, or of a folder, or of all that there are."""
        params: dict[str, Any] = {}
        if command.fact == "mcp_servers":
            params = {"threadId": thread.id}
        elif command.fact == "skills" and (cwd := self._ledger.facts(thread.session).get("cwd")) is not None:
            params = {"cwds": [cwd]}
        return self._peer.request(wording.FACTS[command.fact], params, id=command.id)

    def _setting(self, command: c.Command, thread: Thread) -> bytes:
        if isinstance(command, c.SetModel):
            settings: dict[str, Any] = {"model": command.model}
        elif isinstance(command, c.SetMode):
            settings = wording.mode_settings(command.mode, thread.model)
        else:
            assert isinstance(command, c.SetOption)
            if command.option == "title":
                return self._request("thread/name/set", command, thread, name=str(command.value))
            settings = wording.option_settings(command.option, command.value)
        return self._request("thread/settings/update", command, thread, **settings)

    def _steer(self, command: c.Steer, thread: Thread) -> list[bytes]:
        if not self._ledger.busy(thread.session):
            raise UsageError("no turn is open that could be steered")
        said = wording.input_of(command.text, command.blocks)
        if thread.turn_id is None:
            self.until_turn.append(command)
            return []
        return [self._request("turn/steer", command, thread, expectedTurnId=thread.turn_id, input=said)]

    def _interrupt(self, command: c.Interrupt) -> list[bytes]:
        """turn/interrupt for the session of the command, or for all that have a turn."""
        wanted = [self._addressed(command)] if command.session is not None else self._threads.at_work()
        lines: list[bytes] = []
        unnamed = [
            thread for thread in wanted if thread.turn_id is None and self._ledger.busy(thread.session)
        ]
        for thread in wanted:
            if thread.turn_id is not None:
                said = command if not lines else c.Interrupt()
                lines.append(self._request("turn/interrupt", said, thread, turnId=thread.turn_id))
        if not lines and not unnamed:
            raise UsageError("no turn is open that could be interrupted")
        for thread in unnamed:
            self.until_turn.append(c.Interrupt(id=None if lines else command.id, session=thread.id))
        return lines

    def due(self) -> list[bytes]:
        """The lines of commands that waited for a thread or for a turn's id. One that makes no sense any more
        ends with an error."""
        waiting: list[c.Command] = []
        if self.until_turn:
            waiting, self.until_turn = [*self.until_turn], []
        if self.until_open and self._threads.main is not None:
            waiting, self.until_open = [*waiting, *self.until_open], []
        lines = []
        for command in waiting:
            try:
                lines += self.lines(command)
            except UsageError as error:
                name, why = str(command.__struct_config__.tag), ev.ErrorInfo(message=str(error))
                self._ledger.put(
                    ev.CommandEnded(
                        command=name, request_id=command.id, ok=False, error=why, synthesized=True
                    )
                )
        return lines

    def _addressed(self, command: c.Command) -> Thread:
        """The thread of a command. Raises UsageError if there is none."""
        id = command.session or self._threads.main
        thread = self._threads.find(id) if id is not None else None
        if thread is None:
            raise UsageError(f"no session is called {id!r}" if id else "no session is open yet")
        return thread

    def _close(self, command: c.Close) -> list[bytes]:
        """thread/unsubscribe for the session of the command; the last one ends with the process."""
        thread = self._threads.find(command.session) if command.session is not None else None
        return [] if thread is None else [self._request("thread/unsubscribe", command, thread)]

    def _request(self, method: str, command: c.Command, thread: Thread, **params: Any) -> bytes:
        return self._peer.request(method, {"threadId": thread.id, **params}, id=command.id)

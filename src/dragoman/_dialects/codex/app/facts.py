"""What is known of a session and changes while it goes on: its model, mode and servers, its size and use."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from dragoman._dialects.codex.app import messages as m
from dragoman._dialects.codex.app import translate
from dragoman._dialects.codex.app.threads import Thread, Threads
from dragoman._model import events as ev
from dragoman._wire import fields
from dragoman._wire.ledger import Ledger


class Facts:
    """Reads the notifications about threads as a whole."""

    def __init__(self, ledger: Ledger, threads: Threads) -> None:
        self._ledger = ledger
        self._threads = threads
        self.handlers: dict[str, Callable[[Thread, Any], None]] = {
            "thread/tokenUsage/updated": self._usage,
            "thread/settings/updated": self._settings,
            "thread/name/updated": self._name_updated,
            "thread/compacted": self._compacted,
            "thread/reverted": self._reverted,
            "mcpServer/startupStatus/updated": self._mcp_server,
            "model/rerouted": self._rerouted,
        }

    def begin_session(self, thread: Thread, answer: dict[str, Any], *, resumed: bool = False) -> None:
        facts = translate.session_facts(answer)
        facts.resumed = resumed and not self._ledger.facts(thread.session)
        thread.model = facts.model or thread.model
        calls = thread.meter.calls
        calls.service_tier = fields.text(answer, "serviceTier") or calls.service_tier
        if not thread.is_subagent:
            self._threads.put(thread, facts)

    def know(self, thread: Thread, facts: ev.SessionStarted) -> None:
        """Put facts about a session that has started; those that are new become session.updated."""
        if not thread.is_subagent and self._ledger.facts(thread.session):
            self._threads.put(thread, facts)

    def on_answer(self, method: str, params: dict[str, Any], answer: dict[str, Any]) -> None:
        """Take in the answer to a question about Codex."""
        read = translate.ANSWERS.get(method)
        for thread in self._asked_of(params):
            if read is not None:
                facts = read(answer)
                if facts.mcp_servers:
                    facts.mcp_servers = [
                        _complete(server, thread.mcp_servers.get(server.name)) for server in facts.mcp_servers
                    ]
                    thread.mcp_servers = {server.name: server for server in facts.mcp_servers}
                self.know(thread, facts)
            elif method == "account/rateLimits/read":
                for limit in translate.rate_limit(
                    m.LimitsNews(rateLimits=fields.mapping(answer, "rateLimits"))
                ):
                    self._threads.put(thread, limit)
                return  # it is the account's, and said once

    def _asked_of(self, params: dict[str, Any]) -> list[Thread]:
        """The sessions that a question was about: one, those in some folders, or all."""
        id, folders = fields.text(params, "threadId"), fields.items(params, "cwds")
        return [
            thread
            for thread in self._threads.sessions()
            if id in (None, thread.id)
            and (not folders or self._ledger.facts(thread.session).get("cwd") in folders)
        ]

    def _settings(self, thread: Thread, params: m.SettingsNews) -> None:
        settings = params.threadSettings or {}
        facts = translate.settings_facts(settings)
        thread.model = facts.model or thread.model
        thread.meter.calls.service_tier = fields.text(settings, "serviceTier")
        self.know(thread, facts)
        mode = fields.text(settings.get("collaborationMode"), "mode")
        if mode is not None and mode != (thread.mode or "default"):
            self._threads.put(thread, ev.SessionMode(mode=mode))
        thread.mode = mode if mode is not None else thread.mode

    def _name_updated(self, thread: Thread, params: m.NameNews) -> None:
        self.know(thread, ev.SessionStarted(title=params.threadName))

    def _mcp_server(self, thread: Thread, params: m.McpNews) -> None:
        if params.name is None:
            return
        server = ev.McpServer(name=params.name, status=params.status, error=params.error)
        thread.mcp_servers[params.name] = server
        self.know(thread, ev.SessionStarted(mcp_servers=list(thread.mcp_servers.values())))
        if params.error is not None:
            self._threads.put(thread, ev.Notice(severity="warning", message=params.error, code="mcp_server"))

    def _rerouted(self, thread: Thread, params: m.RerouteNews) -> None:
        said = f"{params.fromModel} was replaced by {params.toModel}: {params.reason}"
        self._threads.put(thread, ev.Notice(severity="warning", message=said, code="model_rerouted"))
        thread.model = params.toModel or thread.model
        self.know(thread, ev.SessionStarted(model=params.toModel))

    def _usage(self, thread: Thread, params: m.UsageNews) -> None:
        child = thread.session != thread.id
        in_turn = (
            params.turnId in thread.turn_ids if params.turnId is not None else thread.turn_id is not None
        )
        thread.meter.calls.enter(params.turnId or thread.turn_id)
        for event in thread.meter.update(params.tokenUsage or {}, thread.model, in_turn=in_turn):
            if thread.is_subagent:
                event.agent_id = thread.id
            if not child or event.scope == "call":
                thread.put(event)

    def _reverted(self, thread: Thread, params: m.Params) -> None:
        thread.meter.forget_total()
        self._threads.put(thread, ev.SessionStatus(status="reverted"))

    def _compacted(self, thread: Thread, params: m.Params) -> None:
        """thread/compacted of older versions, unless an item was put for the same compaction."""
        if not thread.compacted:
            self._threads.put(thread, thread.compaction())


def _complete(listed: ev.McpServer, known: ev.McpServer | None) -> ev.McpServer:
    """A server that was listed, with what only its start told: 0.150.0 lists no errors, 0.135.0 no statuses either."""
    if known is None or listed.status not in (None, known.status):
        return listed
    return replace(listed, status=known.status, error=listed.error or known.error)

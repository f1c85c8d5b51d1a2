"""Which tool call a subagent's lines belong to: nothing in them says so, other lines do."""

from dragoman._dialects.claude.transcript.messages import AgentMeta, Entry, Progress
from dragoman._wire import fields


class Sidechains:
    """Calls by agent, from whatever names both: a result, a progress line, a `.meta.json`, or the prompt."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._prompts: dict[str, list[str]] = {}
        self._roots: dict[str, str] = {}
        self._meta: str | None = None

    def add_call(self, call_id: str, prompt: str | None) -> None:
        """A call that starts a subagent with this prompt."""
        if prompt is not None:
            self._prompts.setdefault(prompt, []).append(call_id)

    def on_launch(self, agent: str | None, call_id: str | None) -> None:
        """The call `call_id` started the subagent `agent`."""
        if agent is not None and call_id is not None:
            self._calls[agent] = call_id

    def on_progress(self, line: Progress) -> None:
        self.on_launch(fields.text(line.data, "agentId"), line.parentToolUseID)

    def on_meta(self, meta: AgentMeta) -> None:
        """A subagent's `.meta.json`: the lines after it are that agent's."""
        self._meta = meta.toolUseId

    def agent(self, entry: Entry) -> str:
        """The subagent that `entry` is of: by id; in older files, where it has none, by the first line of its
        branch."""
        if entry.agentId is not None:
            return entry.agentId
        own = entry.uuid or ""
        root = self._roots.get(entry.parentUuid or "", own)
        self._roots[own] = root
        return root

    def call(self, agent: str, prompt: str) -> str | None:
        """The call that started `agent`, whose prompt may be `prompt`; None if it is not known."""
        if agent not in self._calls:
            if self._meta is not None:
                self._calls[agent], self._meta = self._meta, None
            else:
                taken = set(self._calls.values())
                free = (call for call in self._prompts.get(prompt, ()) if call not in taken)
                if (found := next(free, None)) is not None:
                    self._calls[agent] = found
        return self._calls.get(agent)

"""The hooks of a run, and the calls of them."""

import math
from collections.abc import Mapping
from typing import Any, Final

import anyio

from dragoman._model.hooks import HookHandler
from dragoman._runtime.calling import called
from dragoman._runtime.log import log
from dragoman._wire import hook_json

PATIENCE: Final = 600.0
"""Seconds for a hook where nothing is said."""
AFTERWARDS: Final = 60.0
"""Seconds more that an agent waits. What one does without an answer is its own affair (Gemini CLI 0.61.0 goes on as if the
hook had nothing against it), so the answer is always ours."""


class Hooks:
    """Functions of the caller's by event. `timeout` is how many seconds one may take."""

    def __init__(self, agent: str, hooks: Mapping[str, HookHandler], timeout: float | None = None) -> None:
        self._agent = agent
        self._hooks = dict(hooks)
        self._limit = timeout if timeout is not None else PATIENCE

    @property
    def events(self) -> list[str]:
        return list(self._hooks)

    @property
    def agent_waits(self) -> float:
        """Seconds that the agent is to wait for an answer."""
        return self._limit + AFTERWARDS

    async def answer(self, event: str, native: Any) -> dict[str, Any]:
        """What the agent is answered. A hook that fails or takes too long has not allowed anything."""
        if not isinstance(native, dict):
            return hook_json.failed(event, "What the hook is told cannot be read.", {})
        told: dict[str, Any] = native
        try:
            with anyio.move_on_after(self._limit):
                reply = await called(self._hooks[event], hook_json.call_of(event, self._agent, told))
                return hook_json.native_answer(reply, told)
        except (Exception, SystemExit) as error:
            log.exception("the hook for %s failed", event)
            return hook_json.failed(event, f"The hook failed with {type(error).__name__}: {error}", told)
        except anyio.get_cancelled_exc_class():
            if anyio.current_effective_deadline() == -math.inf:
                raise
            return hook_json.failed(event, "The hook was cancelled.", told)
        log.warning("the hook for %s took longer than %g s", event, self._limit)
        return hook_json.failed(event, f"The hook did not answer within {self._limit:g} s.", told)

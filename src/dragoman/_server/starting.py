"""What a new session can be begun with: the agents that are here, and what was worked with last."""

import os
import shutil
from typing import Final

from dragoman._agents import AGENTS
from dragoman._agents.agent import FETCHERS, Agent
from dragoman._agents.versions import installed_version
from dragoman._library.library import Library
from dragoman._model.config import APPROVE_MODES, Approve
from dragoman._server.answers import AgentInfo, Agents, Named, Usual
from dragoman._settings import settings

FOLDERS: Final = 30
MODELS: Final = 20
"""So many of an agent are remembered."""

MEANINGS: Final[dict[Approve, str]] = {
    "ask": "ask before everything that is not read-only",
    "dangerous": "ask only before what can do harm",
    "edits": "edit files, ask for the rest",
    "all": "ask nothing",
    "plan": "look and plan, change nothing",
    "never": "deny what would be asked",
}


def agents(library: Library) -> Agents:
    """All agents, those that are installed first."""
    chosen = settings.load()
    found = [_agent(record, _models(library, record.name)) for record in AGENTS.values()]
    folders = library.db.rows(
        "SELECT cwd FROM session WHERE cwd IS NOT NULL GROUP BY cwd ORDER BY MAX(COALESCE(updated, 0)) DESC LIMIT ?",
        (FOLDERS,),
    )
    return Agents(
        agents=sorted(found, key=lambda agent: not agent.installed),
        approve=[Named(id=mode, name=MEANINGS[mode]) for mode in APPROVE_MODES],
        folders=[row[0] for row in folders],
        usual=Usual(agent=chosen["agent"], model=chosen["model"], approve=chosen["approve"]),
    )


def folder(written: str | None) -> str | None:
    """A folder as a person writes it."""
    return os.path.expanduser(written.strip()) if written and written.strip() else None


def _agent(record: Agent, models: list[str]) -> AgentInfo:
    program = shutil.which(record.executable) if record.executable not in FETCHERS else None
    return AgentInfo(
        name=record.name,
        title=record.title,
        installed=program is not None,
        version=installed_version(program) if program is not None else None,
        models=[Named(id=model) for model in models],
    )


def _models(library: Library, agent: str) -> list[str]:
    """Those that it has used, the last one first."""
    rows = library.db.rows(
        "SELECT model FROM session WHERE agent = ? AND model IS NOT NULL"
        " GROUP BY model ORDER BY MAX(COALESCE(updated, 0)) DESC LIMIT ?",
        (agent, MODELS),
    )
    return [row[0] for row in rows]

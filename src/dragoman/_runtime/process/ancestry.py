"""Whether a process came of an agent: then it may not answer what an agent asks, that one or another."""

from typing import Final

import psutil

from dragoman._runtime.process.launcher import SCRIPT

_KEEPER: Final = "/".join(SCRIPT.split("/")[-4:])
"""How the script of a keeper ends, wherever Dragoman is installed."""


def is_of_an_agent(pid: int) -> bool:
    """Whether a keeper is among those that a process came of, ours or that of another program that uses Dragoman: all that an
    agent starts stays below its keeper. One of which nobody can tell is taken for one."""
    try:
        return any(
            word.endswith(_KEEPER) for each in psutil.Process(pid).parents() for word in each.cmdline()
        )
    except psutil.Error:
        return True

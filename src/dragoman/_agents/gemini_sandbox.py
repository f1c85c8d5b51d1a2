"""The sandbox of Gemini CLI: the whole of it works in a container, or in Seatbelt on macOS.

Its folder is mounted there to be written to; its home is a new one that ends with the container, and so do its sessions.
0.45.2 mounts the user's own ~/.gemini instead, with the settings that name programs to run: a command could write itself out.
Before it starts the container, 0.61.0 reads what is on its stdin and appends it to the command line as a prompt: over ACP
that is the first line of its client, which then waits for ever.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Final, Literal

from dragoman._agents.versions import installed_version, is_older
from dragoman._model.config import SessionConfig
from dragoman._model.errors import Unsupported, UsageError

OWN_HOME: Final = "0.61.0"
"""The oldest version that was seen to have a home of its own in its container; 0.45.2 has not."""
PROGRAM: Final = "GEMINI_SANDBOX"
IMAGE: Final = "GEMINI_SANDBOX_IMAGE"
_WITHIN: Final = "SANDBOX"
"""Set in a container of the CLI's. It makes no other there, whatever it is told."""
_ENVIRONMENT: Final = "SANDBOX_ENV"
_MOUNTS: Final = "SANDBOX_MOUNTS"

_CHOICES: Final = ("docker", "podman", "runsc", "sandbox-exec")
_USUAL: Final = ("sandbox-exec",) if sys.platform == "darwin" else ("docker", "podman")

Mounts = Mapping[str, Literal["rw", "ro"]]


def asked_for(config: SessionConfig) -> bool:
    return config.sandbox in ("read-only", "workspace")


def check(config: SessionConfig) -> None:
    """Raise UsageError for an image that nothing would be made of."""
    if "sandbox_image" in config.native and not asked_for(config):
        raise UsageError(
            "native['sandbox_image'] is the image of a sandbox: give sandbox=workspace, or leave it out"
        )


def refuse_over_acp(config: SessionConfig) -> None:
    """Raise Unsupported if a sandbox is asked for."""
    if asked_for(config):
        raise _unsupported(
            config,
            "It works in a container, which can be had with the dialect gemini_stream only; or use approve=plan or approve=ask",
        )


def refuse_with_the_users_home(config: SessionConfig, executable: str) -> None:
    """Raise Unsupported if the container of this version has the user's settings in it, to be written to."""
    if is_older(installed_version(executable), OWN_HOME):
        raise _unsupported(
            config,
            f"Before {OWN_HOME} its container could write to ~/.gemini, whose settings name programs that run outside of it: use "
            "a newer version, or approve=plan",
        )


def environment(
    config: SessionConfig, variables: Mapping[str, str], told: Mapping[str, str], mounts: Mounts
) -> dict[str, str]:
    """`variables` with what makes the CLI work in a sandbox; `told` is what the CLI in there must find set, `mounts` what it
    must find there beside its folder. Raises Unsupported where it would not hold."""
    if config.sandbox == "read-only":
        raise _unsupported(
            config, "Its sandbox always lets it write to its folder: use approve=plan, or sandbox=workspace"
        )
    if config.resume is not None:
        raise _unsupported(config, "Its sessions end with the container: leave out resume, or sandbox")
    for path in mounts:
        if "," in path or ":" in path:
            raise UsageError(
                f"Gemini CLI cannot mount {path} in its sandbox: give it a name without comma and colon"
            )
    image = config.native.get("sandbox_image")
    return {
        **{name: value for name, value in variables.items() if name != _WITHIN},
        PROGRAM: _program(config, variables),
        _ENVIRONMENT: _listed(
            variables.get(_ENVIRONMENT), *(f"{name}={value}" for name, value in told.items())
        ),
        _MOUNTS: _listed(variables.get(_MOUNTS), *(f"{path}:{path}:{how}" for path, how in mounts.items())),
        **({IMAGE: str(image)} if image is not None else {}),
    }


def _program(config: SessionConfig, variables: Mapping[str, str]) -> str:
    """What makes the container: what the user has chosen, or the first that is there."""
    path = variables.get("PATH", os.defpath)
    chosen = variables.get(PROGRAM, "").strip().lower()
    wanted = (chosen,) if chosen in _CHOICES else _USUAL
    for program in wanted:
        if shutil.which(program, path=path) is not None:
            return program
    raise _unsupported(config, f"Its sandbox needs {' or '.join(wanted)}: install that, or use approve=plan")


def _listed(*items: str | None) -> str:
    return ",".join(item for item in items if item)


def _unsupported(config: SessionConfig, why: str) -> Unsupported:
    return Unsupported("gemini", f"sandbox={config.sandbox}", why)

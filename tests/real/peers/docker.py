"""Plays `docker` for an agent that starts itself in a container: writes down how it is called, and runs what is to run there
by bubblewrap, with the same folders and variables and none of the others.

    python docker.py LOG ...
"""

import json
import os
import sys
import tempfile
from pathlib import Path

CHECKOUT = str(Path(__file__).resolve().parents[3])
"""Where the agent is installed, be it below /tmp."""
OF_ONE_WORD = ("-i", "-t", "--rm", "--init")
PROXIES = ("PATH", "LANG", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def main(log: str, command: str, *arguments: str) -> None:
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps([command, *arguments]) + "\n")
    if command == "images":
        print("there")
    elif command == "run":
        run(list(arguments))


def run(words: list[str]) -> None:
    options: list[tuple[str, str]] = []
    while words[0].startswith("-"):
        name = words.pop(0)
        if name not in OF_ONE_WORD:
            options.append((name, words.pop(0)))
    _, *inside = words
    home = tempfile.mkdtemp()
    (Path(home) / ".gemini").mkdir()
    jail = ["bwrap", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    jail += ["--tmpfs", "/tmp", "--ro-bind", CHECKOUT, CHECKOUT, "--bind", home, home]
    env = {"HOME": home} | {name: os.environ[name] for name in PROXIES if name in os.environ}
    for name, value in options:
        if name == "--env":
            variable, _, text = value.partition("=")
            env[variable] = text.replace("/home/node", home)
        elif name == "--volume":
            source, target, *how = value.split(":")
            bind = "--ro-bind" if how == ["ro"] else "--bind"
            jail += [bind, source, target.replace("/home/node", home)]
        elif name == "--workdir":
            jail += ["--chdir", value]
    os.execvpe("bwrap", [*jail, *inside], env)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Uses that a type checker must refuse: a line with `# error` each, and no other."""

from pathlib import Path

import dragoman
from dragoman import Options, SessionConfig

dragoman.open("claude", blocked_tools="Bash")  # error
dragoman.open("claude", allowed_tools=[1])  # error
dragoman.open("claude", extra_args={"-v"})  # error
dragoman.open("claude", timeout="soon")  # error
dragoman.open("claude", idle_timeout="3")  # error
dragoman.open("claude", max_turns="three")  # error
dragoman.open("claude", max_cost_usd="1")  # error
dragoman.open("claude", modle="x")  # error
dragoman.open("claude", model=Path("x"))  # error
dragoman.open("claude", mcp_servers=[{"command": "x"}])  # error
dragoman.open("claude", mcp_servers={"db": "x"})  # error
dragoman.open("claude", env={"A": 1})  # error
dragoman.open("claude", native=["x"])  # error
dragoman.open("claude", output_schema="{}")  # error
dragoman.open("claude", approve="yes")  # error
dragoman.open("claude", approve=True)  # error
dragoman.open("claude", sandbox="beach")  # error
dragoman.open("claude", inherit_env="all")  # error
dragoman.open("claude", prompt=3)  # error
dragoman.open("claude", cwd=b"here")  # error
dragoman.open("claude", record=1)  # error
dragoman.open("claude", "a prompt")  # error
dragoman.open(3)  # error
dragoman.open()  # error

dragoman.connect("gemini", prompt="x")  # error
dragoman.connect("gemini", timeout="soon")  # error

SessionConfig(agent="claude", blocked_tools="Bash")  # error
SessionConfig(agent="claude", modle="x")  # error
options: Options = {"timeout": "soon"}  # error


async def wrong() -> None:
    await dragoman.ask("claude", 3)  # error
    await dragoman.ask("claude", "Fix it", chek=True)  # error
    await dragoman.ask("claude", "Fix it", blocked_tools="Bash")  # error
    result = await dragoman.ask("claude", "Fix it")
    print(result.txt)  # error

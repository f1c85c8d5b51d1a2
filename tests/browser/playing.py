"""A program that is started in Claude Code's place and plays a fake agent: what it does, its prompt says in a word.

`install` puts it where a server finds it. So sessions begun on a page have steps that can be waited for, and take no longer
than the page does.
"""

import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

from dragoman._runtime.process.played import Stage
from dragoman.testing import asks, asks_user, calls, exits, fails, says, spends, thinks, waits, writes
from dragoman.testing._fake_agent.claude_speaker import ClaudeSpeaker
from dragoman.testing._fake_agent.speaker import Call, Heard, Verdict
from dragoman.testing._fake_agent.steps import FakeTurn, Steps, steps_of

LONG_LINE: Final = "\n".join(f"printf '%s' {n} && make part-{n}" for n in range(1, 61))
"""A command line of sixty lines, all of which must be seen by whoever allows it."""
EVIL: Final = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)><iframe src=//evil.example></iframe>"
    "<style>body{display:none}</style><base href=//evil.example>&lt;b&gt; \u202edlrow\u202c \x1b[31mred\u200b"
)
"""What would do harm, were it read as anything but text; shown, its characters that nobody would see are escapes."""
HOSTILE: Final = (
    f"# A heading {EVIL}\n\n{EVIL}\n\n![beacon](https://evil.example/x.png) [bad](javascript:alert(3))"
    " [data](data:text/html,x) [worse](JaVaScRiPt&colon;alert(4)) [good](https://example.com/a)\n\n"
    f"```html\n<script>alert(4)</script>\n```\n\n| a | {EVIL.replace('|', '')} |\n|---|---|\n| 1 | 2 |\n"
)


HARMLESS: Final = "make harmless"
SWAPPED: Final = "make harm"
SWAP: Final = "swap"
"""The pipe in its folder by which it is told to ask for something else."""


def told(prompt: str) -> Steps:
    """Part after part, at a pace that can be followed, until it is told that this is enough."""
    for number in count(1):
        yield thinks(f"What comes as number {number}?")
        yield says(
            f"Part {number} of *many*, which says nothing in particular, but takes its time to say so."
        )
        if number % 3 == 0:
            yield calls("Bash", command=f"echo {number}", output=f"{number}\n" * 3)
        if (yield waits(0.05)) is not None:
            break
    yield "That was all."


def waited(prompt: str) -> Steps:
    """What it is told while it works."""
    yield "I wait."
    heard = yield waits()
    yield f"I was told: {heard}"


def asked(prompt: str) -> Steps:
    answers = yield asks_user("Which colour shall it be?", "red", "blue")
    yield f"It is {next(iter(answers.values()))}." if answers else "Nobody says."


def made(prompt: str) -> Steps:
    yield "Made." if (yield asks("Bash", command="make all", output="ok")) else "Not made."


def harmed(prompt: str) -> Iterator[object]:
    yield thinks(f"a thought {EVIL}")
    yield HOSTILE
    yield calls(f"tool {EVIL}", path=EVIL, **{EVIL: EVIL}, output=EVIL)
    yield writes(f"\u202e{EVIL.replace('/', '∕')[:90]}.txt", f"{EVIL}\n")
    yield asks("Bash", command=f"echo '{EVIL}' # a\u00a0b\tc", output=EVIL)
    yield asks_user(EVIL, EVIL, "no")
    yield fails(EVIL)


STORIES: Final[dict[str, FakeTurn]] = {
    "tell": told,
    "wait": waited,
    "question": asked,
    "make": made,
    "long": [asks("Bash", command=LONG_LINE, output="ok"), "All of it."],
    "write": [writes("a.txt", "one\ntwo\n"), "Written."],
    "swap": [asks("Bash", command=HARMLESS, output="ok"), "Swapped."],
    "harm": lambda prompt: harmed(prompt),  # type: ignore[arg-type,return-value]
    "fail": [fails("It cannot be done.")],
    "exit": [exits(3, "out of order")],
    "spend": [spends(input_tokens=1000, output_tokens=100, cost_usd=0.25), "Spent."],
}
"""What is done for a prompt with this word; any other is said again."""


class Speaker(ClaudeSpeaker):
    """One that takes back what it has asked, and asks for something else by the same id."""

    def ask(self, call: Call) -> Verdict:
        if call.input.get("command") != HARMLESS:
            return super().ask(call)
        for line in (HARMLESS, SWAPPED):
            if line == SWAPPED:
                Path(SWAP).read_text("utf-8")
                self.send({"type": "control_cancel_request", "request_id": SWAP})
            asked = {"tool_name": "Bash", "input": {"command": line}, "tool_use_id": call.id}
            request = {"subtype": "can_use_tool", **asked}
            self.send({"type": "control_request", "request_id": SWAP, "request": request})
        while SWAP not in self._answers:
            self.hear()
        answer = self._answers.pop(SWAP)["response"]
        return Verdict(answer["behavior"] == "allow", input=answer.get("updatedInput"))


def steps_for(prompt: str) -> Steps:
    found = next((story for word, story in STORIES.items() if word in prompt.lower().split()), None)
    return steps_of(found if found is not None else f"You said: {prompt}", prompt)


def install(folder: Path) -> Path:
    """Put it into a folder of programs, under the name of Claude Code's."""
    checkout = Path(__file__).parents[2]
    program = folder / "claude"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(checkout)!r})\n"
        "from tests.browser.playing import main\nsys.exit(main())\n"
    )
    program.chmod(0o755)
    return folder


def main() -> int:
    """Play, to the end of what is said to it."""
    given = dict(zip(sys.argv, sys.argv[1:], strict=False))
    waking, _ = os.pipe()
    speaker = Speaker(
        Stage(0, 1, 2, waking),
        steps_for,
        Heard(),
        os.getcwd(),
        session=given.get("--session-id") or given["--resume"],
        mode=given["--permission-mode"],
        model=given.get("--model"),
    )
    return speaker.serve()

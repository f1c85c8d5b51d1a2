"""Generated lines against bash: `python -m tests.policy.shell_check 100000` (`make test-shell`).

A line that is sure, and all of whose commands are harmless, is run: the canary must stay untouched, and every program
that runs must be given exactly the words of one of its commands. A line in which the canary was not found, and which
hides nothing, is run as well: the canary must stay untouched too. Of the others a few are run, to see that they would have
touched it: else the generator were weak.
"""

import os
import sys
import time
from collections.abc import Callable
from itertools import islice
from multiprocessing import Pool

from msgspec import Struct, field

from dragoman._policy import shell
from tests.policy.shell_jail import BUILTINS, STUBS, Jail
from tests.policy.shell_lines import CANARY, Lines

HARMLESS = frozenset((*STUBS, *BUILTINS))
AT_ONCE = 2_500


class Figures(Struct):
    """What came of some lines."""

    lines: int = 0
    sure: int = 0
    allowed: int = 0
    """Sure, and every command is harmless: run."""
    found: int = 0
    hidden: int = 0
    neither: int = 0
    """Neither allowed nor found nor hidden: run."""
    sampled: int = 0
    """Of those found or hidden: run."""
    sampled_touched: int = 0
    compared: int = 0
    """Programs whose words were compared."""
    microseconds: int = 0
    bypasses: list[str] = field(default_factory=list)

    def add(self, other: "Figures") -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def __str__(self) -> str:
        parts = [f"{name} {getattr(self, name):,}" for name in self.__struct_fields__[:9]]
        speed = self.microseconds / max(1, self.lines)
        return f"{', '.join(parts)}, {speed:.0f} µs a line, bypasses {len(self.bypasses)}"


def check(
    seed: int, count: int, read: Callable[[str], shell.ShellLine] = shell.read, sample: int = 50
) -> Figures:
    """Reads so many lines of a seed, runs those that must be harmless, and says which were not."""
    figures = Figures(lines=count)
    jobs: list[tuple[str, str, list[list[str]]]] = []
    for number, text in enumerate(islice(Lines(seed), count)):
        began = time.perf_counter()
        line = read(text)
        figures.microseconds += int((time.perf_counter() - began) * 1e6)
        found = any(command[0].rsplit("/", 1)[-1] == CANARY for command in line.commands)
        figures.sure += line.sure
        figures.found += found
        figures.hidden += line.hidden
        if line.sure and all(command[0] in HARMLESS for command in line.commands):
            figures.allowed += 1
            jobs.append(("allowed", text, line.commands))
        elif not found and not line.hidden:
            figures.neither += 1
            jobs.append(("not denied", text, line.commands))
        elif number % sample == 0:
            figures.sampled += 1
            jobs.append(("", text, line.commands))
    jail = Jail()
    outcomes = jail.run([(text, why == "allowed") for why, text, _ in jobs])
    for (why, text, commands), (touched, ran) in zip(jobs, outcomes, strict=True):
        if not why:
            figures.sampled_touched += touched
        elif touched:
            figures.bypasses.append(f"{why}: {text!r} as {commands}")
        if why == "allowed" and not any(
            sign in text for sign in "*?[~"
        ):  # what a shell expands is not compared
            figures.compared += len(ran)
            figures.bypasses += [f"other words: {text!r} ran {each}" for each in ran if each not in commands]
    jail.close()
    return figures


def main(count: int, seed: int) -> int:
    total, began = Figures(), time.perf_counter()
    chunks = [(seed * 1_000 + at, min(AT_ONCE, count - at * AT_ONCE)) for at in range(-(-count // AT_ONCE))]
    with Pool(os.cpu_count()) as pool:
        for figures in pool.starmap(check, chunks, chunksize=1):
            total.add(figures)
    print(f"{total}, {time.perf_counter() - began:.0f} s")
    for bypass in total.bypasses:
        print(bypass)
    return bool(total.bypasses)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))

"""An agent that goes wrong in one way, in any dialect. Arguments: the dialect, the fault, its side file, a size.

Where the fault is that it goes on forever it says READY before: then it may be stopped.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from phrasebook import SPEAKERS, Mouth, heard

DIALECT, FAULT, LEDGER, SIZE = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
READY = "ready"

mouth = Mouth(LEDGER, times=2 if FAULT == "answers_twice" else 1)
speaker: Any = SPEAKERS[DIALECT]()
signal.signal(signal.SIGINT, signal.SIG_DFL)  # without a complaint on stderr


def begin() -> None:
    speaker.begin(mouth)
    mouth.say(speaker.text("hello"))


def ready() -> None:
    mouth.say(speaker.text(READY, id="ready"))


def end() -> None:
    mouth.say(speaker.end())


def forever() -> None:
    while True:
        time.sleep(60)


def ignore_all() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave_children() -> None:
    """In its own session: one that ignores SIGTERM; then an orphan, twice removed, that has a session too."""
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    deaf = "trap '' TERM; while :; do sleep 600; done"
    subprocess.Popen(["/bin/sh", "-c", deaf], start_new_session=True, **quiet)
    between = subprocess.Popen(["/bin/sh", "-c", "setsid sleep 600 &"], start_new_session=True, **quiet)
    between.wait()


# --- the faults ----------------------------------------------------------------------------------------------


def none() -> None:
    begin()
    mouth.say([*speaker.tool("t1"), *speaker.tool_ended("t1")])
    end()


def silent() -> None:
    forever()


def floods_stderr() -> None:
    begin()
    for _ in range(SIZE // 100_000):
        mouth.complain((b"e" * 99 + b"\n") * 1000)
    end()


def floods_stdout() -> None:
    """Many short lines; no message is long."""
    begin()
    written, number = 0, 0
    while written < SIZE:
        number += 1
        call = f"t{number}"
        lines = [*speaker.text("x" * 20, id=call) * 500, *speaker.tool(call), *speaker.tool_ended(call)]
        mouth.say(lines)
        written += sum(map(len, lines))
    end()


def never_ends_its_line() -> None:
    begin()
    ready()
    for _ in range(SIZE // 100_000):
        mouth.raw(b"x" * 100_000)
    forever()


def long_line() -> None:
    begin()
    mouth.say(speaker.text("x" * SIZE, id="long"))
    end()


def bad_utf8() -> None:
    begin()
    mouth.say(
        [text.replace(b"PLACE", b"\xff\xfe\x00\xed\xa0\xbd") for text in speaker.text("PLACE", id="odd")]
    )
    end()


def lone_surrogates() -> None:
    begin()
    mouth.say([text.replace(b"PLACE", rb"\ud83d and \ude00") for text in speaker.text("PLACE", id="odd")])
    end()


def dies_in_a_line() -> None:
    begin()
    mouth.raw(speaker.text("never heard", id="half")[0][:-12])
    sys.exit(1)


def dies_in_a_tool() -> None:
    begin()
    mouth.say(speaker.tool("t1"))
    leave_children()
    crash()


def exits_in_a_tool() -> None:
    """As if nothing were amiss."""
    begin()
    mouth.say(speaker.tool("t1"))
    leave_children()
    sys.exit(0)


def ignores_signals() -> None:
    ignore_all()
    begin()
    ready()
    forever()


def leaves_orphans() -> None:
    begin()
    mouth.say(speaker.tool("t1"))
    leave_children()
    ready()
    forever()


def waits_to_be_stopped() -> None:
    """No fault, but for the orphans: it lets itself be interrupted, and exits when there is no more to read."""
    begin()
    mouth.say(speaker.tool("t1"))
    leave_children()
    ready()
    while True:
        message = heard()
        if speaker.is_interrupt(message):
            mouth.say(speaker.interrupted(message))


def closes_stdout() -> None:
    begin()
    os.close(1)
    forever()


def closes_stdin() -> None:
    begin()
    os.close(0)
    if hasattr(speaker, "permission"):
        mouth.say(speaker.permission("t1"))
    end()


def answers_out_of_order() -> None:
    begin()
    mouth.say([*speaker.tool_ended("t1"), *speaker.tool("t1"), *speaker.end(), *speaker.text("late", id="2")])


def answers_twice() -> None:
    none()


def asks_and_never_reads() -> None:
    begin()
    for number in range(SIZE):
        mouth.say([*speaker.tool(f"t{number}"), *speaker.permission(f"t{number}")])
    ready()
    forever()


def asks_a_thousand_times() -> None:
    begin()
    ids = [f"t{number}" for number in range(1000)]
    mouth.say([text for id in ids for text in (*speaker.tool(id), *speaker.permission(id))])
    for _ in ids:
        while not speaker.is_answer(heard()):
            pass
    mouth.say([text for id in ids for text in speaker.tool_ended(id)])
    end()


def wrong_protocol() -> None:
    mouth.raw(
        b'HTTP/1.1 400 Bad Request\r\n\r\n<!doctype html>\n[]\n"text"\n42\nnull\n{"type":7}\n{"jsonrpc":"2.0"}\n'
    )
    sys.exit(0)


def no_result() -> None:
    begin()
    sys.exit(0)


def hangs_after_the_result() -> None:
    ignore_all()
    begin()
    end()
    forever()


FAULTS: dict[str, Callable[[], None]] = {
    fault.__name__: fault
    for fault in (
        none,
        silent,
        floods_stderr,
        floods_stdout,
        never_ends_its_line,
        long_line,
        bad_utf8,
        lone_surrogates,
        dies_in_a_line,
        dies_in_a_tool,
        exits_in_a_tool,
        ignores_signals,
        leaves_orphans,
        waits_to_be_stopped,
        closes_stdout,
        closes_stdin,
        answers_out_of_order,
        answers_twice,
        asks_and_never_reads,
        asks_a_thousand_times,
        wrong_protocol,
        no_result,
        hangs_after_the_result,
    )
}

FAULTS[FAULT]()

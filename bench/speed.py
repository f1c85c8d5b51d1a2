"""How fast lines become events, as ratios within one run: `make bench`.

Absolute times depend on the machine; what matters is the cost over merely parsing the same lines.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from dragoman._dialects import machine_for
from dragoman._files.streamed_text import FrameRedactor
from dragoman._model.frames import Frame, Launch
from dragoman._wire.event_json import encode
from dragoman._wire.lines import LineSplitter
from dragoman._wire.redaction import Redactor

CAPTURES = Path(__file__).parent.parent / "captures"
ROUNDS = 5
DELTA = (
    b'{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta",'
    b'"text":"a few words at a time"}},"session_id":"11111111-1111-4111-8111-111111111111",'
    b'"parent_tool_use_id":null,"uuid":"22222222-2222-4222-8222-222222222222"}'
)


def lines_of(dialect: str) -> list[bytes]:
    data = b"".join(path.read_bytes() for path in sorted(CAPTURES.glob(f"{dialect}/*/*/stdout.jsonl")))
    return [line for line in LineSplitter().feed(data) if line.startswith(b"{")]


def best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def events(dialect: str, lines: list[bytes], encoded: bool) -> None:
    machine = machine_for(dialect)
    machine.start(Launch(agent="bench", dialect=dialect))
    for n, line in enumerate(lines, 1):
        for event in machine.receive(Frame(n, "out", line, 0.5)).events:
            if encoded:
                encode(event)


def redacted(dialect: str, lines: list[bytes]) -> None:
    frames = FrameRedactor(Redactor(["a secret of its own"]), dialect)
    for n, line in enumerate(lines, 1):
        frames.line(Frame(n, "out", line))


def report(title: str, dialect: str, lines: list[bytes]) -> None:
    untyped = msgspec.json.Decoder()
    times = {
        "json.loads": best(lambda: [json.loads(line) for line in lines if b"\\ud83d" not in line]),
        "msgspec, untyped": best(lambda: [untyped.decode(line) for line in lines if b"\\ud83d" not in line]),
        "to events": best(lambda: events(dialect, lines, encoded=False)),
        "to events and JSON": best(lambda: events(dialect, lines, encoded=True)),
        "redacted": best(lambda: redacted(dialect, lines)),
    }
    unit = times["json.loads"]
    print(f"{title}: {len(lines)} lines, {sum(map(len, lines)) // max(len(lines), 1)} bytes each")
    for name, seconds in times.items():
        print(f"  {name:20} {seconds / len(lines) * 1e6:7.2f} µs a line   {seconds / unit:5.2f} × json.loads")


def main() -> int:
    report("claude_stream, all captures", "claude_stream", lines_of("claude_stream"))
    report("claude_stream, text deltas", "claude_stream", [DELTA] * 20_000)
    return 0


if __name__ == "__main__":
    sys.exit(main())

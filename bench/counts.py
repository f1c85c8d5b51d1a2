"""What is done for a line, counted: calls of Python functions, and times that JSON is decoded."""

import sys
from json import JSONDecoder
from types import FrameType
from typing import Any, NamedTuple

import msgspec

from bench.clock import Work


class Counts(NamedTuple):
    calls: int
    decodes: int


def counted(work: Work) -> Counts:
    """Of all that `work` calls."""
    calls = decodes = 0
    by_library = JSONDecoder.raw_decode.__code__

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls, decodes
        if event == "call":
            calls += 1
            decodes += frame.f_code is by_library
        elif event == "c_call" and argument.__name__ == "decode":
            decodes += isinstance(argument.__self__, msgspec.json.Decoder)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return Counts(calls, decodes)

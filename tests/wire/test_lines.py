"""Splitting bytes into lines."""

from hypothesis import given
from hypothesis import strategies as st

from dragoman._wire.lines import LineSplitter


def split(chunks: list[bytes]) -> tuple[list[bytes], bytes | None]:
    splitter = LineSplitter()
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines, splitter.close()


@given(st.lists(st.binary(max_size=20) | st.sampled_from([b"\n", b"a\nb", b"\r\n", b"\xe2\x80\xa8"])))
def test_chunks_do_not_matter(chunks: list[bytes]) -> None:
    data = b"".join(chunks)
    *lines, rest = data.split(b"\n")
    assert split(chunks) == (lines, rest or None)


def test_only_newline_bytes_end_a_line() -> None:
    odd = "a\u0085b\u2028c\u2029d\re\x0bf\x0cg".encode()
    assert split([odd + b"\n"]) == ([odd], None)


def test_a_last_line_without_newline_is_kept_once() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"one\ntw") == [b"one"]
    assert splitter.close() == b"tw"
    assert splitter.close() is None

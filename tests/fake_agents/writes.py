"""Writes what its arguments say, then exits: `text`, `cut` (a line without its newline), `line:N` (a line of N
bytes), `lines:N` (as many lines), `err:N` (as many bytes of stderr, in lines), `code:N` (the exit code)."""

import sys

HELLO = b'{"type":"text","text":"hello"}'


def write(order: str) -> None:
    what, _, size = order.partition(":")
    out, err = sys.stdout.buffer, sys.stderr.buffer
    if what == "text":
        out.write(HELLO + b"\n")
    elif what == "cut":
        out.write(HELLO[:-10])
    elif what == "unended":
        out.write(HELLO)
    elif what == "line":
        out.write(b'{"type":"text","text":"' + b"x" * int(size) + b'"}\n')
    elif what == "lines":
        for n in range(int(size)):
            out.write(b'{"type":"text","text":"%d"}\n' % n)
    elif what == "err":
        err.write((b"e" * 99 + b"\n") * (int(size) // 100))
    elif what == "code":
        sys.exit(int(size))
    out.flush()


for argument in sys.argv[1:]:
    write(argument)

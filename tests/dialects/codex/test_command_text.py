"""The script in a command line of Codex: nearly all lines are read without a shell's rules, to the same words."""

import shlex
from itertools import product

import pytest

from dragoman._dialects.codex.shared.values import command_text

SHELLS = ("bash", "/bin/bash", "'/my bin/bash'", "my\\ bash", '"bash"', "sudo bash", "", "ba\u00a0sh")
SCRIPTS = (
    "true", "'echo hi'", "''", '""', '"it\'s"', "'a' 'b'", "'a'b", '"a\\"b"', '"a\\nb"', '"$HOME"', "a\\ b", "a b",
    "'a\nb'", "'unclosed", "a'b c'd", "'tab\tin'", "#no", "'\u0085'", "a\u2028b", "'a' ", " 'a'", "'a'\n",
)  # fmt: skip


@pytest.mark.parametrize(
    "line", [f"{shell} {flag} {script}" for shell, flag, script in product(SHELLS, ("-lc", "-c"), SCRIPTS)]
)
def test_it_is_what_a_shell_would_run(line: str) -> None:
    try:
        words = shlex.split(line) if " -lc " in line else []
    except ValueError:
        words = []
    expected = words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else line
    assert command_text(line) == expected

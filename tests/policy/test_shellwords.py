"""What a command line runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._policy.shellwords import parsed, script, words


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("git log", [["git", "log"]]),
        ("git log; rm -rf x", [["git", "log"], ["rm", "-rf", "x"]]),
        ("git log && echo hi", [["git", "log"], ["echo", "hi"]]),
        ("git log | head -3", [["git", "log"], ["head", "-3"]]),
        ("git log\nrm x", [["git", "log"], ["rm", "x"]]),
        ("ls &", [["ls"]]),
        ("echo 'a; rm b' \"c && d\"", [["echo", "a; rm b", "c && d"]]),
        ("git log 2>/dev/null", [["git", "log"]]),
        ("git log 2>&1", [["git", "log"]]),
        ("echo $HOME a@b:c", [["echo", "$HOME", "a@b:c"]]),
        ("", []),
    ],
)
def test_plain_lines(text: str, commands: list[list[str]]) -> None:
    line = parsed(text)
    assert (line.commands, line.opaque) == (commands, False)


@pytest.mark.parametrize(
    "text",
    [
        "git log $(rm x)",
        "git log `rm x`",
        'echo "$(rm x)"',
        "cat <(rm x)",
        "echo $(echo $(rm x))",
        "sudo rm x",
        "env A=1 rm x",
        "timeout 5 rm x",
        "git ls-files | xargs rm x",
        "bash -c 'rm x'",
        "if true; then rm x; fi",
        "FOO=1 rm x",
        "find . -exec rm x {} ;",
        "sh -c 'bash -c \"rm x\"'",
        "/bin/bash -lc 'rm x'",
    ],
)
def test_hidden_commands_are_found_and_the_line_is_opaque(text: str) -> None:
    line = parsed(text)
    assert line.opaque
    assert any(words[:2] == ["rm", "x"] for words in line.commands)


@pytest.mark.parametrize(
    "text",
    [
        *("git log > out", "cat < in", "eval x", ". ./x", "'", "a=1", "echo ${x}", "x <<E\ny\nE"),
        *("git log --output=x", "git diff --outp x", "git show --ext-diff"),
    ],
)
def test_lines_that_nobody_can_vouch_for(text: str) -> None:
    assert parsed(text).opaque


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("/bin/bash -lc 'git log; ls'", "git log; ls"),
        ("sh -c ls", "ls"),
        ("bash -lc 'ls' extra", "bash -lc 'ls' extra"),
        ("rsync -c x", "rsync -c x"),
        ("git log", "git log"),
    ],
)
def test_the_script_of_a_shell(text: str, inner: str) -> None:
    assert script(text) == inner


def test_the_words_of_a_command() -> None:
    assert words("git commit -m 'a b'") == ["git", "commit", "-m", "a b"]
    assert words("it's") == ["it's"]


@given(st.text())
def test_nothing_raises(text: str) -> None:
    parsed(text)
    words(text)
    script(text)

"""Specification 001 §2: resume lines, for every engine, and what is none."""

import pytest

from dragoman._projections.untether import ResumeToken, find_resume, format_resume, parse_resume

TOKENS = {
    "claude": "8a1f2c3d-0000-4000-8000-123456789abc",
    "codex": "0199a213-81c0-7800-8aa1-bbab2a035a53",
    "gemini": "abc123def",
    "opencode": "ses_494719016ffe85dkDMj0FPRbHK",
    "pi": "/home/me/.pi/my session.jsonl",
    "amp": "T-5e1f0a3c-7d2b",
}

LINES = {
    "claude": "`claude --resume 8a1f2c3d-0000-4000-8000-123456789abc`",
    "codex": "`codex resume 0199a213-81c0-7800-8aa1-bbab2a035a53`",
    "gemini": "`gemini --resume abc123def`",
    "opencode": "`opencode --session ses_494719016ffe85dkDMj0FPRbHK`",
    "pi": '`pi --session "/home/me/.pi/my session.jsonl"`',
    "amp": "`amp threads continue T-5e1f0a3c-7d2b`",
}

CONTINUES = {
    "claude": ["claude --continue", "claude -c"],
    "codex": ["codex resume --last", "codex resume --last -"],
    "gemini": ["gemini --resume latest", "gemini --resume"],
    "opencode": ["opencode --continue", "opencode run -c"],
    "pi": ["pi --continue"],
}


@pytest.mark.parametrize("engine", TOKENS)
def test_there_and_back(engine: str) -> None:
    token = ResumeToken(engine, TOKENS[engine])
    assert format_resume(token) == LINES[engine]
    for text in (
        LINES[engine],
        LINES[engine].strip("`"),
        f"Done.\n\n  {LINES[engine]}  \r\nbye",
        f"↩️ {LINES[engine]}",
    ):
        assert parse_resume(engine, text) == token
        assert find_resume([text]) == token


@pytest.mark.parametrize("engine", TOKENS)
def test_the_last_one_counts(engine: str) -> None:
    first, last = TOKENS[engine] + "1", TOKENS[engine] + "2"
    text = "\n".join(str(format_resume(ResumeToken(engine, value))) for value in (first, last))
    assert parse_resume(engine, text) == ResumeToken(engine, last)


@pytest.mark.parametrize(
    ("engine", "line"), [(engine, line) for engine in CONTINUES for line in CONTINUES[engine]]
)
def test_the_most_recent_session_is_no_id(engine: str, line: str) -> None:
    """`--last` and `latest` stand where an id would."""
    token = parse_resume(engine, f"`{line}`")
    assert token == ResumeToken(engine, "", is_continue=True)
    assert parse_resume(engine, str(format_resume(token))) == token


def test_amp_has_no_word_for_the_most_recent() -> None:
    assert format_resume(ResumeToken("amp", "", is_continue=True)) is None
    assert format_resume(ResumeToken("unheard-of", "x")) is None
    assert parse_resume("unheard-of", "unheard-of --resume x") is None


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("claude", "please run claude --resume abc now"),
        ("claude", "claude --resume"),
        ("claude", "claude --resume --fork-session"),
        ("codex", "codex resume --all"),
        ("codex", "codex resume\nabc"),
        ("gemini", "gemini --resume abc/def"),
        ("gemini", "`gemini --resume abc def`"),
        ("opencode", "opencode --session abc"),
        ("amp", "amp threads continue abc"),
        ("gemini", "claude --resume abc"),
        ("claude", ""),
    ],
)
def test_what_is_no_resume_line(engine: str, text: str) -> None:
    assert parse_resume(engine, text) is None


@pytest.mark.parametrize(
    ("engine", "text", "value"),
    [
        ("claude", "claude -r abc", "abc"),
        ("claude", "CLAUDE --RESUME Abc", "Abc"),
        ("opencode", "opencode run -s ses_1", "ses_1"),
        ("gemini", "gemini —resume abc_D-1", "abc_D-1"),
        ("gemini", "gemini --resume latest\ngemini --resume abc", "abc"),
        ("pi", "pi --session 'a b'", "a b"),
    ],
)
def test_other_ways_to_write_it(engine: str, text: str, value: str) -> None:
    assert parse_resume(engine, text) == ResumeToken(engine, value)


def test_a_later_continue_counts_more_than_an_id() -> None:
    token = parse_resume("codex", "codex resume abc\ncodex resume --last")
    assert token == ResumeToken("codex", "", is_continue=True)


def test_what_was_written_counts_more_than_what_it_replies_to() -> None:
    texts = ["codex resume one", "claude --resume two"]
    assert find_resume(texts) == ResumeToken("codex", "one")
    assert find_resume(reversed(texts)) == ResumeToken("claude", "two")
    assert find_resume(["nothing", ""]) is None

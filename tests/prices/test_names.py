"""What a model is called, whatever is around its name."""

import pytest

from dragoman._prices.names import plain_name


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5-5[1m]", "claude-opus-5-5"),
        ("gpt-5.4[medium]", "gpt-5-4"),
        ("gpt-5.4 (high)", "gpt-5-4"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic.claude-opus-4-8-v1", "claude-opus-4-8"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4"),
        ("claude-opus-5-5@default", "claude-opus-5-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("openai/gpt-5.5-2026-04-23", "gpt-5-5"),
        ("models/gemini-2.5-pro", "gemini-2-5-pro"),
        ("publishers/google/models/gemini-2.5-pro", "gemini-2-5-pro"),
        ("google/gemini-3-flash-preview", "gemini-3-flash-preview"),
        (" Claude-Opus-5-5 ", "claude-opus-5-5"),
        ("groq/openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"),
        ("", ""),
        ("[1m]", ""),
    ],
)
def test_plain_name(written: str, plain: str) -> None:
    assert plain_name(written) == plain

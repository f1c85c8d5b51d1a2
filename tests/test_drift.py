"""What agents send and no native type names, listed per version: a new field is a change in a list, noticed here
before a user notices it."""

from pathlib import Path

import pytest

from tests.golden import CAPTURES, unnamed, versions


@pytest.mark.parametrize("version", versions(), ids=lambda path: str(path.relative_to(CAPTURES)))
def test_unnamed_fields_are_the_listed_ones(version: Path) -> None:
    assert unnamed(version) == (version / "unnamed.txt").read_text()


def test_an_added_field_is_noticed() -> None:
    from dragoman._dialects.claude.stream.messages import unnamed as of_line

    line = b'{"type":"result","subtype":"success","brand_new":1,"usage":{"also_new":2}}'
    assert of_line(line) == [("result/success", "brand_new")]
    assert of_line(b'{"type":"never_seen"}') == [("never_seen", "(unknown message)")]
    nested = b'{"type":"assistant","message":{"id":"m","content":[],"shiny":true}}'
    assert of_line(nested) == [("assistant", "message.shiny")]

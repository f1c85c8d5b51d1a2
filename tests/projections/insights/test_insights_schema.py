"""The JSON Schema of the Insights view."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dragoman._projections import insights
from dragoman._projections.published import PROFILES
from tests.projections.projected import CAPTURES, captured, name, shown

SCHEMA = jsonschema.Draft202012Validator(insights.schema())


@pytest.mark.parametrize("capture", CAPTURES, ids=name)
def test_views_of_captures_validate(capture: Path) -> None:
    for profile in PROFILES:
        for item in shown("insights", captured(capture), profile=profile):
            SCHEMA.validate(item)


@pytest.mark.parametrize(
    "wrong",
    [
        {"event": "text", "id": "1", "timestamp": "t", "provider": "claude", "sessionId": "s", "text": "a"},
        {"event": "nothing", "id": "1", "timestamp": "t", "provider": "claude", "sessionId": "s"},
        {"event": "turn_complete", "id": "1", "timestamp": "t", "provider": "goose", "sessionId": "s"},
        {"event": "turn_complete", "timestamp": "t", "provider": "claude", "sessionId": "s"},
    ],
)
def test_the_schema_refuses_what_is_wrong(wrong: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid(wrong)

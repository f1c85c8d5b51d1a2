"""What a model is called in a table of prices, whatever an agent or a cloud puts around its name."""

import re
from typing import Final

_BEFORE: Final = re.compile(
    r"(?:publishers/|models/|anthropic/|openai/|google/|gemini/|vertex_ai/|bedrock/"
    r"|(?:(?:us|us-gov|eu|apac|au|ca|jp|global)\.)?anthropic\.)"
)
_BEHIND: Final = re.compile(
    r"(?:\s*\[[^\[\]]*\]|\s*\([^()]*\)"  # [1m], [medium], (high)
    r"|@[\w.-]*|-v\d+(?::\d+)?"  # @20250929, @default, -v1:0
    r"|-\d{8}|-\d{4}-\d\d-\d\d)\Z"
)


def plain_name(model: str) -> str:
    """The bare name: no folder, region, version, date or effort; `-` for `.`, which some write for the other."""
    name = model.strip().lower()
    while (found := _BEFORE.match(name)) is not None:
        name = name[found.end() :]
    while (shorter := _BEHIND.sub("", name)) != name:
        name = shorter
    return name.replace(".", "-")

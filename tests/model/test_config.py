"""What a caller writes becomes a SessionConfig in one place, and what cannot be is refused there, by name."""

import collections
import math
import os
import types
from collections.abc import Mapping
from enum import StrEnum
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest
from msgspec import structs

from dragoman._model.config import (
    Options,
    Place,
    SessionConfig,
    StrPath,
    StrPaths,
    Words,
    checked,
    configured,
)
from dragoman._model.errors import UsageError

OWN_PARAMETERS = {"agent", "prompt", "approve"}
"""Fields that open() spells out beside its Options."""

STRING = "must be a non-empty string"
PATH = "must be a path, or None; not"
SWITCH = "must be True or False; not"
TEXTS = "must be a list of strings"
PATHS = "must be a list of paths"
FROM_1 = "must be a whole number from 1 on, or None; not"
ABOVE_0 = "must be a finite number above 0, or None; not"

# One row per field: values that it cannot hold, each with what is said of it after the field's name.
REFUSED: dict[str, list[tuple[Any, str]]] = {
    "agent": [(3, f"{STRING}; not 3"), ("", f"{STRING}; not ''"), (None, f"{STRING}; not None")],
    "prompt": [(3, "must be a string, or None; not 3"), (b"x", "must be a string, or None; not b'x'")],
    "images": [
        ("a.png", f"{PATHS}, such as ['a.png']; not 'a.png'"),
        ([None], "[0] must be a path; not None"),
    ],
    "resume": [(7, f"{STRING}, or None; not 7"), ("", f"{STRING}, or None; not ''")],
    "resume_at": [(7, f"{STRING}, or None; not 7")],
    "fork": [("yes", f"{SWITCH} 'yes'"), (1, f"{SWITCH} 1"), (None, f"{SWITCH} None")],
    "cwd": [("", f"{PATH} ''"), (b"/tmp", f"{PATH} b'/tmp'"), (["/"], f"{PATH} ['/']")],
    "add_dirs": [
        ("/tmp", f"{PATHS}, such as ['/tmp']; not '/tmp'"),
        ([1], "[0] must be a path; not 1"),
        ([""], "[0] must be a path; not ''"),
    ],
    "model": [(5, f"{STRING}, or None; not 5"), (Path("m"), f"{STRING}, or None; not PosixPath('m')")],
    "approve": [
        (
            "yes",
            "must be one of ask, dangerous, edits, all, plan, never, or a function that decides; not 'yes'",
        ),
        (
            True,
            "must be one of ask, dangerous, edits, all, plan, never, or a function that decides; not True",
        ),
        (
            None,
            "must be one of ask, dangerous, edits, all, plan, never, or a function that decides; not None",
        ),
    ],
    "policy": [({}, f"{PATH} {{}}"), ("", f"{PATH} ''")],
    "trusted": [
        ("yes", "must be True or False, or None; not 'yes'"),
        (1, "must be True or False, or None; not 1"),
    ],
    "sandbox": [("beach", "must be one of none, read-only, workspace, full; not 'beach'")],
    "allowed_tools": [([1], "[0] must be a string; not 1"), ({"Bash"}, f"{TEXTS}; not {{'Bash'}}")],
    "blocked_tools": [("Bash", f"{TEXTS}, such as ['Bash']; not 'Bash'"), (None, f"{TEXTS}; not None")],
    "max_turns": [
        (-1, f"{FROM_1} -1"),
        (0, f"{FROM_1} 0"),
        ("three", f"{FROM_1} 'three'"),
        (True, f"{FROM_1} True"),
    ],
    "max_cost_usd": [(0, f"{ABOVE_0} 0"), ("1", f"{ABOVE_0} '1'"), (math.nan, f"{ABOVE_0} nan")],
    "allow_unknown_cost": [(0, f"{SWITCH} 0")],
    "max_tokens": [(0, f"{FROM_1} 0"), (1.5, f"{FROM_1} 1.5")],
    "max_tool_calls": [(-1, "must be a whole number from 0 on, or None; not -1")],
    "timeout": [
        ("soon", f"{ABOVE_0} 'soon'"),
        (math.inf, f"{ABOVE_0} inf"),
        (0, f"{ABOVE_0} 0"),
        (-1, f"{ABOVE_0} -1"),
    ],
    "start_timeout": [(0, f"{ABOVE_0} 0")],
    "idle_timeout": [(math.nan, f"{ABOVE_0} nan"), (False, f"{ABOVE_0} False")],
    "env": [
        ({"A": 1}, "['A'] must be a string; not 1"),
        ({1: "A"}, "a key of env must be a string; not 1"),
        (["A=1"], "must be a dict of strings; not ['A=1']"),
    ],
    "inherit_env": [
        ("all", "must be True, False or 'known'; not 'all'"),
        (1, "must be True, False or 'known'; not 1"),
    ],
    "mcp_servers": [
        ([{"command": "x"}], "must be a dict of dicts; not [{'command': 'x'}]"),
        ({"db": "x"}, "['db'] must be a dict; not 'x'"),
        ({"db": {"args": ["x"]}}, "['db'] must have a command or a url; it has: args"),
        ({"db": {}}, "['db'] must have a command or a url; it has: nothing"),
        ({"db": {"command": ["x"]}}, "['db']['command'] must be a non-empty string; not ['x']"),
        ({"db": {"url": 5}}, "['db']['url'] must be a non-empty string; not 5"),
        ({"db": {"command": "x", "args": "-v"}}, f"['db']['args'] {TEXTS}, such as ['-v']; not '-v'"),
        ({"db": {"command": "x", "env": {"K": 1}}}, "['db']['env']['K'] must be a string; not 1"),
        ({"db": {"url": "u", "headers": []}}, "['db']['headers'] must be a dict of strings; not []"),
        ({"db": {"command": "x", "extra": {1}}}, "must be what JSON can hold"),
    ],
    "output_schema": [
        ("{}", "must be a dict, or None; not '{}'"),
        ({"enum": {1}}, "must be what JSON can hold"),
    ],
    "dialect": [(1, f"{STRING}, or None; not 1"), ("", f"{STRING}, or None; not ''")],
    "executable": [(1, f"{PATH} 1"), ("", f"{PATH} ''")],
    "extra_args": [("-v", f"{TEXTS}, such as ['-v']; not '-v'"), (("-n", 3), "[1] must be a string; not 3")],
    "host": [("no", f"{SWITCH} 'no'")],
    "serialize": [(None, f"{SWITCH} None")],
    "native": [([], "must be a dict; not []"), ({1: 2}, "a key of native must be a string; not 1")],
    "keep_lines": [("x" * 100, f"{SWITCH} '{'x' * 27}...{'x' * 28}'")],
    "record": [(object, f"{PATH} <class 'object'>"), ("", f"{PATH} ''")],
    "overwrite": [("yes", f"{SWITCH} 'yes'")],
    "redact": [(0, f"{SWITCH} 0")],
    "share": [("yes", f"{SWITCH} 'yes'")],
}


def test_every_field_has_a_row() -> None:
    assert list(REFUSED) == list(SessionConfig.__struct_fields__)


@pytest.mark.parametrize(
    ("name", "value", "said"), [(name, *row) for name, rows in REFUSED.items() for row in rows]
)
def test_what_a_field_cannot_hold_is_refused_by_name(name: str, value: Any, said: str) -> None:
    """From the options of a call, from a configuration made by hand, and from one changed with structs.replace."""
    made = SessionConfig(**{"agent": "claude", name: value})
    replaced = structs.replace(SessionConfig(agent="claude"), **{name: value})
    for agent, options in (
        ("claude", {name: value}),
        (made, {}),
        (replaced, {"max_turns": 3} | {name: value}),
    ):
        with pytest.raises(UsageError) as raised:
            configured(agent, options)
        assert said in raised.value.message
        assert name in raised.value.message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("modle", "there is no option 'modle': did you mean model?"),
        ("Timeout", "there is no option 'Timeout': did you mean timeout?"),
        ("block_tools", "there is no option 'block_tools': did you mean blocked_tools?"),
        ("zzz", "there is no option 'zzz'; there are: agent, prompt, images"),
    ],
)
def test_an_option_that_there_is_not(name: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        configured("claude", {name: 1})
    assert raised.value.message.startswith(said)


def test_what_makes_no_sense_together() -> None:
    with pytest.raises(UsageError, match="fork needs resume"):
        configured("claude", {"fork": True})
    with pytest.raises(UsageError, match="fork needs resume"):
        configured(SessionConfig(agent="claude", fork=True), {})


class Model(StrEnum):
    SMALL = "small"


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("cwd", Path("/a/b"), "/a/b"),
        ("record", Path("run.jsonl"), "run.jsonl"),
        ("model", Model.SMALL, "small"),
        ("allowed_tools", ("Read", "Grep"), ["Read", "Grep"]),
        ("timeout", 3, 3.0),
        ("max_tool_calls", 0, 0),
        ("env", types.MappingProxyType({"A": "1"}), {"A": "1"}),
        ("native", collections.OrderedDict(x=1), {"x": 1}),
        ("mcp_servers", {"a": collections.ChainMap({"url": "u"})}, {"a": {"url": "u"}}),
        ("inherit_env", False, False),
        ("output_schema", None, None),
    ],
)
def test_what_may_be_written_in_other_ways(name: str, value: Any, kept: Any) -> None:
    fitted = checked(name, value)
    assert fitted == kept
    assert not isinstance(fitted, os.PathLike | tuple)


def test_what_was_given_is_not_what_is_kept() -> None:
    """A caller's list that grows later changes no session."""
    tools = ["Read"]
    config = configured("claude", {"allowed_tools": tools})
    tools.append("Bash")
    assert config.allowed_tools == ["Read"]


def test_options_come_over_the_given_configuration_which_stays_as_it_is() -> None:
    given = SessionConfig(agent="claude", model="a", timeout=3.0)
    config = configured(given, {"model": "b"})
    assert (config.model, config.timeout, given.model) == ("b", 3.0, "a")


def test_keys_are_not_in_messages() -> None:
    secret = "sk-000000000000"
    for value in (
        [{"env": {"KEY": secret}}],
        {"a": {"env": {"KEY": secret, "n": 1}}},
        {"a": {"env": {"KEY": secret}}},
    ):
        with pytest.raises(UsageError) as raised:
            configured("claude", {"mcp_servers": value})
        assert secret not in raised.value.message


def written(kind: Any) -> Any:
    """How a caller may write what a field holds."""
    if get_origin(kind) in (Union, types.UnionType):
        return reduce(or_, map(written, get_args(kind)))
    if kind is Place:
        return StrPath
    if get_origin(kind) is Annotated:
        return get_args(kind)[0]
    if kind == list[str]:
        return Words
    if kind == list[Place]:
        return StrPaths
    if get_origin(kind) is dict:
        return Mapping[str, written(get_args(kind)[1])]  # type: ignore[misc]
    return kind


def test_options_are_the_fields_of_the_configuration() -> None:
    fields = get_type_hints(SessionConfig, include_extras=True)
    options = get_type_hints(Options, include_extras=True)
    assert options == {name: written(kind) for name, kind in fields.items() if name not in OWN_PARAMETERS}
    assert list(options) == [name for name in fields if name not in OWN_PARAMETERS]
    assert Options.__required_keys__ == frozenset()

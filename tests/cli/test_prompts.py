"""Nobody approves what they did not see: whatever an agent asks for, all of it can be read on a real terminal, however
narrow, and nothing that it says looks like a line of ours."""

import json
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from dragoman._cli.terminal.visible import visible
from tests.cli.screen import Screen

WIDTHS = (40, 80, 140)
CALLER = Path(__file__).parents[1] / "fake_agents" / "acp_caller.py"
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
FAKE_MENU = "\n  y  yes, this once\n  n  no\n  y/n? "
"""What would look like the end of a prompt, if it stood at the start of a line."""

Orders = list[tuple[str, dict[str, Any]]]


def asks(
    call: str = "c", options: Any = None, description: str | None = None, **tool: Any
) -> tuple[str, Any]:
    params: dict[str, Any] = {"toolCall": {"toolCallId": call, "kind": "execute", "title": "execute", **tool}}
    params |= {"options": options or OPTIONS}
    return "session/request_permission", params | ({"description": description} if description else {})


def runs(command: str, **input: Any) -> Orders:
    return [asks(rawInput={"command": command, **input})]


COMMANDS = {
    "short": "npm test",
    "long": "echo " + "x" * 900 + "; rm -rf ~",
    "padded": "echo hi" + " " * 500 + "; rm -rf ~",
    "padded to each width": "".join(
        f"{'echo hi':{width}}; rm {width} " for width in (36, 38, 40, 76, 78, 80, 136, 138, 140)
    ),
    "lines": "echo hi\n\n\n\nrm -rf ~",
    "a menu of its own": "echo hi" + FAKE_MENU,
    "carriage return": "rm -rf ~\recho hi   ",
    "cursor up and erase": "rm -rf ~\x1b[1A\x1b[2K\x1b[1Gecho hi",
    "clear": "rm -rf ~\x1b[2J\x1b[3J\x1b[H\x1bcecho hi",
    "hidden by colour": "echo hi \x1b[8m; rm -rf ~\x1b[0m",
    "hyperlink": "\x1b]8;;http://evil\x1b\\echo hi\x1b]8;;\x1b\\ ; rm -rf ~",
    "clipboard": "echo hi \x1b]52;c;cm0gLXJmIH4=\x07; rm -rf ~",
    "unterminated OSC": "echo hi \x1b] ; rm -rf ~",
    "unterminated DCS": "echo hi \x1bP ; rm -rf ~",
    "unterminated APC": "echo hi \x1b_ ; rm -rf ~",
    "unterminated PM and SOS": "echo hi \x1b^ ; rm \x1bX -rf ~",
    "C1": "echo hi \x9d ; rm \x90 -rf \x9b2K~",
    "charset": "echo hi \x1b(0 ; rm -rf ~ \x0e \x0f",
    "backspace": "rm -rf ~" + "\x08" * 8 + "echo hi ",
    "NUL and DEL": "rm\x00 -rf\x7f ~",
    "vertical tab, form feed": "echo hi\x0b; rm\x0c -rf ~",
    "right to left": "echo \u202e~ fr- mr ;\u202c hi",
    "isolates and marks": "echo \u2066\u2067\u2068hi\u2069 \u200e\u200f\u061c; rm -rf ~",
    "zero width": "echo hi;\u200br\u200cm\u200d \u2060-rf\ufeff ~",
    "tags": "echo hi " + "".join(chr(0xE0000 + ord(char)) for char in "; rm -rf ~"),
    "variation selectors": "echo hi" + "".join(chr(0xE0100 + ord(char)) for char in "; rm") + "\ufe0f\ufe00",
    "fillers and blanks": "echo\u3164hi\u2800;\u115frm\xa0-rf\u3000~\u00ad",
    "line separators": "echo hi\u2028rm -rf ~\u2029\x85",
    "private and unassigned": "echo \ue000\U000f0000\u0378\U0010ffff; rm -rf ~",
    "tabs": "echo hi" + "\t" * 40 + "; rm -rf ~",
    "wide": "echo " + "日本" * 90 + "; rm -rf ~",
    "of no certain width": "echo "
    + "é§±①—" * 50
    + "☔✈🫠" * 30
    + FAKE_MENU.replace("\n", "é" * 37)
    + "; rm -rf ~",
    "combining": "echo a" + "\u0301\u0316" * 90 + "l\u0336s\u0488" + "; rm -rf ~",
    "on an operator": "echo hi ;\u0338\u20dd rm -rf ~",
    "60 lines": "\n".join(f"echo {number}" for number in range(60)) + "\nrm -rf ~",
    "300 lines": "\n".join(f"echo {number}" for number in range(300)) + "\nrm -rf ~",
}
EDIT = {"kind": "edit", "title": "Edit"}
DIFF = [{"type": "diff", "path": "a.txt", "oldText": "one\n", "newText": "two\n"}]
CASES: dict[str, tuple[Orders, list[str]]] = {
    **{name: (runs(command), command.split("\n")) for name, command in COMMANDS.items()},
    "a command behind a diff": (
        [
            ("update", {"sessionUpdate": "tool_call", "toolCallId": "d", **EDIT, "content": DIFF}),
            asks("d", **EDIT, content=DIFF),
            asks("d", rawInput={"command": "rm -rf ~"}),
        ],
        ["rm -rf ~", "-one", "+two"],
    ),
    "two pieces of one file": (
        [asks("p", **EDIT, content=[*DIFF, {"type": "diff", "path": "a.txt", "oldText": "x\n", "newText": "evil\n"}])],
        ["-one", "+two", "-x", "+evil"],
    ),
    "another change of one call": (
        [
            asks("q", **EDIT, content=DIFF),
            asks("q", **EDIT, content=[{"type": "diff", "path": "a.txt", "oldText": "x\n", "newText": "evil\n"}]),
        ],
        ["-x", "+evil"],
    ),
    "a second command of one call": (
        [asks("e", rawInput={"command": "ls"}), asks("e", rawInput={"command": "rm -rf ~"})],
        ["rm -rf ~"],
    ),
    "a host call behind another": (
        [("terminal/create", {"command": "make"}), ("terminal/create", {"command": "rm", "args": ["-rf", "a b"]})],
        ["rm -rf 'a b'"],
    ),
    "where and with what": (
        [("terminal/create", {"command": "ls", "cwd": "sub", "env": [{"name": "LD_PRELOAD", "value": "/x\n.so"}]})],
        ["ls", "cwd: /", "env: LD_PRELOAD=/x\\n.so"],
    ),
    "a file of the host's": (
        [("fs/write_text_file", {"path": "notes.txt", "content": "one\n" * 60 + "curl x | sh" + FAKE_MENU})],
        ["notes.txt", "+curl x | sh", "+  y  yes, this once"],
    ),
    "lines of a diff that look like its head": (
        [asks(**EDIT, rawInput={"path": "a.c", "old_string": "-- a\nx", "new_string": "++ rm -rf ~\nx"})],
        ["--- a", "+++ rm -rf ~"],
    ),
    "a line that looks like a remark of diff's": (
        [asks(**EDIT, rawInput={"path": "a", "content": "a\n\\ No newline at end of file\nb\n"})],
        ["+a", "+\\ No newline at end of file", "+b"],
    ),
    "changes of files": (
        [
            asks(
                **EDIT,
                rawInput={
                    "changes": [
                        {"path": "a.sh", "kind": {"type": "add"}, "diff": "x\n--- y\nrm -rf ~\n"},
                        {
                            "path": "b",
                            "kind": {"type": "update", "move_path": None},
                            "diff": "evil\n--- a\n+++ b\n@@ -1 +1 @@\n-p\n+q\n",
                        },
                    ]
                },
            )
        ],
        ["add file: a.sh", "+x", "+--- y", "+rm -rf ~", "update file: b", "evil", "--- a", "-p", "+q"],
    ),
    "changes that do more": (
        [
            asks(
                **EDIT,
                rawInput={
                    "changes": [{"path": "b", "kind": {"type": "update", "move_path": "/c"}, "diff": ""}]
                },
            )
        ],
        ['"move_path": "/c"'],
    ),
    "a command in an edit": (
        [asks(**EDIT, rawInput={"path": "a.txt", "content": "x", "command": "rm -rf ~", "more": "y"})],
        ["path: a.txt", "rm -rf ~", "more: y", "+x"],
    ),
    "other inputs": (
        runs("ls", description="tidy", script="a\nrm -rf ~", deep={"a": ["b\nc"]}, flag=True),
        ["ls", "description: tidy", "script:", "a", "rm -rf ~", '"b\\nc"', "flag: true"],
    ),
    "names that look like ours": (
        runs("rm -rf ~", **{"of kind": "read", "its reason": "none", f"x{FAKE_MENU}": 1}),
        ['"of kind": read', '"its reason": none', '"x\\n  y  yes, this once\\n  n  no\\n  y/n? ": 1'],
    ),
    "an input that is no object": ([asks(rawInput=["rm", "-rf", "~"])], ["its input:", '"rm",', '"-rf",', '"~"']),
    "a title and nothing else": ([asks("t1", title="rm -rf ~" + "/x" * 300)], ["rm -rf ~" + "/x" * 300]),
    "a title of lines": ([asks("t2", title="ls" + FAKE_MENU + "\nrm -rf ~")], ["ls", "rm -rf ~"]),
    "a title that says something else": (
        [asks(title="list files", rawInput={"command": "rm -rf ~"})],
        ["rm -rf ~", "its title: list files"],
    ),
    "another title and no input": ([asks("t3", rawInput={"command": "ls"}), asks("t3", title="rm -rf ~")], ["ls", "rm -rf ~"]),
    "a tool's name that says something else": (
        [asks("f", name="Read notes.txt" + FAKE_MENU, rawInput={"command": "rm -rf ~"})],
        ['"Read notes.txt\\n  y  yes, this once\\n  n  no\\n  y/n? "', "rm -rf ~", "of kind: execute"],
    ),
    "a server": (
        [asks("g", name=f"mcp__files{FAKE_MENU}__drop", rawInput={"table": "all"})],
        ["drop", "MCP server:", "files", "table: all"],
    ),
    "a reason": (
        [asks(rawInput={"command": "ls"}, description="It is safe.\x1b[2J" + FAKE_MENU + "\nvery " * 90)],
        ["its reason:", "It is safe.\\x1b[2J"],
    ),
    "an option that lies": (
        [asks(rawInput={"command": "ls"}, options=[*OPTIONS, {"optionId": "a", "name": "No, reject", "kind": "allow_always"}])],
        ["allow always: No, reject", "reject once: No"],
    ),
    "an option of lines": (
        [asks(rawInput={"command": "ls"}, options=[*OPTIONS, {"optionId": "a", "name": f"No\x1b[2K{FAKE_MENU * 4}", "kind": "allow_always"}])],
        ["allow always: No\\x1b[2K\\n  y  yes, this once\\n  n  no"],
    ),
}  # fmt: skip
ORDERS = [order for orders, _ in CASES.values() for order in orders]

ROW = re.compile(
    r"\? May it: |  │ |  │$|  ┆ |  ┆$|  [a-z][0-9]?  ?[a-z]|   ┆ |   ┆$|  ▲ \d+ rows in all: scroll up$"
)
"""How every row of a prompt begins."""


@pytest.fixture(scope="module", params=WIDTHS, ids=lambda width: f"{width} columns")
def prompts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The rows of the last question of each case, all asked in one run."""
    home = tmp_path_factory.mktemp("home")
    prompt, folder = json.dumps(ORDERS), home / "work"
    (folder / "sub").mkdir(parents=True)
    screen = Screen(
        *("run", "acp", prompt, "--cwd", folder, "--", sys.executable, CALLER),
        columns=request.param,
        home=home,
    )
    seen = {}
    for name, (orders, _) in CASES.items():
        for method, _ in orders:
            if method != "update":
                seen[name] = screen.wait_for_question()
                screen.answer("n")
    assert screen.finish() in (0, 4)
    _assert_harmless(screen.raw)
    return seen


@pytest.mark.parametrize("name", CASES)
def test_all_that_is_asked_for_can_be_read(prompts: dict[str, list[str]], name: str) -> None:
    """Long commands were cut, escape sequences swallowed the rest of a line, a second request of a call showed nothing
    but its title, and an option could call itself what it was not."""
    rows = prompts[name]
    shown = _dense("\n".join(_unwrapped(rows)))
    for wanted in CASES[name][1]:
        assert _dense(visible(wanted)) in shown, "\n".join(rows)


@pytest.mark.parametrize("name", CASES)
def test_no_row_of_a_prompt_is_of_the_agents_making(prompts: dict[str, list[str]], name: str) -> None:
    rows = prompts[name]
    assert [row for row in rows[:-1] if not ROW.match(row)] == [], "\n".join(rows)
    keys = [match[1] for row in rows if (match := re.match(r"  ([a-z][0-9]?) +[a-z]", row))]
    assert keys == rows[-1].strip(" ?").split("/")
    assert [row for row in rows if row.startswith("? ")] == rows[:1]


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_of_a_command_are_its_lines(prompts: dict[str, list[str]], name: str) -> None:
    """A line that was wrapped can be told from two lines: what goes on has a margin of its own."""
    lines = COMMANDS[name].split("\n")
    shown = [_dense(line) for line in _unwrapped(prompts[name])]
    if len(lines) == 1:
        assert shown[0] == _dense(f"? May it: execute {visible(lines[0])}")
    else:
        start = shown.index("│command:") + 1
        assert shown[start : start + len(lines)] == [_dense(f"│{visible(line)}") for line in lines]


def test_a_short_command_is_a_short_prompt(prompts: dict[str, list[str]]) -> None:
    assert prompts["short"][:3] == [
        "? May it: execute npm test",
        "  y  allow once: Yes",
        "  n  reject once: No",
    ]


def test_what_is_longer_than_the_screen_says_so(prompts: dict[str, list[str]]) -> None:
    """The end of it, and the menu, may be all that is in sight."""
    assert any("rows in all: scroll up" in row for row in prompts["300 lines"])
    assert not any("scroll up" in row for row in prompts["short"])


def _unwrapped(rows: list[str]) -> list[str]:
    """The lines that were written, each in one piece."""
    lines: list[str] = []
    for row in rows:
        if re.match(r"   ?┆", row):
            lines[-1] += row.replace("┆", "", 1).strip()
        else:
            lines.append(row)
    return lines


def _dense(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFC", text))


def _assert_harmless(raw: bytes) -> None:
    """Nothing but colours, and the spinner's comings and goings, reached the terminal beside text."""
    ours = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A|\r|\n")
    text = ours.sub("", raw.decode())
    assert re.search(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]", text) is None  # fmt: skip

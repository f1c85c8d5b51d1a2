"""What is set, and what comes before what."""

import os
from pathlib import Path

import pytest

from dragoman._model.errors import UsageError
from dragoman._settings.settings import PREFIX, Setting, load, user_file


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in [name for name in os.environ if name.startswith(PREFIX) or name == "NO_COLOR"]:
        monkeypatch.delenv(name)


def write(text: str) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(text)


def test_defaults(tmp_path: Path) -> None:
    found = load().all
    assert {setting.source for setting in found.values()} == {"default"}
    assert {key: setting.value for key, setting in found.items()} == {
        "agent": None,
        "approve": "ask",
        "model": None,
        "record": True,
        "colours": "auto",
        "library": str(tmp_path / "data" / "dragoman" / "library.db"),
    }


def test_what_comes_before_what(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load()["colours"] == "auto"
    write('colours = "always"')
    assert load().find("colours") == Setting("always", "file", str(user_file()))
    monkeypatch.setenv("NO_COLOR", "1")
    assert load().find("colours") == Setting("never", "environment", "NO_COLOR")
    monkeypatch.setenv("DRAGOMAN_COLOURS", "auto")
    assert load().find("colours") == Setting("auto", "environment", "DRAGOMAN_COLOURS")
    assert load({"colours": ("never", "--no-color")}).find("colours") == Setting(
        "never", "command line", "--no-color"
    )


@pytest.mark.parametrize(("said", "value"), [("1", True), ("true", True), ("0", False), ("false", False)])
def test_yes_and_no_in_the_environment(monkeypatch: pytest.MonkeyPatch, said: str, value: bool) -> None:
    monkeypatch.setenv("DRAGOMAN_RECORD", said)
    assert load()["record"] is value


def test_an_empty_variable_sets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_AGENT", "")
    monkeypatch.setenv("NO_COLOR", "")
    assert {setting.source for setting in load().all.values()} == {"default"}


def test_a_table_for_one_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        'model = "any"\napprove = "edits"\n[agents.codex]\nmodel = "gpt-5.5"\n[agents.claude]\napprove = "plan"'
    )
    settings = load()
    assert (settings.of("model", "codex"), settings.of("approve", "codex")) == ("gpt-5.5", "edits")
    assert (settings.of("model", "claude"), settings.of("approve", "claude")) == ("any", "plan")
    assert settings["agents.codex.model"] == "gpt-5.5"
    monkeypatch.setenv("DRAGOMAN_MODEL", "now")
    assert load().of("model", "codex") == "now"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("agnet = 'x'", "agnet"),
        ("approve = 'sometimes'", "sometimes"),
        ("record = 'no'", "record"),
        ("agents.codex.colours = 'auto'", "colours"),
        ("model = =", "line 1"),
    ],
)
def test_a_file_that_is_not_right(text: str, says: str) -> None:
    write(text)
    with pytest.raises(UsageError, match=says) as error:
        load()
    assert str(user_file()) in error.value.message
    assert "docs/settings.md" in error.value.message


def test_a_file_that_is_no_text() -> None:
    write("")
    user_file().write_bytes(b'model = "\xff"')
    with pytest.raises(UsageError, match="utf-8"):
        load()


def test_a_file_that_cannot_be_read() -> None:
    user_file().mkdir(parents=True)
    with pytest.raises(UsageError, match="the settings in"):
        load()


def test_a_variable_that_is_not_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_APPROVE", "sometimes")
    with pytest.raises(UsageError, match="DRAGOMAN_APPROVE is not right"):
        load()


def test_a_setting_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="did you mean approve"):
        load()["aprove"]

"""Secrets do not reach the recording, and what is no secret is left alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman._files.convert import convert
from dragoman._files.recording import RecordingWriter, read_recording
from dragoman._files.redaction import Redactor, is_secret_name, secrets_in
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.event_json import encode
from dragoman.api import ask
from tests.runtime.toy_agent import TOY

TAIL = "AbCdEfGh0123456789"
KEYS = [
    f"sk-ant-api03-{TAIL}",
    f"sk-proj-{TAIL}",
    f"ghp_{TAIL}{TAIL}",
    f"github_pat_{TAIL}_{TAIL}",
    f"glpat-{TAIL}xyz",
    f"AIza{TAIL}{TAIL}"[:39],
    "AKIAIOSFODNN7EXAMPLE",
    f"xoxb-{TAIL}",
    f"npm_{TAIL}{TAIL}",
    f"eyJ{TAIL}.eyJ{TAIL}.{TAIL}",
]
HARMLESS = [
    "sk-circle-fade-dot-animation",
    f"task-ant-api03-{TAIL}",
    "the AKIA prefix and the sk- prefix",
    f"data:image/png;base64,iVBORw0KAAKIA{TAIL.upper()}AIza{TAIL}{TAIL}==",
    "Bearer of bad news",
    "toolu_01AbCdEfGh0123456789",
    "0198c0de-0123-7abc-8def-0123456789ab",
]


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_known_by_their_looks(key: str) -> None:
    redactor = Redactor()
    for text in (
        key,
        f"KEY={key}",
        f'"{key}"',
        f"first\n{key}\nlast",
        f"\x1b[32m{key}\x1b[0m",
        f"url/?key={key}&x",
    ):
        line = json.dumps({"text": text, "inner": json.dumps({"text": text})}).encode()
        redacted = redactor.line(line)
        assert key[-12:].encode() not in redacted
        assert json.loads(redacted)["text"] == text.replace(key, "[redacted]")
        assert redactor.line(redacted) == redacted


def test_what_comes_after_bearer_goes_and_the_word_stays() -> None:
    assert (
        Redactor().line(b"Authorization: Bearer abcdefgh.ijklmnop/=") == b"Authorization: Bearer [redacted]"
    )


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_key_stays(text: str) -> None:
    assert Redactor().line(text.encode()) == text.encode()


@given(st.text(st.characters(exclude_characters='":,{}'), min_size=8))
@example('say "hello" to C:\\temp')
@example("0000000\ud800")
@example("\udc80\udcff\ud83d\ude00 word")
def test_known_secrets_go_in_any_spelling_and_json_stays_json(secret: str) -> None:
    """What is spelled like JSON itself cannot be told from it, and is nobody's password."""
    secret = secret.strip()
    line = json.dumps({"is": secret, "in": json.dumps(secret), "n": 12345678901}).encode()
    redacted = Redactor([secret]).line(line)
    said = json.loads(redacted)
    assert list(said) == ["is", "in", "n"]
    if len(secret) >= 8 and set(secret) != {"9"}:
        assert secret not in said.values()


@pytest.mark.parametrize("secret", ["0000000\ud800", "p\udce4ssword", "\udce4\ud800 password", "pässword"])
def test_a_known_secret_need_not_be_utf8(secret: str) -> None:
    redactor = Redactor([secret])
    escaped = json.dumps([secret]).encode()
    assert redactor.line(escaped) == b'["[redacted]"]'
    assert redactor.line(secret.encode("utf-8", "surrogatepass")) == b"[redacted]"
    assert redactor.value({"argv": ["x", secret]}) == {"argv": ["x", "[redacted]"]}


def test_a_byte_in_a_variable_that_is_no_utf8_is_known_as_that_byte() -> None:
    """Python tells the byte E4 of a variable as U+DCE4."""
    redactor = Redactor(["p\udce4ssword", "\udca4sswords"])
    assert redactor.line(b"is p\xe4ssword") == b"is [redacted]"
    assert redactor.value("pässwords") == "p\ufffd[redacted]"


def test_a_number_stays_a_number() -> None:
    assert Redactor(["12345678"]).line(b'{"pin":12345678}') == b'{"pin":99999999}'


def test_short_words_are_no_secrets() -> None:
    assert Redactor(["test"]).line(b"test") == b"test"


@pytest.mark.parametrize(
    "name", ["ANTHROPIC_API_KEY", "GH_TOKEN", "PGPASSWORD", "x-api-key", "Authorization"]
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["PATH", "MONKEY", "max_tokens", "SSH_AUTH_SOCK", "KEYBOARD", "API_KEY_FILE"]
)
def test_names_of_others(name: str) -> None:
    assert not is_secret_name(name)


def test_secrets_are_found_at_any_depth() -> None:
    servers = {
        "files": {"env": {"FILES_TOKEN": "one"}},
        "web": {"headers": [{"Authorization": "Bearer two"}]},
    }
    assert secrets_in(servers) == {"one", "Bearer two"}


def test_a_recording_holds_none(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    sink = RecordingWriter(path, Redactor(["hunter2-hunter2"]))
    config: dict[str, Any] = {"native": {"api_key": "short"}, "list": [KEYS[0]]}
    sink.begin(Launch(agent="a", dialect="d", argv=["a", f"--header=Bearer {TAIL}"], config=config))
    plain = Frame(1, "out", b"nothing here", 0.5)
    sink.frame(plain)
    sink.frame(Frame(2, "err", b"\xff password: hunter2-hunter2", 0.6, eol=False))
    sink.end(Exit(code=1, stderr_tail=f"bad key {KEYS[0]}"))
    sink.close()
    recorded = read_recording(path)
    assert recorded.frames[0] == plain
    assert recorded.frames[1] == Frame(2, "err", b"\xff password: [redacted]", 0.6, eol=False)
    assert recorded.launch is not None
    assert recorded.launch.argv == ["a", "--header=Bearer [redacted]"]
    assert recorded.launch.config == {"native": {"api_key": "[redacted]"}, "list": ["[redacted]"]}
    assert recorded.exit == Exit(code=1, stderr_tail="bad key [redacted]")


@pytest.fixture
def anyio_backend() -> str:
    """What is recorded is redacted by plain code; that runs are recorded on trio too, tests/runtime shows."""
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("redact", [True, False])
async def test_a_run_with_and_without(tmp_path: Path, redact: bool) -> None:
    path = tmp_path / "recording"
    secret = "correct horse battery"
    await ask(TOY, f"say {secret}\nsay {KEYS[0]}", record=path, redact=redact, env={"TOY_PASSWORD": secret})
    said = path.read_text()
    assert (secret in said, KEYS[0] in said) == (not redact, not redact)
    assert len(read_recording(path).frames) > 3


@pytest.mark.anyio
async def test_a_run_with_a_secret_that_is_no_text(tmp_path: Path) -> None:
    """A lone surrogate is what half a character in a JSON file is read as."""
    path = tmp_path / "recording"
    servers = {"files": {"command": "x", "env": {"API_KEY": "0000000\ud800x"}}}
    await ask(TOY, "say 0000000\ud800x", record=path, mcp_servers=servers)
    assert secrets_in(servers) == {"0000000\ud800x"}
    assert "0000000" not in path.read_text()
    assert len(read_recording(path).frames) > 3


@pytest.mark.anyio
async def test_without_secrets_the_replay_is_the_run(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    result = await ask("demo", "go", cwd=tmp_path, native={"pace": 0}, approve="all", record=path)
    assert [encode(event) for event in convert(path)] == [encode(event) for event in result.events]

"""Secrets do not reach the recording, and what is no secret is left alone."""

import json
import logging
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman._files.convert import convert
from dragoman._files.recording import RecordingWriter, read_recording
from dragoman._model.events import RunEnded
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._runtime.log import log
from dragoman._wire.event_json import encode
from dragoman._wire.machine import play
from dragoman._wire.redaction import Redactor, is_secret_name, secrets_in
from dragoman.api import ask
from tests.runtime.toy_agent import TOY
from tests.runtime.toy_dialect import ToyMachine
from tests.secret_samples import BODY, FORMS, longest_left, whole
from tests.secret_samples import KEYS as PRIVATE_KEYS

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


# --- every form, and nothing else --------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0][:20])
def test_every_form_in_every_spelling(form: tuple[str, str]) -> None:
    """Of 46 forms of keys, passwords and tokens, 30 stayed in recordings."""
    said, redactor = whole(form), Redactor()
    spellings = [
        said,
        f"two words {said}",
        json.dumps({"text": f"a {said} b"}),
        json.dumps({"text": json.dumps({"inner": f"a\n{said}\nb"})}),
        json.dumps({"a": json.dumps({"b": json.dumps({"c": said})})}),
        json.dumps([1.50, {"text": f"\x1b[32m{said}\x1b[0m", "n": 98765432109876543210}]),
    ]
    for spelling in spellings:
        redacted = redactor.line(spelling.encode()).decode()
        assert longest_left(form[1], redacted.replace("[redacted]", "\0")) <= 6, spelling
        assert redactor.line(redacted.encode()).decode() == redacted
        if spelling.startswith(("{", "[")) and spelling != said:
            json.loads(redacted)
    assert "98765432109876543210" in redacted
    assert "1.5" in redacted


@pytest.mark.parametrize("key", PRIVATE_KEYS, ids=lambda key: key.partition("\n")[0])
def test_private_keys_in_every_spelling(key: str) -> None:
    lines = key.split("\n")
    spellings = [
        json.dumps({"text": f"a\n{key}\nb"}),
        json.dumps({"text": json.dumps({"private_key": key + "\n", "n": 1})}),
        json.dumps({"lines": [f"+{line}" for line in lines]}),  # a diff as Claude Code tells it
        json.dumps({"text": " +\n".join(json.dumps(line + "\n") for line in lines)}),
        json.dumps({"text": "\n".join(f"    {n}\t{line}" for n, line in enumerate(lines, 100))}),
        json.dumps({"text": "\n".join(lines[3:])}),  # its beginning was cut off
        json.dumps({"text": "\n".join(lines[:-2])}),  # its end
    ]
    for spelling in spellings:
        redacted = Redactor().line(spelling.encode()).decode()
        assert longest_left(BODY, redacted) <= 6, spelling
        json.loads(redacted)


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"env": [{"name": "API_KEY", "value": "s3cret-s3cret"}]}, {"env": [{"name": "API_KEY", "value": "[redacted]"}]}),
        ({"env": [{"name": "PATH", "value": "s3cret-s3cret"}]}, None),
        ({"headers": [{"name": "Authorization", "value": "Basic x1"}]}, None),
        ({"headers": {"Authorization": "ApiKey s3cret-1"}}, {"headers": {"Authorization": "ApiKey [redacted]"}}),
        ({"args": ["--token", "abcdef012345", "x"]}, {"args": ["--token", "[redacted]", "x"]}),
        ({"password": 12345678, "max": 12345678}, {"password": 99999999, "max": 12345678}),
        ({"client_secret": "correct-horse"}, {"client_secret": "[redacted]"}),
        ({"token": "keyword", "apiKeySource": "ANTHROPIC_API_KEY", "max_tokens": 12345678}, None),
        ({"key": "Enter", "primary_key": "user_id_1", "password": None, "progressToken": "1234567890ab"}, None),
    ],
)  # fmt: skip
def test_names_around_a_text_of_json(value: Any, left: Any) -> None:
    assert json.loads(Redactor().line(json.dumps(value).encode())) == (left or value)


NO_SECRETS = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "0198c0de-0123-7abc-8def-0123456789ab",
    '"integrity": "sha512-9TGuGqdiUTJcvNKtMZVb5a9d0HXrqGqTqfdQyLk3J2MCW1cWdKg7YB1Qw3jRQPLNrT8AAZzQo3TB7iXo3tqDDg=="',
    'checksum = "b6ed535a9f0e0b53c9b8bd9a0ef1a4a7dfc0ae7a1f2de5f0a3a6b9f1f4b4a9a1"',
    "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL call_AbCdEfGh0123456789IjKl",
    '"signature":"EqQBCgIYAhIkMDE5OGMwZGUtMDEyMy03YWJjLThkZWYtMDEyMzQ1Njc4OWFiGgwAbCdEfGh0123456789=="',
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "password = getpass.getpass('Password: ')",
    "token = os.environ['API_TOKEN']; self.token = token",
    "api_key: str | None = None",
    "def login(user, password): check(password=password, token=None)",
    "export API_KEY=$OTHER_KEY TOKEN=${TOKEN} PASSWORD=<password> PGPASSWORD=",
    "the password: it is secret; the token: none",
    "const apiKey = process.env.OPENAI_API_KEY;",
    "curl -u $USER:$PASS https://example.com:8080/a@b",
    "docker run -u 1000:1000 image; sort -u a:b; ssh git@github.com:owner/repo.git",
    "git clone https://github.com/owner/repo@v1.2.3",
    "mailto:someone@example.com, npm install @scope/name@1.2.3 from https://registry.example.com/@scope%2fname",
    "PWD=/home/user OLDPWD=/ SSH_KEY=~/.ssh/id_ed25519 SECRET_FILE=/run/secrets/x",
    '{"usage":{"input_tokens":12345678,"output_tokens":90123456},"token_type":"bearer","expires_in":3600}',
    "SELECT primary_key, foreign_key FROM keys WHERE cache_key='user:1234567890'",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7VJTUt9Us8cKj user@host",
    "Basic authentication and a Bearer token are sent in the Authorization: header",
    "xoxo, sk-learn-contrib and gh_pages, hf_hub_download_with_retries_and_progress",
]


@pytest.mark.parametrize("text", NO_SECRETS)
def test_what_only_looks_like_one_stays(text: str) -> None:
    redactor = Redactor()
    for line in (text.encode(), json.dumps({"text": text, "in": json.dumps({"text": text})}).encode()):
        assert redactor.line(line) == line


CAPTURES = Path(__file__).parents[2] / "captures"


def test_in_all_captures_only_made_up_keys_are_found() -> None:
    """Four variables named CLAUDE_CODE_OAUTH_TOKEN, and the api-key of a gateway in three lines."""
    redactor, changed = Redactor(), []
    for path in sorted(CAPTURES.rglob("*")):
        if path.is_file():
            changed += [
                (path.name, redacted)
                for line in path.read_bytes().split(b"\n")
                if (redacted := redactor.line(line)) != line
            ]
    assert len(changed) <= 7, changed
    named = re.compile(rb'(CLAUDE_CODE_OAUTH_TOKEN|api-key)[\\"]+: ?[\\"]+\[redacted\]')
    assert all(named.search(line) for _, line in changed), changed


# --- hostile lines -----------------------------------------------------------------------------------------

HOSTILE = {
    "one word": b"a",
    "dashes": b"-",
    "quotes": b'"',
    "backslashes": b"\\",
    "blanks": b" ",
    "heads": b"sk-",
    "heads behind colours": b"0msk-",
    "heads behind escapes": b"%3Dsk-",
    "long heads": b"github_pat_",
    "words of a digit": b"sk-aaaaaaaaaaaaaaa ",
    "jwt": b"eyJ.",
    "jwt parts": b"eyJaaaaaaaaaaa.",
    "begins": b"-----BEGIN PRIVATE KEY-----",
    "begins with lines": b"-----BEGIN PRIVATE KEY-----\\nAAAAAAAAAAAAAAAAAAAA ",
    "ends": b"-----END PRIVATE KEY-----",
    "lines and no end": b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\\n",
    "urls": b"a://b:",
    "urls and no end": b"://aaaaaaaaaaaa:aaaaaaaaaa",
    "at": b"://:@",
    "curl": b"curl -u ",
    "mysql": b"mysql ",
    "names": b"password",
    "names and signs": b"password=",
    "names and quotes": b'password="',
    "escaped quotes": b'password=\\\\\\"',
    "flags": b"--token ",
    "annotations": b"token: a a ",
    "basic": b"Basic ",
    "bearer": b"Bearer a",
    "cookies": b"Cookie: a=",
    "logins": b"login a password ",
    "ids": b"AKIAAAAAAAAAAAAAAAAA ",
    "aws": b"AKIAAAAAAAAAAAAAAAAA,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA ",
    "numbers": b"123456789:AA ",
    "azure": b"aaaQ~",
    "known": b"correct horse batter",
}


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("shape", ["plain", "text of JSON", "texts of JSON", "open"])
def test_no_line_takes_more_than_its_length(part: bytes, shape: str) -> None:
    """Four times the length, not much more than four times the time: what is quadratic takes sixteen."""

    def took(size: int) -> float:
        text = part * (size // len(part))
        line = {
            "plain": lambda: text,
            "open": lambda: text,
            "text of JSON": lambda: json.dumps({"text": text.decode()}).encode(),
            "texts of JSON": lambda: json.dumps(
                [text[at : at + 50].decode() for at in range(0, len(text), 50)]
            ).encode(),
        }[shape]()
        redactor = Redactor(["correct horse battery"])
        work = (
            (lambda: redactor.found(line, goes_on=True)) if shape == "open" else (lambda: redactor.line(line))
        )
        times = []
        for _ in range(3):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        return min(times)

    small, large = took(1 << 14), took(1 << 16)
    assert large < 9 * small + 0.02


# --- tails, logs, exports ----------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("redact", [True, False])
async def test_the_end_of_stderr(tmp_path: Path, redact: bool) -> None:
    """It is shown, raised and exported; a recording and its replay say the same as the run."""
    path = tmp_path / "recording"
    lines = [*PRIVATE_KEYS[0].split("\n"), f"error: {KEYS[0]} and correct horse battery"]
    prompt = "\n".join(f"complain {line}" for line in lines)
    result = await ask(TOY, prompt, record=path, redact=redact, env={"TOY_PASSWORD": "correct horse battery"})
    run = result.events[-1]
    assert isinstance(run, RunEnded)
    tail = run.stderr_tail or ""
    assert [BODY in tail, KEYS[0] in tail, "correct horse" in tail] == [not redact] * 3
    assert "error: " in tail
    kept = read_recording(path)
    assert kept.launch is not None
    assert kept.exit is not None
    replayed = list(play(kept.frames, ToyMachine(), kept.launch, lambda: kept.exit or Exit()))[-1]
    assert isinstance(replayed, RunEnded)
    assert replayed.stderr_tail == tail


def test_logs(caplog: pytest.LogCaptureFixture) -> None:
    formatter = logging.Formatter()
    try:
        raise ValueError(f"it was {KEYS[0]}")
    except ValueError:
        log.exception("no answer for %s", f"PASSWORD=w0nderland {KEYS[1]}")
    said = "\n".join(formatter.format(record) for record in caplog.records)
    assert KEYS[0] not in said
    assert KEYS[1] not in said
    assert "w0nderland" not in said
    assert "no answer for PASSWORD=[redacted] [redacted]" in said
    assert "ValueError: it was [redacted]" in said


def test_events_that_are_given_away() -> None:
    """A session file of the agent's own has what it was told in the clear."""
    said = {"type": "message", "role": "assistant", "content": f"it is {KEYS[0]}", "delta": True}
    first = {"type": "init", "session_id": "s", "model": "m"}
    lines = [json.dumps(line).encode() for line in (first, said)]
    exact = b"".join(encode(event) for event in convert(lines, "gemini_stream"))
    redacted = b"".join(encode(event) for event in convert(lines, "gemini_stream", redact=True))
    assert KEYS[0].encode() in exact
    assert redacted == exact.replace(KEYS[0].encode(), b"[redacted]")

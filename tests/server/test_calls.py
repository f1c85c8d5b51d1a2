"""The API as a program meets it: every call gives what the description says, and no wrong one does harm."""

import json
import shutil
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dragoman._server.calls import CALLS
from dragoman._server.openapi import document
from dragoman.server import Client, ServerError
from dragoman.testing._demo_agent import prepare
from tests.server.conftest import CAPTURES, PATIENCE, Running

PAGE = Path(__file__).parents[2] / "src" / "dragoman" / "_server" / "page"


def begun(running: Running, client: Client, **options: Any) -> dict[str, Any]:
    """A session of the demo agent's, in a folder with its job."""
    job = running.home / "job"
    job.mkdir(exist_ok=True)
    prepare(job)
    given = {"agent": "demo", "prompt": "Fix the test.", "cwd": str(job), **options}
    answer: dict[str, Any] = client.post("sessions", **given)
    return answer


def until(client: Client, run: str, kind: str) -> list[dict[str, Any]]:
    """The events of a run to the first of a kind, and whatever is asked on the way is allowed."""
    found: list[dict[str, Any]] = []
    for name, data in client.feed({run: 0}):
        if name == "asks":
            for asked in data["asks"]:
                client.post(f"sessions/{run}/answer", run=run, request=asked["request"], choice="y")
        if name == "events":
            found += data["events"]
            if any(event["type"] == kind for event in data["events"]):
                return found
    raise AssertionError


@pytest.fixture
def stored(home: Path, running: Running) -> tuple[Client, str]:
    """Somebody who has come in, and a session that the library has."""
    for source in (CAPTURES / "claude_transcript" / "2.1.325").iterdir():
        shutil.copytree(source, home / ".claude" / "projects" / source.name)
    client = running.client()
    for name, _ in client.feed():
        if name == "board" and (found := client.get("sessions", limit=1000)["sessions"]):
            best = max(found, key=lambda row: row["tools"])
            return client, best["id"]
    raise AssertionError


def resolved(schema: Any) -> dict[str, Any]:
    return {**schema, "components": document()["components"]}


def test_every_answer_is_as_the_description_says(stored: tuple[Client, str]) -> None:
    client, id = stored
    [shown] = [run["run"] for run in client.get(f"sessions/{id}")["runs"] if run["shown"]]
    given: dict[str, dict[str, Any]] = {
        "events": {"run": shown},
        "event": {"run": shown, "seq": 1},
        "search": {"text": "the"},
    }
    asked = [call for call in CALLS if call.method == "GET"]
    for call in asked:
        path = call.path.removeprefix("/api/").replace("{id}", id)
        answer = client.get(path, **given.get(call.does.__name__, {}))
        schema = {"$ref": f"#/components/schemas/{call.gives.__name__}"}
        jsonschema.validate(answer, resolved(schema))
    assert len(asked) > 8


def test_the_description_is_whole(running: Running) -> None:
    told = running.client().get("openapi.json")
    assert set(told["paths"]) == {call.path for call in CALLS} | {"/api/stream", "/api/sessions/{id}/export"}
    schemas = told["components"]["schemas"]
    for name in _refs(told):
        assert name.removeprefix("#/components/schemas/") in schemas
    for path in told["paths"].values():
        for operation in path.values():
            assert operation["summary"]


def _refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _refs(each)
    elif isinstance(value, list):
        for each in value:
            yield from _refs(each)


def test_a_session_is_begun_answered_and_kept(running: Running) -> None:
    client = running.client()
    run = begun(running, client)["run"]
    events = until(client, run, "turn.ended")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    resolved = [event for event in events if event["type"] == "permission.resolved"]
    assert resolved
    assert {(event["outcome"], event["by"], event["who"]) for event in resolved} == {
        ("allowed", "client", "a program")
    }
    client.post(f"sessions/{run}/close")
    told = dict(_to_the_end(client, run))
    about = client.get(f"sessions/{told['ended']['session']}")
    assert about["session"]["turns"] == 1
    done = client.get(f"sessions/{about['session']['id']}/deeds")
    assert [each["who"] for each in done["permissions"]] == ["a program"] * len(resolved)
    assert [each["path"].rpartition("/")[2] for each in done["files"]] == ["mean.py"]


def _to_the_end(client: Client, run: str) -> Iterator[tuple[str, Any]]:
    for name, data in client.feed({run: 0}):
        yield name, data
        if name == "ended":
            return


def test_an_ask_is_whole_and_answered_once(running: Running) -> None:
    one, other = running.client(), running.client()
    run = begun(running, one)["run"]
    [asked] = next(data["asks"] for name, data in other.feed({run: 0}) if name == "asks" and data["asks"])
    assert asked["kind"] == "permission"
    assert [choice["key"] for choice in asked["choices"]][:1] == ["y"]
    [change] = asked["proposed"]
    assert change["path"].endswith("/mean.py")
    lines = [(sign, text) for sign, text, *_ in change["rows"] if sign in "+-"]
    assert lines == [
        ("-", "    return sum(values) / (len(values) - 1)"),
        ("+", "    return sum(values) / len(values)"),
    ]
    answer = {"run": run, "request": asked["request"]}
    with pytest.raises(ServerError, match="is no answer to this"):
        one.post(f"sessions/{run}/answer", **answer, choice="nonsense")
    with pytest.raises(ServerError, match="a no"):
        one.post(f"sessions/{run}/answer", **answer, choice="y", message="why not")
    with pytest.raises(ServerError, match="has changed since it was shown"):
        one.post(f"sessions/{run}/answer", **answer, mark="of something else", choice="y")
    answer["mark"] = asked["mark"]
    one.post(f"sessions/{run}/answer", **answer, choice="n", message="not now")
    with pytest.raises(ServerError) as raised:
        other.post(f"sessions/{run}/answer", **answer, choice="y")
    assert (raised.value.status, raised.value.cause) == (409, "answered")
    for name, data in other.feed({run: 0}):
        found = [e for e in data["events"] if e["type"] == "permission.resolved"] if name == "events" else []
        if found:
            assert (found[0]["outcome"], found[0]["who"]) == ("denied", "a program")
            return


def test_a_read_only_link_changes_nothing(running: Running) -> None:
    client, watcher = running.client(), running.client(read_only=True)
    run = begun(running, client)["run"]
    for call in CALLS:
        if call.method == "POST" and call.path not in ("/api/enter", "/api/links"):
            with pytest.raises(ServerError) as raised:
                watcher.post(call.path.removeprefix("/api/").replace("{id}", run))
            assert raised.value.status == 403
    assert until_asked(watcher, run)
    assert Client(watcher.post("links", read_only=False)["url"]).get("me")["read_only"]


def until_asked(client: Client, run: str) -> Any:
    return next(data["asks"] for name, data in client.feed({run: 0}) if name == "asks" and data["asks"])


@pytest.mark.parametrize(
    ("path", "given", "status"),
    [
        ("sessions/nonsense/prompt", {"text": "x"}, 404),
        ("sessions/nonsense/steer", {"text": "x"}, 409),
        ("sessions/nonsense/prompt", {}, 400),
        ("sessions/nonsense/prompt", {"text": ""}, 400),
        ("sessions/nonsense/prompt", {"text": "x", "extra": 1}, 400),
        ("sessions", {"agent": "nobody"}, 409),
        ("sessions", {"agent": "demo", "cwd": "/nowhere/at/all"}, 409),
        ("sessions", {"agent": "demo", "approve": "everything"}, 400),
        ("sessions/x/answer", {"run": "r0", "request": "1", "choice": "y"}, 409),
        ("nothing", {}, 404),
        ("enter", {"link": "used"}, 401),
    ],
)
def test_wrong_calls_are_told_why(running: Running, path: str, given: Any, status: int) -> None:
    with pytest.raises(ServerError) as raised:
        running.client().post(path, **given)
    assert raised.value.status == status
    assert len(raised.value.message) > 20


@pytest.mark.parametrize(
    "path", ["sessions/nonsense", "sessions/nonsense/events?run=u1", "sessions/x/deeds", "search?text=%22"]
)
def test_what_is_not_there(running: Running, path: str) -> None:
    with pytest.raises(ServerError) as raised:
        running.client().get(path)
    assert raised.value.status in (404, 409)


@pytest.mark.parametrize("body", [b"", b"[]", b"nonsense", b'"x"', b"\xff\xfe", b"[" * 100_000])
def test_bodies_that_are_none(running: Running, body: bytes) -> None:
    serving = running.serving
    link = serving.tokens.link()
    connection = HTTPConnection("127.0.0.1", serving.port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {link}", "Content-Type": "application/json"}
    connection.request("POST", "/api/enter", body, headers)
    answer = connection.getresponse()
    assert answer.status == 400
    assert json.loads(answer.read())["error"]["message"]
    connection.close()


@pytest.mark.parametrize(
    "name", ["../hub.py", "%2e%2e/hub.py", "..%2fhub.py", "nothing.js", "", "/etc/passwd"]
)
def test_only_files_of_the_page_are_served(running: Running, name: str) -> None:
    connection = HTTPConnection("127.0.0.1", running.serving.port, timeout=PATIENCE)
    connection.request("GET", f"/page/{name}")
    assert connection.getresponse().status in (404, 307)
    connection.close()


def test_all_files_of_the_page_are_served(running: Running) -> None:
    connection = HTTPConnection("127.0.0.1", running.serving.port, timeout=PATIENCE)
    for path in ["/", *(f"/page/{file.name}" for file in sorted(PAGE.iterdir()))]:
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.read()
        assert answer.status == 200
        assert "script-src 'self'" in (answer.headers["content-security-policy"] or "")
    connection.close()


def test_a_link_is_used_up(running: Running) -> None:
    link = running.serving.link()
    Client(link)
    with pytest.raises(ServerError, match="used up"):
        Client(link)


def test_a_server_that_only_shows(start: Callable[..., Running]) -> None:
    running = start(read_only=True)
    client = running.client()
    assert client.get("me")["read_only"]
    with pytest.raises(ServerError, match="only lets you watch"):
        client.post("sessions", agent="demo")

"""The page and its API in somebody else's server: uvicorn in a thread, also as behind a proxy with a name of its own."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import uvicorn

from dragoman._library.library import Library
from dragoman.server import Application, Client, ServerError
from dragoman.testing._demo_agent import prepare
from tests.server.conftest import PATIENCE


class Embedded:
    """An application at work, and where it is."""

    def __init__(self, app: Application) -> None:
        self.app = app
        listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server = uvicorn.Server(
            uvicorn.Config(app, lifespan="on", log_config=None, ws="none", timeout_graceful_shutdown=1)
        )
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [listener]})
        self._thread.start()

    def client(self) -> Client:
        return Client(self.app.link(self.url))

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@contextmanager
def embedded(library: Path | None = None, **options: Any) -> Iterator[Embedded]:
    running = Embedded(Application(library, **options))
    try:
        yield running
    finally:
        running.stop()


def asked(port: int, method: str, path: str, headers: dict[str, str], **given: Any) -> tuple[int, bytes]:
    """The status and the answer to one request."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request(method, path, json.dumps(given), {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_its_link_lets_one_in_once(home: Path) -> None:
    with embedded() as running:
        link = running.app.link(f"{running.url}/")
        assert Client(link).get("me")["name"] == "a program"
        with pytest.raises(ServerError, match="used up"):
            Client(link)


def test_it_is_called_by_the_names_that_it_was_given(home: Path) -> None:
    with embedded(names=["Agents.example", "10.0.0.7:8080"]) as running:
        names = {
            f"127.0.0.1:{running.port}": 200,
            f"localhost:{running.port}": 200,
            "agents.example": 200,
            "10.0.0.7:8080": 200,
            "agents.example:8080": 421,
            "10.0.0.7": 421,
            "www.agents.example": 421,
            "evil.example": 421,
            "localhost:1": 421,
        }
        assert {name: asked(running.port, "GET", "/", {"Host": name})[0] for name in names} == names


def test_what_a_proxy_leads_here_is_answered_under_its_name(home: Path) -> None:
    with embedded(names=["agents.example"]) as running:
        link = running.app.link("https://agents.example")
        assert link.startswith("https://agents.example/#t=")
        headers = {
            "Host": "agents.example",
            "Origin": "https://agents.example",
            "X-Forwarded-Proto": "https",
        }
        status, answer = asked(running.port, "POST", "/api/enter", headers, link=link.partition("#t=")[2])
        assert status == 200
        headers["Authorization"] = f"Bearer {json.loads(answer)['token']}"
        status, answer = asked(running.port, "POST", "/api/links", headers)
        assert status == 200
        assert json.loads(answer)["url"].startswith("https://agents.example/#t=")
        foreign = headers | {"Origin": "https://evil.example"}
        assert asked(running.port, "POST", "/api/links", foreign)[0] == 403


def test_one_that_only_shows(home: Path) -> None:
    with embedded(read_only=True) as running:
        with pytest.raises(ServerError, match="only lets you watch"):
            running.client().post("sessions", agent="demo")
        assert running.client().get("me")["read_only"]


def test_a_link_that_only_shows(home: Path) -> None:
    with embedded() as running:
        watcher = Client(running.app.link(running.url, read_only=True))
        assert watcher.get("me")["read_only"]
        assert not running.client().get("me")["read_only"]


@pytest.mark.parametrize("has_tab", [False, True])
def test_its_end_ends_what_it_drives_and_keeps_it(home: Path, has_tab: bool) -> None:
    """Also where a tab is still open: that is cut off."""
    prepare(home)
    library = home / "its own.db"
    with embedded(library) as running:
        client = running.client()
        begun = client.post("sessions", agent="demo", prompt="Fix the test.", cwd=str(home))
        feed = client.feed({begun["run"]: 0})
        assert next(data["asks"] for name, data in feed if name == "asks" and data["asks"])
        if not has_tab:
            feed.close()  # type: ignore[attr-defined]
        running.stop()
        feed.close()  # type: ignore[attr-defined]
    with Library(library) as kept:
        [session] = kept.sessions()
        types = [event.type for event in kept.events(session)]
    assert types[-1] == "run.ended"
    assert "permission.requested" in types
    assert not (home / "data" / "dragoman" / "library.db").exists()

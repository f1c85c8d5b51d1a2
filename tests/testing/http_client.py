"""A plain HTTP client for the scripted model."""

import http.client
import json
from typing import Any, TypeVar
from urllib.parse import urlsplit

from dragoman.testing import Scenario


class Answer:
    """What the model answered; the events of a stream have no names."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {k.lower(): v for k, v in response.getheaders()}
        self.cut = False
        try:
            self.body = response.read()
        except http.client.IncompleteRead as half:
            self.cut, self.body = True, half.partial

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> list[str]:
        """What each event says."""
        assert "event-stream" in self.headers["content-type"]
        return [event.removeprefix("data: ") for event in self.body.decode().split("\n\n")[:-1]]

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(event) for event in self.data if event != "[DONE]"]


class NamedAnswer(Answer):
    """The same from an API that names each event by its type."""

    @property
    def events(self) -> list[dict[str, Any]]:
        events = []
        for event in self.data:
            name, data = event.split("\n")
            events.append(json.loads(data.removeprefix("data: ")))
            assert name == f"event: {events[-1]['type']}"
        return events


A = TypeVar("A", bound=Answer)


def connect(at: Scenario) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(at.url).netloc, timeout=30)


def send(at: Scenario, method: str, path: str, body: str | None, kind: type[A], **headers: str) -> A:
    """One request, on a connection of its own."""
    connection = connect(at)
    try:
        connection.request(method, urlsplit(at.url).path + path, body, headers)
        return kind(connection.getresponse())
    finally:
        connection.close()


def post(at: Scenario, path: str, body: dict[str, Any], kind: type[A]) -> A:
    return send(at, "POST", path, json.dumps(body), kind)

"""A plain HTTP client for a scripted model whose events carry no names."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from dragoman.testing import Scenario


class Answer:
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


def post(at: Scenario, path: str, body: dict[str, Any]) -> Answer:
    url = urlsplit(at.url)
    connection = http.client.HTTPConnection(url.netloc, timeout=30)
    try:
        connection.request("POST", url.path + path, json.dumps(body))
        return Answer(connection.getresponse())
    finally:
        connection.close()

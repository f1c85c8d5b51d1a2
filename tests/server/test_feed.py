"""The feed: each event once and in order, wherever the connection is cut, whoever is slow."""

import json
import random
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from itertools import islice
from typing import Any, NamedTuple

import pytest

from dragoman._server.feed import MOST_WATCHED, cursor_of
from dragoman.server import Client
from dragoman.testing._demo_agent import prepare
from tests.server.conftest import PATIENCE, Running


class Message(NamedTuple):
    name: str
    data: Any
    id: str | None


def connected(running: Running, client: Client, cursor: str) -> tuple[HTTPConnection, Iterator[Message]]:
    """A connection to the feed, which can be cut, and what comes by it."""
    connection = HTTPConnection("127.0.0.1", running.serving.port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {client._credential}", "Last-Event-ID": cursor}
    connection.request("GET", "/api/stream", headers=headers)
    return connection, _messages(connection.getresponse())


def _messages(lines: Any) -> Iterator[Message]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif "data" in fields:
            yield Message(fields["event"], json.loads(fields["data"]), fields.get("id"))
            fields = {}


def begun(running: Running, client: Client, name: str) -> str:
    folder = running.home / name
    folder.mkdir()
    prepare(folder)
    run: str = client.post("sessions", agent="demo", prompt="Go", cwd=str(folder), approve="edits")["run"]
    return run


def test_it_is_cut_again_and_again(running: Running) -> None:
    """Two runs at once, by one stream: each of them goes on where it was."""
    client, dice = running.client(), random.Random(1)
    runs = [begun(running, client, "one"), begun(running, client, "two")]
    found: dict[str, list[dict[str, Any]]] = {run: [] for run in runs}
    cursor, cuts = ",".join(f"{run}:0" for run in runs), 0
    while not all(events and events[-1]["type"] == "turn.ended" for events in found.values()):
        connection, messages = connected(running, client, cursor)
        for message in islice(messages, dice.randint(1, 4)):
            if message.name == "events":
                found[message.data["run"]] += message.data["events"]
            cursor = message.id or cursor
            if all(events and events[-1]["type"] == "turn.ended" for events in found.values()):
                break
        connection.close()
        cuts += 1
    assert cuts > 20
    for run, events in found.items():
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        whole = client.get(f"sessions/{run}/events", run=run, limit=1000, deltas="true")["events"]
        assert events == whole[: len(events)]


def test_who_does_not_read_holds_up_nobody(running: Running) -> None:
    client = running.client()
    run = begun(running, client, "one")
    idle, _ = connected(running, client, f"{run}:0")
    assert any(
        event["type"] == "turn.ended"
        for name, data in client.feed({run: 0})
        if name == "events"
        for event in data["events"]
    )
    idle.close()


def test_a_run_that_there_is_not(running: Running) -> None:
    names = [name for name, _ in islice(running.client().feed({"r000000000000": 5}), 2)]
    assert sorted(names) == ["board", "unknown"]


def test_the_first_board_has_all_and_later_ones_what_changed(running: Running) -> None:
    client = running.client()
    run = begun(running, client, "one")
    boards = (data for name, data in client.feed() if name == "board")
    first = next(boards)
    assert first["all"]
    assert [row["live"]["run"] for row in first["rows"]] == [run]
    client.post(f"sessions/{run}/close")
    for board in boards:
        assert not board.get("all")
        states = [row["live"]["state"] for row in board["rows"]]
        if states == ["ended"]:
            return


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", {}),
        ("r1:120,r2:0", {"r1": 120, "r2": 0}),
        (" r1:1 , r2:x, :5, r3, r4:-1, r5:1e3, r6:" + "9" * 400, {"r1": 1}),
        ("r1:1,r1:2", {"r1": 2}),
        ("é:1,\u0661:\u0661", {"é": 1, "\u0661": 1}),
    ],
)
def test_cursors(text: str, places: dict[str, int]) -> None:
    assert cursor_of(text) == places


def test_nobody_watches_without_end() -> None:
    assert len(cursor_of(",".join(f"r{n}:0" for n in range(10_000)))) == MOST_WATCHED


def test_the_end_of_the_server_is_told(start: Callable[..., Running]) -> None:
    running = start()
    client = running.client()
    run = begun(running, client, "one")
    names: list[str] = []
    for name, data in client.feed({run: 0}):
        names.append(name)
        if name == "events" and data["events"][0]["seq"] == 1:
            running.stop()
    assert names[-1] == "stopped"

"""The pure JSON-RPC peer."""

import json

from hypothesis import given
from hypothesis import strategies as st

from dragoman._wire.jsonrpc import Notification, Peer, Request, Response, RpcError
from dragoman._wire.jsontext import Invalid


def test_two_peers_talk() -> None:
    here, there = Peer(), Peer()
    [asked] = there.receive(here.request("add", {"a": 1}))
    assert asked == Request(0, "add", {"a": 1})
    [answer] = here.receive(there.answer(0, 2))
    assert answer == Response(0, "add", {"a": 1}, 2)


def test_the_two_id_spaces_do_not_mix() -> None:
    here = Peer(version=None)
    here.request("ours", id=0)
    [theirs] = here.receive(b'{"id":0,"method":"theirs"}')
    assert theirs == Request(0, "theirs")
    [answer] = here.receive(b'{"id":0,"result":{}}')
    assert answer == Response(0, "ours", None, {})


def test_an_answer_to_nothing_has_no_method() -> None:
    assert Peer().receive(b'{"id":9,"result":1}') == [Response(9, result=1)]


def test_a_refusal() -> None:
    here, there = Peer(), Peer()
    here.request("x")
    [answer] = here.receive(there.refuse(0, "no such method"))
    assert isinstance(answer, Response)
    assert answer.error == RpcError(-32601, "no such method")


def test_the_version_key_is_sent_or_not() -> None:
    assert json.loads(Peer().notify("n")) == {"jsonrpc": "2.0", "method": "n"}
    assert json.loads(Peer(version=None).notify("n", {"a": None})) == {"method": "n", "params": {"a": None}}


def test_a_batch() -> None:
    found = Peer().receive(b'[{"method":"a"},{"id":1,"method":"b"},7]')
    assert found[:2] == [Notification("a"), Request(1, "b")]
    assert isinstance(found[2], Invalid)


def test_what_we_sent_is_known_in_a_replay() -> None:
    recorded, replayed = Peer(), Peer()
    line = recorded.request("initialize", {"v": 1}, id="start")
    assert replayed.sent(line) == [Request("start", "initialize", {"v": 1})]
    assert replayed.receive(b'{"id":"start","result":1}') == [Response("start", "initialize", {"v": 1}, 1)]


@given(st.binary() | st.from_regex(r'\{"(id|method|result|error)":(1|"x"|null|\{\}|\[\])\}').map(str.encode))
def test_nothing_raises(line: bytes) -> None:
    Peer().receive(line)
    Peer().sent(line)

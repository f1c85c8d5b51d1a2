"""The pure JSON-RPC peer."""

import json

from hypothesis import given
from hypothesis import strategies as st

from dragoman._wire.jsonrpc import Call, Notification, Peer, Request, Response, RpcError
from dragoman._wire.jsontext import Invalid


def test_two_peers_talk() -> None:
    here, there = Peer(), Peer()
    line = here.request("add", {"a": 1})
    here.on_sent(line)
    [asked] = there.receive(line)
    assert asked == Request(0, "add", {"a": 1})
    [answer] = here.receive(there.answer(0, 2))
    assert answer == Response(0, "add", {"a": 1}, result=2)


def test_the_two_id_spaces_do_not_mix() -> None:
    here = Peer(version=None)
    here.on_sent(here.request("ours", id=0))
    [theirs] = here.receive(b'{"id":0,"method":"theirs"}')
    assert theirs == Request(0, "theirs")
    [answer] = here.receive(b'{"id":0,"result":{}}')
    assert answer == Response(0, "ours", result={})


def test_a_request_is_in_flight_from_when_it_is_sent_until_it_is_answered() -> None:
    """A line that was only made may never be written."""
    here, there = Peer(), Peer()
    line = here.request("add", {"a": 1})
    assert here.in_flight == {}
    here.on_sent(line)
    assert here.in_flight == {0: Call("add", {"a": 1})}
    there.on_sent(there.notify("n"))
    there.on_sent(there.answer(0, 2))
    assert there.in_flight == {}
    here.receive(there.answer(0, 2))
    assert here.in_flight == {}
    assert here.receive(there.answer(0, 2)) == [Response(0, result=2)]


def test_each_request_has_a_number_of_its_own() -> None:
    peer = Peer()
    lines = [peer.request("a"), peer.request("b", id="mine"), peer.request("c")]
    assert [json.loads(line)["id"] for line in lines] == [0, "mine", 1]


def test_an_answer_brings_back_what_its_request_was_for() -> None:
    peer = Peer()
    peer.on_sent(peer.request("add", {"a": 1}))
    peer.in_flight[0].context = "the sum"
    [answer] = peer.receive(b'{"id":0,"result":2}')
    assert answer == Response(0, "add", {"a": 1}, "the sum", 2)


def test_an_answer_to_nothing_has_no_method() -> None:
    assert Peer().receive(b'{"id":9,"result":1}') == [Response(9, result=1)]


def test_a_refusal() -> None:
    here, there = Peer(), Peer()
    here.on_sent(here.request("x"))
    [answer] = here.receive(there.refuse(0, "no such method"))
    assert isinstance(answer, Response)
    assert (answer.method, answer.error) == ("x", RpcError(-32601, "no such method"))


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
    assert replayed.on_sent(line) == [Request("start", "initialize", {"v": 1})]
    assert replayed.receive(b'{"id":"start","result":1}') == [
        Response("start", "initialize", {"v": 1}, result=1)
    ]


@given(st.binary() | st.from_regex(r'\{"(id|method|result|error)":(1|"x"|null|\{\}|\[\])\}').map(str.encode))
def test_nothing_raises(line: bytes) -> None:
    Peer().receive(line)
    Peer().on_sent(line)

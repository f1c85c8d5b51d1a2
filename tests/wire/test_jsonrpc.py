"""The pure JSON-RPC peer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from dragoman._wire.jsonrpc import Call, Incoming, Notification, Peer, Request, Response, RpcError, classify
from dragoman._wire.jsontext import Invalid, Ragged, fit, parse, repaired
from tests.generated_json import ANYTHING


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


# --- a fast road and a tolerant one ------------------------------------------------------------------------


def slowly(line: bytes) -> list[Incoming]:
    """What the line says by the standard library alone."""
    value = parse(line)
    if isinstance(value, Invalid):
        return [value]
    return [classify(repaired(item)) for item in (value if isinstance(value, list) and value else [value])]


ODD = [
    b'{"id":1,"method":"a","method":"b"}',
    b'{"id":1,"method":"a","method":7,"result":2}',
    b'{"id":"x","result":{"a":1,"a":[2]},"id":3}',
    b'{"meth\\u006fd":"a\\/b","params":{"\\u0061":"\\ud83d\\ude00"}}',
    b'{"method":"a","params":{"half":"\\ud83d"}}',
    b'{"method":"a","params":{"\\ude00":NaN}}',
    b'{"method":"a","params":[1e400,-Infinity,1e-400,-0,-0.0,2.50]}',
    b'{"id":18446744073709551616,"method":"a"}',
    b'{"id":%s,"method":"a"}' % (b"1" * 5000),
    b'{"id":true,"method":"a"}',
    b'{"id":1.5,"result":null}',
    b'{"id":null,"error":null}',
    b'{"id":1,"error":"no"}',
    b'{"id":1,"error":{"code":"x","message":5,"data":[]}}',
    b'{"id":1,"result":1,"error":{"code":true}}',
    b'{"method":"a","params":"\xff"}',
    b'{"\xff":1,"method":"a","skipped":"\xff\xed\xa0\xbd"}',
    b'{"method":"a","params":"raw\x01"}',
    b'{"method":"a","skipped":1e999}',
    b'{"method":"a","emittedAtMs":"soon"}',
    b'\xef\xbb\xbf{"method":"a"}',
    b' \t{ "method" : "a" , "params" : null } \r',
    b'{"method":"a"} x',
    b'{"method":"a",}',
    b'{"params":{}}',
    b'[{"method":"a"},[],{"id":1,"result":"\\ud83d"}]',
    b"[]",
    b"7",
    b'{"method":"a","params":' + b"[" * 198 + b'"in"' + b"]" * 198 + b"}",
    b'{"method":"a","params":' + b"[" * 199 + b'"in"' + b"]" * 199 + b"}",
    b'{"method":"a","params":' + b'{"b":' * 250 + b"1" + b"}" * 250 + b"}",
    b'{"id":1,"result":' + b"[" * 250 + b"]" * 250 + b"}",
    b'{"id":1,"result":' + b"[" * 100_000,
]


@pytest.mark.parametrize("line", ODD)
def test_both_roads_say_the_same(line: bytes) -> None:
    assert repr(Peer().receive(line)) == repr(slowly(line))  # repr, since 0.0 == -0.0 and True == 1
    if isinstance(parse(line), dict):
        assert repr(Peer().on_sent(line)) == repr(slowly(line))


@given(
    st.dictionaries(
        st.sampled_from(["id", "method", "params", "result", "error", "jsonrpc", "emittedAtMs", "x"]),
        ANYTHING | st.sampled_from(["a", 1, True, {"code": 1, "message": "m"}]),
    ),
    st.booleans(),
)
def test_both_roads_say_the_same_of_anything(value: dict[str, Any], ascii: bool) -> None:
    line = json.dumps(value, ensure_ascii=ascii).encode()
    assert repr(Peer().receive(line)) == repr(slowly(line))


class Said(Struct):
    text: Ragged = ""
    count: int = 0


def test_params_of_a_type() -> None:
    peer = Peer(types={"say": Said})
    assert peer.receive(b'{"method":"say","params":{"text":"a"},"emittedAtMs":5}') == [
        Notification("say", Said("a"), 5)
    ]
    assert peer.receive(b'{"method":"say"}') == [Notification("say", Said())]
    assert peer.receive(b'{"method":"else","params":{"text":"a"}}') == [Notification("else", {"text": "a"})]
    assert peer.receive(b'{"id":1,"method":"say","params":{"text":"a"}}') == [
        Request(1, "say", {"text": "a"})
    ]


@pytest.mark.parametrize("text", ['"a\\ud83d"', '"a","count":"many"', '"a","x":NaN', "5", "null"])
def test_params_that_do_not_fit_their_type_are_left_to_the_dialect(text: str) -> None:
    line = b'{"method":"say","params":{"text":%s},"emittedAtMs":7}' % text.encode()
    [said] = Peer(types={"say": Said}).receive(line)
    assert isinstance(said, Notification)
    assert (said.params, said.time) == (parse(line)["params"], 7)
    assert fit(said.params, Said).text in ("a", "a\ud83d", "")

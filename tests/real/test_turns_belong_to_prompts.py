"""Each prompt gets its own answer, whatever else is said while the agent works: prompts that wait, words into the open
turn, interrupts and slash commands, in every order.

The first prompt of an order is at work when the rest is said: `early`, while its tool runs, or `late`, while the model
is held in its last call. The model answers with the names of all that was said and that it has not answered yet, so
that each answer tells what it is the answer to. `until_done` then waits for all turns that come of it. All orders of an
agent are played in one session, one after the other; a last test closes it, and checks the whole of it.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from anyio import to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal
from msgspec import structs

import dragoman
from dragoman import EventStream, Message, Session, ToolStarted, TurnStarted, UsageError
from dragoman.testing import Hold, Request, Scenario, ScriptedModel, ToolCall, Turn, script, turn
from tests.real.driving import PATIENCE, Events, Gate, Pinned, check
from tests.real.pins import Pin, pins

Order = tuple[str, ...]

SITUATIONS = ("early", "late")
WORDS = {
    "claude": ("steer", "interrupt", "prompt"),
    "codex": ("steer", "interrupt", "prompt"),
    "gemini": ("interrupt", "prompt"),
    "opencode": ("interrupt", "prompt"),
}
"""What each agent can be told while it works."""
LONGEST = {"claude": 3, "codex": 3, "gemini": 3, "opencode": 2}
"""How many of these words there are in an order. OpenCode is slow."""
SLASH = [("cost",), *product(("cost",), WORDS["claude"]), *product(WORDS["claude"], ("cost",))]
"""Orders with a command that Claude Code answers by itself, without its model."""


def orders_of(agent: str) -> list[Order]:
    lengths = range(1, LONGEST[agent] + 1)
    some = [order for length in lengths for order in product(WORDS[agent], repeat=length)]
    if agent == "claude":
        some += SLASH
    return [(situation, *order) for situation in SITUATIONS for order in some]


# --- the model -----------------------------------------------------------------------------------------------

NAME = re.compile(r"\b(?:prompt|steer)-\d+\b")


def names(text: str | None) -> list[str]:
    """The prompts and the words into open turns that are named in a text."""
    return list(dict.fromkeys(NAME.findall(text or "")))


def words(*heard: str) -> str:
    return f"I heard {' and '.join(heard) or 'nothing new'}."


class Listener:
    """The model: it names what was said and not answered yet. With the answer to the prompt `first` it calls a tool,
    or is held at a gate."""

    first: str = ""
    call: ToolCall | None = None
    hold: Hold | None = None

    def answer(self, request: Request) -> Turn:
        answered = {name for text in texts(request, answers=True) for name in names(text)}
        new = [name for text in texts(request) for name in names(text) if name not in answered]
        answer = turn(words(*dict.fromkeys(new)))
        if self.first not in new:
            return answer
        calls = () if self.call is None else (self.call,)
        return structs.replace(answer, content=(*answer.content, *calls), hold=self.hold)


def texts(request: Request, *, answers: bool = False) -> Iterator[str]:
    """All that the model is told, or all that it has answered. Words into an open turn come in another place than a
    prompt, so that `request.texts` is not enough."""
    for message in request.messages:
        if (message.get("role") in ("assistant", "model")) == answers:
            yield from strings(message)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


# --- a session -----------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """A prompt, and the stream of the turn that takes it."""

    name: str
    stream: EventStream


class Said(NamedTuple):
    """What came of an order."""

    order: Order
    turns: dict[str, Events]
    """The turn that each prompt was given, in the order of the prompts."""
    steers: list[str]
    """The words into open turns that were not refused."""
    everything: Events


class Talk:
    """One long session with an agent."""

    def __init__(self, pin: Pin, place: Path, portal: BlockingPortal) -> None:
        self.pinned = Pinned(pin, place, steady=True)
        self._portal = portal
        self._stack = ExitStack()
        self._open = False
        self._numbers = count(1)

    def play(self, order: Order) -> Said:
        if not self._open:
            self._begin()
        try:
            return self._portal.call(self._play, order)
        except BaseException as error:
            error.add_note(f"what was said in it is at the end of {self._recording}")
            with suppress(Exception):  # nobody knows how it stands with it: the next order gets a new one
                self._end()
            raise

    def close(self) -> None:
        """Ends it, and checks all that was said in it."""
        if self._open:
            self._end()
            check(self._events.drain(), self._recording)

    def _begin(self) -> None:
        self._listener = Listener()
        self._recording = self.pinned.recording()
        lines = script([self._listener.answer], repeat_last=True)
        self._model: Scenario = self._stack.enter_context(ScriptedModel(lines))
        fields = self.pinned.fields(self._model, record=self._recording, approve="all")
        session = dragoman.open(self.pinned.name, **fields)
        self._session: Session = self._stack.enter_context(self._portal.wrap_async_context_manager(session))
        self._events: EventStream = self._portal.call(self._session.events)
        self._open = True

    def _end(self) -> None:
        self._open = False
        self._stack.close()

    # --- one order ---------------------------------------------------------------------------------------

    async def _play(self, order: Order) -> Said:
        session, (situation, *rest) = self._session, order
        asked: list[Asked] = []
        steers: list[str] = []
        with anyio.fail_after(PATIENCE / 2), ExitStack() as opened:
            events = session.events()
            gate = await self._at_work(situation, asked)
            for word in rest:
                await self._say(word, asked, steers)
            await self._all_is_read()
            turns = {}
            if "interrupt" in rest:
                # Not every agent answers it: that it was read is shown by the end of the turn alone.
                turns[asked[0].name] = Events([event async for event in asked[0].stream])
            self._model.open(gate.path.name)
            opened.callback(os.close, gate.opened())
            async for _ in session.until_done():
                pass
            everything = Events(events.drain())
            assert not session.busy
            for prompt in asked[len(turns) :]:
                turns[prompt.name] = Events([event async for event in prompt.stream])
        return Said(order, turns, steers, everything)

    async def _at_work(self, situation: str, asked: list[Asked]) -> Gate:
        """The first prompt is sent and its turn has come so far. It goes on when the gate is opened."""
        name = f"prompt-{next(self._numbers)}"
        gate = Gate(self.pinned.home / f"gate-{next(self._numbers)}")
        events = self._session.events()
        early, model = situation == "early", self._listener
        model.first = name
        model.call = self.pinned.tools.shell(gate.wait) if early else None
        model.hold = Hold(gate.path.name) if not early else None
        asked.append(Asked(name, self._session.prompt(name)))
        if early:
            async for event in events:
                if isinstance(event, ToolStarted):
                    break
        else:
            await to_thread.run_sync(self._model.wait_for_hold, gate.path.name)
        return gate

    async def _say(self, word: str, asked: list[Asked], steers: list[str]) -> None:
        name = f"{word}-{next(self._numbers)}"
        if word == "prompt":
            asked.append(Asked(name, self._session.prompt(name)))
        elif word == "cost":
            asked.append(Asked(name, self._session.prompt("/cost")))
        elif word == "steer":
            with suppress(UsageError):  # no turn is open any more
                await self._session.steer(name)
                steers.append(name)
        else:
            with suppress(UsageError):
                await self._session.interrupt()

    async def _all_is_read(self) -> None:
        """Claude Code says nothing of words into an open turn before it takes them; but it reads in order."""
        if self.pinned.name == "claude":
            await self._session.set_option("title", "Steered")


# --- what must hold ------------------------------------------------------------------------------------------


class Turns:
    """The turns of an order, by number, and what each has answered of all that was said in it."""

    def __init__(self, said: Said, agent: str) -> None:
        numbers = [started.turn for started in said.everything.of(TurnStarted) if started.turn is not None]
        self.events = {n: Events([e for e in said.everything if e.turn == n]) for n in numbers}
        here = {*said.turns, *said.steers}
        self.answered = {
            n: [name for text in answers(events, agent) for name in names(text) if name in here]
            for n, events in self.events.items()
        }
        self.own = {number(events): name for name, events in said.turns.items()}
        """The prompts by their turns."""

    def outcome(self, n: int) -> str:
        return self.events[n].ended.outcome


def answers(events: Events, agent: str) -> list[str | None]:
    """What the model said in a turn, but for what Codex cut short: for words that come meanwhile it begins anew."""
    if agent != "codex":
        return events.said()
    return [message.text for message in events.of(Message, role="assistant", synthesized=False)]


def number(events: Events) -> int:
    turn = events.one(TurnStarted).turn
    assert turn is not None
    return turn


def check_order(said: Said, agent: str) -> None:
    turns, interrupts = Turns(said, agent), said.order.count("interrupt")
    first, *others = turns.own
    cancelled = {name for n, name in turns.own.items() if turns.outcome(n) == "cancelled"}
    # Each prompt has a turn of its own, in the order of the prompts, and its stream is that turn.
    assert len(turns.own) == len(said.turns)
    assert list(turns.own) == sorted(turns.own)
    for n, name in turns.own.items():
        assert said.turns[name] == turns.events[n][: len(said.turns[name])]
        assert said.turns[name][-1] == turns.events[n].ended
        assert said.turns[name].one(TurnStarted).prompt == ("/cost" if name.startswith("cost") else name)
    # An interrupt ends the turn that is open. A second one may find the next, or none.
    assert turns.outcome(first) == ("cancelled" if interrupts else "completed")
    assert {turns.outcome(n) for n in turns.events} <= {"completed", "cancelled"}
    assert len([n for n in others if turns.own[n] in cancelled]) <= max(interrupts - 1, 0)
    # What a turn answers is its prompt, words that were said into it, and what an interrupt left without an answer.
    for n, events in turns.events.items():
        answered, prompt = turns.answered[n], turns.own.get(n)
        assert {name for name in answered if name.startswith("prompt")} <= cancelled | {prompt}
        if turns.outcome(n) == "cancelled":
            continue
        if prompt is None:
            begun = events.one(TurnStarted).prompt
            assert answered
            assert begun is None or names(begun)[0] in answered
        elif prompt.startswith("cost"):
            assert (answered, "Total cost" in str(events.ended.text)) == ([], True)
        else:
            assert prompt in answered
    # Nothing is answered twice.
    times = Counter(name for answered in turns.answered.values() for name in answered)
    assert [name for name, n in times.items() if n > 1] == []
    check_steers(said, turns, agent, interrupts)
    if agent == "claude":
        check_messages(said, turns)


def check_messages(said: Said, turns: Turns) -> None:
    """The messages that a turn took, as the agent says it when it ends, are those that it answered."""
    texts = {m.message_id: m.text for m in said.everything.of(Message, role="user", echo=False)}
    left: set[str | None] = set()
    """Those that an interrupt left without an answer: the model still hears them."""
    for n, events in turns.events.items():
        taken = [texts[id] for id in events.ended.message_ids]
        if turns.outcome(n) == "cancelled":
            left |= {*taken} - {*turns.answered[n]}
        elif turns.own.get(n, "").startswith("cost"):
            assert taken in (["/cost"], [])  # 2.1.197 does not echo it
        else:
            assert taken == [name for name in turns.answered[n] if name not in left]


def check_steers(said: Said, turns: Turns, agent: str, interrupts: int) -> None:
    """Words into an open turn are answered in it, if they come early enough. Codex begins its last answer anew for
    those that come late; Claude Code takes them in a turn of their own, before the next prompt."""
    first, *_ = turns.own
    own = [name for n, some in turns.answered.items() if n not in turns.own for name in some]
    lost = set(said.steers) - {name for some in turns.answered.values() for name in some}
    if interrupts == 0:
        assert lost == set()
        if said.order[0] == "early" or agent == "codex":
            assert turns.answered[first] == [turns.own[first], *said.steers]
        else:
            assert turns.answered[first] == [turns.own[first]]
            assert own == said.steers
            late = [n for n in turns.events if n not in turns.own]
            assert late == list(turns.events)[1 : 1 + len(late)]
    elif interrupts == 1 and agent == "claude":
        assert lost == set()


# --- the tests -----------------------------------------------------------------------------------------------


class Talks:
    """One session for each agent, opened when it is first asked for."""

    def __init__(self, place: Callable[[str], Path], portal: BlockingPortal) -> None:
        self._place = place
        self._portal = portal
        self._talks: dict[Pin, Talk] = {}

    def with_(self, pin: Pin) -> Talk:
        if pin not in self._talks:
            self._talks[pin] = Talk(pin, self._place(str(pin)), self._portal)
        return self._talks[pin]

    def close(self) -> None:
        for talk in self._talks.values():
            talk.close()


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    with start_blocking_portal() as portal:
        some = Talks(tmp_path_factory.mktemp, portal)
        yield some
        some.close()


PLAYED = [(pin, order) for pin in pins(*WORDS) for order in orders_of(pin.agent)]


@pytest.mark.parametrize(("pin", "order"), PLAYED, ids=[f"{pin}-{'-'.join(order)}" for pin, order in PLAYED])
def test_each_prompt_gets_its_own_answer(talks: Talks, pin: Pin, order: Order) -> None:
    check_order(talks.with_(pin).play(order), pin.agent)


@pytest.mark.parametrize("pin", pins(*WORDS), ids=str)
def test_the_whole_session(talks: Talks, pin: Pin) -> None:
    """The invariants, nothing unknown, and a replay that equals life, over all orders."""
    talks.with_(pin).close()

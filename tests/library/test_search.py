"""Search in a library: the same answers from SQLite and PostgreSQL, each of them true."""

import random
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dragoman._library import candidates, searching
from dragoman._library import postgres as on_postgres
from dragoman._library.digest import PIECE
from dragoman._library.library import Library
from dragoman._library.query import Search
from dragoman._library.searching import Answer, search
from dragoman._library.sessions import Filter
from dragoman._library.tokens import ROLES
from tests.library.postgres_server import Server
from tests.library.transcripts import START, transcript

WORDS = [
    "the",
    "a",
    "of",
    "value",
    "values",
    "parse",
    "message",
    "parseMessage",
    "parse_message",
    "len(values)",
    "HTTPServer",
    "server",
    "utf8",
    "IPv6",
    "café",
    "İstanbul",
    "istanbul",
    "Straße",
    "日本語",
    "日本",
    "語",
    "検索する",
    "한국어",
    "😀",
    "naïve",
    "src/dragoman/api.py",
    "*args",
    "don't",
    "C:\\path",
    "a1b2c3d4",
    "2026",
    "x_1",
    "NEAR",
    "AND",
    "OR",
]
ODD_QUERIES = (
    '"', '""', "'", "\\", "\0", "a\0b", "(", "()", "*", "**", "* *", '"*"', "AND", "a AND b OR NEAR(c, 2)", "NOT the",
    "value:the", "{the}", "^the", "+the -of", "the'; DROP TABLE said; --", "the & of | !a", "the <-> of", "'the':*", "%", "_",
    "%%s ? $1 :x", "語", "語*", "*語*", "İstanbul", "i\u0307stanbul", "😀", "\ud800", "\ud800the", "\U0010ffff", "\u202e", "x" * 10_000,
    "the " * 2_500, " ".join(f"w{n}" for n in range(2_000)), '"' + "of the " * 1_400, "*" * 10_000, "a*" * 3_000, "e\u0301" * 100,
)  # fmt: skip


def texts(rnd: random.Random) -> Iterator[Any]:
    yield "user", " ".join(rnd.choices(WORDS, k=rnd.randrange(1, 12)))
    for _ in range(rnd.randrange(1, 6)):
        body = rnd.choice(" \n").join(rnd.choices(WORDS, k=rnd.randrange(1, 40)))
        yield "assistant", body
        yield (
            "tool",
            rnd.choice(("Read", "mcp__x__y")),
            rnd.choice(("/w/src/a.py", "/w/README.md")),
            body[::-1],
        )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty sessions of words in any order, and one with long texts."""
    folder, rnd = tmp_path_factory.mktemp("sessions"), random.Random(14)
    for number in range(60):
        transcript(folder, f"s{number}", texts(rnd), at=number % 20 * 100, cwd=f"/w/p{number % 3}")
    long = "".join(f"word{n} " for n in range(20_000))
    transcript(folder, "long", [("user", "go"), ("assistant", long)], at=5_000)
    return folder


@pytest.fixture(scope="module")
def both(files: Path, tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[list[Library]]:
    with ExitStack() as stack:
        made = [str(tmp_path_factory.mktemp("library") / "library.db"), postgres.fresh()]
        libraries = [stack.enter_context(Library(address)) for address in made]
        for library in libraries:
            assert library.sync([files], jobs=1).read == 61
        yield libraries


@pytest.fixture
def lite(files: Path, tmp_path: Path) -> Iterator[Library]:
    with Library(tmp_path / "library.db") as library:
        library.sync([files], jobs=1)
        yield library


def questions(count: int) -> Iterator[Search]:
    rnd = random.Random(200)
    for _ in range(count):
        words = rnd.choices(WORDS, k=rnd.choice((1, 1, 2, 2, 3)))
        text = rnd.choice(
            (" ".join(words), '"' + " ".join(words) + '"', f"*{words[0][1:-1]}*", f"{words[0][:3]}*")
        )
        yield Search(
            text=text,
            roles=rnd.choice(((),) * 6 + (("user",), ("assistant", "output"))),
            tools=rnd.choice(((),) * 8 + (("read",), ("*Y*",))),
            path=rnd.choice((None,) * 8 + ("readme", "src/*.py")),
            among=Filter(
                subagents=True,
                folder=rnd.choice((None, None, None, "/w/p1")),
                since=rnd.choice((None, None, START + 700)),
                until=rnd.choice((None, None, START + 1_500)),
            ),
            limit=rnd.choice((5, 20, 1_000)),
            each=rnd.choice((None, 2)),
        )


def test_both_databases_give_the_same_answers(both: list[Library]) -> None:
    lite, post = both
    some = 0
    for question in questions(200):
        one, other = search(lite.db, question), search(post.db, question)
        assert one == other, question
        some += bool(one.hits)
    assert some > 100


@pytest.mark.parametrize("query", ODD_QUERIES, ids=range(len(ODD_QUERIES)))
def test_no_query_raises(both: list[Library], query: str) -> None:
    lite, post = both
    assert search(lite.db, Search(text=query)) == search(post.db, Search(text=query))


@pytest.mark.parametrize("odd", ["\0", "\ud800", "'", "%", "[", "*", "\\", "!" * 5_000])
def test_no_filter_raises(both: list[Library], odd: str) -> None:
    question = Search(
        text="the", roles=[odd], tools=[odd], path=odd, session=odd, among=Filter(agents=[odd], folder=odd, text=odd),
        after=odd,
    )  # fmt: skip
    for library in both:
        assert search(library.db, question).hits == []
        for part in ({"path": odd}, {"tools": [odd]}, {"among": Filter(folder=odd)}, {"after": odd}):
            search(library.db, Search(text="the", **part))


@pytest.mark.parametrize("few", [0, 10, 60])
def test_common_and_rare_are_found_alike(
    both: list[Library], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions gone through one after the other give what looking at all candidates gives."""
    every = [search(both[0].db, question) for question in questions(100)]
    monkeypatch.setattr(candidates, "FEW", few)
    monkeypatch.setattr(candidates, "_BATCHES", (1, 2))
    monkeypatch.setattr(candidates, "_BATCH", 5)
    monkeypatch.setattr(candidates, "_AT_ONCE", (1, 2))
    monkeypatch.setattr(on_postgres, "_MOST", 30)
    for library in both:
        for question, all_at_once in zip(questions(100), every, strict=True):
            walked = search(library.db, question)
            assert (walked.hits, walked.more) == (all_at_once.hits, all_at_once.more), question
            assert walked.at_least or walked.count == all_at_once.count


@pytest.mark.parametrize("few", [0, 1_500])
def test_pages_are_the_whole(lite: Library, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "FEW", few)
    for each in (None, 2):
        question = Search(text="value", limit=10_000, each=each)
        whole = search(lite.db, question)
        assert whole.more is None
        assert len(whole.hits) > 50
        pages: list[Answer] = []
        after = None
        while not pages or after is not None:
            pages.append(search(lite.db, replace(question, limit=7, after=after)))
            after = pages[-1].more
        assert [hit for page in pages for hit in page.hits] == whole.hits
        assert all(len(page.hits) == 7 for page in pages[:-1])
        if few:
            assert {page.count for page in pages} == {whole.count}


def test_words_are_found_where_they_stand_and_nowhere_else(lite: Library) -> None:
    rows = lite.db.rows("SELECT unit, seq, body FROM said")
    for word in ("value", "values", "utf8", "a1b2c3d4", "server", "near", "and", "nowhere"):
        standing = {
            (unit, seq) for unit, seq, body in rows
            if word in re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", body).replace("_", " ").lower().split()
            or re.search(rf"(?<![^\W_]){word}(?![^\W_])", body.lower())
        }  # fmt: skip
        answer = search(lite.db, Search(text=word, limit=10_000))
        assert {(hit.unit, hit.seq) for hit in answer.hits} == standing, word
        assert answer.count == len({unit for unit, _ in standing})
        assert not answer.at_least
        for hit in answer.hits:
            assert all(hit.snippet.text[a:b].lower() == word for a, b in hit.snippet.marks)


def test_the_order_is_newest_session_first(lite: Library) -> None:
    answer = search(lite.db, Search(text="value", limit=10_000))
    sessions = list(dict.fromkeys(hit.session for hit in answer.hits))
    updated = [answer.sessions[id].updated or 0 for id in sessions]
    assert updated == sorted(updated, reverse=True)
    for id in sessions:
        places = [hit.seq for hit in answer.hits if hit.session == id]
        assert places == sorted(set(places))


def test_filters(lite: Library) -> None:
    def found(**rest: Any) -> list[Any]:
        return search(lite.db, Search(text="the", limit=10_000, **rest)).hits

    everything = found()
    for role in ROLES:
        assert found(roles=[role]) == [hit for hit in everything if hit.role == role]
    eht = search(lite.db, Search(text="eht", limit=10_000)).hits
    assert {hit.tool for hit in eht} == {"Read", "y"}
    assert {hit.path for hit in eht} == {"/w/src/a.py", "/w/README.md"}
    for given in ({"tools": ["READ"]}, {"path": "readme"}, {"path": "src/*.py"}, {"path": "*.md"}):
        some = search(lite.db, Search(text="eht", limit=10_000, **given)).hits  # type: ignore[arg-type]
        assert 0 < len(some) < len(eht)
        assert len({hit.path if "path" in given else hit.tool for hit in some}) == 1
    since = found(among=Filter(since=START + 700))
    assert since == [hit for hit in everything if hit.at >= START + 700]
    assert found(among=Filter(until=START + 700)) == [hit for hit in everything if hit.at < START + 700]
    one = everything[-1].session
    assert found(session=one) == [hit for hit in everything if hit.session == one]
    assert found(among=Filter(agents=["codex"])) == []


def test_a_long_text_is_one_place(lite: Library) -> None:
    """Though it is in pieces, which overlap."""
    border = lite.db.rows("SELECT body FROM said WHERE piece = 1")[0][0].split()[3]
    answer = lite.search(border)
    assert [len(hit.snippet.marks) for hit in answer.hits] == [1]
    assert len(lite.search("word*").hits) == 1
    assert len(lite.search("word19000").hits) == 1
    assert max(len(body) for (body,) in lite.db.rows("SELECT body FROM said")) == PIECE


def test_what_is_not_shown_or_forgotten_is_not_found(lite: Library, files: Path, tmp_path: Path) -> None:
    before = lite.search("value", limit=10_000)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in files.glob("*.jsonl"):
        (copy / path.name).write_bytes(path.read_bytes())
    lite.sync([copy], jobs=1)
    again = lite.search("value", limit=10_000)
    assert len(again.hits) == len(before.hits)  # a second telling of the same sessions
    gone = before.hits[0].session
    lite.db.run("DELETE FROM session WHERE id = ?", (gone,))
    assert gone not in {hit.session for hit in lite.search("value", limit=10_000).hits}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("()", "no word"),
        ("", "no word"),
        ("*a*", "at least 2 letters"),
        ("*or*", "more than"),
        ("the", None),
        ("zzz", None),
    ],
)
def test_clear_answers(lite: Library, query: str, said: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_WORDS", 5)
    problem = lite.search(query).problem
    assert problem is None if said is None else said in (problem or "")

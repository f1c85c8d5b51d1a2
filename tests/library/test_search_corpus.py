"""Two hundred questions to five hundred sessions of real shapes: SQLite and PostgreSQL give the same answers.

The same questions are asked of ten thousand sessions in bench/library_search.py.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from dragoman._library.library import Library
from dragoman._library.query import Search, terms_of
from dragoman._library.searching import search
from dragoman._library.snippets import stands
from tests.library import corpus
from tests.library.postgres_server import Server
from tests.library.questions import questions

SESSIONS, BYTES, QUESTIONS = 500, 10_000_000, 200


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[list[Library]]:
    home = tmp_path_factory.mktemp("home")
    files = list(corpus.generated(home, SESSIONS, BYTES))
    with ExitStack() as stack:
        made = [str(tmp_path_factory.mktemp("library") / "library.db"), postgres.fresh()]
        libraries = [stack.enter_context(Library(address)) for address in made]
        for library in libraries:
            assert library.sync([home], jobs=1).read == len(files) == SESSIONS
        yield libraries


def test_both_databases_give_the_same_answers(both: list[Library]) -> None:
    lite, post = both
    found = Counter[str]()
    for kind, question in questions(lite.db, QUESTIONS):
        answer = search(lite.db, question)
        assert search(post.db, question) == answer, question
        found[kind] += len(answer.hits)
    assert found.pop("absent") == 0
    assert all(found.values()), found


def test_what_is_found_is_all_that_there_is(both: list[Library]) -> None:
    """The index leaves out no text in which what is looked for stands."""
    lite, _ = both
    shown = lite.db.rows(
        "SELECT t.unit, t.seq, t.body FROM said t JOIN part p ON p.unit = t.unit AND p.session = t.session WHERE p.shown = 1"
    )
    for _, question in list(questions(lite.db, QUESTIONS))[:22]:
        terms = terms_of(question.text)
        there = {(unit, seq) for unit, seq, body in shown if stands(body, terms)}
        hits = search(lite.db, Search(text=question.text, limit=1_000_000)).hits
        assert {(hit.unit, hit.seq) for hit in hits} == there, question.text

"""Questions of all kinds, drawn from what is in a library: the same of the same texts."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from dragoman._library.database import Database
from dragoman._library.query import Search
from dragoman._library.sessions import Filter

_WORD: Final = re.compile(r"[A-Za-z]\w+")
_IDENTIFIER: Final = re.compile(r"\w+(?:[_./-]\w+)+|[a-z]+[A-Z]\w+")
_PAIRED: Final = re.compile(r"[\u4e00-\u9fff]{2,}")
_SAMPLE: Final = 2_000
"""Texts that questions are drawn from."""


class Sample:
    """Texts of a library, and what is drawn from them."""

    def __init__(self, db: Database) -> None:
        ids = [row[0] for row in db.rows("SELECT id FROM said ORDER BY session, seq, piece")]
        some = ids[:: max(1, len(ids) // _SAMPLE)]
        self.texts = [body for id in some for (body,) in db.rows("SELECT body FROM said WHERE id = ?", (id,))]
        self._dice = Random(200)
        counts = Counter(word.lower() for text in self.texts for word in set(_WORD.findall(text)))
        self._words = sorted(counts)
        self._common = [word for word, _ in sorted(counts.items(), key=lambda it: (-it[1], it[0]))[:60]]
        self._identifiers = self._found(_IDENTIFIER)
        self._chinese = self._found(_PAIRED)

    def _found(self, form: re.Pattern[str]) -> list[str]:
        return sorted({found for text in self.texts for found in form.findall(text) if len(found) < 40})

    def word(self) -> str:
        return self._dice.choice(self._words)

    def common(self) -> str:
        return self._dice.choice(self._common)

    def pair(self) -> str:
        return f"{self.word()} {self.common()}"

    def common_pair(self) -> str:
        return f"{self.common()} {self.common()}"

    def phrase(self) -> str:
        """Some words as they stand one after the other in a text."""
        while True:
            words = self._dice.choice(self.texts).replace('"', " ").replace("*", " ").split()
            if len(words) > 1:
                start, count = self._dice.randrange(len(words) - 1), self._dice.randint(2, 4)
                return f'"{" ".join(words[start : start + count])}"'

    def common_phrase(self) -> str:
        """Words that stand in many texts, and mostly not one after the other."""
        return f'"{self.common_pair()}"'

    def beginning(self) -> str:
        return f"{self.word()[: self._dice.randint(3, 6)]}*"

    def infix(self) -> str:
        word = max((self.word() for _ in range(3)), key=len)
        start = self._dice.randrange(max(1, len(word) - 5))
        return f"*{word[start : start + self._dice.randint(4, 6)]}*"

    def identifier(self) -> str:
        return self._dice.choice(self._identifiers).replace('"', " ")

    def chinese(self) -> str:
        word = self._dice.choice(self._chinese)
        return word[: self._dice.randint(1, 4)]

    def absent(self) -> str:
        return f"{self._dice.randrange(16**12):x}"

    def narrowed(self) -> dict[str, Any]:
        """What else is wanted."""
        return self._dice.choice(
            (
                {"roles": ["user"]},
                {"roles": ["assistant", "thinking"]},
                {"tools": ["bash"]},
                {"tools": ["*read*"], "roles": ["output"]},
                {"path": "*.py"},
                {"path": "no such file"},
                {"among": Filter(subagents=True, agents=["codex"])},
                {"among": Filter(subagents=True, since=1_790_000_000.0)},
                {"among": Filter(subagents=True, until=1_780_000_000.0)},
                {"among": Filter(subagents=True, folder="/nowhere")},
                {"among": Filter(subagents=True, text="file")},
            )
        )


_KINDS: Final[tuple[Callable[[Sample], str], ...]] = (
    Sample.word, Sample.common, Sample.pair, Sample.common_pair, Sample.phrase, Sample.common_phrase,
    Sample.beginning, Sample.infix, Sample.identifier, Sample.chinese, Sample.absent,
)  # fmt: skip


def questions(db: Database, count: int) -> Iterator[tuple[str, Search]]:
    """So many, each with its kind; every fourth is narrowed. The page is that of the command."""
    sample = Sample(db)
    for number in range(count):
        kind = _KINDS[number % len(_KINDS)]
        rest = sample.narrowed() if number % 4 == 3 else {}
        yield kind.__name__, Search(text=kind(sample), each=3, **rest)

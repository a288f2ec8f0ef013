"""The BM25 scores of single words by chunk, cached from search to search while the index does not change.

The score of several words is the sum of their scores. Adding up cached scores takes a hundredth of the time that FTS5
needs for a frequent word, and people use the same words again. Every score is FTS5's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import apsw
import numpy as np

from jupyter_memory.storage.cache import Cache
from jupyter_memory.storage.sqlite.connection.background import Step
from jupyter_memory.storage.sqlite.indexes.keyword_query import document_frequency, expression, listed, stems, word_of
from jupyter_memory.storage.sqlite.indexes.statistics import open_word_counts
from jupyter_memory.storage.sqlite.indexes.top_k import ChunkOwners, Keys, ScoredChunks
from jupyter_memory.storage.sqlite.sql import version
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types import Terms

# Scores that are cached, 16 bytes each.
_MOST = 2_000_000
# Words whose frequency is cached.
_MOST_COUNTED = 100_000
# Words of the vocabulary that one step looks at: 50 ms at 100,000 chunks.
_SLICE = 10_000
# A word in fewer chunks takes a few milliseconds when it is asked for; one in more takes too long to be read while a
# person may go on at any moment.
_LEAST, _LARGEST = 3_000, 100_000

# The columns and stems of a match, and the weights of its columns.
Key = tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, float], ...]]


class Match(NamedTuple):
    """What is looked for: an FTS5 expression, the columns it names, and its words reduced to their stems."""

    expression: str
    columns: tuple[str, ...]
    stems: tuple[str, ...]

    @classmethod
    def of_words(cls, connection: apsw.Connection, words: str, weights: Mapping[str, float]) -> Match:
        """Return the match of a word, or of words side by side, in the columns that have weights."""
        phrase = str(expression(Terms(phrases=(words,)), weights))
        return cls(phrase, _columns(weights), tuple(stems(connection, words)))

    @classmethod
    def of_stem(cls, connection: apsw.Connection, stem: str, weights: Mapping[str, float]) -> Match:
        """Return the match of one word, given by its stem, in the columns that have weights."""
        return cls.of_words(connection, word_of(connection, stem), weights)

    @classmethod
    def of_prefix(cls, connection: apsw.Connection, prefix: str, weights: Mapping[str, float]) -> Match:
        """Return the match of all words with this prefix, in the columns that have weights."""
        begun = str(expression(Terms(prefix=prefix), weights))
        return cls(begun, _columns(weights), (*stems(connection, prefix), "*"))

    @classmethod
    def of_pair(cls, pair: str, weights: Mapping[str, float]) -> Match:
        """Return the match of a pair of characters of a text without spaces."""
        return cls(str(expression(Terms(ident=(pair,)), weights)), ("ident",), (pair,))


def _columns(weights: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(column for column in COLUMNS if column in weights)


class ScoreSums:
    """Sums of scores, added up in the given order, as FTS5 does, so that not even the last digit differs."""

    def __init__(self, scored: Sequence[ScoredChunks]) -> None:
        self._scored = scored
        size = max((int(one.chunks.max()) + 1 for one in scored if one.chunks.size), default=0)
        self._sums = np.zeros(size)
        for one in scored:
            self._sums[one.chunks] += one.scores

    def all(self) -> ScoredChunks:
        """Return every chunk with its sum."""
        matched = np.zeros(self._sums.size, dtype=bool)
        for one in self._scored:
            matched[one.chunks] = True
        chunks = np.flatnonzero(matched)
        return ScoredChunks(chunks, self._sums[chunks])

    def among(self, chunks: Keys, /) -> ScoredChunks:
        """Return those of these chunks whose sum is not 0."""
        chunks = chunks[chunks < self._sums.size]
        return ScoredChunks(chunks, self._sums[chunks]).above_zero()

    def top(self, count: int) -> dict[int, float]:
        """Return the sums of the best ``count``, best first; where the cut meets equal sums, any of them."""
        return self.all().top(count)


class WordScoreCache:
    """Caches scores of one store's keyword index; ``owners`` are those of its chunks. Safe to share between threads."""

    def __init__(self, owners: ChunkOwners | None = None, most: int = _MOST) -> None:
        self.owners = ChunkOwners() if owners is None else owners
        self.words: Cache[Key, ScoredChunks] = Cache(most, lambda scored: scored.chunks.size + 1)
        self.frequencies: Cache[tuple[str, tuple[str, ...]], int] = Cache(_MOST_COUNTED)
        # Ranking asks for the same sums again, for other memories.
        self.sums: Cache[Hashable, ScoreSums] = Cache(1)
        self._searched = self._searched_again = ""
        self._ahead: ReadAhead | None = None

    def of(self, connection: apsw.Connection) -> WordScores | None:
        """Return the scores for the index that this transaction sees; None if the last search saw another state.

        Word by word costs more than all at once, so it is not worth it for an index that changes with every search.
        """
        now = version(connection)
        if self._searched != now:
            self._searched = now
            return None
        self._searched_again = now
        return WordScores(self, connection, now)

    def seen(self, connection: apsw.Connection) -> WordScores | None:
        """Return the same without counting as a search; None if no second search has seen this index."""
        now = version(connection)
        return WordScores(self, connection, now) if self._searched_again == now else None

    def uncounted(self, connection: apsw.Connection) -> WordScores:
        """Return the scores for the index that this transaction sees, without counting as a search."""
        return WordScores(self, connection, version(connection))

    def reading_ahead(
        self, weights: Mapping[str, float], stop_words: Callable[[apsw.Connection], Collection[str]]
    ) -> Step | None:
        """Return the work that reads the frequent words step by step.

        None where there is nothing to read: all words are read, or no second search has seen this index.
        """
        if not self._searched_again or self._searched_again != self._searched:
            return None
        if self._ahead is None or self._ahead.index != self._searched_again:

            def read(connection: apsw.Connection, stem: str) -> None:
                self.uncounted(connection).scores(Match.of_stem(connection, stem, weights), weights)

            self._ahead = ReadAhead(self._searched_again, read, lambda: self.words.room, stop_words)
        return None if self._ahead.done else self._ahead


@dataclass(frozen=True, slots=True)
class WordScores:
    """The scores of words as one transaction sees them, read from the index where they are not cached yet."""

    _scores: WordScoreCache
    _connection: apsw.Connection
    _version: str

    def add_up(self, matches: Sequence[Match], weights: Mapping[str, float]) -> ScoreSums:
        """Return the sums of the scores of these expressions, for chunks that match at least one."""
        return ScoreSums([self.scores(match, weights) for match in matches])

    def as_one(self, matches: Sequence[Match], weights: Mapping[str, float]) -> ScoredChunks:
        """Return the scores of words that count as one word; its idf is that of holding any of them.

        By itself, FTS5 would take the rarest form of a word for the most telling.
        """
        found = [one for one in (self.scores(match, weights) for match in matches) if one.chunks.size]
        if len(found) < 2:
            return found[0] if found else ScoredChunks.read(())
        total = int(self._connection.execute("select coalesce(max(id), 0) from chunks").get)
        chunks, places = np.unique(np.concatenate([one.chunks for one in found]), return_inverse=True)
        together = _idf(chunks.size, total)
        scores = np.concatenate([one.scores * (together / _idf(one.chunks.size, total)) for one in found])
        summed = np.bincount(places, scores, minlength=chunks.size)
        return ScoredChunks(chunks, summed.astype(np.float64, copy=False))

    def once(self, key: Hashable, add_up: Callable[[], ScoreSums]) -> ScoreSums:
        """Return the result of ``add_up``, cached if the last call asked for the same."""
        return self._scores.sums.of(self._version, key, add_up)

    def frequency(self, word: str, columns: Collection[str]) -> int:
        """Return how many chunks hold a word in that column where most do; 0 for what is not a word by itself."""
        return self._scores.frequencies.of(
            self._version, (word, tuple(columns)), lambda: document_frequency(self._connection, word, columns)
        )

    def scores(self, match: Match, weights: Mapping[str, float]) -> ScoredChunks:
        """Return the chunks that match an expression, with their scores."""
        return self._scores.words.of(self._version, _key(match, weights), lambda: self._read(match, weights))

    def knows(self, match: Match, weights: Mapping[str, float]) -> bool:
        """Return whether the scores of an expression need not be read."""
        return self._scores.words.get(self._version, _key(match, weights)) is not None

    def _read(self, match: Match, weights: Mapping[str, float]) -> ScoredChunks:
        rows = self._connection.execute(
            f"select rowid, -bm25(keyword, {listed(weights)}) from keyword where keyword match ?", (match.expression,)
        )
        return ScoredChunks.read(rows)


def _idf(count: int, total: int) -> float:
    """Return what FTS5 takes for the idf of a word that so many chunks hold."""
    return max(log((total - count + 0.5) / (count + 0.5)), 1e-6) if count < total else 1e-6


def _key(match: Match, weights: Mapping[str, float]) -> Key:
    return match.columns, match.stems, tuple(weights.items())


class ReadAhead:
    """Reads the frequent words of one version of the index between searches, while there is room for them.

    FTS5 takes 3 microseconds a row for BM25, so a word in 30,000 chunks takes 0.1 s, and words that are in many chunks
    are in many questions, too. ``fts5vocab`` names them; the most frequent are read first.

    ``read`` caches the scores of a word, given by its stem; ``room`` returns how many more scores fit the cache;
    ``stop_words`` returns stems that questions do not contain.
    """

    def __init__(
        self,
        index: str,
        read: Callable[[apsw.Connection, str], None],
        room: Callable[[], int],
        stop_words: Callable[[apsw.Connection], Collection[str]],
    ) -> None:
        self.index = index
        self.done = False
        self._read = read
        self._room = room
        self._stop_words = stop_words
        self._last: str | None = ""
        self._frequent: list[tuple[int, str]] = []

    def __call__(self, connection: apsw.Connection) -> bool:
        """Take one step of some milliseconds; return whether there is more to do for this state of the index."""
        if version(connection) != self.index:
            return False
        if self._last is not None:
            self._scan_vocabulary(connection, self._last)
        elif self._frequent and self._room() >= self._frequent[-1][0]:
            self._read(connection, self._frequent.pop()[1])
        else:
            self.done = True
        return not self.done

    def _scan_vocabulary(self, connection: apsw.Connection, last: str) -> None:
        """Find the frequent words in the next part of the vocabulary."""
        open_word_counts(connection)
        rows: list[Any] = connection.execute(
            "select term, doc from temp.word_counts where term > ? limit ?", (last, _SLICE)
        ).fetchall()
        # A search leaves out what more than half of the chunks hold.
        most = min(_LARGEST, connection.execute("select coalesce(max(id), 0) from chunks").get // 2)
        self._frequent += [(chunks, stem) for stem, chunks in rows if _LEAST <= chunks <= most]
        self._last = rows[-1][0] if len(rows) == _SLICE else None
        if self._last is None:
            left_out = self._stop_words(connection)
            self._frequent = sorted(one for one in self._frequent if one[1] not in left_out)

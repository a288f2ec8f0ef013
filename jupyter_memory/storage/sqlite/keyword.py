"""The keyword index: FTS5, statistics, scores of words that are asked often."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import log
from typing import Any, NamedTuple

import numpy as np

from jupyter_memory.storage.cache import Cache
from jupyter_memory.storage.shared import Row, cut, is_settled
from jupyter_memory.storage.sql import SQLITE, condition
from jupyter_memory.storage.sqlite.database import Step
from jupyter_memory.storage.sqlite.keyword_query import (
    begun,
    document_frequency,
    expression,
    listed,
    without_common,
)
from jupyter_memory.storage.sqlite.sql import Session, version
from jupyter_memory.storage.sqlite.vectors import ChunkOwners, Keys, ScoredChunks, best_memories
from jupyter_memory.storage.words import highlights as highlights_of
from jupyter_memory.storage.words import stems, word_of
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types import Filters, ScoredChunk, Terms

# Words that are cached by their first letters, 100 bytes each.
_MOST = 100_000
# A word of so many letters may be a compound.
_LONG = 9


@dataclass(slots=True)
class _Counted:
    chunks: int | None = None
    holding: dict[str, int] = field(default_factory=dict)


class Statistics:
    """The words of one state of the keyword index, as a search sees it; ``cache`` has those of earlier searches."""

    def __init__(self, connection: Session, cache: StatisticsCache | None = None) -> None:
        cache = StatisticsCache() if cache is None else cache
        self._connection = connection
        self._version = version(connection)
        self._counted = cache.counted.of(self._version, "", _Counted)
        self._vocabulary = cache.vocabulary

    @property
    def chunks(self) -> int:
        if self._counted.chunks is None:
            self._counted.chunks = int(self._connection.execute("select count(*) from chunks").get)
        return self._counted.chunks

    def words(self, text: str, /) -> list[str]:
        return stems(text)

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        asked = dict.fromkeys(words, 0)
        known = self._counted.holding
        counted = dict.fromkeys(asked.keys() - known.keys(), 0)
        if counted:
            open_word_counts(self._connection)
            counted.update(
                self._connection.execute(
                    "select term, doc from temp.word_counts where term in (select value from json_each(?))",
                    (json.dumps(list(counted)),),
                )
            )
            # All at once: a search may be interrupted before, and other threads read this meanwhile.
            known.update(counted)
        for word in asked:
            asked[word] = known[word]
        return asked

    def beginning(self, letters: str, /) -> Sequence[str]:
        def read() -> list[str]:
            open_word_counts(self._connection)
            after = letters[:-1] + chr(ord(letters[-1]) + 1)
            rows = self._connection.execute(
                "select term from temp.word_counts where term >= ? and term < ?", (letters, after)
            )
            return [term for (term,) in rows]

        return self._vocabulary.of(self._version, letters, read)

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        def read() -> list[str]:
            open_word_counts(self._connection)
            rows = self._connection.execute("select term from temp.word_counts where length(term) >= ?", (_LONG,))
            return [term for (term,) in rows if term.isalpha()]

        return [term for term in self._vocabulary.of(self._version, "", read) if term.endswith(letters)]


class StatisticsCache:
    """Gives each search the statistics of the index as it sees it, including what earlier searches have read."""

    def __init__(self) -> None:
        self.counted: Cache[str, _Counted] = Cache(1)
        self.vocabulary: Cache[str, Sequence[str]] = Cache(_MOST, lambda words: len(words) + 1)


def open_word_counts(connection: Session) -> None:
    """Make ``temp.word_counts``, in how many chunks each word of the index is."""
    connection.execute("create virtual table if not exists temp.word_counts using fts5vocab(main, keyword, row)")


# The BM25 scores of single words by chunk, cached from search to search while the index does not change.
#
# The score of several words is the sum of their scores. Adding up cached scores takes a hundredth of the time that FTS5
# needs for a frequent word, and people use the same words again. Every score is FTS5's own.

# Scores that are cached, 16 bytes each.
_MOST_WORDS = 2_000_000
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
    def of_words(cls, connection: Session, words: str, weights: Mapping[str, float]) -> Match:
        phrase = str(expression(Terms(phrases=(words,)), weights))
        return cls(phrase, _columns(weights), tuple(stems(words)))

    @classmethod
    def of_stem(cls, connection: Session, stem: str, weights: Mapping[str, float]) -> Match:
        return cls.of_words(connection, word_of(stem), weights)


def _columns(weights: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(filter(weights.__contains__, COLUMNS))


# Added up in the given order, as FTS5 does, so that not even the last digit differs.
class _ScoreSums:
    def __init__(self, scored: Sequence[ScoredChunks]) -> None:
        self._scored = scored
        size = max((int(one.chunks.max()) + 1 for one in scored if one.chunks.size), default=0)
        self._sums = np.zeros(size)
        for one in scored:
            self._sums[one.chunks] += one.scores

    def all(self) -> ScoredChunks:
        matched = np.zeros(self._sums.size, dtype=bool)
        for one in self._scored:
            matched[one.chunks] = True
        chunks = np.flatnonzero(matched)
        return ScoredChunks(chunks, self._sums[chunks])

    def among(self, chunks: Keys, /) -> ScoredChunks:
        chunks = chunks[chunks < self._sums.size]
        return ScoredChunks(chunks, self._sums[chunks]).above_zero()


class WordScoreCache:
    """Caches scores of one store's keyword index; ``owners`` are those of its chunks. Safe to share between threads."""

    def __init__(self, owners: ChunkOwners | None = None, most: int = _MOST_WORDS) -> None:
        self.owners = ChunkOwners() if owners is None else owners
        self.words: Cache[Key, ScoredChunks] = Cache(most, lambda scored: scored.chunks.size + 1)
        self.frequencies: Cache[tuple[str, tuple[str, ...]], int] = Cache(_MOST_COUNTED)
        # Ranking asks for the same sums again, for other memories.
        self.sums: Cache[Hashable, _ScoreSums] = Cache(1)
        self._searched = self._searched_again = ""
        self._ahead: _ReadAhead | None = None

    def of(self, connection: Session) -> _WordScores | None:
        """Return the scores for this state of the index; None if the last search saw another, since it costs more."""
        now = version(connection)
        if self._searched != now:
            self._searched = now
            return None
        self._searched_again = now
        return _WordScores(self, connection, now)

    def seen(self, connection: Session) -> _WordScores | None:
        """Return the same without counting as a search; None if no second search has seen this index."""
        now = version(connection)
        return _WordScores(self, connection, now) if self._searched_again == now else None

    def uncounted(self, connection: Session) -> _WordScores:
        """Return the scores for the index that this transaction sees, without counting as a search."""
        return _WordScores(self, connection, version(connection))

    def reading_ahead(
        self, weights: Mapping[str, float], stop_words: Callable[[Session], Collection[str]]
    ) -> Step | None:
        """Return what reads the frequent words step by step, None where all are read or the index is too new."""
        if not self._searched_again or self._searched_again != self._searched:
            return None
        if self._ahead is None or self._ahead.index != self._searched_again:

            def read(connection: Session, stem: str) -> None:
                self.uncounted(connection).scores(Match.of_stem(connection, stem, weights), weights)

            self._ahead = _ReadAhead(self._searched_again, read, lambda: self.words.room, stop_words)
        return None if self._ahead.done else self._ahead


@dataclass(frozen=True, slots=True)
class _WordScores:
    _scores: WordScoreCache
    _connection: Session
    _version: str

    def add_up(self, matches: Sequence[Match], weights: Mapping[str, float]) -> _ScoreSums:
        return _ScoreSums([self.scores(match, weights) for match in matches])

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

    def summed(self, terms: Terms, weights: Mapping[str, float]) -> _ScoreSums:
        def added_up() -> _ScoreSums:
            selective = without_common(self._connection, terms, weights, lambda word: self.frequency(word, weights))
            return self.add_up(list(_matches(self._connection, selective, weights)), weights)

        return self._scores.sums.of(self._version, (terms, tuple(weights.items())), added_up)

    def frequency(self, word: str, columns: Collection[str]) -> int:
        return self._scores.frequencies.of(
            self._version, (word, tuple(columns)), lambda: document_frequency(self._connection, word, columns)
        )

    def scores(self, match: Match, weights: Mapping[str, float]) -> ScoredChunks:
        key = (match.columns, match.stems, tuple(weights.items()))
        return self._scores.words.of(self._version, key, lambda: self._read(match, weights))

    def _read(self, match: Match, weights: Mapping[str, float]) -> ScoredChunks:
        rows = self._connection.execute(
            f"select rowid, -bm25(keyword, {listed(weights)}) from keyword where keyword match ?", (match.expression,)
        )
        return ScoredChunks.read(rows)


def _idf(count: int, total: int) -> float:
    return max(log((total - count + 0.5) / (count + 0.5)), 1e-6) if count < total else 1e-6


class _ReadAhead:
    """Reads the frequent words of one version of the index between searches, while there is room for them.

    FTS5 takes 3 microseconds a row for BM25, so a word in 30,000 chunks takes 0.1 s, and words that are in many chunks
    are in many questions, too. ``fts5vocab`` names them; the most frequent are read first.

    ``read`` caches the scores of a word, given by its stem; ``room`` returns how many more scores fit the cache;
    ``stop_words`` returns stems that questions do not contain.
    """

    def __init__(
        self,
        index: str,
        read: Callable[[Session, str], None],
        room: Callable[[], int],
        stop_words: Callable[[Session], Collection[str]],
    ) -> None:
        self.index = index
        self.done = False
        self._read = read
        self._room = room
        self._stop_words = stop_words
        self._last: str | None = ""
        self._frequent: list[tuple[int, str]] = []

    def __call__(self, connection: Session) -> bool:
        if version(connection) != self.index:
            return False
        if self._last is not None:
            open_word_counts(connection)
            rows: list[Any] = connection.execute(
                "select term, doc from temp.word_counts where term > ? limit ?", (self._last, _SLICE)
            ).fetchall()
            # A search leaves out what more than half of the chunks hold.
            most = min(_LARGEST, connection.execute("select coalesce(max(id), 0) from chunks").get // 2)
            self._frequent += [(chunks, stem) for stem, chunks in rows if _LEAST <= chunks <= most]
            self._last = rows[-1][0] if len(rows) == _SLICE else None
            if self._last is None:
                left_out = self._stop_words(connection)
                self._frequent = sorted(one for one in self._frequent if one[1] not in left_out)
        elif self._frequent and self._room() >= self._frequent[-1][0]:
            self._read(connection, self._frequent.pop()[1])
        else:
            self.done = True
        return not self.done


# The weight of a match of another spelling, where a match of the word itself has 1.
_RESPELLED = 0.5
# That of a match of a compound with the word, or of one of its parts.
_COMPOUND = 0.8


def search(
    connection: Session,
    terms: Terms,
    weights: Mapping[str, float],
    filters: Filters,
    count: int,
    cache: WordScoreCache | None = None,
) -> list[ScoredChunk]:
    """Return the best ``count`` memories by BM25, each by its best chunk; ``cache`` changes nothing but the time."""
    terms = begun(connection, terms)
    known = cache.of(connection) if cache is not None and not filters else None
    owners = ChunkOwners() if cache is None else cache.owners
    if terms.respelled or terms.forms:
        words = known or WordScoreCache().uncounted(connection)
        scored = _with_others(connection, terms, weights, words)
        chunks, scores = scored.chunks, scored.scores
        if filters:
            where, parameters = condition(SQLITE, filters)
            fitting = connection.execute(
                f"select chunks.id from chunks join memories on memories.key = chunks.memory where {where}", parameters
            )
            fits = np.isin(chunks, np.fromiter(chain.from_iterable(fitting), np.int64))
            chunks, scores = chunks[fits], scores[fits]
        return best_memories(connection, ScoredChunks(chunks, scores), count, owners)
    if known is None:
        return _at_once(connection, without_common(connection, terms, weights), weights, filters, count)
    return best_memories(connection, known.summed(terms, weights).all(), count, owners)


def _at_once(
    connection: Session, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int
) -> list[ScoredChunk]:
    if expression(terms, weights) is None:
        return []
    where, parameters = condition(SQLITE, filters)
    # The unary plus keeps SQLite from running the whole match once for every id in the list.
    filtered = f"""
        and +rowid in (
            select chunks.id from chunks join memories on memories.key = chunks.memory where {where}
        )
    """
    sql = f"""
        with best as materialized (
            select rowid as chunk, -bm25(keyword, {listed(weights)}) as score
            from keyword
            where keyword match :match {filtered if filters else ""}
            order by score desc limit :asked
        )
        select chunks.memory, best.chunk, best.score, memories.event_at, memories.content_hash
        from best join chunks on chunks.id = best.chunk join memories on memories.key = chunks.memory
        order by best.score desc
    """
    parameters["match"] = expression(terms, weights)
    asked = 2 * count + 16
    while True:
        rows = list(map(Row._make, connection.execute(sql, {**parameters, "asked": asked})))
        if is_settled(rows, asked, count):
            return cut(rows, count)
        asked *= 4


def _with_others(connection: Session, terms: Terms, weights: Mapping[str, float], words: _WordScores) -> ScoredChunks:
    # The forms of a word are one; other spellings and compounds count less.
    sums = []
    for less, others in ((_RESPELLED, terms.respelled), (_COMPOUND, terms.compounded)):
        found = words.add_up([Match.of_stem(connection, stem, weights) for stem in others], weights).all()
        sums.append(ScoredChunks(found.chunks, less * found.scores))
    inflected = {one.word: one.inflected for one in terms.forms if one.inflected}
    for word, forms in inflected.items():
        sums.append(words.as_one([Match.of_words(connection, form, weights) for form in (word, *forms)], weights))
    terms = replace(terms, words=tuple(word for word in terms.words if word not in inflected))
    if matches := list(_matches(connection, without_common(connection, terms, weights), weights)):
        sums.append(words.add_up(matches, weights).all())
    chunks, places = np.unique(np.concatenate([one.chunks for one in sums]), return_inverse=True)
    weighed = np.bincount(places, np.concatenate([one.scores for one in sums]), minlength=chunks.size)
    return ScoredChunks(chunks, weighed.astype(np.float64, copy=False))


def _matches(connection: Session, terms: Terms, weights: Mapping[str, float]) -> Iterator[Match]:
    for words in (*terms.phrases, *terms.words):
        yield Match.of_words(connection, words, weights)
    if terms.prefix:
        begins = str(expression(Terms(prefix=terms.prefix), weights))
        yield Match(begins, _columns(weights), (*stems(terms.prefix), "*"))
    for pair in terms.ident:
        yield Match(str(expression(Terms(ident=(pair,)), weights)), ("ident",), (pair,))


def scores_of(
    connection: Session,
    terms: Terms,
    weights: Mapping[str, float],
    memories: Sequence[int],
    cache: WordScoreCache | None = None,
) -> dict[int, float]:
    """Return what ``search`` would give each of these memories, whatever the filters; not those without any term."""
    terms = begun(connection, terms)
    known = None if cache is None else cache.seen(connection)
    if terms.respelled or terms.forms:
        among = _with_others(connection, terms, weights, known or WordScoreCache().uncounted(connection)).among
    elif known is not None:
        among = known.summed(terms, weights).among
    else:
        match = expression(without_common(connection, terms, weights), weights)
        if match is None:
            return {}
        # FTS5's own function works only where its rows are not grouped yet.
        rows = connection.execute(
            f"""
            with fitting as materialized (
                select rowid as chunk, -bm25(keyword, {listed(weights)}) as score from keyword
                where keyword match :match
                    and +rowid in (select id from chunks where memory in (select value from json_each(:memories)))
            )
            select chunks.memory, max(fitting.score) from fitting join chunks on chunks.id = fitting.chunk
            group by chunks.memory
            """,
            {"match": match, "memories": json.dumps(list(memories))},
        )
        return {memory: float(score) for memory, score in rows if score > 0}
    owners: dict[int, int] = dict(
        connection.execute(
            "select id, memory from chunks where memory in (select value from json_each(?))",
            (json.dumps(list(memories)),),
        )
    )
    scored = among(np.fromiter(owners, np.int64, len(owners)))
    best: dict[int, float] = {}
    for chunk, value in zip(scored.chunks.tolist(), scored.scores.tolist(), strict=True):
        memory = owners[chunk]
        best[memory] = max(value, best.get(memory, value))
    return best


def highlights(
    connection: Session, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str]
) -> dict[int, list[tuple[int, int]]]:
    """Return where the terms occur in the texts of chunks that the keyword retriever found, in code points, by chunk.

    They are those of FTS5's ``highlight()``, which would look every term up in the index anew for each chunk, and words
    that are found by the column ``ident`` since they are written with ligatures.
    """
    if "text" not in weights or not texts:
        return {}
    terms = begun(connection, terms)
    inflected = [form for one in terms.forms for form in one.inflected]
    others = (*terms.respelled, *terms.compounded)
    return highlights_of(texts, (*terms.phrases, *terms.words, *inflected), terms.prefix, others)

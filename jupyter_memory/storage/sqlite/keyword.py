"""The keyword index: what FTS5 is asked, statistics, scores of words that are asked often."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from math import log
from typing import Any, NamedTuple

import numpy as np

from jupyter_memory.storage.base import ChunkWords, Row, cut, is_settled
from jupyter_memory.storage.sql import SQLITE, Cache, condition
from jupyter_memory.storage.sqlite.database import Step
from jupyter_memory.storage.sqlite.scrubbing import open_places
from jupyter_memory.storage.sqlite.session import Session, outdate, version
from jupyter_memory.storage.sqlite.vectors import ChunkOwners, Keys, ScoredChunks, best_memories
from jupyter_memory.storage.tables import memories
from jupyter_memory.storage.words import highlights as highlights_of
from jupyter_memory.storage.words import stems, word_of
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types import Filters, ScoredChunk, Terms

# What FTS5 is asked.

# Below this many chunks a frequent word takes no time, and leaving it out could lose a badge.
_SMALL = 5_000


def expression(terms: Terms, columns: Collection[str]) -> str | None:
    """Return the FTS5 expression for the terms, any of them enough; None where there are none.

    Every term is quoted, so that no character of a user's query is FTS5 syntax.
    """
    either = []
    words = list(map(_quoted, (*terms.phrases, *terms.words)))
    if terms.prefix:
        words.append(_quoted(terms.prefix) + "*")
    if words:
        searched = " ".join(column for column in COLUMNS if column in columns)
        either.append(f"{{{searched}}} : ({' OR '.join(words)})")
    if terms.ident:
        # A single character is looked for as the first of any pair.
        pairs = (_quoted(term) + "*" * (len(term) == 1) for term in terms.ident)
        either.append(f"ident : ({' OR '.join(pairs)})")
    return " OR ".join(either) or None


def listed(weights: Mapping[str, float]) -> str:
    """Return the weights in the order of the index's columns; ``ident`` counts 1 where the profile leaves it out.

    Without ``ident`` in the profile only CJK bigrams are searched there, since no other column has them.
    """
    return ", ".join(str(float(weights.get(column, 1.0 if column == "ident" else 0.0))) for column in COLUMNS)


def begun(connection: Session, terms: Terms) -> Terms:
    """Return the terms with the stem of what is being typed in place of a prefix that no stem has.

    "electri" is longer than the stem "electr" of the words that begin with it.
    """
    stem = stems(terms.prefix)[-1:] if terms.prefix else []
    if not stem:
        return terms
    open_vocabulary(connection)
    at_least = "select term from temp.vocabulary where term >= ? limit 1"
    if str(connection.execute(at_least, stem).get or "").startswith(stem[0]):
        return terms
    for length in range(len(stem[0]) - 1, max(3, len(stem[0]) - 4), -1):
        if connection.execute(at_least, (stem[0][:length],)).get == stem[0][:length]:
            return replace(terms, words=(*terms.words, stem[0][:length]), prefix=None)
    return terms


def without_common(
    connection: Session,
    terms: Terms,
    columns: Collection[str],
    frequency: Callable[[str], int] | None = None,
) -> Terms:
    """Leave out words that more than half of the chunks hold: FTS5 gives them no weight, yet reads all their rows."""
    total = connection.execute("select coalesce(max(id), 0) from chunks").get
    if total < _SMALL or len(terms.words) < 2:
        return terms
    if frequency is None:
        rare = tuple(word for word in terms.words if document_frequency(connection, word, columns) * 2 <= total)
    else:
        rare = tuple(word for word in terms.words if frequency(word) * 2 <= total)
    return replace(terms, words=rare) if rare else terms


def document_frequency(connection: Session, word: str, columns: Collection[str]) -> int:
    """Return how many chunks hold a word in the one of these columns where most do, so that no chunk counts twice.

    It is 0 for what the index's tokenizer splits into several words.
    """
    open_vocabulary(connection)
    stem = stems(word)
    if len(stem) != 1:
        return 0
    found = connection.execute("select col, doc from temp.vocabulary where term = ?", (stem[0],))
    return max((count for column, count in found if column in columns), default=0)


def open_vocabulary(connection: Session) -> None:
    """Make ``temp.vocabulary``, which counts the chunks that hold each word, column by column."""
    connection.execute("create virtual table if not exists temp.vocabulary using fts5vocab(main, keyword, col)")


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


# The words of the whole store.

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

    words = staticmethod(stems)

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        asked = dict.fromkeys(words, 0)
        known = self._counted.holding
        # Not as a difference of sets, which would look at every word that is known.
        counted = {word: 0 for word in asked if word not in known}
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

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        # This table returns the first occurrence at once; the others count all of them first.
        open_places(self._connection)
        held = "select 1 from temp.places where term = :stem and col in (select value from json_each(:columns)) limit 1"
        return all(self._connection.value(held, stem=stem, columns=list(columns)) for stem in stems(word))

    def holds_phrase(self, phrase: str, columns: Collection[str], /) -> bool:
        match = expression(Terms(phrases=(phrase,)), columns)
        return bool(
            self._connection.value("select exists (select 1 from keyword where keyword match :match)", match=match)
        )

    def chunk_count(self, stem: str, columns: Collection[str], /) -> int:
        open_vocabulary(self._connection)
        found = self._connection.rows("select col, doc from temp.vocabulary where term = :stem", stem=stem)
        return max((count for column, count in found if column in columns), default=0)


class StatisticsCache:
    """Gives each search the statistics of the index as it sees it, including what earlier searches have read."""

    def __init__(self) -> None:
        self.counted: Cache[str, _Counted] = Cache(1)
        self.vocabulary: Cache[str, Sequence[str]] = Cache(_MOST, lambda words: len(words) + 1)


def open_word_counts(connection: Session) -> None:
    """Make ``temp.word_counts``, in how many chunks each word of the index is."""
    connection.execute("create virtual table if not exists temp.word_counts using fts5vocab(main, keyword, row)")


# The words of a part of a store: nothing that is counted depends on the words or memories of the rest.
#
# BM25 alone is that of the whole store, and with it the order of hits: its index counts words for all of them together.

# Chunks of a part that is read as a whole, of a sample of a larger one, and that hold a word which is frequent.
_WHOLE, _SAMPLE, _FREQUENT = 2_000, 1_000, 2_000


class PartCache:
    """What was counted of a part of one version of a store: words and chunks."""

    def __init__(self) -> None:
        self.samples: Cache[Filters, _Sampled] = Cache(4)
        self.counts: Cache[tuple[Filters, str], int] = Cache(10_000)


@dataclass(frozen=True, slots=True)
class _Sampled:
    chunks: int
    read: int
    holding: Mapping[str, int]


# A small part is read as a whole, so its counts are exact. In a larger one, what is frequent in the store is counted
# in a sample, since a word that half of the chunks hold would take as long as a search to count.
class _PartStatistics(Statistics):
    def __init__(self, connection: Session, counts: StatisticsCache, within: Filters, cache: PartCache) -> None:
        super().__init__(connection, counts)
        self._within = within
        self._cache = cache

    @property
    def chunks(self) -> int:
        return self._sampled.chunks

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        asked, sampled = list(dict.fromkeys(words)), self._sampled
        if sampled.read == sampled.chunks:
            return {word: sampled.holding.get(word, 0) for word in asked}
        # A word that nothing in the store holds need not be looked for.
        whole = super().frequencies(asked)
        counts = dict.fromkeys(asked, 0)
        for word in asked:
            if whole[word] > _FREQUENT and (found := sampled.holding.get(word, 0)):
                counts[word] = round(found * sampled.chunks / sampled.read)
            elif whole[word]:
                counted = partial(self._counted_of, word)
                counts[word] = self._cache.counts.of(self._version, (self._within, word), counted)
        return counts

    def beginning(self, letters: str, /) -> Sequence[str]:
        return self._held(super().beginning(letters))

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        return self._held(super().ending(letters))

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        return all(self.frequencies(stems(word)).values()) and super().holds_word(word, columns)

    def holds_phrase(self, phrase: str, columns: Collection[str], /) -> bool:
        match = expression(Terms(phrases=(phrase,)), columns)
        inside, parameters = _inside(self._within, "keyword.rowid")
        held = f"select exists (select 1 from keyword where keyword match :match and {inside})"
        return bool(self._connection.value(held, **parameters, match=match))

    def chunk_count(self, stem: str, columns: Collection[str], /) -> int:
        # In whichever column: it decides between spellings, and the part is not counted by columns.
        return self.frequencies([stem])[stem]

    def _held(self, words: Sequence[str]) -> Sequence[str]:
        sampled = self._sampled
        # Who asks for words by their letters counts those that are near: of a large part, thousands are not looked up.
        return [word for word in words if word in sampled.holding] if sampled.read == sampled.chunks else words

    @property
    def _sampled(self) -> _Sampled:
        return self._cache.samples.of(self._version, self._within, self._read_sample)

    def _read_sample(self) -> _Sampled:
        ids = memories.chunks_where(self._connection, self._within)
        read = ids if len(ids) <= _WHOLE else memories.evenly(ids, _SAMPLE)
        shown = ("\n".join(columns) for _, _, *columns in memories.words_of(self._connection, read))
        holding = Counter(chain.from_iterable(set(stems(text)) for text in shown))
        return _Sampled(len(ids), len(read), holding)

    def _counted_of(self, word: str) -> int:
        open_places(self._connection)
        inside, parameters = _inside(self._within, "doc")
        holding = f"select distinct doc from temp.places where term = :word and {inside} limit {_FREQUENT}"
        counted = f"select count(*) from ({holding})"
        return int(self._connection.execute(counted, {**parameters, "word": word}).get)


def _inside(within: Filters, chunk: str) -> tuple[str, dict[str, Any]]:
    where, parameters = condition(SQLITE, within)
    joined = "chunks as part join memories on memories.key = part.memory"
    return f"exists (select 1 from {joined} where part.id = {chunk} and {where})", parameters


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


# If at least one chunk in so many is removed, the index is rebuilt.
_REBUILD_AT = 200
# The weight of a match of another spelling, where a match of the word itself has 1.
_RESPELLED = 0.5
# That of a match of a compound with the word, or of one of its parts.
_COMPOUND = 0.8


class KeywordIndex:
    """FTS5, with the scores and counts that earlier searches read; `storage.base.KeywordIndex` says what each does."""

    def __init__(self, owners: ChunkOwners) -> None:
        self.word_scores = WordScoreCache(owners)
        self._counts, self._parts = StatisticsCache(), PartCache()

    version = staticmethod(version)

    def corpus(self, session: Session, within: Filters, /) -> Statistics:
        if within:
            return _PartStatistics(session, self._counts, within, self._parts)
        return Statistics(session, self._counts)

    def search(
        self, session: Session, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        terms, owners = begun(session, terms), self.word_scores.owners
        known = None if filters else self.word_scores.of(session)
        if terms.respelled or terms.forms:
            scored = _with_others(session, terms, weights, known or WordScoreCache().uncounted(session))
            if filters:
                fits = np.isin(scored.chunks, np.array(memories.chunks_where(session, filters), np.int64))
                scored = ScoredChunks(scored.chunks[fits], scored.scores[fits])
            return best_memories(session, scored, count, owners)
        if known is None:
            return _at_once(session, without_common(session, terms, weights), weights, filters, count)
        return best_memories(session, known.summed(terms, weights).all(), count, owners)

    def scores(
        self, session: Session, terms: Terms, weights: Mapping[str, float], keys: Sequence[int], /
    ) -> dict[int, float]:
        terms = begun(session, terms)
        known = self.word_scores.seen(session)
        if terms.respelled or terms.forms:
            among = _with_others(session, terms, weights, known or WordScoreCache().uncounted(session)).among
        elif known is not None:
            among = known.summed(terms, weights).among
        else:
            match = expression(without_common(session, terms, weights), weights)
            if match is None:
                return {}
            # FTS5's own function works only where its rows are not grouped yet.
            rows = session.execute(
                f"""
                with fitting as materialized (
                    select rowid as chunk, -bm25(keyword, {listed(weights)}) as score from keyword
                    where keyword match :match
                        and +rowid in (select id from chunks where memory in (select value from json_each(:memories)))
                )
                select chunks.memory, max(fitting.score) from fitting join chunks on chunks.id = fitting.chunk
                group by chunks.memory
                """,
                {"match": match, "memories": json.dumps(list(keys))},
            )
            return {memory: float(score) for memory, score in rows if score > 0}
        owners: dict[int, int] = dict(
            session.execute(
                "select id, memory from chunks where memory in (select value from json_each(?))",
                (json.dumps(list(keys)),),
            )
        )
        scored = among(np.fromiter(owners, np.int64, len(owners)))
        best: dict[int, float] = {}
        for chunk, value in zip(scored.chunks.tolist(), scored.scores.tolist(), strict=True):
            memory = owners[chunk]
            best[memory] = max(value, best.get(memory, value))
        return best

    def highlights(
        self, session: Session, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str], /
    ) -> dict[int, list[tuple[int, int]]]:
        return highlights_of(texts, begun(session, terms)) if texts and "text" in weights else {}

    def put(self, session: Session, words: Sequence[ChunkWords], /) -> None:
        rows = [{"rowid": chunk, **dict(zip(COLUMNS, columns, strict=True))} for _, chunk, *columns in words]
        session.insert("keyword", rows)

    def remove(self, session: Session, chunks: Sequence[int], /) -> bool:
        # FTS5 takes up to 10 ms a chunk to remove words without a trace, and 0.04 ms a chunk to build the index anew.
        if len(chunks) * _REBUILD_AT >= session.value("select count(*) from chunks"):
            return False
        session.executemany("delete from keyword where rowid = ?", ((chunk,) for chunk in chunks))
        return True

    def rebuild(self, session: Session, /) -> None:
        session.changed("insert into keyword (keyword) values ('rebuild')")
        outdate(session)


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

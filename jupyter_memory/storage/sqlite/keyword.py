"""The keyword index: BM25 over postings, and FTS5 for phrases, prefixes and the vocabulary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, filterfalse

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.storage.base import ChunkWords
from jupyter_memory.storage.sql import SQLITE, Cache, condition
from jupyter_memory.storage.sqlite import postings
from jupyter_memory.storage.sqlite.file import Session, outdate, version
from jupyter_memory.storage.sqlite.postings import Lengths, Postings, idf_of
from jupyter_memory.storage.sqlite.vectors import ChunkOwners, ScoredChunks, best_memories
from jupyter_memory.storage.tables import memories
from jupyter_memory.storage.words import COMPOUND, LONG, RESPELLED, SMALL, begun, stems
from jupyter_memory.storage.words import highlights as highlights_of
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types import Filters, ScoredChunk, Terms

# If at least one chunk in so many is removed, FTS5 is rebuilt.
_REBUILD_AT = 200
# Words that are cached by their first letters, 100 bytes each.
_MOST_WORDS = 100_000
_VOCABULARY = "create virtual table if not exists temp.vocabulary using fts5vocab(main, keyword, row)"
# Words that are counted from their postings.
_FEW = 20
# Chunks of a part whose words are all read.
_WHOLE = 2_000


class KeywordIndex:
    """The keyword index of one store; `storage.base.KeywordIndex` says what each method does."""

    def __init__(self, owners: ChunkOwners) -> None:
        self._owners = owners
        self._lengths: Cache[str, Lengths] = Cache(1)
        # Ranking asks for the same scores again, for other memories; two searches may take turns.
        self._scores: Cache[tuple[Terms, tuple[tuple[str, float], ...]], ScoredChunks] = Cache(2)
        # A search first counts words, to find misspelled ones, and then reads the same words.
        self._ahead: Cache[str, dict[str, Postings]] = Cache(1)
        self._counted: Cache[str, _Counted] = Cache(1)
        self._vocabulary: Cache[str, Sequence[str]] = Cache(_MOST_WORDS, lambda words: len(words) + 1)
        self._parts: Cache[Filters, _Part] = Cache(4)
        self._words_of_parts: Cache[bytes, frozenset[str]] = Cache(4)

    version = staticmethod(version)

    def corpus(self, session: Session, within: Filters, /) -> Statistics:
        now = version(session)
        counted = self._counted.of(now, "", lambda: _Counted(postings.count(session)))
        whole = Statistics(session, now, counted, self._vocabulary, self._ahead)
        if not within:
            return whole

        def part() -> _Part:
            ids, words = self._owners.matching(session, within), None
            if ids.size <= _WHOLE:
                words = self._words_of_parts.of(now, ids.tobytes(), lambda: _words_of(session, ids.tolist()))
            holds = np.zeros(int(ids.max(initial=0)) + 1, np.bool_)
            holds[ids] = True
            return _Part(ids.size, holds, words)

        return _PartStatistics(whole, within, self._parts.of(session.state, within, part))

    def search(
        self, session: Session, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        scored = self._scored(session, terms, weights)
        if filters:
            scored = scored.among(self._owners.matching(session, filters))
        return best_memories(session, scored, count, self._owners)

    def scores(
        self, session: Session, terms: Terms, weights: Mapping[str, float], keys: Sequence[int], /
    ) -> dict[int, float]:
        among = session.dialect.among("memory", "keys")
        owners = dict(session.rows(f"select id, memory from chunks where {among}", keys=list(keys)))
        scored = self._scored(session, terms, weights).among(np.fromiter(owners, np.int64, len(owners)))
        best: dict[int, float] = {}
        for chunk, value in zip(scored.chunks.tolist(), scored.scores.tolist(), strict=True):
            memory = owners[chunk]
            best[memory] = max(value, best.get(memory, value))
        return best

    def _scored(self, session: Session, terms: Terms, weights: Mapping[str, float]) -> ScoredChunks:
        now, asked = version(session), (terms, tuple(weights.items()))

        def score() -> ScoredChunks:
            lengths = self._lengths.of(now, "", lambda: Lengths(self._owners.of(session)))
            scored = _Scoring(session, lengths, weights, self._ahead.get(now, "")).scored(_begun(session, terms))
            # Those of a frequent word take megabytes.
            self._ahead.put(now, "", {})
            return scored

        return self._scores.of(now, asked, score)

    def highlights(
        self, session: Session, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str], /
    ) -> dict[int, list[tuple[int, int]]]:
        return highlights_of(texts, _begun(session, terms)) if texts and "text" in weights else {}

    def put(self, session: Session, words: Sequence[ChunkWords], /) -> None:
        rows = [{"rowid": one.chunk, **dict(zip(COLUMNS, one.columns, strict=True))} for one in words]
        session.insert("keyword", rows)
        postings.put(session, words)

    def remove(self, session: Session, chunks: Sequence[int], /) -> bool:
        # FTS5 takes up to 10 ms a chunk to remove words without a trace, and 0.04 ms a chunk to be built anew.
        is_large = len(chunks) * _REBUILD_AT >= postings.count(session)
        postings.remove(session, chunks)
        if is_large:
            return False
        shown = memories.words_of(session, chunks)
        session.executemany("delete from keyword where rowid = ?", ((chunk,) for chunk in chunks))
        return _separate(session, {stem for one in shown for text in one.columns for stem in stems(text)})

    def finish(self, session: Session, /) -> None:
        session.changed("insert into keyword (keyword) values ('rebuild')")
        # That takes away the mark that pages may be empty. A connection that read the mark before would empty pages
        # without setting it again, and others would take these for damage, if this did not make it read the mark anew.
        session.changed("insert into keyword (keyword, rank) values ('secure-delete', 1)")
        outdate(session, known=False)

    def rebuild(self, session: Session, /) -> None:
        self.finish(session)
        postings.rebuild(session)
        # Chunks that a damaged index did not list count as gone until their owners are read anew.
        outdate(session)


# What FTS5 is asked: phrases, and words by their first letters.


def _match(text: str, columns: Collection[str], *, begins: bool = False) -> str:
    # Quoted, so that nothing in it is FTS5 syntax.
    quoted = text.replace('"', '""')
    return f'{{{" ".join(columns)}}} : "{quoted}"{"*" * begins}'


def _begun(session: Session, terms: Terms) -> Terms:
    return begun(
        terms, lambda beginnings: (next((term for term, _ in frequencies(session, one)), "") for one in beginnings)
    )


def frequencies(session: Session, begin: str = "") -> Iterator[tuple[str, int]]:
    """Yield the words of the index from ``begin`` on, each with the number of chunks that hold it."""
    session.execute(_VOCABULARY)
    yield from session.execute("select term, doc from temp.vocabulary where term >= ?", (begin,))


def _separate(session: Session, removed: Collection[str]) -> bool:
    # FTS5's ``secure-delete`` takes words out of the pages of its index, but not their beginnings from between the
    # pages, which say on what page a word is. The word that follows takes the place of one that only removed words had.
    session.execute("create virtual table if not exists temp.places using fts5vocab(main, keyword, instance)")
    following = "select term from temp.places where term >= :word limit 1"
    # FTS5 writes what it still holds in memory before it answers.
    session.value(following, word="")
    begins = {word[:end] for word in map(str.encode, removed) for end in range(1, len(word) + 1)}
    for segment, sign in session.rows("select segid, term from keyword_idx"):
        # One byte of kind, then enough of a word to distinguish the pages.
        if sign[1:] in begins:
            word = sign[1:].decode(errors="ignore")
            found = session.value(following, word=word)
            if found is None:
                return False
            if not found.startswith(word):
                new = sign[:1] + found.encode()
                between = "select 1 from keyword_idx where segid = :segment and term > :sign and term <= :new"
                if not session.changed(
                    f"update keyword_idx set term = :new where segid = :segment and term = :sign "
                    f"and not exists ({between})",
                    segment=segment,
                    sign=sign,
                    new=new,
                ):
                    return False
    return True


# BM25 of all chunks that hold any of the terms.


class _Scoring:
    def __init__(
        self, session: Session, lengths: Lengths, weights: Mapping[str, float], ahead: Mapping[str, Postings] | None
    ) -> None:
        self._session = session
        self._lengths = lengths
        self._columns = [column for column in COLUMNS if column in weights]
        # Only pairs of characters without spaces are searched in ``ident`` if the profile leaves it out.
        self._weights = {"ident": 1.0, **weights}
        self._read = dict(ahead or {})

    def scored(self, terms: Terms) -> ScoredChunks:
        # All that is a single word is read at once.
        forms = chain.from_iterable((one.word, *one.inflected) for one in terms.forms)
        stemmed = map(stems, (*terms.words, *terms.phrases, *terms.ident, *forms))
        single = (first for first, *others in filter(None, stemmed) if not others)
        every = (*single, *terms.respelled, *terms.compounded)
        self._read |= postings.read(self._session, filterfalse(self._read.__contains__, every))
        # The forms of a word are one; other spellings and compounds count less.
        sums = []
        for less, others in ((RESPELLED, terms.respelled), (COMPOUND, terms.compounded)):
            if others:
                found = self._lengths.added([self._of_stem(stem, self._columns) for stem in others])
                sums.append(ScoredChunks(found.chunks, less * found.scores))
        inflected = {one.word: one.inflected for one in terms.forms if one.inflected}
        sums += [self._as_one((word, *forms)) for word, forms in inflected.items()]
        words = self._without_common([word for word in terms.words if word not in inflected])
        # Added up in this order, as FTS5 does, so that not even the last digit differs.
        rest = [self._of(text, self._columns) for text in (*terms.phrases, *words)]
        if terms.prefix:
            rest.append(self._by_fts5(_match(terms.prefix, self._columns, begins=True)))
        for pair in terms.ident:
            # A single character is looked for as the first of any pair.
            alone = len(pair) == 1
            rest.append(self._by_fts5(_match(pair, ["ident"], begins=True)) if alone else self._of(pair, ["ident"]))
        return self._lengths.added([*sums, self._lengths.added(rest)]) if sums else self._lengths.added(rest)

    def _without_common(self, words: Sequence[str]) -> Sequence[str]:
        # BM25 gives no weight to words that more than half of the chunks hold.
        half = self._lengths.chunks // 2
        if self._lengths.chunks < SMALL or len(words) < 2:
            return words
        often = {
            word
            for word, of_it in zip(words, map(stems, words), strict=True)
            if len(of_it) == 1
            and (found := self._read[of_it[0]]).chunks.size > half
            and found.most(self._columns) > half
        }
        return [word for word in words if word not in often] or words

    def _as_one(self, forms: Sequence[str]) -> ScoredChunks:
        # The idf is that of holding any of them: else the rarest form of a word would count most.
        found = [one for form in forms if (one := self._of(form, self._columns)).chunks.size]
        if len(found) < 2:
            return self._lengths.added(found)
        total = self._lengths.chunks
        held = np.bincount(np.concatenate([one.chunks for one in found]))  # np.unique imports numpy.ma
        together = idf_of(int(np.count_nonzero(held)), total)
        return self._lengths.added(
            [ScoredChunks(one.chunks, one.scores * (together / idf_of(one.chunks.size, total))) for one in found]
        )

    def _of(self, text: str, columns: Sequence[str]) -> ScoredChunks:
        found = stems(text)
        if len(found) == 1:
            return self._of_stem(found[0], columns)
        return self._by_fts5(_match(text, columns)) if found else self._lengths.added(())

    def _of_stem(self, stem: str, columns: Sequence[str]) -> ScoredChunks:
        return self._lengths.scores(self._read[stem], self._weights, columns)

    def _by_fts5(self, match: str) -> ScoredChunks:
        listed = ", ".join(str(float(self._weights.get(column, 0.0))) for column in COLUMNS)
        rows = self._session.execute(
            f"select rowid, -bm25(keyword, {listed}) from keyword where keyword match ?", (match,)
        )
        found = np.fromiter(rows, [("chunk", np.int64), ("score", np.float64)])
        return ScoredChunks(np.ascontiguousarray(found["chunk"]), np.ascontiguousarray(found["score"]))


# The words of a store, and of a part of it.


@dataclass(slots=True)
class _Counted:
    chunks: int
    holding: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Statistics:
    """The words of one state of the keyword index, with those that earlier searches have read."""

    _session: Session
    _version: str
    _counted: _Counted
    _vocabulary: Cache[str, Sequence[str]]
    _ahead: Cache[str, dict[str, Postings]]

    words = staticmethod(stems)

    @property
    def chunks(self) -> int:
        return self._counted.chunks

    def frequencies(self, words: Iterable[str], /, *, searched: bool = False) -> Mapping[str, int]:
        asked, known = dict.fromkeys(words, 0), self._counted.holding
        # All at once: a search may be interrupted before, and other threads read this meanwhile.
        if new := [word for word in asked if word not in known]:
            if searched or len(new) <= _FEW:
                read = postings.read(self._session, new)
                known.update({word: one.chunks.size for word, one in read.items()})
                if searched:
                    self._ahead.put(self._version, "", read)
            else:
                # Most words of texts are rare: FTS5 counts these in a third of the time that pages of postings take. Of
                # a frequent word it would read all.
                self._session.execute(_VOCABULARY)
                count = "coalesce((select doc from temp.vocabulary where term = value), 0)"
                known.update(self._session.rows(f"select value, {count} from json_each(:words)", words=new))
        for word in asked:
            asked[word] = known[word]
        return asked

    def beginning(self, letters: str, /) -> Sequence[str]:
        def begin() -> list[str]:
            self._session.execute(_VOCABULARY)
            within = "select term from temp.vocabulary where term between :first and :last"
            return self._session.column(within, first=letters, last=f"{letters}\U0010ffff")

        return self._vocabulary.of(self._version, letters, begin)

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        def long() -> list[str]:
            return [term for term, _ in frequencies(self._session) if len(term) >= LONG and term.isalpha()]

        return [term for term in self._vocabulary.of(self._version, "", long) if term.endswith(letters)]

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        found = postings.read(self._session, stems(word)).values()
        return all([self._part_of(one).most(columns) for one in found])

    def holds_phrase(self, phrase: str, columns: Collection[str], /) -> bool:
        match = _match(phrase, columns)
        return bool(
            self._session.value("select exists (select 1 from keyword where keyword match :match)", match=match)
        )

    def chunk_count(self, stem: str, columns: Collection[str], /) -> int:
        return self._part_of(postings.read(self._session, [stem])[stem]).most(columns)

    def _part_of(self, found: Postings) -> Postings:
        return found


@dataclass(frozen=True, slots=True)
class _Part:
    """The chunks of a part of a store, by id whether they are in it; of a small one, the words that it holds."""

    size: int
    holds: NDArray[np.bool_]
    words: frozenset[str] | None


def _words_of(session: Session, chunks: Sequence[int]) -> frozenset[str]:
    shown = ("\n".join(one.columns) for one in memories.words_of(session, chunks))
    return frozenset(chain.from_iterable(map(stems, shown)))


class _PartStatistics(Statistics):
    # Nothing that is counted depends on the words or memories of the rest. BM25 alone is that of the whole store.
    def __init__(self, whole: Statistics, within: Filters, part: _Part) -> None:
        super().__init__(whole._session, whole._version, _Counted(part.size), whole._vocabulary, whole._ahead)
        self._within = within
        self._part = part

    def frequencies(self, words: Iterable[str], /, *, searched: bool = False) -> Mapping[str, int]:
        found = postings.read(self._session, words)
        return {word: self._part_of(one).chunks.size for word, one in found.items()}

    def beginning(self, letters: str, /) -> Sequence[str]:
        return self._held(super().beginning(letters))

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        return self._held(super().ending(letters))

    def holds_phrase(self, phrase: str, columns: Collection[str], /) -> bool:
        where, parameters = condition(SQLITE, self._within)
        joined = "chunks as part join memories on memories.key = part.memory"
        inside = f"exists (select 1 from {joined} where part.id = keyword.rowid and {where})"
        held = f"select exists (select 1 from keyword where keyword match :match and {inside})"
        return bool(self._session.value(held, **parameters, match=_match(phrase, columns)))

    def _part_of(self, found: Postings) -> Postings:
        inside = found.chunks < self._part.holds.size
        inside[inside] = self._part.holds[found.chunks[inside]]
        return Postings(found.chunks[inside], found.codes[inside], found.kinds)

    def _held(self, words: Sequence[str]) -> Sequence[str]:
        # A search for words by their letters counts those that are near: of a large part, thousands are not read.
        return words if self._part.words is None else [word for word in words if word in self._part.words]

"""The words of each chunk as changes leave them, and their statistics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from jupyter_memory.runtime import batches
from jupyter_memory.storage.base import ChunkWords
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.sql import Cache
from jupyter_memory.storage.tables import memories
from jupyter_memory.storage.words import LONG, keyed, stems
from jupyter_memory.text.identifiers import COLUMNS

_TOGETHER = 1_000  # chunks whose words one statement writes: some 100,000 rows
# Rows of totals of a space from which on all is folded, and rows of a word's frequencies that are folded then.
FOLDED_AT, _APPENDED = 64, 8
# Stands between the words that a statement writes: no word holds it, and one long text is read faster than many.
_BETWEEN = "\x1f"
_COLUMN = 2**24  # a place in the index: the column, and the number of words before it there
# The columns of the index that hold a word, a bit for each.
HOLDING = " | ".join(f"((in_{column} > 0)::integer << {bit})" for bit, column in enumerate(COLUMNS))
_LISTED = ", ".join(f"in_{column}" for column in COLUMNS)


class _Posting(NamedTuple):
    term: str
    chunk: int
    counts: list[int]
    size: int
    places: list[int]


def put_in(session: Session, written: Iterable[ChunkWords]) -> None:
    by_space: dict[str, list[ChunkWords]] = {}
    for one in written:
        by_space.setdefault(one.space, []).append(one)
    counts = ", ".join(f":in_{column}::integer[]" for column in COLUMNS)
    parts = [(space, some) for space, of_space in by_space.items() for some in batches(of_space, _TOGETHER)]
    for space, some in parts:
        of_chunks = [list(_postings(one)) for one in some]
        # In the order of the index, which takes half the time to write then.
        rows = sorted(chain.from_iterable(of_chunks))
        in_columns = {f"in_{name}": _array(row.counts[place] for row in rows) for place, name in enumerate(COLUMNS)}
        session.execute(
            f"""
            insert into postings (space, term, chunk, {_LISTED}, size, places)
            select :space, term, chunk, {_LISTED}, size, places::integer[]
            from unnest(string_to_array(:term, '{_BETWEEN}'), :chunk::bigint[], {counts}, :size::integer[],
                string_to_array(:places, '{_BETWEEN}')) as written (term, chunk, {_LISTED}, size, places)
            """,
            space=space,
            term=_BETWEEN.join(row.term for row in rows),
            chunk=_array(row.chunk for row in rows),
            **dict[str, Any](in_columns),
            size=_array(row.size for row in rows),
            places=_BETWEEN.join(_array(row.places) for row in rows),
        )
        holding = Counter(
            (row.term, sum(1 << place for place, count in enumerate(row.counts) if count)) for row in rows
        )
        session.execute(
            f"""
            insert into frequencies (space, term, columns, chunks)
            select :space, term, columns, chunks
            from unnest(string_to_array(:term, '{_BETWEEN}'), :columns::smallint[], :chunks::bigint[])
                as written (term, columns, chunks)
            """,
            space=space,
            term=_BETWEEN.join(term for term, _ in holding),
            columns=_array(columns for _, columns in holding),
            chunks=_array(holding.values()),
        )
        session.execute(
            """
            with sized as (
                select * from unnest(:chunk::bigint[], :size::integer[]) as one (chunk, size)
            ), kept as (
                update chunks set words = sized.size from sized
                where chunks.space = :space and chunks.id = sized.chunk
            )
            insert into totals (space, changes, chunks, words)
            select :space, 1, count(*), sum(size) from sized
            """,
            space=space,
            chunk=_array(one.chunk for one in some),
            size=_array(found[0].size if found else 0 for found in of_chunks),
        )


def take_out(session: Session, chunks: Sequence[int]) -> None:
    """Take chunks out of the index, before they change or go."""
    if not chunks:
        return
    session.execute(
        f"""
        with gone as (
            delete from postings where {of("postings")} and chunk = any(:chunks) returning *
        ), counted as (
            insert into frequencies (space, term, columns, chunks)
            select space, term, {HOLDING}, -count(*) from gone group by 1, 2, 3
        )
        insert into totals (space, changes, chunks, words)
        select space, 1, -count(*), -sum(words) from chunks where {of("chunks")} and id = any(:chunks) group by space
        """,
        chunks=list(chunks),
    )


def rebuild(session: Session) -> None:
    # Writers wait until this is done: what they put in and take out counts from the new state.
    session.execute("lock table totals in share row exclusive mode")
    for table in ("postings", "frequencies"):
        session.execute(f"delete from {table} where {of(table)}")
    session.execute(
        f"insert into totals (space, changes, chunks, words) "
        f"select space, 1, -sum(chunks), -sum(words) from totals where {of('totals')} group by space"
    )
    rows = session.rows(f"select id from chunks where {of('chunks')} order by id")
    for some in batches(rows, _TOGETHER):
        put_in(session, memories.words_of(session, [row[0] for row in some]))


def is_unfolded(session: Session) -> bool:
    """Return whether writers appended so much that sums take longer."""
    return bool(
        session.value(
            f"select exists (select 1 from totals where {of('totals')} group by space having count(*) > {FOLDED_AT})"
        )
    )


def fold(session: Session) -> None:
    """Make one row of many in what writers append, unless another process is doing it."""
    if not session.value("select pg_try_advisory_xact_lock(hashtext('jupyter_memory.fold'))"):
        return
    session.execute(
        f"""
        with many as (
            select space from totals where {of("totals")} group by space having count(*) > {FOLDED_AT}
        ), gone as (
            delete from totals using many where totals.space = many.space returning totals.*
        )
        insert into totals (space, changes, chunks, words)
        select space, sum(changes), sum(chunks), sum(words) from gone group by space
        """
    )
    session.execute(
        f"""
        with many as (
            select space, term from frequencies where {of("frequencies")}
            group by space, term having count(*) > {_APPENDED}
        ), gone as (
            delete from frequencies using many
            where frequencies.space = many.space and frequencies.term = many.term returning frequencies.*
        )
        insert into frequencies (space, term, columns, chunks)
        select space, term, columns, sum(chunks) from gone group by 1, 2, 3 having sum(chunks) <> 0
        """
    )


def _postings(words: ChunkWords) -> Iterator[_Posting]:
    places: dict[str, list[int]] = defaultdict(list)
    for column, text in enumerate(words.columns):
        for place, stem in enumerate(map(keyed, stems(text)) if text else ()):
            places[stem].append(column * _COLUMN + place)
    size = sum(map(len, places.values()))
    for term, of_term in places.items():
        held = [place // _COLUMN for place in of_term]
        yield _Posting(term, words.chunk, list(map(held.count, range(len(COLUMNS)))), size, of_term)


def _array(values: Iterable[int]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


# Statistics of the words of a store's spaces: how many chunks there are and hold a word, which words there are.

_MOST, _FEWER = 100_000, 10_000  # words that are cached, some 100 bytes each, and phrases and groups of matches
# Matches that share their rarity, each with its stems, whether it is only begun and a pair; and a set of columns.
Group = tuple[tuple[tuple[tuple[str, ...], bool, bool], ...], int]


class StatisticsCache:
    """What earlier searches read of the words of one state of the keyword index."""

    def __init__(self) -> None:
        # The chunks that hold a word, by the columns that do; those that hold any of a group of matches; whether any
        # holds words side by side.
        self.holding: Cache[str, Mapping[int, int]] = Cache(_MOST)
        self.groups: Cache[Group, int] = Cache(_FEWER)
        self.phrases: Cache[tuple[tuple[str, ...], int], bool] = Cache(_FEWER)
        self.vocabulary: Cache[str, Sequence[str]] = Cache(_MOST, lambda words: len(words) + 1)


class Statistics:
    """The words of one state of the keyword index, as a search sees it; ``cache`` has those of earlier searches."""

    def __init__(self, session: Session, cache: StatisticsCache) -> None:
        totals = session.totals
        self._session, self._version, self._cache = session, str(totals.changes), cache
        self.chunks = totals.chunks
        self.average_size = totals.words / totals.chunks if totals.words and totals.chunks else 1.0

    def counted(self, groups: Iterable[Group]) -> list[int] | None:
        found = [self._cache.groups.get(self._version, group) for group in groups]
        return None if None in found else [count for count in found if count is not None]

    def keep_counted(self, counts: Mapping[Group, int]) -> None:
        for group, count in counts.items():
            self._cache.groups.put(self._version, group, count)

    words = staticmethod(stems)

    def frequencies(self, words: Iterable[str], /, *, searched: bool = False) -> Mapping[str, int]:
        asked = list(dict.fromkeys(words))
        found = self.by_columns([keyed(word) for word in asked])
        return {word: min(sum(found[keyed(word)].values()), self.chunks) for word in asked}

    def by_columns(self, terms: Sequence[str]) -> Mapping[str, Mapping[int, int]]:
        """Return how many chunks hold each word, as the tables have it, in which set of columns."""
        cached = {term: self._cache.holding.get(self._version, term) for term in terms}
        known = {term: columns for term, columns in cached.items() if columns is not None}
        unknown = [term for term in cached if term not in known]
        if unknown:
            counted: dict[str, dict[int, int]] = {term: {} for term in unknown}
            for term, columns, chunks in self._session.rows(
                # No more than there are, whatever rows a writer added with SQL.
                "select term, columns, greatest(least(sum(chunks), :total), 0)::bigint from frequencies "
                f"where {of('frequencies')} and term = any(:terms) group by term, columns",
                terms=unknown,
                total=self.chunks,
            ):
                counted[term][columns] = chunks
            for term, of_term in counted.items():
                self._cache.holding.put(self._version, term, of_term)
            known |= counted
        return known

    def first_with(self, beginnings: Sequence[str]) -> Sequence[str]:
        """Return the first word that begins with the first of these, and the others that are words, empty ones else."""
        # Of the others, all that begins with them would be read and sorted.
        ends = ["\U0010ffff", *["\x01"] * (len(beginnings) - 1)]
        return self._session.column(
            f"""
            select coalesce((
                select term from frequencies where {of("frequencies")} and term >= letters and term < until
                group by term having sum(chunks) > 0 order by term limit 1
            ), '')
            from unnest(:beginnings::text[], :ends::text[]) with ordinality as asked (letters, until, place)
            order by place
            """,
            beginnings=list(beginnings),
            ends=[letters + end for letters, end in zip(beginnings, ends, strict=True)],
        )

    def beginning(self, letters: str, /) -> Sequence[str]:
        after = letters[:-1] + chr(ord(letters[-1]) + 1)
        return self._cache.vocabulary.of(
            self._version, letters, self._reader("term >= :letters and term < :after", letters=letters, after=after)
        )

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        found = self._cache.vocabulary.of(self._version, "", self._reader("length(term) >= :long", long=LONG))
        return [term for term in found if term.isalpha() and term.endswith(letters)]

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        bits = bits_of(columns)
        found = self.by_columns([keyed(stem) for stem in stems(word)])
        return all(any(held & bits and count for held, count in one.items()) for one in found.values())

    def holds_phrase(self, phrase: str, columns: Collection[str], /) -> bool:
        # The index is asked only where each of the words is held.
        terms, bits = [keyed(stem) for stem in stems(phrase)], bits_of(columns)
        held = self.by_columns(terms)
        if not terms or not all(any(n and some & bits for some, n in held[term].items()) for term in terms):
            return False
        if len(terms) == 1:
            return True
        found, parameters = side_by_side("words", terms, dict.fromkeys(columns, 1.0))
        return self._cache.phrases.of(
            self._version,
            (tuple(terms), bits),
            lambda: bool(self._session.value(f"select exists ({found})", **parameters)),
        )

    def chunk_count(self, stem: str, columns: Collection[str], /) -> int:
        found = self.by_columns([keyed(stem)])[keyed(stem)]
        return max((sum(n for held, n in found.items() if held & bits_of([one])) for one in columns), default=0)

    def _reader(self, where: str, **parameters: object) -> Callable[[], Sequence[str]]:
        def read() -> list[str]:
            return self._session.column(
                f"select term from frequencies where {of('frequencies')} and {where} "
                "group by term having sum(chunks) > 0 order by term",
                **parameters,
            )

        return read


def side_by_side(
    name: str, words: Sequence[str], columns: Mapping[str, float], among: str = ""
) -> tuple[str, dict[str, Any]]:
    """Return a select of ``space, chunk, f, size`` of the chunks that hold words side by side, and its parameters.

    ``name`` begins the names of these; ``among`` is a further condition on ``postings``.
    """
    # The server knows how frequent each word is. It looks up the others where the rarest is, or reads all places of
    # each in a row, which takes a tenth of the time where all are frequent.
    stems = {f"{name}_{place}": stem for place, stem in enumerate(words)}
    first, *others = stems
    joined = " ".join(
        f"join postings as {one} on {one}.space = postings.space and {one}.chunk = postings.chunk "
        f"and {of(one)} and {one}.term = :{one}"
        for one in others
    )
    follow = " and ".join(f"first_at + {place} = any({one}.places)" for place, one in enumerate(others, 1))
    sql = f"""
        select postings.space, postings.chunk, found.f, postings.size
        from postings {joined}
        cross join lateral (
            select sum({of_column(columns)}) as f from unnest(postings.places) as first_at where {follow}
        ) as found
        where {of("postings")} and postings.term = :{first} and found.f is not null {among}
    """
    return sql, dict[str, Any](stems)


def of_column(weights: Mapping[str, float]) -> str:
    """Return the weight of the column that the place ``first_at`` is in; null for a column that has none."""
    cases = " ".join(
        f"when {number} then {float(weights[column])!r}::float8"
        for number, column in enumerate(COLUMNS)
        if column in weights
    )
    return f"case first_at >> 24 {cases} end"


def bits_of(columns: Collection[str]) -> int:
    return sum(1 << place for place, column in enumerate(COLUMNS) if column in columns)

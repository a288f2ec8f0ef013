"""The keyword index as changes leave it: the words of chunks put in and taken out, and the counts that follow.

A writer never changes a count: it appends what it changed, so that no two writers wait for each other, and the sum
counts. ``fold`` makes one row of many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.indexes.words import keyed, stems
from jupyter_memory.text.identifiers import COLUMNS

# Chunks whose words one statement writes: some 100,000 rows.
_TOGETHER = 1_000
# Rows of totals of a space from which on all is folded, and rows of a word's frequencies that are folded then.
FOLDED_AT, _APPENDED = 64, 8
# Stands between the words that a statement writes: no word holds it, and one long text is read faster than many.
_BETWEEN = "\x1f"
# A place in the index: the column, and the number of words before it there.
_COLUMN = 2**24
# The columns of the index that hold a word, a bit for each.
HOLDING = " | ".join(f"((in_{column} > 0)::integer << {bit})" for bit, column in enumerate(COLUMNS))
_LISTED = ", ".join(f"in_{column}" for column in COLUMNS)


class Words(NamedTuple):
    """What is indexed of a chunk: its texts, column by column."""

    space: str
    chunk: int
    texts: tuple[str, str, str, str, str]


class _Posting(NamedTuple):
    term: str
    chunk: int
    counts: list[int]
    size: int
    places: list[int]


def put_in(session: Session, written: Iterable[Words]) -> None:
    """Index chunks that are not in the index."""
    by_space: dict[str, list[Words]] = {}
    for one in written:
        by_space.setdefault(one.space, []).append(one)
    for space, of_space in by_space.items():
        for start in range(0, len(of_space), _TOGETHER):
            _put_in(session, space, of_space[start : start + _TOGETHER])


def _put_in(session: Session, space: str, written: Sequence[Words]) -> None:
    rows: list[_Posting] = []
    sizes: list[int] = []
    for one in written:
        found = list(_postings(one))
        sizes.append(found[0].size if found else 0)
        rows += found
    # In the order of the index, which takes half the time to write then.
    rows.sort()
    counts = ", ".join(f"%(in_{column})s::integer[]" for column in COLUMNS)
    session.execute(
        f"""
        insert into postings (space, term, chunk, {_LISTED}, size, places)
        select %(space)s, term, chunk, {_LISTED}, size, places::integer[]
        from unnest(string_to_array(%(term)s, '{_BETWEEN}'), %(chunk)s::bigint[], {counts}, %(size)s::integer[],
            string_to_array(%(places)s, '{_BETWEEN}')) as written (term, chunk, {_LISTED}, size, places)
        """,
        {
            "space": space,
            "term": _BETWEEN.join(row.term for row in rows),
            "chunk": _array(row.chunk for row in rows),
            **{f"in_{column}": _array(row.counts[place] for row in rows) for place, column in enumerate(COLUMNS)},
            "size": _array(row.size for row in rows),
            "places": _BETWEEN.join(_array(row.places) for row in rows),
        },
    )
    holding = Counter((row.term, _columns_of(row.counts)) for row in rows)
    session.execute(
        f"""
        insert into frequencies (space, term, columns, chunks)
        select %(space)s, term, columns, chunks
        from unnest(string_to_array(%(term)s, '{_BETWEEN}'), %(columns)s::smallint[], %(chunks)s::bigint[])
            as written (term, columns, chunks)
        """,
        {
            "space": space,
            "term": _BETWEEN.join(term for term, _ in holding),
            "columns": _array(columns for _, columns in holding),
            "chunks": _array(holding.values()),
        },
    )
    session.execute(
        """
        with sized as (
            select * from unnest(%(chunk)s::bigint[], %(size)s::integer[]) as one (chunk, size)
        ), kept as (
            update chunks set words = sized.size from sized
            where chunks.space = %(space)s and chunks.id = sized.chunk
        )
        insert into totals (space, changes, chunks, words)
        select %(space)s, 1, count(*), sum(size) from sized
        """,
        {"space": space, "chunk": _array(one.chunk for one in written), "size": _array(sizes)},
    )


def take_out(session: Session, chunks: Sequence[int]) -> None:
    """Take chunks out of the index, before they change or go."""
    if not chunks:
        return
    session.execute(
        f"""
        with gone as (
            delete from postings where {of("postings")} and chunk = any(%(chunks)s) returning *
        ), counted as (
            insert into frequencies (space, term, columns, chunks)
            select space, term, {HOLDING}, -count(*) from gone group by 1, 2, 3
        )
        insert into totals (space, changes, chunks, words)
        select space, 1, -count(*), -sum(words) from chunks where {of("chunks")} and id = any(%(chunks)s) group by space
        """,
        {"chunks": list(chunks)},
    )


def put_back(session: Session, chunks: Sequence[int]) -> None:
    """Index chunks as their texts are now."""
    rows = session.rows(
        "select space, id, title, context, text, tags, ident from chunk_texts "
        f"where {of('chunk_texts')} and id = any(%(chunks)s) order by id",
        {"chunks": list(chunks)},
    )
    put_in(session, [Words(space, chunk, tuple(texts)) for space, chunk, *texts in rows])


def rebuild(session: Session) -> None:
    """Build the index anew from the texts of the chunks."""
    # Whoever writes waits until this is done: what they put in and take out counts from the new state.
    session.execute("lock table totals in share row exclusive mode")
    for table in ("postings", "frequencies"):
        session.execute(f"delete from {table} where {of(table)}")
    session.execute(
        f"insert into totals (space, changes, chunks, words) "
        f"select space, 1, -sum(chunks), -sum(words) from totals where {of('totals')} group by space"
    )
    ids = [row[0] for row in session.rows(f"select id from chunks where {of('chunks')} order by id")]
    for start in range(0, len(ids), _TOGETHER):
        put_back(session, ids[start : start + _TOGETHER])


def is_unfolded(session: Session) -> bool:
    """Return whether writers appended so much that sums take longer."""
    return bool(
        session.value(
            f"select exists (select 1 from totals where {of('totals')} group by space having count(*) > {FOLDED_AT})"
        )
    )


def fold(session: Session) -> None:
    """Make one row of many in what writers append, unless somebody else is at it."""
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


def _postings(words: Words) -> Iterator[_Posting]:
    counts: dict[str, list[int]] = {}
    places: dict[str, list[int]] = {}
    size = 0
    for column, text in enumerate(words.texts):
        for place, stem in enumerate(map(keyed, stems(text)) if text else ()):
            of_term = counts.get(stem)
            if of_term is None:
                of_term = counts[stem] = [0] * len(COLUMNS)
                places[stem] = []
            of_term[column] += 1
            places[stem].append(column * _COLUMN + place)
            size += 1
    for term, of_term in counts.items():
        yield _Posting(term, words.chunk, of_term, size, places[term])


def _columns_of(counts: Sequence[int]) -> int:
    return sum(1 << place for place, count in enumerate(counts) if count)


def _array(values: Iterable[int]) -> str:
    """Return whole numbers as PostgreSQL writes an array: the driver takes ten times as long."""
    return "{" + ",".join(map(str, values)) + "}"

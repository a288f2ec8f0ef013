"""The best chunks without scoring every chunk that holds a frequent word: MaxScore, in one statement.

A chunk is among the best only if it reaches the score of the worst of them, of which a lower bound is known once the
rarer words are read. What the most frequent words count together at most is often less than that: such a word can lift
a chunk that holds a rarer one, but makes none good by itself. So it is looked up where a rarer word is, as long as the
chunk may still be one of the best. The best have the same scores as if everything were read.

    Turtle and Flood: Query evaluation: strategies and optimizations (1995)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from jupyter_memory.storage.postgres.connection.session import of
from jupyter_memory.storage.postgres.indexes.bm25 import MOST, UNIT, contribution, frequency, is_held

# So many rows of the rarest words, and at least so many words, are read without asking whether they are needed.
_FIRST_ROWS, _FIRST_WORDS = 20_000, 2
# To look a word up in a chunk takes as long as to read so many rows of it in their order.
_LOOKUP = 40


class Weighed(NamedTuple):
    """A word that is looked up: the chunks that hold it, and its weight, which has its idf."""

    stem: str
    held: int
    weight: float


def apart(words: Sequence[Weighed]) -> tuple[list[Weighed], list[Weighed]]:
    """Return the words that are read first, and the frequent ones, the rarest first; none where that gains nothing."""
    ordered = sorted(words, key=lambda word: (word.held, word.stem))
    few = sum(rows <= _FIRST_ROWS for rows in accumulate(word.held for word in ordered))
    rare, frequent = ordered[: max(few, _FIRST_WORDS)], ordered[max(few, _FIRST_WORDS) :]
    return (rare, frequent) if sum(word.held for word in frequent) > _FIRST_ROWS else (ordered, [])


def pruned(
    first: Sequence[str], frequent: Sequence[Weighed], columns: Mapping[str, float]
) -> tuple[str, dict[str, Any]]:
    """Return tables of a statement, the last of which, ``scored``, holds the best chunks, and its parameters.

    ``first`` are selects of what the other terms count. The parameter ``asked`` is how many chunks are wanted.
    """
    # What a word and all that are more frequent count together at most, with a unit for each that is rounded.
    rest = list(accumulate(word.weight * MOST * UNIT + 1 for word in reversed(frequent)))[::-1]
    parameters: dict[str, Any] = {
        "frequent": [word.stem for word in frequent],
        "frequent_weights": [word.weight for word in frequent],
        "frequent_held": [word.held for word in frequent],
        "rest": rest,
    }
    counts = contribution("word.weight", "f", "postings.size")
    weighed = f"cross join lateral (select {frequency(columns)} as f) as weighed"
    holding = f"postings.term = word.term and {of('postings')} and {is_held(columns)}"
    tables = [
        """
        frequent as materialized (
            select * from unnest(
                %(frequent)s::text[], %(frequent_weights)s::float8[], %(frequent_held)s::bigint[], %(rest)s::float8[]
            ) as word (term, weight, held, rest)
        )
        """,
        f"""
        begun as materialized (
            select space, chunk, sum(score) as score from ({" union all ".join(first)}) as part group by space, chunk
        )
        """,
        _reached("at_first", "begun", "frequent", counts, weighed, holding),
        f"""
        read as materialized (
            select space, chunk, sum(score) as score from (
                select * from begun
                union all
                select postings.space, postings.chunk, {counts} as score
                from (select * from frequent where rest >= (select score from at_first)) as word
                join postings on {holding} {weighed}
            ) as part group by space, chunk
        )
        """,
        """
        lacking as materialized (
            select *, row_number() over (order by rest desc) as place
            from frequent where rest < (select score from at_first)
        )
        """,
        _reached("reached", "read", "lacking", counts, weighed, holding),
    ]
    level = "select * from read"
    for place in range(1, len(frequent) + 1):
        tables += _candidates(place, level)
        level = _with_word(place, columns)
    return f"{', '.join(tables)}, scored as ({level})", parameters


def _reached(name: str, table: str, words: str, counts: str, weighed: str, holding: str) -> str:
    """Return a table of a score that so many chunks reach as are asked for: those of a table, with the words it lacks.

    It is 0 if the table has fewer.
    """
    return f"""
        {name} as materialized (
            select coalesce(min(score) filter (where place = %(asked)s), 0) as score from (
                select score, row_number() over (order by score desc) as place from (
                    select tried.score + coalesce(added.score, 0) as score
                    from (select * from {table} order by score desc limit 2 * %(asked)s) as tried
                    cross join lateral (
                        select sum({counts}) as score from {words} as word
                        join postings on postings.space = tried.space and postings.chunk = tried.chunk and {holding}
                        {weighed}
                    ) as added
                ) as whole
            ) as placed
        )
    """


def _candidates(place: int, level: str) -> Iterator[str]:
    """Yield a table of the next word that they lack, and one of the chunks that may be among the best with it."""
    yield f"word{place} as materialized (select * from lacking where place = {place})"
    yield f"""
        candidates{place} as materialized (
            select * from ({level}) as level
            where score + coalesce((select rest from word{place}), 0) >= (select score from reached)
        )
    """
    yield f"""
        way{place} as materialized (
            select case
                when held is null then 'none'
                when (select count(*) from candidates{place}) * {_LOOKUP} < held then 'lookup'
                else 'scan'
            end as way from (select 1) as one left join word{place} on true
        )
    """


def _with_word(place: int, columns: Mapping[str, float]) -> str:
    """Return a select of the candidates with what the next word counts, if there is one."""
    read = "space, chunk, size, " + ", ".join(f"in_{column}" for column in columns)
    counts = contribution(f"(select weight from word{place})", "f", "postings.size")
    weighed = f"cross join lateral (select {frequency(columns)} as f) as weighed"
    of_word = f"postings.term = (select term from word{place}) and {is_held(columns)}"
    way = f"(select way from way{place})"
    return f"""
        select space, chunk, score from candidates{place} where {way} = 'none'
        union all
        select one.space, one.chunk, one.score + coalesce((
            select {counts} from postings {weighed}
            where postings.space = one.space and postings.chunk = one.chunk and {of_word}
        ), 0) from candidates{place} as one where {way} = 'lookup'
        union all
        select one.space, one.chunk, one.score + coalesce({counts}, 0)
        from candidates{place} as one
        left join (select {read} from postings where {of("postings")} and {of_word} offset 0) as postings
            on postings.space = one.space and postings.chunk = one.chunk
        {weighed}
        where {way} = 'scan'
    """

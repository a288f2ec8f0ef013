"""The best chunks without scoring every chunk that holds a frequent word: MaxScore, in one statement.

A chunk is among the best only if it reaches the score of the worst of them, of which a lower bound is known once the
rarer words are read. What the most frequent words count together at most is often less than that: such a word can lift
a chunk that holds a rarer one, but makes none good by itself. So it is looked up where a rarer word is, as long as the
chunk may still be one of the best. The best have the same scores as if everything were read.

    Turtle and Flood: Query evaluation: strategies and optimizations (1995)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from jupyter_memory.storage.postgres.connection.session import of
from jupyter_memory.storage.postgres.indexes.bm25 import MOST, UNIT, contribution, frequency, is_held

# So many rows of the rarest words are read without asking whether they are needed, and so are all rarer words without
# which no chunk is likely to be good: what the others count at most is less than so many words count on average.
_FIRST_ROWS, _FIRST_WORDS = 40_000, 2
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
    rows = list(accumulate(word.held for word in ordered))
    rest = _rest(ordered)
    needed = rest[0] * _FIRST_WORDS / len(rest) if rest else 0.0
    few = sum(rows[place] <= _FIRST_ROWS or rest[place] >= needed for place in range(len(ordered)))
    rare, frequent = ordered[: max(few, 1)], ordered[max(few, 1) :]
    return (rare, frequent) if sum(word.held for word in frequent) > _FIRST_ROWS else (ordered, [])


def _rest(words: Sequence[Weighed]) -> list[float]:
    """Return what each word and all after it count together at most, with a unit for each that is rounded."""
    return list(accumulate(word.weight * MOST * UNIT + 1 for word in reversed(words)))[::-1]


def pruned(
    first: Sequence[str], frequent: Sequence[Weighed], columns: Mapping[str, float]
) -> tuple[str, dict[str, Any]]:
    """Return tables of a statement, the last of which, ``scored``, holds the best chunks, and its parameters.

    ``first`` are selects of what the other terms count. The parameter ``asked`` is how many chunks are wanted.
    """
    rest = _rest(frequent)
    parameters: dict[str, Any] = {
        "frequent": [word.stem for word in frequent],
        "frequent_weights": [word.weight for word in frequent],
        "rest0": rest[0],
    }
    tables = [
        f"""
        chunks0 as materialized (
            select space, chunk, sum(score) as score from ({" union all ".join(first)}) as part group by space, chunk
        )
        """,
        _reached(0, columns),
    ]
    for place, word in enumerate(frequent, 1):
        parameters |= {f"term{place}": word.stem, f"weight{place}": word.weight, f"held{place}": word.held}
        parameters[f"rest{place}"] = rest[place] if place < len(rest) else 0.0
        tables += [_way(place), _with_word(place, columns)]
        if place < len(frequent):
            tables.append(_reached(place, columns))
    return f"{', '.join(tables)}, scored as (select * from chunks{len(frequent)})", parameters


def _reached(place: int, columns: Mapping[str, float]) -> str:
    """Return a table of a score that so many chunks reach as are asked for, 0 where there are fewer.

    It is that of the best ones after so many words, with the words that they lack.
    """
    counts = contribution("word.weight", "f", "postings.size")
    found = f"""
        select coalesce(min(score) filter (where place = %(asked)s), 0) from (
            select score, row_number() over (order by score desc) as place from (
                select tried.score + coalesce(added.score, 0) as score
                from (select * from chunks{place} order by score desc limit 2 * %(asked)s) as tried
                cross join lateral (
                    select sum({counts}) as score
                    from unnest(%(frequent)s::text[], %(frequent_weights)s::float8[]) with ordinality
                        as word (term, weight, place)
                    join postings on postings.space = tried.space and postings.term = word.term
                        and postings.chunk = tried.chunk and {is_held(columns)}
                    cross join lateral (select {frequency(columns)} as f) as weighed
                    where word.place > {place}
                ) as added
            ) as whole
        ) as placed
    """
    if place:
        before = f"(select score from reached{place - 1})"
        found = f"case when (select way from way{place}) = 'all' then greatest(({found}), {before}) else {before} end"
    return f"reached{place} as materialized (select ({found}) as score)"


def _candidates(place: int) -> str:
    """Return a select of the chunks that may be among the best, before a word is looked up."""
    return f"""
        (
            select * from chunks{place - 1}
            where score + %(rest{place - 1})s::float8 >= (select score from reached{place - 1})
        )
    """


def _way(place: int) -> str:
    """Return a table of how a word is read.

    All chunks that hold it come in where it may make one good with those that are more frequent; else only the
    candidates count.
    """
    return f"""
        way{place} as materialized (
            select case
                when %(rest{place - 1})s::float8 >= (select score from reached{place - 1}) then 'all'
                when (select count(*) from {_candidates(place)} as one) * {_LOOKUP} < %(held{place})s then 'lookup'
                else 'scan'
            end as way
        )
    """


def _with_word(place: int, columns: Mapping[str, float]) -> str:
    """Return a table of the chunks with what a word counts in them, without those that cannot be among the best."""
    read = "space, chunk, size, " + ", ".join(f"in_{column}" for column in columns)
    counts = contribution(f"%(weight{place})s::float8", "f", "postings.size")
    weighed = f"cross join lateral (select {frequency(columns)} as f) as weighed"
    of_word = f"postings.term = %(term{place})s and {is_held(columns)}"
    # Not joined chunk by chunk, whatever the server thinks of their number.
    all_of_word = f"(select {read} from postings where {of('postings')} and {of_word} offset 0) as postings"
    way = f"(select way from way{place})"
    return f"""
        chunks{place} as materialized (
            select * from (
                select space, chunk, coalesce(one.score, 0) + coalesce({counts}, 0) as score
                from {_candidates(place)} as one full join {all_of_word} using (space, chunk) {weighed}
                where {way} = 'all'
                union all
                select one.space, one.chunk, one.score + coalesce((
                    select {counts} from postings {weighed}
                    where postings.space = one.space and postings.chunk = one.chunk and {of_word}
                ), 0) from {_candidates(place)} as one where {way} = 'lookup'
                union all
                select space, chunk, one.score + coalesce({counts}, 0)
                from {_candidates(place)} as one left join {all_of_word} using (space, chunk) {weighed}
                where {way} = 'scan'
                -- Else the condition would be computed from the score's formula, a second time.
                offset 0
            ) as level
            where score + %(rest{place})s::float8 >= (select score from reached{place - 1})
        )
    """

"""Matches whose rarity is counted while they are found, in SQL: phrases, and words in several forms or only begun.

Each select gives rows of ``of_group, weight, space, chunk, f, size``, one for each match and chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jupyter_memory.storage.postgres.connection.session import of
from jupyter_memory.storage.postgres.indexes.bm25 import contribution, frequency, is_held
from jupyter_memory.storage.postgres.indexes.matches import Match
from jupyter_memory.storage.postgres.indexes.statistics import Statistics
from jupyter_memory.text.identifiers import COLUMNS

# Words side by side that are joined as tables; to plan a join of more would take the server long.
_JOINED = 4
# Follows every word that begins with certain letters, and precedes all that a longer word could be.
_AFTER, _NOTHING_AFTER = "\U0010ffff", "\x01"
# What a match of a group counts by how many chunks hold any, as ``bm25.idf`` has it.
_IDF = """
    case when held >= %(total)s then 1e-6::float8
    else greatest(ln((%(total)s - held + 0.5)::float8 / (held + 0.5)::float8), 1e-6) end as idf
"""
# How many chunks hold any match of a group: as many as there are hits, if each has one match.
# Kept, since the server would count again for every hit.
_COUNTED = f"""
    counted as materialized (
        select *, {_IDF} from (select of_group, {{}} as held from hits group by of_group) as one
    )
"""
COUNTED, COUNTED_ONCE = _COUNTED.format("count(distinct chunk)"), _COUNTED.format("count(*)")
KNOWN = f"""
    counted as materialized (
        select *, {_IDF} from unnest(%(groups)s::integer[], %(held)s::bigint[]) as known (of_group, held)
    )
"""
# The chunks of certain memories, where not all are wanted, and the condition that a row of ``postings`` is of them.
WANTED = f"""
    wanted as materialized (
        select chunks.space, chunks.id as chunk, chunks.memory
        from chunks where {of("chunks")} and chunks.memory = any(%(memories)s)
    )
"""
AMONG = "and postings.chunk in (select wanted.chunk from wanted)"
SCORED = f"""
    select hits.space, hits.chunk, {contribution("hits.weight * counted.idf", "hits.f", "hits.size")} as score
    from hits join counted on counted.of_group = hits.of_group
"""


def selects(
    name: str, matches: Sequence[Match], columns: Mapping[str, float], corpus: Statistics, among: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield selects of the hits of matches with their parameters, whose names begin with ``name``.

    ``among`` is a condition on ``postings``, where not all chunks are wanted.
    """
    for shape in ("single", "row", "begun"):
        if some := [one for one in matches if _shape(one) == shape]:
            of_shape = f"{shape}_{name}", columns, among
            select = _of_single(*of_shape) if shape == "single" else _of_rows(*of_shape, begun=shape == "begun")
            yield select, _listed(f"{shape}_{name}", some, corpus)
    for number, match in enumerate(one for one in matches if _shape(one) == "phrase"):
        yield _of_phrase(f"phrase{number}_{name}", match, columns, among)


def _shape(match: Match) -> str:
    """Return how a match is looked up: a word, a few words side by side, many, or some of which the last is begun."""
    if len(match.stems) == 1:
        return "single"
    return "begun" if match.begun else "row" if len(match.stems) > _JOINED else "phrase"


def _listed(name: str, matches: Sequence[Match], corpus: Statistics) -> dict[str, Any]:
    """Return the stems of matches as parameters, one row for each: which match, its group, weight and place."""
    rows = []
    for number, match in enumerate(matches):
        whole = match.stems[:-1] if match.begun else match.stems
        rarest = min(whole, key=lambda stem: sum(corpus.by_columns([stem])[stem].values()), default="")
        for place, stem in enumerate(match.stems):
            last = match.begun and place == len(match.stems) - 1
            until = stem + (_AFTER if last else _NOTHING_AFTER)
            rows.append((number, match.group, match.weight, place, stem, until, len(match.stems), stem == rarest))
    names = ("match", "group", "weight", "place", "from", "until", "length", "rarest")
    return {f"{name}_{each}": list(values) for each, values in zip(names, zip(*rows, strict=True), strict=True)}


def _asked(name: str) -> str:
    types = {
        "match": "integer", "group": "integer", "weight": "float8", "place": "integer", "from": "text",
        "until": "text", "length": "integer", "rarest": "boolean",
    }  # fmt: skip
    given = ", ".join(f"%({name}_{each})s::{type_}[]" for each, type_ in types.items())
    return f"unnest({given}) as asked (match, of_group, weight, place, first, until, length, rarest)"


def _of_single(name: str, columns: Mapping[str, float], among: str) -> str:
    """Return the hits of single words, whole or only begun."""
    return f"""
        select asked.of_group, asked.weight, postings.space, postings.chunk,
            sum({frequency(columns)}) as f, min(postings.size) as size
        from {_asked(name)}
        join postings on postings.term >= asked.first and postings.term < asked.until
        where {of("postings")} and {is_held(columns)} {among}
        group by asked.match, 1, 2, 3, 4
    """


def _weights(columns: Mapping[str, float]) -> str:
    """Return the weight of the column of a place, none where it is not searched."""
    cases = (
        f"when {number} then {float(columns[column])!r}::float8"
        for number, column in enumerate(COLUMNS)
        if column in columns
    )
    return f"case first_at >> 24 {' '.join(cases)} end"


def _of_phrase(name: str, match: Match, columns: Mapping[str, float], among: str) -> tuple[str, dict[str, Any]]:
    """Return the hits of a few words side by side: the places of the first that the others follow.

    The server knows how frequent each word is. It looks up the others where the rarest is, or reads all places of each
    in a row, which takes a tenth of the time where all are frequent.
    """
    stems = {f"{name}_{place}": stem for place, stem in enumerate(match.stems)}
    first, *others = stems
    joined = " ".join(
        f"join postings as {one} on {one}.space = postings.space and {one}.chunk = postings.chunk "
        f"and {of(one)} and {one}.term = %({one})s"
        for one in others
    )
    follow = " and ".join(f"first_at + {place} = any({one}.places)" for place, one in enumerate(others, 1))
    sql = f"""
        select %({name}_group)s::integer as of_group, %({name}_weight)s::float8 as weight, postings.space,
            postings.chunk, found.f, postings.size
        from postings {joined}
        cross join lateral (
            select sum({_weights(columns)}) as f from unnest(postings.places) as first_at where {follow}
        ) as found
        where {of("postings")} and postings.term = %({first})s and found.f is not null {among}
    """
    return sql, {**stems, f"{name}_group": match.group, f"{name}_weight": match.weight}


def _of_rows(name: str, columns: Mapping[str, float], among: str, *, begun: bool) -> str:
    """Return the hits of words side by side: the places where each of them is, as far from the first as it should be.

    It begins with the chunks that hold the rarest of the whole words, and looks the others up there, one by one: a
    range of words is read from its beginning to its end instead, so only a word that is begun is one.
    """
    is_it = "postings.term >= asked.first and postings.term < asked.until" if begun else "postings.term = asked.first"
    return f"""
        select of_group, weight, space, chunk, sum({_weights(columns)}) as f, min(size) as size
        from (
            select asked.match, asked.of_group, asked.weight, postings.space, postings.chunk, postings.size,
                place_at - asked.place as first_at
            from (
                select distinct asked.match, holding.space, holding.chunk
                from {_asked(name)}
                join postings as holding on holding.term = asked.first
                where {of("holding")} and asked.rarest {among.replace("postings.", "holding.")}
            ) as candidate
            join {_asked(name)} on asked.match = candidate.match
            join postings on postings.space = candidate.space and postings.chunk = candidate.chunk and {is_it}
            cross join unnest(postings.places) as place_at
            group by asked.match, asked.of_group, asked.weight, asked.length, postings.space, postings.chunk,
                postings.size, place_at - asked.place
            having count(*) = asked.length
        ) as found
        group by match, 1, 2, 3, 4
        having sum({_weights(columns)}) is not null
    """

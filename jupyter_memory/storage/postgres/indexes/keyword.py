"""The keyword index: FTS5's BM25 in SQL, with a profile's columns and weights.

A match counts ``idf * f * (k1 + 1) / (f + k1 * (1 - b + b * size / average))``, where ``f`` is how often the chunk
holds it, each column by its weight; a chunk has the sum of its matches. How rare a whole word is was read before, from
its frequencies; that of a phrase, or of a word in several forms, is counted while it is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import condition
from jupyter_memory.storage.postgres.indexes.matches import Match, begun, idf, matches_of, without_common
from jupyter_memory.storage.postgres.indexes.statistics import Group, Statistics, bits_of
from jupyter_memory.storage.postgres.indexes.words import keyed
from jupyter_memory.storage.shared.top_k import Row, cut, is_settled
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types import Filters, ScoredChunk, Terms

# Constants of FTS5.
_K1, _B = 1.2, 0.75
# Scores are added up as whole numbers: a sum of floating-point numbers depends on their order, and equal chunks must
# have equal scores.
_UNIT = 1e12
# A word whose forms share its rarity, or that is begun; words side by side; and those of which the last is begun.
_SHAPES = ("single", "phrase", "begun")
# Follows every word that begins with certain letters, and precedes all that a longer word could be.
_AFTER, _NOTHING_AFTER = "\U0010ffff", "\x01"


def search(
    session: Session, corpus: Statistics, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int
) -> list[ScoredChunk]:
    """Return the best ``count`` memories by BM25, higher is better, each by its best chunk.

    ``weights`` maps columns to BM25 weights; a column that is not in it is not searched.
    """
    scored, parameters, groups = _scored(corpus, _selective(corpus, terms, weights), weights, "")
    if not scored:
        return []
    counts = "(select json_object_agg(of_group, held) from counted)" if groups else "null"
    where, of_filters = condition(filters)
    best = "select * from scored order by score desc limit %(asked)s"
    joined = """
        join chunks on chunks.space = found.space and chunks.id = found.chunk
        join memories on memories.space = chunks.space and memories.key = chunks.memory
    """
    row = f"memories.key, found.chunk, found.score, memories.event_at, memories.content_hash, {counts}"
    sql = (
        f"{scored} select {row} from scored as found {joined} where {where} order by score desc limit %(asked)s"
        if filters
        else f"{scored} select {row} from ({best}) as found {joined} order by score desc"
    )
    asked = 2 * count + 16
    while True:
        found = session.rows(sql, {**parameters, **of_filters, "asked": asked})
        rows = [Row(*one[:-1]) for one in found]
        if found and groups:
            counted = found[0][-1] or {}
            corpus.held.update({group: counted.get(str(number), 0) for number, group in groups.items()})
        if is_settled(rows, asked, count):
            return cut(rows, count)
        asked *= 4


def scores_of(
    session: Session, corpus: Statistics, terms: Terms, weights: Mapping[str, float], memories: Sequence[int]
) -> dict[int, float]:
    """Return what ``search`` would give each of these memories if it gave all that fit; not those without any term."""
    among = f"""
        and postings.chunk in (
            select chunks.id from chunks where {of("chunks")} and chunks.memory = any(%(memories)s)
        )
    """
    scored, parameters, _ = _scored(corpus, _selective(corpus, terms, weights), weights, among)
    if not scored:
        return {}
    return dict(
        session.rows(
            f"""
            {scored} select chunks.memory, max(scored.score)
            from scored join chunks on chunks.space = scored.space and chunks.id = scored.chunk
            where chunks.memory = any(%(memories)s) group by chunks.memory having max(scored.score) > 0
            """,
            {**parameters, "memories": list(memories)},
        )
    )


def _selective(corpus: Statistics, terms: Terms, weights: Mapping[str, float]) -> Terms:
    """Return the terms that are looked up: with the stem of a word that is only begun, without the frequent ones."""
    columns = [1 << place for place, column in enumerate(COLUMNS) if column in weights]

    def frequency(stem: str) -> int:
        by_columns = corpus.by_columns([keyed(stem)])[keyed(stem)]
        return max((sum(n for held, n in by_columns.items() if held & bit) for bit in columns), default=0)

    terms = begun(terms, corpus.first_with)
    corpus.by_columns([stem for match in matches_of(terms) for stem in match.stems])  # all at once
    return without_common(terms, corpus.chunks, frequency)


def _scored(
    corpus: Statistics, terms: Terms, weights: Mapping[str, float], among: str
) -> tuple[str, dict[str, Any], dict[int, Group]]:
    """Return the statement's beginning, which names every chunk that matches, with its score, ``scored``.

    It is empty where nothing can match. ``among`` is a condition on the chunks, where not all are wanted. The groups
    whose matches it counts come with it, by their numbers: what was counted to score all chunks is not counted again
    to score some.
    """
    matches = matches_of(terms)
    groups = [one.group for one in matches]
    known = [one for one in matches if one.is_word and groups.count(one.group) == 1]
    counted = [one for one in matches if one not in known]
    parameters: dict[str, Any] = {
        "total": corpus.chunks,
        "average": corpus.average_size,
    }
    parts = []
    for pair in (False, True):
        columns = {"ident": weights.get("ident", 1.0)} if pair else dict(weights)
        rare = _with_rarity(corpus, [one for one in known if one.pair == pair], columns)
        if rare:
            name = "pair" if pair else "word"
            parameters[f"{name}s"], parameters[f"{name}_weights"] = list(rare), list(rare.values())
            parts.append(_of_words(name, columns, among))
    counting = {number: _group(counted, number, weights) for number in {one.group for one in counted}}
    is_known = bool(among) and all(group in corpus.held for group in counting.values())
    within = among if is_known else ""
    hits = []
    for pair in (False, True):
        columns = {"ident": weights.get("ident", 1.0)} if pair else dict(weights)
        for shape in _SHAPES:
            some = [one for one in counted if one.pair == pair and _shape(one) == shape]
            if some:
                name = f"{shape}_{'pair' if pair else 'word'}"
                parameters |= _listed(name, some, corpus)
                of_shape = (name, columns, within)
                hits.append(_of_single(*of_shape) if shape == "single" else _of_phrases(*of_shape, shape))
    if not parts and not hits:
        return "", {}, {}
    before = ""
    if hits:
        if is_known:
            parameters |= {"groups": list(counting), "held": [corpus.held[group] for group in counting.values()]}
        before = f"hits as materialized ({' union all '.join(hits)}), {_KNOWN if is_known else _COUNTED}, "
        parts.append(_OF_COUNTED)
    together = " union all ".join(parts)
    return (
        f"""
        with {before} scored as (
            select space, chunk, sum((score * {_UNIT})::bigint)::float8 / {_UNIT} as score
            from ({together}) as part group by space, chunk
        )
        """,
        parameters,
        counting,
    )


def _group(matches: Sequence[Match], number: int, weights: Mapping[str, float]) -> Group:
    """Return what the number of chunks with any match of a group depends on, within one state of the store."""
    alike = tuple((one.stems, one.begun, one.pair) for one in matches if one.group == number)
    return alike, bits_of(weights)


def _with_rarity(corpus: Statistics, words: Sequence[Match], columns: Mapping[str, float]) -> dict[str, float]:
    """Return the words that any chunk holds in these columns with what a match counts; equal words count together."""
    by_columns = corpus.by_columns([one.stems[0] for one in words])
    bits = bits_of(columns)
    found: dict[str, float] = {}
    for one in words:
        stem = one.stems[0]
        if held := sum(count for columns_, count in by_columns[stem].items() if columns_ & bits):
            found[stem] = found.get(stem, 0.0) + one.weight * idf(held, corpus.chunks)
    return found


def _amount(frequency: str, size: str) -> str:
    return f"({frequency}) * {_K1 + 1} / (({frequency}) + {_K1} * ({1 - _B} + {_B} * {size} / %(average)s::float8))"


def _weighed(columns: Mapping[str, float]) -> tuple[str, str]:
    """Return how often a posting counts, each column by its weight, and the condition that any of them holds it."""
    summed = " + ".join(f"in_{column} * {float(weight)!r}::float8" for column, weight in columns.items())
    return summed, "(" + " or ".join(f"in_{column} > 0" for column in columns) + ")"


def _of_words(name: str, columns: Mapping[str, float], among: str) -> str:
    frequency, held = _weighed(columns)
    return f"""
        select postings.space, postings.chunk, asked.weight * {_amount("f", "size")} as score
        from unnest(%({name}s)s::text[], %({name}_weights)s::float8[]) as asked (term, weight)
        join postings on postings.term = asked.term
        cross join lateral (select {frequency} as f) as weighed
        where {of("postings")} and {held} {among}
    """


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
    frequency, held = _weighed(columns)
    return f"""
        select '{name}' as list, asked.match, asked.of_group, asked.weight, postings.space, postings.chunk,
            sum({frequency}) as f, min(postings.size) as size
        from {_asked(name)}
        join postings on postings.term >= asked.first and postings.term < asked.until
        where {of("postings")} and {held} {among}
        group by 1, 2, 3, 4, 5, 6
    """


def _shape(match: Match) -> str:
    """Return how a match is looked up whose rarity is counted while it is found."""
    return "single" if len(match.stems) == 1 else "begun" if match.begun else "phrase"


def _of_phrases(name: str, columns: Mapping[str, float], among: str, shape: str) -> str:
    """Return the hits of words side by side: the places where each of them is, as far from the first as it should be.

    It begins with the chunks that hold the rarest of them, and looks the others up there, one by one: a range of words
    is read from its beginning to its end instead, so only a word that is begun is one.
    """
    is_it = "postings.term = asked.first"
    if shape == "begun":
        is_it = "postings.term >= asked.first and postings.term < asked.until"
    weights = " ".join(
        f"when {place} then {float(columns[column])!r}" for place, column in enumerate(COLUMNS) if column in columns
    )
    return f"""
        select '{name}' as list, match, of_group, weight, space, chunk,
            sum(case first_at >> 24 {weights} end::float8) as f, min(size) as size
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
        where first_at >> 24 in ({", ".join(str(place) for place, column in enumerate(COLUMNS) if column in columns)})
        group by 1, 2, 3, 4, 5, 6
    """


# How many chunks hold any match of a group, and what each match counts by it.
# Kept, since the server would count again for every hit.
_COUNTED = "counted as materialized (select of_group, count(distinct chunk) as held from hits group by of_group)"
_KNOWN = "counted as (select * from unnest(%(groups)s::integer[], %(held)s::bigint[]) as known (of_group, held))"
_OF_COUNTED = f"""
    select hits.space, hits.chunk, hits.weight * {_amount("f", "size")} * case
        when counted.held >= %(total)s then 1e-6
        else greatest(ln((%(total)s - counted.held + 0.5)::float8 / (counted.held + 0.5)), 1e-6)
    end as score
    from hits join counted on counted.of_group = hits.of_group
"""

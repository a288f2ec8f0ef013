"""The keyword index: BM25, phrases, MaxScore."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from math import log
from typing import Any, NamedTuple

from jupyter_memory.storage.base import Row, cut, is_settled
from jupyter_memory.storage.postgres import postings
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.postgres.postings import Group, Statistics, StatisticsCache, bits_of, of_column
from jupyter_memory.storage.sql import POSTGRES, condition
from jupyter_memory.storage.words import COMPOUND, RESPELLED, SMALL, begun, highlights, keyed, stems
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types import Filters, ScoredChunk, Terms

# The terms of a query as what is looked up in the keyword index: words, phrases, beginnings, and words with forms.


@dataclass(frozen=True, slots=True)
class _Match:
    # Words side by side, the last of them perhaps only begun. Matches of one ``group`` are forms of one word and share
    # their rarity. A ``pair`` is of a text without spaces, looked for among identifiers only.

    stems: tuple[str, ...]
    group: int
    weight: float = 1.0
    begun: bool = False
    pair: bool = False


def _matches_of(terms: Terms) -> list[_Match]:
    # What holds no letter is left out.
    inflected = {one.word: one.inflected for one in terms.forms if one.inflected}
    groups = [
        *([_Match((keyed(stem),), 0, RESPELLED)] for stem in terms.respelled),
        *([_Match((keyed(stem),), 0, COMPOUND)] for stem in terms.compounded),
        *([_Match(_keys(form), 0) for form in (word, *forms)] for word, forms in inflected.items()),
        *([_Match(_keys(words), 0)] for words in terms.phrases),
        *([_Match(_keys(word), 0)] for word in terms.words if word not in inflected),
    ]
    if terms.prefix:
        groups.append([_Match(_keys(terms.prefix), 0, begun=True)])
    # A single character is looked for as the first of any pair.
    groups += ([_Match(_keys(pair), 0, begun=len(pair) == 1, pair=True)] for pair in terms.ident)
    return [replace(one, group=group) for group, of_it in enumerate(groups) for one in of_it if one.stems]


def _keys(words: str) -> tuple[str, ...]:
    return tuple(map(keyed, stems(words)))


# FTS5's BM25 in SQL: what a match counts in a chunk, and how rare a word is.
#
# A match counts ``idf * f * (k1 + 1) / (f + k1 * (1 - b + b * size / average))``, where ``f`` is how often the chunk
# holds it, each column by its weight; a chunk has the sum of its matches.

_K1, _B = 1.2, 0.75  # constants of FTS5
_MOST = _K1 + 1  # what a match counts is less than its idf times this, however often a chunk holds it
# Scores are added up as whole numbers, of which a float8 holds sums up to 9,007 exactly. The sum of a bigint is a
# decimal number, and takes longer.
_UNIT = 1e12


def _contribution(idf_: str, f: str, size: str) -> str:
    # In units. ``f / (f + d)`` is written ``1 - d / (f + d)``, since ``f`` is what takes long. Numbers have one type:
    # a plain ``0.75`` would be a decimal number, and twice the time of the whole formula.
    d = f"({_K1 * (1 - _B)!r}::float8 + {_K1 * _B!r}::float8 / :average::float8 * {size})"
    return f"round({idf_} * {_MOST * _UNIT!r}::float8 * (1 - {d} / ({f} + {d})))"


def _frequency(columns: Mapping[str, float]) -> str:
    alike: dict[float, list[str]] = {}
    for column, weight in columns.items():
        alike.setdefault(float(weight), []).append(f"postings.in_{column}")
    return " + ".join(f"({' + '.join(summed)}) * {weight!r}::float8" for weight, summed in alike.items())


def _is_held(columns: Mapping[str, float]) -> str:
    if len(columns) == len(COLUMNS):
        return "true"
    return "(" + " or ".join(f"postings.in_{column} > 0" for column in columns) + ")"


# Matches whose rarity is counted while they are found, in SQL: phrases, and words in several forms or only begun.
#
# Each select gives rows of ``of_group, weight, space, chunk, f, size``, one for each match and chunk.

_JOINED = 4  # words side by side that are joined as tables; to plan a join of more would take the server long
# Follows every word that begins with certain letters, and precedes all that a longer word could be.
_AFTER, _NOTHING_AFTER = "\U0010ffff", "\x01"
# What a match of a group counts by how many chunks hold any.
_IDF = """
    case when held >= :total then 1e-6::float8
    else greatest(ln((:total - held + 0.5)::float8 / (held + 0.5)::float8), 1e-6) end as idf
"""
# How many chunks hold any match of a group: as many as there are hits, if each has one match.
# Kept, since the server would count again for every hit.
_COUNTED_BY = f"""
    counted as materialized (
        select *, {_IDF} from (select of_group, {{}} as held from hits group by of_group) as one
    )
"""
_COUNTED, _COUNTED_ONCE = _COUNTED_BY.format("count(distinct chunk)"), _COUNTED_BY.format("count(*)")
_KNOWN = f"""
    counted as materialized (
        select *, {_IDF} from unnest(:groups::integer[], :held::bigint[]) as known (of_group, held)
    )
"""
# The chunks of certain memories, where not all are wanted, and the condition that a row of ``postings`` is of them.
_WANTED = f"""
    wanted as materialized (
        select chunks.space, chunks.id as chunk, chunks.memory
        from chunks where {of("chunks")} and chunks.memory = any(:memories)
    )
"""
_AMONG = "and postings.chunk in (select wanted.chunk from wanted)"
_SCORED = f"""
    select hits.space, hits.chunk, {_contribution("hits.weight * counted.idf", "hits.f", "hits.size")} as score
    from hits join counted on counted.of_group = hits.of_group
"""


def _selects(
    name: str, matches: Sequence[_Match], columns: Mapping[str, float], corpus: Statistics, among: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    # Of the hits of matches, with parameters whose names begin with ``name``.
    names = ("match", "group", "weight", "place", "from", "until", "length", "rarest")
    for shape in ("single", "row", "begun"):
        rows = []
        for number, match in enumerate(one for one in matches if _shape(one) == shape):
            whole = match.stems[:-1] if match.begun else match.stems
            rarest = min(whole, key=lambda stem: sum(corpus.by_columns([stem])[stem].values()), default="")
            for place, stem in enumerate(match.stems):
                last = match.begun and place == len(match.stems) - 1
                until = stem + (_AFTER if last else _NOTHING_AFTER)
                rows.append((number, match.group, match.weight, place, stem, until, len(match.stems), stem == rarest))
        if rows:
            listed = f"{shape}_{name}"
            given = zip(names, zip(*rows, strict=True), strict=True)
            parameters = {f"{listed}_{each}": list(values) for each, values in given}
            if shape == "single":
                select = f"""
                    select asked.of_group, asked.weight, postings.space, postings.chunk,
                        sum({_frequency(columns)}) as f, min(postings.size) as size
                    from {_asked(listed)}
                    join postings on postings.term >= asked.first and postings.term < asked.until
                    where {of("postings")} and {_is_held(columns)} {among}
                    group by asked.match, 1, 2, 3, 4
                """
                yield select, parameters
            else:
                yield _of_rows(listed, columns, among, begun=shape == "begun"), parameters
    for number, match in enumerate(one for one in matches if _shape(one) == "phrase"):
        listed = f"phrase{number}_{name}"
        found, words = postings.side_by_side(listed, match.stems, columns, among)
        of_match = f":{listed}_group::integer as of_group, :{listed}_weight::float8 as weight"
        about = {f"{listed}_group": match.group, f"{listed}_weight": match.weight}
        yield f"select {of_match}, phrase.* from ({found}) as phrase", {**words, **about}


def _shape(match: _Match) -> str:
    # A word, a few words side by side, many, or some of which the last is begun.
    if len(match.stems) == 1:
        return "single"
    return "begun" if match.begun else "row" if len(match.stems) > _JOINED else "phrase"


def _asked(name: str) -> str:
    types = {
        "match": "integer", "group": "integer", "weight": "float8", "place": "integer", "from": "text",
        "until": "text", "length": "integer", "rarest": "boolean",
    }  # fmt: skip
    given = ", ".join(f":{name}_{each}::{type_}[]" for each, type_ in types.items())
    return f"unnest({given}) as asked (match, of_group, weight, place, first, until, length, rarest)"


def _of_rows(name: str, columns: Mapping[str, float], among: str, *, begun: bool) -> str:
    # The places where each of them is, as far from the first as it should be. It begins with the chunks that hold the
    # rarest of the whole words, and looks the others up there, one by one: a range of words is read from its beginning
    # to its end instead, so only a word that is begun is one.
    is_it = "postings.term >= asked.first and postings.term < asked.until" if begun else "postings.term = asked.first"
    return f"""
        select of_group, weight, space, chunk, sum({of_column(columns)}) as f, min(size) as size
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
        having sum({of_column(columns)}) is not null
    """


# The best chunks without scoring each that holds a frequent word: MaxScore, in one statement (docs/internals.md).
#
#     Turtle and Flood: Query evaluation: strategies and optimizations (1995)

# So many rows of the rarest words are read without asking whether they are needed, and so are all rarer words without
# which no chunk is likely to be good: what the others count at most is less than so many words count on average.
_FIRST_ROWS, _FIRST_WORDS = 40_000, 2
_LOOKUP = 40  # to look a word up in a chunk takes as long as to read so many rows of it in their order


class Weighed(NamedTuple):
    # A word that is looked up: the chunks that hold it, and its weight, which has its idf.

    stem: str
    held: int
    weight: float


def apart(words: Sequence[Weighed]) -> tuple[list[Weighed], list[Weighed]]:
    """Return the words that are read first, and the frequent ones, the rarest first; none where that gains nothing."""
    ordered = sorted(words, key=lambda word: (word.held, word.stem))
    rows, rest = list(accumulate(word.held for word in ordered)), _rest(ordered)
    needed = rest[0] * _FIRST_WORDS / len(rest) if rest else 0.0
    few = max(sum(rows[place] <= _FIRST_ROWS or rest[place] >= needed for place in range(len(ordered))), 1)
    rare, frequent = ordered[:few], ordered[few:]
    return (rare, frequent) if sum(word.held for word in frequent) > _FIRST_ROWS else (ordered, [])


def _rest(words: Sequence[Weighed]) -> list[float]:
    return list(accumulate(word.weight * _MOST * _UNIT + 1 for word in reversed(words)))[::-1]


def _pruned(
    first: Sequence[str], frequent: Sequence[Weighed], columns: Mapping[str, float]
) -> tuple[str, dict[str, Any]]:
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
        # All chunks that hold it come in where it may make one good with those that are more frequent; else only the
        # candidates count.
        way = f"""
            way{place} as materialized (
                select case
                    when :rest{place - 1}::float8 >= (select score from reached{place - 1}) then 'all'
                    when (select count(*) from {_candidates(place)} as one) * {_LOOKUP} < :held{place} then 'lookup'
                    else 'scan'
                end as way
            )
        """
        tables += [way, _with_word(place, columns)]
        if place < len(frequent):
            tables.append(_reached(place, columns))
    return f"{', '.join(tables)}, scored as (select * from chunks{len(frequent)})", parameters


def _reached(place: int, columns: Mapping[str, float]) -> str:
    # It is that of the best ones after so many words, with the words that they lack.
    counts = _contribution("word.weight", "f", "postings.size")
    found = f"""
        select coalesce(min(score) filter (where place = :asked), 0) from (
            select score, row_number() over (order by score desc) as place from (
                select tried.score + coalesce(added.score, 0) as score
                from (select * from chunks{place} order by score desc limit 2 * :asked) as tried
                cross join lateral (
                    select sum({counts}) as score
                    from unnest(:frequent::text[], :frequent_weights::float8[]) with ordinality
                        as word (term, weight, place)
                    join postings on postings.space = tried.space and postings.term = word.term
                        and postings.chunk = tried.chunk and {_is_held(columns)}
                    cross join lateral (select {_frequency(columns)} as f) as weighed
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
    return f"""
        (
            select * from chunks{place - 1}
            where score + :rest{place - 1}::float8 >= (select score from reached{place - 1})
        )
    """


def _with_word(place: int, columns: Mapping[str, float]) -> str:
    read = "space, chunk, size, " + ", ".join(f"in_{column}" for column in columns)
    counts = _contribution(f":weight{place}::float8", "f", "postings.size")
    weighed = f"cross join lateral (select {_frequency(columns)} as f) as weighed"
    of_word = f"postings.term = :term{place} and {_is_held(columns)}"
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
            where score + :rest{place}::float8 >= (select score from reached{place - 1})
        )
    """


# How rare a whole word is was read before, from its frequencies; that of a phrase, or of a word in several forms, is
# counted while it is found.


@dataclass(slots=True)
class _Parts:
    # Selects of what terms count, the tables before them, and the words to look up. ``groups`` are those whose matches
    # it counts, by their numbers: what was counted to score all chunks is not counted again to score some.

    selects: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    words: list[Weighed] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    groups: dict[int, Group] = field(default_factory=dict)


def _search(
    session: Session, corpus: Statistics, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int
) -> list[ScoredChunk]:
    parts = _parts(corpus, _selective(corpus, terms, weights), weights)
    if not parts.selects and not parts.words:
        return []
    scored, parameters = _scored(parts, weights, pruning=not filters)
    counts = "(select json_object_agg(of_group, held) from counted)" if parts.groups else "null"
    where, of_filters = condition(POSTGRES, filters)
    best = "select * from scored order by score desc limit :asked"
    joined = """
        join chunks on chunks.space = found.space and chunks.id = found.chunk
        join memories on memories.space = chunks.space and memories.key = chunks.memory
    """
    order = "memories.event_at, memories.content_hash, memories.source, memories.location"
    row = f"memories.key, found.chunk, found.score / {_UNIT!r}, {order}, {counts}"
    sql = (
        f"{scored} select {row} from scored as found {joined} where {where} order by score desc limit :asked"
        if filters
        else f"{scored} select {row} from ({best}) as found {joined} order by score desc"
    )
    asked = 2 * count + 16
    while True:
        found = session.rows(sql, **parameters, **of_filters, asked=asked)
        rows = [Row(*one[:-1]) for one in found]
        if found and parts.groups:
            counted = found[0][-1] or {}
            corpus.keep_counted({group: counted.get(str(number), 0) for number, group in parts.groups.items()})
        if is_settled(rows, asked, count):
            return cut(rows, count)
        asked *= 4


def _selective(corpus: Statistics, terms: Terms, weights: Mapping[str, float]) -> Terms:
    # With the stem of a word that is only begun, without the words that more than half of the chunks hold: they have no
    # weight, yet all their rows are read.
    terms = begun(terms, corpus.first_with)
    corpus.by_columns([stem for match in _matches_of(terms) for stem in match.stems])  # all at once
    inflected = {one.word for one in terms.forms if one.inflected}
    words = tuple(word for word in terms.words if word not in inflected)
    if corpus.chunks < SMALL or len(words) < 2:
        return terms

    half = corpus.chunks / 2
    rare = {word for word in words if len(of_it := stems(word)) != 1 or corpus.chunk_count(of_it[0], weights) <= half}
    return replace(terms, words=tuple(word for word in terms.words if word in rare | inflected)) if rare else terms


def _parts(corpus: Statistics, terms: Terms, weights: Mapping[str, float], *, among: bool = False) -> _Parts:
    matches = _matches_of(terms)
    groups = [one.group for one in matches]
    known = [one for one in matches if len(one.stems) == 1 and not one.begun and groups.count(one.group) == 1]
    counted = [one for one in matches if one not in known]
    # A pair of characters is looked for among identifiers only.
    pair_columns = {"ident": weights.get("ident", 1.0)}
    parts = _Parts(parameters={"total": corpus.chunks, "average": corpus.average_size})
    if among:
        parts.tables.append(_WANTED)
    parts.words = _weighed(corpus, [one for one in known if not one.pair], weights)
    if pairs := _weighed(corpus, [one for one in known if one.pair], pair_columns):
        _add_words(parts, "pair", pairs, pair_columns, among=among)
    for number in {one.group for one in counted}:
        alike = tuple((one.stems, one.begun, one.pair) for one in counted if one.group == number)
        parts.groups[number] = alike, bits_of(weights)
    if counted:
        held = corpus.counted(parts.groups.values()) if among else None
        if held is not None:
            parts.parameters |= {"groups": list(parts.groups), "held": held}
        found = []
        for pair in (False, True):
            some = [one for one in counted if one.pair == pair]
            columns = pair_columns if pair else weights
            for select, parameters in _selects(
                "pair" if pair else "word", some, columns, corpus, _AMONG if held is not None else ""
            ):
                found.append(select)
                parts.parameters |= parameters
        parts.tables += [
            f"hits as materialized ({' union all '.join(found)})",
            _KNOWN if held is not None else _COUNTED_ONCE if len(parts.groups) == len(counted) else _COUNTED,
        ]
        parts.selects.append(_SCORED)
    return parts


def _scored(
    parts: _Parts, weights: Mapping[str, float], *, among: bool = False, pruning: bool = False
) -> tuple[str, dict[str, Any]]:
    rare, frequent = apart(parts.words) if pruning else ([], [])
    if frequent:
        _add_words(parts, "word", rare, weights)
        tables, parameters = _pruned(parts.selects, frequent, weights)
        return f"with {', '.join([*parts.tables, tables])}", {**parts.parameters, **parameters}
    if parts.words:
        _add_words(parts, "word", parts.words, weights, among=among)
    together = " union all ".join(parts.selects)
    scored = f"scored as (select space, chunk, sum(score) as score from ({together}) as part group by space, chunk)"
    return f"with {', '.join([*parts.tables, scored])}", parts.parameters


def _add_words(
    parts: _Parts, name: str, words: Sequence[Weighed], columns: Mapping[str, float], *, among: bool = False
) -> None:
    parts.parameters[f"{name}s"] = [word.stem for word in words]
    parts.parameters[f"{name}_weights"] = [word.weight for word in words]
    asked = f"unnest(:{name}s::text[], :{name}_weights::float8[]) as asked (term, weight)"
    weighed = f"cross join lateral (select {_frequency(columns)} as f) as weighed"
    postings = f"join postings on postings.term = asked.term and {of('postings')} and {_is_held(columns)}"
    if among:
        # Looked up chunk by chunk: the server would read all of a frequent word, as it does not know which word it is.
        postings = f"""
            cross join wanted
            cross join lateral (
                select * from postings where postings.space = wanted.space and postings.term = asked.term
                    and postings.chunk = wanted.chunk and {_is_held(columns)} offset 0
            ) as postings
        """
    score = _contribution("asked.weight", "f", "postings.size")
    parts.selects.append(f"select postings.space, postings.chunk, {score} as score from {asked} {postings} {weighed}")


def _weighed(corpus: Statistics, words: Sequence[_Match], columns: Mapping[str, float]) -> list[Weighed]:
    by_columns = corpus.by_columns([one.stems[0] for one in words])
    bits = bits_of(columns)
    found: dict[str, Weighed] = {}
    for one in words:
        stem = one.stems[0]
        if held := sum(count for columns_, count in by_columns[stem].items() if columns_ & bits):
            before = found[stem].weight if stem in found else 0.0
            idf = max(log((corpus.chunks - held + 0.5) / (held + 0.5)), 1e-6) if held < corpus.chunks else 1e-6
            found[stem] = Weighed(stem, held, before + one.weight * idf)
    return list(found.values())


# The words of a part of a store: nothing that is counted depends on the words or memories of the rest.
#
# BM25 alone is that of the whole store, and with it the order of hits: its index counts words for all of them together.

_OWNED = """
    join chunks on chunks.space = postings.space and chunks.id = postings.chunk
    join memories on memories.space = chunks.space and memories.key = chunks.memory
"""


class _PartStatistics:
    # Counted from the postings of the chunks of a part.

    def __init__(self, session: Session, within: Filters, whole: Statistics) -> None:
        self._session = session
        self._within = within
        self._whole = whole
        self._where, self._parameters = condition(POSTGRES, within)

    @cached_property
    def chunks(self) -> int:
        joined = "chunks join memories on memories.space = chunks.space and memories.key = chunks.memory"
        return int(self._session.value(f"select count(*) from {joined} where {self._where}", **self._parameters))

    words = staticmethod(stems)

    def frequencies(self, words: Iterable[str], /, *, searched: bool = False) -> Mapping[str, int]:
        asked = {keyed(word): word for word in words}
        # A word that nothing in the store holds need not be looked for.
        held = self._whole.frequencies(asked.values())
        found = dict(
            self._session.rows(
                f"""
                select postings.term, count(*) from postings {_OWNED}
                where {of("postings")} and postings.term = any(:terms) and {self._where}
                group by postings.term
                """,
                **self._parameters,
                terms=[term for term, word in asked.items() if held[word]],
            )
        )
        return {word: found.get(term, 0) for term, word in asked.items()}

    def beginning(self, letters: str, /) -> Sequence[str]:
        return self._held(self._whole.beginning(letters))

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        return self._held(self._whole.ending(letters))

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        terms = list(dict.fromkeys(map(keyed, stems(word))))
        in_columns = " or ".join(f"in_{column} > 0" for column in COLUMNS if bits_of([column]) & bits_of(columns))
        found = self._session.rows(
            f"""
            select distinct postings.term from postings {_OWNED}
            where {of("postings")} and postings.term = any(:terms) and ({in_columns or "false"}) and {self._where}
            """,
            **self._parameters,
            terms=terms,
        )
        return len(found) == len(terms)

    def chunk_count(self, stem: str, columns: Collection[str], /) -> int:
        # In whichever column: it decides between spellings, and the part is not counted by columns.
        return self.frequencies([stem])[stem]

    def holds_phrase(self, phrase: str, columns: Collection[str], /) -> bool:
        weights = dict.fromkeys(columns, 1.0)
        return bool(_search(self._session, self._whole, Terms(phrases=(phrase,)), weights, self._within, 1))

    def _held(self, words: Sequence[str]) -> Sequence[str]:
        found = self.frequencies(words) if words else {}
        return [word for word in words if found[word]]


class KeywordIndex:
    """The postings, with the counts that earlier searches read; `storage.base.KeywordIndex` says what each does."""

    def __init__(self) -> None:
        self._cache = StatisticsCache()

    def version(self, session: Session, /) -> str:
        return str(session.totals.changes)

    def corpus(self, session: Session, within: Filters, /) -> Statistics | _PartStatistics:
        whole = Statistics(session, self._cache)
        return _PartStatistics(session, within, whole) if within else whole

    def search(
        self, session: Session, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        return _search(session, Statistics(session, self._cache), terms, weights, filters, count)

    def scores(
        self, session: Session, terms: Terms, weights: Mapping[str, float], keys: Sequence[int], /
    ) -> dict[int, float]:
        corpus = Statistics(session, self._cache)
        parts = _parts(corpus, _selective(corpus, terms, weights), weights, among=True)
        if not parts.selects and not parts.words:
            return {}
        scored, parameters = _scored(parts, weights, among=True)
        return dict(
            session.rows(
                f"""
                {scored} select wanted.memory, max(scored.score) / {_UNIT!r}
                from scored join wanted on wanted.space = scored.space and wanted.chunk = scored.chunk
                group by wanted.memory having max(scored.score) > 0
                """,
                **parameters,
                memories=list(keys),
            )
        )

    def highlights(
        self, session: Session, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str], /
    ) -> dict[int, list[tuple[int, int]]]:
        if not texts or "text" not in weights:
            return {}
        return highlights(texts, begun(terms, Statistics(session, self._cache).first_with))

    put = staticmethod(postings.put_in)
    rebuild = finish = staticmethod(postings.rebuild)

    def remove(self, session: Session, chunks: Sequence[int], /) -> bool:
        postings.take_out(session, chunks)
        return True

"""The keyword index: FTS5's BM25 in SQL, with a profile's columns and weights.

How rare a whole word is was read before, from its frequencies; that of a phrase, or of a word in several forms, is
counted while it is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import condition
from jupyter_memory.storage.postgres.indexes import hits, pruning
from jupyter_memory.storage.postgres.indexes.bm25 import UNIT, contribution, frequency, idf, is_held
from jupyter_memory.storage.postgres.indexes.matches import Match, begun, matches_of, without_common
from jupyter_memory.storage.postgres.indexes.pruning import Weighed
from jupyter_memory.storage.postgres.indexes.statistics import Group, Statistics, bits_of
from jupyter_memory.storage.postgres.indexes.words import keyed
from jupyter_memory.storage.shared.top_k import Row, cut, is_settled
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types import Filters, ScoredChunk, Terms


@dataclass(slots=True)
class _Parts:
    """What a statement is made of: selects of what terms count, the tables before them, and the words to look up.

    ``groups`` are those whose matches it counts, by their numbers: what was counted to score all chunks is not counted
    again to score some.
    """

    selects: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    words: list[Weighed] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    groups: dict[int, Group] = field(default_factory=dict)


def search(
    session: Session, corpus: Statistics, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int
) -> list[ScoredChunk]:
    """Return the best ``count`` memories by BM25, higher is better, each by its best chunk.

    ``weights`` maps columns to BM25 weights; a column that is not in it is not searched.
    """
    parts = _parts(corpus, _selective(corpus, terms, weights), weights)
    if not parts.selects and not parts.words:
        return []
    scored, parameters = _scored(parts, weights) if filters else _best(parts, weights)
    counts = "(select json_object_agg(of_group, held) from counted)" if parts.groups else "null"
    where, of_filters = condition(filters)
    best = "select * from scored order by score desc limit %(asked)s"
    joined = """
        join chunks on chunks.space = found.space and chunks.id = found.chunk
        join memories on memories.space = chunks.space and memories.key = chunks.memory
    """
    row = f"memories.key, found.chunk, found.score / {UNIT!r}, memories.event_at, memories.content_hash, {counts}"
    sql = (
        f"{scored} select {row} from scored as found {joined} where {where} order by score desc limit %(asked)s"
        if filters
        else f"{scored} select {row} from ({best}) as found {joined} order by score desc"
    )
    asked = 2 * count + 16
    while True:
        found = session.rows(sql, {**parameters, **of_filters, "asked": asked})
        rows = [Row(*one[:-1]) for one in found]
        if found and parts.groups:
            counted = found[0][-1] or {}
            corpus.keep_counted({group: counted.get(str(number), 0) for number, group in parts.groups.items()})
        if is_settled(rows, asked, count):
            return cut(rows, count)
        asked *= 4


def scores_of(
    session: Session, corpus: Statistics, terms: Terms, weights: Mapping[str, float], memories: Sequence[int]
) -> dict[int, float]:
    """Return what ``search`` would give each of these memories if it gave all that fit; not those without any term."""
    parts = _parts(corpus, _selective(corpus, terms, weights), weights, among=True)
    if not parts.selects and not parts.words:
        return {}
    scored, parameters = _scored(parts, weights, among=True)
    return dict(
        session.rows(
            f"""
            {scored} select wanted.memory, max(scored.score) / {UNIT!r}
            from scored join wanted on wanted.space = scored.space and wanted.chunk = scored.chunk
            group by wanted.memory having max(scored.score) > 0
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


def _parts(corpus: Statistics, terms: Terms, weights: Mapping[str, float], *, among: bool = False) -> _Parts:
    """Return the parts of a statement about the terms; ``among`` says that only chunks of ``wanted`` are scored."""
    matches = matches_of(terms)
    groups = [one.group for one in matches]
    known = [one for one in matches if one.is_word and groups.count(one.group) == 1]
    counted = [one for one in matches if one not in known]
    # A pair of characters is looked for among identifiers only.
    pair_columns = {"ident": weights.get("ident", 1.0)}
    parts = _Parts(parameters={"total": corpus.chunks, "average": corpus.average_size})
    if among:
        parts.tables.append(hits.WANTED)
    parts.words = _weighed(corpus, [one for one in known if not one.pair], weights)
    if pairs := _weighed(corpus, [one for one in known if one.pair], pair_columns):
        _add_words(parts, "pair", pairs, pair_columns, among=among)
    parts.groups = {number: _group(counted, number, weights) for number in {one.group for one in counted}}
    if counted:
        held = corpus.counted(parts.groups.values()) if among else None
        if held is not None:
            parts.parameters |= {"groups": list(parts.groups), "held": held}
        found = []
        for pair in (False, True):
            some = [one for one in counted if one.pair == pair]
            columns = pair_columns if pair else weights
            for select, parameters in hits.selects(
                "pair" if pair else "word", some, columns, corpus, hits.AMONG if held is not None else ""
            ):
                found.append(select)
                parts.parameters |= parameters
        parts.tables += [
            f"hits as materialized ({' union all '.join(found)})",
            hits.KNOWN
            if held is not None
            else hits.COUNTED_ONCE
            if len(parts.groups) == len(counted)
            else hits.COUNTED,
        ]
        parts.selects.append(hits.SCORED)
    return parts


def _best(parts: _Parts, weights: Mapping[str, float]) -> tuple[str, dict[str, Any]]:
    """Return the beginning of a statement that names at least the best chunks, with their scores, ``scored``."""
    rare, frequent = pruning.apart(parts.words)
    if not frequent:
        return _scored(parts, weights)
    _add_words(parts, "word", rare, weights)
    tables, parameters = pruning.pruned(parts.selects, frequent, weights)
    return f"with {', '.join([*parts.tables, tables])}", {**parts.parameters, **parameters}


def _scored(parts: _Parts, weights: Mapping[str, float], *, among: bool = False) -> tuple[str, dict[str, Any]]:
    """Return the beginning of a statement that names every chunk that matches, with its score in units, ``scored``."""
    if parts.words:
        _add_words(parts, "word", parts.words, weights, among=among)
    together = " union all ".join(parts.selects)
    scored = f"scored as (select space, chunk, sum(score) as score from ({together}) as part group by space, chunk)"
    return f"with {', '.join([*parts.tables, scored])}", parts.parameters


def _add_words(
    parts: _Parts, name: str, words: Sequence[Weighed], columns: Mapping[str, float], *, among: bool = False
) -> None:
    """Add what words count whose rarity is known."""
    parts.parameters[f"{name}s"] = [word.stem for word in words]
    parts.parameters[f"{name}_weights"] = [word.weight for word in words]
    asked = f"unnest(%({name}s)s::text[], %({name}_weights)s::float8[]) as asked (term, weight)"
    weighed = f"cross join lateral (select {frequency(columns)} as f) as weighed"
    postings = f"join postings on postings.term = asked.term and {of('postings')} and {is_held(columns)}"
    if among:
        # Looked up chunk by chunk: the server would read all of a frequent word, as it does not know which word it is.
        postings = f"""
            cross join wanted
            cross join lateral (
                select * from postings where postings.space = wanted.space and postings.term = asked.term
                    and postings.chunk = wanted.chunk and {is_held(columns)} offset 0
            ) as postings
        """
    score = contribution("asked.weight", "f", "postings.size")
    parts.selects.append(f"select postings.space, postings.chunk, {score} as score from {asked} {postings} {weighed}")


def _group(matches: Sequence[Match], number: int, weights: Mapping[str, float]) -> Group:
    """Return what the number of chunks with any match of a group depends on, within one state of the store."""
    alike = tuple((one.stems, one.begun, one.pair) for one in matches if one.group == number)
    return alike, bits_of(weights)


def _weighed(corpus: Statistics, words: Sequence[Match], columns: Mapping[str, float]) -> list[Weighed]:
    """Return the words that any chunk holds in these columns with what a match counts; equal words count together."""
    by_columns = corpus.by_columns([one.stems[0] for one in words])
    bits = bits_of(columns)
    found: dict[str, Weighed] = {}
    for one in words:
        stem = one.stems[0]
        if held := sum(count for columns_, count in by_columns[stem].items() if columns_ & bits):
            before = found[stem].weight if stem in found else 0.0
            found[stem] = Weighed(stem, held, before + one.weight * idf(held, corpus.chunks))
    return list(found.values())

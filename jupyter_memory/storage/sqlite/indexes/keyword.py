"""The keyword index: BM25 over FTS5, with a profile's columns and weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import apsw
import numpy as np

from jupyter_memory.storage.shared.top_k import Row, cut, is_settled
from jupyter_memory.storage.sqlite.filters import condition
from jupyter_memory.storage.sqlite.indexes.keyword_query import (
    begun,
    expression,
    in_plain_characters,
    listed,
    occurrences,
    stems,
    tokens,
    without_common,
)
from jupyter_memory.storage.sqlite.indexes.top_k import ChunkOwners, Keys, ScoredChunks, best_memories
from jupyter_memory.storage.sqlite.indexes.word_scores import Match, ScoreSums, WordScoreCache, WordScores
from jupyter_memory.types import Filters, ScoredChunk, Terms

# The weight of a match of another spelling, where a match of the word itself has 1.
_RESPELLED = 0.5
# That of a match of a compound with the word, or of one of its parts.
_COMPOUND = 0.8


def search(
    connection: apsw.Connection,
    terms: Terms,
    weights: Mapping[str, float],
    filters: Filters,
    count: int,
    cache: WordScoreCache | None = None,
) -> list[ScoredChunk]:
    """Return the best ``count`` memories by BM25 (negated, so that higher is better), each by its best chunk.

    ``weights`` maps columns to BM25 weights; a column that is not in it is not searched. ``cache`` makes searches of an
    unchanged index faster, and changes nothing else.
    """
    terms = begun(connection, terms)
    known = cache.of(connection) if cache is not None and not filters else None
    owners = ChunkOwners() if cache is None else cache.owners
    if terms.respelled or terms.forms:
        return _with_filters(
            connection, terms, weights, filters, count, known or WordScoreCache().uncounted(connection), owners
        )
    if known is None:
        return _at_once(connection, without_common(connection, terms, weights), weights, filters, count)
    return best_memories(connection, _summed(connection, terms, weights, known), count, owners)


def _summed(
    connection: apsw.Connection,
    terms: Terms,
    weights: Mapping[str, float],
    known: WordScores,
) -> ScoreSums:
    """Return the sums of the scores of the terms, word by word; the sums for the last terms are cached."""

    def frequency(word: str) -> int:
        return known.frequency(word, weights)

    def added_up() -> ScoreSums:
        selective = without_common(connection, terms, weights, frequency)
        return known.add_up(list(_matches(connection, selective, weights)), weights)

    return known.once((terms, tuple(weights.items())), added_up)


def _at_once(
    connection: apsw.Connection, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int
) -> list[ScoredChunk]:
    """Return the best memories with all terms looked up by one statement."""
    if expression(terms, weights) is None:
        return []
    where, parameters = condition(filters)
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
        rows = [Row(*row) for row in connection.execute(sql, {**parameters, "asked": asked})]
        if is_settled(rows, asked, count):
            return cut(rows, count)
        asked *= 4


def _with_filters(
    connection: apsw.Connection,
    terms: Terms,
    weights: Mapping[str, float],
    filters: Filters,
    count: int,
    words: WordScores,
    owners: ChunkOwners,
) -> list[ScoredChunk]:
    """Return the best memories where some words have other forms or spellings."""
    scored = _with_others(connection, terms, weights, words)
    chunks, scores = scored.chunks, scored.scores
    if filters:
        where, parameters = condition(filters)
        fitting = connection.execute(
            f"select chunks.id from chunks join memories on memories.key = chunks.memory where {where}", parameters
        )
        fits = np.isin(chunks, np.fromiter((chunk for (chunk,) in fitting), np.int64))
        chunks, scores = chunks[fits], scores[fits]
    return best_memories(connection, ScoredChunks(chunks, scores), count, owners)


def _with_others(
    connection: apsw.Connection, terms: Terms, weights: Mapping[str, float], words: WordScores
) -> ScoredChunks:
    """Return all chunks that match, in order: the forms of a word are one; other spellings and compounds count less."""
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


def _matches(connection: apsw.Connection, terms: Terms, weights: Mapping[str, float]) -> Iterator[Match]:
    """Yield the terms one by one, in the order in which ``expression`` names them."""
    for words in (*terms.phrases, *terms.words):
        yield Match.of_words(connection, words, weights)
    if terms.prefix:
        yield Match.of_prefix(connection, terms.prefix, weights)
    for pair in terms.ident:
        yield Match.of_pair(pair, weights)


def scores_of(
    connection: apsw.Connection,
    terms: Terms,
    weights: Mapping[str, float],
    memories: Sequence[int],
    cache: WordScoreCache | None = None,
) -> dict[int, float]:
    """Return what ``search`` would give each of these memories if it gave all that fit; not those without any term.

    Filters do not matter. ``cache`` makes it faster, and changes nothing else.
    """
    terms = begun(connection, terms)
    known = None if cache is None else cache.seen(connection)
    if terms.respelled or terms.forms:
        among = _with_others(connection, terms, weights, known or WordScoreCache().uncounted(connection)).among
    elif known is None:
        return _among(connection, without_common(connection, terms, weights), weights, memories)
    else:
        among = _summed(connection, terms, weights, known).among
    return _by_memory(connection, among, memories)


def _among(
    connection: apsw.Connection, terms: Terms, weights: Mapping[str, float], memories: Sequence[int]
) -> dict[int, float]:
    """Return the BM25 of those of these memories that hold a term, with all terms looked up by one statement."""
    match = expression(terms, weights)
    if match is None:
        return {}
    # FTS5's own function works only where its rows are not grouped yet.
    rows = connection.execute(
        f"""
        with fitting as materialized (
            select rowid as chunk, -bm25(keyword, {listed(weights)}) as score from keyword
            where keyword match :match
                and +rowid in (select id from chunks where memory in (select value from json_each(:memories)))
        )
        select chunks.memory, max(fitting.score) from fitting join chunks on chunks.id = fitting.chunk
        group by chunks.memory
        """,
        {"match": match, "memories": json.dumps(list(memories))},
    )
    return {memory: float(score) for memory, score in rows if score > 0}


def _by_memory(
    connection: apsw.Connection, among: Callable[[Keys], ScoredChunks], memories: Sequence[int]
) -> dict[int, float]:
    """Return the best score of each of these memories that has any; ``among`` gives the scored ones of some chunks."""
    owners: dict[int, int] = dict(
        connection.execute(
            "select id, memory from chunks where memory in (select value from json_each(?))",
            (json.dumps(list(memories)),),
        )
    )
    scored = among(np.fromiter(owners, np.int64, len(owners)))
    best: dict[int, float] = {}
    for chunk, value in zip(scored.chunks.tolist(), scored.scores.tolist(), strict=True):
        memory = owners[chunk]
        best[memory] = max(value, best.get(memory, value))
    return best


def highlights(
    connection: apsw.Connection, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str]
) -> dict[int, list[tuple[int, int]]]:
    """Return where the terms occur in the texts of chunks that the keyword retriever found, in code points, by chunk.

    They are those of FTS5's ``highlight()``, which would look every term up in the index anew for each chunk, and words
    that are found by the column ``ident`` since they are written with ligatures.
    """
    if "text" not in weights or not texts:
        return {}
    terms = begun(connection, terms)
    inflected = (form for one in terms.forms for form in one.inflected)
    phrases = [stems(connection, term) for term in (*terms.phrases, *terms.words, *inflected)]
    first = stems(connection, terms.prefix)[-1:] if terms.prefix else []
    marked = {}
    for chunk, text in texts.items():
        of_text = in_plain_characters(connection, text, tokens(connection, text))
        begins = {stem for _, _, stem in of_text if first and stem.startswith(first[0])} | {
            *terms.respelled,
            *terms.compounded,
        }
        marked[chunk] = occurrences(text, of_text, [*phrases, *([stem] for stem in begins)])
    return marked

"""One search over one store: a snapshot, the ranking's pipeline, and hits that show their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import nan
from time import perf_counter
from uuid import uuid4

import apsw
import numpy as np

from jupyter_memory import embedding
from jupyter_memory.around import Around
from jupyter_memory.errors import EmbedderError, UnknownMemory
from jupyter_memory.ingest.prefix import headings_above
from jupyter_memory.pooled import Pooled
from jupyter_memory.protocols import Embedder, Leg, Vectors
from jupyter_memory.ranking.clues import strengths
from jupyter_memory.ranking.counterfactual import ranks_without
from jupyter_memory.ranking.explain import Missed, why_folded, why_here, why_not
from jupyter_memory.ranking.facets import facets, in_order
from jupyter_memory.ranking.likeness import as_question
from jupyter_memory.ranking.pool import Passage, Pool
from jupyter_memory.ranking.profiles import Profile
from jupyter_memory.ranking.search import Placed, Result, search, weigh
from jupyter_memory.ranking.snippets import snippet, with_literal
from jupyter_memory.ranking.strength import verdict
from jupyter_memory.settling import settled
from jupyter_memory.storage import keyword, passages, rows, sampling
from jupyter_memory.storage.beside import Beside
from jupyter_memory.storage.scores import Scores
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.statistics import KeptCounts
from jupyter_memory.storage.vectors import Model, VectorIndex
from jupyter_memory.traces import Trace
from jupyter_memory.tracing import Runs, traced
from jupyter_memory.types import Answer, Candidate, Explanation, Filters, Found, Hit, Query

_UNANSWERED = "Nothing here seems to answer this; what comes nearest is shown."


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the vector leg needs: a query's vector, the model it belongs to, and the cosine that counts as noise."""

    vector: Vectors
    model: Model
    threshold: float | None


@dataclass(frozen=True, slots=True)
class _Run:
    """A pipeline that has run, in the snapshot that it ran in; ``meaning`` is None where only words were searched."""

    connection: apsw.Connection
    query: Query
    result: Result
    meaning: Meaning | None
    notices: tuple[str, ...]


class Searcher:
    """The read side of a store; ``question`` gives the vector of a query."""

    def __init__(
        self,
        database: Database,
        vectors: VectorIndex,
        question: Callable[[Embedder, str], Vectors] = embedding.question,
    ) -> None:
        self.database = database
        self.vectors = vectors
        self._question = question
        self._scores = Scores()
        self._beside = Beside(database)
        self._counts = KeptCounts()
        self._around = Around()
        self.runs = Runs()

    def answer(
        self,
        query: Query,
        profile: Profile,
        embedder: Embedder | None,
        threshold: float | None,
        notices: Sequence[str] = (),
    ) -> Answer:
        """Return the hits for a query."""
        begun = perf_counter()
        with self._run(query, profile, embedder, threshold) as run:
            return self._answered(run, profile, notices, begun)

    def trace(
        self,
        query: Query,
        profile: Profile,
        embedder: Embedder | None,
        threshold: float | None,
        notices: Sequence[str] = (),
    ) -> Trace:
        """Return the hits for a query with every list that the search made."""
        begun = perf_counter()
        with self._run(query, profile, embedder, threshold) as run:
            return traced(self._answered(run, profile, notices, begun), run.result, profile)

    def related(
        self,
        base: Query,
        memory_id: str,
        profile: Profile,
        embedder: Embedder | None,
        threshold: float | None,
        notices: Sequence[str] = (),
    ) -> Answer:
        """Return what is like a memory, by its telling words and its own vector; ``base`` has limit and filters.

        Raises:
            UnknownMemory: no memory has this id.
        """
        begun = perf_counter()
        with self.database.read() as connection:
            key = rows.known_key(connection, memory_id)
            memory = rows.load(connection, [key])[key]
            query = as_question(memory, base, self._counts.of(connection))
            vector = None if embedder is None else self._vector_of(connection, key, embedder)
            meaning = self._meaning(connection, vector, profile, embedder, threshold)
            run = self._ranked(connection, query, profile, meaning, but=key)
            # How well a question of its own making is answered says nothing.
            return self._answered(run, profile, notices, begun, judged=False)

    def _vector_of(self, connection: apsw.Connection, key: int, embedder: Embedder) -> Vectors | None:
        """Return the mean direction of a memory's chunks, None where they have no vectors."""
        model = self.vectors.known(connection, embedder.fingerprint)
        if model is None:
            return None
        found = sampling.vectors(connection, model.id, model.dimensions, rows.chunks_of(connection, [key]))
        mean = found.sum(axis=0, dtype=np.float32)
        length = float(np.linalg.norm(mean))
        return mean / np.float32(length) if length > 0 else None

    def _answered(
        self, run: _Run, profile: Profile, notices: Sequence[str], begun: float, *, judged: bool = True
    ) -> Answer:
        ranked = perf_counter()
        query, result = run.query, run.result
        shown = result.scored[: result.limit]
        strong = strengths(query, result.pool, shown) if judged and _is_judged(profile) else None
        hits = self._hits(run.connection, query, profile, shown, strong)
        strength = nan if strong is None else max(strong, default=0.0)
        unanswered = (_UNANSWERED,) if hits and strong is not None and verdict(strength) == "none" else ()
        timings = {
            **result.timings,
            "snippets": (perf_counter() - ranked) * 1000,
            "total": (perf_counter() - begun) * 1000,
        }
        answer = Answer(
            query=query,
            hits=tuple(hits),
            profile=profile.name,
            terms=tuple(term.name for term in profile.terms),
            judges=tuple(signal.name for signal in profile.signals),
            counts={
                "keyword": len(result.found["keyword"]),
                "vector": len(result.found["vector"]),
                "fused": len(result.scored),
            },
            timings=timings,
            notices=(*notices, *run.notices, *unanswered),
            query_id=uuid4().hex,
            store=str(self.database.path),
            strength=strength,
            verdict=None if strong is None else verdict(strength),
            facets=facets(one.candidate.memory for one in result.scored),
        )
        self.runs.keep(answer.query_id, result.gathered, profile)
        return answer

    def pooled(
        self,
        query: Query,
        profile: Profile,
        embedder: Embedder | None,
        threshold: float | None,
        notices: Sequence[str] = (),
    ) -> Pooled:
        """Return the answer to a query with the whole pool that it was chosen from."""
        begun = perf_counter()
        with self._run(query, profile, embedder, threshold) as run:
            answer, result = self._answered(run, profile, notices, begun), run.result
            # Which of two copies is folded away depends on the weights: both are kept.
            everyone = weigh(result.gathered, profile.replace(steps=())).scored
            strong = strengths(run.query, result.pool, everyone) if _is_judged(profile) else None
            hits = self._hits(run.connection, run.query, profile, everyone, strong)
            keys = [one.candidate.key for one in everyone]
            return Pooled(answer, profile, result.gathered, dict(zip(keys, hits, strict=True)))

    def close(self) -> None:
        """Let go of the thread that looks beside, and of the searches that were kept."""
        self._beside.close()
        self.runs = Runs()

    def browse(self, filters: Filters, query: Query) -> Answer:
        """Return memories without a question: core, note, mcp, file, newest first within each."""
        begun = perf_counter()
        with self.database.read() as connection:
            memories = rows.browse(connection, filters, query.limit)
            counted = {facet: in_order(found) for facet, found in rows.counts(connection, filters).items()}
            prefixes = rows.first_contexts(connection, [one.id for one in memories if one.kind == "cell"])
        hits = [
            Hit(
                rank=rank,
                memory=memory,
                snippet=snippet(memory.text[:1000], ())[0],  # it may be a book
                highlights=(),
                location=memory.location,
                score=nan,
                strength=nan,
                kw_rank=None,
                sem_rank=None,
                bm25=nan,
                cosine=nan,
                signals={},
                context=headings_above(prefixes.get(memory.id, ""), memory.title, memory.kind),
            )
            for rank, memory in enumerate(memories, start=1)
        ]
        elapsed = {"total": (perf_counter() - begun) * 1000}
        return Answer(
            query=query,
            hits=tuple(hits),
            profile="browse",
            terms=(),
            judges=(),
            counts={"keyword": 0, "vector": 0, "fused": len(hits)},
            timings=elapsed,
            notices=(),
            query_id=uuid4().hex,
            store=str(self.database.path),
            facets=counted,
        )

    def explain(
        self,
        query: Query,
        memory_id: str,
        profile: Profile,
        embedder: Embedder | None,
        threshold: float | None,
    ) -> Explanation:
        """Say why a memory is where it is for a query, or why it is not there.

        Raises:
            UnknownMemory: no memory has this id.
        """
        with self._run(query, profile, embedder, threshold) as run:
            connection, query, result = run.connection, run.query, run.result
            key = rows.key_of(connection, memory_id)
            if key is None:
                raise UnknownMemory(memory_id)
            memory = rows.load(connection, [key])[key]
            place = next((one for one in result.scored if one.candidate.key == key), None)
            if place is not None:
                hit = self._hits(connection, query, profile, [place])[0]
                without = ranks_without(result.gathered, profile, [key])[key]
                reasons = why_here(hit, len(result.scored), query.limit, profile.name, without)
                return Explanation(memory, query.text, profile.name, hit.rank, hit, reasons, without)
            if key in result.copies:
                best = next(one for one in result.scored if one.candidate.key == result.copies[key])
                why = why_folded(best.candidate.memory, best.rank)
            else:
                missed = self._missed(connection, query, profile, run.meaning, key)
                why = why_not(memory, missed, query.filters, profile)
            return Explanation(memory, query.text, profile.name, None, None, why)

    @contextmanager
    def _run(
        self, query: Query, profile: Profile, embedder: Embedder | None, threshold: float | None
    ) -> Iterator[_Run]:
        """Run the pipeline in a snapshot that stays open for what follows."""
        begun = perf_counter()
        vector: Vectors | None = None
        trouble: tuple[str, ...] = ()
        if embedder is not None:
            # Before the snapshot: a model that is loaded for the first time must not hold it open.
            try:
                vector = self._question(embedder, query.text)
            except EmbedderError as error:
                trouble = (str(error),)
        embedded = (perf_counter() - begun) * 1000
        with self.database.read() as connection:
            meaning = self._meaning(connection, vector, profile, embedder, threshold)
            run = self._ranked(connection, query, profile, meaning)
            timed = replace(run.result, timings={"embed": embedded, **run.result.timings})
            yield replace(run, result=timed, notices=(*trouble, *run.notices))

    def _ranked(
        self,
        connection: apsw.Connection,
        query: Query,
        profile: Profile,
        meaning: Meaning | None,
        but: int | None = None,
    ) -> _Run:
        """Run the pipeline, as if the memory of the key ``but`` were not there."""
        query, said = settled(connection, query, profile)
        legs = self._legs(connection, query, profile, meaning, but)
        result = search(query, profile, legs, lambda found: self._pool(connection, query, found, meaning))
        return _Run(connection, query, result, meaning, (*_unsearched(query, meaning), *said, *result.notices))

    def _meaning(
        self,
        connection: apsw.Connection,
        vector: Vectors | None,
        profile: Profile,
        embedder: Embedder | None,
        threshold: float | None,
    ) -> Meaning | None:
        if vector is None or embedder is None:
            return None
        # Should another program have switched the model a moment ago, the old vectors are still complete.
        model = self.vectors.known(connection, embedder.fingerprint)
        if model is None:
            return None
        floor = (embedder.threshold if threshold is None else threshold) if profile.threshold else None
        return Meaning(vector, model, floor)

    def _legs(
        self,
        connection: apsw.Connection,
        query: Query,
        profile: Profile,
        meaning: Meaning | None,
        but: int | None = None,
    ) -> dict[str, Leg]:
        def by_words(query: Query, count: int, /) -> Sequence[Found]:
            return keyword.search(
                connection, query.terms, profile.columns, query.filters, count, self._scores, self._beside
            )

        legs: dict[str, Leg] = {"keyword": by_words}
        if meaning is not None:
            wanted, everywhere = profile.fetches(query.limit) + (but is not None), query.filters

            def nearest(
                connection: apsw.Connection, count: int = wanted, filters: Filters = everywhere
            ) -> Sequence[Found]:
                # Of the time that a query names everything may be meant: "what did we do yesterday".
                floor = meaning.threshold if filters == everywhere else None
                return self.vectors.search(connection, meaning.model, meaning.vector, filters, count, floor)

            # Begun here, so that both legs look at the same time.
            large = self.vectors.is_large(connection, meaning.model)
            begun = self._beside.begin(connection, nearest) if large else None

            def by_meaning(query: Query, count: int, /) -> Sequence[Found]:
                if begun is not None and (count, query.filters) == (wanted, everywhere):
                    return begun()
                return nearest(connection, count, query.filters)

            legs["vector"] = by_meaning
        return legs if but is None else {name: _all_but(but, leg) for name, leg in legs.items()}

    def _pool(
        self,
        connection: apsw.Connection,
        query: Query,
        found: Mapping[str, Sequence[Found]],
        meaning: Meaning | None,
    ) -> Pool:
        # The keyword leg's chunk speaks for a memory where both found one: its snippet shows the words.
        chunks = {one.memory: one.chunk for leg in ("vector", "keyword") for one in found[leg]}
        cosines = {one.memory: one.score for one in found["vector"]}
        if meaning is not None:
            others = [key for key in chunks if key not in cosines]
            judged = self.vectors.cosines(connection, meaning.model, meaning.vector, others)
            cosines |= {key: cosine for key, (cosine, _) in judged.items()}
        memories = rows.load(connection, list(chunks))
        return Pool(
            [Candidate(key, memories[key], chunk, cosines.get(key)) for key, chunk in chunks.items()],
            load=lambda wanted: {
                chunk: Passage(*parts) for chunk, parts in passages.passages(connection, wanted).items()
            },
            texts=lambda keys: passages.texts(connection, keys),
            corpus=self._counts.of(connection),
            surroundings=lambda: self._around.of(
                connection,
                query.text,
                found,
                None if meaning is None else meaning.vector,
                None if meaning is None else meaning.model,
            ),
        )

    def _hits(
        self,
        connection: apsw.Connection,
        query: Query,
        profile: Profile,
        scored: Sequence[Placed],
        strong: Sequence[float] | None = None,
    ) -> list[Hit]:
        stretches = rows.chunk_spans(connection, [one.candidate.chunk for one in scored])
        by_words = [one.candidate.chunk for one in scored if "keyword" in one.found]
        spans = keyword.highlights(connection, query.terms, profile.columns, by_words)
        hits = []
        for one, strength in zip(scored, [nan] * len(scored) if strong is None else strong, strict=True):
            memory, chunk = one.candidate.memory, one.candidate.chunk
            start, stop, line, prefix = stretches[chunk]
            text = memory.text[start:stop]
            marked = with_literal(text, spans.get(chunk, ()), query.terms.ident if chunk in by_words else ())
            shown, marks = snippet(text, marked)
            keyworded = one.found.get("keyword")
            hits.append(
                Hit(
                    rank=one.rank,
                    memory=memory,
                    snippet=shown,
                    highlights=marks,
                    location=memory.location or ("" if line is None else str(line)),
                    score=one.score,
                    strength=strength,
                    kw_rank=one.ranks.get("keyword"),
                    sem_rank=one.ranks.get("vector"),
                    bm25=nan if keyworded is None else keyworded.score,
                    cosine=nan if one.candidate.cosine is None else one.candidate.cosine,
                    signals=one.evidence,
                    context=headings_above(prefix, memory.title, memory.kind),
                )
            )
        return hits

    def _missed(
        self, connection: apsw.Connection, query: Query, profile: Profile, meaning: Meaning | None, key: int
    ) -> Missed:
        cosine = None
        if meaning is not None:
            cosine, _ = self.vectors.cosines(connection, meaning.model, meaning.vector, [key]).get(key, (None, None))
        return Missed(
            filtered=bool(query.filters) and key not in rows.keys_where(connection, query.filters),
            bm25=keyword.score_of(connection, query.terms, profile.columns, key),
            cosine=cosine,
            threshold=None if meaning is None else meaning.threshold,
            fetched=profile.fetch(query.limit),
        )


def _all_but(key: int, leg: Leg) -> Leg:
    def others(query: Query, count: int, /) -> Sequence[Found]:
        return [one for one in leg(query, count + 1) if one.memory != key][:count]

    return others


def _is_judged(profile: Profile) -> bool:
    """Return whether a profile looks at what strength is reckoned from."""
    return any(signal.name == "soft" for signal in profile.signals)


def _unsearched(query: Query, meaning: Meaning | None) -> Iterator[str]:
    """Say which leg could not look, so that its silence is not taken for an answer."""
    if not query.terms:
        yield "The query has no words to look up, so only meaning was searched."
    if meaning is None:
        yield "Meaning was not searched, only words."

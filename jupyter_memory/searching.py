"""One search over one store: a snapshot, the ranking's pipeline, and hits that show their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import nan
from time import perf_counter
from uuid import uuid4

import apsw
import numpy as np

from jupyter_memory.embedders import checked
from jupyter_memory.errors import EmbedderError
from jupyter_memory.legs import Legs, Meaning
from jupyter_memory.pooled import Pooled
from jupyter_memory.protocols import Embedder, Vectors
from jupyter_memory.search.confidence import strengths
from jupyter_memory.search.counterfactual import ranks_without
from jupyter_memory.search.explanation import Missed, why_folded, why_here, why_not
from jupyter_memory.search.pipeline import Placed, Result, search, weigh
from jupyter_memory.search.presentation.facets import facets, in_order
from jupyter_memory.search.profiles.builtin import Profile
from jupyter_memory.search.query.more_like_this import as_question
from jupyter_memory.search.strength import verdict
from jupyter_memory.settling import settled
from jupyter_memory.shown import hits, unranked
from jupyter_memory.storage import keyword, rows, sampling
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import VectorIndex
from jupyter_memory.tracing import Runs, traced
from jupyter_memory.types import Answer, Explanation, Filters, Hit, Query
from jupyter_memory.types.answer import Trace

_UNANSWERED = "Nothing here seems to answer this; what comes nearest is shown."


@dataclass(frozen=True, slots=True)
class Search:
    """A query and how it is searched: the profile that ranks, and the embedder, None where words alone are searched.

    ``threshold`` is the cosine below which a find of the vector leg is noise, the embedder's where it is None;
    ``notices`` are told with the answer.
    """

    query: Query
    profile: Profile
    embedder: Embedder | None
    threshold: float | None = None
    notices: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Run:
    """A search that has run, in the snapshot that it ran in; ``meaning`` is None where only words were searched.

    ``query`` is the one that was asked as this store understands it.
    """

    connection: apsw.Connection
    profile: Profile
    query: Query
    result: Result
    meaning: Meaning | None
    notices: tuple[str, ...]

    @property
    def judged(self) -> bool:
        """Return whether the profile looks at what strength is reckoned from."""
        return any(signal.name == "soft" for signal in self.profile.signals)

    def hits(self, scored: Sequence[Placed], strong: Sequence[float] | None = None) -> list[Hit]:
        """Return candidates as they are shown."""
        return hits(self.connection, self.query, self.profile, scored, strong)


class Searcher:
    """The read side of a store; ``question`` gives the vector of a query."""

    def __init__(
        self,
        database: Database,
        vectors: VectorIndex,
        question: Callable[[Embedder, str], Vectors] = checked.question,
    ) -> None:
        self.database = database
        self.vectors = vectors
        self._question = question
        self._legs = Legs(database, vectors)
        self.runs = Runs()

    def answer(self, asked: Search) -> Answer:
        """Return the hits for a query."""
        begun = perf_counter()
        with self._run(asked) as run:
            return self._answered(run, begun)

    def trace(self, asked: Search) -> Trace:
        """Return the hits for a query with every list that the search made."""
        begun = perf_counter()
        with self._run(asked) as run:
            return traced(self._answered(run, begun), run.result, run.profile)

    def pooled(self, asked: Search) -> Pooled:
        """Return the answer to a query with the whole pool that it was chosen from."""
        begun = perf_counter()
        with self._run(asked) as run:
            answer, gathered = self._answered(run, begun), run.result.gathered
            # Which of two copies is folded away depends on the weights: both are kept.
            everyone = weigh(gathered, run.profile.replace(steps=())).scored
            strong = strengths(run.query, run.result.pool, everyone) if run.judged else None
            keys = [one.candidate.key for one in everyone]
            return Pooled(answer, run.profile, gathered, dict(zip(keys, run.hits(everyone, strong), strict=True)))

    def related(self, base: Search, memory_id: str) -> Answer:
        """Return what is like a memory, by its telling words and its own vector; of ``base`` limit and filters hold.

        Raises:
            UnknownMemory: no memory has this id.
        """
        begun = perf_counter()
        with self._legs.searching(base.profile), self.database.read() as connection:
            key = rows.known_key(connection, memory_id)
            memory = rows.load(connection, [key])[key]
            query = as_question(memory, base.query, self._legs.counts.of(connection))
            vector = None if base.embedder is None else self._vector_of(connection, key, base.embedder)
            run = self._ranked(connection, replace(base, query=query), vector, but=key)
            # How well a question of its own making is answered says nothing.
            return self._answered(run, begun, judged=False)

    def browse(self, filters: Filters, query: Query) -> Answer:
        """Return memories without a question: core, note, mcp, file, newest first within each."""
        begun = perf_counter()
        with self.database.read() as connection:
            memories = rows.browse(connection, filters, query.limit)
            counted = {facet: in_order(found) for facet, found in rows.counts(connection, filters).items()}
            prefixes = rows.first_contexts(connection, [one.id for one in memories if one.kind == "cell"])
        shown = unranked(memories, prefixes)
        return Answer(
            query=query,
            hits=shown,
            profile="browse",
            terms=(),
            judges=(),
            counts={"keyword": 0, "vector": 0, "fused": len(shown)},
            timings={"total": (perf_counter() - begun) * 1000},
            notices=(),
            query_id=uuid4().hex,
            store=str(self.database.path),
            facets=counted,
        )

    def explain(self, asked: Search, memory_id: str) -> Explanation:
        """Say why a memory is where it is for a query, or why it is not there.

        Raises:
            UnknownMemory: no memory has this id.
        """
        with self._run(asked) as run:
            result, profile, text = run.result, run.profile.name, run.query.text
            key = rows.known_key(run.connection, memory_id)
            memory = rows.load(run.connection, [key])[key]
            place = next((one for one in result.scored if one.candidate.key == key), None)
            if place is not None:
                [hit] = run.hits([place])
                without = ranks_without(result.gathered, run.profile, [key])[key]
                reasons = why_here(hit, len(result.scored), run.query.limit, profile, without)
                return Explanation(memory, text, profile, hit.rank, hit, reasons, without)
            if key in result.copies:
                best = next(one for one in result.scored if one.candidate.key == result.copies[key])
                why = why_folded(best.candidate.memory, best.rank)
            else:
                why = why_not(memory, self._missed(run, key), run.query.filters, run.profile)
            return Explanation(memory, text, profile, None, None, why)

    def close(self) -> None:
        """Let go of the thread that looks beside, and of the searches that were kept."""
        self._legs.close()
        self.runs = Runs()

    @contextmanager
    def _run(self, asked: Search) -> Iterator[_Run]:
        """Run the pipeline in a snapshot that stays open for what follows."""
        begun = perf_counter()
        vector: Vectors | None = None
        trouble: tuple[str, ...] = ()
        if asked.embedder is not None:
            # Before the snapshot: a model that is loaded for the first time must not hold it open.
            try:
                vector = self._question(asked.embedder, asked.query.text)
            except EmbedderError as error:
                trouble = (str(error),)
        embedded = (perf_counter() - begun) * 1000
        asked = replace(asked, notices=(*asked.notices, *trouble))
        with self._legs.searching(asked.profile), self.database.read() as connection:
            run = self._ranked(connection, asked, vector)
            timed = replace(run.result, timings={"embed": embedded, **run.result.timings})
            yield replace(run, result=timed)

    def _ranked(
        self, connection: apsw.Connection, asked: Search, vector: Vectors | None, but: int | None = None
    ) -> _Run:
        """Run the pipeline, as if the memory of the key ``but`` were not there."""
        legs, profile = self._legs, asked.profile
        meaning = legs.meaning(connection, vector, profile, asked.embedder, asked.threshold)
        query, said = settled(connection, asked.query, profile, legs.counts.of(connection))
        brought = legs.of(connection, query, profile, meaning, but)
        columns = profile.columns
        result = search(query, profile, brought, lambda found: legs.pool(connection, query, columns, found, meaning))
        notices = (*asked.notices, *_unsearched(query, meaning), *said, *result.notices)
        return _Run(connection, profile, query, result, meaning, notices)

    def _answered(self, run: _Run, begun: float, *, judged: bool = True) -> Answer:
        ranked = perf_counter()
        profile, result = run.profile, run.result
        shown = result.scored[: result.limit]
        strong = strengths(run.query, result.pool, shown) if judged and run.judged else None
        known = perf_counter()
        found = run.hits(shown, strong)
        strength = nan if strong is None else max(strong, default=0.0)
        unanswered = (_UNANSWERED,) if found and strong is not None and verdict(strength) == "none" else ()
        timings = {
            **result.timings,
            "strength": (known - ranked) * 1000,
            "snippets": (perf_counter() - known) * 1000,
            "total": (perf_counter() - begun) * 1000,
        }
        answer = Answer(
            query=run.query,
            hits=tuple(found),
            profile=profile.name,
            terms=tuple(term.name for term in profile.terms),
            judges=tuple(one.name for one in profile.signals if not getattr(one, "completes", "")),
            counts={
                "keyword": len(result.found["keyword"]),
                "vector": len(result.found["vector"]),
                "fused": len(result.scored),
            },
            timings=timings,
            notices=(*run.notices, *unanswered),
            query_id=uuid4().hex,
            store=str(self.database.path),
            strength=strength,
            verdict=None if strong is None else verdict(strength),
            facets=facets(one.candidate.memory for one in result.scored),
        )
        self.runs.keep(answer.query_id, result.gathered, profile)
        return answer

    def _vector_of(self, connection: apsw.Connection, key: int, embedder: Embedder) -> Vectors | None:
        """Return the mean direction of a memory's chunks, None where they have no vectors."""
        model = self.vectors.known(connection, embedder.fingerprint)
        if model is None:
            return None
        chunks = rows.chunks_of(connection, [key])
        _, _, found = sampling.owned_vectors(connection, model.id, model.dimensions, chunks)
        mean = found.sum(axis=0, dtype=np.float32)
        length = float(np.linalg.norm(mean))
        return mean / np.float32(length) if length > 0 else None

    def _missed(self, run: _Run, key: int) -> Missed:
        connection, query, meaning = run.connection, run.query, run.meaning
        return Missed(
            filtered=bool(query.filters) and key not in rows.keys_where(connection, query.filters),
            bm25=keyword.scores_of(connection, query.terms, run.profile.columns, [key]).get(key),
            cosine=None if meaning is None else self._legs.cosines(connection, meaning, [key]).get(key),
            threshold=None if meaning is None else meaning.threshold,
            fetched=run.profile.fetch(query.limit),
        )


def _unsearched(query: Query, meaning: Meaning | None) -> Iterator[str]:
    """Say which leg could not look, so that its silence is not taken for an answer."""
    if not query.terms:
        yield "The query has no words to look up, so only meaning was searched."
    if meaning is None:
        yield "Meaning was not searched, only words."

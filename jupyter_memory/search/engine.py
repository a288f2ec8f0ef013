"""How a query is answered, traced and explained."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import nan
from operator import attrgetter
from time import perf_counter
from uuid import uuid4

from jupyter_memory.config import JupyterMemory
from jupyter_memory.embedders import base as checked
from jupyter_memory.errors import EmbedderError, InputError, StoreError
from jupyter_memory.search.confidence import strengths, verdict
from jupyter_memory.search.context import Samples, Scale, VectorQuery
from jupyter_memory.search.explanation import explained, judged_by, labels, ranks_without, traced, why_not
from jupyter_memory.search.fusion import weights_of, with_weights
from jupyter_memory.search.pipeline import Result, Scored, fuse, search
from jupyter_memory.search.presentation import doubts, facets, hits, in_order, unranked
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.search.query.temporal import notice_of
from jupyter_memory.search.related import Subject, as_question, of_memory, only_alike
from jupyter_memory.storage.base import QueryVector
from jupyter_memory.storage.databases import SearchStorage, Storage
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.storage.sql import Cache
from jupyter_memory.types import Answer, Explanation, Filters, Hit, Memory, Query, Trace
from jupyter_memory.types.protocols import Embedder, Term, Vectors

# Searches that can still be asked about as they were, each a pool of some hundred memories.
_KEPT = 8
# What may differ between two profiles that weigh the same evidence.
_WEIGHED = ("name", "summary", "terms", "keyword_only")


@dataclass(frozen=True, slots=True)
class Pooled:
    """An answer and what it was weighed from; ``everyone`` holds a hit for each candidate, by the store's key."""

    answer: Answer
    profile: Profile
    scored: Scored
    everyone: Mapping[int, Hit]

    @property
    def terms(self) -> tuple[Term, ...]:
        return self.profile.terms_for(self.scored.hybrid)

    def speaks(self, term: Term) -> bool:
        """Return whether a term has anything to say of any candidate, whatever its weight."""
        [whole] = with_weights([term], dict.fromkeys(weights_of([term]), 1.0))
        adds = whole.contributions(self.scored.rankings[term.reads or term.name])
        return any(value for value in adds.values())

    def ranks(self, profile: Profile) -> dict[str, int]:
        """Return the rank of every candidate that is left by a profile with other weights, by the memory's id."""
        return {one.candidate.memory.id: one.rank for one in self._weighed(profile).ranked}

    def weighed(self, profile: Profile) -> Answer:
        """Return the answer that a new search by a profile with other weights would give."""
        begun = perf_counter()
        result = self._weighed(profile)
        shown = result.ranked[: result.limit]
        everyone = [self.everyone[one.candidate.key] for one in shown]
        judged = self.answer.verdict is not None
        strong = list(accumulate(map(attrgetter("strength"), everyone), min))
        hits = [
            replace(hit, rank=one.rank, score=one.score, signals=one.evidence, strength=sure)
            for one, hit, sure in zip(shown, everyone, strong, strict=True)
        ]
        strength = (strong[0] if strong else 0.0) if judged else nan
        return replace(
            self.answer,
            hits=tuple(hits),
            profile=profile.name,
            terms=tuple(term.name for term in profile.terms),
            counts={**self.answer.counts, "fused": len(result.ranked)},
            timings={"rank": (elapsed := (perf_counter() - begun) * 1000), "total": elapsed},
            query_id=uuid4().hex,
            strength=strength,
            verdict=verdict(strength) if judged else None,
        )

    def _weighed(self, profile: Profile) -> Result:
        ours = self.profile.replace(**{name: getattr(profile, name) for name in _WEIGHED})
        if ours != profile:
            raise InputError(
                f"{profile.name} differs from {self.profile.name} in more than its weights, so it has to search by "
                "itself: store.search(…, profile=…)."
            )
        return fuse(self.scored, profile)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query and how it is searched: the profile that ranks, and the embedder, None where words alone are searched.

    ``threshold`` is the cosine below which a match of the vector retriever is noise, the embedder's where it is None;
    ``notices`` come with the answer; ``scales`` measure meaning where stores are searched together, by their models.
    """

    query: Query
    profile: Profile
    embedder: Embedder | None
    threshold: float | None = None
    notices: tuple[str, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Search:
    """A search within its snapshot; words alone: no ``vector_query``, and with no model ``embedder`` is empty too."""

    snapshot: Snapshot
    profile: Profile
    result: Result
    vector_query: VectorQuery | None
    embedder: str
    notices: tuple[str, ...]
    removals: int


class SearchEngine:
    """Answers the searches of one store; ``query_vector`` gives the vector of a query."""

    def __init__(
        self, storage: SearchStorage, query_vector: Callable[[Embedder, str], Vectors] = checked.question
    ) -> None:
        self.storage = storage
        self._recent: Cache[str, tuple[Scored, Profile]] = Cache(_KEPT)  # only of what nobody forgot since
        self._query_vector = query_vector
        self._samples = Samples()

    def answer(self, request: SearchRequest) -> Answer:
        begun = perf_counter()
        with self._search(request) as done:
            return self._answer(done, begun)

    def scale(self, request: SearchRequest) -> Scale | None:
        """Return the scale of meaning for a query in this store; None where no model takes part."""
        request, vector = _embedded(request, request.query.text, self._query_vector)
        if request.embedder is None or vector is None:
            return None
        with self.storage.snapshot() as snapshot:
            if (model := snapshot.model(request.embedder.fingerprint)) is None:
                return None
            sample, measured = self._samples.sample(snapshot, model), snapshot.calibration(model)
            if (background := sample.background(vector)) is None:
                return None
            chunks = snapshot.corpus.chunks
        return Scale(model.fingerprint, chunks, 1.0 if measured is None else measured.value, background)

    def trace(self, request: SearchRequest) -> Trace:
        begun = perf_counter()
        with self._search(request) as done:
            return traced(self._answer(done, begun), done.result, done.profile)

    def pooled(self, request: SearchRequest) -> Pooled:
        """Return the answer to a query with all candidates, so that other weights need no other search."""
        begun = perf_counter()
        with self._search(request) as done:
            answer, scored = self._answer(done, begun), done.result.scored
            # Which of two duplicates is left out depends on the weights: both are kept.
            everyone = fuse(scored, done.profile.replace(steps=())).ranked
            strong = strengths(scored.context, everyone) if done.profile.is_judged else None
            shown = hits(done.snapshot, scored.context.query, done.profile, everyone, strong)
            by_key = {one.candidate.key: hit for one, hit in zip(everyone, shown, strict=True)}
            return Pooled(answer, done.profile, scored, by_key)

    def related(self, base: SearchRequest, memory_id: str) -> Answer:
        """Return what is like a memory, by its telling words and its own vector; of ``base`` limit and filters hold."""
        begun = perf_counter()
        with self._search(base, lambda snapshot: of_memory(snapshot, memory_id, base.query, base.embedder)) as done:
            # How well a question of its own making is answered says nothing.
            return self._answer(done, begun, with_strength=False)

    def related_to(self, base: SearchRequest, text: str) -> Answer:
        """Return what is likely about the same as a text that is stored nowhere; often that is nothing."""
        # The text is not a query that comes again, so its vector is not kept.
        base, vector = _embedded(base, text, checked.document)
        begun = perf_counter()
        with self._search(base, lambda it: (as_question("", text, base.query, it.corpus), vector, None)) as done:
            return self._answer(replace(done, result=only_alike(done.result)), begun, with_strength=False)

    def browse(self, filters: Filters, query: Query) -> Answer:
        """Return memories without a question: core, note, mcp, file, history, newest first within each.

        Of a query that names a time, those of a file stand together, and the newest comes first.
        """
        begun, notices = perf_counter(), list[str]()
        with self.storage.snapshot() as snapshot:
            memories = snapshot.browse(filters, query.limit, by_source=query.temporal is not None)
            counted = _facets(snapshot, filters)
        if query.temporal is not None:
            notices.append(notice_of(query.temporal, empty=not memories))
            if len(memories) < (total := sum(counted["kind"].values())):
                notices.append(f"{total:,} memories are from then; these are the first {len(memories):,}.")
        timings = {"total": (perf_counter() - begun) * 1000}
        return replace(self.listed(memories, query), facets=counted, timings=timings, notices=tuple(notices))

    def facets(self, filters: Filters) -> dict[str, Mapping[str, int]]:
        """Return how many memories that a filter lets through have each kind, language, tier and tag."""
        with self.storage.snapshot() as snapshot:
            return _facets(snapshot, filters)

    def listed(self, memories: Sequence[Memory], query: Query) -> Answer:
        """Return memories that nothing ranked as an answer, in their order."""
        with self.storage.snapshot() as snapshot:
            contexts = snapshot.first_contexts([one.id for one in memories if one.kind == "cell"])
        shown = unranked(memories, contexts, query.now)
        return Answer(
            query=query,
            hits=shown,
            profile="browse",
            terms=(),
            judges=(),
            counts={"keyword": 0, "vector": 0, "fused": len(shown)},
            timings={"total": 0.0},
            notices=(),
            query_id=uuid4().hex,
            store=str(self.storage.path),
        )

    def explain(self, request: SearchRequest, memory_id: str) -> Explanation:
        """Return why a memory ranks where it does for a query, or why it is not in the answer."""
        with self._search(request) as done:
            result, profile, query = done.result, done.profile.name, done.result.scored.context.query
            key, memory = done.snapshot.key_of(memory_id), done.snapshot.memory(memory_id)
            place = next((one for one in result.ranked if one.candidate.key == key), None)
            if place is not None:
                [hit] = hits(done.snapshot, query, done.profile, [place])
                without = ranks_without(result.scored, done.profile, [key])[key]
                named = labels(done.profile) | judged_by(result.scored, done.profile, key)
                return explained(hit, query, len(result.ranked), profile, named, without)
            if key in result.duplicates:
                best = next(one for one in result.ranked if one.candidate.key == result.duplicates[key])
                other = best.candidate.memory
                where = f"{other.id} {other.placed(other.source)}".strip()
                said = f"It is a duplicate of “{other.title}” ({where}) at rank {best.rank}; only that one is shown."
                return Explanation(memory, query.text, profile, None, None, (said,))
            why = why_not(memory, key, done.profile, result.scored, done.snapshot)
            return Explanation(memory, query.text, profile, None, None, why)

    def told(self, query_id: str, memory_id: str) -> tuple[dict[str, int], dict[str, str]]:
        """Return the ranks of a hit without each term, and what its signals judged it by; empty if no longer kept."""
        if (kept := self._kept(query_id)) is not None:
            scored, profile = kept
            for key in (one.key for one in scored.context if one.memory.id == memory_id):
                return ranks_without(scored, profile, [key])[key], judged_by(scored, profile, key)
        return {}, {}

    def asked(self, query_id: str) -> Query | None:
        """Return the query of one of the last answers, with its filters; None if it is no longer kept."""
        kept = self._kept(query_id)
        return None if kept is None else kept[0].context.query

    def close(self) -> None:
        """Let go of the searches that were kept."""
        self._recent = Cache(_KEPT)

    def _kept(self, query_id: str) -> tuple[Scored, Profile] | None:
        kept = self._recent.get(str(self.storage.removals), query_id)
        if kept is None:
            return None
        # With a memory goes what was asked for it, whichever process forgot it.
        candidates = {one.key: one.memory.id for one in kept[0].context}
        with self.storage.snapshot() as snapshot:
            left = snapshot.keys(Filters(), [*candidates.values()])
        return kept if candidates.keys() <= set(left) else None

    @contextmanager
    def _search(self, request: SearchRequest, subject: Callable[[Snapshot], Subject] | None = None) -> Iterator[Search]:
        removals, timings, vector, exclude = self.storage.removals, dict[str, float](), None, None
        if subject is None:
            begun = perf_counter()
            # Before the snapshot: a model that is loaded for the first time must not hold it open.
            request, vector = _embedded(request, request.query.text, self._query_vector)
            timings["embed"] = (perf_counter() - begun) * 1000
        with self.storage.snapshot() as snapshot:
            if subject is not None:
                query, vector, exclude = subject(snapshot)
                request = replace(request, query=query)
            asked, embedder = None, request.embedder
            if embedder is not None and vector is not None:
                # If another program switched the model a moment ago, the old vectors are still complete.
                model = snapshot.model(embedder.fingerprint)
                # The number of a profile comes before the user's, and that before the embedder's.
                own = request.profile.threshold
                wanted = request.threshold if isinstance(own, bool) else own
                threshold = None if own is False else embedder.threshold if wanted is None else wanted
                if model is not None:
                    scale = request.scales.get(model.fingerprint)
                    asked = VectorQuery(vector, model, threshold, wanted is not None, scale)
            result = search(
                request.query, request.profile, snapshot, self._samples, asked, exclude, asked=subject is None
            )
            # A retriever that could not look says so, and its silence is not taken for an answer.
            terms = result.scored.context.query.terms
            said = [] if terms else ["The query has no words to look up, so the search used meaning only."]
            if asked is None:
                unread = embedder is not None and not checked.reads(embedder, request.query.text)
                why = "The model knows no word of this question, so the search" if unread else "The search"
                said.append(f"{why} used words only, not meaning.")
            name = "" if embedder is None else embedder.name
            result = replace(result, timings={**timings, **result.timings})
            notices = (*request.notices, *said, *result.notices)
            yield Search(snapshot, request.profile, result, asked, name, notices, removals)

    def _answer(self, done: Search, begun: float, *, with_strength: bool = True) -> Answer:
        ranked = perf_counter()
        profile, result, context = done.profile, done.result, done.result.scored.context
        shown = result.ranked[: result.limit]
        judged = with_strength and profile.is_judged
        # A hit is no surer than those that rank above it.
        strong = list(accumulate(strengths(context, shown), min)) if judged else None
        known, fused = perf_counter(), len(result.ranked)
        found = hits(done.snapshot, context.query, profile, shown, strong)
        strength = nan if strong is None else next(iter(strong), 0.0)
        doubtful = () if strong is None else doubts(context, done.embedder, strength, len(found))
        timings = {
            **result.timings,
            "strength": (known - ranked) * 1000,
            "snippets": (perf_counter() - known) * 1000,
            "total": (perf_counter() - begun) * 1000,
        }
        answer = Answer(
            query=context.query,
            hits=tuple(found),
            profile=profile.name,
            terms=tuple([term.name for term in profile.terms]),
            judges=tuple([one.name for one in profile.signals if not hasattr(one, "completes")]),
            counts={**{name: len(one) for name, one in context.retrieved.items()}, "fused": fused},
            timings=timings,
            notices=(*done.notices, *doubtful),
            query_id=uuid4().hex,
            store=str(self.storage.path),
            embedder="" if done.vector_query is None else done.vector_query.model.fingerprint,
            strength=strength,
            verdict=None if strong is None else verdict(strength),
            facets=facets(result.ranked),
        )
        if done.removals == self.storage.removals:  # not forgotten before it was answered
            self._recent.put(str(done.removals), answer.query_id, (result.scored, profile))
        return answer


def _embedded(
    request: SearchRequest, text: str, embed: Callable[[Embedder, str], Vectors]
) -> tuple[SearchRequest, Vectors | None]:
    # Where the model fails, none, with a notice in the request.
    if request.embedder is None or not checked.reads(request.embedder, text):
        return request, None
    try:
        return request, embed(request.embedder, text)
    except EmbedderError as error:
        return replace(request, notices=(*request.notices, str(error))), None


def _facets(snapshot: Snapshot, filters: Filters) -> dict[str, Mapping[str, int]]:
    return {facet: in_order(found) for facet, found in snapshot.facet_counts(filters).items()}


# Vectors that wait to be written: more only while the store is busy, and then the oldest are dropped.
_WAITING = 32


class QueryVectors:
    """The query vectors of one store; safe to share between threads."""

    def __init__(self, storage: Storage, settings: JupyterMemory) -> None:
        self._storage = storage
        self._settings = settings
        self._waiting: deque[QueryVector] = deque(maxlen=_WAITING)

    def vector(self, embedder: Embedder, text: str) -> Vectors:
        """Return float32 ``(dimensions,)``; writes nothing."""
        # An embedder that says so is quicker than looking it up.
        if not self._settings.cache_queries or getattr(embedder, "quick", False):
            return checked.question(embedder, text)
        with self._storage.snapshot() as snapshot:
            kept = snapshot.query_vector(embedder.fingerprint, text)
        vector, ageing = (checked.question(embedder, text), True) if kept is None else kept
        if ageing:
            self._waiting.append(QueryVector(embedder.fingerprint, text, vector))
        return vector

    def flush(self) -> None:
        """Write what was computed, once its answer is made; what a busy or full store does not take is left out.

        If the setting is off, the stored vectors are removed instead.
        """
        if self._settings.cache_queries and not self._waiting:
            return
        if not self._storage.writes_at_once:
            self._waiting.clear()
        elif not self._settings.cache_queries:
            self._waiting.clear()

            with self._storage.snapshot() as snapshot:
                stored = snapshot.has_query_vectors()
            if stored:
                with suppress(StoreError):
                    self._storage.writer.clear_query_vectors()
        else:
            waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
            try:
                self._storage.writer.keep_query_vectors(waiting)
            except StoreError:
                self._waiting.extendleft(reversed(waiting))

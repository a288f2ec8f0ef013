"""Hand-made retrievers and memories, ranked by the real pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from jupyter_memory.search import Profile, parse
from jupyter_memory.search.context import CandidatePool, SearchContext
from jupyter_memory.search.pipeline import Clock, Result, fuse, guard, score
from jupyter_memory.search.retrieval import retrieve
from jupyter_memory.storage import Passage
from jupyter_memory.text import definitions
from jupyter_memory.types import Candidate, Memory, ScoredChunk

# Friday evening of the week in tests/conftest.py.
NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


def make_memory(key: int = 1, **changes: Any) -> Memory:
    """Return a note written this very moment, with other values where given; its hash grows with its key."""
    values: dict[str, Any] = {
        "id": f"{key:016x}",
        "text": "λ of the electricity prices in Zürich",
        "title": "",
        "kind": "note",
        "tier": "note",
        "pinned": False,
        "space": "",
        "source": "",
        "location": "",
        "lang": "",
        "tags": (),
        "severity": None,
        "domain": None,
        "event_at": NOW,
        "indexed_at": NOW,
        "valid_from": None,
        "valid_until": None,
        "session": None,
        "content_hash": f"{key:032x}",
        "metadata": {},
    }
    return Memory(**{**values, **changes})


def make_retriever(scores: Mapping[int, float]) -> Callable[..., list[ScoredChunk]]:
    """Return a retriever that finds these memories, the best first."""

    def retriever(_query: object, count: int, /) -> list[ScoredChunk]:
        best = sorted(scores.items(), key=lambda item: -item[1])
        return [ScoredChunk(key, key, score) for key, score in best[:count]]

    return retriever


class HandMade(SearchContext):
    """A context without a store: the texts are those of the candidates, and its corpus is the candidates themselves."""

    def __init__(self, query, candidates, retrieved, scores, **read):
        self._by_key = {one.key: one.memory for one in candidates}
        super().__init__(query, CandidatePool(candidates, self), retrieved, None, None, {}, None)
        self.__dict__ |= {"keyword_scores": scores, **read}

    @property
    def corpus(self):
        return Words([str(passage) for passage in self.passages(self._by_key).values()])

    def passages(self, chunks):
        of = self._by_key
        return {one: Passage(of[one].title, "", of[one].text, " ".join(of[one].tags)) for one in chunks}

    def texts(self, keys):
        return {key: self._by_key[key].text for key in keys}

    def definitions(self, keys):
        found = {key: (one := self._by_key[key]) and definitions(one.kind, one.lang, one.text) for key in keys}
        return {key: one for key, one in found.items() if one is not None}


def make_context(
    memories: Sequence[Memory],
    cosines: Mapping[int, float] | None = None,
    words: Mapping[int, float] | None = None,
    *,
    query: Any = None,
    retrieved: Any = None,
    **read: Any,
) -> SearchContext:
    """Return the context of a search that found these memories by the keys in their ids, each of one chunk.

    ``read`` is what it would read from a store, such as ``hubness``.
    """
    candidates = [
        Candidate(int(one.id, 16), one, int(one.id, 16), (cosines or {}).get(int(one.id, 16))) for one in memories
    ]
    asked = parse("prices", now=NOW) if query is None else query
    return HandMade(asked, candidates, retrieved or {"keyword": (), "vector": ()}, words or {}, **read)


@dataclass(frozen=True)
class Words:
    """A corpus of a few texts, its words split at blanks."""

    texts: list[str]

    @property
    def chunks(self) -> int:
        return len(self.texts)

    def words(self, text: str, /) -> list[str]:
        return text.lower().split()

    def frequencies(self, words: Iterable[str], /) -> dict[str, int]:
        return {word: sum(word in self.words(text) for text in self.texts) for word in words}


def run(
    profile: Profile,
    found: Mapping[str, Mapping[int, float]],
    *memories: Memory,
    text: str = "prices",
    limit: int = 10,
    backwards: bool = False,
) -> Result:
    """Rank what the retrievers find, their scores by key; ``memories`` have the keys in their ids."""
    known = {int(memory.id, 16): memory for memory in memories}
    query = parse(text, now=NOW, limit=limit)

    clock, names = Clock(), sorted(found, reverse=backwards)
    retrievers = {name: make_retriever(found[name]) for name in names}
    retrieved, guarded = guard([retrieve(query, profile.fetches(limit), retrievers, clock.lap)], query, profile)
    keys = sorted({one.memory for ones in retrieved.values() for one in ones}, reverse=backwards)
    words = {one.memory: one.score for one in retrieved["keyword"]}
    of_keys = [known.get(key) or make_memory(key) for key in keys]
    context = make_context(of_keys, words=words, query=query, retrieved=retrieved)
    clock.lap("pool")
    return fuse(score(context, profile, clock, hybrid="vector" in found, guarded=guarded), profile)


@pytest.fixture(scope="session")
def memory() -> Callable[..., Memory]:
    """``memory(key, title=…)`` makes a memory."""
    return make_memory


@pytest.fixture(scope="session")
def context() -> Callable[..., SearchContext]:
    """``context([memory(1), …], cosines={1: 0.4})`` is the context of a search that found them."""
    return make_context


@pytest.fixture(scope="session")
def rank() -> Callable[..., Result]:
    """``rank(profile, {"keyword": {1: 2.5}, "vector": {2: 0.8}}, memory(1), …)`` ranks by the real pipeline."""
    return run

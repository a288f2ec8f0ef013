"""Hand-made legs and memories, ranked by the real pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from jupyter_memory.search.pipeline import Result, search
from jupyter_memory.search.pool import Passage, Pool
from jupyter_memory.search.profiles.builtin import Profile
from jupyter_memory.search.query.parser import parse
from jupyter_memory.types import Candidate, Found, Memory

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


def make_leg(scores: Mapping[int, float]) -> Callable[..., list[Found]]:
    """Return a leg that brings these memories, the best first."""

    def leg(_query: object, count: int, /) -> list[Found]:
        best = sorted(scores.items(), key=lambda item: -item[1])
        return [Found(key, key, score) for key, score in best[:count]]

    return leg


def make_pool(
    memories: Sequence[Memory], cosines: Mapping[int, float] | None = None, words: Mapping[int, float] | None = None
) -> Pool:
    """Return a pool of memories by the keys in their ids, each of one chunk; its corpus is the pool itself."""
    candidates = [
        Candidate(int(one.id, 16), one, int(one.id, 16), (cosines or {}).get(int(one.id, 16))) for one in memories
    ]
    by_key = {one.key: one.memory for one in candidates}
    passages = {key: Passage(one.title, "", one.text, " ".join(one.tags)) for key, one in by_key.items()}
    return Pool(
        candidates,
        load=lambda chunks: {chunk: passages[chunk] for chunk in chunks},
        texts=lambda keys: {key: by_key[key].text for key in keys},
        corpus=Words([str(passage) for passage in passages.values()]),
        words=lambda: words or {},
    )


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
    legs: Mapping[str, Mapping[int, float]],
    *memories: Memory,
    text: str = "prices",
    limit: int = 10,
    backwards: bool = False,
) -> Result:
    """Rank what the legs bring, their scores by key; ``memories`` have the keys in their ids."""
    known = {int(memory.id, 16): memory for memory in memories}

    def load(found: Mapping[str, Any], /) -> Pool:
        keys = sorted({one.memory for ones in found.values() for one in ones}, reverse=backwards)
        words = {one.memory: one.score for one in found["keyword"]}
        return make_pool([known.get(key) or make_memory(key) for key in keys], words=words)

    names = sorted(legs, reverse=backwards)
    return search(parse(text, now=NOW, limit=limit), profile, {name: make_leg(legs[name]) for name in names}, load)


@pytest.fixture(scope="session")
def memory() -> Callable[..., Memory]:
    """``memory(key, title=…)`` makes a memory."""
    return make_memory


@pytest.fixture(scope="session")
def pool() -> Callable[..., Pool]:
    """``pool([memory(1), …], cosines={1: 0.4})`` is what the legs brought."""
    return make_pool


@pytest.fixture(scope="session")
def rank() -> Callable[..., Result]:
    """``rank(profile, {"keyword": {1: 2.5}, "vector": {2: 0.8}}, memory(1), …)`` ranks by the real pipeline."""
    return run

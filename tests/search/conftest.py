"""Memories by hand in a store of nothing else: ranked as any others, and judged by single signals."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pytest
from week import NOW

from jupyter_memory import MemoryStore
from jupyter_memory.search import OverFetch, covalence

# Finds everything, so that a signal judges every memory.
WIDE = covalence.replace(name="wide", fetch=OverFetch(1, 200), threshold=False)


class Told:
    """A model by which a text that says ``cos=0.8`` has this cosine with every question, any other text 0."""

    name, dimensions, fingerprint, threshold = "told", 2, "told/2", -1.0

    def embed_documents(self, texts: Sequence[str], /) -> np.ndarray:
        said = [re.findall(r"cos=(-?[\d.]+\d)", text) for text in texts]
        cosines = np.array([float(one[-1]) if one else 0.0 for one in said])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)

    def embed_query(self, _text: str, /) -> np.ndarray:
        return np.array([1, 0], np.float32)


@dataclass(frozen=True)
class Heard:
    """A signal that hands what a search tells it to a test, and has no opinion of its own."""

    ask: Callable[..., None]
    name: str = "heard"

    def __call__(self, query: Any, context: Any, /) -> dict[int, float]:
        self.ask(query, context)
        return {}


@pytest.fixture
def filled_with(store: Callable[..., MemoryStore]) -> Callable[..., MemoryStore]:
    """``filled_with({"tier": "core"}, {})`` is a store of two memories, each a note of this moment but for that."""
    numbers = count()

    def fill(*records: dict[str, Any], embedder: Any = None) -> MemoryStore:
        memories = store(f"{next(numbers)}.sqlite", embedder=Told() if embedder is None else embedder or None)
        usual = {"text": "λ of the electricity prices in Zürich", "event_at": NOW}
        memories.add_many(
            [{**usual, "source": f"{number}.md", **one} for number, one in enumerate(records, start=1)], progress=False
        )
        return memories

    return fill


@pytest.fixture
def hear(filled_with: Callable[..., MemoryStore]) -> Callable[..., list[Any]]:
    """``hear(ask, query, {…}, …)`` calls ``ask(query, context)`` in a search over these memories, all of them found.

    It gives what that returns by the candidate's key, in the order of the memories.
    """

    def heard(ask: Callable[..., Any], query: str, *records: dict[str, Any], **asked: Any) -> list[Any]:
        told: list[Any] = []

        def listen(of: Any, context: Any) -> None:
            values, keys = ask(of, context), sorted(one.key for one in context)
            told.extend(values.get(key) for key in keys)

        memories = filled_with(*records, embedder=asked.pop("embedder", None))
        memories.hits(query, profile=WIDE.with_signal(Heard(listen), 0.0), **{"now": NOW, **asked})
        assert len(told) == len(records)
        return told

    return heard


@pytest.fixture
def judged(hear: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """``judged(Recency(), "prices", {…}, …)`` is what a signal says of these memories, None where it says nothing."""
    return hear


@pytest.fixture
def reasons(hear: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """``reasons(Defines(), "Meter", {…}, …)`` is by what a signal judged each of these memories."""

    def tell(signal: Any, query: str, *records: dict[str, Any], **asked: Any) -> list[Any]:
        def ask(of: Any, context: Any) -> dict[int, str]:
            signal(of, context)
            return {one.key: signal.reason(of, context, one) for one in context}

        return hear(ask, query, *records, **asked)

    return tell

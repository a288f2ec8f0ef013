"""How much the words of the query and of a memory weigh together: the cosine of their TF-IDF vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan
from typing import ClassVar

import numpy as np

from jupyter_memory.search.context import SearchContext
from jupyter_memory.storage.base import Corpus
from jupyter_memory.text.languages import STOP_WORDS
from jupyter_memory.types import Query


@dataclass(frozen=True, slots=True)
class TfIdf:
    """TF-IDF cosine over title, text, context and tags of the chunk that speaks for a memory.

    idf = log((N + 1) / (df + 1)) + 1 over the chunks of the store (seed system `vault`); the query's words that the
    store does not hold have no place in its vocabulary. NaN where the query has no word that it holds.
    """

    label: ClassVar[str] = "the words that it shares with the query"
    description: ClassVar[str] = "The cosine of the TF-IDF vectors of the query and the memory's best chunk."

    name: str = "tfidf"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        corpus = context.corpus
        asked = Counter(corpus.words(" ".join(_telling(query.text))))
        held = {word for word, chunks in corpus.frequencies(asked).items() if chunks}
        if not held:
            return dict.fromkeys((one.key for one in context), nan)
        texts = {key: corpus.words(str(passage)) for key, passage in context.candidates.passages.items()}
        sharing = {key: words for key, words in texts.items() if not held.isdisjoint(words)}
        cosines = _cosines(asked, list(sharing.values()), corpus) if sharing else ()
        return {**dict.fromkeys(texts, 0.0), **dict(zip(sharing, cosines, strict=True))}


def _cosines(asked: Mapping[str, int], texts: Sequence[Sequence[str]], corpus: Corpus) -> list[float]:
    """Return the cosine of the query with each text, of which each holds one of its words."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(chain(asked, *texts)))}
    counts = corpus.frequencies(numbers)
    chunks = np.fromiter((counts[word] for word in numbers), np.float64, len(numbers))
    # A text that is being typed in at this moment may hold words that the index does not have yet.
    idf = np.where(chunks > 0, np.log((corpus.chunks + 1) / (chunks + 1)) + 1, 0.0)
    wanted = np.zeros(len(numbers))
    wanted[: len(asked)] = np.fromiter(asked.values(), np.float64, len(asked)) * idf[: len(asked)]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    words = np.fromiter(map(numbers.__getitem__, chain.from_iterable(texts)), np.int64, int(lengths.sum()))
    # Each word of a text once, with how often it is there.
    places, often = np.unique(np.repeat(np.arange(len(texts)), lengths) * len(numbers) + words, return_counts=True)
    text, word = np.divmod(places, len(numbers))
    weights = often * idf[word]
    shared = np.bincount(text, weights * wanted[word], minlength=len(texts))
    norms = np.sqrt(np.bincount(text, weights * weights, minlength=len(texts)) * (wanted @ wanted))
    cosines: list[float] = (shared / norms).tolist()
    return cosines


def _telling(text: str) -> list[str]:
    words = text.split()
    return [word for word in words if word.lower() not in STOP_WORDS] or words

"""How much the words of the query and of a memory weigh together: the cosine of their TF-IDF vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, nan, sqrt
from typing import cast

from jupyter_memory.ranking.pool import Pool
from jupyter_memory.ranking.stopwords import STOP_WORDS
from jupyter_memory.types import Candidate, Query


@dataclass(frozen=True, slots=True)
class TfIdf:
    """TF-IDF cosine over title, text, context and tags of the chunk that speaks for a memory.

    idf = log((N + 1) / (df + 1)) + 1 over the chunks of the store (seed system `vault`); the query's words that the
    store does not hold have no place in its vocabulary. NaN where the query has no word that it holds.
    """

    name: str = "tfidf"

    def __call__(self, query: Query, pool: Sequence[Candidate], /) -> Mapping[int, float]:
        read = cast(Pool, pool)
        corpus = read.corpus
        asked = Counter(corpus.words(" ".join(_telling(query.text))))
        texts = {key: Counter(corpus.words(str(passage))) for key, passage in read.passages.items()}
        counts = corpus.frequencies({*asked, *(word for words in texts.values() for word in words)})
        # A text that is being typed in at this moment may hold words that the index does not have yet.
        idf = {word: log((corpus.chunks + 1) / (count + 1)) + 1 for word, count in counts.items() if count}
        wanted = {word: number * idf[word] for word, number in asked.items() if word in idf}
        length = _length(wanted.values())
        if not length:
            return {candidate.key: nan for candidate in pool}
        return {key: _cosine(wanted, length, words, idf) for key, words in texts.items()}


def _cosine(wanted: Mapping[str, float], length: float, words: Counter[str], idf: Mapping[str, float]) -> float:
    shared = sum(weight * words[word] * idf[word] for word, weight in wanted.items() if word in words)
    return shared / (length * _length(number * idf.get(word, 0.0) for word, number in words.items())) if shared else 0.0


def _length(values: Iterable[float]) -> float:
    return sqrt(sum(value * value for value in values))


def _telling(text: str) -> list[str]:
    words = text.split()
    return [word for word in words if word.lower() not in STOP_WORDS] or words

"""More like this: a memory, or a text that is stored nowhere, as a query by its telling words and its vector."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log1p

import numpy as np

from jupyter_memory.search.query.parser import query_class, terms
from jupyter_memory.storage.base import Corpus, Snapshot
from jupyter_memory.text.identifiers import bigrams, without_cjk
from jupyter_memory.text.languages import STOP_WORDS
from jupyter_memory.types import Query
from jupyter_memory.types.protocols import Embedder, Vectors

# What stands further down says little about what the memory is about.
_READ = 8_000
_WORDS, _BIGRAMS = 16, 24
# A word of the title is worth so many in the text.
_TITLE = 3
_WORD = re.compile(r"[^\W\d_][^\W_]{2,}")


@dataclass(frozen=True, slots=True)
class Subject:
    """What others are compared with: its telling words as a query, its vector if any, and its key if it is stored."""

    query: Query
    vector: Vectors | None
    key: int | None = None


def of_memory(snapshot: Snapshot, memory_id: str, base: Query, embedder: Embedder | None) -> Subject:
    """Return a memory as a subject, with the vectors that it has; of ``base`` limit and filters hold.

    Raises:
        UnknownMemory: no memory has this id.
    """
    key = snapshot.key_of(memory_id)
    memory = snapshot.memories([key])[key]
    vector = None if embedder is None else _vector_of(snapshot, key, embedder)
    return Subject(_as_question(memory.title, memory.text, base, snapshot.corpus), vector, key)


def of_text(snapshot: Snapshot, text: str, base: Query, vector: Vectors | None) -> Subject:
    """Return a text as a subject; of ``base`` limit and filters hold."""
    return Subject(_as_question("", text, base, snapshot.corpus), vector)


def _as_question(title: str, text: str, base: Query, corpus: Corpus) -> Query:
    """Return the words that tell a titled text from others of the store, as far as others hold them too."""
    weights = _weights(title, text, corpus)
    words = sorted(weights, key=lambda word: (-weights[word], word))[:_WORDS]
    pairs = dict.fromkeys(bigrams(f"{title}\n{text[:_READ]}"))
    # Nobody else has its words: then its title is the question.
    telling = " ".join(words) or (title or text[:200]).replace('"', " ")
    asked = replace(terms(telling), ident=tuple(pairs)[:_BIGRAMS])
    return replace(base, text=telling, terms=asked, query_class=query_class(telling), written=title or text[:60])


def _weights(title: str, text: str, corpus: Corpus) -> Mapping[str, float]:
    """Return tf * idf by word, for the words that occur in other chunks as well."""
    counts: Counter[str] = Counter()
    for part, weight in ((title, _TITLE), (text[:_READ], 1)):
        for word in _WORD.findall(without_cjk(part).lower()):
            counts[word] += weight
    stems = {word: found[0] for word in counts if word not in STOP_WORDS and len(found := corpus.words(word)) == 1}
    frequencies, chunks = corpus.frequencies(stems.values()), corpus.chunks
    return {
        word: counts[word] * log1p((chunks - frequencies[stem] + 0.5) / (frequencies[stem] + 0.5))
        for word, stem in stems.items()
        if frequencies[stem] > 1
    }


def _vector_of(snapshot: Snapshot, key: int, embedder: Embedder) -> Vectors | None:
    """Return the mean direction of a memory's chunks, None where they have no vectors."""
    model = snapshot.model(embedder.fingerprint)
    if model is None:
        return None
    mean = snapshot.vectors(model, snapshot.chunks_of([key])).vectors.sum(axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    return mean / np.float32(length) if length > 0 else None

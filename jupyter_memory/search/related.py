"""Memories like another, and how like they are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from math import exp, log1p

import numpy as np

from jupyter_memory.search.confidence import strengths
from jupyter_memory.search.fusion import Ranked
from jupyter_memory.search.pipeline import Result
from jupyter_memory.search.query.parser import query_class, terms
from jupyter_memory.storage.base import Corpus
from jupyter_memory.storage.snapshot import Snapshot
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


# What others are compared with: its most distinctive words as a query, its vector if any, and its key if stored.
Subject = tuple[Query, Vectors | None, int | None]


def of_memory(snapshot: Snapshot, memory_id: str, base: Query, embedder: Embedder | None) -> Subject:
    """Return a memory as a subject, with the vectors that it has; of ``base`` limit and filters hold."""
    key = snapshot.key_of(memory_id)
    memory = snapshot.memories([key])[key]
    vector = None
    if embedder is not None and (model := snapshot.model(embedder.fingerprint)) is not None:
        mean = snapshot.vectors(model, snapshot.chunks_of([key])).vectors.sum(axis=0, dtype=np.float32)
        length = float(np.linalg.norm(mean))
        vector = mean / np.float32(length) if length > 0 else None
    return as_question(memory.title, memory.text, base, snapshot.corpus), vector, key


def as_question(title: str, text: str, base: Query, corpus: Corpus) -> Query:
    """Return the most distinctive words of a text as a query, with the limit and the filters of ``base``."""
    counts: Counter[str] = Counter()
    for part, weight in ((title, _TITLE), (text[:_READ], 1)):
        for word in _WORD.findall(without_cjk(part).lower()):
            counts[word] += weight
    stems = {word: found[0] for word in counts if word not in STOP_WORDS and len(found := corpus.words(word)) == 1}
    frequencies = corpus.frequencies(stems.values())
    weights = {
        word: counts[word] * log1p((corpus.chunks - frequencies[stem] + 0.5) / (frequencies[stem] + 0.5))
        for word, stem in stems.items()
        if frequencies[stem] > 1
    }
    words = sorted(weights, key=lambda word: (-weights[word], word))[:_WORDS]
    pairs = dict.fromkeys(bigrams(f"{title}\n{text[:_READ]}"))
    # Nobody else has its words: then its title is the question.
    telling = " ".join(words) or (title or text[:200]).replace('"', " ")
    asked = replace(terms(telling), ident=tuple(pairs)[:_BIGRAMS])
    return replace(base, text=telling, terms=asked, query_class=query_class(telling), written=title or text[:60])


# Every text has a most similar one, so a score alone says little. What is shared by a dozen cells, such as the imports,
# leads to a dozen candidates of about one score; what is about the same leads to a few that stand out, and often to
# several of one section. The weights are a logistic regression over the cells of half of the notebooks of a judged set,
# and over texts that have nothing to do with them; `benchmarks/related.py` measures it on the other half.

INTERCEPT = -0.73
SHARE = 4.2
USUAL = -7.7
BESIDE = 1.07

# Those that are likelier than not. Of the cells of the other half that reach it, 7 of 10 are of the same section.
ALIKE_FROM = 0.5
# A candidate that holds less of the text's telling words than this asks for is a coincidence, however it stands out.
_STRENGTH_FROM = 0.35

# A text of which the store knows fewer words, or pairs of characters, is about something else, whatever holds them.
_FEWEST = 3

# How many are judged. Of these, the first are compared with those that follow, which are taken for the usual.
_JUDGED = 20
_FIRST = 10
_USUAL = slice(5, 15)
# One that scores half as much as the best says an eighth as much for its section.
_POWER = 3


def only_alike(result: Result) -> Result:
    """Return a result with only the candidates that are likely about the same as its query, the likeliest first."""
    asked = result.scored.context.query.terms
    if len(asked.words) + len(asked.ident) < _FEWEST:
        return replace(result, ranked=[], duplicates={})
    judged = result.ranked[:_JUDGED]
    # How likely each is about the same, 0 to 1, from shares of the best score: its own, the mean of those that follow
    # the first ones (near 1 where nothing stands out), and those of the other first candidates of its section.
    best = max((one.score for one in judged), default=0.0)
    shares = [max(0.0, one.score) / best if best > 0 else 0.0 for one in judged]
    followers = shares[_USUAL]
    usual = sum(followers) / len(followers) if followers else 0.0
    # The title of a cell names the headings above it.
    sections = [(one.candidate.memory.source, one.candidate.memory.title) for one in judged]
    first = list(zip(sections, shares, strict=True))[:_FIRST]
    likely: list[tuple[float, Ranked]] = []
    for place, (found, section, share) in enumerate(zip(judged, sections, shares, strict=True)):
        beside = sum(other**_POWER for at, (of, other) in enumerate(first) if at != place and of == section)
        logit = INTERCEPT + SHARE * share + USUAL * usual + BESIDE * beside
        likely.append((1 / (1 + exp(-max(-30.0, min(30.0, logit)))), found))
    # Sorting is stable, so of equals the better score stays first.
    likely = sorted((pair for pair in likely if pair[0] >= ALIKE_FROM), key=lambda pair: -pair[0])
    few = [found for _, found in likely]
    # Strengths take longer than all the rest, and few candidates come as far as this.
    believed = zip(few, strengths(result.scored.context, few), strict=True)
    kept = [found for found, strength in believed if strength >= _STRENGTH_FROM]
    ranked = [found._replace(rank=rank) for rank, found in enumerate(kept, start=1)]
    return replace(result, ranked=ranked, duplicates={})

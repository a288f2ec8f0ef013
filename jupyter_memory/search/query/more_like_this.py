"""A memory as a question: the words that tell it from others of its store, as far as others hold them too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from math import log1p

from jupyter_memory.search.query.parser import query_class, terms
from jupyter_memory.storage.base import Corpus
from jupyter_memory.text.words.cjk import bigrams, without_cjk
from jupyter_memory.text.words.stopwords import STOP_WORDS
from jupyter_memory.types import Memory, Query

# What stands further down says little about what the memory is about.
_READ = 8_000
_WORDS, _BIGRAMS = 16, 24
# A word of the title is worth so many in the text.
_TITLE = 3
_WORD = re.compile(r"[^\W\d_][^\W_]{2,}")


def as_question(memory: Memory, base: Query, corpus: Corpus) -> Query:
    """Return a question for what is like a memory, with the filters and the limit of ``base``."""
    weights = _weights(memory, corpus)
    words = sorted(weights, key=lambda word: (-weights[word], word))[:_WORDS]
    pairs = dict.fromkeys(bigrams(f"{memory.title}\n{memory.text[:_READ]}"))
    # Nobody else has its words: then its title is the question.
    text = " ".join(words) or (memory.title or memory.text[:200]).replace('"', " ")
    asked = replace(terms(text), ident=tuple(pairs)[:_BIGRAMS])
    return replace(
        base, text=text, terms=asked, query_class=query_class(text), written=memory.title or memory.text[:60]
    )


def _weights(memory: Memory, corpus: Corpus) -> Mapping[str, float]:
    """Return tf * idf by word, for the words that occur in other chunks as well."""
    counts: Counter[str] = Counter()
    for text, weight in ((memory.title, _TITLE), (memory.text[:_READ], 1)):
        for word in _WORD.findall(without_cjk(text).lower()):
            counts[word] += weight
    stems = {word: found[0] for word in counts if word not in STOP_WORDS and len(found := corpus.words(word)) == 1}
    frequencies, chunks = corpus.frequencies(stems.values()), corpus.chunks
    return {
        word: counts[word] * log1p((chunks - frequencies[stem] + 0.5) / (frequencies[stem] + 0.5))
        for word, stem in stems.items()
        if frequencies[stem] > 1
    }

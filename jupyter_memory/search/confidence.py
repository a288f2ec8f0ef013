"""Gathers what speaks for each hit, for its strength."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan, log1p
from unicodedata import category

from jupyter_memory.search.pipeline import Placed
from jupyter_memory.search.pool import Corpus, Pool
from jupyter_memory.search.strength import Clues
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.types import Query, Terms


def strengths(query: Query, pool: Pool, scored: Sequence[Placed]) -> list[float]:
    """Return the strength of each of these candidates, 0 to 1; their evidence must hold the signal ``soft``."""
    # A model gives punctuation a vector as well, but nobody asked for anything.
    if not any((query.terms.words, query.terms.phrases, query.terms.ident)) and is_wordless(query.text):
        return [0.0] * len(scored)
    pair = pool.surroundings.sample.pair
    passages = pool.passages_of([one.candidate for one in scored])
    coverages = covered(query.terms, pool.corpus, (str(passages[one.candidate.key]) for one in scored))
    found = []
    for one, coverage in zip(scored, coverages, strict=True):
        cosine, soft = one.candidate.cosine, one.sheet.value("soft", one.candidate.key)
        found.append(
            Clues(
                coverage=coverage,
                soft=0.0 if isnan(soft) else soft,
                margin=None if pair is None or cosine is None else pair.margin(cosine),
            ).strength
        )
    return found


def is_wordless(text: str) -> bool:
    """Return whether a text is punctuation and nothing else; a picture says something.

    >>> is_wordless("?!"), is_wordless(""), is_wordless("λ?"), is_wordless("🙂")
    (True, False, False, False)
    """
    return bool(text) and not any(one.isalnum() or not (one.isascii() or category(one)[0] in "PZ") for one in text)


def covered(terms: Terms, corpus: Corpus, texts: Iterable[str]) -> list[float]:
    """Return which share of the words of a query, by their idf, each text holds."""
    # In the order of the query: that of a set differs from process to process, and with it the last digit of a sum.
    asked = dict.fromkeys(corpus.words("\n".join((*terms.phrases, *terms.words, *terms.ident))))
    chunks, counts = corpus.chunks, corpus.frequencies(asked)
    idf = {stem: log1p((chunks - counts[stem] + 0.5) / (counts[stem] + 0.5)) for stem in asked}
    whole = sum(idf.values())
    # The parts of a name such as FileSyncService, and pairs of CJK characters, are words of the index, not of the text.
    spelled = bool(terms.ident) or any(" " in word for word in terms.words)
    shares = []
    for text in texts:
        held = set(corpus.words(f"{text}\n{ident_column(text)}" if spelled else text))
        shares.append(sum(weight for stem, weight in idf.items() if stem in held) / whole if whole else 0.0)
    return shares

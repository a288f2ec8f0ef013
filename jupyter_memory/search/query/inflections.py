"""The other forms of a query's words that a store holds, in the language that the query and the store share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from jupyter_memory.search.query.spelling import CHECKED, as_they_are, is_everyday
from jupyter_memory.storage.base import Corpus, Snapshot
from jupyter_memory.text.languages import LANGUAGES, SHORTEST, Prose, asked_in, forms, halves, is_form, without_elision
from jupyter_memory.types import Query
from jupyter_memory.types.search import WordForms

# A question without function words may be in any language that some of the chunks are in; where many are, its compounds
# are looked for as well, and its fillers left out.
_SOME, _MUCH = 0.02, 0.1
# One function word of another language may be a name; so many are a sentence.
SENTENCE = 2
# A word in a longer one says something from so many letters on, and the longer one has so many more.
_PART, _REST = 5, 4
_BEGINNING = 4
# Compounds that are tried for a word, those that most chunks hold.
_COMPOUNDS = 8
# In a larger store, reading all words takes too long to find those that end alike.
_SMALL = 20_000


def inflected(query: Query, snapshot: Snapshot) -> Query:
    """Return the query with the other forms of its words that the store holds, and without another language's fillers.

    A question in English, or in a store that is all English, is returned as it is.
    """
    corpus, asked = snapshot.corpus, asked_in(query.text)
    if asked.is_english or not query.terms.words:
        return query
    shares = {language: share(corpus, language) for language in ([asked.language] if asked.language else LANGUAGES)}
    if asked.language and (asked.words >= SENTENCE or shares[asked.language] >= _MUCH):
        query = replace(query, language=asked.language)
    least = 0 if asked.language else _SOME
    spoken = [language for language, found in shares.items() if found and found >= least]
    words = tuple(telling_words(query.terms.words, query.language))
    # Words alone may be English, and code has its own compounds: "string" is in "tostring".
    likely = [word for word in words[:CHECKED] if asked.language or not is_everyday(word)]
    compounds = asked.language == "german" or shares.get("german", 0) >= _MUCH
    held = tuple(_all_forms(query, likely, spoken, corpus, compounds=compounds)) if spoken else ()
    if words == query.terms.words and not held:
        return query
    return replace(query, terms=replace(query.terms, words=words, forms=held))


def telling_words(words: Sequence[str], language: Prose | None) -> Sequence[str]:
    """Return the words that are not fillers of a language; all of them where there are no others."""
    if language is None:
        return words
    stop_words = LANGUAGES[language].stop_words
    telling = [word for word in words if stop_words.isdisjoint((word.lower(), without_elision(word.lower())))]
    return telling or words


def share(corpus: Corpus, language: Prose) -> float:
    """Return about which share of a store's chunks is in a language: those that its most frequent words are in.

    The third of them counts, as another language may have one or two.
    """
    found = _counts(LANGUAGES[language].frequent, corpus)
    return sorted(found.values())[-3] / max(1, corpus.chunks)


def _counts(words: Iterable[str], corpus: Corpus) -> dict[str, int]:
    """Return how many chunks hold each of these words; of what the index takes for several words, none."""
    stems = {word: found[0] for word in words if len(found := corpus.words(word)) == 1}
    counted = corpus.frequencies(stems.values())
    return {word: counted[stem] for word, stem in stems.items()}


def _all_forms(
    query: Query, words: Sequence[str], languages: Sequence[Prose], corpus: Corpus, *, compounds: bool
) -> Iterator[WordForms]:
    """Yield the other forms of words that the store holds; identifiers, and what is still typed, have none."""
    fixed = as_they_are(query)
    for word in words:
        found = WordForms(word) if word in fixed else _forms(word, languages, corpus, compounds=compounds)
        if found.inflected or found.compounds or found.parts:
            yield found


def _forms(word: str, languages: Sequence[Prose], corpus: Corpus, *, compounds: bool) -> WordForms:
    """Return what a store holds of a word in these languages."""
    bare = without_elision(word) if "french" in languages else word
    if not bare.isalpha():
        return WordForms(word)
    held = [form for language in languages for form in _held(bare, language, corpus)]
    held = [*([bare] if bare != word else []), *held]
    found = WordForms(word, tuple(dict.fromkeys(held)))
    return _with_compounds(found, bare, corpus) if compounds and "german" in languages else found


def _held(word: str, language: Prose, corpus: Corpus) -> list[str]:
    """Return the forms of a word that the store holds, one for each stem of the index."""
    written = forms(word, language)
    stems = corpus.words(" ".join(written))
    # A look at every form would take a hundred times as long as reading the words that begin alike.
    known = {term for letters in {stem[:_BEGINNING] for stem in stems} for term in corpus.beginning(letters)}
    by_stem = dict.fromkeys(corpus.words(word), "")
    for form, stem in zip(written, stems, strict=True):
        if stem in known and is_form(form, word, language):
            by_stem.setdefault(stem, form)
    return [form for form in by_stem.values() if form]


def _with_compounds(found: WordForms, word: str, corpus: Corpus) -> WordForms:
    """Return the forms of a German word with its compounds, and with its parts where the store has it in no form."""
    own = set(chain.from_iterable(map(corpus.words, (word, *found.inflected))))
    counted = corpus.frequencies(_longer(own, corpus) - own)
    best = sorted((stem for stem in counted if stem.isalpha()), key=lambda stem: (-counted[stem], stem))
    parts = () if any(corpus.frequencies(own).values()) else _parts(word, corpus)
    return replace(found, compounds=tuple(best[:_COMPOUNDS]), parts=parts)


def _longer(stems: Collection[str], corpus: Corpus) -> set[str]:
    """Return the words of a store that begin or end with any of these, and have some more letters."""
    telling = tuple(stem for stem in stems if len(stem) >= _PART)
    longer = {term for stem in telling for term in corpus.beginning(stem) if len(term) >= len(stem) + _REST}
    if telling and corpus.chunks <= _SMALL:
        longer.update(corpus.ending(telling))
    return longer


def _parts(word: str, corpus: Corpus) -> tuple[str, ...]:
    """Return the stems of the two words that a compound is put together from, if the store holds both."""
    pairs = [pair for pair in halves(word) if min(map(len, pair)) >= SHORTEST]
    counted = _counts(dict.fromkeys(chain.from_iterable(pairs)), corpus)
    held = [pair for pair in pairs if all(counted.get(part) for part in pair)]
    if not held:
        return ()
    # The longer the shorter part, the less likely it is there by chance.
    chosen = max(held, key=lambda pair: min(map(len, pair)))
    return tuple(corpus.words(" ".join(chosen)))

"""What an answer says of itself: how it was searched where something could not be, and why it may be none.

The words of a question in a language that hardly any memory is in cannot answer it, nor can a model that reads English.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from unicodedata import name

from jupyter_memory.embedders import checked
from jupyter_memory.embedders.registry import MODELS, parted
from jupyter_memory.search.confidence.strength import missed, verdict
from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.query.inflections import SENTENCE, share
from jupyter_memory.search.query.phrases import is_phrase
from jupyter_memory.storage.base import Corpus
from jupyter_memory.text.languages import LANGUAGES, asked_in
from jupyter_memory.types import Query
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.search import UNANSWERED

_WORDS_ONLY = "The search used words only, not meaning."
_UNREAD = "The model knows no word of this question, so the search used words only, not meaning."


def unsearched(asked: str, query: Query, embedder: Embedder | None, *, by_meaning: bool) -> Iterator[str]:
    """Yield which retriever could not look, so that its silence is not taken for an answer.

    ``query`` is how the store understood what was ``asked``.
    """
    if not query.terms:
        yield "The query has no words to look up, so the search used meaning only."
    if not by_meaning:
        yield _WORDS_ONLY if embedder is None or checked.reads(embedder, asked) else _UNREAD


def doubts(context: SearchContext, embedder: str, strength: float, hits: int) -> Iterator[str]:
    """Yield why the hits may be no answer, or why there are none."""
    judged = verdict(strength)
    # A question that is answered well can be read here, whatever language it is in.
    foreign = foreign_question(context.query, context.corpus, embedder) if judged != "strong" else None
    if foreign:
        yield foreign
    if not hits:
        return
    # In another language nearly every word is missing; and a missing phrase was told of before.
    lacking = () if foreign else missed(context.asked_words)
    told = set(filter(is_phrase, context.query.terms.phrases))
    if words := [f"“{word.text}”" for word in lacking if word.text not in told]:
        *others, last = words
        yield f"No memory contains {', '.join(others)} or {last}." if others else f"No memory contains {last}."
    if judged == "none":
        yield UNANSWERED


# Below this share of the memories, what answers a question is more likely in another language.
_HARDLY_ANY = 0.02
# Fewer may lack even the most frequent words of the language that they are in.
_FEWEST = 50
# Pairs of characters that make a question and not a name.
_PAIRS = 2
# Kana stand in Japanese only, and Han in both: so they come last.
_SCRIPTS: Mapping[str, str] = {
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "THAI": "Thai",
    "CJK": "Chinese",
}


def foreign_question(query: Query, corpus: Corpus, embedder: str) -> str | None:
    """Return what to do about a question in a language that hardly any memory is in, None for any other.

    ``embedder`` is the name of the one that compares meaning, empty for none. One that is none of ours may well read
    the language.
    """
    known = parted(embedder)[0]
    if known and known not in MODELS:
        return None
    language = _foreign_language(query, corpus)
    if language is None:
        return None
    said = f"This question looks {language}, but hardly any memory here is in {language}"
    if not known:
        return f"{said}, and the search used words only. Ask in the language of your notes."
    return (
        f"{said}, and the model {known} reads English. Ask in English, "
        "or use a multilingual model: `model use mlx:FOLDER`."
    )


def _foreign_language(query: Query, corpus: Corpus) -> str | None:
    """Return the language of a question if hardly any memory is in it, None where that is not sure."""
    if corpus.chunks < _FEWEST:
        return None
    asked = asked_in(query.text)
    if asked.language and asked.words >= SENTENCE and share(corpus, asked.language) < _HARDLY_ANY:
        return LANGUAGES[asked.language].name
    pairs = [pair for pair in query.terms.ident if len(pair) > 1]
    if len(pairs) >= _PAIRS and not any(corpus.frequencies(pairs).values()):
        return _written_in("".join(pairs))
    return None


def _written_in(text: str) -> str | None:
    scripts = {name(character, "").split(" ")[0] for character in text}
    return next((language for script, language in _SCRIPTS.items() if script in scripts), None)

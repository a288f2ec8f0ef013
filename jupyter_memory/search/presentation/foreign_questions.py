"""Questions in a language that hardly any memory is in: words cannot answer them, nor a model that reads English."""

from __future__ import annotations

from collections.abc import Mapping
from unicodedata import name

from jupyter_memory.embedders.registry import MODELS, parted
from jupyter_memory.search.query.inflections import SENTENCE, share
from jupyter_memory.storage.base import Corpus
from jupyter_memory.text.words.prose import LANGUAGES, asked_in
from jupyter_memory.types import Query

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

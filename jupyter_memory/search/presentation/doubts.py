"""What an answer says of itself: how it was searched where something could not be, and why it may be none."""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_memory.embedders import checked
from jupyter_memory.protocols import Embedder
from jupyter_memory.search.confidence.strength import missed, verdict
from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.presentation.foreign_questions import foreign_question
from jupyter_memory.search.query.phrases import is_phrase
from jupyter_memory.types import Query
from jupyter_memory.types.answer import UNANSWERED

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

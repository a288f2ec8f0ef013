"""A snapshot that sees a part of a store only: nothing it returns depends on the words or memories of the rest.

BM25 alone is that of the whole store, and with it the order of hits: its index counts words for all of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.base import Model, Snapshot
from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import SHOWN_TIER, condition
from jupyter_memory.storage.postgres.indexes import keyword
from jupyter_memory.storage.postgres.indexes.statistics import Statistics, StatisticsCache, bits_of
from jupyter_memory.storage.postgres.indexes.words import keyed, stems
from jupyter_memory.storage.postgres.snapshot import PostgresSnapshot
from jupyter_memory.storage.postgres.tables import chunks, overview
from jupyter_memory.storage.shared.rows import from_micros
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types import Filters, Memory, ScoredChunk, Selection, Terms
from jupyter_memory.types.protocols import Vectors

Result = TypeVar("Result")

_COLUMNS = {
    "tag": "tags.tag", "tier": SHOWN_TIER, "path": "memories.source", "kind": "memories.kind", "lang": "memories.lang",
    "space": "memories.space", "session": "memories.session",
}  # fmt: skip
_OWNED = """
    join chunks on chunks.space = postings.space and chunks.id = postings.chunk
    join memories on memories.space = chunks.space and memories.key = chunks.memory
"""


class PartStatistics:
    """The words of a part of a store, counted from the postings of its chunks."""

    def __init__(self, session: Session, within: Filters, whole: Statistics) -> None:
        self._session = session
        self._within = within
        self._whole = whole
        self._chunks: int | None = None

    @property
    def chunks(self) -> int:
        """Return how many chunks there are."""
        if self._chunks is None:
            where, parameters = condition(self._within)
            joined = "chunks join memories on memories.space = chunks.space and memories.key = chunks.memory"
            self._chunks = int(self._session.value(f"select count(*) from {joined} where {where}", parameters))
        return self._chunks

    def words(self, text: str, /) -> list[str]:
        """Return the words of a text as the index holds them, in their order."""
        return stems(text)

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        """Return how many chunks hold each word, in whichever column; 0 where none does."""
        asked = {keyed(word): word for word in words}
        # A word that nothing in the store holds need not be looked for.
        held = self._whole.frequencies(asked.values())
        where, parameters = condition(self._within)
        found = dict(
            self._session.rows(
                f"""
                select postings.term, count(*) from postings {_OWNED}
                where {of("postings")} and postings.term = any(%(terms)s) and {where} group by postings.term
                """,
                {**parameters, "terms": [term for term, word in asked.items() if held[word]]},
            )
        )
        return {word: found.get(term, 0) for term, word in asked.items()}

    def beginning(self, letters: str, /) -> Sequence[str]:
        """Return the words of the part, as stems, that begin with these letters."""
        return self._held(self._whole.beginning(letters))

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        """Return the long words of the part, as stems, that end with any of these letters."""
        return self._held(self._whole.ending(letters))

    def is_held(self, word: str, columns: Collection[str]) -> bool:
        """Return whether any chunk of the part holds a word, by its stem, in one of these columns."""
        where, parameters = condition(self._within)
        terms = list(dict.fromkeys(map(keyed, stems(word))))
        in_columns = " or ".join(f"in_{column} > 0" for column in COLUMNS if bits_of([column]) & bits_of(columns))
        found = self._session.rows(
            f"""
            select distinct postings.term from postings {_OWNED}
            where {of("postings")} and postings.term = any(%(terms)s) and ({in_columns or "false"}) and {where}
            """,
            {**parameters, "terms": terms},
        )
        return len(found) == len(terms)

    def _held(self, words: Sequence[str]) -> Sequence[str]:
        found = self.frequencies(words) if words else {}
        return [word for word in words if found[word]]


class PartSnapshot(PostgresSnapshot):
    """A snapshot in which only the memories exist that filters let through."""

    def __init__(self, session: Session, cache: StatisticsCache, within: Filters) -> None:
        super().__init__(session, cache)
        self._within = within
        self._part = PartStatistics(session, within, self._statistics)

    @property
    def is_all(self) -> bool:
        """Return whether the store holds nothing else."""
        where, parameters = condition(self._within)
        other = f"select 1 from memories where {of('memories')} and not coalesce({where}, false)"
        return not self._session.value(f"select exists ({other})", parameters)

    @property
    def corpus(self) -> PartStatistics:
        return self._part

    def in_background(self, work: Callable[[Snapshot], Result], /) -> Callable[[], Result]:
        return lambda: work(self)

    # -- memories ------------------------------------------------------------------------------------------------------

    def key_of(self, memory_id: str, /) -> int:
        found = self.keys(Filters(), [memory_id])
        if not found:
            raise UnknownMemory(memory_id)
        return found[0]

    def keys(self, filters: Filters, among: Sequence[str] | None = None, /) -> list[int]:
        return super().keys(self._within & filters, among)

    def selection(self, filters: Filters, /) -> Selection:
        return super().selection(self._within & filters)

    def exists(self, filters: Filters, /) -> bool:
        return super().exists(self._within & filters)

    def browse(self, filters: Filters, limit: int, /) -> list[Memory]:
        return super().browse(self._within & filters, limit)

    def facet_counts(self, filters: Filters, /) -> dict[str, dict[str, int]]:
        return super().facet_counts(self._within & filters)

    def facet_values(self, facet: str, /) -> list[str]:
        where, parameters = condition(self._within)
        tagged = "memories join tags on tags.space = memories.space and tags.memory = memories.key"
        joined = tagged if facet == "tag" else "memories"
        column = _COLUMNS[facet]
        found = f"select distinct {column} from {joined} where coalesce({column}, '') <> '' and {where} order by 1"
        return [row[0] for row in self._session.rows(found, parameters)]

    def sessions(self, filters: Filters, /) -> list[str]:
        return super().sessions(self._within & filters)

    def event_span(self) -> tuple[datetime, datetime]:
        where, parameters = condition(self._within)
        [(first, last)] = self._session.rows(
            f"select min(event_at), max(event_at) from memories where {where}", parameters
        )
        return from_micros(first or 0), from_micros(last or 0)

    def count(self, filters: Filters, /) -> int:
        return super().count(self._within & filters)

    def tags(self) -> list[str]:
        counts = overview.facet_counts(self._session, self._within)["tag"]
        return sorted(counts, key=lambda tag: (-counts[tag], tag))

    # -- words and vectors ---------------------------------------------------------------------------------------------

    def keyword_matches(
        self, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        return super().keyword_matches(terms, weights, self._within & filters, count)

    def holds_phrase(self, phrase: str, weights: Mapping[str, float], /) -> bool:
        return bool(keyword.search(self._session, self._statistics, Terms(phrases=(phrase,)), weights, self._within, 1))

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        return self._part.is_held(word, columns)

    def words_beginning(self, letters: str, /) -> Sequence[str]:
        return self._part.beginning(letters)

    def chunk_count_of(self, stem: str, columns: Collection[str], /) -> int:
        # In whichever column: it decides between spellings, and the part is not counted by columns.
        return self._part.frequencies([stem])[stem]

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        return super().vector_matches(model, vector, self._within & filters, count, threshold)

    def sample(self, count: int, /) -> list[int]:
        return chunks.sample(self._session, count, self._part.chunks, self._within)

"""Statistics of the whole store's words: how many chunks there are, how many hold a word, which words there are."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import apsw

from jupyter_memory.storage.cache import Cache
from jupyter_memory.storage.sqlite.indexes.keyword_query import open_places, open_vocabulary, stems
from jupyter_memory.storage.sqlite.sql import version

# Words that are cached by their first letters, 100 bytes each.
_MOST = 100_000
# A word of so many letters may be a compound.
_LONG = 9


@dataclass(slots=True)
class _Counted:
    """What was counted of one state of the keyword index: its chunks, and those that hold a word."""

    chunks: int | None = None
    holding: dict[str, int] = field(default_factory=dict)


class Statistics:
    """The words of one state of the keyword index, as a search sees it; ``cache`` has those of earlier searches."""

    def __init__(self, connection: apsw.Connection, cache: StatisticsCache | None = None) -> None:
        cache = StatisticsCache() if cache is None else cache
        self._connection = connection
        self._version = version(connection)
        self._counted = cache.counted.of(self._version, "", _Counted)
        self._vocabulary = cache.vocabulary

    @property
    def chunks(self) -> int:
        """Return how many chunks there are."""
        if self._counted.chunks is None:
            self._counted.chunks = int(self._connection.execute("select count(*) from chunks").get)
        return self._counted.chunks

    def words(self, text: str, /) -> list[str]:
        """Return the words of a text as the index holds them, in their order."""
        return stems(self._connection, text)

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        """Return how many chunks hold each word, in whichever column; 0 where none does."""
        asked = list(dict.fromkeys(words))
        known = self._counted.holding
        unknown = [word for word in asked if word not in known]
        if unknown:
            open_word_counts(self._connection)
            counted = dict.fromkeys(unknown, 0)
            counted.update(
                self._connection.execute(
                    "select term, doc from temp.word_counts where term in (select value from json_each(?))",
                    (json.dumps(unknown),),
                )
            )
            # All at once: a search may be interrupted before, and other threads read this meanwhile.
            known.update(counted)
        return {word: known[word] for word in asked}

    def beginning(self, letters: str, /) -> Sequence[str]:
        """Return the words of the index, as stems, that begin with these letters."""

        def read() -> list[str]:
            open_word_counts(self._connection)
            after = letters[:-1] + chr(ord(letters[-1]) + 1)
            rows = self._connection.execute(
                "select term from temp.word_counts where term >= ? and term < ?", (letters, after)
            )
            return [term for (term,) in rows]

        return self._vocabulary.of(self._version, letters, read)

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        """Return the long words of the index, as stems, that end with any of these letters."""

        def read() -> list[str]:
            open_word_counts(self._connection)
            rows = self._connection.execute("select term from temp.word_counts where length(term) >= ?", (_LONG,))
            return [term for (term,) in rows if term.isalpha()]

        return [term for term in self._vocabulary.of(self._version, "", read) if term.endswith(letters)]


class StatisticsCache:
    """Gives each search the statistics of the index as it sees it, including what earlier searches have read."""

    def __init__(self) -> None:
        self.counted: Cache[str, _Counted] = Cache(1)
        self.vocabulary: Cache[str, Sequence[str]] = Cache(_MOST, lambda words: len(words) + 1)

    def of(self, connection: apsw.Connection) -> Statistics:
        """Return the statistics as this transaction sees them; nothing is counted before it is needed."""
        return Statistics(connection, self)


def open_word_counts(connection: apsw.Connection) -> None:
    """Make ``temp.word_counts``, in how many chunks each word of the index is."""
    connection.execute("create virtual table if not exists temp.word_counts using fts5vocab(main, keyword, row)")


def is_held(connection: apsw.Connection, word: str, columns: Collection[str]) -> bool:
    """Return whether any chunk holds a word, by its stem, in one of these columns."""
    # This table returns the first occurrence at once; the others count all of them first.
    open_places(connection)
    held = "select 1 from temp.places where term = ? and col in (select value from json_each(?)) limit 1"
    named = json.dumps(list(columns))
    return all(connection.execute(held, (stem, named)).get for stem in stems(connection, word))


def chunk_count(connection: apsw.Connection, stem: str, columns: Collection[str]) -> int:
    """Return how many chunks hold a stem in the one of these columns where most do; the word may be gone by now."""
    open_vocabulary(connection)
    found = connection.execute("select col, doc from temp.vocabulary where term = ?", (stem,))
    return max((count for column, count in found if column in columns), default=0)

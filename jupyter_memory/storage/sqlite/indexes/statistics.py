"""What the whole store tells of words: how many chunks there are, how many hold a word, and which words there are."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from jupyter_memory.storage.cache import Cache
from jupyter_memory.storage.sqlite.indexes.keyword_query import open_vocabulary, stems
from jupyter_memory.storage.sqlite.sql import version

# Words that are kept by how they begin, 100 bytes each.
_MOST = 100_000


@dataclass(slots=True)
class _Counted:
    """What was counted of one state of the keyword index: its chunks, and those that hold a word."""

    chunks: int | None = None
    holding: dict[str, int] = field(default_factory=dict)


class Statistics:
    """The words of one state of the keyword index, as a search sees it; ``kept`` are those of earlier searches."""

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
            # Only now, whole: a search may be stopped in between, and others look here meanwhile.
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


class StatisticsCache:
    """Gives each search the statistics of the index as it sees it, with what earlier ones have read."""

    def __init__(self) -> None:
        self.counted: Cache[str, _Counted] = Cache(1)
        self.vocabulary: Cache[str, Sequence[str]] = Cache(_MOST, lambda words: len(words) + 1)

    def of(self, connection: apsw.Connection) -> Statistics:
        """Return the statistics as this transaction sees them; nothing is counted until a signal asks."""
        return Statistics(connection, self)


def open_word_counts(connection: apsw.Connection) -> None:
    """Make ``temp.word_counts``, in how many chunks each word of the index is."""
    connection.execute("create virtual table if not exists temp.word_counts using fts5vocab(main, keyword, row)")


def spread(connection: apsw.Connection, count: int) -> list[int]:
    """Return the ids of up to ``count`` chunks, evenly from the first to the last."""
    last = newest(connection)
    wanted = np.unique(np.linspace(1, last, min(count, last)).astype(np.int64)) if last else np.empty(0, np.int64)
    rows = connection.execute(
        "select id from chunks where id in (select value from json_each(?)) order by id", (json.dumps(wanted.tolist()),)
    )
    return [row[0] for row in rows]


def newest(connection: apsw.Connection) -> int:
    """Return the highest id of a chunk, 0 in an empty store."""
    return int(connection.execute("select coalesce(max(id), 0) from chunks").get)


def owned_vectors(
    connection: apsw.Connection, model: int, dimensions: int, chunks: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return the chunks that have a vector: their ids and the keys of their memories, ``(n,)``, and the vectors."""
    found: list[Any] = connection.execute(
        f"""
        select chunks.id, chunks.memory, vectors.embedding
        from vectors_{model} as vectors join chunks on chunks.id = vectors.chunk
        where vectors.chunk in (select value from json_each(?)) order by chunks.id
        """,
        (json.dumps(list(chunks)),),
    ).fetchall()
    together = np.frombuffer(b"".join(row[2] for row in found), np.float32).reshape(-1, dimensions)
    ids = np.array([row[0] for row in found], np.int64)
    return ids, np.array([row[1] for row in found], np.int64), together


def embedded_parts(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, tuple[str, str, str, str]]:
    """Return kind, title, context and text of chunks, by id."""
    rows = connection.execute(
        """
        select shown.id, memories.kind, shown.title, shown.context, shown.text
        from chunk_texts as shown join chunks on chunks.id = shown.id join memories on memories.key = chunks.memory
        where shown.id in (select value from json_each(?))
        """,
        (json.dumps(list(chunks)),),
    )
    return {row[0]: row[1:] for row in rows}


def trust(connection: apsw.Connection, model: int) -> tuple[int, float] | None:
    """Return how many chunks there were when trust was measured, and the trust; None if it never was."""
    row = connection.execute("select chunks, value from trust where model = ?", (model,)).fetchone()
    return (row[0], row[1]) if row else None


def keep_trust(connection: apsw.Connection, model: int, chunks: int, value: float) -> None:
    """Note how far a model can be trusted in a store of so many chunks."""
    connection.execute("insert or replace into trust (model, chunks, value) values (?, ?, ?)", (model, chunks, value))


def sessions(connection: apsw.Connection, where: str, parameters: dict[str, object]) -> list[str]:
    """Return the names of all sessions of the memories that a condition lets through."""
    rows = connection.execute(
        f"select distinct memories.session from memories where memories.session is not null and {where}", parameters
    )
    return [row[0] for row in rows]


def is_held(connection: apsw.Connection, word: str, columns: Collection[str]) -> bool:
    """Return whether any chunk holds a word, by its stem, in one of these columns."""
    # The table of places tells the first at once; the others count all of them before.
    connection.execute("create virtual table if not exists temp.places using fts5vocab(main, keyword, instance)")
    held = "select 1 from temp.places where term = ? and col in (select value from json_each(?)) limit 1"
    named = json.dumps(list(columns))
    return all(connection.execute(held, (stem, named)).get for stem in stems(connection, word))


def chunk_count(connection: apsw.Connection, stem: str, columns: Collection[str]) -> int:
    """Return how many chunks hold a stem in that of these columns where most do; it may be gone since."""
    open_vocabulary(connection)
    found = connection.execute("select col, doc from temp.vocabulary where term = ?", (stem,))
    return max((count for column, count in found if column in columns), default=0)

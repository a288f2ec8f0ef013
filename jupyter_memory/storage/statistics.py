"""What the whole store tells of words: how many chunks there are, and how many hold a word."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import apsw

from jupyter_memory.storage.state import index_state
from jupyter_memory.storage.tokens import stems


class Statistics:
    """The words of one state of the keyword index, as a search sees it; counts are kept for the next."""

    def __init__(self, connection: apsw.Connection, kept: dict[str, int] | None = None) -> None:
        self._connection = connection
        self._kept = {} if kept is None else kept

    @property
    def chunks(self) -> int:
        """Return how many chunks there are."""
        return int(self._connection.execute("select count(*) from chunks").get)

    def words(self, text: str, /) -> list[str]:
        """Return the words of a text as the index holds them, in their order."""
        return stems(self._connection, text)

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        """Return how many chunks hold each word, in whichever column; 0 where none does."""
        asked = list(dict.fromkeys(words))
        unknown = [word for word in asked if word not in self._kept]
        if unknown:
            self._connection.execute(
                "create virtual table if not exists temp.word_counts using fts5vocab(main, keyword, row)"
            )
            counted = dict.fromkeys(unknown, 0)
            counted.update(
                self._connection.execute(
                    "select term, doc from temp.word_counts where term in (select value from json_each(?))",
                    (json.dumps(unknown),),
                )
            )
            # Only now, whole: a search may be stopped in between, and others look here meanwhile.
            self._kept.update(counted)
        return {word: self._kept[word] for word in asked}


class KeptCounts:
    """Gives each search the statistics of the index as it sees it, with what earlier ones have counted."""

    def __init__(self) -> None:
        self._state = ""
        self._kept: dict[str, int] = {}

    def of(self, connection: apsw.Connection) -> Statistics:
        """Return the statistics as this transaction sees them; nothing is read until a signal asks."""
        state = index_state(connection)
        if state != self._state:
            self._state, self._kept = state, {}
        return Statistics(connection, self._kept)

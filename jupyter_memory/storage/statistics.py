"""What the whole store tells of words: how many chunks there are, and how many hold a word."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import apsw

from jupyter_memory.storage.state import index_state
from jupyter_memory.storage.tokens import stems


@dataclass(slots=True)
class _Counted:
    """What was counted of one state of the keyword index: its chunks, and those that hold a word."""

    state: str = ""
    chunks: int | None = None
    holding: dict[str, int] = field(default_factory=dict)


class Statistics:
    """The words of one state of the keyword index, as a search sees it; counts are kept for the next."""

    def __init__(self, connection: apsw.Connection, counted: _Counted | None = None) -> None:
        self._connection = connection
        self._counted = _Counted() if counted is None else counted

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
            known.update(counted)
        return {word: known[word] for word in asked}


class KeptCounts:
    """Gives each search the statistics of the index as it sees it, with what earlier ones have counted."""

    def __init__(self) -> None:
        self._counted = _Counted()

    def of(self, connection: apsw.Connection) -> Statistics:
        """Return the statistics as this transaction sees them; nothing is read until a signal asks."""
        state, counted = index_state(connection), self._counted
        if state != counted.state:
            counted = self._counted = _Counted(state)
        return Statistics(connection, counted)

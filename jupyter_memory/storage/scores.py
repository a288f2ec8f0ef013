"""The BM25 scores of single words by chunk, kept from search to search for as long as the index stays as it is.

The sum of the scores of words is the score of the words together. Adding up what is kept costs a hundredth of what
FTS5 takes for a frequent word, and the words of one person's questions come back.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import apsw
import numpy as np

from jupyter_memory.storage.beside import Beside, Step
from jupyter_memory.storage.bm25 import Layout, Word, listed, score
from jupyter_memory.storage.finds import Scored
from jupyter_memory.storage.frequent import frequent
from jupyter_memory.storage.locks import Lock
from jupyter_memory.storage.owners import Keys, Owners
from jupyter_memory.storage.state import index_state
from jupyter_memory.text.identifiers import COLUMNS

# Scores that are kept, 16 bytes each; what was not asked for longest goes first.
_MOST = 2_000_000


class Match(NamedTuple):
    """What is looked for: an FTS5 expression, the columns it names, and its words reduced to their stems.

    ``alone`` tells whether it is one whole word, which can be looked up without FTS5's expressions.
    """

    expression: str
    columns: tuple[str, ...]
    stems: tuple[str, ...]
    alone: bool = False

    @classmethod
    def of_stem(cls, stem: str, weights: Mapping[str, float]) -> Match:
        """Return the match of one word in the columns that have weights."""
        return cls("", tuple(column for column in COLUMNS if column in weights), (stem,), alone=True)


class Sums:
    """Sums of scores, added up in the order of what is added, as FTS5 does, so that not even the last digit differs."""

    def __init__(self, scored: Sequence[Scored]) -> None:
        self._scored = scored
        size = max((int(one.chunks.max()) + 1 for one in scored if one.chunks.size), default=0)
        self._sums = np.zeros(size)
        for one in scored:
            self._sums[one.chunks] += one.scores

    def all(self) -> Scored:
        """Return every chunk with its sum."""
        fits = np.zeros(self._sums.size, dtype=bool)
        for one in self._scored:
            fits[one.chunks] = True
        chunks = np.flatnonzero(fits)
        return Scored(chunks, self._sums[chunks])

    def among(self, chunks: Keys, /) -> Scored:
        """Return those of these chunks whose sum is not 0."""
        chunks = chunks[chunks < self._sums.size]
        return Scored(chunks, self._sums[chunks]).above_zero()

    def top(self, count: int) -> dict[int, float]:
        """Return the sums of the best ``count``, best first; where the cut meets equal sums, any of them."""
        rarest = min(
            (one.chunks for one in self._scored if one.chunks.size >= count),
            key=lambda chunks: chunks.size,
            default=None,
        )
        if rarest is None:
            return self.all().top(count)
        # So many have no less, and nothing below it is among the best.
        least = np.partition(self._sums[rarest], -count)[-count]
        if not least > 0:
            return self.all().top(count)
        chunks = np.flatnonzero(self._sums >= least)
        return Scored(chunks, self._sums[chunks]).top(count)


Key = tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, float], ...]]


@dataclass(slots=True)
class Kept:
    """Scores of one state of the index; safe to share between threads."""

    state: str
    most: int = _MOST
    asked: bool = False
    _layout: Layout | None = None
    _scored: OrderedDict[Key, Word] = field(default_factory=OrderedDict)
    _frequent: dict[Key, int] = field(default_factory=dict)
    _size: int = 0
    _coming: deque[str] | None = None
    # The ranking asks for the same again, of other memories.
    _last: tuple[Hashable, Sums] = field(default_factory=lambda: (None, Sums([])))
    _lock: Lock = field(default_factory=Lock)

    def add_up(self, connection: apsw.Connection, matches: Sequence[Match], weights: Mapping[str, float]) -> Sums:
        """Return the sums of the scores of these expressions, one of which at least a chunk has to fit."""
        return Sums([self._of(connection, match, weights).scored for match in matches])

    def once(self, asked: Hashable, add_up: Callable[[], Sums]) -> Sums:
        """Return what ``add_up`` gives, or gave where the same was asked for last."""
        known, sums = self._last
        if known != asked:
            sums = add_up()
            self._last = asked, sums
        return sums

    def read_ahead(
        self, connection: apsw.Connection, matches: Sequence[Match], weights: Mapping[str, float], beside: Beside
    ) -> None:
        """Read what is not known of these expressions: the caller from the first on, the other thread from the last."""
        unknown = deque(match for match in matches if not self._is_known(_key(match, weights)))
        if len(unknown) < 2:
            return
        self._layout_of(connection)  # now, lest both read it

        def read(connection: apsw.Connection, take: Callable[[], Match] = unknown.pop) -> None:
            while unknown:
                with suppress(IndexError):  # the other has taken the last
                    match = take()
                    self._of(connection, match, weights)

        wait = beside.begin(connection, read, self.state)
        read(connection, unknown.popleft)
        wait()

    @property
    def is_warm(self) -> bool:
        """Return whether no frequent word is left to be read before it is asked for."""
        return self._coming is not None and not self._coming

    def warm(self, connection: apsw.Connection, weights: Mapping[str, float], but: Collection[str]) -> None:
        """Read one frequent word that nobody has asked for yet, the most frequent first, as long as there is room.

        At first only find out which they are; ``but`` are words, as stems, that nobody will ask for.
        """
        layout = self._layout_of(connection)
        if self._coming is None:
            self._coming = deque(stem for stem in frequent(connection, layout.segments) if stem not in but)
            return
        while self._coming:
            match = Match.of_stem(self._coming.popleft(), weights)
            if not self._is_known(_key(match, weights)):
                self._put_last(_key(match, weights), self._read(connection, match, weights))
                return

    @property
    def is_empty(self) -> bool:
        """Return whether no scores are kept."""
        return not self._scored

    def frequency(self, connection: apsw.Connection, match: Match, weights: Mapping[str, float]) -> int:
        """Return how many chunks hold a word in that column where most do; 0 for what is not a word by itself."""
        known = self._frequent.get(_key(match, weights))
        return self._of(connection, match, weights).most if known is None else known

    def _is_known(self, key: Key) -> bool:
        """Return whether the scores of a word are kept, or not needed, as it is in more than half of the chunks."""
        often = 0 if self._layout is None else 2 * self._frequent.get(key, 0) - self._layout.chunks
        return key in self._scored or often > 0

    def _put_last(self, key: Key, word: Word) -> None:
        """Keep what nobody has asked for yet, as the first to go."""
        with self._lock:
            self._frequent[key] = word.most
            if self._is_known(key):
                return
            if self._size + word.scored.chunks.size > self.most:
                self._coming = deque()
                return
            self._scored[key] = word
            self._scored.move_to_end(key, last=False)
            self._size += word.scored.chunks.size

    def _of(self, connection: apsw.Connection, match: Match, weights: Mapping[str, float]) -> Word:
        key = _key(match, weights)
        with self._lock:
            if key in self._scored:
                self._scored.move_to_end(key)
                return self._scored[key]
        word = self._read(connection, match, weights)
        with self._lock:
            self._frequent[key] = word.most
            if key not in self._scored:
                self._scored[key] = word
                self._size += word.scored.chunks.size
            while self._size > self.most:
                self._size -= self._scored.popitem(last=False)[1].scored.chunks.size
        return word

    def _read(self, connection: apsw.Connection, match: Match, weights: Mapping[str, float]) -> Word:
        if match.alone:
            named = {column: float(weights[column]) for column in match.columns}
            return score(connection, match.stems[0], named, self._layout_of(connection))
        rows = connection.execute(
            f"select rowid, -bm25(keyword, {listed(weights)}) from keyword where keyword match ?", (match.expression,)
        )
        return Word(Scored.read(rows), 0)

    def _layout_of(self, connection: apsw.Connection) -> Layout:
        if self._layout is None:
            self._layout = Layout.read(connection)
        return self._layout


def _key(match: Match, weights: Mapping[str, float]) -> Key:
    return match.columns, match.stems, tuple(weights.items())


class Scores:
    """What is kept of one store's keyword index; ``owners`` are those of its chunks."""

    def __init__(self, owners: Owners | None = None) -> None:
        self.owners = Owners() if owners is None else owners
        self._kept = Kept("")

    def of(self, connection: apsw.Connection) -> Kept | None:
        """Return what is kept of the index as this transaction sees it; None where the last search saw another.

        Word by word costs more than all at once, so it is not worth it for an index that changes with every search.
        """
        state = index_state(connection)
        kept = self._kept
        if kept.state == state:
            kept.asked = True
            return kept
        self._kept = Kept(state)
        return None

    def seen(self, connection: apsw.Connection) -> Kept | None:
        """Return what ``of`` would, but None where nothing is kept yet, and without counting as a search."""
        kept = self._kept
        return kept if kept.state == index_state(connection) and not kept.is_empty else None

    def warming(self, weights: Mapping[str, float], but: Callable[[apsw.Connection], Collection[str]]) -> Step | None:
        """Return what reads one frequent word after the other, one at each call, and tells whether to call it again.

        None where there is nothing to read: an index of which all is known, or that no second search has seen.
        """
        kept = self._kept
        if not kept.asked or kept.is_warm:
            return None
        left_out: Collection[str] | None = None

        def step(connection: apsw.Connection) -> bool:
            nonlocal left_out
            if self._kept is not kept or index_state(connection) != kept.state:
                return False
            left_out = but(connection) if left_out is None else left_out
            kept.warm(connection, weights, left_out)
            return not kept.is_warm

        return step

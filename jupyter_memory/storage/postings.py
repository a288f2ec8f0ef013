"""Where a word stands in all chunks, read from the keyword index page by page instead of row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import apsw
import numpy as np
from numpy.typing import NDArray

from jupyter_memory.storage import pages
from jupyter_memory.storage.pages import Part, Segment

# A row is told by the size of the one before. So often the steps from each to the next are doubled, until few are left
# to take one by one.
_DOUBLED = 3

# A word of fewer whole pages, some 500 rows each, is read as quickly by FTS5.
_PAGES = 4

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Postings:
    """How often a word stands where: ``chunks`` ascending, and for each that holds it one run a column.

    A run is the position of its chunk in ``chunks``, the number of the column, ascending in a chunk, and how many
    places there are. Chunks that held the word once may be without runs.
    """

    chunks: Ints
    rows: Ints
    columns: Ints
    counts: Ints

    @classmethod
    def read(cls, connection: apsw.Connection, stem: str, among: Sequence[Segment], least: int = _PAGES) -> Self | None:
        """Return the places of a word, given by its stem, in these segments, as a reading transaction sees them.

        None where FTS5's own tables are as good: where they fill fewer pages than ``least``, and for a word longer than
        words are.
        """
        term = b"0" + stem.encode()
        if not among or len(term) > pages.LONGEST:
            return None
        # One look tells of most words that they are rare.
        largest = max(among, key=lambda one: one.last - one.first)
        if any(span.last - span.first < least / 2 for span in pages.spans(connection, term, [largest])):
            return None
        spans = pages.spans(connection, term, among)
        if sum(max(0, span.last - span.first - 1) for span in spans) < least:
            return None
        return cls.of([part for span in spans for part in pages.parts(connection, term, span)])

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Self | None:
        """Return what pages hold of a word, those of the oldest segment first; None where they do not fit together.

        A row is the step from the chunk before (the chunk itself where it is told whole), the size of what follows,
        doubled, with 1 for one that was removed, and the places: each as a step, in column 0 at first, and in another
        after a 1 and its number. No step is 1.
        """
        size = sum(len(part.data) for part in parts)
        if not size:
            return cls(*np.zeros((4, 0), np.int64))
        # Behind the end there is always a number to read.
        data = np.frombuffer(b"".join([*(part.data for part in parts), bytes(16)]), np.uint8)
        heads = _heads(data, size)
        steps, after = numbers(data, heads)
        sizes, bodies = numbers(data, after)
        begins = np.cumsum([0, *(len(part.data) for part in parts[:-1])]).tolist()
        told = [begin + part.whole for begin, part in zip(begins, parts, strict=True) if part.whole is not None]
        whole = np.searchsorted(heads, told)
        if bodies[-1] + (sizes[-1] >> 1) != size or not np.array_equal(heads[whole], told):
            return None
        sums = np.cumsum(steps)
        before = sums[whole] - steps[whole]
        chunks = sums - np.repeat(before, np.diff(whole, append=heads.size))
        return cls(chunks, *_runs(data, heads, bodies, size))._in_order()

    def _in_order(self) -> Self:
        """Return the same by ascending chunk; of a chunk that two segments tell of, the newer is right."""
        if (self.chunks[1:] > self.chunks[:-1]).all():
            return self
        order = np.argsort(self.chunks, kind="stable")
        chunks = self.chunks[order]
        last = np.append(chunks[1:] != chunks[:-1], True)
        position = np.full(order.size, -1)
        position[order[last]] = np.arange(np.count_nonzero(last))
        rows = position[self.rows]
        kept = rows >= 0
        return type(self)(chunks[last], rows[kept], self.columns[kept], self.counts[kept])


def numbers(data: Bytes, places: Ints) -> tuple[Ints, Ints]:
    """Return SQLite's integers of up to 8 bytes that begin at these places, and the places after them.

    >>> numbers(np.array([5, 0x81, 0x00], np.uint8), np.array([0, 1]))
    (array([  5, 128]), array([1, 3]))
    """
    read = data[places]
    values, after = (read & 0x7F).astype(np.int64), places + 1
    longer = np.flatnonzero(read >= 0x80)
    while longer.size:
        read = data[after[longer]]
        values[longer] = values[longer] << 7 | (read & 0x7F)
        after[longer] += 1
        longer = longer[read >= 0x80]
    return values, after


def _heads(data: Bytes, size: int) -> Ints:
    """Return where each row begins."""
    # For each byte, as if a row began there, where the next would begin; nearly all numbers are one byte.
    following = np.arange(2, size + 3)
    following += data[1 : size + 2] >> 1
    longer = np.flatnonzero((data[:size] | data[1 : size + 1]) >= 0x80)
    sizes, bodies = numbers(data, numbers(data, longer)[1])
    following[longer] = bodies + (sizes >> 1)
    np.minimum(following, size, out=following)
    far = following
    for _ in range(_DOUBLED):
        far = far.take(far)
    steps, place, found = far.data, 0, []
    while place < size:
        found.append(place)
        place = steps[place]
    between = [np.array(found)]
    for _ in range(2**_DOUBLED - 1):
        between.append(following.take(between[-1]))
    heads = np.stack(between, axis=1).ravel()
    return heads[heads < size]


def _runs(data: Bytes, heads: Ints, bodies: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """Return the position of its row, the column and the length of each run of places in one column."""
    in_head = np.zeros(size, bool)
    for more in range(int((bodies - heads).max())):
        in_head[heads[heads + more < bodies] + more] = True
    ones = np.flatnonzero((data[:size] == 1) & ~in_head)
    ones = ones[data[ones - 1] < 0x80]
    # The number of a column may be 1 itself.
    signs = ones[np.diff(ones, prepend=-2) > 1]
    is_event = np.zeros(size, bool)
    is_event[heads] = is_event[signs] = True
    events = np.flatnonzero(is_event)
    is_head = in_head.take(events)
    begins, columns = events + 2, np.zeros(events.size, np.int64)
    begins[is_head] = bodies
    columns[~is_head] = data.take(signs + 1)
    counts = np.append(events[1:], size) - begins
    long = np.flatnonzero(data[:size] >= 0x80)
    of = np.searchsorted(events, long, side="right") - 1
    counts -= np.bincount(of[long >= begins[of]], minlength=events.size)
    some = np.flatnonzero(counts > 0)  # taking is quicker than choosing by truth
    return (np.cumsum(is_head) - 1).take(some), columns.take(some), counts.take(some)

"""The pages of the keyword index as FTS5 writes them, for what its own tables tell too slowly.

A page is a row of ``keyword_data`` under the id (segment << 37) + number. Its first two bytes say where the first row
is that belongs to a word of the page before, the next two where its footer begins; the footer says where its words
stand. ``keyword_idx`` tells on which page of a segment a word can be. FTS5's source, fts5_index.c, describes the
format; another one would have another version number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import apsw

# Without "secure-delete" and with it.
_VERSIONS = (4, 5)
# How the structure of an index begins that only marks the rows that were removed from it; ours does not.
_MARKS_REMOVED = b"\xff\x00\x00\x01"
_HEADER = 4
# Bytes of a word whose length is one byte.
LONGEST = 127


class Segment(NamedTuple):
    """A part of the index that was written at one time, and the numbers of its first and its last page."""

    number: int
    first: int
    last: int


class Span(NamedTuple):
    """The pages of a segment that can hold rows of a word: it stands on the first of them or nowhere."""

    segment: Segment
    first: int
    last: int


class Part(NamedTuple):
    """What a page holds of a word's rows; the row at ``whole`` is not told as a step from the row before."""

    data: bytes
    whole: int | None


def segments(connection: apsw.Connection) -> list[Segment]:
    """Return the segments, the oldest first; none where the index was written in a way that is not known here."""
    version = connection.execute("select v from keyword_config where k = 'version'").get
    structure = connection.execute("select block from keyword_data where id = 10").get
    if version not in _VERSIONS or structure[4:8] == _MARKS_REMOVED:
        return []
    numbers = _numbers(structure, 4)
    levels, _, _ = next(numbers), next(numbers), next(numbers)
    found: list[Segment] = []
    for _ in range(levels):
        _, count = next(numbers), next(numbers)
        level = [Segment(next(numbers), next(numbers), next(numbers)) for _ in range(count)]
        found = level + found
    return found


def spans(connection: apsw.Connection, term: bytes, among: Sequence[Segment]) -> list[Span]:
    """Return where the rows of a word can be in each segment."""
    rows = connection.execute(
        """
        select
            (select pgno >> 1 from keyword_idx where segid = value and term <= :term order by term desc limit 1),
            (select pgno >> 1 from keyword_idx where segid = value and term > :term order by term limit 1)
        from json_each(:segments) order by key
        """,
        {"term": term, "segments": str([one.number for one in among])},
    )
    found = []
    for segment, (page, later) in zip(among, rows, strict=True):
        # The table still tells of pages that were merged into another segment.
        first = max(segment.first, page or 0)
        found.append(Span(segment, first, max(first, segment.last if later is None else later)))
    return found


def parts(connection: apsw.Connection, term: bytes, span: Span) -> list[Part]:
    """Return the rows of a word in a segment, page by page; nothing where the segment does not hold it."""
    base = span.segment.number << 37
    pages = connection.execute(
        "select block from keyword_data where id between ? and ? order by id", (base + span.first, base + span.last)
    )
    page = next(pages, (b"",))[0]
    place = _rows_of(page, term)
    if place is None:
        return []
    found, goes_on = [Part(page[slice(*place)], 0)], place[1] == _footer(page)
    while goes_on and (row := next(pages, None)) is not None:
        page, footer = row[0], _footer(row[0])
        # A page on which a word stands is the last that can have rows of the word before.
        goes_on = footer == len(page)
        end = footer if goes_on else next(_numbers(page, footer))
        first = int.from_bytes(page[:2], "big")
        found.append(Part(page[_HEADER:end], first - _HEADER if _HEADER <= first < end else None))
    return found


def terms(page: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the words of a page, each with the places where it and where its rows begin.

    The first byte of a word says which index it is of.
    """
    place, at, term = _footer(page), 0, b""
    while place < len(page):
        # Nearly every number is one byte, and there are thousands of them.
        step, place = (page[place], place + 1) if page[place] < 0x80 else _number(page, place)
        at += step
        start, keep = at, 0
        if term:
            keep, start = (page[at], at + 1) if page[at] < 0x80 else _number(page, at)
        length, start = (page[start], start + 1) if page[start] < 0x80 else _number(page, start)
        term = term[:keep] + page[start : start + length]
        yield term, at, start + length


def _rows_of(page: bytes, term: bytes) -> tuple[int, int] | None:
    """Return where the rows of a word begin and end on its page; None where it does not stand there.

    Read word by word, a page takes ten times as long. The word has at most ``LONGEST`` bytes.
    """
    size, footer = len(term), _footer(page)
    begins: list[int] = []
    for keep in range(-1, size):
        # The first word stands whole, others as what they share with the one before and what they do not.
        written = bytes((size,)) + term if keep < 0 else bytes((keep, size - keep)) + term[keep:]
        at = page.find(written, _HEADER, footer)
        while at >= 0:
            begins = begins or list(accumulate(_all_numbers(page, footer)))
            number = bisect_left(begins, at)
            is_word = begins[number : number + 1] == [at] and (number == 0) == (keep < 0)
            if is_word and _shares(page, begins, number, term[: max(keep, 0)]):
                return at + len(written), [*begins, footer][number + 1]
            at = page.find(written, at + 1, footer)
    return None


def _shares(page: bytes, begins: Sequence[int], number: int, start: bytes) -> bool:
    """Return whether the word before the one of this number begins so."""
    while start:
        number -= 1
        keep, place = _number(page, begins[number]) if number else (0, begins[0])
        _, place = _number(page, place)
        if keep < len(start):
            if page[place : place + len(start) - keep] != start[keep:]:
                return False
            start = start[:keep]
    return True


def _footer(page: bytes) -> int:
    return int.from_bytes(page[2:4], "big")


def _all_numbers(data: bytes, place: int) -> Iterable[int]:
    """Return SQLite's integers from a place to the end; where each is a byte, the bytes."""
    rest = data[place:]
    if rest.isascii():
        return rest
    found, value = [], 0
    for byte in rest:
        if byte < 0x80:
            found.append(value | byte)
            value = 0
        else:
            value = (value | byte & 0x7F) << 7
    return found


def _numbers(data: bytes, place: int) -> Iterator[int]:
    """Yield SQLite's integers from a place on."""
    while place < len(data):
        number, place = _number(data, place)
        yield number


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Return an integer of SQLite's and the place after it."""
    value = 0
    while data[place] & 0x80:
        value = value << 7 | data[place] & 0x7F
        place += 1
    return value << 7 | data[place], place + 1

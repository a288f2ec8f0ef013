"""Which chunk holds a word, and how often in each column: pages that BM25 is computed from with NumPy.

FTS5 reads positions row by row, 3 microseconds for each chunk that holds a word. Here, a block of 32,768 chunk ids has
some segments, which list their chunks, and a segment has pages. A page has the postings of the words from ``first`` up
to that of the next page; a frequent word has pages of its own. A posting is the number of a row of ``kinds``, which has
the word's frequency in each column, and the place of its chunk in the block. BM25 is FTS5's, but for the last bit or
two.

New chunks are a segment of their own, merged with the newest ones while those have no more chunks, so that segments
double: a block has few of them, and each chunk is written a few times only. When the next block begins, all are merged.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, groupby
from itertools import count as counting
from math import log
from struct import Struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.storage.base import ChunkWords
from jupyter_memory.storage.sql import UnreadableRow
from jupyter_memory.storage.sqlite.file import Session
from jupyter_memory.storage.sqlite.vectors import BLOCK, DAMAGED, Listed, ScoredChunks, listed, readable
from jupyter_memory.storage.tables import memories
from jupyter_memory.storage.words import stems
from jupyter_memory.text.identifiers import COLUMNS

# At most so many postings are on a page of several words, and on one of a single word.
_PAGE, _OF_ONE = 2_048, 16_384
# Chunks that a rebuild indexes at once.
_TOGETHER = 4_096
# The highest frequency that is counted.
_OFTEN = 0xFFFF
# As in FTS5's bm25().
_K1, _B = 1.2, 0.75

Counts = NDArray[np.uint16]


class Postings(NamedTuple):
    """The chunks that hold a word, int64 ``(n,)``, in no order, and the row of ``kinds`` of each.

    ``kinds`` is uint16 ``(k, 5)``: how often the word is in each column.
    """

    chunks: NDArray[np.int64]
    codes: NDArray[np.int64]
    kinds: Counts

    def most(self, columns: Collection[str]) -> int:
        """Return how many chunks hold the word in that of these columns where most do."""
        held = np.bincount(self.codes, minlength=len(self.kinds)) @ (self.kinds > 0)
        return max((int(count) for name, count in zip(COLUMNS, held, strict=True) if name in columns), default=0)


_NONE = Postings(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, len(COLUMNS)), np.uint16))


class Lengths:
    """How many words each chunk has, as BM25 needs it: ``norms`` is what it adds to a frequency, by chunk id."""

    def __init__(self, chunks: Listed) -> None:
        self.chunks = int(np.count_nonzero(chunks.memories))
        mean = float(chunks.lengths.sum(dtype=np.int64)) / max(self.chunks, 1)
        self.norms = _K1 * (1 - _B + _B * chunks.lengths / (mean or 1.0))
        self._room: dict[str, tuple[NDArray[np.float64], NDArray[np.bool_]]] = {}

    @readable()
    def scores(self, postings: Postings, weights: Mapping[str, float], columns: Collection[str]) -> ScoredChunks:
        chunks, codes, kinds = postings
        searched = [name in columns for name in COLUMNS]
        held = np.asarray(kinds[:, searched].any(axis=1))
        if not held.all():
            of_each = held[codes]
            chunks, codes = chunks[of_each], codes[of_each]
        # In place: new arrays of that size take as long as what is computed.
        scores = (kinds @ np.array([weights[name] if name in columns else 0.0 for name in COLUMNS])).take(codes)
        below = self.norms.take(chunks)
        below += scores
        scores *= _K1 + 1
        scores /= below
        scores *= idf_of(chunks.size, self.chunks)
        return ScoredChunks(chunks, scores)

    @readable()
    def added(self, scored: Iterable[ScoredChunks]) -> ScoredChunks:
        """Return the sums of scores, by ascending chunk."""
        # Fresh memory for all chunks would take as long as the sums. Each thread takes those kept, or makes its own.
        room = self._room.pop("", None) or (np.zeros(self.norms.size), np.zeros(self.norms.size, np.bool_))
        sums, matched = room
        for one in scored:
            sums[one.chunks] += one.scores
            matched[one.chunks] = True
        chunks = np.flatnonzero(matched)
        found = ScoredChunks(chunks, sums.take(chunks))
        sums[chunks], matched[chunks] = 0.0, False
        self._room[""] = room
        return found


def idf_of(count: int, total: int) -> float:
    """Return the idf of a word that so many of all chunks hold."""
    return max(log((total - count + 0.5) / (count + 0.5)), 1e-6) if count < total else 1e-6


# The cross joins keep SQLite from walking all pages.
_FIND = """
    select words.value, block, terms, bounds, kinds, body
    from json_each(:words) as words cross join word_segments cross join word_pages
    on segment = word_segments.id
        and first = (select max(first) from word_pages where segment = word_segments.id and first <= words.value)
"""
_BOUNDS = Struct("=2H")


@readable()
def read(session: Session, words: Iterable[str]) -> dict[str, Postings]:
    found: dict[str, list[tuple[int, bytes, bytes, bytes]]] = {word: [] for word in words}
    for word, block, terms, bounds, kinds, body in session.rows(_FIND, words=json.dumps(list(found))):
        # Each of the words of a page is between two line feeds.
        if (at := terms.find(f"\n{word}\n".encode())) >= 0:
            begin, end = _BOUNDS.unpack_from(bounds, 2 * terms.count(b"\n", 0, at))
            size = len(body) // 3
            found[word].append((block * BLOCK, body[begin:end], body[size + 2 * begin : size + 2 * end], kinds))
    # Joined at once: NumPy takes as long to begin with an array as for a thousand numbers.
    parts = [(0, b"", b"", b""), *chain.from_iterable(found.values())]
    bases, codes, places, kinds = (list(one) for one in zip(*parts, strict=True))
    sizes, ends = list(map(len, codes)), list(accumulate(map(len, codes)))
    tops = list(accumulate(len(one) // (2 * len(COLUMNS)) for one in kinds))
    all_kinds = np.frombuffer(b"".join(kinds), np.uint16).reshape(-1, len(COLUMNS))
    first, rows, slices = 0, [0], {}
    for word, of_word in found.items():
        last = first + len(of_word)
        rows += [top - tops[first] for top in tops[first:last]]
        slices[word] = slice(ends[first], ends[last]), slice(tops[first], tops[last])
        first = last
    chunks, numbers = np.repeat(np.array(bases, np.int64), sizes), np.repeat(np.array(rows, np.int64), sizes)
    chunks += np.frombuffer(b"".join(places), np.uint16)
    numbers += np.frombuffer(b"".join(codes), np.uint8)
    return {word: Postings(chunks[of], numbers[of], all_kinds[its]) for word, (of, its) in slices.items()}


def count(session: Session) -> int:
    # SQLite reads no more of a value than its length.
    return int(session.value("select coalesce(sum(length(chunks)), 0) / 2 from word_segments"))


# What is written.


class _Batch(NamedTuple):
    """Postings of several words: for each the place of its word in ``terms``, that of its chunk, and its kind."""

    terms: Sequence[str]
    owners: NDArray[np.int64]
    places: NDArray[np.uint16]
    codes: NDArray[np.int64]
    kinds: Counts


_EMPTY = _Batch((), _NONE.chunks, _NONE.chunks.astype(np.uint16), _NONE.codes, _NONE.kinds)


class _Chunks(NamedTuple):
    """The chunks of a segment as they are stored: their places, how many words each has, and its memory."""

    chunks: bytes = b""
    lengths: bytes = b""
    memories: bytes = b""

    @property
    def places(self) -> NDArray[np.uint16]:
        return np.frombuffer(self.chunks, np.uint16)


_COLUMNS = ", ".join(_Chunks._fields)


def put(session: Session, words: Sequence[ChunkWords]) -> None:
    for block, some in groupby(sorted(words, key=lambda one: one.chunk), lambda one: one.chunk // BLOCK):
        new, chunks = _tokenized(list(some))
        of_block = "select id, length(chunks) / 2 from word_segments where block = :block order by id"
        known = session.rows(of_block, block=block)
        before = session.value("select max(block) from word_segments where block < :block", block=block)
        if not known and before is not None and len(full := session.rows(of_block, block=before)) > 1:
            _merge(session, before, [id_ for id_, _ in full], _EMPTY, _Chunks())
        together, total = [], chunks.places.size
        for id_, size in reversed(known):
            if size > total:
                break
            together.append(id_)
            total += size
        _merge(session, block, together, new, chunks)


def _tokenized(words: Sequence[ChunkWords]) -> tuple[_Batch, _Chunks]:
    # The postings of chunks of one block, and these chunks.
    numbers: defaultdict[str, int] = defaultdict(counting().__next__)
    tokens: list[int] = []
    sizes: list[int] = []
    for one in words:
        for text in one.columns:
            of_text = stems(text) if text else []
            tokens += map(numbers.__getitem__, of_text)
            sizes.append(len(of_text))
    columns = len(COLUMNS)
    # Each token as the number of its word, and in which chunk and column it is.
    found = np.array(tokens, np.int64) * len(sizes) + np.repeat(np.arange(len(sizes)), sizes)
    different, counts = np.unique(found, return_counts=True)
    pairs, column = np.divmod(different, columns)
    first = np.diff(pairs, prepend=-1) > 0
    kinds = np.zeros((np.count_nonzero(first), columns), np.uint16)
    kinds[np.cumsum(first) - 1, column] = np.minimum(counts, _OFTEN)
    owners, chunks = np.divmod(pairs[first], len(words))
    places = np.array([one.chunk % BLOCK for one in words], np.uint16)
    lengths = np.array(sizes, np.uint32).reshape(-1, columns).sum(axis=1, dtype=np.uint32)
    owned = np.array([one.memory for one in words], np.int64)
    held = _Chunks(places.tobytes(), lengths.tobytes(), owned.tobytes())
    return _Batch(list(numbers), owners, places[chunks], np.arange(len(kinds)), kinds), held


def remove(session: Session, chunks: Iterable[int]) -> None:
    """Take chunks out of the index; no byte of their words stays in it."""
    for block, some in groupby(sorted(chunks), lambda chunk: chunk // BLOCK):
        gone = np.zeros(1 << 16, np.bool_)
        gone[[chunk % BLOCK for chunk in some]] = True
        for segment, *values in session.rows(
            f"select id, {_COLUMNS} from word_segments where block = :block", block=block
        ):
            held = _Chunks(*values)
            with readable():
                kept = ~gone[held.places]
                parts = [np.frombuffer(one, np.uint8).reshape(kept.size, -1)[kept].tobytes() for one in held]
            if kept.all():
                continue
            if not kept.any():
                session.changed("delete from word_segments where id = :id", id=segment)
                continue
            session.changed(
                "update word_segments set chunks = :chunks, lengths = :lengths, memories = :memories where id = :id",
                id=segment,
                **_Chunks(*parts)._asdict(),
            )
            _remove_from(session, segment, gone)


def _remove_from(session: Session, segment: int, gone: NDArray[np.bool_]) -> None:
    # Of most pages only the body is read, which is stored before the other values.
    pages = session.execute("select id, body from word_pages where segment = ?", (segment,))
    for id_ in [id_ for id_, body in pages if gone.take(_places(body)).any()]:
        [page] = session.rows("delete from word_pages where id = :id returning terms, bounds, kinds, body", id=id_)
        terms, owners, places, codes, kinds = _decoded(*page)
        kept = ~gone[places]
        # Each by itself, so that it takes the place of the page that it was.
        _insert(session, segment, _encoded(_Batch(terms, owners[kept], places[kept], codes[kept], kinds)))


def rebuild(session: Session) -> None:
    session.changed("delete from word_segments")
    last = int(session.value("select coalesce(max(id), 0) from chunks"))
    for begin in range(0, last + 1, _TOGETHER):
        ids = session.rows("select id from chunks where id >= :begin and id < :end", begin=begin, end=begin + _TOGETHER)
        put(session, memories.words_of(session, [id_ for (id_,) in ids]))


def _merge(session: Session, block: int, segments: Sequence[int], new: _Batch, chunks: _Chunks) -> None:
    # One segment takes the place of some of a block, and of new postings.
    of, of_pages = session.dialect.among("id", "segments"), session.dialect.among("segment", "segments")
    held = session.rows(f"select {_COLUMNS} from word_segments where {of}", segments=list(segments))
    pages = session.rows(f"select terms, bounds, kinds, body from word_pages where {of_pages}", segments=list(segments))
    session.changed(f"delete from word_segments where {of}", segments=list(segments))
    session.changed(
        f"insert into word_segments (block, {_COLUMNS}) values (:block, :chunks, :lengths, :memories)",
        block=block,
        **_Chunks(*map(b"".join, zip(*held, chunks, strict=True)))._asdict(),
    )
    _insert(session, session.last_insert_rowid(), _encoded(_joined([new, *(_decoded(*page) for page in pages)])))


# A page as it is stored: its first word and place, and its four blobs.
_Page = tuple[str, int, bytes, bytes, bytes, bytes]


def _insert(session: Session, segment: int, pages: Iterable[_Page]) -> None:
    session.executemany(
        "insert into word_pages (segment, first, place, terms, bounds, kinds, body) values (?, ?, ?, ?, ?, ?, ?)",
        ((segment, *page) for page in pages),
    )


def _places(body: bytes) -> NDArray[np.uint16]:
    size = len(body) // 3
    return np.frombuffer(body, np.uint16, size, size)


@readable()
def _decoded(terms: bytes, bounds: bytes, kinds: bytes, body: bytes) -> _Batch:
    held, size = terms[1:-1].decode().split("\n"), len(body) // 3
    edges = np.frombuffer(bounds, np.uint16)
    owners = np.repeat(np.arange(len(held)), edges[1:] - edges[:-1])
    if edges[0] or owners.size != size:
        raise ValueError
    return _Batch(
        held,
        owners,
        _places(body),
        np.frombuffer(body, np.uint8, size).astype(np.int64),
        np.frombuffer(kinds, np.uint16).reshape(-1, len(COLUMNS)),
    )


def _joined(batches: Sequence[_Batch]) -> _Batch:
    index: dict[str, int] = {}
    for batch in batches:
        for term in batch.terms:
            index.setdefault(term, len(index))
    sizes = [len(batch.kinds) for batch in batches]
    begins = np.cumsum(sizes) - sizes
    return _Batch(
        list(index),
        np.concatenate([np.array([index[term] for term in one.terms], np.int64)[one.owners] for one in batches]),
        np.concatenate([one.places for one in batches]),
        np.concatenate([one.codes + begin for one, begin in zip(batches, begins, strict=True)]),
        np.concatenate([one.kinds for one in batches]),
    )


def _encoded(batch: _Batch) -> Iterator[_Page]:
    # By word, and within it by place; words without a posting are left out.
    order = sorted(range(len(batch.terms)), key=batch.terms.__getitem__)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    owners = ranks[batch.owners]
    # Stable, since pages that were sorted are sorted in a tenth of the time.
    sort = np.argsort(owners << 16 | batch.places, kind="stable")
    places = batch.places[sort]
    # Rows of kinds that are equal become one: 64 bits of four columns, then what differs in those and the fifth.
    _, of_four = np.unique(np.ascontiguousarray(batch.kinds[:, :4]).view(np.uint64).ravel(), return_inverse=True)
    _, used, codes = np.unique(of_four << 16 | batch.kinds[:, 4], return_index=True, return_inverse=True)
    kinds, codes = batch.kinds[used], codes[batch.codes[sort]]
    counts = np.bincount(owners, minlength=len(order))
    held = np.flatnonzero(counts)
    names, counts = [batch.terms[order[rank]] for rank in held.tolist()], counts[held]
    ends = np.cumsum(counts)
    code_on_page = np.zeros(len(kinds), np.uint8)

    def pages(first: int, stop: int, begin: int, end: int) -> Iterator[_Page]:
        # The postings of some words, or some of the postings of one.
        is_large = end - begin > (_PAGE if stop - first > 1 else _OF_ONE)
        used = _NONE.codes if is_large else np.flatnonzero(np.bincount(codes[begin:end]))
        if is_large or len(used) > 256:
            middle, half, after = (begin + end) // 2, stop, first
            if stop - first > 1:
                half = after = min(max(int(np.searchsorted(ends, middle)), first + 1), stop - 1)
                middle = int(ends[half - 1])
            yield from pages(first, half, begin, middle)
            yield from pages(after, stop, middle, end)
            return
        bounds = np.array([begin, end] if stop - first == 1 else [begin, *ends[first:stop]]) - begin
        text = "\n".join(("", *names[first:stop], "")).encode()
        code_on_page[used] = np.arange(len(used))
        body = code_on_page[codes[begin:end]].tobytes() + places[begin:end].tobytes()
        yield names[first], int(places[begin]), text, bounds.astype(np.uint16).tobytes(), kinds[used].tobytes(), body

    return pages(0, len(names), 0, len(codes)) if names else iter(())


def check(session: Session, expected: Mapping[str, int]) -> None:
    """Raise ``UnreadableRow`` if a page is damaged, or words are not in as many chunks as expected."""
    found: Counter[str] = Counter()
    for first, place, *page in session.execute("select first, place, terms, bounds, kinds, body from word_pages"):
        batch = _decoded(*page)
        sound = batch.owners.size > 0 and int(batch.owners[-1]) == len(batch.terms) - 1
        sound = sound and int(batch.codes.max()) < len(batch.kinds) and bool(batch.kinds.any(axis=1).all())
        if not sound or first != batch.terms[0] or place != batch.places[0]:
            raise UnreadableRow(DAMAGED)
        for term, chunks in zip(batch.terms, np.bincount(batch.owners).tolist(), strict=True):
            found[term] += chunks
    owners = listed(session).memories
    held = np.flatnonzero(owners)
    pairs = list(zip(held.tolist(), owners[held].tolist(), strict=True))
    known = session.rows("select id, memory from chunks order by id")
    if found != expected or pairs != known or count(session) != held.size:
        raise UnreadableRow(DAMAGED)

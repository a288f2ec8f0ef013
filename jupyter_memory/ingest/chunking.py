"""Cuts the text of a draft into chunks: one for a short text, overlapping ones cut at natural places for a long one."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter

from jupyter_memory.embedders.tokenizer import starts, tokens
from jupyter_memory.text.code import Place
from jupyter_memory.text.identifiers import words_within
from jupyter_memory.text.markdown import first_line, headings, paths, under
from jupyter_memory.text.outlines import Block, around, outline, stretches
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types import Chunk, Draft

# Tokens of a chunk at most, and tokens that neighbours share at most.
CAPACITY = 448
OVERLAP = 224
# Only texts up to this many characters are counted before they are cut: a longer one very likely has too many tokens.
_COUNTED = 8_000
# Characters that are counted at once.
_BATCH = 131_072
# Tokens that are kept free: the first word of a stretch may have more of them when the stretch is tokenised alone.
_SLACK = 12
# Characters of a signature and a docstring in a prefix.
_ABOUT = 300
# Tokens of neighbouring blocks that are one chunk together.
_SMALL = 60
_PARAGRAPH, _LINE, _SENTENCE, _WORD = r"\n[ \t]*\n", r"\n", r"[.!?;:]\s|[。！？]", r"\s"
_PLACES = {
    "markdown": r"\n(?=#{1,6}[ \t])",
    "python": r"\n(?=[ \t]*+(?:async def|class|def)\b|[ \t]*+@\w)",
}
_ANYWHERE = tuple(re.compile(place) for place in (_PARAGRAPH, _LINE, _SENTENCE, _WORD))
_BLANK = re.compile(r"\s*")

# A draft without its chunks, built by position: `replace` takes twice as long.
_BUT_CHUNKS = attrgetter(*(field.name for field in fields(Draft)[:-1]))
_draft: Callable[..., Draft] = Draft


def with_chunks(drafts: Sequence[Draft], places: Sequence[Sequence[Place]] = ()) -> list[Draft]:
    """Return the drafts with ``chunks`` filled where empty: exact stretches of the text, each of at most 448 tokens.

    Tokens are the bundled static model's. A text of up to 448 tokens is one chunk. A longer one is cut at natural
    places into neighbours that share up to 224 tokens; every character that is not blank is in some chunk. A blank text
    has no chunks. ``line`` counts from 1 in the file, or in the text of what has no place in a file. The chunks of
    Markdown and reStructuredText files have their heading path in ``context``, and those of code the names of the
    class and function around them; other chunks have the draft's context. ``places`` are the definitions in each draft.

    Raises:
        EmbedderUnavailable: the vocabulary is missing or damaged.
    """
    lengths = _token_counts([draft.text for draft in drafts if not draft.chunks])
    defined = places or [()] * len(drafts)
    return [
        draft if draft.chunks else _chunked(draft, next(lengths), of_it)
        for draft, of_it in zip(drafts, defined, strict=True)
    ]


def _token_counts(texts: Sequence[str]) -> Iterator[int]:
    batch: list[str] = []
    waiting: list[int | None] = []
    size = 0
    for text in texts:
        count = _evident_count(text)
        waiting.append(count)
        if count is None:
            batch.append(encodable(text))
            size += len(text)
        if size >= _BATCH:
            yield from _counted(waiting, batch)
            batch, waiting, size = [], [], 0
    yield from _counted(waiting, batch)


def _evident_count(text: str) -> int | None:
    # A token is at least one character, unless the character is taken apart, as a syllable in Hangul is.
    if len(text) < CAPACITY and text.isascii():
        return len(text)
    return CAPACITY + 1 if len(text) > _COUNTED else None


def _counted(waiting: Sequence[int | None], batch: list[str]) -> Iterator[int]:
    found = iter(tokens(batch).counts.tolist())
    for count in waiting:
        yield next(found) if count is None else count


def _chunked(draft: Draft, tokens: int, places: Sequence[Place]) -> Draft:
    text = draft.text
    blocks = outline(draft.lang, text, places) if draft.kind == "file" and tokens > CAPACITY else []
    if tokens <= CAPACITY:
        spans = [(0, len(text))] if text.strip() else []
    else:
        spans = list(split(text, CAPACITY, OVERLAP, draft.lang, blocks))
    contexts = _contexts(draft, spans, blocks)
    chunks: list[Chunk] = []
    line, counted = first_line(draft.metadata) or 1, 0
    for (start, end), context in zip(spans, contexts, strict=True):
        line, counted = line + text.count("\n", counted, start), start
        chunks.append(Chunk(start, end, context, line))
    return _draft(*_BUT_CHUNKS(draft), tuple(chunks))


def _contexts(draft: Draft, spans: Sequence[tuple[int, int]], blocks: Sequence[Block]) -> list[str]:
    # In a document it has the headings under which the chunk begins.
    if blocks:
        places = [start for start, _ in spans]
        return [
            _within(draft.context, found, start) for found, start in zip(around(blocks, places), places, strict=True)
        ]
    if draft.kind != "file" or draft.lang not in ("markdown", "rst"):
        return [draft.context] * len(spans)
    found = headings(draft.text, draft.lang)
    above = paths(found, [start for start, _ in spans])
    # Text before the first heading (front matter, a licence) belongs to the document that this heading names.
    return [
        under(draft.context, path or [heading.text for heading in found[:1] if heading.start < end])
        for path, (_, end) in zip(above, spans, strict=True)
    ]


def _within(document: str, blocks: Sequence[Block], start: int) -> str:
    # One that goes on with a block also says how the block began.
    about = blocks[-1].about if blocks and blocks[-1].start < start else ""
    return under(document, [one.name for one in blocks if one.name], words_within(about, _ABOUT))


def split(
    text: str, capacity: int, overlap: int, lang: str = "", blocks: Sequence[Block] = ()
) -> Iterator[tuple[int, int]]:
    """Yield ``(start, end)`` code-point offsets of stretches of at most ``capacity`` tokens, in order.

    Together they have every character that is not blank. Each ends at the strongest place in its second half
    (section, paragraph, line, sentence, word), and the next begins at such a place among its last ``overlap`` tokens.
    Where there are ``blocks``, none reaches from one of the top level into another, unless both are small.
    """
    # The tokenizer refuses lone surrogates.
    begins = starts(encodable(text)).tolist()
    done = 0
    for begin, end in _cut(text, begins, capacity - _SLACK, overlap, lang, blocks):
        match = _BLANK.match(text, begin, end)
        word = match.end() if match else begin
        start, end = max(begin, text.rfind("\n", begin, word) + 1), begin + len(text[begin:end].rstrip())
        # A stretch that ends where the one before did, but for blank lines, adds nothing.
        if start < end and end > done:
            done = end
            yield start, end


def _cut(
    text: str,
    begins: Sequence[int],
    size: int,
    overlap: int,
    lang: str,
    blocks: Sequence[Block],
) -> Iterator[tuple[int, int]]:
    places = (re.compile(_PLACES[lang]), *_ANYWHERE) if lang in _PLACES else _ANYWHERE
    for begin, end in _joined(stretches(lang, blocks, len(text)), begins):
        yield from _cut_one(text, begin, end, begins, size, overlap, places)


def _joined(parts: Sequence[tuple[int, int]], begins: Sequence[int]) -> Iterator[tuple[int, int]]:
    begin = end = 0
    for start, stop in parts:
        if end > begin and bisect_left(begins, stop) - bisect_left(begins, begin) > _SMALL:
            yield begin, end
            begin = start
        end = stop
    yield begin, end


def _cut_one(
    text: str,
    begin: int,
    stop: int,
    begins: Sequence[int],
    size: int,
    overlap: int,
    places: tuple[re.Pattern[str], ...],
) -> Iterator[tuple[int, int]]:
    first, last = bisect_left(begins, begin), bisect_left(begins, stop)
    while last - first > size:
        end = _last_place(text, begins[first + size // 2], begins[first + size], places)
        yield begin, end
        # Each stretch begins at least a quarter of the size further, whatever the overlap.
        earliest = max(bisect_left(begins, end) - overlap, first + size // 4)
        begin = _first_place(text, begins[earliest], end, places)
        first = bisect_right(begins, begin) - 1
    yield begin, stop


def _last_place(text: str, low: int, high: int, places: tuple[re.Pattern[str], ...]) -> int:
    for place in places:
        ends = [match.end() for match in place.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high


def _first_place(text: str, low: int, high: int, places: tuple[re.Pattern[str], ...]) -> int:
    for place in places:
        match = place.search(text, low, high - 1)
        if match:
            return match.end()
    return low

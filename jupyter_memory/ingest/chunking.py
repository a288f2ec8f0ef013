"""Cuts the text of a draft into chunks: one for a short text, overlapping ones cut at natural places for a long one."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter

from jupyter_memory.embedders.tokenizer.bundled import starts, tokens
from jupyter_memory.text.headings import headings, paths
from jupyter_memory.text.structure import first_line, under
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
_PARAGRAPH, _LINE, _SENTENCE, _WORD = r"\n[ \t]*\n", r"\n", r"[.!?;:]\s|[。！？]", r"\s"
_PLACES = {
    "markdown": r"\n(?=#{1,6}[ \t])",
    "python": r"\n(?=(?:async def|class|def)\b|@)",
}
_ANYWHERE = tuple(re.compile(place) for place in (_PARAGRAPH, _LINE, _SENTENCE, _WORD))
_BLANK = re.compile(r"\s*")

# A draft without its chunks, built by position: `replace` takes twice as long.
_BUT_CHUNKS = attrgetter(*(field.name for field in fields(Draft)[:-1]))
_draft: Callable[..., Draft] = Draft


def with_chunks(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with ``chunks`` filled where empty: exact stretches of the text, each of at most 448 tokens.

    Tokens are the bundled static model's. A text of up to 448 tokens is one chunk. A longer one is cut at natural
    places into neighbours that share up to 224 tokens; every character that is not blank is in some chunk. A blank text
    has no chunks. ``line`` counts from 1 in the file, or in the text of what has no place in a file. The chunks of
    Markdown and reStructuredText files have their heading path in ``context``; other chunks have the draft's context.

    Raises:
        EmbedderUnavailable: the vocabulary is missing or damaged.
    """
    lengths = _token_counts([draft.text for draft in drafts if not draft.chunks])
    return [draft if draft.chunks else _chunked(draft, next(lengths)) for draft in drafts]


def _token_counts(texts: Sequence[str]) -> Iterator[int]:
    """Yield the number of tokens of each text: at most ``CAPACITY`` if it surely fits, more if it may not."""
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
    """Return the count if it is evident without a tokenizer."""
    # A token is at least one character, unless the character is taken apart, as a syllable in Hangul is.
    if len(text) < CAPACITY and text.isascii():
        return len(text)
    return CAPACITY + 1 if len(text) > _COUNTED else None


def _counted(waiting: Sequence[int | None], batch: list[str]) -> Iterator[int]:
    """Yield the counts in order; texts without one are tokenised together."""
    found = iter(tokens(batch).counts.tolist())
    for count in waiting:
        yield next(found) if count is None else count


def _chunked(draft: Draft, tokens: int) -> Draft:
    """Return a draft with its chunks, given the number of its tokens."""
    text = draft.text
    if tokens <= CAPACITY:
        spans = [(0, len(text))] if text.strip() else []
    else:
        spans = list(split(text, CAPACITY, OVERLAP, draft.lang))
    contexts = _contexts(draft, spans)
    chunks: list[Chunk] = []
    line, counted = first_line(draft.metadata) or 1, 0
    for (start, end), context in zip(spans, contexts, strict=True):
        line, counted = line + text.count("\n", counted, start), start
        chunks.append(Chunk(start, end, context, line))
    return _draft(*_BUT_CHUNKS(draft), tuple(chunks))


def _contexts(draft: Draft, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Return the prefix of each chunk; in a document it has the headings under which the chunk begins."""
    if draft.kind != "file" or draft.lang not in ("markdown", "rst"):
        return [draft.context] * len(spans)
    found = headings(draft.text, draft.lang)
    above = paths(found, [start for start, _ in spans])
    # Text before the first heading (front matter, a licence) belongs to the document that this heading names.
    return [
        under(draft.context, path or [heading.text for heading in found[:1] if heading.start < end])
        for path, (_, end) in zip(above, spans, strict=True)
    ]


def split(text: str, capacity: int, overlap: int, lang: str = "") -> Iterator[tuple[int, int]]:
    """Yield ``(start, end)`` code-point offsets of stretches of at most ``capacity`` tokens, in order.

    Together they have every character that is not blank. Each ends at the strongest place in its second half
    (section, paragraph, line, sentence, word), and the next begins at such a place among its last ``overlap`` tokens.
    """
    done = 0
    for begin, end in _cut(text, capacity - _SLACK, overlap, _places(lang)):
        start, end = _trimmed(text, begin, end)
        # A stretch that ends where the one before did, but for blank lines, adds nothing.
        if start < end and end > done:
            done = end
            yield start, end


def _cut(text: str, size: int, overlap: int, places: tuple[re.Pattern[str], ...]) -> Iterator[tuple[int, int]]:
    # The tokenizer refuses lone surrogates.
    begins = starts(encodable(text)).tolist()
    begin = first = 0
    while len(begins) - first > size:
        end = _last_place(text, begins[first + size // 2], begins[first + size], places)
        yield begin, end
        # Each stretch begins at least a quarter of the size further, whatever the overlap.
        earliest = max(bisect_left(begins, end) - overlap, first + size // 4)
        begin = _first_place(text, begins[earliest], end, places)
        first = bisect_right(begins, begin) - 1
    yield begin, len(text)


def _places(lang: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of places where a stretch may end, strongest first."""
    return (re.compile(_PLACES[lang]), *_ANYWHERE) if lang in _PLACES else _ANYWHERE


def _last_place(text: str, low: int, high: int, places: tuple[re.Pattern[str], ...]) -> int:
    """Return the last of the strongest places in ``text[low:high]``, or ``high`` where there is none."""
    for place in places:
        ends = [match.end() for match in place.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high


def _first_place(text: str, low: int, high: int, places: tuple[re.Pattern[str], ...]) -> int:
    """Return the first of the strongest places in ``text[low:high]``, short of ``high``, or ``low``."""
    for place in places:
        match = place.search(text, low, high - 1)
        if match:
            return match.end()
    return low


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch without the blank lines around it, but with its first indentation."""
    match = _BLANK.match(text, start, end)
    word = match.end() if match else start
    return max(start, text.rfind("\n", start, word) + 1), start + len(text[start:end].rstrip())

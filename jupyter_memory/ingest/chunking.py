"""Cuts the text of a draft into chunks: one for a short text, overlapping ones cut at natural places for a long one."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jupyter_memory.embedders.tokenizer import starts, tokens
from jupyter_memory.runtime import batches
from jupyter_memory.text.code import Place
from jupyter_memory.text.identifiers import words_within
from jupyter_memory.text.markdown import first_line, headings, paths, under
from jupyter_memory.text.outlines import Block, around, outline, stretches
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types import Chunk, Draft

# Tokens of a chunk, and tokens that neighbours share, at most.
_CAPACITY, _OVERLAP = 448, 224
# Only texts up to this many characters are counted before they are cut: a longer one very likely has too many tokens.
_COUNTED = 8_000
# Texts that are counted at once: each of their characters takes some hundred bytes.
_TOGETHER = 32
# Tokens that are kept free: the first word of a stretch may have more of them when the stretch is tokenised alone.
_SLACK = 12
# Characters of a signature and a docstring in a prefix.
_ABOUT = 300
# Tokens of neighbouring blocks that are one chunk together.
_SMALL = 60
_PLACES = {
    "markdown": r"\n(?=#{1,6}[ \t])",
    "python": r"\n(?=[ \t]*+(?:async def|class|def)\b|[ \t]*+@\w)",
}
# At the end of a paragraph, a line, a sentence, a word.
_ANYWHERE = tuple(re.compile(place) for place in (r"\n[ \t]*\n", r"\n", r"[.!?;:]\s|[。！？]", r"\s"))
_BLANK = re.compile(r"\s*")


def with_chunks(drafts: Sequence[Draft], places: Sequence[Sequence[Place]]) -> list[Draft]:
    """Return the drafts with ``chunks`` filled where empty: exact stretches of the text, each of at most 448 tokens.

    Tokens are the bundled static model's. A longer text is cut at natural places into neighbours that share up to 224
    tokens; every character that is not blank is in some chunk. ``context`` is the draft's, with the headings above a
    chunk of Markdown or reStructuredText, or the class and function around one of code. ``line`` counts from 1 in the
    file, or in a text without one. ``places`` are the definitions in each draft.
    """
    lengths = iter(_token_counts([draft.text for draft in drafts if not draft.chunks]))
    done: list[Draft] = []
    for draft, of_it in zip(drafts, places, strict=True):
        if draft.chunks:
            done.append(draft)
            continue
        text, blocks = draft.text, list[Block]()
        if next(lengths) <= _CAPACITY:
            spans = [(0, len(text))] if text.strip() else []
        else:
            blocks = outline(draft.lang, text, of_it) if draft.kind == "file" else []
            spans = list(_split(text, draft.lang, blocks))
        chunks: list[Chunk] = []
        line, counted = first_line(draft.metadata) or 1, 0
        for (start, end), context in zip(spans, _contexts(draft, spans, blocks), strict=True):
            line, counted = line + text.count("\n", counted, start), start
            chunks.append(Chunk(start, end, context, line))
        done.append(replace(draft, chunks=tuple(chunks)))
    return done


def _token_counts(texts: Sequence[str]) -> list[int]:
    # A token is at least one character, unless the character is taken apart, as a syllable in Hangul is.
    counts = [len(text) if len(text) < _CAPACITY and text.isascii() else _CAPACITY + 1 for text in texts]
    unsure = [place for place, count in enumerate(counts) if count > _CAPACITY and len(texts[place]) <= _COUNTED]
    for some in batches(unsure, _TOGETHER):
        found = tokens([encodable(texts[place]) for place in some])
        for place, count in zip(some, found.counts.tolist(), strict=True):
            counts[place] = count
    return counts


def _contexts(draft: Draft, spans: Sequence[tuple[int, int]], blocks: Sequence[Block]) -> list[str]:
    if blocks:
        places = [start for start, _ in spans]
        contexts = []
        for within, start in zip(around(blocks, places), places, strict=True):
            # A chunk that goes on with a block also says how the block began.
            about = within[-1].about if within and within[-1].start < start else ""
            contexts.append(under(draft.context, [one.name for one in within if one.name], words_within(about, _ABOUT)))
        return contexts
    if draft.kind != "file" or draft.lang not in ("markdown", "rst"):
        return [draft.context] * len(spans)
    found = headings(draft.text, draft.lang)
    above = paths(found, [start for start, _ in spans])
    # Text before the first heading (front matter, a licence) belongs to the document that this heading names.
    return [
        under(draft.context, path or [heading.text for heading in found[:1] if heading.start < end])
        for path, (_, end) in zip(above, spans, strict=True)
    ]


def _split(text: str, lang: str, blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    # Yields the stretches in order. Each ends at the strongest place in its second half (section, paragraph, line,
    # sentence, word), and the next begins at such a place among its last tokens. Where there are ``blocks``, none
    # reaches from one of the top level into another, unless both are small.

    # The tokenizer refuses lone surrogates.
    begins = starts(encodable(text)).tolist()
    places = (re.compile(_PLACES[lang]), *_ANYWHERE) if lang in _PLACES else _ANYWHERE
    parts, begin, end = list[tuple[int, int]](), 0, 0
    for start, stop in stretches(lang, blocks, len(text)):
        if end > begin and bisect_left(begins, stop) - bisect_left(begins, begin) > _SMALL:
            parts.append((begin, end))
            begin = start
        end = stop
    done = 0
    for first, last in [*parts, (begin, end)]:
        for begin, end in _cut(text, first, last, begins, places):
            match = _BLANK.match(text, begin, end)
            word = match.end() if match else begin
            start, end = max(begin, text.rfind("\n", begin, word) + 1), begin + len(text[begin:end].rstrip())
            # A stretch that ends where the one before did, but for blank lines, adds nothing.
            if start < end and end > done:
                done = end
                yield start, end


def _cut(
    text: str, begin: int, stop: int, begins: Sequence[int], places: Sequence[re.Pattern[str]]
) -> Iterator[tuple[int, int]]:
    size = _CAPACITY - _SLACK
    first, last = bisect_left(begins, begin), bisect_left(begins, stop)
    while last - first > size:
        low, high = begins[first + size // 2], begins[first + size]
        ends = ([match.end() for match in place.finditer(text, low, high)] for place in places)
        end = next((found[-1] for found in ends if found), high)
        yield begin, end
        # Each stretch begins at least a quarter of the size further, whatever the overlap.
        low = begins[max(bisect_left(begins, end) - _OVERLAP, first + size // 4)]
        begin = next((match.end() for place in places if (match := place.search(text, low, end - 1))), low)
        first = bisect_right(begins, begin) - 1
    yield begin, stop

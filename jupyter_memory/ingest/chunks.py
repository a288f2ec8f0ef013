"""Gives every draft its chunks: one for a short text, overlapping ones cut at natural places for a long text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter

from jupyter_memory.embedders.tokenizer.pieces import tokens
from jupyter_memory.ingest.headings import headings, paths
from jupyter_memory.ingest.prefix import under
from jupyter_memory.ingest.splitting import split
from jupyter_memory.types import Chunk, Draft
from jupyter_memory.utf8 import encodable

# All but the last, in order; `replace` takes twice as long.
_BUT_CHUNKS = attrgetter(*(field.name for field in fields(Draft)[:-1]))
_draft: Callable[..., Draft] = Draft
CAPACITY = 512
OVERLAP = 256
# Characters of a text that is counted before it is cut: a longer one has too many tokens in all likelihood, and where
# it has not, cutting it finds that out.
_COUNTED = 8_000
# Characters that are counted at once.
_BATCH = 131_072


def with_chunks(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with ``chunks`` filled where empty: exact stretches of the text, each of at most 512 tokens.

    Tokens are the bundled static model's. A text up to 512 tokens is one chunk; a longer one is cut at natural
    places, neighbours sharing up to 256 tokens, and every character that is not blank is in some chunk. A blank text
    has none. ``line`` counts from 1 in the text; the chunks of Markdown and reStructuredText files have their heading
    path in ``context``, all others the draft's.

    Raises:
        EmbedderUnavailable: the tokenizer's file is missing.
    """
    lengths = _token_counts([draft.text for draft in drafts if not draft.chunks])
    return [draft if draft.chunks else _chunked(draft, next(lengths)) for draft in drafts]


def _token_counts(texts: Sequence[str]) -> Iterator[int]:
    """Yield how many tokens each text has; ``CAPACITY`` or less where it surely has no more, and more where it may."""
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
    """Return an answer that needs no tokenizer, if there is one."""
    # A token is at least one character, unless the character is spelled out in bytes.
    if len(text) < CAPACITY and text.isascii():
        return len(text)
    return CAPACITY + 1 if len(text) > _COUNTED else None


def _counted(waiting: Sequence[int | None], batch: list[str]) -> Iterator[int]:
    """Yield the counts in order, those that are waiting taken all at once."""
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
    line, counted = 1, 0
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
    # What stands before the first heading (front matter, a licence) belongs to the document that it names.
    return [
        under(draft.context, path or [heading.text for heading in found[:1] if heading.start < end])
        for path, (_, end) in zip(above, spans, strict=True)
    ]

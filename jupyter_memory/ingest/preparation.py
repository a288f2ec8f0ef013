"""Prepares memories for writing: a record becomes a draft, a draft is cleaned, redacted, chunked and embedded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate, pairwise
from math import isnan
from typing import Any

import numpy as np

from jupyter_memory.embedders import checked
from jupyter_memory.embedders.checked import TokenEmbedder
from jupyter_memory.embedders.tokenizer.chunks import chunk_tokens
from jupyter_memory.embedders.tokenizer.tokens import Tokens
from jupyter_memory.errors import InputError
from jupyter_memory.ingest.chunking import with_chunks
from jupyter_memory.ingest.redaction.redactor import redact, redact_values, suspicious
from jupyter_memory.storage.base import Prepared
from jupyter_memory.text.code import definitions_and_places
from jupyter_memory.text.identifiers import MOST_TAGS, ident_columns, short
from jupyter_memory.text.markdown import context, embedded_head, embedding_text
from jupyter_memory.text.moments import moment
from jupyter_memory.text.unicode import encodable, storable
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Draft, Memory
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.protocols import Embedder, Vectors

# The keys of a record: the keywords of ``MemoryStore.add``, and ``lang``.
TIMES = ("event_at", "valid_from", "valid_until")
PLAIN = ("severity", "domain", "session", "space", "lang")
KNOWN = ("text", "title", "tags", "tier", "kind", "source", "metadata", *PLAIN, *TIMES)
# Further fields of a draft with text of its user.
_NAMES = ("space", "source", "location", "lang", "domain", "session")
# Those of them that say whatever their user likes, secrets included.
_TOLD = ("domain", "session")
# Characters tokenised at once: each takes some hundred bytes.
_AT_ONCE = 131_072


def draft_from(record: Mapping[str, Any], *, space: str, redacting: bool) -> Draft:
    """Return a draft from the keywords of ``MemoryStore.add``; ``space`` is used if the record names none.

    Raises:
        InputError: the text is missing, a name is not known, or a value cannot be stored.
    """
    given = {name: value for name, value in record.items() if not is_missing(value)}
    if unknown := sorted(set(given) - set(KNOWN)):
        raise InputError(f"A memory has no {', '.join(unknown)}. It has: {', '.join(KNOWN)}.")
    for name in ("text", "title", "source", "tier", "kind", *PLAIN):
        if not isinstance(given.get(name, ""), str):
            raise InputError(f"{name} must be a string, not {type(given[name]).__name__}.")
    now = datetime.now(UTC)
    for name in TIMES:
        given[name] = moment(given.get(name), now, end=name == "valid_until")
    given["event_at"] = given["event_at"] or now
    given["text"] = given.get("text", "")
    given["tags"] = _tags(given.get("tags", ()))
    given["metadata"] = _json(given.get("metadata", {}))
    given["space"] = given.get("space") or space
    return clean(Draft(**given), redacting=redacting)


def record_of(memory: Memory) -> dict[str, Any]:
    """Return the keywords of ``MemoryStore.add`` that would add this memory, without its place in a file."""
    return {name: getattr(memory, name) for name in KNOWN}


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, or the NaN of a DataFrame."""
    return value is None or (isinstance(value, float) and isnan(value))


def clean(draft: Draft, *, redacting: bool) -> Draft:
    """Return a draft whose text can be stored as UTF-8 and has no recognisable secrets; long names are shortened.

    Raises:
        InputError: there is no text, or a kind, tier or severity that does not exist.
    """
    text, title = storable(draft.text), storable(draft.title).strip()
    if not text.strip():
        raise InputError("There is nothing to remember: the text is empty.")
    for name, value, known in (
        ("kind", draft.kind, KINDS),
        ("tier", draft.tier, TIERS),
        ("severity", draft.severity, SEVERITIES),
    ):
        if value is not None and value not in known:
            raise InputError(f"{name} is {value!r}; it must be one of {', '.join(known)}.")
    tags = tuple(stored for tag in draft.tags if (stored := storable(tag).strip()))
    metadata = draft.metadata
    names: dict[str, Any] = {name: storable(value) for name in _NAMES if (value := getattr(draft, name)) is not None}
    told = [name for name in _TOLD if name in names]
    if redacting and any(suspicious(["\n".join((text, title, *tags, *(names[name] for name in told)))])):
        (text, _), (title, _) = redact(text), redact(title)
        tags = tuple(redact(tag)[0] for tag in tags)
        names |= {name: redact(names[name])[0] for name in told}
    # Not before: nobody could recognise half a secret.
    title, tags = short(title), tuple(dict.fromkeys(map(short, tags)))
    if redacting:
        metadata = redact_values(metadata)
    # A pin makes a memory core; unpinning restores the tier below it.
    pinned, tier = (True, "note") if draft.tier == "core" else (draft.pinned, draft.tier)
    prefix = draft.context or context("", (), when=draft.event_at)
    if redacting and "://" in names["source"]:
        # A URL may have a password in it; a path is just the name of a file.
        names["source"] = redact(names["source"])[0]
    return replace(
        draft, text=text, title=title, pinned=pinned, tier=tier, context=prefix, tags=tags, metadata=metadata, **names
    )


def prepare(
    drafts: Sequence[Draft], embedder: Embedder | None, known: Mapping[str, Vectors] | None = None
) -> list[Prepared]:
    """Chunk drafts and embed all chunks in one batch; without an embedder there are no vectors.

    ``known`` has vectors that this embedder gave before, by their texts.

    Raises:
        EmbedderError: the model cannot run here, or gives no vectors that can be stored.
    """
    read = [definitions_and_places(draft.kind, draft.lang, draft.text) for draft in drafts]
    chunked = with_chunks(drafts, [() if one is None else one[1] for one in read])
    takes = embedder if isinstance(embedder, TokenEmbedder) else None
    kept: list[ChunkTokens] = []
    parts: list[Vectors] = []
    for found, of_chunks in _tokens(chunked):
        kept += of_chunks
        if embedder is not None and takes is not None:
            parts.append(checked.of_tokens(embedder, takes, found))
    vectors: Vectors | None = None
    if embedder is not None:
        vectors = np.concatenate(parts) if parts else _embedded(_texts(chunked), embedder, known or {})
    words = _idents(chunked)
    ends = list(accumulate((len(draft.chunks) for draft in chunked), initial=0))
    return [
        Prepared(
            draft,
            None if vectors is None else vectors[begin:end],
            kept[begin:end],
            words[begin:end],
            None if one is None else one[0],
        )
        for draft, one, (begin, end) in zip(chunked, read, pairwise(ends), strict=True)
    ]


def _embedded(texts: Sequence[str], embedder: Embedder, known: Mapping[str, Vectors]) -> Vectors:
    """Return a vector for each text; only texts that are not known are embedded."""
    new = list(dict.fromkeys(text for text in texts if text not in known)) if known else texts
    vectors = checked.documents(embedder, new)
    if not known:
        return vectors
    every = {**known, **dict(zip(new, vectors, strict=True))}
    return np.stack([every[text] for text in texts])


def _idents(chunked: Sequence[Draft]) -> list[str]:
    """Return the column ``ident`` of all chunks."""
    return ident_columns(
        [f"{draft.title}\n{draft.text[chunk.start : chunk.end]}" for draft in chunked for chunk in draft.chunks]
    )


def _texts(chunked: Sequence[Draft]) -> list[str]:
    """Return what is embedded of all chunks."""
    return [
        embedding_text(draft.kind, draft.title, chunk.context, draft.text[chunk.start : chunk.end])
        for draft in chunked
        for chunk in draft.chunks
    ]


def _tokens(chunked: Sequence[Draft]) -> Iterator[tuple[Tokens, list[ChunkTokens]]]:
    """Yield the tokens of all chunks in batches, as static embeddings and two signals of a search read them."""
    some: list[tuple[str, str]] = []
    size = 0
    for draft in chunked:
        for chunk in draft.chunks:
            head = embedded_head(draft.kind, draft.title, chunk.context)
            some.append((head, draft.text[chunk.start : chunk.end]))
            size += len(head) + 1 + chunk.end - chunk.start
            if size >= _AT_ONCE:
                yield chunk_tokens(some)
                some, size = [], 0
    if some:
        yield chunk_tokens(some)


def _tags(value: Any) -> tuple[str, ...]:
    tags = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if not all(isinstance(tag, str) for tag in tags):
        raise InputError("tags must be a string or several, such as ['decision', 'prices'].")
    if len(tags) > MOST_TAGS:
        raise InputError(f"A memory has up to {MOST_TAGS:,} tags; these are {len(tags):,}. Put the rest in the text.")
    return tags


def _json(metadata: Any) -> dict[str, Any]:
    try:
        if not isinstance(metadata, Mapping):
            raise TypeError
        written = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False)
        copy: dict[str, Any] = json.loads(encodable(written))
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            "metadata must be a mapping of JSON values: strings, numbers, lists, mappings, true, false, null."
        ) from None
    return copy

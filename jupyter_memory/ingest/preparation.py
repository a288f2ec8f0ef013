"""A draft made ready for a store: read, redacted, chunked, embedded; what is unchanged is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from itertools import accumulate, pairwise
from math import isnan
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from jupyter_memory.embedders import base
from jupyter_memory.embedders.base import TokenEmbedder
from jupyter_memory.embedders.tokenizer import chunk_tokens
from jupyter_memory.errors import InputError
from jupyter_memory.ingest.chunking import with_chunks
from jupyter_memory.ingest.dates import in_name
from jupyter_memory.ingest.pictures import PictureReader
from jupyter_memory.ingest.readers.base import Document, Shortening
from jupyter_memory.ingest.readers.notebook import CLIPPED
from jupyter_memory.ingest.readers.registry import known_readers
from jupyter_memory.ingest.redaction.redactor import MARK, redact, redact_values, suspicious
from jupyter_memory.storage.base import EmbeddedParts, Prepared
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.text.code import definitions_and_places
from jupyter_memory.text.identifiers import LONGEST_NAME, MOST_OF_FILE, MOST_TAGS, ident_columns, short, short_path
from jupyter_memory.text.markdown import LINE, context, day, embedded_head, embedding_text
from jupyter_memory.text.moments import moment
from jupyter_memory.text.unicode import encodable, storable
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Draft, Memory
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.memory import Thumbnail
from jupyter_memory.types.protocols import Embedder, Vectors

Item = TypeVar("Item")

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
    value = given.get("tags", ())
    tags = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if not all(isinstance(tag, str) for tag in tags):
        raise InputError("tags must be a string or several, such as ['decision', 'prices'].")
    if len(tags) > MOST_TAGS:
        raise InputError(f"A memory has up to {MOST_TAGS:,} tags; these are {len(tags):,}. Put the rest in the text.")
    given["tags"] = tags

    metadata = given.get("metadata", {})
    try:
        if not isinstance(metadata, Mapping):
            raise TypeError
        written = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False)
        copy: dict[str, Any] = json.loads(encodable(written))
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            "metadata must be a mapping of JSON values: strings, numbers, lists, mappings, true, false, null."
        ) from None
    given["metadata"] = copy

    given["space"] = given.get("space") or space
    return clean(Draft(**given), redacting=redacting)


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
        text, title = _hidden(text), _hidden(title)
        tags = tuple(map(_hidden, tags))
        names |= {name: _hidden(names[name]) for name in told}
    # Not before: half a secret cannot be recognised.
    title, tags = short(title), tuple(dict.fromkeys(map(short, tags)))
    if redacting:
        metadata = redact_values(metadata)
    # A pin makes a memory core; unpinning restores the tier below it.
    pinned, tier = (True, "note") if draft.tier == "core" else (draft.pinned, draft.tier)
    prefix = draft.context or context("", (), when=draft.event_at)
    if redacting and "://" in names["source"]:
        # A URL may have a password in it; a path is just the name of a file.
        names["source"] = _hidden(names["source"])
    return replace(
        draft, text=text, title=title, pinned=pinned, tier=tier, context=prefix, tags=tags, metadata=metadata, **names
    )


def prepare(
    drafts: Sequence[Draft], embedder: Embedder | None, known: Mapping[str, Vectors] | None = None
) -> list[Prepared]:
    """Chunk drafts and embed all chunks; ``known`` has vectors that this embedder gave before, by their texts."""
    read = [definitions_and_places(draft.kind, draft.lang, draft.text) for draft in drafts]
    chunked = with_chunks(drafts, [() if one is None else one[1] for one in read])
    takes = embedder if isinstance(embedder, TokenEmbedder) else None
    # The title of each chunk's draft, its head and its text.
    pieces = [
        (draft.title, embedded_head(draft.kind, draft.title, chunk.context), draft.text[chunk.start : chunk.end])
        for draft in chunked
        for chunk in draft.chunks
    ]
    kept: list[ChunkTokens] = []
    parts: list[Vectors] = []
    for some in portions(pieces, lambda piece: len(piece[1]) + 1 + len(piece[2]), _AT_ONCE):
        found, of_chunks = chunk_tokens((head, text) for _, head, text in some)
        kept += of_chunks
        if embedder is not None and takes is not None:
            parts.append(base.of_tokens(embedder, takes, found))
    vectors: Vectors | None = None
    if parts:
        vectors = np.concatenate(parts)
    elif embedder is not None:
        texts = [f"{head}\n{text}" if head else text for _, head, text in pieces]
        new = list(dict.fromkeys(text for text in texts if text not in known)) if known else texts
        vectors = base.documents(embedder, new)
        if known:
            every = {**known, **dict(zip(new, vectors, strict=True))}
            vectors = np.stack([every[text] for text in texts])
    words = ident_columns([f"{title}\n{text}" for title, _, text in pieces])
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


def portions(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Yield the items in lists, each of which ends with the item that makes it as large as ``most``."""
    some: list[Item] = []
    total = 0
    for item in items:
        some.append(item)
        total += size(item)
        if total >= most:
            yield some
            some, total = [], 0
    if some:
        yield some


def read_file(
    path: Path,
    *,
    root: Path,
    redacting: bool = True,
    committed: datetime | None = None,
    pictures: Mapping[str, Thumbnail] | None = None,
) -> list[Draft]:
    """Return what a file has to remember: a draft for each part of its document.

    A document without a title has its path below ``root`` as title. Its date is the one that it states itself or has in
    its name, else when it was ``committed``, else when the file was last changed.
    ``metadata["redacted"]`` counts the secrets hidden in the text; they are hidden in title, context and tags too.
    With ``pictures``, which are known ones by their origin, thumbnails are made of those that the parts show.

    Raises:
        InputError: the file cannot be read, or is not what its name says.
    """
    reader = known_readers().reader_of(path)
    try:
        when = committed or datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if redacting and isinstance(reader, Shortening):
            reader = replace(reader, hide=_hidden)
        document = reader.read(path)
    except OSError as error:
        raise InputError(f"The file cannot be read: {error.strerror or type(error).__name__}.") from None
    below = path != root and path.is_relative_to(root)
    title = document.title or short_path(path.relative_to(root).as_posix() if below else path.name)
    drafts = _drafts_of(document, path, title, when, redacting, pictures)
    if not redacting:
        return drafts

    texts = suspicious([draft.text for draft in drafts])
    # Checked apart from the texts: a character beyond ASCII, such as a title's dash, makes a whole string larger.
    others = suspicious(["\n".join((draft.title, draft.context, *draft.tags)) for draft in drafts])
    for place, (draft, hints, around) in enumerate(zip(drafts, texts, others, strict=True)):
        if not hints and not around:
            continue
        text, count = redact(draft.text, hints)
        if CLIPPED in draft.text:
            # Secrets that were hidden before clipping are counted by their marks.
            count += draft.text.count(MARK)
        metadata = redact_values(draft.metadata) if draft.tags else draft.metadata
        draft = replace(draft, text=text, metadata={**metadata, "redacted": count} if count else metadata)
        # Secrets in title, context and tags are in some text too, and are counted there.
        if around:
            tags = tuple(dict.fromkeys(map(_hidden, draft.tags)))
            draft = replace(draft, title=_hidden(draft.title), context=_hidden(draft.context), tags=tags)
        drafts[place] = draft
    return drafts


def _drafts_of(
    document: Document,
    path: Path,
    title: str,
    when: datetime,
    redacting: bool,
    pictures: Mapping[str, Thumbnail] | None,
) -> list[Draft]:
    # Names that are too long to be stored with every chunk are shortened, without the secrets in them. Many parts have
    # the same headings above them: each is shortened once.
    @cache
    def named(name: str) -> str:
        return short(_hidden(name) if redacting and len(name) > LONGEST_NAME else name)

    on, reading = cache(day), PictureReader(pictures or {})
    stated = document.written or in_name(path.name, datetime.now(UTC))
    source, title = str(path.absolute()), named(title)
    tags = tuple(dict.fromkeys(map(named, document.tags[:MOST_OF_FILE])))
    # Noted apart from tags that a person adds, which stay when the file changes.
    of_file = {"file_tags": list(tags)} if tags else {}
    return [
        Draft(
            text=part.text,
            title=f"{title} – {named(part.headings[-1])}" if part.headings else title,
            kind=document.kind,
            tier="file",
            source=source,
            location=part.location,
            lang=named(part.language or document.language),
            tags=tags,
            event_at=part.written or stated or when,
            dated_by_file=not (part.written or stated),
            context=context(title, list(map(named, part.headings)), part.above, on(part.written or stated or when)),
            metadata={**part.metadata, **({LINE: part.line} if part.line else {}), **of_file},
            pictures=reading.read(part.pictures if pictures is not None else ()),
        )
        for part in document.parts
    ]


def _hidden(text: str) -> str:
    return redact(text)[0]


# The time of a file says when something in it was changed, not what. Without what follows, one edited cell would date,
# and embed, all cells of its notebook anew. Where only the date of a text is another, its vectors stay too.

_Content = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The dates of what files held, and what was embedded for it, with the vectors."""

    dates: Mapping[_Content, datetime] = field(default_factory=dict)
    embedded: Sequence[tuple[EmbeddedParts, Vectors]] = ()

    def dated(self, draft: Draft) -> Draft:
        """Return a draft with its earlier date, if it says what it said and nothing but its file dates it."""
        earlier = self.dates.get(_content(draft)) if draft.dated_by_file else None
        if earlier is None or draft.event_at is None or earlier == draft.event_at:
            return draft
        prefix = draft.context.removesuffix(day(draft.event_at))
        dated = f"{prefix}{day(earlier)}" if prefix != draft.context else draft.context
        return replace(draft, event_at=earlier, context=dated)

    def vectors(self, drafts: Sequence[Draft]) -> dict[str, Vectors]:
        """Return the vectors by the texts that they are of, also as those texts are with the new dates of drafts."""
        found = {embedding_text(*parts): vector for parts, vector in self.embedded}
        moments = {(self.dates.get(_content(draft)), draft.event_at) for draft in drafts} if self.embedded else ()
        days = {(day(before), day(after)) for before, after in moments if before is not None and after is not None}
        for before, after in ((before, after) for before, after in days if before != after):
            for parts, vector in self.embedded:
                if before in parts.context:
                    dated = parts._replace(context=parts.context.replace(before, after))
                    found.setdefault(embedding_text(*dated), vector)
        return found


def unchanged(snapshot: Snapshot, paths: Sequence[str], space: str, embedder: Embedder | None) -> Unchanged:
    """Return what is known of the memories of files; with an embedder, also the vectors that it gave them."""
    keys = snapshot.file_keys(paths, space)
    if not keys:
        return Unchanged()
    dates = {_content(memory): memory.event_at for memory in snapshot.memories(keys).values()}
    model = None if embedder is None else snapshot.model(embedder.fingerprint)
    if model is None:
        return Unchanged(dates)
    chunks = snapshot.chunks_of(keys)
    parts = snapshot.embedded_parts(chunks)
    found = snapshot.vectors(model, chunks)
    return Unchanged(
        dates, [(parts[int(chunk)], vector) for chunk, vector in zip(found.ids, found.vectors, strict=True)]
    )


def _content(one: Draft | Memory) -> _Content:
    return one.source, one.kind, one.location, one.title, one.text

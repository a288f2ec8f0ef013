"""A draft made ready for a store: read, redacted, chunked, embedded; what is unchanged is kept."""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from itertools import accumulate, pairwise
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from jupyter_memory.embedders import base
from jupyter_memory.embedders.base import TokenEmbedder, chunk_tokens, starts, tokens
from jupyter_memory.errors import InputError
from jupyter_memory.ingest.dates import in_name
from jupyter_memory.ingest.pictures import PictureReader
from jupyter_memory.ingest.readers.base import Document, note, reading
from jupyter_memory.ingest.readers.outputs import CLIPPED
from jupyter_memory.ingest.readers.registry import known_readers
from jupyter_memory.ingest.redaction.redactor import redact, redact_values, suspicious
from jupyter_memory.runtime import batches, portions
from jupyter_memory.storage.base import EmbeddedParts, Prepared
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.text import identifiers, markdown
from jupyter_memory.text.code import PYTHON, Place, definitions_and_places
from jupyter_memory.text.dates import UNKNOWN
from jupyter_memory.text.moments import moment
from jupyter_memory.text.outlines import Block, around, outline, stretches
from jupyter_memory.text.unicode import REDACTED, encodable, storable
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Chunk, ChunkTokens, Draft, Memory, Thumbnail
from jupyter_memory.types.memory import NO_PICTURES
from jupyter_memory.types.protocols import Embedder, Vectors

# The keys of a record: the keywords of ``MemoryStore.add``, and ``lang``.
TIMES = ("event_at", "valid_from", "valid_until")
PLAIN = ("severity", "domain", "session", "space", "lang")
KNOWN = ("text", "title", "tags", "tier", "kind", "source", "metadata", *PLAIN, *TIMES)
# Further fields of a draft with text of its user.
_NAMES = ("space", "source", "location", "lang", "domain", "session")
# Those of them that say whatever their user likes, secrets included.
_TOLD = ("domain", "session")
# What stands in a file that Git LFS did not fetch, and how many bytes such a file has at most.
_POINTER, _LARGEST_POINTER = b"version https://git-lfs.github.com/spec/v1\n", 1_024
# In the metadata of a file's first draft, what its reader noted.
NOTES = "reading_notes"
# Characters of a line from which on it is long, those that the long lines of a file have together, and those that each
# has at least. What is longer is data, of which a store would take twenty times as much.
_LONG_LINE, _LONG_LINES, _LEAST_OF_LINE = 50_000, 300_000, 2_000
# Characters tokenised at once: each takes some hundred bytes.
_AT_ONCE = 131_072


def draft_from(record: Mapping[str, Any], *, space: str, redacting: bool) -> Draft:
    """Return a draft from the keywords of ``MemoryStore.add``; ``space`` is used if the record names none."""
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
    if None not in (begins := given["valid_from"], ends := given["valid_until"]) and begins >= ends:
        raise InputError("A memory is valid from valid_from until valid_until, so valid_until must be later.")
    given["text"] = given.get("text", "")
    value = given.get("tags", ())
    tags = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if not all(isinstance(tag, str) for tag in tags):
        raise InputError("tags must be a string or several, such as ['decision', 'prices'].")
    if len(tags) > identifiers.MOST_TAGS:
        raise InputError(
            f"A memory has up to {identifiers.MOST_TAGS:,} tags; these are {len(tags):,}. Put the rest in the text."
        )
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
    """Return a draft whose text can be stored as UTF-8 and has no recognisable secrets; long names are shortened."""
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
    title, tags = identifiers.short(title), tuple(dict.fromkeys(map(identifiers.short, tags)))
    if redacting:
        metadata = redact_values(metadata)
    # A pin makes a memory core; unpinning restores the tier below it.
    pinned, tier = (True, "note") if draft.tier == "core" else (draft.pinned, draft.tier)
    prefix = draft.context or markdown.context("", (), when=draft.event_at)
    if redacting and "://" in names["source"]:
        # A URL may have a password in it; a path is just the name of a file.
        names["source"] = _hidden(names["source"])
    return replace(
        draft, text=text, title=title, pinned=pinned, tier=tier, context=prefix, tags=tags, metadata=metadata, **names
    )


# Cuts texts into chunks: one for a short text, overlapping ones cut at natural places for a long one.

# Tokens of a chunk, of which neighbours share half at most.
CAPACITY = 448
# Only texts up to this many characters are counted before they are cut: a longer one very likely has too many tokens.
_COUNTED = 8_000
# Texts that are counted at once: each of their characters takes some hundred bytes.
_COUNTED_TOGETHER = 32
# Tokens that are kept free: the first word of a stretch may have more of them when the stretch is tokenised alone.
_SLACK = 12
# Characters of a signature and a docstring in a prefix.
_ABOUT = 300
# Tokens of neighbouring blocks that are one chunk together.
_SMALL = 60
_BREAKS = {"markdown": r"\n(?=#{1,6}[ \t])", "python": r"\n(?=[ \t]*+(?:async def|class|def)\b|[ \t]*+@\w)"}
# At the end of a paragraph, a line, a sentence, a word.
_ANYWHERE = tuple(re.compile(place) for place in (r"\n[ \t]*\n", r"\n", r"[.!?;:]\s|[。！？]", r"\s"))
_BLANKS = re.compile(r"\s*")


def _with_chunks(drafts: Sequence[Draft], places: Sequence[Sequence[Place]], capacity: int) -> list[Draft]:
    # Fills ``chunks`` where empty: exact stretches of the text; every character that is not blank is in one of them.
    # Tokens are the bundled static model's. ``context`` is the draft's, with the headings above a chunk of Markdown or
    # reStructuredText, or the class and function around one of code. ``places`` are the definitions in each draft.
    texts = [draft.text for draft in drafts if not draft.chunks]
    # A token is at least one character, unless the character is taken apart, as a syllable in Hangul is.
    counts = [len(text) if len(text) < capacity and text.isascii() else capacity + 1 for text in texts]
    unsure = [place for place, count in enumerate(counts) if count > capacity and len(texts[place]) <= _COUNTED]
    for some in batches(unsure, _COUNTED_TOGETHER):
        found = tokens([encodable(texts[place]) for place in some])
        for place, count in zip(some, found.counts.tolist(), strict=True):
            counts[place] = count
    lengths = iter(counts)

    done: list[Draft] = []
    for draft, of_it in zip(drafts, places, strict=True):
        if draft.chunks:
            done.append(draft)
            continue
        text, blocks = draft.text, list[Block]()
        if next(lengths) <= capacity:
            spans = [(0, len(text))] if text.strip() else []
        else:
            blocks = outline(draft.lang, text, of_it) if draft.kind == "file" else []
            spans = list(_split(text, draft.lang, blocks, capacity))
        chunks: list[Chunk] = []
        line, counted = markdown.first_line(draft.metadata) or 1, 0
        for (start, end), above in zip(spans, _contexts(draft, spans, blocks), strict=True):
            line, counted = line + text.count("\n", counted, start), start
            chunks.append(Chunk(start, end, above, line))
        done.append(replace(draft, chunks=tuple(chunks)))
    return done


def _contexts(draft: Draft, spans: Sequence[tuple[int, int]], blocks: Sequence[Block]) -> list[str]:
    if blocks:
        places = [start for start, _ in spans]
        contexts = []
        for within, start in zip(around(blocks, places), places, strict=True):
            # A chunk that goes on with a block also says how the block began.
            about = within[-1].about if within and within[-1].start < start else ""
            contexts.append(
                markdown.under(
                    draft.context, [one.name for one in within if one.name], identifiers.words_within(about, _ABOUT)
                )
            )
        return contexts
    if draft.kind != "file" or draft.lang not in ("markdown", "rst"):
        return [draft.context] * len(spans)
    found = markdown.headings(draft.text, draft.lang)
    above = markdown.paths(found, [start for start, _ in spans])
    # Text before the first heading (front matter, a licence) belongs to the document that this heading names.
    return [
        markdown.under(draft.context, path or [heading.text for heading in found[:1] if heading.start < end])
        for path, (_, end) in zip(above, spans, strict=True)
    ]


def _split(text: str, lang: str, blocks: Sequence[Block], capacity: int) -> Iterator[tuple[int, int]]:
    # Yields the stretches in order. Each ends at the strongest place in its second half (section, paragraph, line,
    # sentence, word), and the next begins at such a place among its last tokens. Where there are ``blocks``, none
    # reaches from one of the top level into another, unless both are small.

    # The tokenizer refuses lone surrogates.
    begins = array("q", starts(encodable(text)).tobytes())
    places = (re.compile(_BREAKS[lang]), *_ANYWHERE) if lang in _BREAKS else _ANYWHERE
    parts, begin, end = list[tuple[int, int]](), 0, 0
    for start, stop in stretches(lang, blocks, len(text)):
        if end > begin and bisect_left(begins, stop) - bisect_left(begins, begin) > _SMALL:
            parts.append((begin, end))
            begin = start
        end = stop
    done = 0
    for first, last in [*parts, (begin, end)]:
        for begin, end in _cut(text, first, last, begins, places, capacity):
            match = _BLANKS.match(text, begin, end)
            word = match.end() if match else begin
            start, end = max(begin, text.rfind("\n", begin, word) + 1), begin + len(text[begin:end].rstrip())
            # A stretch that ends where the one before did, but for blank lines, adds nothing.
            if start < end and end > done:
                done = end
                yield start, end


def _cut(
    text: str, begin: int, stop: int, begins: Sequence[int], places: Sequence[re.Pattern[str]], capacity: int
) -> Iterator[tuple[int, int]]:
    size = capacity - _SLACK
    first, last = bisect_left(begins, begin), bisect_left(begins, stop)
    while last - first > size:
        low, high = begins[first + size // 2], begins[first + size]
        ends = ([match.end() for match in place.finditer(text, low, high)] for place in places)
        end = next((found[-1] for found in ends if found), high)
        yield begin, end
        # Each stretch begins at least a quarter of the size further, whatever the overlap.
        low = begins[max(bisect_left(begins, end) - capacity // 2, first + size // 4)]
        begin = next((match.end() for place in places if (match := place.search(text, low, end - 1))), low)
        first = bisect_right(begins, begin) - 1
    yield begin, stop


def prepare(
    drafts: Sequence[Draft], embedder: Embedder | None, known: Mapping[str, Vectors] = {}, *, capacity: int = CAPACITY
) -> list[Prepared]:
    """Chunk drafts and embed all chunks; ``known`` has vectors that this embedder gave before, by their texts."""
    read = [
        definitions_and_places(draft.kind, draft.text) if draft.lang.lower() == PYTHON else None for draft in drafts
    ]
    chunked = _with_chunks(drafts, [() if one is None else one[1] for one in read], capacity)
    takes = embedder if isinstance(embedder, TokenEmbedder) else None
    # The title of each chunk's draft, its head and its text.
    pieces = [
        (
            draft.title,
            markdown.embedded_head(draft.kind, draft.title, chunk.context),
            draft.text[chunk.start : chunk.end],
        )
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
    words = [identifiers.ident_column(f"{title}\n{text}") for title, _, text in pieces]
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
    its name, else when it was ``committed``, else the one that it notes, else the last one of a part, else that of the
    file, which tells nothing where ``committed`` is ``UNKNOWN``.
    ``metadata["redacted"]`` counts the secrets hidden in the text; they are hidden in title, context and tags too.
    ``metadata["reading_notes"]`` of the first says what of the file is left out or uncertain.
    With ``pictures``, which are known ones by their origin, thumbnails are made of those that the parts show. Raises
    ``InputError`` if the file cannot be read, or is not what its name says.
    """
    reader = known_readers().reader_of(path)
    try:
        status = path.stat()
        when = committed or datetime.fromtimestamp(status.st_mtime, UTC)
        is_small = status.st_size < _LARGEST_POINTER and not getattr(reader, "unopened", False)
        if is_small and path.read_bytes().startswith(_POINTER):
            raise InputError("Git LFS has not fetched this file yet. Run `git lfs pull`, then index it again.")
        with reading(_hidden if redacting else None) as notes:
            document = reader.read(path)
            if committed in (None, UNKNOWN):
                document = replace(document, written=document.written or document.noted)
                when = max(filter(None, (part.written for part in document.parts)), default=when)
            below = path != root and path.is_relative_to(root)
            title = document.title or identifiers.short_path(path.relative_to(root).as_posix() if below else path.name)
            drafts = _drafts_of(document, path, title, when, redacting, pictures)
            if redacting:
                drafts = _redacted(drafts)
            drafts = _without_middles(drafts)
    except OSError as error:
        raise InputError(f"The file cannot be read: {error.strerror or type(error).__name__}.") from None
    if notes and drafts:
        drafts[0] = replace(drafts[0], metadata={**drafts[0].metadata, NOTES: notes})
    return drafts


def _without_middles(drafts: list[Draft]) -> list[Draft]:
    # Line breaks stay where they are, so that what is below a long line keeps its number.
    room, left_out = _LONG_LINES, 0
    for place, draft in enumerate(drafts):
        if len(draft.text) <= _LONG_LINE:
            continue
        lines = draft.text.split("\n")
        for number, line in enumerate(lines):
            if len(line) <= _LONG_LINE:
                continue
            kept = max(room, _LEAST_OF_LINE)
            room -= min(len(line), kept)
            if len(line) > kept:
                tail = kept // 4
                lines[number] = f"{line[: kept - tail]} {identifiers.CUT} {line[-tail:]}"
                left_out += len(line) - kept
        drafts[place] = replace(draft, text="\n".join(lines))
    if left_out:
        note(f"{left_out:,} characters of very long lines are left out")
    return drafts


def _redacted(drafts: list[Draft]) -> list[Draft]:
    texts = suspicious([draft.text for draft in drafts])
    # Checked apart from the texts: a character beyond ASCII, such as a title's dash, makes a whole string larger.
    others = suspicious(["\n".join((draft.title, draft.context, *draft.tags)) for draft in drafts])
    for place, (draft, hints, beside) in enumerate(zip(drafts, texts, others, strict=True)):
        metadata = draft.metadata
        # The options of a chunk have texts that are in no other field.
        if "options" in metadata or (draft.tags and (hints or beside)):
            metadata = redact_values(metadata)
        if not hints and not beside and metadata is draft.metadata:
            continue
        text, count = redact(draft.text, hints, draft.lang)
        if CLIPPED in draft.text:
            # Secrets that were hidden before clipping are counted by their marks.
            count += draft.text.count(REDACTED)
        draft = replace(draft, text=text, metadata={**metadata, "redacted": count} if count else metadata)
        # Secrets in title, context and tags are in some text too, and are counted there.
        if beside:
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
        return identifiers.short(_hidden(name) if redacting and len(name) > identifiers.LONGEST_NAME else name)

    on, reading = cache(markdown.day), PictureReader(pictures or {})
    stated = document.written or in_name(path.name, datetime.now(UTC))
    source, title = str(path.absolute()), named(title)
    every = ((*part.tags, *document.tags)[: identifiers.MOST_OF_FILE] for part in document.parts)
    tagged = [tuple(dict.fromkeys(map(named, tags))) for tags in every]
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
            context=markdown.context(
                title, list(map(named, part.headings)), part.above, on(part.written or stated or when)
            ),
            metadata={
                **part.metadata,
                **({markdown.LINE: part.line} if part.line else {}),
                # Noted apart from tags that a person adds, which stay when the file changes.
                **({"file_tags": list(tags)} if tags else {}),
            },
            pictures=NO_PICTURES if pictures is None or not part.pictures else reading.read(part.pictures),
        )
        for part, tags in zip(document.parts, tagged, strict=True)
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
        prefix = draft.context.removesuffix(markdown.day(draft.event_at))
        dated = f"{prefix}{markdown.day(earlier)}".rstrip("\n") if prefix != draft.context else draft.context
        return replace(draft, event_at=earlier, context=dated)

    def vectors(self, drafts: Sequence[Draft]) -> dict[str, Vectors]:
        """Return the vectors by the texts that they are of, also as those texts are with the new dates of drafts."""
        found = {markdown.embedding_text(*parts): vector for parts, vector in self.embedded}
        moments = {(self.dates.get(_content(draft)), draft.event_at) for draft in drafts} if self.embedded else ()
        days = {
            (markdown.day(before), markdown.day(after))
            for before, after in moments
            if before is not None and after is not None and UNKNOWN not in (before, after)
        }
        for before, after in ((before, after) for before, after in days if before != after):
            for parts, vector in self.embedded:
                if before in parts.context:
                    dated = parts._replace(context=parts.context.replace(before, after))
                    found.setdefault(markdown.embedding_text(*dated), vector)
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

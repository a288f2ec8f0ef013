"""What is shown of an answer: hits with their excerpts, notices and doubts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from functools import reduce
from itertools import chain
from math import nan
from operator import and_, attrgetter, itemgetter
from pathlib import PurePath
from typing import Any, NamedTuple
from unicodedata import name

from jupyter_memory.embedders.registry import MODELS, parted
from jupyter_memory.errors import InputError
from jupyter_memory.search.confidence import missed, verdict
from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.fusion import Ranked
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.search.query.parser import is_phrase
from jupyter_memory.search.query.reading import found_by
from jupyter_memory.search.query.terms import SENTENCE, share
from jupyter_memory.storage.base import Corpus
from jupyter_memory.storage.databases import SearchStorage
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.storage.sql import all_of
from jupyter_memory.text.code import is_code, name_of, telling_line
from jupyter_memory.text.dates import iso_day
from jupyter_memory.text.display import count_of, densest, fit
from jupyter_memory.text.languages import LANGUAGES, asked_in
from jupyter_memory.text.markdown import (
    first_line,
    first_words,
    heading_of,
    headings,
    headings_above,
    is_markdown,
    source_of,
)
from jupyter_memory.text.paths import plain_path
from jupyter_memory.types import Answer, Filters, Hit, Memory, Query
from jupyter_memory.types.search import EMPTY, NO_MATCH, NO_MATCH_FILTERED, UNANSWERED

WIDTH = 160
LEAD = 40  # what is shown before the first highlighted word

Span = tuple[int, int]


def snippet(
    text: str, spans: Sequence[Span], width: int = WIDTH, *, code: bool = False
) -> tuple[str, tuple[Span, ...]]:
    """Return at most about ``width`` characters of a text, and where its highlights are in them.

    ``spans`` are ``[start, end)`` in code points of ``text``, in order; without any, the text is shown from its
    beginning. Prose is shown in one line, code in up to four of its own.
    """
    if code:
        return _lines(text, spans, width)
    place, shown, at = {}, "", 0
    for mark in sorted({*chain.from_iterable(spans), len(text)}):
        piece = text[at:mark]
        if piece[:1].isspace() and shown and shown[-1] != " ":
            shown += " "
        shown += " ".join(piece.split())
        if piece[-1:].isspace() and shown and shown[-1] != " ":
            shown += " "
        place[mark] = len(shown)
        at = mark
    return _cut(shown.removesuffix(" "), [(place[a], place[b]) for a, b in spans if place[b] > place[a]], width)


def _cut(
    text: str, spans: Sequence[Span], width: int, *, before: bool = False, after: bool = False
) -> tuple[str, tuple[Span, ...]]:
    # The best stretch of one line; `before` and `after` tell that the line is not all there was.
    start = _best_start(text, spans, width)
    stop = min(len(text), start + width)
    if start > 0 and text[start - 1] != " ":
        start = max(start, text.find(" ", start, start + LEAD // 2) + 1)
    if stop < len(text):
        stop = max(text.rfind(" ", start + width // 2, stop), start) if " " in text[start + width // 2 : stop] else stop
    lead, tail = "…" if before or start > 0 else "", "…" if after or stop < len(text) else ""
    shift = len(lead) - start
    inside = tuple((a + shift, b + shift) for a, b in spans if a >= start and b <= stop)
    return lead + text[start:stop] + tail, inside


def _with_literal(text: str, spans: Sequence[Span], literals: Sequence[str]) -> list[Span]:
    found = list(spans)
    for literal in literals:
        found += (match.span() for match in re.finditer(re.escape(literal), text))
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def thickest(text: str, spans: Sequence[Span]) -> Span:
    """Return where the first highlight that a snippet shows begins and the last one ends; without any, all the text."""
    start = _best_start(text, spans, WIDTH)
    inside = [(a, b) for a, b in spans if a >= start and b <= start + WIDTH]
    return (inside[0][0], inside[-1][1]) if inside else (0, len(text))


def _best_start(text: str, spans: Sequence[Span], width: int) -> int:
    if len(text) <= width:
        return 0
    start = densest([(a, b, text[a:b].casefold()) for a, b in spans], width, LEAD)
    return min(start, max(0, len(text) - width))


LINES = 4
_LINE = re.compile(r"^([^\S\n]*+)(\S(?:[^\n]*\S)?)", re.MULTILINE)
# What else ends a line to somebody or other; one for one, so that no place moves, and blank lines are left out.
_BREAK = re.compile("[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
# Less of a line than this says nothing.
_PIECE = 24


def _lines(text: str, spans: Sequence[Span], width: int) -> tuple[str, tuple[Span, ...]]:
    # A span that goes over lines becomes one in each. Lines are whole where they fit. Blank ones are left out, and so
    # is the indentation that those shown have in common; ``…`` tells that there is more before or after them.
    text = _BREAK.sub("\n", text)
    lines = [_Line(found.start(), found.start(2), found.end()) for found in _LINE.finditer(text)]
    if not lines:
        return "", ()
    block = _Block(text, lines, width)
    starts, marks = [line.start for line in lines], []
    for start, stop in spans:
        number = max(0, bisect_right(starts, start) - 1)
        while number < len(lines) and lines[number].start < stop:
            a, b = max(start, lines[number].begin), min(stop, lines[number].end)
            if a < b:
                marks.append((number, a, b))
            number += 1
    first, last = _thickest(block, marks)
    if block.fits(first, last):
        # A lone bracket is nothing to begin with.
        if block.fits(first - 1, last) and block.says(first - 1):
            first -= 1
        while block.fits(first, last + 1):
            last += 1
        while block.fits(first - 1, last) and block.says(first - 1):
            first -= 1
        return _joined(block, first, last, marks)
    line = lines[first]
    inside = [(a - line.begin, b - line.begin) for _, a, b in marks if line.begin <= a < line.end]
    return _cut(text[line.begin : line.end], inside, width, before=first > 0, after=last + 1 < len(lines))


class _Line(NamedTuple):
    start: int
    begin: int
    end: int


# The number of a line, and what is marked in it, in code points of the text.
_Mark = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    lines: list[_Line]
    width: int

    def indent(self, first: int, last: int) -> int:
        indents = [self.text[line.start : line.begin] for line in self.lines[first : last + 1]]
        # In the order of their characters, what the first and the last have in common all have.
        least, most = min(indents), max(indents)
        return next((i for i, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), len(least))

    def length(self, first: int, last: int, indent: int) -> int:
        return sum(line.end - line.start - indent + 1 for line in self.lines[first : last + 1]) - 1

    def says(self, number: int) -> bool:
        return any(map(str.isalnum, self.text[self.lines[number].begin : self.lines[number].end]))

    def fits(self, first: int, last: int) -> bool:
        if first < 0 or last >= len(self.lines) or last - first >= LINES:
            return False
        return self.length(first, last, self.indent(first, last)) <= self.width


def _thickest(block: _Block, marks: Sequence[_Mark]) -> tuple[int, int]:
    words: dict[int, set[str]] = {}
    for number, a, b in marks:
        if b - a <= block.width - LEAD:  # what is longer may not be shown
            words.setdefault(number, set()).add(block.text[a:b].casefold())
    best, found = 0, (0, 0)
    for first in words:
        held: set[str] = set()
        for last in range(first, first + LINES):
            held = held | words.get(last, set())
            if len(held) > best and (last == first or block.fits(first, last)):
                best, found = len(held), (first, last)
    return found


def _joined(block: _Block, first: int, last: int, marks: Sequence[_Mark]) -> tuple[str, tuple[Span, ...]]:
    indent = block.indent(first, last)
    ends = [line.end for line in block.lines[first : last + 1]]
    after, piece = last + 1, 0
    if after < len(block.lines) and after - first < LINES:
        # As much of the line that follows as has room.
        narrow, line = block.indent(first, after), block.lines[after]
        stop = line.start + narrow + block.width - block.length(first, last, narrow) - 1
        if stop - line.begin >= _PIECE:
            space = block.text.rfind(" ", line.begin + _PIECE // 2, stop + 1)
            piece = line.begin + len(block.text[line.begin : space if space > 0 else stop].rstrip())
            indent, last = narrow, after
            ends.append(piece)
    shown = "…" if first else ""
    found: list[Span] = []
    for number, end in enumerate(ends, first):
        start = block.lines[number].start + indent
        shift = len(shown) - start
        found += [(a + shift, b + shift) for line, a, b in marks if line == number and b <= end]
        shown += block.text[start:end] + "\n"
    more = piece or last + 1 < len(block.lines)
    return shown[:-1] + ("…" if more else ""), tuple(found)


COUNTED = ("kind", "lang", "tier", "tag")


def hits(
    snapshot: Snapshot,
    query: Query,
    profile: Profile,
    ranked: Sequence[Ranked],
    strengths: Sequence[float] | None = None,
) -> list[Hit]:
    """Return ranked candidates as hits, with the strength of each where it was computed."""
    spans = snapshot.spans(list(map(attrgetter("candidate.chunk"), ranked)))
    by_keyword = ranked[0].table.rankings["keyword"].scores if ranked else {}
    texts, by_words = dict[int, str](), dict[int, str]()
    for one in ranked:
        chunk, span = one.candidate.chunk, spans[one.candidate.chunk]
        texts[chunk] = one.candidate.memory.text[span.start : span.stop]
        if one.candidate.key in by_keyword:
            by_words[chunk] = texts[chunk]
    highlights = snapshot.highlights(query.terms, profile.columns, by_words)
    made = []
    for one, strength in zip(ranked, [nan] * len(ranked) if strengths is None else strengths, strict=True):
        memory, chunk = one.candidate.memory, one.candidate.chunk
        span, text = spans[chunk], texts[chunk]
        marked: Sequence[Span] = highlights.get(chunk, ())
        if query.terms.ident and chunk in by_words:
            marked = _with_literal(text, marked, query.terms.ident)
        shown, marks = snippet(text, marked, code=is_code(memory.kind, memory.lang))
        key, rankings = one.candidate.key, one.table.rankings
        first, last = thickest(text, marked)
        named, context = _names(memory, span.context)
        said = one.evidence
        made.append(
            Hit(
                rank=one.rank,
                memory=memory,
                snippet=shown,
                highlights=marks,
                location=memory.place(span.line),
                score=one.score,
                strength=strength,
                kw_rank=rankings["keyword"].ranks.get(key),
                sem_rank=rankings["vector"].ranks.get(key),
                bm25=by_keyword[key] if key in by_keyword else getattr(said.get("keyword"), "value", nan),
                cosine=nan if one.candidate.cosine is None else one.candidate.cosine,
                signals=said,
                context=context,
                span=(span.start + first, span.start + last),
                named=named,
                validity=memory.outside(query.now),
            )
        )
    return made


def unranked(memories: Sequence[Memory], prefixes: Mapping[str, str], now: datetime) -> tuple[Hit, ...]:
    """Return memories that were not ranked as hits, in their order; ``prefixes`` are structural ones, by id."""
    made = []
    for rank, memory in enumerate(memories, start=1):
        named, context = _names(memory, prefixes.get(memory.id, ""))
        shown, _ = snippet(memory.text[:1000], (), code=is_code(memory.kind, memory.lang))
        validity = memory.outside(now)
        made.append(Hit(rank, memory, shown, (), memory.place(), context=context, named=named, validity=validity))
    return tuple(made)


def with_matches(answer: Answer) -> Answer:
    """Return an answer whose hits show what an expression in its query matches."""
    if not any(map(attrgetter("regex"), all_of(answer.query.filters))):
        return answer
    hits = []
    for hit in answer.hits:
        memory = hit.memory
        marked = _with_literal("", found_by(answer.query.filters, memory), ())
        shown, marks = snippet(memory.text, marked, code=is_code(memory.kind, memory.lang))
        span = thickest(memory.text, marked)
        place = memory.place((first_line(memory.metadata) or 1) + memory.text.count("\n", 0, span[0]))
        hits.append(replace(hit, snippet=shown, highlights=marks, span=span, location=place))
    return replace(answer, hits=tuple(hits))


# What only counts, "10." or "Exercise 3", says nothing by itself, and "10. Trees" little.
_COUNTS = re.compile(r"\b(?:exercise|part|step|task|question|problem|section|chapter|cell)s?\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3}|[^\W\d_\x00-\x7f]")
_NUMBERED = re.compile(r"\W*(?:\d+|[A-Za-z])[.)]")
_LONGEST_NAME = 60


def _names(memory: Memory, prefix: str) -> tuple[str, str]:
    # What a cell of a notebook is called, and the headings above that.
    above = headings_above(prefix, memory.title, memory.kind)
    if memory.kind != "cell" or not memory.location:
        return "", above
    heading, source, outer = heading_of(prefix, memory.title, "cell"), source_of(memory.text), above.split(" > ")
    document = memory.title.removesuffix(f" – {heading}") if heading else memory.title
    is_prose = is_markdown("cell", memory.lang)
    own = [one.text for one in headings(source)] if is_prose else []
    names = [heading if heading in own or not own else own[0]]
    while above and outer and (not _says(names[0]) or (len(names) == 1 and _NUMBERED.match(names[0]))):
        names.insert(0, outer.pop())
    telling = "" if own or is_prose else name_of(source)
    if not own and not telling and not any(map(_says, names)):
        telling = first_words(source) if is_prose else telling_line(source)
    names.append(fit(telling, _LONGEST_NAME).rstrip(" :,;"))
    said = " › ".join(filter(None, names))
    return f"{document} – {said}" if said else "", " > ".join(outer)


def _says(heading: str) -> bool:
    return _WORD.search(_COUNTS.sub("", heading)) is not None


def facets(ranked: Sequence[Ranked]) -> dict[str, dict[str, int]]:
    """Return counts by value for each facet, the most frequent value first; what has no value is not counted."""
    memories = list(map(attrgetter("candidate.memory"), ranked))
    found = {}
    for facet in COUNTED:
        values = map(attrgetter("tags" if facet == "tag" else facet), memories)
        found[facet] = in_order(Counter(chain.from_iterable(values) if facet == "tag" else values))
    return found


def in_order(counts: dict[str, int]) -> dict[str, int]:
    """Return counts with the most frequent value first, equal ones by name, the empty value left out."""
    by_name = sorted(filter(itemgetter(0), counts.items()))
    return dict(sorted(by_name, key=itemgetter(1), reverse=True))


_SAYINGS = {
    "tag": "has the tag",
    "kind": "has the kind",
    "tier": "has the tier",
    "path": "comes from",
    "lang": "is in the language",
    "space": "is in the space",
    "session": "belongs to the session",
}
_LACKS = {"path": "comes from a file", "lang": "has a language"}
# A query by program may name a thousand paths: then its filters are no slip of the finger.
_MOST_CHECKED = 20
_SHOWN = 4


def with_notices(answer: Answer, storage: SearchStorage) -> Answer:
    """Return an answer that also tells which of its filters nothing in the store fits."""
    filters = answer.query.filters
    if answer.hits and not filters:
        return answer
    with storage.snapshot() as snapshot:
        if not snapshot.exists(Filters()):
            return replace(answer, notices=(EMPTY,))
        found = tuple(_notices(snapshot, answer.query, bool(answer.hits)))
    return replace(answer, notices=(*answer.notices, *found)) if found else answer


def _notices(snapshot: Snapshot, query: Query, answered: bool) -> Iterator[str]:
    filters, parts = query.filters, list(all_of(query.filters))
    unmet, idle = (
        [notice for part in parts for one in _SAYINGS for notice in _unmet_values(snapshot, part, one, unwanted)]
        for unwanted in (False, True)
    )
    yield from dict.fromkeys((*unmet, *idle))
    for word in dict.fromkeys(word for part in parts for word in part.not_word):
        sign = "minus" if f"-{word}" in query.written else "NOT"
        yield (
            f"Memories that contain “{word}” are excluded because of the {sign} before it. "
            "Quote the word to search for it."
        )
    searched = list(all_of(query.within))
    if any(part.since or part.until for part in searched):
        # A date filter leaves out what has no date, which nobody would guess from the answer.
        anytime = reduce(and_, (replace(part, since=None, until=None, also=None) for part in searched))
        if undated := snapshot.count_undated(anytime):
            are = count_of(undated, "memory", "memories")
            yield f"{are} without a known date {'is' if undated == 1 else 'are'} left out."
    if answered or unmet:
        return
    if snapshot.exists(filters):
        yield NO_MATCH if not filters else NO_MATCH_FILTERED
        return
    then = [part.as_of for part in parts if part.as_of is not None]
    if then and not snapshot.exists(Filters(as_of=min(then))):
        yield "Nothing that is here now was stored by then."
        return
    since = [part.since for part in parts if part.since is not None]
    until = [part.until for part in parts if part.until is not None]
    if snapshot.exists(Filters(since=max(since, default=None), until=min(until, default=None))):
        yield "No memory matches all of these filters. Remove one of them."
    else:
        first, last = map(iso_day, snapshot.event_span())
        span = f": its memories are from {first}" + (f" to {last}" if first != last else "") if first else ""
        yield f"Nothing in this store is from that time{span}."


def _unmet_values(snapshot: Snapshot, filters: Filters, facet: str, unwanted: bool) -> Iterator[str]:
    values: tuple[str, ...] = getattr(filters, f"not_{facet}" if unwanted else facet)
    consequence = ", so this filter excludes nothing" if unwanted else ""
    for value in values if len(values) <= _MOST_CHECKED else ():
        alone: dict[str, Any] = {facet: (value,)}
        if snapshot.exists(Filters(**alone)):
            continue
        known, shown = snapshot.facet_values(facet), value
        if facet == "path":
            dotted = value.startswith("~") or not {".", ".."}.isdisjoint(value.split("/"))
            shown = _in_full(value) if dotted and "://" not in value else value
            near = _nearest_paths(shown, known)
        else:
            by_fold = {one.casefold(): one for one in known}
            near = [by_fold[one] for one in get_close_matches(value.casefold(), by_fold, n=3)]
        if near:
            hint = f"Did you mean {' or '.join(map(repr, near))}?"
        elif known:
            listed = folders(known) if facet == "path" else sorted(known)
            more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
            hint = f"Known: {', '.join(listed[:_SHOWN])}{more}."
        else:
            hint = f"No memory {_LACKS.get(facet, f'has a {facet}')}."
        yield f"Nothing in this store {_SAYINGS[facet]} {shown!r}{consequence}. {hint}"


def _in_full(value: str) -> str:
    try:
        return str(plain_path(value))
    except InputError:  # "~name" of nobody here
        return value


def _nearest_paths(value: str, sources: Iterable[str]) -> list[str]:
    # A folder above the path is none of them: it holds far more than what was named.
    place = PurePath(_in_full(value))
    above = set(map(str, place.parents))
    by_name: dict[str, str] = {}
    for source in sources:
        path = PurePath(source)
        for one in (path, *path.parents):
            if one.name and str(one) not in above:
                by_name.setdefault(one.name.casefold(), str(one))
    name = place.name.casefold()
    near = [one for one in by_name if name and one.startswith(name)] or get_close_matches(name, by_name, cutoff=0.7)
    return [by_name[one] for one in near[:2]]


def folders(sources: Iterable[str]) -> list[str]:
    """Return the folders of files, without those below another, and the addresses among them."""
    sources = set(sources)
    addresses = {source for source in sources if "://" in source}
    found = {path.parent if path.parent.name else path for path in map(PurePath, sources - addresses)}
    return sorted(str(folder) for folder in found if found.isdisjoint(folder.parents)) + sorted(addresses)


def doubts(context: SearchContext, embedder: str, strength: float, hits: int) -> Iterator[str]:
    """Yield why the hits may be no answer, or why there are none."""
    judged = verdict(strength)
    # A question that is answered well can be read here, whatever language it is in.
    foreign = _foreign_question(context.query, context.corpus, embedder) if judged != "strong" else None
    if foreign:
        yield foreign
    if not hits:
        return
    # In another language nearly every word is missing; and a missing phrase was told of before.
    lacking = () if foreign else missed(context.asked_words)
    told = set(filter(is_phrase, context.query.terms.phrases))
    if words := [f"“{word.text}”" for word in lacking if word.text not in told]:
        *others, last = words
        yield f"No memory contains {', '.join(others)} or {last}." if others else f"No memory contains {last}."
    if judged == "none":
        yield UNANSWERED


# Below this share of the memories, what answers a question is more likely in another language.
_HARDLY_ANY = 0.02
# Fewer may lack even the most frequent words of the language that they are in.
_FEWEST = 50
# Pairs of characters that make a question and not a name.
_PAIRS = 2
# Kana stand in Japanese only, and Han in both: so they come last.
_SCRIPTS: Mapping[str, str] = {
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "THAI": "Thai",
    "CJK": "Chinese",
}


def _foreign_question(query: Query, corpus: Corpus, embedder: str) -> str | None:
    # The words of a question in a language that hardly any memory is in cannot answer it, nor can a model that reads
    # English.
    language = None
    if corpus.chunks < _FEWEST:
        return None
    asked = asked_in(query.text)
    pairs = [pair for pair in query.terms.ident if len(pair) > 1]
    if asked.language and asked.words >= SENTENCE and share(corpus, asked.language) < _HARDLY_ANY:
        language = LANGUAGES[asked.language].name
    elif len(pairs) >= _PAIRS and not any(corpus.frequencies(pairs).values()):
        scripts = {name(character, "").split(" ")[0] for character in "".join(pairs)}
        language = next((language for script, language in _SCRIPTS.items() if script in scripts), None)
    known = parted(embedder)[0] if language is not None else ""
    # A model that is none of ours may well read the language.
    if language is None or (known and known not in MODELS):
        return None
    said = f"This question looks {language}, but hardly any memory here is in {language}"
    if not known:
        return f"{said}, and the search used words only. Ask in the language of your notes."
    return (
        f"{said}, and the model {known} reads English. Ask in English, "
        "or use a multilingual model: `model use mlx:FOLDER`."
    )

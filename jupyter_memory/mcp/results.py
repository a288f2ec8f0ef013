"""Answers to agents within a budget of tokens: hits, the status of a store, texts in pieces that fit."""

from __future__ import annotations

import re
import secrets
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice, takewhile
from math import isnan, log
from os.path import commonprefix
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field

from jupyter_memory.mcp.bound import Bound, ToolError
from jupyter_memory.search.prompt import CAUTION, Quotes, quotes_for, reads_like_instructions, seen
from jupyter_memory.text.display import densest, fit_end
from jupyter_memory.text.identifiers import bigrams, without_file
from jupyter_memory.text.languages import STOP_WORDS, estimated_tokens
from jupyter_memory.text.paths import is_missing
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Answer, Hit, Memory


class Result(BaseModel):
    """An answer, or a part of one; None is left out."""

    def values(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_none=True)


class Place(Result):
    id: str
    title: str | None = None
    path: str | None = None
    cell: int | None = None
    line: int | None = None
    date: str | None = None
    kind: str | None = None
    lang: str | None = None
    tags: list[str] | None = None
    caution: str | None = None


class FoundMemory(Place):
    """A hit; ``tokens`` is what its whole text would cost, where ``text`` is not that."""

    file: Literal["changed", "gone"] | None = Field(None, description="since it was indexed")
    badges: str | None = None
    strength: float | None = None
    context: str | None = None
    folder_description: str | None = None
    snippet: str | None = None
    text: str | None = None
    tokens: int | None = None


class Shared(Result):
    """What all hits of a page have in common; their paths begin with ``folder``."""

    folder: str | None = None
    path: str | None = None
    title: str | None = None
    context: str | None = None
    folder_description: str | None = None
    date: str | None = None
    kind: str | None = None
    lang: str | None = None
    badges: str | None = None


class SearchResult(Result):
    verdict: Literal["strong", "weak", "none"] | None = None
    shared: Shared | None = Field(None, description="of every hit; paths go on from folder")
    hits: list[FoundMemory]
    next: str | None = Field(None, description="cursor of more")
    time: str | None = None
    note: str | None = None
    rule: str | None = None
    tokens: int


class ReadMemory(Place):
    """A memory that was read; where its text, of ``length`` characters, is not whole, from ``start`` to ``end``."""

    text: str
    start: int | None = None
    end: int | None = None
    length: int | None = None
    next_offset: int | None = None


class GetResult(Result):
    """``left`` had no room, ``missing`` cannot be seen."""

    memories: list[ReadMemory]
    left: list[str] | None = None
    missing: list[str] | None = None
    note: str | None = None
    rule: str
    tokens: int


class RememberResult(Result):
    id: str
    redacted: int = Field(description="secrets replaced")
    note: str | None = None
    tokens: int


class ForgetResult(Result):
    forgotten: int
    tokens: int


class PinResult(Result):
    changed: int
    tokens: int


class StatusResult(Result):
    """Counts of what a client may see."""

    memories: int
    kinds: dict[str, int]
    languages: dict[str, int]
    tags: list[str]
    folders: list[str] = Field(description="for filters.path")
    bounds: list[str]
    writing: str
    rule: str
    tokens: int


_R = TypeVar("_R", bound=Result)
# A text is cut at the ends of such pieces: of a line, or of a word in a long line.
_LONGEST_PIECE = 120
_PIECE = re.compile(r"[^\n]{0,119}(?:\n|\s)|[^\n]{1,120}")
# Only the beginning of a longer text is counted, and the rest in proportion.
_COUNTED = 20_000


def cost(answer: Result) -> int:
    """Return the estimate of an answer's tokens, as a program gets it."""
    return estimated_tokens(json_text(answer.values(), compact=True))


def stated(answer: _R, tokens: int) -> _R:
    """Return an answer that states its tokens: at least what it costs with the number in it."""
    return answer.model_copy(update={"tokens": tokens})


def priced(answer: _R, most: int) -> _R:
    return stated(answer, cost(stated(answer, most)))


def fitted(make: Callable[[int], _R], cuts: int, max_tokens: int) -> _R:
    """Return the answer with the fewest cuts that costs ``max_tokens`` at most; ``make(cuts)`` has no hits left."""

    # The number that is stated at the end has no more digits.
    @cache
    def cost_of(count: int) -> int:
        return cost(stated(make(count), max_tokens))

    few, many = 0, cuts
    if cost_of(few) > max_tokens:
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (middle, many) if cost_of(middle) > max_tokens else (few, middle)
    else:
        many = few
    needed = cost_of(many)
    if needed > max_tokens:
        raise ToolError(f"max_tokens: the smallest answer needs {needed}. Ask for more tokens, or for fewer ids.")
    return stated(make(many), needed)


def text_cost(text: str) -> int:
    """Return about how many tokens a memory's whole text costs."""
    if len(text) <= _COUNTED:
        return estimated_tokens(text)
    return round(estimated_tokens(text[:_COUNTED]) * len(text) / _COUNTED)


def text_tokens(text: str) -> int:
    """Return the estimate of a text's tokens within an answer, where it is JSON."""
    return estimated_tokens(json_text(text)[1:-1])


def cut_end(text: str, start: int, tokens: int, shown: Callable[[str], str]) -> int:
    """Return where to cut a text from ``start`` on, to fit so many tokens: at the end of a line, or else of a word."""
    end, spent = start, 0
    for found in _PIECE.finditer(text, start):
        # Pieces cost apart at least what they cost together: words, rules and blanks are counted twice at the cut.
        spent += text_tokens(shown(found[0]))
        if spent > tokens:
            break
        end = found.end()
    if end > start:
        return end
    longest = min(_LONGEST_PIECE, len(text) - start)
    costs = (text_tokens(shown(text[start : start + length])) for length in range(1, longest + 1))
    return start + sum(1 for _ in takewhile(lambda cost: cost <= tokens, costs))


_SHORT, _SHORT_PATH, _SHORT_TITLE = 80, 80, 60
# Levels of a hit, from everything to nothing: its whole text, its snippet, a short one, only what names it, nothing.
_FULL, _SNIPPET, _SHORTENED, _NAMED, _GONE = range(5)


@dataclass(frozen=True, slots=True)
class Page:
    """The hits of an answer from ``start`` on, as they are asked for: not their texts, which are read anew.

    ``more`` searches for all hits that there are pages for: most programs never ask for a second page.
    """

    token: str
    query: str
    hits: tuple[Hit, ...]
    verdict: str | None
    time: str | None = None
    start: int = 0
    notices: tuple[str, ...] = ()
    quotes: Quotes | None = None
    more: Callable[[], Answer] | None = None


class Pages:
    """The last answers of a server, so that their next pages lose and repeat nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Page] = OrderedDict()

    def first(self, answer: Answer, notices: tuple[str, ...], more: Callable[[], Answer] | None = None) -> Page:
        """Keep an answer with its notices, and return its first page."""
        time = answer.time_range if answer.query.temporal is not None else None
        told = None if time is None else "/".join((day or "..")[:10] for day in time)
        page = Page(
            secrets.token_hex(4), answer.query.written, answer.hits, answer.verdict, told, notices=notices, more=more
        )
        self.keep(page)
        return page

    def at(self, cursor: str) -> Page:
        token, _, start = cursor.partition(".")
        with self._lock:
            kept = self._kept.get(token)
        if kept is None or not (
            start.isascii() and start.isdecimal() and len(start) < 6 and int(start) <= len(kept.hits)
        ):
            raise ToolError("cursor: it is unknown, or its answer is too old. Search again without it.")
        if kept.more is not None:
            # Those that were found first stay where they were.
            known = {hit.memory.id for hit in kept.hits}
            others = tuple(hit for hit in kept.more().hits if hit.memory.id not in known)
            kept = replace(kept, hits=(*kept.hits, *others), more=None)
            self.keep(kept)
        return replace(kept, start=int(start))

    def keep(self, page: Page) -> None:
        """Keep a page in place of the one with its token; an agent seldom goes back further than these."""
        with self._lock:
            self._kept[page.token] = page
            while len(self._kept) > 16:
                self._kept.popitem(last=False)


def page_result(
    page: Page, memories: Sequence[Memory], limit: int, full: bool, max_tokens: int
) -> tuple[SearchResult, Quotes]:
    """Return a page of hits, and its borders; ``memories`` are those of its answer that are there and may be seen.

    What costs too much is cut in this order, the last hits first: whole texts, long snippets, all but the names of
    hits, hits.
    """
    there = {memory.id: memory for memory in memories}
    rows = [(place, hit) for place, hit in enumerate(page.hits) if place >= page.start and hit.memory.id in there]
    shown, rest = rows[:limit], rows[limit:]
    found = [replace(hit, memory=there[hit.memory.id]) for _, hit in shown]
    texts = list(page.notices)
    for hit in found:
        memory = hit.memory
        texts += [memory.text, hit.named or memory.title, memory.failure, memory.source, memory.location, memory.lang]
        texts += [hit.context, hit.snippet, hit.folder_description, *memory.tags]
    quotes = page.quotes if page.quotes is not None and page.quotes.fit(texts) else quotes_for(texts)
    tokens = [text_cost(hit.memory.text) for hit in found]
    first = _FULL if full else _SNIPPET
    levels = _GONE - first
    # Notices name tags and paths of the store.
    note = " ".join(quotes.line(notice, 200) for notice in page.notices[:3])

    def make(cuts: int) -> SearchResult:
        whole, part = divmod(cuts, len(found)) if found else (0, 0)
        at = [first + whole + (place >= len(found) - part) for place in range(len(found))]
        hits = [
            _hit(hit, level, cost, quotes) for hit, level, cost in zip(found, at, tokens, strict=True) if level < _GONE
        ]
        after = [place for place, _ in (*shown[len(hits) :], *rest)]
        shared, hits = apart(hits)
        following = f"{page.token}.{after[0]}" if after else None
        # What the first page says of the answer holds for the others.
        about = {"verdict": page.verdict, "time": page.time, "note": note or None} if page.start == 0 else {}
        rule = quotes.rule if quotes != page.quotes else None
        told = {**about, "shared": shared, "hits": hits, "next": following, "rule": rule, "tokens": 0}
        return SearchResult.model_validate(told)

    # All but one hit may be cut: an answer without any would only be asked for again.
    return fitted(make, max(0, levels * len(found) - 1), max_tokens), quotes


def place_of(
    memory: Memory, location: str, quotes: Quotes, validity: str, named: str = "", short: bool = False
) -> dict[str, object]:
    """Return what names a memory: where it comes from, when it is of, and whether it reads like instructions."""
    is_notebook = memory.source.lower().endswith(".ipynb")
    path = fit_end(memory.source, _SHORT_PATH) if short else memory.source
    title = without_file(named or memory.title, memory.source)
    against = quotes.line(memory.failure, _SHORT), validity
    caution = reads_like_instructions(title, memory.source, *memory.tags)
    return {
        "id": memory.id,
        "title": " – ".join(filter(None, (quotes.line(title, _SHORT_TITLE if short else 160), *against))) or None,
        "path": quotes.line(path, 1_000) or None,
        "cell": memory.cell if is_notebook else None,
        "line": int(location) if memory.kind == "file" and not is_notebook and location.isdecimal() else None,
        "date": memory.dated and memory.dated.date().isoformat(),
        "kind": memory.kind,
        "lang": None if short else quotes.line(memory.lang, 40) or None,
        "tags": None if short else [quotes.line(tag, 50) for tag in memory.tags[:10]] or None,
        "caution": CAUTION if caution else None,
    }


def _hit(hit: Hit, level: int, tokens: int, quotes: Quotes) -> FoundMemory:
    named = place_of(hit.memory, hit.location, quotes, hit.validity, hit.named, level >= _NAMED)
    # A short text is shown whole: to ask for it would cost more than its snippet saves.
    whole = level == _FULL or (level == _SNIPPET and tokens <= 150)
    said = hit.memory.text if whole else hit.snippet if level == _SNIPPET else hit.snippet[:_SHORT]
    if level < _NAMED and reads_like_instructions(said, hit.context):
        named["caution"] = CAUTION
    return FoundMemory.model_validate(
        {
            **named,
            "file": hit.freshness if hit.freshness in ("changed", "gone") else None,
            "badges": hit.badges or None,
            "strength": None if isnan(hit.strength) else round(hit.strength, 2),
            "context": quotes.line(hit.context) or None if level < _SHORTENED else None,
            "folder_description": quotes.line(hit.folder_description, 300) or None if level < _SHORTENED else None,
            "snippet": quotes.text(said) if level < _NAMED and said and not whole else None,
            "text": quotes.text(said) if whole else None,
            "tokens": None if whole else tokens,
        }
    )


def apart(hits: Sequence[FoundMemory]) -> tuple[Shared | None, list[FoundMemory]]:
    """Return what several hits have in common, None if there is nothing, and the hits without it."""
    if len(hits) < 2:
        return None, list(hits)
    values = [vars(hit) for hit in hits]
    common = {name: values[0][name] for name in Shared.model_fields if values[0].get(name) is not None}
    common = {name: value for name, value in common.items() if all(one[name] == value for one in values)}
    without = dict.fromkeys(common)
    rest = [hit.model_copy(update=without) for hit in hits]
    paths = [hit.path for hit in rest if hit.path is not None]
    # Up to the last separator that they share, whichever system wrote it.
    same = commonprefix(paths) if len(paths) > 1 else ""  # noqa: RUF071
    folder = same[: max(same.rfind("/"), same.rfind("\\")) + 1]
    # A short folder costs more than it saves, and a path that reads like instructions stands within borders, which are
    # not to be taken apart.
    if len(folder) >= 8 and not folder.startswith("<stored-"):
        common["folder"] = folder
        rest = [hit if hit.path is None else hit.model_copy(update={"path": hit.path[len(folder) :]}) for hit in rest]
    return Shared.model_validate(common) if common else None, rest


def status_result(facets: Mapping[str, Mapping[str, int]], folders: Sequence[str], bound: Bound) -> StatusResult:
    """Return counts of what a client may see, the folders that it is from, and what it may do."""
    quotes = quotes_for((*facets["tag"], *facets["lang"], *folders, bound.space, *bound.paths))
    listed = [quotes.line(folder, 200) for folder in folders[:20]]
    more = [f"and {len(folders) - len(listed)} more"] if len(folders) > len(listed) else []
    tags, languages = (list(facets[name].items())[:20] for name in ("tag", "lang"))
    space = [f"space {bound.space}"] if bound.space else []
    paths = [f"path {path}{' (nothing is there now)' if is_missing(path) else ''}" for path in bound.paths]
    writing = "yes; forgets anything here" if bound.forgetting_any else "yes; forgets its own notes"
    result = StatusResult(
        memories=sum(facets["kind"].values()),
        kinds=dict(facets["kind"]),
        languages={quotes.line(name, 40): count for name, count in languages},
        tags=[f"{quotes.line(tag, 50)} {count}" for tag, count in tags],
        folders=[*listed, *more],
        bounds=[
            *(f"store {name}" for name in bound.stores),
            *space,
            *paths,
            "with what was run" if bound.history else "without what was run",
        ],
        writing=writing if bound.writing else "no",
        rule=quotes.rule,
        tokens=0,
    )
    return priced(result, 9_999)


_Stretch = tuple[int, int]
# The mark between two stretches, and its cost with its line breaks.
GAP = "\n[…]\n"
_GAP_COST = 6
# Characters of a block: about 100 tokens, unless its only line has more, up to three times as many.
_BLOCK = 400
_WORD = re.compile(r"\w{2,}")
# Words with equal beginnings are mostly forms of one.
_BEGINNING = 6
# Characters before words that are in a text exactly as they were asked for.
_LEAD = 400
# No more of a text than this is looked through, from the place that has most of the words.
_SEARCHED = 400_000
_WINDOW, _MOST_PLACES = 400, 2_000


def stretches(text: str, words: str, tokens: int, shown: Callable[[str], str]) -> list[_Stretch]:
    """Return the stretches of a text that have most of these words, in their order, with so many tokens at most.

    A text that has the words as they are written has one stretch, around them. Of any other, the blocks of lines with
    the most words are taken, where rarer ones count more, and those near by count as well.
    """
    if (at := _written(text, words)) >= 0:
        start = text.rfind("\n", 0, max(0, at - _LEAD) if at > _LEAD else at) + 1
        return _cut(text, max(start, at - _LEAD), tokens, shown)
    asked, start = _asked(words), 0
    if len(text) > _SEARCHED:
        # From before the place with most of the words.
        found = ((word.start(), word.start(), word[0].lower()[:_BEGINNING]) for word in _WORD.finditer(text))
        places = islice((one for one in found if one[2] in asked), _MOST_PLACES)
        start = max(0, densest(list(places), _WINDOW) - _SEARCHED // 2)
    for size in (_BLOCK, _BLOCK // 4):
        blocks = _blocks(text, start, size)
        held = [_beginnings(text[at:end].lower()) & asked for at, end in blocks]
        counts = Counter(word for words in held for word in words)
        own = [sum(log(1 + len(blocks) / counts[word]) for word in words) for words in held]
        beside = [max(own[max(0, at - 1) : at] + own[at + 1 : at + 2], default=0.0) for at in range(len(blocks))]
        worth = [mine + other / 2 for mine, other in zip(own, beside, strict=True)]
        order = sorted(range(len(blocks)), key=lambda place: (-worth[place], place))
        best = [blocks[place] for place in order if worth[place]]

        chosen: list[_Stretch] = []
        left = tokens
        for at, end in best:
            cost = text_tokens(shown(text[at:end])) + _GAP_COST
            if cost <= left:
                chosen.append((at, end))
                left -= cost
            elif not chosen or left < 20:
                break
        if chosen:
            joined: list[_Stretch] = []
            for at, end in sorted(chosen):
                if joined and joined[-1][1] == at:
                    at = joined.pop()[0]
                joined.append((at, end))
            return joined
    return _cut(text, best[0][0], tokens, shown) if best else []


def _written(text: str, words: str) -> int:
    wanted, folded = words.strip().strip("…").lower(), text.lower()
    return folded.find(wanted) if wanted and len(folded) == len(text) else -1


def _asked(words: str) -> frozenset[str]:
    beginnings = _beginnings(words.lower())
    return beginnings - _STOPPED or beginnings


def _beginnings(words: str) -> frozenset[str]:
    return frozenset(word[:_BEGINNING] for word in _WORD.findall(words)).union(bigrams(words))


_STOPPED = frozenset(word[:_BEGINNING] for word in STOP_WORDS)


def _cut(text: str, start: int, tokens: int, shown: Callable[[str], str]) -> list[_Stretch]:
    end = cut_end(text, start, tokens, shown)
    return [(start, end)] if end > start else []


def _blocks(text: str, start: int, size: int) -> list[_Stretch]:
    # Only a line that is very long is cut, between words.
    blocks: list[_Stretch] = []
    at, stop = start, min(len(text), start + _SEARCHED)
    while at < stop:
        end, longest = text.find("\n", at, stop) + 1 or stop, at + 3 * size
        if end > longest:
            end = text.rfind(" ", at + 1, longest) + 1 or longest
        if blocks and end - blocks[-1][0] <= size:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((at, end))
        at = end
    return blocks


# Tokens of the parts that have the words of a search. A shorter text is shown whole.
_AROUND = 900
# What is shown beside a text: all that names it, a short form of that, or its id alone.
_ALL, _LESS, _BARE = range(3)


@dataclass(frozen=True, slots=True)
class Part:
    """A memory, and what is asked for of its text: what follows ``start``, or the parts with the words ``around``."""

    memory: Memory
    start: int = 0
    around: str | None = None
    most: int | None = None  # tokens

    def shown(self, room: int) -> list[_Stretch]:
        """Return the stretches that are shown where there is room for so many tokens; none if nothing fits."""
        text, room = self.memory.text, max(0, room if self.most is None else min(room, self.most))
        if self.around is not None:
            return stretches(text, self.around, room, seen)
        end = cut_end(text, self.start, room, seen)
        return [(self.start, end)] if end > self.start or self.start == len(text) else []


def parts_of(memories: Sequence[Memory], around: str | None, offset: int) -> tuple[list[Part], str | None]:
    """Return what is asked for of each memory, and a note if the words of ``around`` are nowhere in one."""
    if offset and (around is not None or len(memories) != 1):
        raise ToolError("offset: it goes with one id, and without around.")
    if around is None:
        if offset > len(memories[0].text):
            raise ToolError("offset: the text ends before it. Use the next_offset of an answer.")
        return [Part(memory, offset) for memory in memories], None
    parts, note = list[Part](), None
    for memory in memories:
        # A short text is whole: its beginning says as much as the words.
        if text_cost(memory.text) <= _AROUND:
            parts.append(Part(memory))
        elif _written(memory.text, around) >= 0 or _asked(around) & _beginnings(memory.text.lower()):
            parts.append(Part(memory, around=around, most=_AROUND))
        else:
            parts.append(Part(memory, most=_AROUND))
            note = "Some texts do not have the words of around: they are shown from their beginning."
    return parts, note


def get_result(parts: Sequence[Part], missing: Sequence[str], note: str | None, max_tokens: int) -> GetResult:
    """Return the texts that are asked for, in their order; the last that has room is cut, and the rest named."""
    memories = [one.memory for one in parts]
    quotes = quotes_for(part for one in memories for part in (one.text, one.title, one.failure, one.source))
    ids = [one.id for one in memories]
    read: list[ReadMemory] = []

    def answer(memories: Sequence[ReadMemory]) -> GetResult:
        left = ids[len(memories) :]
        made = GetResult(
            memories=list(memories), left=left or None, missing=list(missing) or None, note=note, rule=quotes.rule,
            tokens=0,
        )  # fmt: skip
        return stated(made, max_tokens)

    for part in parts:
        # To show more of the first text, less is shown beside it.
        for level in (_ALL,) if read else (_ALL, _LESS, _BARE):
            length = len(part.memory.text)
            longest = {"start": length, "end": length, "length": length, "next_offset": length, "caution": CAUTION}
            largest = _read(part, [(length, length)], quotes, level).model_copy(update=longest)
            room = max_tokens - cost(answer([*read, largest]))
            shown = part.shown(room) if room >= 0 else []
            if room >= 60 or (shown and shown[-1][1] == length):
                break
        if not shown:
            break
        read.append(_read(part, shown, quotes, level))
        if part.most is None and shown[-1][1] < length:
            break
    whole = answer(read)
    needed = cost(whole)
    if not read or needed > max_tokens:
        raise ToolError("max_tokens: it is too little for any of the text. Ask for more tokens, or for fewer ids.")
    return stated(whole, needed)


def _read(part: Part, shown: Sequence[_Stretch], quotes: Quotes, level: int) -> ReadMemory:
    memory = part.memory
    said = GAP.join(memory.text[start:end].rstrip("\n") for start, end in shown[:-1])
    start, end = shown[-1]
    text = f"{said}{GAP if said else ''}{memory.text[start:end]}"
    named = place_of(memory, memory.location, quotes, memory.outside(datetime.now(UTC)), short=level > _ALL)
    if level == _BARE:
        named = {name: value for name, value in named.items() if name in ("id", "caution")}
    if reads_like_instructions(text):
        named["caution"] = CAUTION
    extent: dict[str, object] = {}
    if len(text) < (length := len(memory.text)):
        following = end if part.around is None and end < length else None
        extent = {"start": shown[0][0], "end": end, "length": length, "next_offset": following}
    return ReadMemory.model_validate({**named, "text": quotes.text(text), **extent})

"""Answers to agents within a budget of tokens: hits, the status of a store."""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from math import isnan
from os.path import commonprefix
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field

from jupyter_memory.mcp.bound import Bound, ToolError
from jupyter_memory.search.prompt import CAUTION, Quotes, quotes_for, reads_like_instructions
from jupyter_memory.text.display import fit_end
from jupyter_memory.text.identifiers import without_file
from jupyter_memory.text.languages import estimated_tokens
from jupyter_memory.text.paths import is_missing
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Answer, Hit, Memory


class Result(BaseModel):
    """An answer, or a part of one; None is left out."""

    def values(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return self.model_dump(mode="json", exclude_none=True)


class Place(Result):
    """A memory and where it comes from."""

    id: str
    title: str | None = None
    path: str | None = None
    cell: str | None = None
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
    snippet: str | None = None
    text: str | None = None
    tokens: int | None = None


class Shared(Result):
    """What all hits of a page have in common; their paths begin with ``folder``."""

    folder: str | None = None
    path: str | None = None
    title: str | None = None
    context: str | None = None
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


def serialized(answer: Result) -> str:
    """Return an answer as a program gets it."""
    return json_text(answer.values(), compact=True)


def cost(answer: Result) -> int:
    """Return the estimate of an answer's tokens."""
    return estimated_tokens(serialized(answer))


def stated(answer: _R, tokens: int) -> _R:
    """Return an answer that states its tokens: at least what it costs with the number in it."""
    return answer.model_copy(update={"tokens": tokens})


def priced(answer: _R, most: int) -> _R:
    """Return an answer that states its tokens, ``most`` at most."""
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
    """Return where a text is cut that is shown from ``start`` on in so many tokens: at a line's end, or a word's.

    Where not even the first of them has room, it is cut within a word.
    """
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
        self._keep(page)
        return page

    def at(self, cursor: str) -> Page:
        """Return the page that a cursor asks for."""
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
            self._keep(kept)
        return replace(kept, start=int(start))

    def quoted(self, page: Page, quotes: Quotes) -> None:
        """Keep the borders that the first page of an answer had: the others need not explain them."""
        with self._lock:
            if page.token in self._kept:
                self._kept[page.token] = replace(self._kept[page.token], quotes=quotes)

    def _keep(self, page: Page) -> None:
        with self._lock:
            self._kept[page.token] = page
            # An agent seldom goes back further.
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
        texts += [memory.text, hit.named or memory.title, memory.source, memory.location, memory.lang]
        texts += [hit.context, hit.snippet, *memory.tags]
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


def place_of(memory: Memory, location: str, quotes: Quotes, named: str = "", short: bool = False) -> dict[str, object]:
    """Return what names a memory: where it comes from, when it is of, and whether it reads like instructions."""
    is_notebook = memory.source.lower().endswith(".ipynb")
    path = fit_end(memory.source, _SHORT_PATH) if short else memory.source
    title = without_file(named or memory.title, memory.source)
    caution = reads_like_instructions(title, memory.source, *memory.tags)
    return {
        "id": memory.id,
        "title": quotes.line(title, _SHORT_TITLE if short else 160) or None,
        "path": quotes.line(path, 1_000) or None,
        "cell": quotes.line(memory.location, 100) if is_notebook and memory.location else None,
        "line": int(location) if memory.kind == "file" and not is_notebook and location.isdecimal() else None,
        "date": memory.event_at.date().isoformat(),
        "kind": memory.kind,
        "lang": None if short else quotes.line(memory.lang, 40) or None,
        "tags": None if short else [quotes.line(tag, 50) for tag in memory.tags[:10]] or None,
        "caution": CAUTION if caution else None,
    }


def _hit(hit: Hit, level: int, tokens: int, quotes: Quotes) -> FoundMemory:
    named = place_of(hit.memory, hit.location, quotes, hit.named, level >= _NAMED)
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
        bounds=[*space, *paths, "with what was run" if bound.history else "without what was run"],
        writing=writing if bound.writing else "no",
        rule=quotes.rule,
        tokens=0,
    )
    return priced(result, 9_999)

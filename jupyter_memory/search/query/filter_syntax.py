"""Filters typed among the words of a query: ``tag:"two words" -kind:cell after:2026-03 prices``."""

from __future__ import annotations

import re
from datetime import datetime

from jupyter_memory.errors import QueryError
from jupyter_memory.search.query.filters import filters_from
from jupyter_memory.text.moments import parse_day, parse_moment
from jupyter_memory.types import FACETS, Filters

# "after" and "before" leave out the day that is named, as people say them; "since" and "until" include it.
TIMES = ("after", "before", "on", "since", "until")
# A quoted phrase stays one, whatever stands in it; a filter has its value right behind its colon.
_TYPED = re.compile(
    r'"[^"]*"|(?<!\S)(?P<without>-?)'
    rf'(?P<name>{"|".join((*FACETS, *TIMES))}):(?P<value>"[^"]*"|[^\s":][^\s"]*)(?!\S)'
)
# "-pandas": a word that nothing may hold. Shorter ones are switches of other programs: "ls -la".
_WITHOUT = re.compile(r'"[^"]*"|(?<!\S)-(?P<word>[^\W\d_]\w{2,})(?!\S)')
# A longer text, or one of several lines, was pasted: its dashes are its own.
_LONGEST = 200
_ONE_OF_SEVERAL = frozenset({"tag", "kind", "tier", "lang"})


def split(text: str, now: datetime) -> tuple[str, Filters]:
    """Return the text without the filters typed in it, and those filters.

    Several values of a facet are any of them, with a minus before it none of them; a word with a minus before it
    (``-pandas``) is one that nothing may hold. What only looks like a filter
    (``std::sort``, ``dict: key``, ``author:x``, anything within quotation marks) stays text.

    Raises:
        QueryError: a value that does not exist, a time that cannot be read, or times that leave nothing between.
    """
    chosen: dict[str, list[str]] = {}
    bounds: dict[str, datetime] = {}
    rest, end = [], 0
    for match in _TYPED.finditer(text):
        if match["name"] is None:
            continue
        rest.append(text[end : match.start()])
        end = match.end()
        if match["name"] in TIMES:
            for bound, moment in _times(match, now).items():
                narrower = max if bound == "since" else min
                bounds[bound] = narrower(bounds.get(bound, moment), moment)
        else:
            chosen.setdefault(("not_" if match["without"] else "") + match["name"], []).extend(_values(match))
    remaining = " ".join(part.strip() for part in (*rest, text[end:]) if part.strip()) if end else text
    if len(text) <= _LONGEST and "\n" not in text:
        remaining, unwanted = _without_words(remaining)
        if unwanted:
            chosen["not_word"] = unwanted
    if not chosen and not bounds:
        return text, Filters()
    return remaining, filters_from({**chosen, **bounds}, None, None, now)


def _without_words(text: str) -> tuple[str, list[str]]:
    """Return a text without the words that have a minus before them, and those words."""
    unwanted = [match["word"] for match in _WITHOUT.finditer(text) if match["word"]]
    if not unwanted:
        return text, []
    left = _WITHOUT.sub(lambda match: "" if match["word"] else match[0], text)
    return " ".join(left.split()), unwanted


def _values(match: re.Match[str]) -> list[str]:
    name, value = match["name"], match["value"]
    if value.startswith('"'):
        values = [value[1:-1]]
    else:
        values = [one for one in value.split(",") if one] if name in _ONE_OF_SEVERAL else [value]
    if not any(one.strip() for one in values):
        told = "has no value: write one after the colon, or remove the filter."
        raise QueryError(f"{match[0]} {told}", unquoted=f"{name}: {told}")
    return values


def _times(match: re.Match[str], now: datetime) -> dict[str, datetime]:
    name, value = match["name"], match["value"].strip('"')
    if match["without"]:
        told = "a time cannot be excluded. Use before: or after: instead."
        raise QueryError(f"{match[0]}: {told}", unquoted=f"-{name}: {told}")
    try:
        if name == "on":
            return dict(zip(("since", "until"), parse_day(value, now), strict=True))
        moment = parse_moment(value, now=now, end=name in ("after", "until"))
    except QueryError as error:
        told = "To search for the words, put them in quotation marks."
        raise QueryError(f"{match[0]}: {error} {told}", unquoted=f"{name}: {error.unquoted} {told}") from None
    return {"since" if name in ("after", "since") else "until": moment}

"""The options of magics and commands, and the arguments of the store that their values give."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, TypeVar

from jupyter_memory.errors import QueryError
from jupyter_memory.text.moments import goes_on, last_moment, moment, parse_day, parse_moment
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Filters, as_tuple

_T = TypeVar("_T")
# The first words of times such as "last week" and "a month ago", which are no times by themselves.
_BEGINNINGS = frozenset(
    ["a", "an", "one", "two", "three", "the", "last", "this", "past", "previous", "next", "q1", "q2", "q3", "q4"]
)

# Put before a word that begins with a dash, so that it is not taken for an option.
SHIELD = "\0"
_SWITCH = re.compile(rf"{SHIELD}-(?P<letter>[A-Za-z])(?P<number>=?\d+)?")


@dataclass(frozen=True, slots=True)
class Option:
    """One option: ``metavar`` is empty for a switch, ``many`` may be given again; no guess names one that ``destroys``.

    A terminal alone knows ``default`` and ``path``: whether a value names a file or a folder that exists.
    """

    flags: tuple[str, ...]
    help: str
    metavar: str = ""
    many: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()
    default: str = ""
    path: Literal["", "file", "folder"] = ""
    destroys: bool = False

    @property
    def name(self) -> str:
        """Return the name of its value, which the long flag gives."""
        return self.flags[-1].lstrip("-").replace("-", "_")


def yes(help_text: str) -> Option:
    """Return the switch that answers the question of a command beforehand."""
    return Option(("-y", "--yes"), help_text, destroys=True)


LIMIT = Option(("-n", "--limit"), "how many results", "N", whole=True)
RETRY = Option(("--retry",), "read files again that could not be read before, and report them")
ANEW = Option(("--anew",), "read unchanged files again, too, as after changing the setting chunk_tokens")
DETAILS = Option(("--details",), "list each file that was left out, with the reason")
PROFILE = Option(("-p", "--profile"), "how to rank: a profile's name", "NAME")
TAG = Option(("--tag",), "only memories with this tag; any of several: --tag a,b or --tag a --tag b", "TAG", many=True)
ABOUT_TAG = Option(("--about-tag",), "a tag that counts in favour (profile vault), not a filter", "TAG", many=True)
KIND = Option(("--kind",), f"only {', '.join(KINDS)}; again for one more", "KIND", many=True, choices=KINDS)
TIER = Option(("--tier",), f"only {', '.join(TIERS)}; again for one more", "TIER", many=True, choices=TIERS)
PATH = Option(("--path",), "only this file, or what lies below this folder", "PATH", many=True)
LANG = Option(("--lang",), "only this language, such as python or markdown", "LANG", many=True)
SPACE = Option(("--space",), "only this space", "SPACE", many=True)
SESSION = Option(("--session",), "only this session", "SESSION", many=True)
SINCE = Option(("--since",), 'from this time on: 2025-03-31, "last week"', "TIME")
UNTIL = Option(("--until",), "up to this time; a day, month or year is included", "TIME")
AS_OF = Option(("--as-of",), "only what was stored by this time", "TIME")
ON = Option(("--on",), 'in this day, week, month or year: yesterday, "March 2025"', "TIME")
IGNORE_TIME = Option(("--ignore-time",), "take a time among the words, such as “last week”, as plain words")
DOMAIN = Option(("--domain",), "subject area that counts in favour (profile vault)", "NAME")
SCAN = Option(("--scan",), "short rows only: title, score, first words, size")
JSON = Option(("--json",), "as JSON")
EVERY_REASON = Option(("--all",), "every reason, with the values behind it")
TOML = Option(("--toml",), "as a file to change and to search with: -p ./mine.toml")
UPDATE = Option(("--update",), "let memories whose ids are known become what the folder says")
IN_SPACE = Option(("--space",), "only this space", "SPACE")
STORE_READ_ONLY = Option(("--read-only",), "never write to the added store")
OVERWRITE = Option(("--overwrite",), "replace the store that is there", destroys=True)

_TIMES = frozenset(["--since", "--until", "--as-of", "--on", "--event-at", "--valid-from", "--valid-until"])
CONTEXT = Option(("--context",), "the results as a text for a prompt, of at most so many tokens", "TOKENS", whole=True)
OPEN = Option(("--open",), "open the file of the result with this rank, at its place", "RANK", whole=True)
QUIET = Option(("--quiet",), "print nothing; exit with 0 if something is found, 1 if nothing is, 2 if it failed")
IN = Option(("--in",), "in this store of `store list`; again for one more; all: every store", "NAME", many=True)
FILTERS = (TAG, KIND, TIER, PATH, LANG, SPACE, SESSION, SINCE, UNTIL, ON)
SEARCH = (LIMIT, PROFILE, *FILTERS, AS_OF, IGNORE_TIME, ABOUT_TAG, DOMAIN, SCAN, IN)
# In a terminal, with what is rarely needed last.
TYPED_SEARCH = (
    *(LIMIT, KIND, TAG, PATH, LANG, SINCE, UNTIL, ON, SCAN, OPEN, JSON, CONTEXT),
    *(QUIET, PROFILE, TIER, SPACE, SESSION, AS_OF, IGNORE_TIME, ABOUT_TAG, DOMAIN, IN),
)
BROWSE = (LIMIT, *FILTERS, AS_OF, IN)
# Of memories that leave for another store; `copy FROM TO` knows the space and --update alone.
COPY = (
    Option(("--to",), "the store of `store list` that gets these memories", "NAME"),
    Option(("--in",), "the store of `store list` to take them from, if it is not your own", "NAME"),
    *FILTERS,
    Option(("--history",), "also what you ran, if it is among them"),
    Option(("--update",), "overwrite memories that the other store has under the same id"),
    yes("do not ask before they are copied or moved"),
)
FORGET = (
    Option(("--source",), "the memories of this file, or of the files below this folder", "PATH", many=True),
    *FILTERS,
    Option(("--searches",), "your recent searches and the feedback on their results; no memories", destroys=True),
    Option(("--everything",), "the whole store, or all of its space if the settings name one", destroys=True),
    Option(("--dry-run",), "list what would be forgotten, and forget nothing"),
    Option(("--now",), "leave nothing for `undo`; alone, it removes what `undo` could bring back", destroys=True),
    yes("do not ask before several memories are forgotten"),
)
RUNNABLE = Option(("--runnable",), "code, with the earlier cells that it needs")
EFFECTS = Option(("--effects",), "also the cells that write files, use the network or run commands")
UNTAG = Option(("--remove",), "take off the tag")
UNRATE = Option(("--remove",), "take back what was noted so")
FROM = Option(("--from",), "a folder that has the model's files; nothing is fetched", "PATH")
DIMS = Option(("--dims",), "length of the vectors, such as 256", "N", whole=True)
MODEL = (FROM, DIMS, yes("do not ask before a model is fetched or removed"), JSON)
# What is said of rows of `%memeval pool`.
VERDICTS = (
    Option(("--right",), "this row answers its question; again for one more", "ROW", many=True),
    Option(("--wrong",), "this row does not answer it; again for one more", "ROW", many=True),
    Option(("--first",), "this row should be the first; again for one more", "ROW", many=True),
)
UNTOLD = Option(("--off",), "remove the description, or search the folder again")
OFF = Option(("--off",), "no longer watch these folders; what was indexed stays")
# What an agent may see and do: options of the server, which the entry of a client names.
BOUNDS = (
    Option(("--read-only",), "the agent cannot store or forget anything"),
    Option(("--history",), "the agent may read what you ran, too"),
    Option(("--forget-any",), "the agent may forget anything that it sees, not only its own notes"),
    Option(("--space",), "the agent sees only this space, and stores its notes there", "SPACE"),
    Option(("--path",), "the agent sees only this file, or what lies below this folder", "PATH", many=True),
    Option(("--in",), "the agent sees these of `store list`; the first on the list gets its notes", "NAME", many=True),
)
CLEAR = yes("do not ask before the history is forgotten")
HISTORY = (Option(("--always",), "on or off for every kernel that loads the extension, too"), CLEAR)
ADD = (
    Option(("--title",), "a name for it", "TITLE"),
    Option(("--tag",), "a tag; several: --tag a,b or --tag a --tag b", "TAG", many=True),
    Option(("--space",), "the space to put it in", "SPACE"),
    Option(("--session",), "the session it belongs to", "SESSION"),
    Option(("--severity",), f"one of {', '.join(SEVERITIES)}", "LEVEL", choices=SEVERITIES),
    Option(("--domain",), "the subject area", "NAME"),
    Option(("--valid-from",), "valid from this time on: 2026-03-31", "TIME"),
    Option(("--valid-until",), "valid up to this time; a day, month or year is included", "TIME"),
    Option(("--on", "--event-at"), 'when it happened: 2025-03-31, yesterday, "2 hours ago"', "TIME"),
    Option(("--tier",), f"one of {', '.join(TIERS)}", "TIER", choices=TIERS),
    Option(("--pin",), "keep it on top"),
)


def filters_of(values: Mapping[str, Any], now: datetime) -> Filters:
    """Return the filters that option values give; raise ``QueryError`` for times that cannot be read or do not fit."""
    since, until, on, then = (values.get(name) for name in ("since", "until", "on", "as_of"))
    if on is not None and (since is not None or until is not None):
        raise QueryError("--on names the whole period: leave out --since and --until.")
    as_of = None if then is None else _read("--as-of", then, lambda: last_moment(then, now))
    now = min(now, as_of or now)
    start = None if since is None else _read("--since", since, lambda: parse_moment(since, now=now))
    end = None if until is None else _read("--until", until, lambda: parse_moment(until, now=now, end=True))
    if start is not None and end is not None and start >= end:
        raise QueryError(f"Nothing lies between --since {since} and --until {until}: change one of them.")
    if on is not None:
        start, end = _read("--on", on, lambda: parse_day(on, now))
    refuse_empty(values, FILTERS)
    facets: dict[str, Any] = {
        option.name: tuple(dict.fromkeys(as_tuple(values.get(option.name)))) for option in FILTERS if option.many
    }
    return Filters(**{**facets, "tag": _tags(values)}, since=start, until=end, as_of=as_of)


def refuse_empty(values: Mapping[str, Any], options: Sequence[Option]) -> None:
    """Raise ``QueryError`` for an empty value: a script's variable may be, and must not widen what is meant."""
    for option in options:
        if option.many and not all(given.strip(" ,\t\n") for given in as_tuple(values.get(option.name))):
            flag = option.flags[-1]
            raise QueryError(f"{flag} is empty. Give it a value ({flag} {option.metavar}), or leave the option out.")


def period_of(
    given: Mapping[str, Any],
    now: datetime,
    wrong: Callable[[str, str], Exception],
    names: tuple[str, str] = ("since", "until"),
) -> dict[str, datetime]:
    """Return the times that a request has, of ``as_of`` and two bounds; raise what ``wrong`` makes of one and why."""
    bounds: dict[str, datetime] = {}
    begins, ends = names
    for name in ("as_of", *names):
        try:
            read = last_moment if name == "as_of" else partial(moment, end=name == ends)
            at = read(given.get(name), now)
        except QueryError:
            raise wrong(name, "it cannot be read as a time. Write 2026-03-01, or: last week") from None
        if at is not None:
            bounds[name] = at
            now = min(now, bounds.get("as_of", now))
    if bounds.keys() >= {begins, ends} and bounds[begins] >= bounds[ends]:
        raise wrong(ends, f"it must be later than {begins}")
    return bounds


def search_of(values: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the arguments of a search that option values give, without the query; options not given are left out."""
    given = {name: values[name] for name in ("limit", "profile", "domain") if values.get(name) is not None}
    refuse_empty(values, (ABOUT_TAG,))
    if tags := _tags(values, "about_tag"):
        given["tags"] = tags
    if values.get("ignore_time"):
        given["time"] = False
    return {**given, "filters": filters_of(values, now), "now": now}


def is_option(piece: str, table: Sequence[Option]) -> bool:
    """Return whether a piece of a line that begins with a dash is one of these options, and not a word to leave out.

    >>> is_option("-n5", SEARCH), is_option("--tag=a", SEARCH), is_option("-pandas", SEARCH)
    (True, True, False)
    """
    name = piece.partition("=")[0]
    flags = [flag for option in table for flag in option.flags]
    if name.startswith("--"):
        return len(name) > 2 and any(flag.startswith(name) for flag in flags)
    if f"--{name[1:]}" in flags or piece[:2] not in flags:
        return False
    # `-n5` is a number given to its option; `-pandas` is a word that results shall not hold.
    whole = {flag for option in table if option.whole for flag in option.flags}
    return name == piece[:2] or (piece[:2] in whole and piece[2:].isdecimal())


def nearest(flag: str, table: Sequence[Option]) -> str | None:
    """Return the long flag that a misspelt one may mean, None if there is none, or if it destroys something."""
    # Without the dashes, and more alike than usual: short names are like anything.
    known = {one[2:]: option for option in table for one in option.flags if one.startswith("--")}
    near = next(iter(get_close_matches(flag.lstrip("-"), known, n=1, cutoff=0.66)), None)
    return None if near is None or known[near].destroys else f"--{near}"


def switch_among(words: Sequence[str], table: Sequence[Option]) -> str:
    """Return a notice about a word of a query that may have been meant as an option, empty if there is none.

    Such a word comes first, or a number follows it at the end of the line; ``grep -r`` is a question about grep.
    """
    for place, word in enumerate(words):
        found = _SWITCH.fullmatch(word)
        if found is None:
            continue
        behind = words[place + 1 :]
        if place == 0 or found["number"] or (len(behind) == 1 and behind[0].isdecimal()):
            said = f"-{found['letter']} is not an option, so it is searched for as a word."
            alike = (one for one in table if one.flags[-1].startswith(f"--{found['letter'].lower()}"))
            near = ", ".join(" or ".join(one.flags[::-1]) for one in alike)
            return f"{said} Options that begin so: {near}." if near else said
    return ""


def forget_of(ids: Sequence[str], values: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the arguments of ``forget`` that ids and option values give; raise ``QueryError`` if they are unclear."""
    refuse_empty(values, FORGET)
    filters, sources = filters_of(values, now), as_tuple(values.get("source"))
    everything = bool(values.get("everything"))
    part = bool(ids or sources or filters)
    if values.get("searches") and (part or everything):
        raise QueryError("--searches forgets no memories: leave the rest out, or leave it out.")
    if not part and not everything and not values.get("searches"):
        raise QueryError("Say what to forget: ids, --source PATH, filters (--tag draft), --searches or --everything.")
    if part and everything:
        raise QueryError("--everything forgets the whole store: leave the rest out, or leave it out.")
    return {"ids": list(ids) or None, "source": sources or None, "filters": filters or None, "everything": everything}


def memory_of(values: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the arguments of ``add`` that option values give, without the text; options not given are left out."""
    refuse_empty(values, ADD)
    names = ("title", "space", "session", "severity", "domain", "tier")
    given = {name: values[name] for name in names if values.get(name) is not None}
    if tags := _tags(values):
        given["tags"] = tags
    for name, flag in (("event_at", "--on"), ("valid_from", "--valid-from"), ("valid_until", "--valid-until")):
        if (written := values.get(name)) is not None:
            end = name == "valid_until"
            given[name] = _read(flag, written, partial(parse_moment, written, now=now, end=end))
    return given


def refuse_unquoted_times(words: Sequence[str], now: datetime) -> None:
    """Raise ``QueryError`` if the time of an option continues in the next words: ``--since March 2025 prices``."""
    for place, word in enumerate(words):
        flag, given, time = word.partition("=")
        if flag not in _TIMES:
            continue
        behind = words[place + 1 :]
        if not given:
            time, behind = " ".join(behind[:1]), behind[1:]
        for count in (3, 2, 1):
            more = " ".join(behind[:count])
            if len(behind) >= count and goes_on(time, more, now):
                raise QueryError(f'{flag} takes one word, and got {time!r}. Quote the time: {flag} "{time} {more}".')


def _tags(values: Mapping[str, Any], name: str = "tag") -> tuple[str, ...]:
    parts = (part.strip() for given in as_tuple(values.get(name)) for part in given.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def _read(flag: str, text: str, read: Callable[[], _T]) -> _T:
    # If the option has only the first of several words, say how to give them all.
    try:
        return read()
    except QueryError:
        if text.casefold() not in _BEGINNINGS and not text.isdecimal():
            raise
        said = f'{flag} takes one word, and got {text!r}. Quote the time: {flag} "last week", {flag} "3 days ago".'
        raise QueryError(said) from None

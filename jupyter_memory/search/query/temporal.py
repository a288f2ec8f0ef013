"""The times and sessions that a query names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Literal

from jupyter_memory.text.date_phrases import Named, named_at, unit_of
from jupyter_memory.text.dates import CARDINAL, ORDINAL, Period, cardinal, ordinal, to_utc, wall_clock, whole, zone_of
from jupyter_memory.types import Sessions, TemporalExpression

# The words around a time in a query, which tell whether it is one.

Follows = Literal["nothing", "function", "of", "noun"]

# Nothing in quotation marks or back-ticks is read, nor what follows words that make a time of the future or a habit.
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|`[^`]*`')
# "May 3-5": not the hyphen of a name.
_FROM_TO = re.compile(r"(?<![\w\-/.])(\d{1,2}(?:st|nd|rd|th)?)-(?=\d{1,2}(?:st|nd|rd|th)?(?![\w\-]))")
_SPACE = re.compile(r"[\s\u00a0]")
_OTHER_TIMES = re.compile(
    r"\b(?:next|every|each|per|coming|upcoming|following|version|v|release|python) (?=\w)(?:\S+)", re.IGNORECASE
)
_WORD = re.compile(r"\s*([\w']+)(.?)")
_FUNCTION_WORDS = """
    a about after again against all also although am an and any are as at back be because been before being both
    but by can compared could did do does done during each ever for from had has have having he her here him his
    how i if in into is it its just like me my near no not now on only onto or our out over per regarding related
    said same she should since so some than that the their them then there these they this those though through
    till to too under until up us using versus via vs was we were what when where whether which while who whom
    whose why will with within without would you your
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
# What a question asks for that asks only what was done in a time, and what it may call that.
_DOING_WORDS = """
    add added change changed changes changing create created do done doing edit edited edits editing happen happened
    made make modified modify note noted ran run touch touched update updated updates work worked working write written
    wrote
"""
_DONE_WORDS = "anything cell cells code down everything file files list notebook notebooks notes s show something ve"
_DOING, _DONE = frozenset(_DOING_WORDS.split()), frozenset(_DONE_WORDS.split())
# Without an act, a time must be surer, and a bare date ("Q3 2025") is rather looked for in texts.
_SURE, _DATE = 0.8, re.compile(r"^\d|\d$")
# A query that computes with dates is not told when.
_TECHNICAL = re.compile(
    r"\b(?:python|pandas|numpy|sql|javascript|java|regex|function|datetime|timedelta|timestamps?|strftime|strptime|dateutil|"
    r"cron|rolling|moving|window|average|mean|median|resample|groupby|lag|lags|forecast\w*|predict\w*|cumulative|"
    r"calculate|compute|convert|parse|format|dataframe|def|return\w*)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:i|we|me|us|my|our|did|discuss\w*|talk\w*|mention\w*|said|wrote|notes?)\b", re.IGNORECASE)
# What tells of a recurring time that it means all of them, that it means one, and that it rather means all of them.
_USUALLY = re.compile(
    r"\b(?:usual(?:ly)?|often|always|typical(?:ly)?|general(?:ly)?|seasonal\w{0,3}|every)\b", re.IGNORECASE
)
_ONCE = re.compile(
    r"\b(?:i|we|me|us|my|our|did|was|were|had|when|discussed|talked|mentioned|said|wrote|notes?)\b", re.IGNORECASE
)
_GENERAL = re.compile(r"\b(?:is|are|do|does|can|average|mean)\b", re.IGNORECASE)
# "The difference between winter and summer" is no stretch of time.
_COMPARED = re.compile(
    r"\b(?:differ\w{0,5}|gap|relation\w{0,4}|correlation|comparison|contrast|transition|ratio) $", re.IGNORECASE
)


def asks_what_was_done(text: str, found: TemporalExpression) -> bool:
    """Return whether a question holds nothing but a time, or one and an act, so that no word is left to search by.

    >>> from datetime import UTC
    >>> now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> asked = "what did I change yesterday", "what did I change in prices yesterday", "my notes of yesterday"
    >>> [asks_what_was_done(text, temporal_expression(text, now)) for text in asked]
    [True, False, True]
    """
    words = set(re.findall(r"\w+", f"{text[: found.start]} {text[found.end :]}".lower()))
    if found.sessions is not None or not words <= _DOING | _DONE | _FUNCTION:
        return False
    return not words.isdisjoint(_DOING) or (found.sure > _SURE and not _DATE.search(found.phrase))


def _what_follows(text: str, end: int) -> Follows:
    if text.startswith(("'s", "’s"), end):
        match = _WORD.match(text, end + 2)
        return "noun" if match else "nothing"
    match = _WORD.match(text, end)
    if match is None:
        return "nothing"
    word = match[1].lower()
    if word == "of":
        return "of"
    return "function" if word in _FUNCTION else "noun"


# Sessions that a query names: "in our second session", "20 sessions ago", "over sessions 2 through 4".

_IN_SESSION = r"(?:(?:in|on|at|during|over|from|of|within|across|throughout) )?"
_TALK = r"(?:session|discussion|conversation|chat)"
_NOT_CODE = r"(?<![\w.\-/\\@#:=$%])"
_END = r"(?![\w(/\\=$%]|[-.:]\w)"


def _named_sessions(text: str, place: int) -> TemporalExpression | None:
    for pattern, sure, kind in _compiled():
        match = pattern.match(text, place)
        if match is None:
            continue
        # Where no number is spelled, the last session is meant, or the one before it.
        spelled = [match[name] or "1" for name in pattern.groupindex if name != "side"]
        numbers = [ordinal(one) or cardinal(one) or 0 for one in spelled] or [2]
        first, last = numbers[0], numbers[-1]
        side = match["side"].lower() if kind == "side" else kind
        if not all(numbers) or first > last or (side == "before" and first == 1):
            continue
        if side in ("ago", "latest"):
            sessions = Sessions(first, first if side == "ago" else 1, from_newest=True)
        elif side in ("first", "before"):
            sessions = Sessions(1, first - (side == "before"))
        elif side in ("since", "after"):
            sessions = Sessions(first + (side == "after"), None)
        else:
            sessions = Sessions(first, last)
        return TemporalExpression(match.start(), match.end(), "", sure, sessions=sessions)
    return None


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], float, str], ...]:
    # Not before a query may name a time: they take longer to compile than a search.
    return tuple(
        (re.compile(_NOT_CODE + pattern + _END, re.IGNORECASE), sure, kind) for pattern, sure, kind in _PATTERNS
    )


_JOINT = r" ?(?:to|through|thru|until|till|and|[-–—]) ?"
_PATTERNS: tuple[tuple[str, float, str], ...] = (
    (rf"{_IN_SESSION}(?:between )?sessions? (?P<a>{CARDINAL}){_JOINT}(?P<b>{CARDINAL})", 0.95, "span"),
    (
        rf"{_IN_SESSION}(?:between )?(?:our |the )?(?P<a>{ORDINAL}){_JOINT}(?:the )?(?P<b>{ORDINAL}) sessions?",
        0.9,
        "span",
    ),
    (rf"(?P<side>since|before|after) (?:our |the )?(?P<n>{ORDINAL}) session", 0.85, "side"),
    (rf"(?P<side>since|before|after) session (?P<n>{CARDINAL})", 0.85, "side"),
    (rf"(?P<n>{CARDINAL}) {_TALK}s? ago", 0.95, "ago"),
    (rf"{_IN_SESSION}(?:our|the|my) {_TALK} before last", 0.9, "ago"),
    (
        rf"{_IN_SESSION}(?:(?:our|the|my) )?(?:last|previous|past|latest|most recent) (?P<n>{CARDINAL}) sessions",
        0.9,
        "latest",
    ),
    (rf"{_IN_SESSION}(?:(?:our|the|my) )?(?:last|previous|latest|most recent) session(?P<n>)", 0.85, "latest"),
    (rf"{_IN_SESSION}our (?:last|previous|latest|most recent) {_TALK}(?P<n>)", 0.7, "latest"),
    (rf"{_IN_SESSION}(?:the )?last {_TALK}(?P<n>)(?=\s*[?.!]*$)", 0.6, "latest"),
    (rf"{_IN_SESSION}(?:(?:our|the|my) )?first (?P<n>{CARDINAL}) sessions", 0.85, "first"),
    (rf"{_IN_SESSION}our (?:very )?(?P<n>{ORDINAL}) {_TALK}", 0.95, "span"),
    (rf"{_IN_SESSION}(?:(?:the|my) )(?:very )?(?P<n>{ORDINAL}) session", 0.9, "span"),
    (rf"(?P<n>{ORDINAL}) session", 0.6, "span"),
    (rf"{_IN_SESSION}session (?:number |no\.? |#)?(?P<n>\d{{1,4}})", 0.8, "span"),
)

# How far from its target a time may lie, in days, by the unit in which it is told.
TOLERANCE_DAYS = {"day": 1.0, "week": 3.0, "month": 10.0, "year": 60.0}
# Below this the words are rather something else.
LEAST_SURE = 0.3
# How far "around" reaches on both sides of a short time; a longer one may be off by half its length.
_AROUND = timedelta(days=3)
# A longer text is a document that was pasted: its dates are its own.
_LONGEST = 500

_WORD_START = re.compile(r"(?<!\w)\w")
_TRIGGER = re.compile(
    r"\d|ago\b|day|week|fortnight|month|year|night|morning|sessions?\b|discussions?\b|conversations?\b|chats?\b|hour|minute|"
    r"quarter|january|february|march|april|\bmay\b|june|july|august|september|october|november|december|"
    r"\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tues?|wed|thur?s?|fri)\b|spring|summer|autumn|fall|winter|"
    r"easter|pentecost|whitsun|halloween|thanksgiving|christmas|xmas",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(?:(?P<between>between)|from|(?:in|on|during|over)(?P<in>)) ", re.IGNORECASE)
_AND = re.compile(r" ?(?:(?P<and>,? and|&)|to|until|till|through|thru|up to|[–—-]) ?(?:and )?", re.IGNORECASE)
_SIDE = re.compile(
    r"(?:(?P<since>since|ever since|starting)|(?P<before>before|prior to|earlier than)"
    r"|(?P<after>after|later than)|(?P<until>until|till|up to)|(?P<by>by))(?: the)? ",
    re.IGNORECASE,
)
_IN = re.compile(
    r"(?:back )?(?:in|on|during|over|within|at|around|from|of|throughout|through|dated|as of) ", re.IGNORECASE
)
# "between 3 and 5 May", "May 3-5": the first day has no month of its own.
_DAYS_BEFORE = re.compile(
    r"(?:(?:between|from|on) )?(?P<d>\d{1,2})(?:st|nd|rd|th)?(?: ?(?:-|–|and|to|until|through) ?)"
    r"(?=\d{1,2}(?:st|nd|rd|th)? )",
    re.IGNORECASE,
)
_DAYS_AFTER = re.compile(
    r" ?(?:-|–|to|until|through|and) ?(?P<d>\d{1,2})(?:st|nd|rd|th)?(?P<y>,? 20\d\d)?\b", re.IGNORECASE
)


def temporal_expression(text: str, now: datetime) -> TemporalExpression | None:
    """Return the time or the sessions that a text names, None where it names none.

    Of several the surest speaks, of equally sure ones the last: "the trip last year, as told on May 8th" is about
    May 8th. What stands in quotation marks or back-ticks names nothing. Calendars are cut by the named zone of
    ``now``, without one by this machine's.
    """
    if len(text) > _LONGEST or not _TRIGGER.search(text):
        return None
    # All that cannot name a time is left out, and every place stays.
    readable, zone, local = _FROM_TO.sub(r"\1–", _SPACE.sub(" ", text)), zone_of(now), wall_clock(now)
    for pattern in (_QUOTED, _OTHER_TIMES):
        readable = pattern.sub(lambda match: "\0" * len(match[0]), readable)
    doubt = 0.5 if _TECHNICAL.search(readable) and not _PERSON.search(readable) else 1.0
    best: TemporalExpression | None = None
    end = 0
    for match in _WORD_START.finditer(readable):
        place = match.start()
        if place < end:
            continue
        one = _named_sessions(readable, place)
        certain = 1.0 if one else doubt
        one = (
            one or _span(readable, place, local) or _one_sided(readable, place, local) or _named(readable, place, local)
        )
        if one is None:
            continue
        try:
            moments = (one.since, one.until, one.target)
            since, until, target = (None if moment is None else to_utc(moment, zone) for moment in moments)
        except (ValueError, OverflowError):
            continue
        if since is None or until is None or since < until:
            end, phrase, sure = one.end, text[one.start : one.end], round(one.sure * certain, 3)
            if sure >= (LEAST_SURE if best is None else best.sure):
                best = replace(one, phrase=phrase, sure=sure, since=since, until=until, target=target)
    return best


def _span(text: str, place: int, local: datetime) -> TemporalExpression | None:
    opening = _SPAN.match(text, place)
    begins = opening.end() if opening else place
    for first, second in _pairs(text, place, begins, local):
        joined = opening is not None and opening["in"] is None
        if not joined and not (second.alone and first.alone) and opening is None:
            continue
        if _what_follows(text, second.end) == "noun" and not (first.alone or second.alone):
            continue
        if first.recurring and second.recurring and _COMPARED.search(text[:place]):
            continue
        first, second = _in_order(first, second)
        if first.period.start >= second.period.end:
            return None
        period = Period(first.period.start, second.period.end)
        middle = period.start + (period.end - period.start) / 2
        sure = min(_certainty(text, first), _certainty(text, second)) * (1.0 if joined else 0.9)
        return TemporalExpression(place, second.end, "", sure, *period, middle, unit_of(period.end - period.start))
    return None


def _pairs(text: str, place: int, begins: int, local: datetime) -> Iterator[tuple[Named, Named]]:
    if (days := _DAYS_BEFORE.match(text, place)) and (second := named_at(text, days.end(), local)):
        yield _of_day(second, int(days["d"])), second
    first = named_at(text, begins, local)
    if first is None:
        return
    if days := _DAYS_AFTER.match(text, first.end):
        second = _of_day(first, int(days["d"]))
        # "May 3-5 2025": the year stands at the end.
        if days["y"]:
            years = int(days["y"][-4:]) - first.period.start.year
            first, second = first.years_later(years), second.years_later(years)
        if second.period.start.day == int(days["d"]) and first.period.end - first.period.start == timedelta(days=1):
            yield first, replace(second, end=days.end())
    joint = _AND.match(text, first.end)
    if joint is None:
        return
    second = named_at(text, joint.end(), local)
    if second is None and (article := re.compile(r"the ", re.IGNORECASE).match(text, joint.end())):
        second = named_at(text, article.end(), local)
    if second is not None:
        yield first, second


def _of_day(named: Named, day: int) -> Named:
    try:
        start = named.period.start.replace(day=day)
    except ValueError:
        return named
    return replace(named, period=whole("day", start), target=start + timedelta(hours=12))


def _in_order(first: Named, second: Named) -> tuple[Named, Named]:
    years = second.period.start.year - first.period.start.year
    if first.yearless:
        first = first.years_later(years)
        if first.period.start > second.period.start:
            first = first.years_later(-1)
    elif second.yearless:
        second = second.years_later(-years)
        if second.period.start < first.period.start:
            second = second.years_later(1)
    return first, second


def _certainty(text: str, named: Named) -> float:
    if not named.recurring:
        return named.sure
    # "What did I plot in winter" means one winter, "why is demand higher in winter" means all of them.
    if _USUALLY.search(text):
        return named.sure * 0.3
    if _ONCE.search(text):
        return named.sure
    return named.sure * (0.3 if _GENERAL.search(text) else 0.6)


def _one_sided(text: str, place: int, local: datetime) -> TemporalExpression | None:
    side = _SIDE.match(text, place)
    named = None if side is None else named_at(text, side.end(), local)
    if side is None or named is None:
        return None
    follows = _what_follows(text, named.end)
    # "before spring cleaning", "after the fall of Rome"
    if (follows == "noun" and not named.alone) or (follows == "of" and named.unit != "day"):
        return None
    if side["by"] and not named.alone:  # "notes by May" may be hers
        return None
    start, end = named.period
    if side["since"]:
        since, until = start, None
    elif side["after"]:
        since, until = end, None
    else:
        since, until = None, start if side["before"] else end
    latest = whole("day", local).end
    # What is before a day may be any day; what is since one lies between it and now.
    target = None if since is None or since >= latest else since + (latest - since) / 2
    unit = "" if since is None else unit_of(max(latest - since, timedelta(0)))
    sure = named.sure if side["since"] else 0.9 * _certainty(text, named)
    return TemporalExpression(place, named.end, "", sure, since, until, target, unit)


def _named(text: str, place: int, local: datetime) -> TemporalExpression | None:
    preposition = _IN.match(text, place)
    begins = preposition.end() if preposition else place
    named = named_at(text, begins, local)
    if named is None:
        return None
    follows = _what_follows(text, named.end)
    sure = _certainty(text, named)
    if follows == "noun":
        # "in March madness", "last month number": the noun is what is meant. A question may begin with its time.
        if not named.alone or (named.counted and preposition is None and place):
            return None
        sure *= 1.0 if preposition else 0.8
    if preposition is None and not named.alone:
        return None
    if follows == "of" and (named.counted or named.unit != "day"):
        return None
    early, late = named.early, named.late
    if preposition and preposition[0].lower().startswith("around"):
        early = late = max(_AROUND, (named.period.end - named.period.start) / 2)
    since, until = named.period.start - early, named.period.end + late
    if until == local:
        until = whole("day", local).end
    return TemporalExpression(place, named.end, "", sure, since, until, named.target, named.unit)


def notice_of(found: TemporalExpression, *, empty: bool = False) -> str:
    """Return how an anchor was read, and how to search for its words instead; days are those of this machine.

    ``empty`` says that the store has nothing from then.
    """
    first, last = ("" if end is None else f"{end.astimezone():%Y-%m-%d %H:%M}" for end in (found.since, found.until))
    first = first.removesuffix(" 00:00")
    if found.until is not None and last.endswith(" 00:00"):
        last = f"{found.until.astimezone() - timedelta(seconds=1):%Y-%m-%d}"
    if found.sessions is not None:
        read = "sessions"
    elif first and last:
        read = first if first == last else f"{first} … {last}"
    else:
        read = f"from {first} on" if first else f"up to {last}"
    but = ", but nothing here is from then" if empty else ""
    return f"Read “{found.phrase}” as {read}{but}. Quote the words to search for them instead."

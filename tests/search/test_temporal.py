"""Time in plain English: read where it is meant, left alone where words only look like it."""

import tomllib
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from blocked import run_without
from hypothesis import given
from hypothesis import strategies as st
from judged import JUDGED, lines
from zones import zone

from jupyter_memory.search import parse
from jupyter_memory.types import Sessions

# A Saturday evening in Zürich.
ZURICH = ZoneInfo("Europe/Zurich")
NOW = datetime(2026, 11, 21, 20, 0, tzinfo=ZURICH)
# Below this the words are rather something else.
LEAST_SURE = 0.3
TIMES = tomllib.loads(Path(__file__).with_name("times.toml").read_text("utf-8"))


def temporal_expression(text, now):
    return parse(text, now=now).temporal


def moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=ZURICH) if text else None


@pytest.mark.parametrize(
    ("text", "phrase", "since", "until"),
    [*TIMES["read"], *([text, text, since, until] for text, since, until in TIMES["whole"])],
)
def test_times_are_read(text, phrase, since, until):
    """A time is found with its words, and means a range on the clocks of the one who asks."""
    found = temporal_expression(text, NOW)
    assert found is not None
    assert (found.phrase, found.since, found.until) == (phrase, moment(since), moment(until))
    assert text[found.start : found.end] == phrase
    assert LEAST_SURE <= found.sure <= 1
    assert found.target is None or (
        (found.since is None or found.since <= found.target) and (found.until is None or found.target <= found.until)
    )


@pytest.mark.parametrize("text", TIMES["left"])
def test_what_only_looks_like_time(text):
    """Words of time that name no time of a memory are left alone."""
    assert temporal_expression(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did we discuss in our second session?", Sessions(2, 2)),
        ("our first discussion", Sessions(1, 1)), ("in our twenty-second session", Sessions(22, 22)),
        ("what was said in the 30th session?", Sessions(30, 30)),
        ("What did we discuss 20 sessions ago?", Sessions(20, 20, from_newest=True)),
        ("what did we talk about twenty discussions ago", Sessions(20, 20, from_newest=True)),
        ("over sessions 2 through 4", Sessions(2, 4)), ("sessions 2-4", Sessions(2, 4)),
        ("last session", Sessions(1, 1, from_newest=True)),
        ("the last three sessions", Sessions(3, 1, from_newest=True)),
        ("our session before last", Sessions(2, 2, from_newest=True)), ("session 12", Sessions(12, 12)),
        ("since session 5", Sessions(5, None)), ("before our third session", Sessions(1, 2)),
        ("after session 5", Sessions(6, None)),
    ],
)  # fmt: skip
def test_sessions_are_read(text, expected):
    """Sessions are named by number, by place in their row, or counted back from the newest."""
    found = temporal_expression(text, NOW)
    assert found is not None and found.sessions == expected
    assert found.since is None and found.until is None
    # Of twenty sessions, twenty ago is the first; the last session is one ago.
    back = [Sessions(20, 20, from_newest=True), Sessions(1, 1, from_newest=True), Sessions(3, 1, from_newest=True)]
    assert [one.among(20) for one in (*back, Sessions(5, None))] == [(1, 1), (20, 20), (18, 20), (5, 20)]


@pytest.mark.parametrize(
    ("surer", "less_sure"),
    [
        # A date that could be two, computing with times, and a fiscal year, which begins when it does.
        ("on 2026-03-05", "on 03/05/2026"),
        ("my notes of the last 7 days", "pandas rolling mean of the last 7 days"),
        ("what did we ship in Q3 2026", "what did we ship in Q3 FY26"),
        # Winter may be every winter: it is read where somebody did something, less surely elsewhere.
        ("what did I plot in winter", "demand in winter"),
    ],
)
def test_how_sure_a_reading_is(surer, less_sure):
    """Of two readings the one that can mean only one thing is surer; a habit is no time at all."""
    more, less = (temporal_expression(text, NOW).sure for text in (surer, less_sure))
    assert LEAST_SURE <= less < more
    if surer in ("on 2026-03-05", "what did we ship in Q3 2026"):
        assert less < 0.5 < more
    assert temporal_expression("demand is usually high in winter", NOW) is None


def test_the_target_is_the_day_that_is_meant():
    """Three weeks ago is a day, though its range is a week; tolerance follows from the unit."""
    found = temporal_expression("what did I do three weeks ago", NOW)
    assert found and (found.target, found.unit) == (moment("2026-10-31T20:00"), "week")
    units = [temporal_expression(text, NOW).unit for text in ("yesterday", "5 months ago", "in 2024", "in May")]
    assert units == ["day", "month", "year", "month"]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("prices last month", "“last month” as 2026-10-01 … 2026-10-31. Quote the words to search for them instead."),
        ("prices in May 2019", "as 2019-05-01 … 2019-05-31, but nothing here is from then. Quote the words"),
        # A range is told with its last day included, a day alone, and an open end in words.
        ("prices of Zürich yesterday", "as 2026-11-20. "), ("prices before 2024", "as up to 2023-12-31. "),
        ("prices since October 5", "as from 2026-10-05 on. "), ("prices in March", "as 2026-03-01 … 2026-03-31. "),
        ('prices "last month"', None),
    ],
)  # fmt: skip
def test_a_reading_is_told_and_undone(store, question, told):
    """The sentence names the words and the range; quoted, the words are words."""
    memories, now = store(), datetime(2026, 11, 21, 20, tzinfo=UTC)
    for days in (1, 40, 250, 1100):
        memories.add(f"λ of the prices, noted {days} days ago", event_at=now - timedelta(days=days))
    notices = [one for one in memories.hits(question, now=now).notices if one.startswith("Read")]
    assert notices == [] if told is None else told in notices[0]


@pytest.mark.parametrize(
    "question",
    [
        "What did I change yesterday?", "cells I have worked on since yesterday", "yesterday's edits", "run on 6 March",
        "what did I note yesterday", "my notes of yesterday", "Notes from yesterday", "what did I write down yesterday",
        "what happened yesterday?", "yesterday",
    ],
)  # fmt: skip
def test_what_was_done_then(store, question):
    """A question that holds but a time, or an act too, lists what is from then, by file; filters hold."""
    memory, now = store(), datetime(2026, 3, 7, 9, tzinfo=UTC)
    at = [now - timedelta(hours=hours) for hours in (20, 22, 21, 90)]
    for place, (name, when) in enumerate(zip(("a", "a", "b", "b"), at, strict=True)):
        memory.add(f"λ = {place}", kind="cell", source=f"/{name}.ipynb", event_at=when)
    for profile in ("auto", "covalence"):
        answer = memory.hits(question, now=now, profile=profile)
        assert [hit.memory.text for hit in answer.hits] == ["λ = 0", "λ = 1", "λ = 2"] and answer.verdict is None
        assert answer.query.temporal.phrase in answer.notices[0]
    assert [hit.memory.text for hit in memory.hits(f"{question} path:b.ipynb", now=now).hits] == ["λ = 2"]
    assert "3 memories are from then" in memory.hits(question, now=now, limit=2).notices[1]
    assert all(memory.hits(f"{question} {word}", now=now).query.text for word in ("λ", '"quoted"', "in prices"))
    assert memory.hits(question, now=now, time=False).query.text


@pytest.mark.parametrize(
    "text", ["notes on prices from yesterday", "what happened in λ last week", "Q3 2025", "2026-03-01", "on Easter"]
)
def test_what_is_about_something_is_searched(text):
    """A question that has a word of its own is searched by its words, and so is a bare date or a doubtful time."""
    asked = parse(text, now=NOW)
    assert asked.text == text and asked.temporal is not None


def test_the_zone_is_that_of_the_question():
    """Yesterday is cut by the named zone of now, else by this machine's; the clock change is theirs."""
    assert temporal_expression("in July", NOW).since == datetime(2026, 6, 30, 22, tzinfo=UTC)
    with zone("America/New_York"):
        assert temporal_expression("yesterday", NOW.astimezone(UTC)).until == datetime(2026, 11, 21, 5, tzinfo=UTC)


WORDS_OF_TIME = """
    what did we discuss in on since between and March May 8th june 2025 last this week month months ago 3 three session
    sessions yesterday earlier today before after the of 2026-03-01 31 february q3 monday's 99999 λ "x" - , ?
    easter christmas new year spring other day weekend later end before around fiscal fy26
"""


@given(words=st.lists(st.sampled_from(WORDS_OF_TIME.split()), max_size=12), now=st.datetimes(timezones=st.just(UTC)))
def test_any_words_are_read_or_left(words, now):
    """Whatever words meet, reading them never fails, a time tells where it stands, and it begins before it ends."""
    query = parse(" ".join(["λ", *words]), now=now)
    if (one := query.temporal) is not None:
        assert 0 <= one.start < one.end <= len(query.text)
        assert one.phrase == query.text[one.start : one.end]
        assert one.since is None or one.until is None or one.since < one.until


@given(st.text(st.characters(categories=["L"]), max_size=30), st.text(st.characters(categories=["L"]), max_size=30))
def test_letters_around_a_day_leave_it_a_day(before, after):
    """Letters of any script beside a day change nothing."""
    assert temporal_expression(f"{before} (2026-03-04) {after}", NOW).phrase == "2026-03-04"


def test_reading_wakes_no_dateparser():
    """Time in a question is read by the house's own grammar: dateparser takes longer to load than a search."""
    code = (
        "from datetime import *; from jupyter_memory.search import parse; "
        "assert parse('last Tuesday', now=datetime.now(UTC)).temporal; print('dateparser' in sys.modules)"
    )
    assert run_without([], code) == "False"


def lies_in(document, found, newest):
    """Return whether a document lies in what was read."""
    if found is None:
        return False
    if found.sessions:
        first, last = found.sessions.among(newest)
        return first <= session_of(document) <= last
    at = datetime.fromisoformat(document["date"]).replace(tzinfo=UTC)
    return (found.since is None or at >= found.since) and (found.until is None or at < found.until)


def session_of(document):
    return int(document["session"].rpartition("_")[2])


def test_ranges_of_dated_conversations():
    """Of 912 questions about a time or a session, the range holds the relevant memories and nearly no others."""
    groups, relevant, recalls, precisions = defaultdict(list), defaultdict(set), defaultdict(list), defaultdict(list)
    for document in lines("tmd/corpus.jsonl"):
        groups[document["group"]].append(document)
    for line in (JUDGED / "tmd" / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, _ = line.split("\t")
        relevant[query].add(document)
    for query in lines("tmd/queries.jsonl"):
        found = temporal_expression(query["text"], datetime.fromisoformat(query["date"]).replace(tzinfo=UTC))
        group, wanted = groups[query["group"]], relevant[query["_id"]]
        newest = max(map(session_of, group))
        inside = {one["_id"] for one in group if lies_in(one, found, newest)}
        recalls[query["type"]].append(len(inside & wanted) / len(wanted))
        precisions[query["type"]].append(len(inside & wanted) / len(inside) if inside else 0.0)
    # One conversation of six says "last Saturday" for the Saturday before; two sessions of a day cannot be told apart.
    least = {"last_named_day": 0.8, "dates": 0.95}
    for kind, values in recalls.items():
        assert sum(values) / len(values) >= least.get(kind, 0.98), kind
        if kind != "content_time_qs":
            assert sum(precisions[kind]) / len(values) >= least.get(kind, 0.98), kind


@pytest.mark.parametrize("name", ["scifact", "cosqa", "notebooks"])
def test_questions_without_a_time(name):
    """Claims of science, searches for code and for cells name no time, and none is read into them."""
    fired = [query["text"] for query in lines(f"{name}/queries.jsonl") if temporal_expression(query["text"], NOW)]
    assert fired == []

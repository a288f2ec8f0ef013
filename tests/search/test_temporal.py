"""Time in plain English: read where it is meant, left alone where words only look like it."""

import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from blocked import run_without
from hypothesis import given
from hypothesis import strategies as st
from judged import JUDGED, lines

from jupyter_memory.search import parse
from jupyter_memory.types import Sessions

# A Saturday evening in Zürich.
ZURICH = ZoneInfo("Europe/Zurich")
NOW = datetime(2026, 11, 21, 20, 0, tzinfo=ZURICH)
# Below this the words are rather something else.
LEAST_SURE = 0.3


def temporal_expression(text, now):
    return parse(text, now=now).temporal


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=ZURICH)


@pytest.mark.parametrize(
    ("text", "phrase", "since", "until"),
    [
        ("what did I plot yesterday", "yesterday", "2026-11-20", "2026-11-21"),
        ("the day before yesterday's λ notes", "the day before yesterday", "2026-11-19", "2026-11-20"),
        ("notes of today", "of today", "2026-11-21", "2026-11-22"),
        ("tonight's run", "tonight", "2026-11-21T17:00", "2026-11-22T07:00"),
        ("what failed last night", "last night", "2026-11-20T17:00", "2026-11-21T07:00"),
        ("what did we discuss earlier today?", "earlier today", "2026-11-21", "2026-11-21T19:00"),
        ("what did we discuss earlier this morning?", "earlier this morning", "2026-11-21", "2026-11-21T13:00"),
        ("the merge this morning", "this morning", "2026-11-20T23:00", "2026-11-21T13:00"),
        ("yesterday afternoon in Zürich", "yesterday afternoon", "2026-11-20T11:00", "2026-11-20T19:00"),
        ("what did I run on Monday morning", "on Monday morning", "2026-11-15T23:00", "2026-11-16T13:00"),
        ("what was said last Tuesday", "last Tuesday", "2026-11-17", "2026-11-18"),
        ("what did we discuss last Saturday?", "last Saturday", "2026-11-14", "2026-11-15"),
        ("on Friday we fixed the merge", "on Friday", "2026-11-20", "2026-11-21"),
        ("everything since Monday", "since Monday", "2026-11-16", None),
        ("the prices over the weekend", "over the weekend", "2026-11-21", "2026-11-23"),
        ("what did I read last weekend?", "last weekend", "2026-11-14", "2026-11-16"),
        ("what did we discuss 167 days ago?", "167 days ago", "2026-06-06", "2026-06-08"),
        ("the ridge model of one day ago", "of one day ago", "2026-11-20", "2026-11-21"),
        ("three weeks ago I joined the orders", "three weeks ago", "2026-10-26", "2026-11-02"),
        ("the error a few weeks ago", "a few weeks ago", "2026-10-12", "2026-11-09"),
        ("what did we discuss 5 months ago?", "5 months ago", "2026-06-01", "2026-07-01"),
        ("the crash 2 hours ago", "2 hours ago", "2026-11-21T17:00", "2026-11-21T19:00"),
        ("what did we chat about over the last 3 days?", "over the last 3 days", "2026-11-18", "2026-11-22"),
        ("errors of the past two weeks", "of the past two weeks", "2026-11-07", "2026-11-22"),
        ("in the past month we changed the tariffs", "in the past month", "2026-10-21", "2026-11-22"),
        ("how did we normalise the prices last month", "last month", "2026-10-01", "2026-11-01"),
        ("last week I cleaned the orders", "last week", "2026-11-09", "2026-11-16"),
        ("last week pandas errors", "last week", "2026-11-09", "2026-11-16"),
        ("last week's meeting", "last week", "2026-11-09", "2026-11-16"),
        ("what did we decide this week", "this week", "2026-11-16", "2026-11-23"),
        ("decisions of this quarter", "of this quarter", "2026-10-01", "2027-01-01"),
        ("the forecast of last year", "of last year", "2025-01-01", "2026-01-01"),
        ("what did we discuss in March?", "in March", "2026-03-01", "2026-04-01"),
        ("in december I left", "in december", "2025-12-01", "2026-01-01"),
        ("the outage, March 2025", "March 2025", "2025-03-01", "2025-04-01"),
        ("what did we ship in Q3 2025?", "in Q3 2025", "2025-07-01", "2025-10-01"),
        ("decided in Q3", "in Q3", "2026-07-01", "2026-10-01"),
        ("what did we ship in H1 2025?", "in H1 2025", "2025-01-01", "2025-07-01"),
        ("how often did it fail in 2024?", "in 2024", "2024-01-01", "2025-01-01"),
        ("between May 8th and June 9th?", "between May 8th and June 9th", "2026-05-08", "2026-06-10"),
        ("notes on 2026-03-01", "on 2026-03-01", "2026-03-01", "2026-03-02"),
        ("On May 8th, what did she say?", "On May 8th", "2026-05-08", "2026-05-09"),
        ("as told on May 8th, 2023.", "on May 8th, 2023", "2023-05-08", "2023-05-09"),
        ("what did I run on 8 May", "on 8 May", "2026-05-08", "2026-05-09"),
        ("the outage 24.12.2025", "24.12.2025", "2025-12-24", "2025-12-25"),
        ("what we sold, may 2026", "may 2026", "2026-05-01", "2026-06-01"),
        ("what did I run in the last hour", "in the last hour", "2026-11-21T19:00", "2026-11-22"),
        ("what did I decide a fortnight ago", "a fortnight ago", "2026-11-02", "2026-11-09"),
        ("notes of the past fortnight", "of the past fortnight", "2026-11-07", "2026-11-22"),
        ("the outage in early 2025", "in early 2025", "2025-01-01", "2025-06-01"),
        ("mid-2025 review", "mid-2025", "2025-04-02", "2025-10-01"),
        ("prices in late March", "in late March", "2026-03-19", "2026-04-01"),
        ("at the beginning of November we met", "at the beginning of November", "2026-11-01", "2026-11-13"),
        ("the report, end of last month", "end of last month", "2026-10-19", "2026-11-01"),
        ("everything until 2026-03-05", "until 2026-03-05", None, "2026-03-06"),
        ("where did we go last summer?", "last summer", "2026-06-01", "2026-09-01"),
        ("the plan of 2026-W13", "of 2026-W13", "2026-03-23", "2026-03-30"),
        ("the trip last year, as told on May 8th", "on May 8th", "2026-05-08", "2026-05-09"),
        ("week before last I fixed the merge", "week before last", "2026-11-02", "2026-11-09"),
        ("what did I do the month before last?", "the month before last", "2026-09-01", "2026-10-01"),
        ("what did I plot in spring", "in spring", "2026-03-01", "2026-06-01"),
        ("the λ prices in summer", "in summer", "2026-06-01", "2026-09-01"),
        ("notes, summer 2025", "summer 2025", "2025-06-01", "2025-09-01"),
        ("this past winter's load data", "this past winter", "2025-12-01", "2026-03-01"),
        ("everything since spring", "since spring", "2026-03-01", None),
        ("what did we decide before Easter", "before Easter", None, "2026-04-05"),
        ("where were we over Easter", "over Easter", "2026-04-03", "2026-04-07"),
        ("what did I run around Christmas?", "around Christmas", "2025-12-22", "2025-12-29"),
        ("everything since New Year", "since New Year", "2026-01-01", None),
        ("what was said on New Year’s Eve 2024", "on New Year’s Eve 2024", "2024-12-31", "2025-01-01"),
        ("between Christmas and New Year I read", "between Christmas and New Year", "2025-12-25", "2026-01-02"),
        ("between Easter and Christmas we met", "between Easter and Christmas", "2025-04-20", "2025-12-26"),
        ("the deploy around 5 March", "around 5 March", "2026-03-02", "2026-03-09"),
        ("what did I read the other day", "the other day", "2026-11-07", "2026-11-21"),
        ("what failed two Fridays ago", "two Fridays ago", "2026-11-13", "2026-11-14"),
        ("the deploy two nights ago", "two nights ago", "2026-11-19T17:00", "2026-11-20T07:00"),
        ("what did we fix earlier this year", "earlier this year", "2026-01-01", "2026-11-21"),
        ("the plan for later this week", "later this week", "2026-11-21T20:00", "2026-11-23"),
        ("at the start of the year we chose ridge", "at the start of the year", "2026-01-01", "2026-06-01"),
        ("what did we do early in the year", "early in the year", "2026-01-01", "2026-06-01"),
        ("on Tuesday of last week we met", "on Tuesday of last week", "2026-11-10", "2026-11-11"),
        ("what did I write a year ago today", "a year ago today", "2025-11-21", "2025-11-22"),
        ("what did we ship in Q3 FY26", "in Q3 FY26", "2026-07-01", "2026-10-01"),
        ("the results of fiscal Q2 2026", "of fiscal Q2 2026", "2026-04-01", "2026-07-01"),
        ("what did we plan in fiscal year 2025", "in fiscal year 2025", "2025-01-01", "2026-01-01"),
        # The whole text is the phrase.
        *[(text, text, since, until) for text, since, until in (
            ("a couple of days ago", "2026-11-18", "2026-11-20"), ("twenty-two days ago", "2026-10-29", "2026-10-31"),
            ("a hundred and sixty-seven days ago", "2026-06-06", "2026-06-08"),
            ("a year ago", "2025-01-01", "2026-01-01"), ("over this last week", "2026-11-14", "2026-11-22"),
            ("in the last couple of weeks", "2026-10-31", "2026-11-22"),
            ("in march 2025", "2025-03-01", "2025-04-01"), ("last March", "2026-03-01", "2026-04-01"),
            ("the third quarter of 2025", "2025-07-01", "2025-10-01"), ("since 2024", "2024-01-01", None),
            ("between March and May", "2026-03-01", "2026-06-01"),
            ("between December and February", "2025-12-01", "2026-03-01"),
            ("between May eighth and June ninth", "2026-05-08", "2026-06-10"),
            ("between December 17th and January 1st", "2025-12-17", "2026-01-02"),
            ("from 3 to 5 May 2026", "2026-05-03", "2026-05-06"), ("May 3-5", "2026-05-03", "2026-05-06"),
            ("from March to May 2025", "2025-03-01", "2025-06-01"),
            ("between 2026-03-01 and 2026-03-04", "2026-03-01", "2026-03-05"),
            ("the 2nd of March", "2026-03-02", "2026-03-03"), ("on 03/05/2026", "2026-03-05", "2026-03-06"),
            ("on 24/12/2025", "2025-12-24", "2025-12-25"), ("on 24.12.2025", "2025-12-24", "2025-12-25"),
            ("between early March and mid-April", "2026-03-01", "2026-04-21"),
            ("in the first week of October", "2026-10-01", "2026-10-08"),
            ("the last week of October", "2026-10-25", "2026-11-01"),
            ("in the fifth week of October", "2026-10-29", "2026-11-01"),
            ("the second half of 2025", "2025-07-01", "2026-01-01"),
            ("the week of November 10", "2026-11-09", "2026-11-16"), ("before March 5th", None, "2026-03-05"),
            ("after March 5th", "2026-03-06", None), ("three days before May 8th", "2026-05-05", "2026-05-06"),
            ("the Sunday before October 25, 2022", "2022-10-23", "2022-10-24"),
            ("in the winter of 2024", "2024-12-01", "2025-03-01"))],
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    "text",
    [
        "plot second order sun spots", "may sales", "march of progress", "second order", "fall detection", "may I",
        "time series since", "last column", "week-over-week growth", "day-ahead market prices", "Monday.com export",
        "the 2024 model", "in 10 minutes of training", "the last two rows", "spring boot", "version 1.10.2023",
        "traverse all but the last item in a list in python", "python datetime get last month number",
        "python get month start and end date by month and year", "python lastworking day of month",
        "creating a leap year function in python", "what can you store in a python session", "spark session timeout",
        "early stopping", "end of file", "the start of training", "late fusion", "mid-week",
        "the first half of the data", "at the end of the day", "first week of training",
        "first and last index", "truncate after 2 decimals", "epoch 2024 of 3000", "in 2048 dimensions",
        "Incidence of heart failure decreased by 10% in women since 1979", "six months of physical activity",
        "56-day windows for training", "abstinence rates at 52 weeks", "after 12 weeks of treatment",
        "the amount of data doubles every 10 years", "mutations by the age of 14 years", "1/2000 in UK",
        "between different coordinate matrices", "rotate between items", "from 1 to 10", "between 0 and 1",
        "pd.Timestamp.today()", "datetime.today", "today() in sql", "df['2024-03-01':'2024-04-01']",
        "logs/2026-03-01/run.txt", "report_2026-03-01.csv", "claude-3-opus-20240229", "next week", "next Monday",
        "every Monday", "the meeting tomorrow", "dec 10 to hex", "may 8 rows differ", "top 10 may differ",
        "the last day of the month", "last name", "the last step before fitting", "summer dress sales",
        "autumn colours palette", "friday night lights dataset", "monday effect in returns", "march madness bracket",
        "in March madness", "August Horch", "april tags calibration", "june bug", "session state in streamlit",
        "tf.Session(graph)", "in the next three weeks", "day trading", "the night sky", "python 3.11 since",
        "2024-13-45", "on 31 February", "3/4 of the rows", "v2025.3", "the year column", "hour of day",
        "weekday one hot", "quarter circle", "test H1 against H0", "the h2 of the page",
        "before fitting", "after the merge", "until convergence",
        "since version 2", "from scratch", "second half", "λ since", "lag 7 days", "window of 30 days",
        "dependency injection in Spring", "how do I autowire a bean in spring", "exceptions in spring mvc",
        "mass on a spring", "the constant of a spring", "spring constant", "import from spring",
        "injuries after fall", "risk of fall", "fall back to cpu", "after the fall of Rome", "before spring cleaning",
        "summer school", "winter is coming", "winter tires dataset", "why is demand higher in winter",
        "what do people buy before Christmas", "how does load differ in summer and winter", "Christmas tree sales",
        "easter egg hunt", "Easter Island statues", "happy new year", "Chinese New Year",
        "New Year resolution tracker", "Good Friday Agreement", "Halloween costumes", "Thanksgiving turkey recipe",
        "by Christmas", "this Christmas", "fiscal policy", "fiscal year column", "fy(x)", "df.fy25",
        "on the other hand", "one or the other day of the week", "later layers", "earlier layers",
        "python first day of the month", "pandas resample end of the month", "start of the year offset",
        "was there a difference between winter and summer", "we usually meet at Christmas",
        "the last before last row", "the end of the week effect", "recently used", "a while ago",
        'the words "last month"', "the name `yesterday`", "a day in the life", "12 angry men",
    ],
)  # fmt: skip
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


def test_the_zone_is_that_of_the_question(monkeypatch):
    """Yesterday is cut by the named zone of now, else by this machine's; the clock change is theirs."""
    assert temporal_expression("in July", NOW).since == datetime(2026, 6, 30, 22, tzinfo=UTC)
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert temporal_expression("yesterday", NOW.astimezone(UTC)).until == datetime(2026, 11, 21, 5, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()


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


# -- the judged sets ---------------------------------------------------------------------------------------------------
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

"""What comes with an answer: its lists and facets, ranks without a term, notices, and a question's language."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hashing import Hashing
from judged import JUDGED, lines
from results import titles
from week import NOW

from jupyter_memory import JupyterMemory, QueryError
from jupyter_memory.search import PROFILES, explained, labels
from jupyter_memory.text import asked_in

QUERY = "prices of the Poisson model in March"


@pytest.mark.parametrize("profile", ["auto", "covalence", "memini"])
def test_a_trace_holds_the_answer(week_store, profile):
    asked = {"limit": 3, "profile": profile, "now": NOW}
    answers = (week_store.trace(QUERY, **asked).answer, week_store.hits(QUERY, **asked))
    # But for what differs between two runs.
    one, same = (replace(answer, timings={}, query_id="").to_json() for answer in answers)
    assert one == same


def test_the_lists_are_whole_and_in_order(week_store):
    """Each list is whole, best first, with the numbers of the hits; facets count every candidate, empty values none."""
    trace = week_store.trace(QUERY, limit=50, now=NOW)
    answer = trace.answer
    assert {name: len(getattr(trace, name)) for name in ("keyword", "vector", "fused")} == answer.counts
    for listed in (trace.keyword, trace.vector, trace.fused):
        assert [one.score for one in listed] == sorted((one.score for one in listed), reverse=True)
    assert [(one.memory_id, one.title, one.rank, one.score) for one in trace.fused] == [
        (hit.memory.id, hit.memory.title, hit.rank, hit.score) for hit in answer.hits
    ]
    assert {one.memory_id: (one.rank, one.score) for one in trace.keyword} == {
        hit.memory.id: (hit.kw_rank, hit.bm25) for hit in answer.hits if hit.kw_rank is not None
    }
    assert {one.memory_id: one.rank for one in trace.vector} == {
        hit.memory.id: hit.sem_rank for hit in answer.hits if hit.sem_rank is not None
    }
    trace = week_store.trace(QUERY, limit=1, now=NOW)
    everyone = [week_store.get(one.memory_id) for one in trace.fused]
    facets = trace.answer.facets
    assert len(everyone) > 1 and len(trace.answer.hits) == 1 and list(facets) == ["kind", "lang", "tier", "tag"]
    for facet in ("kind", "lang", "tier"):
        values = [getattr(memory, facet) for memory in everyone if getattr(memory, facet)]
        assert facets[facet] == {value: values.count(value) for value in values}
        assert list(facets[facet].values()) == sorted(facets[facet].values(), reverse=True)
    assert sum(facets["tag"].values()) == sum(len(memory.tags) for memory in everyone)
    # A list without a question counts everything that its filters let through, however few are shown.
    every, some = (week_store.browsed(limit=1, filters=filters).facets for filters in ({}, {"tag": "prices"}))
    assert sum(every["kind"].values()) == week_store.count()
    assert every["tag"]["prices"] == some["tag"]["prices"] == sum(some["kind"].values()) > 1


def test_a_question_without_words(week_store):
    """Where nothing but filters is typed, nothing is ranked: the lists are empty; an empty question has no trace."""
    trace = week_store.trace("tag:prices")
    assert trace.answer.hits and trace.answer.profile == "browse"
    assert (trace.keyword, trace.vector, trace.fused, trace.without) == ((), (), (), {})
    with pytest.raises(QueryError, match="nothing to search for"):
        week_store.trace("  ")


def test_words_that_are_no_time(week_store):
    """With time=False the words "last week" are only words; without it they are a time."""
    query = "prices last week"
    read = week_store.hits(query, now=NOW)
    assert read.query.temporal.phrase == "last week" and read.time_range is not None
    for answer in (week_store.hits(query, now=NOW, time=False), week_store.trace(query, now=NOW, time=False).answer):
        assert answer.query.temporal is None and answer.time_range is None
        assert not any("Read “" in notice for notice in answer.notices)
    first = read.hits[0].memory.id
    assert not week_store.explain(query, first, now=NOW, time=False).hit.signals["time"].contribution


@pytest.mark.parametrize("name", PROFILES)
def test_ranks_without_a_term_are_what_the_other_terms_say(week_store, name):
    """For every profile, the rank without a term is that by the profile without it: same retrievers, same signals."""
    profile = PROFILES[name]
    trace = week_store.trace(QUERY, profile=profile, limit=50, now=NOW)
    assert set(trace.without) == {hit.memory.id for hit in trace.answer.hits}
    for term in (one.name for one in profile.terms):
        others = week_store.hits(QUERY, profile=profile.without(term), limit=50, now=NOW)
        told = {memory: ranks[term] for memory, ranks in trace.without.items() if term in ranks}
        assert told == {hit.memory.id: hit.rank for hit in others.hits if hit.memory.id in trace.without} != {}


def test_an_explanation_tells_of_other_ranks(week_store):
    """An explanation tells ranks without each term, whatever was stored since; many searches later it tells less."""
    trace = week_store.trace(QUERY, profile="covalence", now=NOW)
    hit = next(hit for hit in trace.answer.hits if set(trace.without[hit.memory.id].values()) - {hit.rank})
    without = trace.without[hit.memory.id]
    for why in (
        week_store.explain(QUERY, hit.memory.id, profile="covalence", now=NOW),
        week_store.explain_in(trace.answer, hit.memory.id),
    ):
        assert why.without == without
        (sentence,) = [reason for reason in why.details if reason.startswith("Without ")]
        assert all(f"ithout {term}" in sentence for term, rank in without.items() if rank != hit.rank)
    answer = week_store.hits(QUERY, profile="covalence", now=NOW)
    first = answer.hits[0].memory.id
    before = week_store.explain_in(answer, first)
    week_store.add(QUERY, title=QUERY)
    assert before.without and week_store.explain_in(answer, first) == before
    for number in range(10):
        week_store.hits(f"prices {number}")
    after = week_store.explain_in(answer, first)
    assert after.without == {} and len(after.details) == len(before.details) - 1
    assert after.reasons[:3] == before.reasons[:3] and after.hit == before.hit


@pytest.mark.parametrize(("rank", "place"), [(2, "2nd"), (3, "3rd"), (11, "11th"), (22, "22nd"), (112, "112th")])
def test_a_place_is_told_as_people_say_it(week_store, rank, place):
    """The second, the eleventh and the hundred and twelfth, in English."""
    answer = week_store.hits(QUERY, now=NOW)
    hit = answer.hits[0]
    seen = replace(hit, signals={"keyword": replace(hit.signals["keyword"], rank=rank)})
    why = explained(seen, answer.query, 200, "auto", labels(PROFILES["auto"]), {})
    assert f"(keyword, {place})." in why.reasons[-1]


def test_a_cosine_reads_as_below_its_threshold(store):
    """However near it is, the number that is shown is below the one beside it."""
    memories = store(settings=JupyterMemory(threshold=0.01))
    note = memories.add("The wind turbines were serviced in spring.")
    threshold = memories.hits("electricity tariffs").hits[0].cosine + 0.0003
    memories.close()
    why = store(settings=JupyterMemory(threshold=threshold)).explain("electricity tariffs", note.id)
    shown, bound = re.findall(r"\d\.\d+", why.reasons[-1])
    assert float(shown) < float(bound)


@pytest.mark.parametrize(
    ("query", "filters", "found", "notice"),
    [
        ("prices tag:prcies", {"tag": "decision"}, False,
         "Nothing in this store has the tag 'prcies'. Did you mean 'prices'?"),
        ("tag:prcies kind:note", {}, False, "Nothing in this store has the tag 'prcies'. Did you mean 'prices'?"),
        ("prices -tag:decison -kind:cell", {}, True,
         "Nothing in this store has the tag 'decison', so this filter excludes nothing. Did you mean 'decision'?"),
        ("prices", {"kind": "history"}, False, "Nothing in this store has the kind 'history'. Known: "),
        # Each filter fits something and all of them nothing, or only the time is off.
        ("prices tag:decision -tag:prices -tag:model", {}, False,
         "No memory matches all of these filters. Remove one of them."),
        ("prices after:2027-01-01", {"since": "2026-01-01"}, False,
         "Nothing in this store is from that time: its memories are from 2026-03-02 to 2026-03-06."),
        # Where there are vectors, something is nearest, and the answer says that it does not seem to be one.
        ("blorp", {}, True, "Nothing here seems to answer this"),
        ("blorp", {"kind": "note"}, True, "Nothing here seems to answer this"),
    ],
)  # fmt: skip
def test_what_filters_and_words_leave(week_store, query, filters, found, notice):
    """An answer says whether its words or filters leave nothing, or exclude nothing, and what is nearest."""
    answer = week_store.hits(query, filters=filters)
    assert bool(answer.hits) == found and any(one.startswith(notice) for one in answer.notices)


def test_memories_without_a_date(store):
    """A filter by date tells how many memories without one it leaves out, of those that would have been searched."""
    memories, then = store(), datetime(1970, 1, 1, tzinfo=UTC)
    memories.add("Invoice λ", tags=["a"], event_at=then)
    answer = memories.hits("invoice", filters={"since": "2020-01-01"})
    assert answer.notices[-2:] == (
        "1 memory without a known date is left out.", "Nothing in this store is from that time."
    )  # fmt: skip
    memories.add_many([{"text": "Invoice μ", "event_at": then}, {"text": "Invoice ν", "event_at": "2026-03-02T12:00Z"}])
    for query, filters in (("invoice after:2020", {}), ("invoice after:2020", {"until": "2027-01-01"})):
        answer = memories.hits(query, filters=filters)
        assert answer.hits and "2 memories without a known date are left out." in answer.notices
    for query in ("invoice", "invoice tag:a", "invoice tag:b after:2020"):
        assert not any("without a known date" in one for one in memories.hits(query).notices)
    assert "1 memory without a known date is left out." in memories.hits("invoice tag:a after:2020").notices
    assert memories.hits("invoice after:2027").notices[-1].endswith("from that time: its memories are from 2026-03-02.")


def test_a_word_that_nothing_may_hold(week_store):
    """A word with a minus leaves out, in both retrievers, all that holds a form of it; how to search for it is told."""
    everything = week_store.hits("prices", limit=50)
    answer = week_store.hits("prices -Zürich", limit=50)
    left_out = next(hit.memory for hit in everything.hits if hit.memory.title == "Zürich and Genève")
    assert set(titles(answer)) == set(titles(everything)) - {left_out.title}
    assert any("“Zürich”" in notice and "Quote" in notice for notice in answer.notices)
    assert "it must not contain Zürich" in week_store.explain("prices -Zürich", left_out.id).reasons[0]
    assert "Scaling the prices" not in titles(week_store.hits("-prices"))


@pytest.mark.parametrize(
    "typed", [".", "..", "./", "../reports", "~", "notes", "reports/week/prices.md", "/", "prices"]
)
def test_no_guess_is_a_folder_above_what_was_typed(store, tmp_path, monkeypatch, typed):
    """Whatever is typed, from any folder, no path is suggested that holds the typed one and more besides."""
    here = tmp_path / "home" / "prices"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    opened = store()
    for source in ("home", "prices", "home/report.md", "notes/prices.md", "home/prices.md"):
        opened.add(f"λ of {source}", source=str(tmp_path / source))
    opened.add("λ of a file at the root", source="/prices.md")
    opened.add("λ of a talk", source="talk")
    meant = Path(typed).expanduser().resolve()

    for filters in ({"path": typed}, {"not_path": typed}):
        for notice in opened.browsed(filters=filters).notices:
            for path in re.findall("'([^']*)'", notice.partition("Did you mean ")[2]):
                assert path not in ("/", ".") and not meant.is_relative_to(path)


def test_a_dot_is_shown_in_full(store, tmp_path, monkeypatch):
    """What a dot or ~ stands for is told; a path that was typed without them is told as it was typed."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    opened = store()
    opened.add("λ is 3.2", source="/elsewhere/prices.md")
    for typed in (".", "./", "~", "../empty", f"{tmp_path}/./empty"):
        [notice] = opened.browsed(filters={"path": typed}).notices
        assert notice == f"Nothing in this store comes from '{tmp_path / 'empty'}'. Known: /elsewhere."
    [notice] = opened.browsed(filters={"path": "nowhere"}).notices
    assert notice.startswith("Nothing in this store comes from 'nowhere'.")


def test_a_question_of_unknown_words(store):
    """Where the model knows no word of a question, the answer says that, and not that the model is missing."""
    memory = store()
    memory.add("λ is 0.3 in the ridge model")
    unread = "The model knows no word of this question, so the search used words only, not meaning."
    assert unread in memory.hits("ዋጋ").notices and unread not in memory.hits("ridge").notices
    assert "The search used words only, not meaning." not in memory.hits("ዋጋ").notices


ENGLISH = ("The prices of electricity in Zürich were scaled.", "The arrival rate λ was estimated on Monday.")
FILLING = tuple(f"Run {number} of the furnace was stopped after an hour." for number in range(50))
# Keywords have hardly any function words, and four notes may have none.
KEYWORDS = (
    "Preise normalisiert: Median je Region, Ausreißer über 3 MAD entfernt",
    "Kundendaten bereinigt: Dubletten per E-Mail, leere Adressen gelöscht",
    "Modell: Ridge, λ = 0.3, Kreuzvalidierung 5fach",
    "Zeitreihe: Wochenmittel, Feiertage ausgelassen",
)
GERMAN = "Die Preise sind mit dem Median skaliert, und das wird nicht mehr geändert. Der Rest ist auf dem Laufwerk."


@pytest.fixture
def told(store):
    """``told(question, texts)`` is what a store of these texts says of the language of a question."""

    def ask(question, texts, name="memory.sqlite", **options):
        memory = store(name, **options)
        memory.add_many([{"text": text} for text in texts], progress=False)
        answer = memory.hits(question)
        return [notice for notice in answer.notices if "looks" in notice], answer

    return ask


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie haben wir die Daten bereinigt?", "German"), ("Comment avons-nous nettoyé les données ?", "French"),
        ("¿Cómo hemos limpiado los datos?", "Spanish"), ("データはどうやって整理しましたか", "Japanese"),
        ("我们怎么清理数据", "Chinese"), ("데이터를 어떻게 정리했습니까", "Korean"),
    ],
)  # fmt: skip
def test_a_question_in_another_language(told, question, language):
    """The answer names the language and says what to do, in place of a list of missing words."""
    [notice], answer = told(question, (*ENGLISH, *FILLING))
    assert f"looks {language}, but hardly any memory here is in {language}" in notice
    assert "Ask in English" in notice and "`model use mlx:FOLDER`" in notice
    assert not any(notice.startswith("No memory contains “") for notice in answer.notices)


@pytest.mark.parametrize(
    ("question", "texts", "embedder"),
    [
        # No question in English or about code is called another language.
        *[(one, (*ENGLISH, *FILLING), "static")
          for one in ("how were the prices scaled", "which wine does the raclette need", "KeyError: die")],
        # Some memories are in the language of the question.
        ("Wie haben wir das mit dem Wein gemacht?",
         (*ENGLISH, *FILLING, GERMAN, f"Das ist nicht alles. {GERMAN}"), "static"),
        # A few German notes without function words are not told that they are not German, found or not.
        ("Wie haben wir die Preise normalisiert?", KEYWORDS, "static"),
        ("Wo liegen die Rohdaten vom Zoll?", KEYWORDS, "static"),
        # Of a model that is none of ours, nobody knows which languages it reads.
        ("Wie haben wir die Daten bereinigt?", (ENGLISH[0], *FILLING), Hashing()),
    ],
)  # fmt: skip
def test_nothing_is_said_of_a_language(told, question, texts, embedder):
    assert told(question, texts, embedder=embedder)[0] == []


def test_a_question_that_is_answered_well(told):
    """Where the answer is strong, the store reads the question; where no model takes part, the advice names none."""
    said, answer = told("Wie haben wir die Preise normalisiert?", (*KEYWORDS, *FILLING, *FILLING))
    assert answer.verdict == "strong" and answer.hits[0].memory.text == KEYWORDS[0] and said == []
    [notice], _ = told("Wie haben wir die prices skaliert?", (ENGLISH[0], *FILLING), name="words.sqlite", embedder=None)
    assert notice.endswith("and the search used words only. Ask in the language of your notes.")


def test_no_judged_question_is_called_foreign():
    """Of three thousand English questions, none has two function words of another language."""
    files = [path.relative_to(JUDGED) for path in JUDGED.glob("*/queries.jsonl")]
    questions = [one["text"] for file in files or ["scifact/queries.jsonl"] for one in lines(file)]
    assert len(questions) > 1_000 and [text for text in questions if asked_in(text).words > 1] == []

"""Explaining why a memory is where it is, or is not found."""

import re

import pytest

from jupyter_memory import JupyterMemory, QueryError, UnknownMemory
from jupyter_memory.search import PROFILES, Weighted, auto


def test_explain_a_hit(week_store, week_memories, now):
    """A hit's explanation has its place and its sum in five lines at most; the whole one tells of each signal."""
    id_ = week_memories["Joining orders"].id
    why = week_store.explain("joining orders", id_, now=now)
    hit = week_store.hits("joining orders", now=now).hits[0]
    assert (why.rank, why.profile, why.memory.id) == (1, "auto", id_)
    assert (why.hit.score, why.hit.signals) == (hit.score, hit.signals)
    assert why.reasons[0].startswith("Rank 1 of ") and why.reasons[0].endswith(f"score {hit.score:.6f}, the sum of")
    assert len(why.reasons) <= 5 and str(why) == "\n".join(why.reasons)
    assert len(why.details) == 1 + len(hit.signals) + 1
    assert str(why.whole()) == "\n".join(why.details) and why.details[-1].startswith("Without ")


def points(reasons):
    return [float(found[0]) for line in reasons if (found := re.match(r"-?\d+\.\d{6}(?= for )", line))]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_lines_add_up(week_store, profile, now):
    """With every profile, the lines name what gave points, the most first, and add up to the score that they show."""
    for query in ("joining orders", "prices last week", "what is the λ of the model"):
        for hit in week_store.hits(query, profile=profile, now=now).hits:
            why = week_store.explain(query, hit.memory.id, profile=profile, now=now)
            short, whole = points(why.reasons), points(why.details)
            assert len(why.reasons) <= 5
            assert sum(short) == pytest.approx(hit.score, abs=1e-5) == sum(whole)
            assert whole == sorted(whole, key=abs, reverse=True)
            assert short[:-1] == whole[: len(short) - 1]
            assert len(whole) == sum(1 for seen in hit.signals.values() if round(seen.contribution, 6))
            assert not any("nothing" in line.lower() for line in why.reasons)


def test_nothing_is_told_twice(store, week, now):
    """In all reasons a number that counts under one name is not told under another; what adds nothing says why."""
    memory = store(embedder="static")
    memory.add_many(week, progress=False)
    found = memory.hits("joining orders", profile="vault", now=now).hits[0]
    details = memory.explain("joining orders", found.memory.id, profile="vault", now=now).details
    assert sum("cosine" in line for line in details) == 1
    assert "Nothing for domain: the query is about no domain, or about another one." in details
    assert "Nothing for history: it is not code that was run." in details


def test_explain_beyond_the_limit(week_store, now):
    """A memory that did not fit into the answer is told where it is, and how to see it."""
    second = week_store.search("prices", now=now).loc[2, "memory_id"]
    why = week_store.explain("prices", second, limit=1, now=now)
    assert why.rank == 2
    assert why.reasons[1] == "(The answer shows only the first 1; to see this memory, use limit=2.)"


def test_explain_what_was_filtered(week_store, week_memories):
    id_ = week_memories["Joining orders"].id
    why = week_store.explain("joining orders", id_, filters={"kind": "cell", "tag": ["pandas", "λ"]})
    told = "The filters exclude it: kind must be cell (it is note); tag must be pandas or λ (it is rule)."
    assert (why.rank, why.hit, why.reasons) == (None, None, (told,))
    assert "time must be before 2026-03-05" in str(week_store.explain("joining orders", id_, until="2026-03-04"))


def test_explain_what_no_retriever_found(store, week):
    """A memory without the words and below the threshold is told both, with the numbers."""
    memory = store(settings=JupyterMemory(threshold=0.9))
    memory.add_many(week, progress=False)
    id_ = next(hit.memory.id for hit in memory.browsed(limit=20).hits if hit.memory.title == "Late deliveries")
    why = memory.explain("joining orders", id_)
    columns = "none of the query's words occur in the columns that auto searches (title, context, text, tags, ident)."
    assert why.rank is None
    assert why.reasons[0] == "Neither the search by words nor the one by meaning found it, so it was not ranked."
    assert why.reasons[1] == f"By words: {columns}"
    assert why.reasons[2].startswith("By meaning: its cosine ") and why.reasons[2].endswith("below the threshold 0.9.")


def test_explain_what_others_beat(store):
    """A memory that matches, while enough others match better, is told so for each retriever."""
    memory = store()
    texts = (f"λ prices, prices and prices again, number {i}" for i in range(25))
    memory.add_many([{"text": text, "title": "Prices"} for text in texts], progress=False)
    last = memory.add("In a long note about deliveries to Malmö in the snow there is one word on prices.").id
    why = str(memory.explain("prices", last, limit=1, profile="trovella"))
    assert "By words: it matches with BM25" in why and "but 20 memories match better" in why
    assert "By meaning: its cosine is" in why and "but 20 memories are closer" in why


def test_explain_without_a_model(store, week):
    memory = store(embedder=None)
    memory.add_many(week, progress=False)
    ids = {hit.memory.title: hit.memory.id for hit in memory.browsed(limit=20).hits}
    assert "the search used words only" in str(memory.explain("joining orders", ids["Late deliveries"]))
    why = memory.explain("joining orders", ids["Joining orders"], profile="covalence")
    assert "meaning" not in str(why)
    assert "Nothing for vector: the search by meaning did not find it." in why.details


def test_explain_in_an_answer(week_store, week_memories):
    """Of an answer given before, a memory that is not in it is explained too; no list, no id that is not there."""
    answer = week_store.hits("joining orders", limit=1)
    assert week_store.explain_in(answer, answer.hits[0].memory.id).rank == 1
    assert week_store.explain_in(answer, week_memories["Warehouse extract"].id).rank is None
    with pytest.raises(QueryError, match="listed without a question"):
        week_store.explain_in(week_store.browsed(), answer.hits[0].memory.id)
    with pytest.raises(UnknownMemory, match="No memory has the id 'λ'"):
        week_store.explain("prices", "λ")
    with pytest.raises(QueryError, match="nothing to search for"):
        week_store.explain(" ", "λ")


def test_a_signal_is_named_by_its_label(week_store, week_memories, now):
    """A signal of one's own that has a label is explained by it, also where a term of another name reads it."""

    class Length:
        name = "length"
        label = "the number of its characters"

        def __call__(self, query, context, /):
            return {one.key: float(len(one.memory.text)) for one in context}

    profile = auto.with_signal(Length(), weight=0.001)
    profile = profile.replace(terms=(*profile.terms, Weighted("again", 0.0, "length")))
    why = week_store.explain("joining orders", week_memories["Joining orders"].id, profile=profile, now=now)
    assert "0.081000 for the number of its characters (length, 1st, value 81)." in why.details
    assert not any(line.startswith("Nothing for again") for line in why.details)


@pytest.mark.parametrize("signal", [signal for profile in PROFILES.values() for signal in profile.signals])
def test_every_signal_says_what_it_measures(signal):
    """Each built-in signal has a label that fits after "for"."""
    assert signal.label and not signal.label.endswith(".")

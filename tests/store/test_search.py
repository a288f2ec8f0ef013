"""Searching a store: what is found, and by which chunk."""

from __future__ import annotations

import json

import pytest
from results import titles

from jupyter_memory import JupyterMemory
from jupyter_memory.ingest.chunking import with_chunks
from jupyter_memory.types import Draft


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how did we normalise the electricity prices", "Scaling the prices"),
        ("Zürich", "Zürich and Genève"),
        ("zurich", "Zürich and Genève"),
        ("Zu\u0308rich", "Zürich and Genève"),
        ("λ", "Poisson λ"),
        ("Łukasz's extract", "Warehouse extract"),
        ("FileSyncService", "Lost events"),
        ("sync service", "Lost events"),
        ("filesyncservice", "Lost events"),
        ("sync_queue", "Lost events"),
        ("flush", "Lost events"),
        ("1.0.21", "Lost events"),
        ("df.groupby", "Means by shop"),
        ("groupby", "Means by shop"),
        ('"early stopping"', "Holdout results"),
        ("価格", "東京の売上"),
        ('"価格"', "東京の売上"),
        ("売上のpandas", "東京の売上"),
        ("late 🚚 in Malmö?", "Late deliveries"),
        ("snow delays of the carrier", "Late deliveries"),
        ("text:snow OR NEAR(carrier", "Late deliveries"),
    ],
)
def test_the_right_memory_comes_first(week_store, now, query, first):
    """By meaning, word, identifier, phrase or pair of characters, the memory that was meant is the first hit."""
    assert titles(week_store.search(query, now=now))[0] == first


def test_a_query_of_syntax_alone(week_store):
    """What FTS5 would take for its syntax is looked up like any words, or finds nothing."""
    for query in ("*", "NEAR(", ":", "AND", "-", "^", "{", "'); drop table memories", '"*" ""', "\udc80"):
        week_store.search(query)
    assert week_store.stats()["memories"] == 10


def test_stop_words_alone(store):
    """A query of stop words alone is searched as it stands."""
    memory = store(embedder=None)
    memory.add("To be or not to be", title="Hamlet")
    memory.add("λ of the prices")

    assert titles(memory.search("to be or not to be")) == ["Hamlet"]


def test_found_by_both_legs(week_store, now):
    """A hit tells which retrievers found it, with ranks and raw scores; the answer counts them before fusion."""
    answer = week_store.hits("join orders on the customer name", now=now)
    first = answer.hits[0]

    assert (first.memory.title, first.badges, first.kw_rank, first.sem_rank) == ("Joining orders", "KW+SEM", 1, 1)
    assert first.bm25 > 0 and 0 < first.cosine <= 1
    assert answer.counts["fused"] >= max(answer.counts["keyword"], answer.counts["vector"])
    assert answer.counts["fused"] == len(answer.hits)
    marked = [first.snippet[start:end] for start, end in first.highlights]
    assert {"join", "orders", "customer", "name"} <= {word.casefold() for word in marked}


def test_an_answer_tells_how_it_came_about(week_store):
    """An answer has its stages in milliseconds, its store and an id of its own."""
    answer, other = week_store.hits("λ"), week_store.hits("λ")

    assert set(answer.timings) == {"embed", "keyword", "vector", "pool", "rank", "strength", "snippets", "total"}
    assert answer.timings["total"] >= max(answer.timings["keyword"], answer.timings["vector"]) > 0
    assert (answer.store, answer.profile) == (str(week_store.path), "auto")
    assert answer.query_id != other.query_id
    assert (answer.verdict, answer.notices) == ("strong", ())
    json.dumps(answer.to_json(), allow_nan=False)


def test_no_finds_below_the_threshold(store, week, now):
    """What is less like the query than the threshold never reaches covalence; trovella has no threshold."""
    strict = store(settings=JupyterMemory(threshold=0.5))
    strict.add_many(week, progress=False)
    query = "joining orders"
    kept, all_of_them = (strict.hits(query, profile=name, now=now) for name in ("covalence", "trovella"))

    near = {hit.memory.id for hit in all_of_them.hits if hit.cosine >= 0.5}
    assert 0 < len(near) < len(week) == all_of_them.counts["vector"]
    assert {hit.memory.id for hit in kept.hits if hit.sem_rank is not None} == near
    assert all(hit.kw_rank is not None for hit in kept.hits if hit.memory.id not in near)
    assert min(hit.cosine for hit in all_of_them.hits) < 0.2


def test_words_alone_give_a_cosine_all_the_same(week_store):
    """A hit below the threshold that has the words shows how near it is, and gets nothing for it."""
    hit = next(hit for hit in week_store.hits("row", profile="covalence").hits if hit.memory.title == "Means by shop")

    assert hit.badges == "KW" and hit.sem_rank is None
    assert hit.cosine == pytest.approx(0.1, abs=0.15)
    assert hit.signals["vector"].contribution == 0.0


def test_the_title_names_it(store):
    """ "roadmap 1.4" finds v1.4-ROADMAP.md, though the index splits 1.4 and another text says both words more often."""
    memory = store(embedder=None)
    memory.add(
        "The roadmap of 1.4 was in the roadmap of 1.3: roadmap 1.4, roadmap 1.4.",
        title="Minutes of March",
        kind="file",
        tier="file",
        source="/week/minutes.md",
    )
    memory.add(
        "Release plan for Zürich.",
        title="/week/v1.4-ROADMAP.md",
        kind="file",
        tier="file",
        source="/week/v1.4-ROADMAP.md",
    )
    found = memory.search("roadmap 1.4", profile="covalence")

    assert titles(found) == ["/week/v1.4-ROADMAP.md", "Minutes of March"]
    assert found["contrib_title"].tolist() == pytest.approx([0.009, 0.0])
    assert titles(memory.search("roadmap 1.4", profile="trovella"))[0] == "Minutes of March"


def test_a_title_counts_five_times_in_covalence(store):
    """A word in the title weighs more than the same word in a text."""
    memory = store(embedder=None)
    memory.add("Prices of the winter, and λ.", title="Notes")
    memory.add("Notes of the winter, and λ.", title="Prices")

    assert titles(memory.search("prices of Zürich", profile="covalence")) == ["Prices", "Notes"]


def long_text():
    """Return a text of many chunks, its one telling passage far down."""
    lines = [f"Line {i}: deliveries to Malmö went out on time, nothing else to note about them." for i in range(200)]
    lines[150] = "The Zürich office changed the tax on electricity prices from net to gross."
    return "\n".join(lines)


@pytest.mark.parametrize("embedder", ["auto", None])
def test_a_long_memory_is_found_by_its_best_chunk(store, embedder):
    """Of a text of several chunks the best one speaks: its snippet, its line; the memory is one hit."""
    memory, text = store(embedder=embedder), long_text()
    memory.add(text, title="Log")
    memory.add("Deliveries to Malmö are late.", title="Short")
    hit = memory.hits("tax on electricity prices in Zürich").hits[0]

    assert memory.stats()["chunks"] > 5
    assert hit.memory.title == "Log" and hit.memory.text == text
    assert "The Zürich office changed the tax on electricity prices" in hit.snippet
    lines = [chunk.line for chunk in with_chunks([Draft(text)])[0].chunks if "Zürich" in text[chunk.start : chunk.end]]
    assert int(hit.location) in lines and 1 < int(hit.location) <= 151
    assert titles(memory.hits("Malmö deliveries")).count("Log") == 1


def test_the_chunk_with_the_word_is_shown(store):
    """Where words and meaning lead to different chunks of a memory, the one with the words is shown."""
    memory = store()
    near = "The electricity prices rose in March. Prices of electricity rise and fall. " * 80
    far = "A log of deliveries, with nothing else to note. " * 60
    memory.add(far + "Zirkonium. " + far + near, title="Log")
    [hit] = memory.hits("zirkonium prices of electricity", filters={"kind": "note"}).hits

    assert hit.badges == "KW+SEM"
    assert "Zirkonium" in [hit.snippet[start:end] for start, end in hit.highlights]


def test_a_long_memory_does_not_crowd_out_others(store):
    """However many chunks of one memory match, the answer has as many memories as were asked for."""
    memory = store()
    memory.add("Prices of electricity in Zürich rose. " * 3000, title="Long")
    for number in range(4):
        memory.add(f"Prices of electricity in Zürich, note {number}.", title=f"Note {number}")

    assert set(titles(memory.search("prices of electricity in Zürich"))) == {"Long", *(f"Note {i}" for i in range(4))}


def test_a_phrase_that_stands_nowhere_is_told(store):
    """An answer says which quoted phrase no memory contains; of those that one contains, and of one word, nothing."""
    opened = store()
    opened.add("We merge the frames with a left outer join on the shop", title="Joins")
    opened.add("Die Preise in Zürich sind netto", title="Preise")

    [notice] = opened.hits('"left join" of the frames').notices
    assert "phrase “left join”" in notice
    for question in ('"outer join" of frames', "left join of frames", '"preise in zürich"', '"shop"'):
        assert not any("the phrase" in notice for notice in opened.hits(question).notices)
